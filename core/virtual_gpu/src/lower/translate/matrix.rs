//! Tensor-core instructions: the registers of fragments as a list, and the plan of each product.

use super::super::super::isa::matrix::{Matrix, MultiplyAccumulate};
use super::super::super::module::{Instruction, Operand};
use super::super::code::{Bank, BaseKind, Code, Op, Slot};
use super::super::operands::{NoPlace, Translator, op};
use super::super::product::Product;

impl Translator<'_> {
    pub(super) fn matrix(
        &mut self,
        instruction: &Instruction,
        matrix: Matrix,
    ) -> Result<(), NoPlace> {
        match matrix {
            Matrix::Multiply(multiply) | Matrix::WarpMultiply(multiply) => {
                self.product(instruction, matrix, multiply)
            }
            Matrix::Transpose => {
                let [to, from] = &instruction.operands[..] else { return Err(NoPlace) };
                let (a, _) = self.source(from)?;
                let (d, _) = self.destination(to, Bank::Words)?;
                self.emit(Op { d, a, ..op(Code::Matrix { matrix, base: BaseKind::Wide }) });
                Ok(())
            }
            Matrix::WarpLoad(..) | Matrix::Load(..) => {
                let [to, Operand::Address(address), rest @ ..] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                let slots = self.results(to)?;
                let (base, a, immediate) = self.address(*address)?;
                let b = self.stride(rest)?;
                let list = self.list(&slots);
                self.emit(Op { a, b, immediate, list, ..op(Code::Matrix { matrix, base }) });
                Ok(())
            }
            Matrix::WarpStore(..) | Matrix::Store(..) => {
                let [Operand::Address(address), from, rest @ ..] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                let mut slots = Vec::with_capacity(8);
                self.values(from, &mut slots)?;
                let (base, a, immediate) = self.address(*address)?;
                let b = self.stride(rest)?;
                let list = self.list(&slots);
                self.emit(Op { a, b, immediate, list, ..op(Code::Matrix { matrix, base }) });
                Ok(())
            }
        }
    }

    fn product(
        &mut self,
        instruction: &Instruction,
        matrix: Matrix,
        multiply: MultiplyAccumulate,
    ) -> Result<(), NoPlace> {
        let [d, a, b, c] = &instruction.operands[..] else { return Err(NoPlace) };
        let mut slots = self.results(d)?;
        let mut registers = [slots.len(), 0, 0, 0];
        for (count, operand) in registers[1..].iter_mut().zip([a, b, c]) {
            *count = self.values(operand, &mut slots)?;
        }
        let product = Product::new(multiply, registers);
        let known = self.program.products.iter().position(|known| *known == product);
        let index = known.unwrap_or_else(|| {
            self.program.products.push(product);
            self.program.products.len() - 1
        });
        let list = self.list(&slots);
        let code = Code::Matrix { matrix, base: BaseKind::Wide };
        self.emit(Op { immediate: index as i64, list, ..op(code) });
        Ok(())
    }

    fn results(&mut self, operand: &Operand) -> Result<Vec<Slot>, NoPlace> {
        let parts = Self::elements(operand);
        let wide = parts.iter().any(|part| self.is_wide(part));
        let fallback = if wide { Bank::Doubles } else { Bank::Words };
        parts.iter().map(|part| Ok(self.destination(part, fallback)?.0)).collect()
    }

    fn is_wide(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Register(register) if self.ty(*register).bits() == 64)
    }

    fn values(&mut self, operand: &Operand, slots: &mut Vec<Slot>) -> Result<usize, NoPlace> {
        let parts = Self::elements(operand);
        for part in parts {
            slots.push(self.source(part)?.0);
        }
        Ok(parts.len())
    }

    fn stride(&mut self, rest: &[Operand]) -> Result<Slot, NoPlace> {
        match rest {
            [] => Ok(Slot::NONE),
            [stride, ..] => Ok(self.source(stride)?.0),
        }
    }
}
