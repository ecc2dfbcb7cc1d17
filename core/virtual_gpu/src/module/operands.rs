//! Checks of operands against the signature of an instruction. PTX ISA, sections "Instruction Operands" and "Type
//! Checking Rules".
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operand of any shape but the wanted one is the same error"
)]

use lightbench_ptx::excerpt;
use lightbench_ptx::tree::{self, Literal};

use super::super::error::Problem;
use super::super::isa::memory::Space;
use super::super::isa::scalar::{Fit, ScalarClass, ScalarType};
use super::super::isa::signature::Role;
use super::super::isa::special_register::SpecialRegister;
use super::constants::immediate;
use super::module_scope::ModuleScope;
use super::names::{Binding, Names};
use super::operand::{Address, Base, Immediate, Operand, Symbol};
use super::{Function, FunctionId, RegisterId, Variable};

/// The operand found and the operand required, for the message.
pub(super) struct Mismatch {
    pub(super) found: String,
    pub(super) expected: String,
}

/// Why an operand is not valid.
pub(super) enum OperandError {
    Mismatch(Mismatch),
    Problem(Problem),
}

type Checked = Result<Operand, OperandError>;

pub(super) fn undeclared(kind: &'static str, name: &str) -> Problem {
    Problem::Undeclared { kind, name: excerpt(name).to_owned() }
}

fn mismatch(found: impl Into<String>, expected: impl Into<String>) -> OperandError {
    OperandError::Mismatch(Mismatch { found: found.into(), expected: expected.into() })
}

/// Everything that an operand may refer to.
pub(super) struct Operands<'r, 'a> {
    pub(super) names: &'r mut Names<'a>,
    pub(super) declared: &'r ModuleScope<'a>,
    pub(super) locals: &'r [Variable],
    pub(super) callees: &'r [Vec<FunctionId>],
    pub(super) function: &'r Function,
}

/// The meaning of a plain name.
enum Named {
    Register(RegisterId, ScalarType),
    Registers(RegisterId, u32),
    Special(SpecialRegister),
    Symbol(Symbol),
}

