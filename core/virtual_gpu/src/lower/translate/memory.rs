//! Loads, stores and read-modify-writes.

use super::super::super::isa::atomic::{Atomic, ExchangeType, SwapType, Update};
use super::super::super::isa::memory::{Access, ElementType, Memory, Space};
use super::super::super::isa::scalar::{ScalarClass, ScalarType};
use super::super::super::module::{Address, Base, Instruction, Operand};
use super::super::code::{Bank, Code, Op, PoolValue, Slot};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn memory(
        &mut self,
        instruction: &Instruction,
        what: Memory,
    ) -> Result<(), NoPlace> {
        match what {
            Memory::Load(access) => self.load(instruction, access, false),
            Memory::LoadReadOnly(access) | Memory::LoadUniform(access) => {
                self.load(instruction, access, true)
            }
            Memory::Store(access) => self.store(instruction, access),
            Memory::Prefetch(..) | Memory::Prioritise(_) | Memory::Discard(_) => {
                self.emit(op(Code::Hint));
                Ok(())
            }
            Memory::CreatePolicy(_) => {
                let Some(policy) = instruction.operands.first() else { return Err(NoPlace) };
                let (d, _) = self.destination(policy, Bank::Doubles)?;
                let a = self.pool(PoolValue::Bits(0));
                self.emit(Op { d, a, ..op(Code::Copy64) });
                Ok(())
            }
        }
    }

    /// The elements of a load or store.
    pub(super) fn elements(operand: &Operand) -> &[Operand] {
        if let Operand::Vector(parts) = operand { parts } else { std::slice::from_ref(operand) }
    }

    fn load(
        &mut self,
        instruction: &Instruction,
        access: Access,
        read_only: bool,
    ) -> Result<(), NoPlace> {
        let (Some(to), Some(Operand::Address(address))) =
            (instruction.operands.first(), instruction.operands.get(1))
        else {
            return Err(NoPlace);
        };
        let element = ScalarType::from(access.element);
        if element.bits() > 64 {
            return self.load_halves(to, *address, access, read_only);
        }
        let fallback = if element.bits() == 64 { Bank::Doubles } else { Bank::Words };
        let mut slots = Vec::with_capacity(4);
        let mut register_bits = if element.bits() == 64 { 64 } else { 32 };
        for part in Self::elements(to) {
            let (slot, bank) = self.destination(part, fallback)?;
            if let Operand::Register(_) = part {
                register_bits = self.register_bits(part, bank);
            }
            slots.push(slot);
        }
        let sinks = Self::elements(to).iter().any(|part| matches!(part, Operand::Sink));
        if sinks && (register_bits == 64) != (fallback == Bank::Doubles) {
            return Err(NoPlace);
        }
        if let Base::Symbol(symbol) = address.base
            && access.space == Space::Param
            && let Some(offset) = self.kernel_parameter(symbol, address.offset)
        {
            return self.load_parameter(&slots, offset, element, register_bits);
        }
        let (base, a, immediate) = self.address(*address)?;
        let list = self.list(&slots);
        let code = Code::Load { access, base, register_bits, read_only };
        self.emit(Op { a, immediate, list, ..op(code) });
        Ok(())
    }

    /// A 128-bit load is two 64-bit loads, checked and aligned as a whole.
    fn load_halves(
        &mut self,
        to: &Operand,
        address: Address,
        access: Access,
        read_only: bool,
    ) -> Result<(), NoPlace> {
        let slots = self.all_halves(to)?;
        let (base, a, immediate) = self.address(address)?;
        let list = self.list(&slots);
        let access = Access { element: ElementType::B64, lanes: list.1, ..access };
        let code = Code::Load { access, base, register_bits: 64, read_only };
        self.emit(Op { a, immediate, list, ..op(code) });
        Ok(())
    }

    fn all_halves(&mut self, operand: &Operand) -> Result<Vec<Slot>, NoPlace> {
        let mut slots = Vec::with_capacity(4);
        for part in Self::elements(operand) {
            slots.extend(self.halves(part)?);
        }
        Ok(slots)
    }

    /// A kernel parameter is the same in all lanes and known at launch.
    fn load_parameter(
        &mut self,
        slots: &[Slot],
        offset: i64,
        element: ScalarType,
        register_bits: u8,
    ) -> Result<(), NoPlace> {
        let bytes = element.bytes() as u8;
        let signed = element.class() == ScalarClass::Integer
            && matches!(element, ScalarType::S8 | ScalarType::S16 | ScalarType::S32);
        for (index, d) in slots.iter().enumerate() {
            let Ok(offset) = u32::try_from(offset) else { return Err(NoPlace) };
            let offset = offset.wrapping_add(index as u32 * u32::from(bytes));
            let a = self.pool(PoolValue::Parameter { offset, bytes, signed, register_bits });
            let code = if register_bits == 64 { Code::Copy64 } else { Code::Copy32 };
            self.emit(Op { d: *d, a, ..op(code) });
        }
        Ok(())
    }

    fn store(&mut self, instruction: &Instruction, access: Access) -> Result<(), NoPlace> {
        let (Some(Operand::Address(address)), Some(from)) =
            (instruction.operands.first(), instruction.operands.get(1))
        else {
            return Err(NoPlace);
        };
        if ScalarType::from(access.element).bits() > 64 {
            let slots = self.all_halves(from)?;
            let (base, a, immediate) = self.address(*address)?;
            let list = self.list(&slots);
            let access = Access { element: ElementType::B64, lanes: list.1, ..access };
            let b = Slot::register(1);
            self.emit(Op { a, b, immediate, list, ..op(Code::Store { access, base }) });
            return Ok(());
        }
        let mut slots = Vec::with_capacity(4);
        let mut wide = None;
        for part in Self::elements(from) {
            let (slot, bank) = self.source(part)?;
            wide = wide.or(bank);
            slots.push(slot);
        }
        let (base, a, immediate) = self.address(*address)?;
        let list = self.list(&slots);
        // A register may be wider than the stored value: `b` names the bank of the values.
        let from_doubles = match wide {
            Some(bank) => bank == Bank::Doubles,
            None => matches!(
                access.element,
                ElementType::B64 | ElementType::U64 | ElementType::S64 | ElementType::F64
            ),
        };
        let b = Slot::register(u32::from(from_doubles));
        self.emit(Op { a, b, immediate, list, ..op(Code::Store { access, base }) });
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        instruction: &Instruction,
        atomic: Atomic,
    ) -> Result<(), NoPlace> {
        let wide = matches!(
            atomic.update,
            Update::Exchange(ExchangeType::B128) | Update::CompareAndSwap(SwapType::B128)
        );
        if atomic.lanes > 1 || wide {
            return self.atomic_vector(instruction, atomic);
        }
        let mut sources = instruction.sources().iter();
        let Some(Operand::Address(address)) = sources.next() else { return Err(NoPlace) };
        let (base, a, immediate) = self.address(*address)?;
        let b = match sources.next() {
            Some(operand) => self.source(operand)?.0,
            None => return Err(NoPlace),
        };
        let c = match sources.next() {
            Some(operand) if matches!(atomic.update, Update::CompareAndSwap(_)) => {
                self.source(operand)?.0
            }
            _ => Slot::NONE,
        };
        let d = match instruction.destinations().first() {
            Some(Operand::Sink) | None => Slot::NONE,
            Some(operand) => self.destination(operand, Bank::Words)?.0,
        };
        self.emit(Op { d, a, b, c, immediate, ..op(Code::Atomic { atomic, base }) });
        Ok(())
    }
    /// Several values, or one of 128 bits: results, then operands, in one list.
    fn atomic_vector(&mut self, instruction: &Instruction, atomic: Atomic) -> Result<(), NoPlace> {
        let [Operand::Address(address), values @ ..] = instruction.sources() else {
            return Err(NoPlace);
        };
        let values = match atomic.update {
            Update::CompareAndSwap(_) => values.get(..2),
            Update::And(_)
            | Update::Or(_)
            | Update::Xor(_)
            | Update::Exchange(_)
            | Update::Add(_)
            | Update::Increment
            | Update::Decrement
            | Update::Minimum(_)
            | Update::Maximum(_) => values.get(..1),
        };
        let mut operands = Vec::with_capacity(12);
        for value in values.ok_or(NoPlace)? {
            operands.extend(self.atomic_operand(value, Self::source_slot)?);
        }
        let mut slots = match instruction.destinations().first() {
            Some(Operand::Sink) | None => {
                vec![Slot::NONE; operands.len() / values.map_or(1, <[Operand]>::len)]
            }
            Some(operand) => self.atomic_operand(operand, Self::result_slot)?,
        };
        slots.append(&mut operands);
        let (base, a, immediate) = self.address(*address)?;
        let list = self.list(&slots);
        self.emit(Op { a, immediate, list, ..op(Code::AtomicVector { atomic, base }) });
        Ok(())
    }

    fn source_slot(&mut self, operand: &Operand) -> Result<Slot, NoPlace> {
        Ok(self.source(operand)?.0)
    }

    fn result_slot(&mut self, operand: &Operand) -> Result<Slot, NoPlace> {
        Ok(self.destination(operand, Bank::Words)?.0)
    }

    fn atomic_operand(
        &mut self,
        operand: &Operand,
        slot: fn(&mut Self, &Operand) -> Result<Slot, NoPlace>,
    ) -> Result<Vec<Slot>, NoPlace> {
        if self.is_quad(operand) {
            return Ok(self.halves(operand)?.to_vec());
        }
        Self::elements(operand).iter().map(|part| slot(self, part)).collect()
    }

    /// Whether a register has 128 bits.
    pub(super) fn is_quad(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Register(register)
            if self.ty(*register).bits() == ScalarType::B128.bits())
    }
}
