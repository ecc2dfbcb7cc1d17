//! Operands to slots.

use std::collections::{BTreeMap, HashMap};

use super::super::isa::scalar::ScalarType;
use super::super::isa::special_register::SpecialRegister;
use super::super::module::FunctionKind;
use super::super::module::{
    Address, Base, Body, FunctionId, Guard, Module, Operand, RegisterId, Symbol,
};
use super::Program;
use super::code::{Bank, BaseKind, Code, Object, Op, Origin, PoolValue, Slot};
use super::frame::FrameLayout;
use super::in_flight::TrackedAccess;
use super::slots::{Slots, bank};

/// An operand without a slot.
pub(super) struct NoPlace;

/// The state of the translation of one function.
pub(super) struct Translator<'t> {
    pub(super) module: &'t Module,
    pub(super) id: FunctionId,
    pub(super) body: &'t Body,
    pub(super) slots: Slots,
    pub(super) frame: FrameLayout,
    pub(super) program: &'t mut Program,
    pub(super) known: &'t mut HashMap<PoolValue, u32>,
    /// Temporaries of the present instruction, and the maximum of all instructions, by bank.
    pub(super) temporaries: [u32; 3],
    pub(super) most_temporaries: [u32; 3],
    pub(super) position: u32,
    /// The accesses that the machine tracks, by the index of their instruction.
    pub(super) tracked: BTreeMap<u32, TrackedAccess>,
    pub(super) guard: Slot,
}

