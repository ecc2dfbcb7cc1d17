//! Changes of tensor maps. PTX ISA, sections "tensormap.replace", "tensormap.cp_fenceproxy" and "membar, fence".

use super::keyword::keywords;
use super::memory::{Scope, Space};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Row};

keywords! {
    /// A field of a tensor map.
    MapField: "a field such as `.global_address`" {
        Address = "global_address", Rank = "rank", BoxSide = "box_dim", Dimension = "global_dim",
        Stride = "global_stride", ElementStride = "element_stride", Element = "elemtype",
        Interleave = "interleave_layout", Swizzle = "swizzle_mode", Fill = "fill_mode",
    }
}

impl MapField {
    /// Whether values have 64 bits.
    pub(crate) const fn is_wide(self) -> bool {
        match self {
            Self::Address | Self::Stride => true,
            Self::Rank
            | Self::BoxSide
            | Self::Dimension
            | Self::ElementStride
            | Self::Element
            | Self::Interleave
            | Self::Swizzle
            | Self::Fill => false,
        }
    }
}

/// Operations on tensor maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMapOperation {
    /// Replaces a field of a map in global or shared memory.
    Replace(MapField, Space),
    /// Copies a map from shared to global memory and releases it.
    Publish,
    /// Releases generic writes of maps.
    Release,
    /// Makes the released content of a map visible to tensor copies.
    Acquire,
}

/// The size of a tensor map in bytes.
const BYTES: Role = Role::Constant { largest: 128 };
/// The number of a dimension, of which there are at most five.
const DIMENSION: Role = Role::Constant { largest: 4 };

pub(crate) const TABLE: &[Row] = &[
    Row::with("tensormap", "replace", replace),
    Row::with("tensormap", "cp_fenceproxy", |m| {
        m.flag("cp_fenceproxy");
        m.require_flag("global", "`.global`")?;
        m.require_flag("shared::cta", "`.shared::cta`")?;
        m.require_flag("tensormap::generic", "`.tensormap::generic`")?;
        m.require_flag("release", "`.release`")?;
        let _: Scope = m.required()?;
        m.require_flag("sync", "`.sync`")?;
        m.require_flag("aligned", "`.aligned`")?;
        let roles = [Role::Address(Space::Global), Role::Address(Space::Shared), BYTES];
        done(TensorMapOperation::Publish, &roles)
    }),
    Row::with("fence", "tensormap::generic", |m| {
        m.require_flag("proxy", "`.proxy`")?;
        m.flag("tensormap::generic");
        let releases = m.flag("release");
        if !releases {
            m.require_flag("acquire", "`.acquire` or `.release`")?;
        }
        let _: Scope = m.required()?;
        if releases {
            return done(TensorMapOperation::Release, &[]);
        }
        done(TensorMapOperation::Acquire, &[Role::Address(Space::Generic), BYTES])
    }),
];

fn replace(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("replace");
    m.require_flag("tile", "`.tile`")?;
    let field: MapField = m.required()?;
    let space = if m.flag("global") {
        Space::Global
    } else if m.flag("shared::cta") {
        Space::Shared
    } else {
        Space::Generic
    };
    m.require_flag("b1024", "`.b1024`")?;
    let ty = if field.is_wide() { ScalarType::B64 } else { ScalarType::B32 };
    m.require_flag(ty.word(), "the type of the field")?;
    let (map, value) = (Role::Address(space), Role::Read(ty, Fit::Exact));
    let operation = TensorMapOperation::Replace(field, space);
    match field {
        MapField::BoxSide | MapField::Dimension | MapField::Stride | MapField::ElementStride => {
            done(operation, &[map, DIMENSION, value])
        }
        MapField::Address
        | MapField::Rank
        | MapField::Element
        | MapField::Interleave
        | MapField::Swizzle
        | MapField::Fill => done(operation, &[map, value]),
    }
}

fn done(operation: TensorMapOperation, roles: &[Role]) -> Decoded {
    Ok((Operation::TensorMap(operation), Signature::new(roles)))
}
