//! The trace schema as both projects declare it: `flashinfer_bench/data/{trace,workload}.py` of
//! flashinfer-ai/flashinfer-bench, and `core/data/{trace,workload}.py` of NVIDIA's SOL-ExecBench.
//!
//! Fields that only one of the projects has are optional; other fields are ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One workload of one solution, with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Trace {
    /// The name of the definition.
    pub(super) definition: String,
    pub(super) workload: Workload,
    /// The name of the solution; `None` if the trace only describes a workload.
    #[serde(default)]
    pub(super) solution: Option<String>,
    #[serde(default)]
    pub(super) evaluation: Option<Evaluation>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Workload {
    pub(super) axes: BTreeMap<String, u64>,
    pub(super) inputs: BTreeMap<String, Input>,
    pub(super) uuid: String,
}

/// The source of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Input {
    Random,
    Scalar {
        value: Value,
    },
    Safetensors {
        path: String,
        tensor_key: String,
    },
    /// SOL-ExecBench only: a generator beside the definition.
    Custom,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Evaluation {
    pub(super) status: Status,
    pub(super) environment: Environment,
    /// In the form of ISO 8601.
    pub(super) timestamp: String,
    #[serde(default)]
    pub(super) log: String,
    /// There if, and only if, the status is `PASSED` or `INCORRECT_NUMERICAL`.
    #[serde(default)]
    pub(super) correctness: Option<Correctness>,
    /// There if, and only if, the status is `PASSED`.
    #[serde(default)]
    pub(super) performance: Option<Performance>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Status {
    Passed,
    IncorrectShape,
    IncorrectNumerical,
    IncorrectDtype,
    RuntimeError,
    CompileError,
    Timeout,
    /// SOL-ExecBench only.
    RewardHack,
    /// SOL-ExecBench only: the status of the solution is unknown.
    InvalidReference,
}

/// Errors, which FlashInfer-Bench writes as `"NaN"` and `"Infinity"` where they are no numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Correctness {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_relative_error: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_absolute_error: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) has_nan: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) has_inf: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Finite(f64),
    Named(String),
}

impl Number {
    /// The number, if it is a finite one.
    pub(super) fn finite(&self) -> Option<f64> {
        match self {
            Self::Finite(value) => Some(*value).filter(|value| value.is_finite()),
            Self::Named(_) => None,
        }
    }
}

/// Zero means not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Performance {
    #[serde(default)]
    pub(super) latency_ms: f64,
    #[serde(default)]
    pub(super) reference_latency_ms: f64,
    #[serde(default)]
    pub(super) speedup_factor: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Environment {
    pub(super) hardware: String,
    #[serde(default)]
    pub(super) libs: BTreeMap<String, String>,
}