impl<'a> Operands<'_, 'a> {
    /// Checks an operand for its role.
    pub(super) fn check(&mut self, role: Role, written: &tree::Operand<'a>) -> Checked {
        match role {
            Role::Write(ty, fit) => self.write(written, ty, fit),
            Role::WriteVector { count, ty, fit } => {
                self.vector(written, count, (ty, fit), |this, element| this.write(element, ty, fit))
            }
            Role::WriteWithPredicate(ty) => self.write_with_predicate(written, ty),
            Role::WritePredicates => self.write_with_predicate(written, ScalarType::Pred),
            Role::Read(ty, fit) => self.read(written, ty, fit),
            Role::ReadVector { count, ty, fit } => {
                self.vector(written, count, (ty, fit), |this, element| this.read(element, ty, fit))
            }
            Role::VectorSource { count, ty } => self.vector_source(written, count, ty),
            Role::ReadOrPredicate(ty) => match self.read(written, ty, Fit::Exact) {
                Err(OperandError::Mismatch(_)) => self.check(Role::ReadPredicate, written),
                other => other,
            },
            Role::ReadPredicate => match written {
                tree::Operand::Not(name) => {
                    self.register(name, ScalarType::Pred, Fit::Exact).map(Operand::Not)
                }
                other => self.read(other, ScalarType::Pred, Fit::Exact),
            },
            Role::MoveSource(ty) => self.move_source(written, ty),
            Role::MoveDestination(ty) => match self.pieces(written) {
                Some(count) => {
                    let fit = (piece(ty, count)?, Fit::Exact);
                    self.vector(written, count as u8, fit, |this, written| {
                        this.write(written, fit.0, fit.1)
                    })
                }
                None => self.write(written, ty, Fit::Exact),
            },
            Role::Address(space) => self.address(written, space),
            Role::Coordinates { .. } => {
                Err(mismatch(describe(written), "one operand without coordinates"))
            }
            Role::Constant { largest } => match written {
                tree::Operand::Literal(Literal::Integer(value)) if *value as u64 <= largest => {
                    Ok(Operand::Immediate(Immediate::Integer(*value as u64)))
                }
                other => Err(mismatch(describe(other), format!("a constant up to {largest}"))),
            },
        }
    }

    fn write(&mut self, written: &tree::Operand<'a>, ty: ScalarType, fit: Fit) -> Checked {
        match written {
            tree::Operand::Name { name: "_", offset: 0 } => Ok(Operand::Sink),
            tree::Operand::Name { name, offset: 0 } => {
                self.register(name, ty, fit).map(Operand::Register)
            }
            tree::Operand::Component { .. } => match self.component(written)? {
                (Operand::Register(id), found) if found.fits(ty, fit) => Ok(Operand::Register(id)),
                (_, found) => Err(unfit(found, ty, fit)),
            },
            other => Err(mismatch(describe(other), wanted(ty, fit))),
        }
    }

    fn read(&mut self, written: &tree::Operand<'a>, ty: ScalarType, fit: Fit) -> Checked {
        match written {
            tree::Operand::Name { name: "WARP_SZ", offset: 0 } => {
                constant(Literal::Integer(32), ty)
            }
            tree::Operand::Name { name, offset: 0 } => match self.named(name)? {
                Named::Register(id, found) if found.fits(ty, fit) => Ok(Operand::Register(id)),
                Named::Register(_, found) => Err(unfit(found, ty, fit)),
                Named::Special(special) if special.scalar().fits(ty, Fit::Wider) => {
                    Ok(Operand::Special(special))
                }
                Named::Special(special) => Err(unfit(special.scalar(), ty, fit)),
                Named::Registers(..) => Err(mismatch("a vector register", wanted(ty, fit))),
                Named::Symbol(_) => Err(mismatch("an address", wanted(ty, fit))),
            },
            tree::Operand::Component { .. } => match self.component(written)? {
                (operand, found) if found.fits(ty, fit) => Ok(operand),
                (_, found) => Err(unfit(found, ty, fit)),
            },
            tree::Operand::Literal(literal) => constant(*literal, ty),
            other => Err(mismatch(describe(other), wanted(ty, fit))),
        }
    }

    /// Several operands in braces; the braces of a single one are optional.
    fn vector(
        &mut self,
        written: &tree::Operand<'a>,
        count: u8,
        (ty, fit): (ScalarType, Fit),
        mut element: impl FnMut(&mut Self, &tree::Operand<'a>) -> Checked,
    ) -> Checked {
        let count = usize::from(count);
        match written {
            tree::Operand::Vector(elements) if elements.len() == count => {
                if let ([single], 1) = (elements.as_slice(), count) {
                    return element(self, single);
                }
                let checked: Result<Box<[_]>, _> =
                    elements.iter().map(|written| element(self, written)).collect();
                Ok(Operand::Vector(checked?))
            }
            tree::Operand::Name { name, offset: 0 } if count > 1 => match self.named(name)? {
                // A register that was declared as a vector stands for all of its components.
                Named::Registers(first, declared) if declared as usize == count => {
                    let found = self.names.register_type(first);
                    if !found.fits(ty, fit) {
                        return Err(unfit(found, ty, fit));
                    }
                    let all =
                        (0..declared).map(|lane| Operand::Register(RegisterId(first.0 + lane)));
                    Ok(Operand::Vector(all.collect()))
                }
                _ => Err(mismatch(describe(written), format!("a vector of {count}"))),
            },
            other if count == 1 && !matches!(other, tree::Operand::Vector(_)) => {
                element(self, other)
            }
            other => Err(mismatch(describe(other), format!("a vector of {count}"))),
        }
    }

    /// `d` or `d|p`, either side of which may be dropped.
    fn write_with_predicate(&mut self, written: &tree::Operand<'a>, ty: ScalarType) -> Checked {
        let tree::Operand::Pair(first, second) = written else {
            return self.write(written, ty, Fit::Exact);
        };
        let mut side = |name: &'a str, ty| match name {
            "_" => Ok(None),
            name => self.register(name, ty, Fit::Exact).map(Some),
        };
        Ok(Operand::Pair(side(first, ty)?, side(second, ScalarType::Pred)?))
    }

    fn move_source(&mut self, written: &tree::Operand<'a>, ty: ScalarType) -> Checked {
        if let Some(count) = self.pieces(written) {
            let fit = (piece(ty, count)?, Fit::Exact);
            return self.vector(written, count as u8, fit, |this, written| {
                this.read(written, fit.0, fit.1)
            });
        }
        match written {
            tree::Operand::Name { name, offset } => match self.named(name) {
                Ok(Named::Symbol(symbol)) if matches!(ty.bits(), 32 | 64) => {
                    Ok(Operand::Symbol(symbol, *offset))
                }
                _ => self.read(written, ty, Fit::Exact),
            },
            other => self.read(other, ty, Fit::Exact),
        }
    }

    /// The number of elements of a vector in braces or of a vector register; none for any other operand.
    fn pieces(&mut self, written: &tree::Operand<'a>) -> Option<usize> {
        match written {
            tree::Operand::Vector(elements) => Some(elements.len()),
            tree::Operand::Name { name, offset: 0 } => match self.names.find(name) {
                Some(Binding::Register { count, .. }) if count > 1 => Some(count as usize),
                _ => None,
            },
            _ => None,
        }
    }

    /// A vector, or all coordinates of a special register: the fourth is zero.
    fn vector_source(&mut self, written: &tree::Operand<'a>, count: u8, ty: ScalarType) -> Checked {
        if let (tree::Operand::Name { name, offset: 0 }, 4) = (written, count)
            && let Some(x) = SpecialRegister::from_name(name, Some("x"))
        {
            if !x.scalar().fits(ty, Fit::Exact) {
                return Err(unfit(x.scalar(), ty, Fit::Exact));
            }
            let axes = ["x", "y", "z"].map(|axis| SpecialRegister::from_name(name, Some(axis)));
            let axes = axes.into_iter().flatten().map(Operand::Special);
            let zero = Operand::Immediate(Immediate::Integer(0));
            return Ok(Operand::Vector(axes.chain([zero]).collect()));
        }
        self.vector(written, count, (ty, Fit::Exact), |this, element| {
            this.read(element, ty, Fit::Exact)
        })
    }

    fn address(&mut self, written: &tree::Operand<'a>, space: Space) -> Checked {
        let tree::Operand::Address(address) = written else {
            return Err(mismatch(describe(written), "an address in brackets"));
        };
        if !address.coordinates.is_empty() {
            return Err(mismatch("an address with coordinates", "an address in brackets"));
        }
        self.base_and_offset(address, space)
    }

    /// The address of a tensor map or the value of an object, and the coordinates as a vector.
    pub(super) fn with_coordinates(
        &mut self,
        written: &tree::Operand<'a>,
        (count, ty): (u8, ScalarType),
    ) -> Result<[Operand; 2], OperandError> {
        let wanted =
            || format!("{count} coordinates in the brackets, as in `[%rd1, {{%r1, %r2}}]`");
        let tree::Operand::Address(address) = written else {
            return Err(mismatch(describe(written), wanted()));
        };
        let [coordinates] = &address.coordinates[..] else {
            return Err(mismatch(describe(written), wanted()));
        };
        let map = self.base_and_offset(address, Space::Generic)?;
        let fit = (ty, Fit::Exact);
        let coordinates =
            self.vector(coordinates, count, fit, |this, element| this.read(element, ty, fit.1))?;
        Ok([map, coordinates])
    }

    /// An address without its coordinates.
    fn base_and_offset(&mut self, address: &tree::Address<'a>, space: Space) -> Checked {
        let base = match address.base {
            None => Base::Absolute,
            Some(name) => match self.named(name)? {
                Named::Register(id, ty) if self.holds_address(ty, space) => Base::Register(id),
                Named::Register(_, ty) => {
                    return Err(mismatch(
                        format!("an address in a register of {ty}"),
                        "an address in a register of .b64",
                    ));
                }
                Named::Symbol(symbol) => self.named_base(symbol, space)?,
                Named::Special(_) | Named::Registers(..) => {
                    return Err(mismatch(
                        format!("`{}`", excerpt(name)),
                        "a register or a variable",
                    ));
                }
            },
        };
        Ok(Operand::Address(Address { base, offset: address.offset }))
    }

    /// Addresses have 64 bits; those of small state spaces may have 32.
    fn holds_address(&self, ty: ScalarType, space: Space) -> bool {
        let small =
            matches!(space, Space::Local | Space::Const | Space::Param) || space.is_shared();
        let integer = matches!(ty.class(), ScalarClass::Bits | ScalarClass::Integer);
        integer && (ty.bits() == 64 || (small && ty.bits() == 32))
    }

    /// Checks the state space of a symbol against that of the instruction. Generic accesses apply to global, shared
    /// and local memory (`ptxas` rejects the name of a constant), and the address of a global symbol is generic
    /// already.
    fn named_base(&self, symbol: Symbol, wanted: Space) -> Result<Base, OperandError> {
        let lies = match symbol {
            Symbol::Variable(id) => self.declared.variable_list[id.0 as usize].space,
            Symbol::Local(id) => self.locals[id.0 as usize].space,
            Symbol::Parameter(_) | Symbol::Return(_) => Space::Param,
            Symbol::Function(_) => return Err(mismatch("a function", "a variable")),
        };
        let elsewhere = || {
            let wanted = format!("memory in {}", space_name(wanted));
            mismatch(format!("in {}", space_name(lies)), wanted)
        };
        match (wanted, lies) {
            (Space::Generic, Space::Global) => Ok(Base::Symbol(symbol)),
            (Space::Generic, Space::Shared | Space::Local) => Ok(Base::Generic(symbol, lies)),
            (Space::SharedCluster, Space::Shared) => Ok(Base::Symbol(symbol)),
            _ if lies == wanted => Ok(Base::Symbol(symbol)),
            _ => Err(elsewhere()),
        }
    }

    pub(super) fn register(
        &mut self,
        name: &'a str,
        ty: ScalarType,
        fit: Fit,
    ) -> Result<RegisterId, OperandError> {
        match self.named(name)? {
            Named::Register(id, found) if found.fits(ty, fit) => Ok(id),
            Named::Register(_, found) => Err(unfit(found, ty, fit)),
            Named::Special(_) => Err(mismatch("a special register", wanted(ty, fit))),
            Named::Registers(..) => Err(mismatch("a vector register", wanted(ty, fit))),
            Named::Symbol(_) => Err(mismatch("an address", wanted(ty, fit))),
        }
    }

    /// The function or variable with a name.
    pub(super) fn symbol(&mut self, name: &'a str) -> Option<Symbol> {
        match self.names.find(name) {
            Some(Binding::Local(id)) => return Some(Symbol::Local(id)),
            Some(Binding::Parameter(index)) => return Some(Symbol::Parameter(index)),
            Some(Binding::Return(index)) => return Some(Symbol::Return(index)),
            Some(Binding::Register { .. } | Binding::Prototype(_)) => return None,
            Some(Binding::Targets(_) | Binding::Callees(_)) => return None,
            None => {}
        }
        if let Some(id) = self.declared.variables.get(name) {
            return Some(Symbol::Variable(*id));
        }
        self.declared.functions.get(name).map(|id| Symbol::Function(*id))
    }

    fn named(&mut self, name: &'a str) -> Result<Named, OperandError> {
        if let Some(Binding::Register { first, count }) = self.names.find(name) {
            return Ok(match count {
                1 => Named::Register(first, self.names.register_type(first)),
                count => Named::Registers(first, count),
            });
        }
        if let Some(symbol) = self.symbol(name) {
            return Ok(Named::Symbol(symbol));
        }
        if let Some(special) = SpecialRegister::from_name(name, None) {
            return Ok(Named::Special(special));
        }
        let kind = if name.starts_with('%') { "register" } else { "name" };
        Err(OperandError::Problem(undeclared(kind, name)))
    }

    /// `%tid.x`, or one component of a vector register.
    fn component(
        &mut self,
        written: &tree::Operand<'a>,
    ) -> Result<(Operand, ScalarType), OperandError> {
        let tree::Operand::Component { name, component } = written else {
            return Err(mismatch(describe(written), "a component"));
        };
        if let Some(special) = SpecialRegister::from_name(name, Some(component)) {
            return Ok((Operand::Special(special), special.scalar()));
        }
        if SpecialRegister::from_name(name, Some("x")).is_some() {
            return Err(mismatch(describe(written), "`.x`, `.y` or `.z`"));
        }
        let lane = match *component {
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => return Err(mismatch(describe(written), "`.x`, `.y`, `.z` or `.w`")),
        };
        match self.named(name)? {
            Named::Registers(first, count) if lane < count => {
                let id = RegisterId(first.0 + lane);
                Ok((Operand::Register(id), self.names.register_type(id)))
            }
            _ => Err(mismatch(describe(written), "a component of a vector register")),
        }
    }
}

