//! Moves, packing, and address conversions. PTX ISA, section "Data Movement and Conversion Instructions": `mov`,
//! `cvta`, `isspacep`.

use super::keyword::{keywords, scalar_subset};
use super::memory::{Space, lanes};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Row};

scalar_subset! {
    MoveType: "a type" {
        Pred, B8, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64
    }
}
scalar_subset! {
    /// The types of addresses.
    AddressType: ".u32 or .u64" { U32, U64 }
}
keywords! {
    /// The windows of the generic address space.
    Window: "a state space" {
        Const = "const", Global = "global", Local = "local", Shared = "shared",
        SharedCta = "shared::cta", SharedCluster = "shared::cluster", Param = "param", ParamEntry = "param::entry",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// `d = a` for each element of two vectors, or of the coordinates of a special register.
    CopyVector(MoveType),
    /// `d = a`; a vector on either side packs or unpacks, a symbol stands for its address.
    Copy(MoveType),
    /// Converts an address of a state space to a generic address.
    ToGeneric(Space, AddressType),
    /// Converts a generic address to an address of a state space.
    FromGeneric(Space, AddressType),
    /// Tests whether a generic address is in a state space.
    IsInSpace(Space),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("mov", |m| {
        let count = lanes(m);
        let ty: MoveType = m.required()?;
        if count > 1 {
            return vector(m, count, ty);
        }
        let roles = [Role::MoveDestination(ty.into()), Role::MoveSource(ty.into())];
        Ok((Operation::Move(Move::Copy(ty)), Signature::new(&roles)))
    }),
    Row::any("cvta", |m| {
        let to = m.flag("to");
        let space = m.required::<Window>()?.space();
        let ty: AddressType = m.required()?;
        let operation = if to { Move::FromGeneric(space, ty) } else { Move::ToGeneric(space, ty) };
        let roles = [Role::Write(ty.into(), Fit::Exact), Role::MoveSource(ty.into())];
        Ok((Operation::Move(operation), Signature::new(&roles)))
    }),
    Row::any("isspacep", |m: &mut Modifiers<'_>| -> Decoded {
        let space = m.required::<Window>()?.space();
        let address = Role::MoveSource(ScalarType::B64);
        let roles = [Role::Write(ScalarType::Pred, Fit::Exact), address];
        Ok((Operation::Move(Move::IsInSpace(space)), Signature::new(&roles)))
    }),
];

/// PTX ISA, "Vectors as Operands", and the examples of `%tid` and `%clusterid`.
fn vector(m: &Modifiers<'_>, count: u8, element: MoveType) -> Decoded {
    let ty = ScalarType::from(element);
    if ty == ScalarType::Pred || ty.bits() > 64 {
        return Err(m.combination("the elements of a vector must have 8 to 64 bits"));
    }
    let destination = Role::WriteVector { count, ty, fit: Fit::Exact };
    let roles = [destination, Role::VectorSource { count, ty }];
    Ok((Operation::Move(Move::CopyVector(element)), Signature::new(&roles)))
}

impl Window {
    /// The state space of the window.
    #[must_use]
    pub fn space(self) -> Space {
        match self {
            Self::Const => Space::Const,
            Self::Global => Space::Global,
            Self::Local => Space::Local,
            Self::Shared | Self::SharedCta => Space::Shared,
            Self::SharedCluster => Space::SharedCluster,
            Self::Param | Self::ParamEntry => Space::Param,
        }
    }
}
