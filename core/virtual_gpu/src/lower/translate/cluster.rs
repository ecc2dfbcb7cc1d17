//! Operations between the blocks of a cluster.

use super::super::super::isa::cluster::Cluster;
use super::super::super::isa::moves::AddressType;
use super::super::super::module::Instruction;
use super::super::code::{Bank, Code, Op};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn cluster(
        &mut self,
        instruction: &Instruction,
        what: Cluster,
    ) -> Result<(), NoPlace> {
        match (what, &instruction.operands[..]) {
            (Cluster::MapShared(_, ty), [to, from, rank]) => {
                let bank = bank_of(ty);
                let (a, from_bank) = self.source(from)?;
                let (b, _) = self.source(rank)?;
                let (d, to_bank) = self.destination(to, bank)?;
                if to_bank != bank || from_bank.is_some_and(|from| from != bank) {
                    return Err(NoPlace);
                }
                self.emit(Op { d, a, b, ..op(Code::Cluster(what)) });
            }
            (Cluster::RankOf(_, ty), [to, from]) => {
                let (a, from_bank) = self.source(from)?;
                let (d, to_bank) = self.destination(to, Bank::Words)?;
                if to_bank != Bank::Words || from_bank.is_some_and(|from| from != bank_of(ty)) {
                    return Err(NoPlace);
                }
                self.emit(Op { d, a, ..op(Code::Cluster(what)) });
            }
            (Cluster::Arrive(..) | Cluster::Wait(_), _) => self.emit(op(Code::Cluster(what))),
            (Cluster::MapShared(..) | Cluster::RankOf(..), _) => return Err(NoPlace),
        }
        Ok(())
    }
}

fn bank_of(ty: AddressType) -> Bank {
    match ty {
        AddressType::U32 => Bank::Words,
        AddressType::U64 => Bank::Doubles,
    }
}
