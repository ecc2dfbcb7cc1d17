//! Read-modify-write. PTX ISA, sections "atom" and "red" of "Parallel Synchronization and Communication
//! Instructions".

use super::keyword::{keywords, scalar_subset};
use super::memory::{Scope, Space, lanes, space};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

scalar_subset! {
    /// The types of bitwise operations.
    BitwiseType: ".b32 or .b64" { B32, B64 }
}
scalar_subset! {
    ExchangeType: ".b32, .b64 or .b128" { B32, B64, B128 }
}
scalar_subset! {
    /// The types of a compare-and-swap.
    SwapType: ".b16, .b32, .b64 or .b128" { B16, B32, B64, B128 }
}
scalar_subset! {
    /// The types of an addition.
    AddType: "a type that can be added" {
        U32, S32, U64, S64, F16, F16x2, Bf16, Bf16x2, F32, F64
    }
}
scalar_subset! {
    /// The types of minimum and maximum.
    ExtremeType: "a type that has a minimum" {
        U32, S32, U64, S64, F16, F16x2, Bf16, Bf16x2
    }
}
keywords! {
    /// The memory ordering of an atomic operation.
    AtomicOrder: "an order" {
        Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcquireRelease = "acq_rel",
    }
}
keywords! {
    /// The keyword of the operation.
    AtomicWord: "an operation such as .add" {
        And = "and", Or = "or", Xor = "xor", Exchange = "exch", CompareAndSwap = "cas",
        Add = "add", Increment = "inc", Decrement = "dec", Minimum = "min", Maximum = "max",
    }
}

/// The operation on the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// `old & b`.
    And(BitwiseType),
    /// `old | b`.
    Or(BitwiseType),
    /// `old ^ b`.
    Xor(BitwiseType),
    /// `b`.
    Exchange(ExchangeType),
    /// `old == b ? c : old`.
    CompareAndSwap(SwapType),
    /// `old + b`; f32 additions flush subnormals in global memory, additions of halves do not.
    Add(AddType),
    /// `old >= b ? 0 : old + 1`, u32.
    Increment,
    /// `old == 0 || old > b ? b : old - 1`, u32.
    Decrement,
    Minimum(ExtremeType),
    Maximum(ExtremeType),
}

/// Whether the old value is a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldValue {
    /// `atom`.
    Returned,
    /// `red`.
    Dropped,
}

/// A read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The state space: generic, global or shared.
    pub space: Space,
    pub update: Update,
    /// The number of elements, each updated separately.
    pub lanes: u8,
    /// The memory ordering.
    pub order: AtomicOrder,
    pub scope: Scope,
    pub old_value: OldValue,
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("atom", |m| atomic(m, OldValue::Returned)),
    Row::any("red", |m| atomic(m, OldValue::Dropped)),
];

fn atomic(m: &mut Modifiers<'_>, old_value: OldValue) -> Decoded {
    let order = m.optional().unwrap_or(AtomicOrder::Relaxed);
    let scope = m.optional().unwrap_or(Scope::Gpu);
    let space = space(m);
    if !matches!(space, Space::Generic | Space::Global) && !space.is_shared() {
        return Err(m.combination("atomics require .global, .shared or generic addresses"));
    }
    let (update, ty) = update(m)?;
    let lanes = lanes(m);
    let swaps = matches!(update, Update::CompareAndSwap(_));
    if swaps && old_value == OldValue::Dropped {
        return Err(m.combination("`red` does not support `.cas`"));
    }
    let policy = m.flag("L2::cache_hint");
    let operation = Atomic { space, update, lanes, order, scope, old_value };
    Ok((Operation::Atomic(operation), signature(operation, ty, policy)))
}

fn signature(atomic: Atomic, ty: ScalarType, policy: bool) -> Signature {
    let (count, fit) = (atomic.lanes, Fit::Exact);
    let value = Role::ReadVector { count, ty, fit };
    let mut roles = Vec::with_capacity(5);
    if atomic.old_value == OldValue::Returned {
        roles.push(Role::WriteVector { count, ty, fit });
    }
    roles.push(Role::Address(atomic.space));
    roles.push(value);
    if matches!(atomic.update, Update::CompareAndSwap(_)) {
        roles.push(value);
    }
    if policy {
        roles.push(Role::Read(ScalarType::B64, Fit::Exact));
    }
    Signature::new(&roles)
}

/// The operation and its type.
pub(super) fn update(m: &mut Modifiers<'_>) -> Result<(Update, ScalarType), Refusal> {
    Ok(match m.required()? {
        AtomicWord::And => bitwise(Update::And, m.required()?),
        AtomicWord::Or => bitwise(Update::Or, m.required()?),
        AtomicWord::Xor => bitwise(Update::Xor, m.required()?),
        AtomicWord::Exchange => {
            let ty: ExchangeType = m.required()?;
            (Update::Exchange(ty), ty.into())
        }
        AtomicWord::CompareAndSwap => {
            let ty: SwapType = m.required()?;
            (Update::CompareAndSwap(ty), ty.into())
        }
        AtomicWord::Add => {
            let ty: AddType = m.required()?;
            halves_keep_subnormals(m, matches!(ty, AddType::F16 | AddType::F16x2))?;
            halves_keep_subnormals(m, matches!(ty, AddType::Bf16 | AddType::Bf16x2))?;
            (Update::Add(ty), ty.into())
        }
        AtomicWord::Increment => unsigned_word(m, Update::Increment)?,
        AtomicWord::Decrement => unsigned_word(m, Update::Decrement)?,
        AtomicWord::Minimum => extreme(m, Update::Minimum)?,
        AtomicWord::Maximum => extreme(m, Update::Maximum)?,
    })
}

fn bitwise(update: fn(BitwiseType) -> Update, ty: BitwiseType) -> (Update, ScalarType) {
    (update(ty), ty.into())
}

fn unsigned_word(m: &mut Modifiers<'_>, update: Update) -> Result<(Update, ScalarType), Refusal> {
    m.require_flag("u32", ".u32")?;
    Ok((update, ScalarType::U32))
}

fn extreme(
    m: &mut Modifiers<'_>,
    update: fn(ExtremeType) -> Update,
) -> Result<(Update, ScalarType), Refusal> {
    let ty: ExtremeType = m.required()?;
    // Vectors of halves are written with `.noftz`, scalars without.
    m.flag("noftz");
    Ok((update(ty), ty.into()))
}

/// PTX requires `.noftz` for additions of halves: the hardware does not flush them.
fn halves_keep_subnormals(m: &mut Modifiers<'_>, is_half: bool) -> Result<(), Refusal> {
    if is_half {
        m.require_flag("noftz", "`.noftz`, which additions of halves require")
    } else {
        Ok(())
    }
}
