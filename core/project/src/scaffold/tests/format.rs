//! The project format as its page has it, strictly: what is written must read as this.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) schema: u32,
    pub(super) name: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) summary: String,
    pub(super) axes: Vec<Axis>,
    #[serde(default)]
    pub(super) scalars: Vec<Scalar>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) arguments: Vec<String>,
    pub(super) accuracy: Accuracy,
    pub(super) work: Work,
    pub(super) workloads: Vec<Workload>,
    pub(super) baselines: Vec<Baseline>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) min: u64,
    #[serde(default)]
    pub(super) max: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scalar {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) value: ron::Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<String>,
    pub(super) role: Role,
    #[serde(default)]
    pub(super) compare: Option<Compare>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    Input,
    Output,
    Inout,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Compare {
    Elementwise { terms: String, factor: u32 },
    IntegerExact,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
#[rustfmt::skip]
pub(super) enum Dtype { F64, F32, F16, Bf16, F8e4m3, F8e5m2, I64, I32, I16, I8, U64, U32, U16, U8, Bool }

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Accuracy {
    F64,
    F32,
    Exact,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Work {
    pub(super) operations: Vec<Operation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) count: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Arithmetic,
    Integer,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) purpose: Purpose,
    pub(super) axes: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    Verify,
    Measure,
    HeldOut,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Baseline {
    Kernel(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) title: String,
    #[serde(default)]
    pub(super) params: BTreeMap<String, Vec<i64>>,
    #[serde(default)]
    pub(super) require: Vec<String>,
    #[serde(default)]
    pub(super) structs: Vec<Struct>,
    #[serde(default)]
    pub(super) expect: Option<Expect>,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) fields: Vec<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
    Wrong(Wrong),
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wrong {
    Unwritten,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    Launch {
        kernel: String,
        #[serde(default)]
        args: Option<Vec<String>>,
        grid: Vec<Expression>,
        block: Vec<Expression>,
        #[serde(default)]
        shared: Option<String>,
        #[serde(default)]
        cooperative: bool,
    },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(super) enum Expression {
    Number(u64),
    Text(String),
}

#[track_caller]
fn read<'text, Document: Deserialize<'text>>(text: &'text str) -> Document {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[track_caller]
pub(super) fn manifest(text: &str) -> Manifest {
    read(text)
}

/// The one launch block of a kernel file.
#[track_caller]
pub(super) fn block(text: &str) -> Block {
    assert_eq!(text.matches("/*@").count(), 1, "{text}");
    let start = text.find("/*@ lightbench").unwrap() + "/*@ lightbench".len();
    let end = start + text[start..].find("@*/").unwrap();
    assert!(!text[start..end].contains("*/"), "the comment ends early: {text}");
    read(&text[start..end])
}
