//! Moves, packing, and address conversions.

use super::super::super::isa::moves::Move;
use super::super::super::isa::scalar::ScalarType;
use super::super::super::module::{Instruction, Operand};
use super::super::code::{Bank, Code, Op};
use super::super::operands::{NoPlace, Translator, op, special_bank};

impl Translator<'_> {
    pub(super) fn moves(&mut self, instruction: &Instruction, what: Move) -> Result<(), NoPlace> {
        let [destination, source] = &instruction.operands[..] else { return Err(NoPlace) };
        match what {
            Move::Copy(ty) => self.copy(destination, source, ScalarType::from(ty)),
            Move::CopyVector(_) => self.copy_vector(destination, source),
            Move::ToGeneric(space, _) => {
                self.address_move(destination, source, Code::ToGeneric(space))
            }
            Move::FromGeneric(space, _) => {
                self.address_move(destination, source, Code::FromGeneric(space))
            }
            Move::IsInSpace(space) => {
                let (a, _) = self.source(source)?;
                let (d, _) = self.destination(destination, Bank::Predicates)?;
                self.emit(Op { d, a, ..op(Code::IsInSpace(space)) });
                Ok(())
            }
        }
    }

    fn address_move(&mut self, to: &Operand, from: &Operand, code: Code) -> Result<(), NoPlace> {
        let (a, bank) = self.source(from)?;
        let (d, to_bank) = self.destination(to, Bank::Doubles)?;
        if to_bank != Bank::Doubles || bank.is_some_and(|bank| bank != Bank::Doubles) {
            return Err(NoPlace);
        }
        self.emit(Op { d, a, ..op(code) });
        Ok(())
    }

    /// Elements that are results and sources are read before any is written.
    fn copy_vector(&mut self, to: &Operand, from: &Operand) -> Result<(), NoPlace> {
        let (to, from) = (Self::elements(to), Self::elements(from));
        let overlap = from.iter().any(|source| to.contains(source));
        let mut sources = Vec::with_capacity(from.len());
        for element in from {
            let (mut a, bank) = self.source(element)?;
            if let (true, Some(bank)) = (overlap, bank) {
                let d = self.temporary(bank);
                self.emit(Op { d, a, ..op(copy_code(bank)) });
                a = d;
            }
            sources.push((a, bank));
        }
        for (element, (a, from_bank)) in to.iter().zip(sources) {
            let (d, bank) = self.destination(element, from_bank.unwrap_or(Bank::Words))?;
            if from_bank.is_some_and(|from| from != bank) {
                return Err(NoPlace);
            }
            self.emit(Op { d, a, ..op(copy_code(bank)) });
        }
        Ok(())
    }

    fn copy(&mut self, to: &Operand, from: &Operand, ty: ScalarType) -> Result<(), NoPlace> {
        if ty.bits() > 64 {
            let (to, from) = (self.halves(to)?, self.halves(from)?);
            for (d, a) in to.into_iter().zip(from) {
                self.emit(Op { d, a, ..op(Code::Copy64) });
            }
            return Ok(());
        }
        let several = |operand: &Operand| matches!(operand, Operand::Vector(v) if v.len() > 1);
        match (to, from) {
            (to, Operand::Vector(parts)) if several(from) && !several(to) => {
                let mut slots = Vec::with_capacity(parts.len());
                for part in parts {
                    slots.push(self.source(part)?.0);
                }
                let piece_bits = (ty.bits() / parts.len() as u32) as u8;
                let (d, _) = self.destination(to, Bank::Words)?;
                let list = self.list(&slots);
                let whole_bits = ty.bits() as u8;
                self.emit(Op { d, list, ..op(Code::Pack { piece_bits, whole_bits }) });
            }
            (Operand::Vector(parts), from) if several(to) && !several(from) => {
                let (a, _) = self.source(from)?;
                let mut slots = Vec::with_capacity(parts.len());
                let piece_bits = (ty.bits() / parts.len() as u32) as u8;
                let bank = if piece_bits == 64 { Bank::Doubles } else { Bank::Words };
                for part in parts {
                    slots.push(self.destination(part, bank)?.0);
                }
                let list = self.list(&slots);
                let whole_bits = ty.bits() as u8;
                self.emit(Op { a, list, ..op(Code::Unpack { piece_bits, whole_bits }) });
            }
            (Operand::Vector(left), Operand::Vector(right)) if left.len() == right.len() => {
                return Err(NoPlace);
            }
            (to, from) => {
                let (d, bank) = self.destination(to, Bank::Words)?;
                if let Operand::Special(special) = from
                    && special_bank(*special) == bank
                {
                    self.emit(Op { d, ..op(Code::Special(*special)) });
                    return Ok(());
                }
                let (a, from_bank) = self.source(from)?;
                if from_bank.is_some_and(|from| from != bank) {
                    return Err(NoPlace);
                }
                self.emit(Op { d, a, ..op(copy_code(bank)) });
            }
        }
        Ok(())
    }
}

fn copy_code(bank: Bank) -> Code {
    match bank {
        Bank::Words => Code::Copy32,
        Bank::Doubles => Code::Copy64,
        Bank::Predicates => Code::CopyPredicate,
    }
}
