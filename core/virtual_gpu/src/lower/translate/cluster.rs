//! Operations between the blocks of a cluster.

use super::super::super::isa::cluster::Cluster;
use super::super::super::isa::moves::AddressType;
use super::super::super::isa::remote_write::RemoteWrite;
use super::super::super::isa::scalar::ScalarType;
use super::super::super::module::{Address, Instruction, Operand};
use super::super::code::{Bank, ClusterSource, ClusterWriteSite, Code, Op};
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
            (Cluster::Arrive(..) | Cluster::Wait(_) | Cluster::InitialisationFence, _) => {
                self.emit(op(Code::Cluster(what)));
            }
            (Cluster::MapShared(..) | Cluster::RankOf(..), _) => return Err(NoPlace),
        }
        Ok(())
    }
}

impl Translator<'_> {
    /// `st.async` and `red.async`.
    pub(super) fn remote_write(
        &mut self,
        instruction: &Instruction,
        what: RemoteWrite,
    ) -> Result<(), NoPlace> {
        let [Operand::Address(to), value, Operand::Address(barrier)] = &instruction.operands[..]
        else {
            return Err(NoPlace);
        };
        let source = match what {
            RemoteWrite::Store(ty) => {
                let is_wide = ScalarType::from(ty).bits() == 64;
                let wanted = if is_wide { Bank::Doubles } else { Bank::Words };
                let mut slots = Vec::with_capacity(4);
                for element in Self::elements(value) {
                    let (slot, bank) = self.source(element)?;
                    if bank.is_some_and(|bank| bank != wanted) {
                        return Err(NoPlace);
                    }
                    slots.push(slot);
                }
                ClusterSource::Registers { list: self.list(&slots), is_wide }
            }
            RemoteWrite::Reduce(atomic) => {
                ClusterSource::Update { atomic, value: self.source(value)?.0 }
            }
        };
        self.cluster_write(*to, *barrier, source)
    }

    pub(super) fn cluster_write(
        &mut self,
        to: Address,
        barrier: Address,
        source: ClusterSource,
    ) -> Result<(), NoPlace> {
        let (to, barrier) = (self.address_slot(to)?, self.address_slot(barrier)?);
        let index = self.program.cluster_writes.len() as u32;
        self.program.cluster_writes.push(ClusterWriteSite { to, barrier, source });
        self.emit(op(Code::WriteToCluster(index)));
        Ok(())
    }
}

fn bank_of(ty: AddressType) -> Bank {
    match ty {
        AddressType::U32 => Bank::Words,
        AddressType::U64 => Bank::Doubles,
    }
}
