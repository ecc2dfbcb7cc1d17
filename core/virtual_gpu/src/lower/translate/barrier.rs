//! Barriers and fences.

use super::super::super::isa::barrier::{Barrier, Proxy};
use super::super::super::module::Instruction;
use super::super::code::{Bank, Code, Op, Slot};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn barrier(
        &mut self,
        instruction: &Instruction,
        what: Barrier,
    ) -> Result<(), NoPlace> {
        match what {
            Barrier::Synchronise(alignment) => {
                self.compute(instruction, Code::Synchronise(alignment))
            }
            Barrier::Arrive(alignment) => self.compute(instruction, Code::Arrive(alignment)),
            Barrier::Reduce(vote, alignment) => {
                let [result, number, rest @ ..] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                let (count, predicate) = match rest {
                    [count, predicate] => (Some(count), predicate),
                    [predicate] => (None, predicate),
                    _ => return Err(NoPlace),
                };
                let (a, _) = self.source(number)?;
                let b = match count {
                    Some(count) => self.source(count)?.0,
                    None => Slot::NONE,
                };
                let (f, _) = self.source(predicate)?;
                let (d, _) = self.destination(result, Bank::Words)?;
                self.emit(Op { d, a, b, f, ..op(Code::Reduce(vote, alignment)) });
                Ok(())
            }
            Barrier::SynchroniseWarp => self.compute(instruction, Code::SynchroniseWarp),
            Barrier::Fence(order, scope) => {
                self.emit(op(Code::Fence(order, scope)));
                Ok(())
            }
            Barrier::ProxyFence(proxy) => {
                self.emit(op(match proxy {
                    // Each byte here has one address.
                    Proxy::Alias => Code::Hint,
                    Proxy::Asynchronous | Proxy::AsynchronousGlobal | Proxy::AsynchronousShared => {
                        Code::ProxyFence(proxy)
                    }
                }));
                Ok(())
            }
        }
    }
}