/// The type of each piece when a value is packed from `pieces` pieces.
fn piece(ty: ScalarType, pieces: usize) -> Result<ScalarType, OperandError> {
    match ty.bits().checked_div(pieces as u32) {
        Some(8) if ty.bits() <= 32 => Ok(ScalarType::B8),
        Some(16) => Ok(ScalarType::B16),
        Some(32) => Ok(ScalarType::B32),
        Some(64) => Ok(ScalarType::B64),
        Some(_) | None => Err(mismatch(format!("a vector of {pieces}"), wanted(ty, Fit::Exact))),
    }
}

fn constant(literal: Literal, ty: ScalarType) -> Checked {
    immediate(literal, ty)
        .map(Operand::Immediate)
        .ok_or_else(|| mismatch(describe(&tree::Operand::Literal(literal)), wanted(ty, Fit::Exact)))
}

fn unfit(found: ScalarType, ty: ScalarType, fit: Fit) -> OperandError {
    mismatch(format!("a register of type {found}"), wanted(ty, fit))
}

fn wanted(ty: ScalarType, fit: Fit) -> String {
    match fit {
        Fit::Exact => format!("type {ty}"),
        Fit::Wider => format!("type {ty} or wider"),
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic memory",
        Space::Const => ".const",
        Space::Global => ".global",
        Space::Local => ".local",
        Space::Param => ".param",
        Space::Shared => ".shared",
        Space::SharedCluster => ".shared::cluster",
    }
}

pub(super) fn describe(operand: &tree::Operand<'_>) -> String {
    match operand {
        tree::Operand::Name { name, .. } => format!("`{}`", excerpt(name)),
        tree::Operand::Component { name, component } => {
            format!("`{}.{}`", excerpt(name), excerpt(component))
        }
        tree::Operand::Literal(Literal::Integer(value)) => format!("the integer {value}"),
        tree::Operand::Literal(Literal::Single(_) | Literal::Double(_)) => {
            "a floating-point constant".to_owned()
        }
        tree::Operand::Address(_) => "an address in brackets".to_owned(),
        tree::Operand::Vector(elements) => format!("a vector of {}", elements.len()),
        tree::Operand::Pair(..) => "a pair".to_owned(),
        tree::Operand::Not(_) => "a negated predicate".to_owned(),
        tree::Operand::Negative { name, .. } => format!("`-{}`", excerpt(name)),
        tree::Operand::Group(_) => "a list of arguments".to_owned(),
    }
}
