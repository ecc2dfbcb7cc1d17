//! Asynchronous copies, and barriers in shared memory.

use super::super::super::isa::async_copy::{AsyncCopy, CopyCache};
use super::super::super::isa::mbarrier::Mbarrier;
use super::super::super::module::{Address, Instruction, Operand};
use super::super::code::{AddressSlot, Bank, BaseKind, Code, CopyLength, CopySite, Op, Slot};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn copy_async(
        &mut self,
        instruction: &Instruction,
        copy: AsyncCopy,
    ) -> Result<(), NoPlace> {
        match copy {
            AsyncCopy::Copy(cache, _) => self.copy_site(instruction, cache),
            AsyncCopy::CommitGroup => {
                self.emit(op(Code::CommitCopies));
                Ok(())
            }
            AsyncCopy::WaitGroup => {
                let Some(Operand::Immediate(count)) = instruction.operands.first() else {
                    return Err(NoPlace);
                };
                let count = u32::try_from(count.bits()).unwrap_or(u32::MAX);
                self.emit(op(Code::WaitCopies(count)));
                Ok(())
            }
            AsyncCopy::WaitAll => {
                self.emit(op(Code::WaitAllCopies));
                Ok(())
            }
            AsyncCopy::ArriveOnCompletion(space, pending) => {
                let Some(Operand::Address(address)) = instruction.operands.first() else {
                    return Err(NoPlace);
                };
                let (base, a, immediate) = self.address(*address)?;
                let code = Code::ArriveAfterCopies { space, pending, base };
                self.emit(Op { a, immediate, ..op(code) });
                Ok(())
            }
        }
    }

    fn copy_site(&mut self, instruction: &Instruction, cache: CopyCache) -> Result<(), NoPlace> {
        let [Operand::Address(to), Operand::Address(from), Operand::Immediate(bytes), rest @ ..] =
            &instruction.operands[..]
        else {
            return Err(NoPlace);
        };
        let length = match rest.first() {
            None => CopyLength::Whole,
            Some(operand) => match self.source(operand)? {
                (slot, Some(Bank::Predicates)) => CopyLength::Unless(slot),
                (slot, Some(Bank::Words) | None) => CopyLength::Bytes(slot),
                // A cache policy, which does not change values.
                (_, Some(Bank::Doubles)) => CopyLength::Whole,
            },
        };
        let bytes = match (cache, bytes.bits()) {
            (CopyCache::AllLevels, bytes @ (4 | 8 | 16)) => bytes as u8,
            (CopyCache::Global, 16) => 16,
            (CopyCache::AllLevels | CopyCache::Global, _) => return Err(NoPlace),
        };
        let (to, from) = (self.address_slot(*to)?, self.address_slot(*from)?);
        let index = self.program.copies.len() as u32;
        self.program.copies.push(CopySite { to, from, bytes, length });
        self.emit(op(Code::CopyAsync(index)));
        Ok(())
    }

    fn address_slot(&mut self, address: Address) -> Result<AddressSlot, NoPlace> {
        let (base, slot, offset) = self.address(address)?;
        Ok(AddressSlot { base, slot, offset })
    }

    pub(super) fn mbarrier(
        &mut self,
        instruction: &Instruction,
        mbarrier: Mbarrier,
    ) -> Result<(), NoPlace> {
        let mut made = op(Code::Mbarrier { mbarrier, base: BaseKind::Wide });
        if let Some(destination) = instruction.destinations().first() {
            let fallback = match mbarrier {
                Mbarrier::Wait(..) => Bank::Predicates,
                Mbarrier::PendingCount => Bank::Words,
                Mbarrier::Initialise(_) | Mbarrier::Invalidate(_) | Mbarrier::Arrive(..) => {
                    Bank::Doubles
                }
            };
            made.d = self.destination(destination, fallback)?.0;
        }
        let mut values = [Slot::NONE; 2];
        let mut free = values.iter_mut();
        for operand in instruction.sources() {
            if let Operand::Address(address) = operand {
                let (base, a, immediate) = self.address(*address)?;
                (made.a, made.immediate) = (a, immediate);
                made.code = Code::Mbarrier { mbarrier, base };
            } else if let Some(slot) = free.next() {
                *slot = self.source(operand)?.0;
            }
        }
        [made.b, made.c] = values;
        self.emit(made);
        Ok(())
    }
}
