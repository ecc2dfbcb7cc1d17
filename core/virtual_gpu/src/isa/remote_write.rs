//! Asynchronous stores and read-modify-writes of shared memory of the cluster. PTX ISA, sections "st.async" and
//! "red.async".

use super::atomic::{AddType, Atomic, AtomicOrder, ExtremeType, OldValue, Update, update};
use super::keyword::scalar_subset;
use super::memory::{Scope, Space, lanes};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

scalar_subset! {
    /// The types of asynchronous stores.
    StoredType: "a type of 32 or 64 bits" { B32, B64, U32, U64, S32, S64, F32, F64 }
}

/// An asynchronous write that completes transactions of a barrier object in the same block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteWrite {
    /// Stores 1, 2 or 4 values (`st.async`).
    Store(StoredType),
    /// A read-modify-write without a result (`red.async`).
    Reduce(Atomic),
}

pub(crate) const TABLE: &[Row] = &[
    Row::with("st", "async", |m| {
        m.flag("async");
        m.flag("weak");
        completion(m)?;
        let count = lanes(m);
        let ty: StoredType = m.required()?;
        if count > 4 {
            return Err(m.combination("an asynchronous store has at most 4 values"));
        }
        done(RemoteWrite::Store(ty), count, ty.into())
    }),
    Row::with("red", "async", |m| {
        m.flag("async");
        m.require_flag("relaxed", "`.relaxed`")?;
        m.require_flag("cluster", "`.cluster`")?;
        completion(m)?;
        let (update, ty) = update(m)?;
        if !is_supported(update) {
            return Err(m.combination("an asynchronous read-modify-write is one of integers"));
        }
        let (space, order, scope) = (Space::SharedCluster, AtomicOrder::Relaxed, Scope::Cluster);
        let old_value = OldValue::Dropped;
        let atomic = Atomic { space, update, lanes: 1, order, scope, old_value };
        done(RemoteWrite::Reduce(atomic), 1, ty)
    }),
];

fn done(operation: RemoteWrite, count: u8, ty: ScalarType) -> Decoded {
    let address = Role::Address(Space::SharedCluster);
    let value = Role::ReadVector { count, ty, fit: Fit::Exact };
    Ok((Operation::RemoteWrite(operation), Signature::new(&[address, value, address])))
}

fn completion(m: &mut Modifiers<'_>) -> Result<(), Refusal> {
    m.require_flag("shared::cluster", "`.shared::cluster`")?;
    m.require_flag("mbarrier::complete_tx::bytes", "`.mbarrier::complete_tx::bytes`")
}

/// PTX ISA, section "red.async": `.inc`, `.dec`, `.min`, `.max`, `.add`, `.and`, `.or`, `.xor` of integers.
fn is_supported(update: Update) -> bool {
    match update {
        Update::And(_) | Update::Or(_) | Update::Xor(_) => true,
        Update::Increment | Update::Decrement => true,
        Update::Add(ty) => matches!(ty, AddType::U32 | AddType::S32 | AddType::U64),
        Update::Minimum(ty) | Update::Maximum(ty) => {
            matches!(ty, ExtremeType::U32 | ExtremeType::S32)
        }
        Update::Exchange(_) | Update::CompareAndSwap(_) => false,
    }
}
