//! Asynchronous copies, and barriers in shared memory.

use super::super::super::isa::async_copy::{AsyncCopy, CopyCache};
use super::super::super::isa::bulk_copy::BulkCopy;
use super::super::super::isa::mbarrier::Mbarrier;
use super::super::super::isa::tensor_copy::{CopyMode, TensorCopy};
use super::super::super::isa::tensor_map::TensorMapOperation;
use super::super::super::module::{Address, Instruction, Operand};
use super::super::super::tensor_map;
use super::super::code::{
    AddressSlot, Bank, BaseKind, BulkSite, ClusterSource, Code, CopyLength, CopySite, Op, Slot,
    StoreEffect, TensorDirection, TensorMapSite, TensorSite,
};
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

    pub(super) fn bulk_copy(
        &mut self,
        instruction: &Instruction,
        copy: BulkCopy,
    ) -> Result<(), NoPlace> {
        match (copy, &instruction.operands[..]) {
            (BulkCopy::CommitGroup, _) => self.emit(op(Code::CommitBulk)),
            (BulkCopy::WaitGroup(awaited), [Operand::Immediate(pending)]) => {
                let pending = u32::try_from(pending.bits()).unwrap_or(u32::MAX);
                self.emit(op(Code::WaitBulk { pending, awaited }));
            }
            (
                BulkCopy::Load,
                [
                    Operand::Address(to),
                    Operand::Address(from),
                    bytes,
                    Operand::Address(barrier),
                    ..,
                ],
            ) => {
                let barrier = Some(self.address_slot(*barrier)?);
                self.bulk_site((*to, *from), bytes, barrier, StoreEffect::Write)?;
            }
            (BulkCopy::Store, [Operand::Address(to), Operand::Address(from), bytes, ..]) => {
                self.bulk_site((*to, *from), bytes, None, StoreEffect::Write)?;
            }
            (
                BulkCopy::Reduce(update),
                [Operand::Address(to), Operand::Address(from), bytes, ..],
            ) => self.bulk_site((*to, *from), bytes, None, StoreEffect::Reduce(update))?,
            (
                BulkCopy::LoadMulticast,
                [
                    Operand::Address(to),
                    Operand::Address(from),
                    bytes,
                    Operand::Address(barrier),
                    ranks,
                    ..,
                ],
            ) => {
                let (from, bytes) = (self.address_slot(*from)?, self.source(bytes)?.0);
                let ranks = self.source(ranks)?.0;
                self.cluster_write(*to, *barrier, ClusterSource::Global { from, bytes, ranks })?;
            }
            (
                BulkCopy::ToCluster,
                [
                    Operand::Address(to),
                    Operand::Address(from),
                    bytes,
                    Operand::Address(barrier),
                    ..,
                ],
            ) => {
                let (from, bytes) = (self.address_slot(*from)?, self.source(bytes)?.0);
                self.cluster_write(*to, *barrier, ClusterSource::Shared { from, bytes })?;
            }
            (BulkCopy::Prefetch, _) => self.emit(op(Code::Hint)),
            (
                BulkCopy::Load
                | BulkCopy::LoadMulticast
                | BulkCopy::ToCluster
                | BulkCopy::Store
                | BulkCopy::Reduce(_)
                | BulkCopy::WaitGroup(_),
                _,
            ) => return Err(NoPlace),
        }
        Ok(())
    }

    fn bulk_site(
        &mut self,
        (to, from): (Address, Address),
        bytes: &Operand,
        barrier: Option<AddressSlot>,
        effect: StoreEffect,
    ) -> Result<(), NoPlace> {
        let (to, from) = (self.address_slot(to)?, self.address_slot(from)?);
        let (bytes, _) = self.source(bytes)?;
        let index = self.program.bulk_copies.len() as u32;
        self.program.bulk_copies.push(BulkSite { to, from, bytes, barrier, effect });
        self.emit(op(Code::CopyBulk(index)));
        Ok(())
    }

    pub(super) fn tensor_copy(
        &mut self,
        instruction: &Instruction,
        copy: TensorCopy,
    ) -> Result<(), NoPlace> {
        match (copy, &instruction.operands[..]) {
            (
                TensorCopy::Load(mode),
                [
                    Operand::Address(to),
                    Operand::Address(map),
                    coordinates,
                    Operand::Address(barrier),
                    rest @ ..,
                ],
            ) => {
                let barrier = self.address_slot(*barrier)?;
                let direction = TensorDirection::Load { barrier, ranks: None };
                self.tensor_site((*map, coordinates), (mode, rest.first()), *to, direction)
            }
            (
                TensorCopy::LoadMulticast(mode),
                [
                    Operand::Address(to),
                    Operand::Address(map),
                    coordinates,
                    Operand::Address(barrier),
                    rest @ ..,
                ],
            ) => {
                let (offsets, ranks) = match (mode, rest) {
                    (CopyMode::Tiled, [ranks, ..]) => (None, ranks),
                    (CopyMode::Im2col, [offsets, ranks, ..]) => (Some(offsets), ranks),
                    (CopyMode::Tiled | CopyMode::Im2col, _) => return Err(NoPlace),
                };
                let (barrier, ranks) = (self.address_slot(*barrier)?, self.source(ranks)?.0);
                let direction = TensorDirection::Load { barrier, ranks: Some(ranks) };
                self.tensor_site((*map, coordinates), (mode, offsets), *to, direction)
            }
            (
                TensorCopy::Store(mode),
                [Operand::Address(map), coordinates, Operand::Address(from), ..],
            ) => self.tensor_site((*map, coordinates), (mode, None), *from, TensorDirection::Store),
            (
                TensorCopy::Reduce(mode, reduction),
                [Operand::Address(map), coordinates, Operand::Address(from), ..],
            ) => {
                let direction = TensorDirection::Reduce(reduction);
                self.tensor_site((*map, coordinates), (mode, None), *from, direction)
            }
            (TensorCopy::Prefetch(_) | TensorCopy::PrefetchMap, _) => {
                self.emit(op(Code::Hint));
                Ok(())
            }
            (
                TensorCopy::Load(_)
                | TensorCopy::LoadMulticast(_)
                | TensorCopy::Store(_)
                | TensorCopy::Reduce(..),
                _,
            ) => Err(NoPlace),
        }
    }

    fn tensor_site(
        &mut self,
        (map, coordinates): (Address, &Operand),
        (mode, offsets): (CopyMode, Option<&Operand>),
        shared: Address,
        direction: TensorDirection,
    ) -> Result<(), NoPlace> {
        let coordinates = self.element_slots(coordinates)?;
        let offsets = match (mode, offsets) {
            (CopyMode::Tiled, _) => None,
            (CopyMode::Im2col, Some(offsets)) => Some(self.element_slots(offsets)?),
            (CopyMode::Im2col, None) => Some((0, 0)),
        };
        let (map, shared) = (self.address_slot(map)?, self.address_slot(shared)?);
        let index = self.program.tensor_copies.len() as u32;
        self.program.tensor_copies.push(TensorSite {
            map,
            coordinates,
            offsets,
            shared,
            direction,
        });
        self.emit(op(Code::CopyTensor(index)));
        Ok(())
    }

    /// The list of the elements of a vector, or of one operand.
    pub(super) fn element_slots(&mut self, operand: &Operand) -> Result<(u32, u8), NoPlace> {
        let elements = Self::elements(operand).iter();
        let slots: Result<Vec<Slot>, NoPlace> =
            elements.map(|element| Ok(self.source(element)?.0)).collect();
        Ok(self.list(&slots?))
    }

    pub(super) fn tensor_map(
        &mut self,
        instruction: &Instruction,
        operation: TensorMapOperation,
    ) -> Result<(), NoPlace> {
        let site = match (operation, &instruction.operands[..]) {
            (TensorMapOperation::Replace(field, space), [Operand::Address(map), rest @ ..]) => {
                let (dimension, value) = match rest {
                    [Operand::Immediate(dimension), value] => (dimension.bits() as u8, value),
                    [value] => (0, value),
                    _ => return Err(NoPlace),
                };
                let (map, value) = (self.address_slot(*map)?, self.source(value)?.0);
                TensorMapSite::Replace { field, dimension, space, map, value }
            }
            (
                TensorMapOperation::Publish,
                [Operand::Address(to), Operand::Address(from), Operand::Immediate(bytes)],
            ) if bytes.bits() == tensor_map::BYTES as u64 => TensorMapSite::Publish {
                to: self.address_slot(*to)?,
                from: self.address_slot(*from)?,
            },
            (TensorMapOperation::Acquire, [Operand::Address(map), Operand::Immediate(bytes)])
                if bytes.bits() == tensor_map::BYTES as u64 =>
            {
                TensorMapSite::Acquire { map: self.address_slot(*map)? }
            }
            (TensorMapOperation::Release, []) => TensorMapSite::Release,
            (
                TensorMapOperation::Replace(..)
                | TensorMapOperation::Publish
                | TensorMapOperation::Acquire
                | TensorMapOperation::Release,
                _,
            ) => return Err(NoPlace),
        };
        let index = self.program.tensor_maps.len() as u32;
        self.program.tensor_maps.push(site);
        self.emit(op(Code::TensorMap(index)));
        Ok(())
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

    pub(super) fn address_slot(&mut self, address: Address) -> Result<AddressSlot, NoPlace> {
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
                Mbarrier::Initialise(_)
                | Mbarrier::Invalidate(_)
                | Mbarrier::Transactions(..)
                | Mbarrier::Arrive(..) => Bank::Doubles,
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
