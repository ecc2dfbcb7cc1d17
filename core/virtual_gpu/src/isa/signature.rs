//! The operand signature of an instruction: decoded together with the operation, checked in one place.

use super::memory::Space;
use super::scalar::{Fit, ScalarType};

/// The kind of one operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// A result register, or the sink.
    Write(ScalarType, Fit),
    /// A vector of result registers; if the count is one, the braces are optional.
    WriteVector { count: u8, ty: ScalarType, fit: Fit },
    /// `d` or `d|p`: a result and a predicate.
    WriteWithPredicate(ScalarType),
    /// `p` or `p|q`: a predicate and its complement.
    WritePredicates,
    /// A register, constant or special register.
    Read(ScalarType, Fit),
    /// A source vector; if the count is one, the braces are optional.
    ReadVector { count: u8, ty: ScalarType, fit: Fit },
    /// A value, or instead `p` or `!p`.
    ReadOrPredicate(ScalarType),
    /// `p` or `!p`.
    ReadPredicate,
    /// A source of `mov`: a register, a constant, a special register, an address, a vector.
    MoveSource(ScalarType),
    /// A source vector, or a special register with coordinates.
    VectorSource { count: u8, ty: ScalarType },
    /// A result of `mov`: a register, or a vector for the pieces.
    MoveDestination(ScalarType),
    /// `[base+offset]`.
    Address(Space),
    /// `[base, {x, y}]`: the generic address of a tensor map or the value of a texture or surface object, and
    /// coordinates. It becomes two operands.
    Coordinates { count: u8, ty: ScalarType },
    /// An integer constant up to a limit.
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
            | Self::Coordinates { .. }
            | Self::Constant { .. } => false,
        }
    }
}

/// Operands of control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlOperands {
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
    /// The operands of branches and calls.
    pub(crate) control: Option<ControlOperands>,
}

impl Signature {
    const MOST: usize = 10;

    /// The operands of `roles`.
    pub(crate) fn new(roles: &[Role]) -> Self {
        let mut all = [Role::ReadPredicate; Self::MOST];
        for (slot, role) in all.iter_mut().zip(roles) {
            *slot = *role;
        }
        let length = roles.len().min(Self::MOST) as u8;
        Self { roles: all, length, optional: 0, control: None }
    }

    /// Makes the last `count` operands optional.
    pub(crate) fn optional(mut self, count: u8) -> Self {
        self.optional = count;
        self
    }

    /// The signature of a control flow instruction.
    pub(crate) fn control(operands: ControlOperands) -> Self {
        Self { control: Some(operands), ..Self::new(&[]) }
    }

    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles[..usize::from(self.length)]
    }

    /// The number of result operands, which come first.
    pub(crate) fn destinations(&self) -> usize {
        self.roles().iter().take_while(|role| role.writes()).count()
    }

    /// The smallest and the largest number of operands.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let most = usize::from(self.length);
        (most - usize::from(self.optional), most)
    }
}

/// A result and sources, all of one type, as in most arithmetic.
pub(crate) fn uniform(ty: impl Into<ScalarType>, sources: usize) -> Signature {
    let ty = ty.into();
    let mut roles = vec![Role::Write(ty, Fit::Exact)];
    roles.extend(std::iter::repeat_n(Role::Read(ty, Fit::Exact), sources));
    Signature::new(&roles)
}

/// A result of one type, and sources with types of their own.
pub(crate) fn mixed(result: ScalarType, sources: &[ScalarType]) -> Signature {
    let mut roles = vec![Role::Write(result, Fit::Exact)];
    roles.extend(sources.iter().map(|ty| Role::Read(*ty, Fit::Exact)));
    Signature::new(&roles)
}
