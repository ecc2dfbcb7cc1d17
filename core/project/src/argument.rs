//! Arguments passed by value: `name: type` in argument lists, launches and structs.

use lightbench_primitives::dtype::{CType, Dtype, Family};
use lightbench_primitives::scalar_value::ScalarValue;

use super::definition::Inputs;
use super::environment::Environment;
use super::expression::{Expression, Kind, Reason, Scope};
use super::locate::Located;
use super::problem::Findings;

/// A value with the C type that the kernel receives.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueArgument {
    /// The name: the text before the colon.
    pub name: String,
    /// The C type.
    pub c_type: CType,
    pub source: ValueSource,
}

/// The source of an argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSource {
    /// A scalar that is not an integer, by its name.
    Scalar(String),
    /// An axis, an integer scalar, or a formula over them.
    Formula(Expression),
}

/// Why an argument has no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueError {
    /// The formula cannot be evaluated.
    Formula(super::expression::ExpressionError),
    /// The value does not fit the type.
    Type { value: ScalarValue, expected: String },
}

impl ValueArgument {
    /// The value in an environment, fitted to the C type.
    pub(super) fn value(&self, environment: &Environment<'_>) -> Result<ScalarValue, ValueError> {
        let value = match &self.source {
            ValueSource::Formula(formula) => formula
                .integer(environment)
                .map(ScalarValue::Integer)
                .map_err(ValueError::Formula)?,
            ValueSource::Scalar(name) => environment.scalar(name).ok_or_else(|| {
                ValueError::Formula(super::expression::ExpressionError {
                    span: 0..name.len(),
                    reason: Reason::NoValue { name: name.clone() },
                })
            })?,
        };
        value.convert(self.c_type).map_err(|expected| ValueError::Type { value, expected })
    }

    /// Evaluates once to see whether the value fits, and reports it if not.
    pub(super) fn check_value(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        environment: &Environment<'_>,
        workload: &str,
    ) -> bool {
        match self.value(environment) {
            Ok(_) => true,
            // Expressions that need a device are evaluated once a device is known.
            Err(ValueError::Formula(error)) if error.reason.lacks_value() => true,
            Err(ValueError::Formula(error)) => {
                findings.expression(at, 0, &error);
                false
            }
            Err(ValueError::Type { value, expected }) => {
                let found = format!("`{}` is {value} in workload `{workload}`", self.name);
                findings.add(at, found, expected);
                false
            }
        }
    }
}

/// Parses `name: type`; reports a problem and returns `None` if it is invalid.
pub(super) fn parse_value(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &str,
    scope: &Scope,
    inputs: Inputs<'_>,
) -> Option<ValueArgument> {
    let (left, right) = written.rsplit_once(':')?;
    let skipped = left.len() - left.trim_start().len();
    let (name, type_name) = (left.trim(), right.trim());
    let Some(c_type) = CType::from_name(type_name) else {
        let known = CType::ALL.map(CType::name);
        findings.unknown(at, "C type", type_name, &known);
        return None;
    };
    let before = findings.count();
    let source = match inputs.scalars.iter().find(|scalar| scalar.name == name) {
        Some(scalar) if !scalar.dtype.is_integer() => {
            check_scalar_type(findings, at, name, scalar.dtype, c_type);
            ValueSource::Scalar(name.to_owned())
        }
        Some(_) | None => {
            ValueSource::Formula(findings.formula_within(at, skipped, name, scope, Kind::Integer))
        }
    };
    if matches!(source, ValueSource::Formula(_)) && c_type == CType::Bool {
        findings.add(at, format!("`{name}` is an integer"), "an integer or floating-point type");
    }
    (findings.count() == before).then(|| ValueArgument { name: name.to_owned(), c_type, source })
}

/// A scalar keeps its family, and a float does not become narrower.
fn check_scalar_type(
    findings: &mut Findings<'_>,
    at: &Located,
    name: &str,
    dtype: Dtype,
    c_type: CType,
) {
    let target = c_type.dtype();
    let fits = match dtype.family() {
        Family::Boolean => target == Dtype::Bool,
        Family::Float => target == dtype || (target.is_float() && target.bits() > dtype.bits()),
        Family::Signed | Family::Unsigned => true,
    };
    if !fits {
        let found =
            format!("the scalar `{name}` is {} and the argument {}", dtype.name(), c_type.name());
        findings.add_with_help(
            at,
            found,
            "a type that holds every value",
            format!("write `{name}: {}`", dtype.name()),
        );
    }
}
