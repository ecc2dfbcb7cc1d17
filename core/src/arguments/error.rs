//! Errors of specs: the problem, its column and the expected text.

use std::fmt;

use lightbench_primitives::dtype::CType;

/// A spec that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The spec.
    pub spec: String,
    /// Column in characters, from 1.
    pub column: usize,
    /// The problem.
    pub reason: Reason,
}

/// Why a spec cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The first word is neither a type nor a kind of argument.
    #[error("`{found}` is not a type; expected {}", types())]
    Type {
        /// What is there.
        found: String,
    },
    /// Another text is expected here.
    #[error("expected {expected}")]
    Expected {
        /// What.
        expected: &'static str,
    },
    /// A number that the type does not have.
    #[error("`{found}` is not a value of {c_type}; expected {}", values(c_type))]
    Value {
        /// What is there.
        found: String,
        /// The type.
        c_type: &'static str,
    },
    /// More or fewer numbers than elements.
    #[error(
        "{found} values for {count} elements; expected {count}, or `constant(…)` for all of them"
    )]
    Count {
        /// Numbers.
        found: u64,
        /// Elements.
        count: u64,
    },
    /// A fill that the type cannot have.
    #[error("`{fill}` cannot fill a buffer of {c_type}; expected {expected}")]
    Fill {
        /// The fill.
        fill: &'static str,
        /// The type.
        c_type: &'static str,
        /// What would do.
        expected: &'static str,
    },
    /// More bytes than any device has.
    #[error("a buffer of more than {limit} bytes; expected a smaller one")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// An input without initial content.
    #[error("an input is read-only and needs initial content; expected `=` and the content")]
    EmptyInput,
}

impl fmt::Display for SpecError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spec, column, reason } = self;
        write!(formatter, "argument `{spec}`, column {column}: {reason}")
    }
}

impl std::error::Error for SpecError {}

fn types() -> String {
    let names: Vec<&str> = CType::ALL.map(CType::name).into();
    format!(
        "{}, `buf:` or `in:` and a type, `bytes:`, `null`, or `same:` and an index",
        names.join(", ")
    )
}

fn values(name: &str) -> String {
    match CType::from_name(name) {
        Some(CType::Bool) => "true or false".to_owned(),
        Some(CType::F16 | CType::Bf16 | CType::F32 | CType::F64) => {
            "a decimal number, `inf`, `-inf` or `nan`".to_owned()
        }
        Some(c_type) => {
            let bits = c_type.bytes() * 8;
            let (low, high) = if c_type.dtype().holds(-1) {
                (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
            } else {
                (0, (1_i128 << bits) - 1)
            };
            format!("an integer from {low} to {high}, decimal or with `0x`")
        }
        None => "a number".to_owned(),
    }
}
