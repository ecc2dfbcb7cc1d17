//! The minimum work of a correct kernel: operations by formula, bytes by formula or by counting tensors once.

use super::{
    environment::Environment,
    expression::{Expression, Kind, Scope},
    extent::Extent,
    locate::Located,
    manifest::{OperationKind, WorkBytesWritten, WorkWritten},
    problem::Findings,
    tensor::{Role, Tensor},
};

/// Work formulas of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Operations by kind.
    pub operations: Vec<Operation>,
    /// Bytes moved.
    pub bytes: WorkBytes,
}

/// Operations of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub kind: OperationKind,
    pub count: Expression,
}

/// Bytes that any correct kernel moves.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkBytes {
    /// Each input and output once, each inout twice.
    Automatic,
    /// By the project's formula.
    Formula(Expression),
}

/// The work of one workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkAmount {
    /// Operations by kind, in the order of the definition.
    pub operations: Vec<(OperationKind, f64)>,
    /// Bytes moved.
    pub bytes: f64,
}

pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &WorkWritten,
    scope: &Scope,
) -> Work {
    let place = at.field("operations");
    let mut operations: Vec<Operation> = Vec::new();
    for (index, operation) in written.operations.iter().enumerate() {
        let entry = place.item(index);
        if operations.iter().any(|known| known.kind == operation.kind) {
            findings.add(entry.field("kind"), "a second count of this kind", "each kind once");
        }
        let count = findings.formula(entry.field("count"), &operation.count.0, scope, Kind::Real);
        operations.push(Operation { kind: operation.kind, count });
    }
    let bytes = match &written.bytes {
        WorkBytesWritten::Automatic => WorkBytes::Automatic,
        WorkBytesWritten::Formula(formula) => WorkBytes::Formula(findings.formula(
            at.field("bytes").item(0),
            &formula.0,
            scope,
            Kind::Real,
        )),
    };
    Work { operations, bytes }
}

/// The work of one workload; each formula must yield a finite, non-negative number.
pub(super) fn amount(
    findings: &mut Findings<'_>,
    at: &Located,
    work: &Work,
    (tensors, extents): (&[Tensor], &[Extent]),
    (environment, workload): (&Environment<'_>, &str),
) -> WorkAmount {
    let mut evaluate = |place: &Located, formula: &Expression| match formula.real(environment) {
        Ok(value) if value.is_finite() && value >= 0.0 => value,
        Ok(value) => {
            findings.add(
                place,
                format!("{value} in workload `{workload}`"),
                "a finite number of at least 0",
            );
            0.0
        }
        Err(error) => {
            findings.expression(place, 0, &error);
            0.0
        }
    };
    let mut operations = Vec::new();
    for (index, operation) in work.operations.iter().enumerate() {
        let place = at.field("operations").item(index).field("count");
        operations.push((operation.kind, evaluate(place, &operation.count)));
    }
    let bytes = match &work.bytes {
        WorkBytes::Formula(formula) => evaluate(at.field("bytes").item(0), formula),
        WorkBytes::Automatic => {
            tensors.iter().zip(extents).map(|(tensor, extent)| moved(tensor, extent)).sum()
        }
    };
    WorkAmount { operations, bytes }
}

/// Bytes of the elements themselves: gaps between them need not move.
#[expect(clippy::cast_precision_loss, reason = "at most 2^41 bytes, exact in f64")]
fn moved(tensor: &Tensor, extent: &Extent) -> f64 {
    let once = (extent.elements * tensor.dtype.bits()).div_ceil(8) as f64;
    match tensor.role {
        Role::Input { .. } | Role::Output { .. } => once,
        Role::Inout { .. } => 2.0 * once,
    }
}
