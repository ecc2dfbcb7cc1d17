//! What operands an instruction takes: decoded together with the operation, checked in one place.

use super::memory::Space;
use super::scalar::{Fit, ScalarType};

/// What one operand must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// A register that is written, or the sink.
    Write(ScalarType, Fit),
    /// A vector of registers that is written; where the count is one, the braces may be left out.
    WriteVector { count: u8, ty: ScalarType, fit: Fit },
    /// `d` or `d|p`: a result and a predicate.
    WriteWithPredicate(ScalarType),
    /// `p` or `p|q`: a predicate and its complement.
    WritePredicates,
    /// A register, constant or special register.
    Read(ScalarType, Fit),
    /// A vector that is read, in the same forms.
    ReadVector { count: u8, ty: ScalarType, fit: Fit },
    /// A value, or in its place `p` or `!p`.
    ReadOrPredicate(ScalarType),
    /// `p` or `!p`.
    ReadPredicate,
    /// Any of what `mov` takes: a register, a constant, a special register, an address, a vector.
    MoveSource(ScalarType),
    /// A vector that is read, or a special register with coordinates.
    VectorSource { count: u8, ty: ScalarType },
    /// The other side: a register, or a vector that takes the pieces.
    MoveDestination(ScalarType),
    /// `[base+offset]`.
    Address(Space),
    /// A whole number that is written out, at most this.
    Constant { largest: u64 },
}

impl Role {
    fn writes(self) -> bool {
        match self {
            Self::Write(..)
            | Self::WriteVector { .. }
            | Self::WriteWithPredicate(_)
            | Self::WritePredicates
            | Self::MoveDestination(_) => true,
            Self::Read(..)
            | Self::ReadVector { .. }
            | Self::ReadOrPredicate(_)
            | Self::ReadPredicate
            | Self::MoveSource(_)
            | Self::VectorSource { .. }
            | Self::Address(_)
            | Self::Constant { .. } => false,
        }
    }
}

/// Operands that only control flow has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlOperands {
    /// A label.
    Label,
    /// An index and a list of labels.
    Indexed,
    /// Results, a function, arguments, a prototype.
    Call,
}

/// All operands of an instruction, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Signature {
    roles: [Role; Self::MOST],
    length: u8,
    optional: u8,
    /// Branches and calls have operands of their own kind.
    pub(crate) control: Option<ControlOperands>,
}

impl Signature {
    const MOST: usize = 8;

    /// The operands of `roles`.
    pub(crate) fn new(roles: &[Role]) -> Self {
        let mut all = [Role::ReadPredicate; Self::MOST];
        for (slot, role) in all.iter_mut().zip(roles) {
            *slot = *role;
        }
        let length = roles.len().min(Self::MOST) as u8;
        Self { roles: all, length, optional: 0, control: None }
    }

    /// The last `count` operands may be left out.
    pub(crate) fn optional(mut self, count: u8) -> Self {
        self.optional = count;
        self
    }

    /// Operands that only control flow has.
    pub(crate) fn control(operands: ControlOperands) -> Self {
        Self { control: Some(operands), ..Self::new(&[]) }
    }

    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles[..usize::from(self.length)]
    }

    /// How many of the operands are written; they stand first.
    pub(crate) fn destinations(&self) -> usize {
        self.roles().iter().take_while(|role| role.writes()).count()
    }

    /// Fewest and most operands.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let most = usize::from(self.length);
        (most - usize::from(self.optional), most)
    }
}

/// A result and sources, all of one type: what most arithmetic looks like.
pub(crate) fn uniform(ty: impl Into<ScalarType>, sources: usize) -> Signature {
    let ty = ty.into();
    let mut roles = vec![Role::Write(ty, Fit::Exact)];
    roles.extend(std::iter::repeat_n(Role::Read(ty, Fit::Exact), sources));
    Signature::new(&roles)
}

/// A result of one type and sources, each of its own.
pub(crate) fn mixed(result: ScalarType, sources: &[ScalarType]) -> Signature {
    let mut roles = vec![Role::Write(result, Fit::Exact)];
    roles.extend(sources.iter().map(|ty| Role::Read(*ty, Fit::Exact)));
    Signature::new(&roles)
}
