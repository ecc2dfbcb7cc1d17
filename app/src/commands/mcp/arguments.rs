//! The arguments of the tools. Their descriptions become the schemas that an agent reads.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Arguments of `project` and `check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionalKernel {
    /// The name of a kernel or of a candidate.
    pub(super) kernel: Option<String>,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `sass`, `suggest`, `verify` and `time`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneKernel {
    /// The name of a kernel or of a candidate.
    pub(super) kernel: String,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `propose`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    /// The whole text of a kernel file with its launch block: CUDA C++, PTX, or Triton in Python.
    pub(super) source: String,
}

/// Arguments of `compare` and `diff`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TwoKernels {
    /// The base: a kernel or a candidate.
    pub(super) a: String,
    /// What is compared with it: a kernel or a candidate.
    pub(super) b: String,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `explain`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Explained {
    /// A number that a result shows, by its name; without it all are listed.
    pub(super) number: Option<String>,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    /// Only runs of this kernel or candidate.
    pub(super) kernel: Option<String>,
    /// At most this many runs, the newest first; 20 without it.
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: Option<u32>,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `counters`, `faults` and `speed_of_light`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedRun {
    /// A kernel or a candidate, whose newest run in the history is shown.
    pub(super) kernel: String,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `wait`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// The run, as the tool that started it names it.
    pub(super) run: String,
    /// At most this many seconds, up to 25.
    #[schemars(range(min = 0, max = 25))]
    pub(super) seconds: Option<u32>,
    /// The page of a large result, from 1.
    pub(super) page: Option<u32>,
}

/// Arguments of `cancel`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    /// The run, as the tool that started it names it.
    pub(super) run: String,
}

/// Arguments of `accept`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Acceptance {
    /// The candidate.
    pub(super) candidate: String,
    /// The name of the new kernel: letters, digits, `-` and `_`.
    pub(super) name: String,
}

/// The arguments of a call.
///
/// # Errors
/// Which field is missing, unknown or of another type.
pub(super) fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// The JSON Schema of arguments.
pub(super) fn schema<T: JsonSchema>() -> Map<String, Value> {
    match schemars::schema_for!(T).to_value() {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