impl Translator<'_> {
    pub(super) fn is_entry(&self) -> bool {
        self.module.functions[self.id.0 as usize].kind == FunctionKind::Entry
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.program.ops.push(Op { guard: self.guard, ..op });
        self.program.origins.push(Origin { function: self.id, instruction: self.position });
    }

    pub(super) fn pool(&mut self, value: PoolValue) -> Slot {
        let pool = &mut self.program.pool;
        let index = *self.known.entry(value).or_insert_with(|| {
            pool.push(value);
            pool.len() as u32 - 1
        });
        Slot::pool(index)
    }

    pub(super) fn temporary(&mut self, bank: Bank) -> Slot {
        let (index, base) = match bank {
            Bank::Words => (0, self.slots.words),
            Bank::Doubles => (1, self.slots.doubles),
            Bank::Predicates => (2, self.slots.predicates),
        };
        let slot = base + self.temporaries[index];
        self.temporaries[index] += 1;
        self.most_temporaries[index] = self.most_temporaries[index].max(self.temporaries[index]);
        Slot::register(slot)
    }

    pub(super) fn register(&self, register: RegisterId) -> Slot {
        Slot::register(self.slots.of_register[register.0 as usize])
    }

    pub(super) fn ty(&self, register: RegisterId) -> ScalarType {
        self.body.registers[register.0 as usize].ty
    }

    pub(super) fn bank_of(&self, register: RegisterId) -> Result<Bank, NoPlace> {
        bank(self.ty(register)).ok_or(NoPlace)
    }

    pub(super) fn guard(&self, guard: Option<Guard>) -> Slot {
        match guard {
            None => Slot::NONE,
            Some(Guard { predicate, negated: false }) => self.register(predicate),
            Some(Guard { predicate, negated: true }) => self.register(predicate).negated(),
        }
    }

    /// A source and its bank; constants are in every bank.
    pub(super) fn source(&mut self, operand: &Operand) -> Result<(Slot, Option<Bank>), NoPlace> {
        Ok(match operand {
            Operand::Register(register) => {
                (self.register(*register), Some(self.bank_of(*register)?))
            }
            Operand::Not(register) => {
                (self.register(*register).negated(), Some(self.bank_of(*register)?))
            }
            Operand::Immediate(immediate) => (self.pool(PoolValue::Bits(immediate.bits())), None),
            Operand::Special(special) => {
                let bank = special_bank(*special);
                let slot = self.temporary(bank);
                self.emit(Op { d: slot, ..op(Code::Special(*special)) });
                (slot, Some(bank))
            }
            Operand::Symbol(symbol, offset) => self.symbol(*symbol, *offset)?,
            Operand::Vector(parts) => match &**parts {
                [only] => return self.source(only),
                _ => return Err(NoPlace),
            },
            Operand::Address(_)
            | Operand::Sink
            | Operand::Pair(..)
            | Operand::Label(_)
            | Operand::Targets(_)
            | Operand::Call(_) => return Err(NoPlace),
        })
    }

    fn symbol(&mut self, symbol: Symbol, offset: i64) -> Result<(Slot, Option<Bank>), NoPlace> {
        if let Some(object) = super::object(self.module, self.id, symbol) {
            return Ok((self.pool(PoolValue::Address(object, offset)), None));
        }
        if let Some(offset) = self.kernel_parameter(symbol, offset) {
            return Ok((self.pool(PoolValue::Address(Object::Parameters, offset)), None));
        }
        let (start, _) = self.frame.offset(symbol).ok_or(NoPlace)?;
        let slot = self.temporary(Bank::Doubles);
        let immediate = i64::from(start).wrapping_add(offset);
        self.emit(Op { d: slot, immediate, ..op(Code::FrameAddress) });
        Ok((slot, Some(Bank::Doubles)))
    }

    pub(super) fn kernel_parameter(&self, symbol: Symbol, offset: i64) -> Option<i64> {
        let Symbol::Parameter(index) = symbol else { return None };
        let function = &self.module.functions[self.id.0 as usize];
        let parameter = function.parameters.get(index as usize)?;
        self.is_entry().then_some((parameter.offset as i64).wrapping_add(offset))
    }

    /// A result; a dropped result goes to a slot that is never read.
    pub(super) fn destination(
        &mut self,
        operand: &Operand,
        fallback: Bank,
    ) -> Result<(Slot, Bank), NoPlace> {
        Ok(match operand {
            Operand::Register(register) => (self.register(*register), self.bank_of(*register)?),
            Operand::Vector(parts) => match &**parts {
                [only] => return self.destination(only, fallback),
                _ => return Err(NoPlace),
            },
            Operand::Sink => (self.temporary(fallback), fallback),
            Operand::Pair(Some(first), _) => (self.register(*first), self.bank_of(*first)?),
            Operand::Pair(None, _) => (self.temporary(fallback), fallback),
            Operand::Special(_)
            | Operand::Immediate(_)
            | Operand::Symbol(..)
            | Operand::Address(_)
            | Operand::Not(_)
            | Operand::Label(_)
            | Operand::Targets(_)
            | Operand::Call(_) => return Err(NoPlace),
        })
    }

    /// Both halves of a 128-bit value, the low one first.
    pub(super) fn halves(&mut self, operand: &Operand) -> Result<[Slot; 2], NoPlace> {
        match operand {
            Operand::Register(register) if self.ty(*register).bits() == 128 => {
                let low = self.slots.of_register[register.0 as usize];
                Ok([Slot::register(low), Slot::register(low + 1)])
            }
            Operand::Immediate(immediate) => {
                let low = self.pool(PoolValue::Bits(immediate.bits()));
                Ok([low, self.pool(PoolValue::Bits(0))])
            }
            Operand::Sink => Ok([self.temporary(Bank::Doubles), self.temporary(Bank::Doubles)]),
            Operand::Vector(parts) => match &**parts {
                [only] => self.halves(only),
                [low, high] => Ok([self.half(low)?, self.half(high)?]),
                _ => Err(NoPlace),
            },
            Operand::Register(_)
            | Operand::Special(_)
            | Operand::Symbol(..)
            | Operand::Address(_)
            | Operand::Pair(..)
            | Operand::Not(_)
            | Operand::Label(_)
            | Operand::Targets(_)
            | Operand::Call(_) => Err(NoPlace),
        }
    }

    fn half(&mut self, operand: &Operand) -> Result<Slot, NoPlace> {
        if let Operand::Sink = operand {
            return Ok(self.temporary(Bank::Doubles));
        }
        match self.source(operand)? {
            (slot, Some(Bank::Doubles) | None) => Ok(slot),
            (_, Some(Bank::Words | Bank::Predicates)) => Err(NoPlace),
        }
    }

    /// The second result of `d|p`.
    pub(super) fn second_destination(&self, operand: &Operand) -> Slot {
        if let Operand::Pair(_, Some(second)) = operand {
            self.register(*second)
        } else {
            Slot::NONE
        }
    }

    /// The elements of a vector, or a single value without braces.
    pub(super) fn list(&mut self, slots: &[Slot]) -> (u32, u8) {
        let start = self.program.lists.len() as u32;
        self.program.lists.extend(slots);
        (start, slots.len() as u8)
    }

    pub(super) fn address(&mut self, address: Address) -> Result<(BaseKind, Slot, i64), NoPlace> {
        match address.base {
            Base::Absolute => Ok((BaseKind::Wide, self.pool(PoolValue::Bits(0)), address.offset)),
            Base::Register(register) => {
                let kind = match self.bank_of(register)? {
                    Bank::Words => BaseKind::Narrow,
                    Bank::Doubles => BaseKind::Wide,
                    Bank::Predicates => return Err(NoPlace),
                };
                Ok((kind, self.register(register), address.offset))
            }
            Base::Generic(symbol, space) => {
                let (a, _) = self.symbol(symbol, address.offset)?;
                let d = self.temporary(Bank::Doubles);
                self.emit(Op { d, a, ..op(Code::ToGeneric(space)) });
                Ok((BaseKind::Wide, d, 0))
            }
            Base::Symbol(symbol) => {
                if let Some(object) = super::object(self.module, self.id, symbol) {
                    let slot = self.pool(PoolValue::Address(object, address.offset));
                    return Ok((BaseKind::Wide, slot, 0));
                }
                if let Some(offset) = self.kernel_parameter(symbol, address.offset) {
                    let slot = self.pool(PoolValue::Address(Object::Parameters, offset));
                    return Ok((BaseKind::Wide, slot, 0));
                }
                let (start, _) = self.frame.offset(symbol).ok_or(NoPlace)?;
                Ok((BaseKind::Frame, Slot::NONE, i64::from(start).wrapping_add(address.offset)))
            }
        }
    }
}

/// An operation without operands.
pub(super) fn op(code: Code) -> Op {
    Op {
        code,
        guard: Slot::NONE,
        d: Slot::NONE,
        e: Slot::NONE,
        a: Slot::NONE,
        b: Slot::NONE,
        c: Slot::NONE,
        f: Slot::NONE,
        immediate: 0,
        list: (0, 0),
    }
}

pub(super) fn special_bank(special: SpecialRegister) -> Bank {
    match special.scalar().bits() {
        1 => Bank::Predicates,
        64 => Bank::Doubles,
        _ => Bank::Words,
    }
}
