//! Operations on registers: one result, and sources in the order of the PTX ISA.

use super::super::super::isa::Operation;
use super::super::super::isa::compare::Compare;
use super::super::super::isa::convert::Convert;
use super::super::super::module::{Instruction, Operand, RegisterId};
use super::super::code::{Bank, Code, Op, Slot};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn compute(&mut self, instruction: &Instruction, code: Code) -> Result<(), NoPlace> {
        self.compute_with(instruction, op(code))
    }

    /// One result and up to four sources in the order of the PTX ISA.
    pub(super) fn compute_with(
        &mut self,
        instruction: &Instruction,
        mut op: Op,
    ) -> Result<(), NoPlace> {
        let mut sources = [op.a, op.b, op.c, op.f];
        for (slot, operand) in sources.iter_mut().zip(instruction.sources()) {
            *slot = self.source(operand)?.0;
        }
        [op.a, op.b, op.c, op.f] = sources;
        if instruction.sources().len() > 4 {
            // `lop3` with a predicate has five sources: truth table and predicate are handled separately.
            let [_, _, _, table, predicate] = instruction.sources() else { return Err(NoPlace) };
            let Operand::Immediate(table) = table else { return Err(NoPlace) };
            op.immediate = table.bits() as i64;
            op.f = self.source(predicate)?.0;
        }
        if let Some(destination) = instruction.destinations().first() {
            let bank = result_bank(instruction.operation);
            op.d = self.destination(destination, bank)?.0;
            let second = self.second_destination(destination);
            if !second.is_none() {
                op.e = second;
            }
        }
        self.emit(op);
        Ok(())
    }

    pub(super) fn convert(
        &mut self,
        instruction: &Instruction,
        convert: Convert,
    ) -> Result<(), NoPlace> {
        let mut slots = [Slot::NONE; 3];
        let mut wide_source = false;
        for (slot, operand) in slots.iter_mut().zip(instruction.sources()) {
            let (source, bank) = self.source(operand)?;
            wide_source |= bank.is_none() || bank == Some(Bank::Doubles);
            *slot = source;
        }
        let [a, b, c] = slots;
        let Some(destination) = instruction.destinations().first() else { return Err(NoPlace) };
        let (d, bank) = self.destination(destination, Bank::Words)?;
        let register_bits = self.register_bits(destination, bank);
        self.emit(Op { d, a, b, c, ..op(Code::Convert { convert, wide_source, register_bits }) });
        Ok(())
    }

    pub(super) fn register_bits(&self, destination: &Operand, bank: Bank) -> u8 {
        let of = |register: RegisterId| self.ty(register).bits() as u8;
        match (destination, bank) {
            (Operand::Register(register) | Operand::Pair(Some(register), _), _) => of(*register),
            (Operand::Vector(parts), _) if parts.len() == 1 => self.register_bits(&parts[0], bank),
            (_, Bank::Doubles) => 64,
            (_, Bank::Words | Bank::Predicates) => 32,
        }
    }
}

/// The bank of a dropped result.
fn result_bank(operation: Operation) -> Bank {
    if let Operation::Compare(Compare::SetPredicate(..)) = operation {
        Bank::Predicates
    } else {
        Bank::Words
    }
}
