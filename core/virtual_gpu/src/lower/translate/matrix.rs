//! Tensor-core instructions: the registers of fragments as a list, and the plan of each product.

use super::super::super::isa::matrix::{
    Matrix, MultiplyAccumulate, Source, Warpgroup, WarpgroupMultiply,
};
use super::super::super::module::{Instruction, Operand};
use super::super::code::{Bank, BaseKind, Code, Op, Slot};
use super::super::operands::{NoPlace, Translator, op};
use super::super::product::{Major, Multiplier, Product, Sign, WarpgroupProduct};

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
            Matrix::Warpgroup(operation) => self.warpgroup(instruction, matrix, operation),
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
        let [d, a, b, c, sparsity @ ..] = &instruction.operands[..] else { return Err(NoPlace) };
        let mut slots = self.results(d)?;
        let mut registers = [slots.len(), 0, 0, 0];
        for (count, operand) in registers[1..].iter_mut().zip([a, b, c]) {
            *count = self.values(operand, &mut slots)?;
        }
        let (metadata, selector) = self.sparsity(sparsity)?;
        let product = Product::new(multiply, registers, selector);
        let index = index_of(&mut self.program.products, product);
        let list = self.list(&slots);
        let code = Code::Matrix { matrix, base: BaseKind::Wide };
        self.emit(Op { c: metadata, immediate: index as i64, list, ..op(code) });
        Ok(())
    }

    fn warpgroup(
        &mut self,
        instruction: &Instruction,
        matrix: Matrix,
        operation: Warpgroup,
    ) -> Result<(), NoPlace> {
        let code = Code::Matrix { matrix, base: BaseKind::Wide };
        match operation {
            Warpgroup::Multiply(multiply) => self.warpgroup_product(instruction, code, multiply),
            Warpgroup::Fence | Warpgroup::CommitGroup => {
                self.emit(op(code));
                Ok(())
            }
            Warpgroup::WaitGroup => {
                let [Operand::Immediate(groups)] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                self.emit(Op { immediate: groups.bits() as i64, ..op(code) });
                Ok(())
            }
        }
    }

    /// The list holds the registers of D and, if A is in registers, of A; the descriptors are sources.
    fn warpgroup_product(
        &mut self,
        instruction: &Instruction,
        code: Code,
        multiply: WarpgroupMultiply,
    ) -> Result<(), NoPlace> {
        let [d, a, b, rest @ ..] = &instruction.operands[..] else { return Err(NoPlace) };
        let (sparsity, rest) = rest.split_at(if multiply.is_sparse { 2 } else { 0 });
        let [scale, constants @ ..] = rest else { return Err(NoPlace) };
        let (metadata, selector) = self.sparsity(sparsity)?;
        let mut slots = self.results(d)?;
        let mut descriptor_of_a = Slot::NONE;
        match multiply.source {
            Source::Registers => {
                self.values(a, &mut slots)?;
            }
            Source::Shared => descriptor_of_a = self.source(a)?.0,
        }
        let descriptor_of_b = self.source(b)?.0;
        let keeps = self.source(scale)?.0;
        let (signs, majors) = constants.split_at(constants.len().min(2));
        let mut signs = signs.iter().map(sign);
        // A in registers has no transposition: the only one is that of B.
        let mut majors = majors.iter().rev().map(major);
        let mut multiplier = |sign: Option<Result<Sign, NoPlace>>| {
            let major = majors.next().transpose()?.unwrap_or(Major::K);
            Ok(Multiplier { major, sign: sign.transpose()?.unwrap_or(Sign::Plus) })
        };
        let (sign_of_a, sign_of_b) = (signs.next(), signs.next());
        let of_b = multiplier(sign_of_b)?;
        let product = WarpgroupProduct::new(multiply, multiplier(sign_of_a)?, of_b, selector);
        let index = index_of(&mut self.program.warpgroup_products, product);
        let list = self.list(&slots);
        let (a, b, c) = (descriptor_of_a, descriptor_of_b, metadata);
        self.emit(Op { a, b, c, f: keeps, immediate: index as i64, list, ..op(code) });
        Ok(())
    }

    /// The metadata and the selector of a sparse A, if there are any.
    fn sparsity(&mut self, operands: &[Operand]) -> Result<(Slot, u8), NoPlace> {
        match operands {
            [] => Ok((Slot::NONE, 0)),
            [metadata, Operand::Immediate(selector)] => {
                Ok((self.source(metadata)?.0, selector.bits() as u8))
            }
            _ => Err(NoPlace),
        }
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

/// The index of a value in a list, to which it is added if it is new.
fn index_of<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// `imm-scale` of `wgmma`: 1 or -1.
fn sign(operand: &Operand) -> Result<Sign, NoPlace> {
    let Operand::Immediate(value) = operand else { return Err(NoPlace) };
    match value.bits() as i64 {
        1 => Ok(Sign::Plus),
        -1 => Ok(Sign::Minus),
        _ => Err(NoPlace),
    }
}

/// `imm-trans` of `wgmma`: 0 or 1.
fn major(operand: &Operand) -> Result<Major, NoPlace> {
    let Operand::Immediate(value) = operand else { return Err(NoPlace) };
    Ok(if value.bits() == 0 { Major::K } else { Major::Outer })
}
