//! Copies of boxes of tensors, which a tensor map describes. PTX ISA, sections "cp.async.bulk.tensor",
//! "cp.reduce.async.bulk.tensor", "cp.async.bulk.prefetch.tensor" and "prefetch, prefetchu".

use super::keyword::keywords;
use super::memory::Space;
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

keywords! {
    /// The operation on each element of a tensor, whose type is that of the tensor map.
    Reduction: "a reduction such as `.add`" {
        And = "and", Or = "or", Xor = "xor", Add = "add", Increment = "inc", Decrement = "dec",
        Minimum = "min", Maximum = "max",
    }
}

/// What a tensor copy transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMode {
    /// A box.
    Tiled,
    /// A column of pixels.
    Im2col,
}

/// Copies of boxes of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorCopy {
    /// `[shared] = [map, {x, y}]`: completes transactions of a barrier object.
    Load(CopyMode),
    /// A load to the same place of several blocks of the cluster, given by a mask of their ranks.
    LoadMulticast(CopyMode),
    /// `[map, {x, y}] = [shared]`: completes with its bulk group.
    Store(CopyMode),
    /// A store that combines each element with the one in global memory.
    Reduce(CopyMode, Reduction),
    /// A prefetch of a box to the L2 cache.
    Prefetch(CopyMode),
    /// A prefetch of a tensor map.
    PrefetchMap,
}

const POLICY: Role = Role::Read(ScalarType::B64, Fit::Exact);
const SHARED: Role = Role::Address(Space::Shared);
/// One bit for the rank of each destination block.
const RANKS: Role = Role::Read(ScalarType::B16, Fit::Exact);

pub(crate) const TABLE: &[Row] =
    &[Row::with("cp", "tensor", decode), Row::with("prefetch", "tensormap", prefetch_map)];

fn decode(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("tensor");
    m.require_flag("bulk", "`.bulk`")?;
    m.require_flag("async", "`.async`")?;
    let rank = rank(m)?;
    let map = Role::Coordinates { count: rank, ty: ScalarType::S32 };
    let (columns, stored_columns) = (m.flag("im2col"), m.flag("im2col_no_offs"));
    let mode = if columns || stored_columns { CopyMode::Im2col } else { CopyMode::Tiled };
    if mode == CopyMode::Im2col && rank < 3 {
        return Err(m.combination("columns of pixels have three dimensions or more"));
    }
    if mode == CopyMode::Tiled {
        m.flag("tile");
    }
    let has_policy = m.flag("L2::cache_hint");
    let offsets = Role::ReadVector { count: rank.max(3) - 2, ty: ScalarType::B16, fit: Fit::Exact };
    let with_offsets = |roles: &[Role]| {
        let offsets = columns.then_some(offsets);
        roles.iter().copied().chain(offsets).collect::<Vec<_>>()
    };
    if m.flag("prefetch") {
        m.require_flag("L2", "`.L2`")?;
        m.require_flag("global", "`.global`")?;
        return done(TensorCopy::Prefetch(mode), &with_offsets(&[map]), has_policy);
    }
    let is_shared = m.flag("shared::cta") || m.flag("shared::cluster");
    m.require_flag("global", "`.global`")?;
    if !is_shared {
        return Err(m.missing("`.shared::cta` or `.shared::cluster`"));
    }
    if columns && (m.has("reduce") || m.has("bulk_group")) {
        return Err(
            m.combination("a store of a column of pixels has no offsets: `.im2col_no_offs`")
        );
    }
    if m.flag("reduce") {
        m.require_flag("bulk_group", "`.bulk_group`")?;
        let reduction = m.required()?;
        return done(TensorCopy::Reduce(mode, reduction), &[map, SHARED], has_policy);
    }
    if m.flag("bulk_group") {
        return done(TensorCopy::Store(mode), &[map, SHARED], has_policy);
    }
    if stored_columns {
        return Err(m.combination("a load of a column of pixels has offsets: `.im2col`"));
    }
    m.require_flag(
        "mbarrier::complete_tx::bytes",
        "`.bulk_group` or `.mbarrier::complete_tx::bytes`",
    )?;
    if m.flag("multicast::cluster") {
        let roles: Vec<Role> =
            with_offsets(&[SHARED, map, SHARED]).into_iter().chain([RANKS]).collect();
        return done(TensorCopy::LoadMulticast(mode), &roles, has_policy);
    }
    done(TensorCopy::Load(mode), &with_offsets(&[SHARED, map, SHARED]), has_policy)
}

fn rank(m: &mut Modifiers<'_>) -> Result<u8, Refusal> {
    m.parsed("a number of dimensions, `.1d` to `.5d`", |word| {
        let ranks = ["1d", "2d", "3d", "4d", "5d"];
        ranks.iter().position(|rank| *rank == word).map(|index| index as u8 + 1)
    })
}

fn prefetch_map(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("tensormap");
    let is_parameter = m.flag("param");
    m.flag("const");
    let space = if is_parameter { Space::Param } else { Space::Generic };
    done(TensorCopy::PrefetchMap, &[Role::Address(space)], false)
}

fn done(operation: TensorCopy, roles: &[Role], has_policy: bool) -> Decoded {
    let roles: Vec<Role> = roles.iter().copied().chain(has_policy.then_some(POLICY)).collect();
    Ok((Operation::TensorCopy(operation), Signature::new(&roles)))
}
