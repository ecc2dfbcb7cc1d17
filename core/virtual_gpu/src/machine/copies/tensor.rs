//! Copies of boxes of tensors. PTX ISA, "cp.async.bulk.tensor"; what it leaves open is as measured on an H100 and an
//! H200 (see `tensor_box` and `tests/tensor_copies.rs`).
//!
//! A box is gathered in chunks of 16 bytes, the unit of the swizzle. From there on, a load is one bulk load for each
//! contiguous range of shared memory, and a store is one bulk store for each range that is contiguous on both sides.

use std::sync::Arc;

use lightbench_primitives::tensor_map::{
    Interleave, MapElement, MapRegion, OutOfBoundsFill, TensorMap,
};

use super::super::super::isa::memory::{Ordering, Space};
use super::super::super::isa::tensor_copy::Reduction;
use super::super::super::lower::code::{
    AddressSlot, BaseKind, Op, Slot, StoreEffect, TensorDirection,
};
use super::super::super::module::Function;
use super::super::super::semantics::Negative;
use super::super::super::semantics::convert::{Tf32Rounding, f32_to_tf32};
use super::super::super::semantics::exact::Beyond;
use super::super::super::tensor_map::{self, BYTES};
use super::super::access::{Moved, Part, Spaces};
use super::super::fault::{FaultKind, Finding};
use super::super::lanes::Doubles;
use super::super::launch::LaunchError;
use super::super::run::Worker;
use super::super::shared::{LARGEST, Word};
use super::super::swizzle::{CHUNK, swizzled};
use super::super::warp::{Frame, LANES};
use super::bulk::{BulkCopy, PendingLoad};
use super::delivery::{Payload, Target};
use super::origins::{LoadedBox, LoadedChunk};
use super::reduction::tensor_update;
use super::tensor_box::{BoxRow, TensorBox};

/// The alignment of a box in shared memory, in bytes. PTX ISA, "cp.async.bulk.tensor".
const SHARED_ALIGNMENT: u64 = 128;
/// The alignment of a tensor map in bytes. CUDA Driver API, `cuTensorMapEncodeTiled`.
const MAP_ALIGNMENT: u64 = 64;
/// The word with which an H100 and an H200 fill elements outside of the tensor, of every type of floats.
const NAN_FILL: u32 = 0x7ff7_7ff7;
/// Words of a chunk.
const WORDS: usize = 4;

/// Refuses a launch with a parameter that is a tensor map of a kind that is not modelled.
pub(in super::super) fn refuse_tensor_maps(
    function: &Function,
    parameters: &[u8],
) -> Result<(), LaunchError> {
    for parameter in &function.parameters {
        let bytes = parameters.get(parameter.offset as usize..).and_then(<[u8]>::first_chunk);
        let decoded = bytes.map(tensor_map::decode);
        if let Some(Ok((map, _))) = decoded
            && map.interleave != Interleave::None
        {
            return Err(LaunchError::Unavailable("a tensor map with an interleaved layout"));
        }
    }
    Ok(())
}

/// A contiguous range of shared memory: its address and its words.
type BoxRun = (u32, Vec<Word>);

/// One lane's copy.
#[derive(Clone, Copy)]
struct TensorCopy {
    pc: u32,
    lane: usize,
    shared: u64,
}

impl TensorCopy {
    fn finding(&self, kind: FaultKind, details: String) -> Finding {
        Finding::new(kind, self.lane as u32, details)
    }

    fn bulk(&self, global: u64, shared: u64, bytes: u32) -> BulkCopy {
        BulkCopy { pc: self.pc, lane: self.lane, global, shared, bytes }
    }
}

impl Worker<'_, '_> {
    pub(in super::super) fn copy_tensor(
        &mut self,
        op: &Op,
        site: u32,
        pc: u32,
        frame: Frame,
        active: u32,
    ) {
        let Some(site) = self.launch.program.tensor_copies.get(site as usize).copied() else {
            return;
        };
        let (coordinates, mask) = self.tensor_coordinates(site.coordinates, pc, frame, active);
        let (offsets, mask) = match site.offsets {
            Some(list) => {
                let (offsets, mask) = self.tensor_coordinates(list, pc, frame, mask);
                (Some(offsets), mask)
            }
            None => (None, mask),
        };
        let (maps, mask) = self.slot_addresses(op, &site.map, pc, frame, mask);
        let (shared, mask) = self.slot_addresses(op, &site.shared, pc, frame, mask);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let copy = TensorCopy { pc, lane, shared: shared[lane] };
            let coordinates: Vec<i32> =
                coordinates.iter().map(|coordinate| coordinate[lane] as i32).collect();
            let offsets: Option<Vec<u16>> = offsets
                .as_ref()
                .map(|offsets| offsets.iter().map(|offset| offset[lane] as u16).collect());
            let at = (&coordinates[..], offsets.as_deref());
            let Some(tensor) = self.tensor_box(&copy, maps[lane], at) else { continue };
            let is_box_store =
                offsets.is_none() && !matches!(site.direction, TensorDirection::Load { .. });
            if is_box_store && !self.is_start_in_tensor(&copy, &coordinates) {
                continue;
            }
            match &site.direction {
                TensorDirection::Load { barrier, ranks: None } => {
                    self.load_box(op, &copy, &tensor, barrier, frame);
                }
                TensorDirection::Load { barrier, ranks: Some(ranks) } => {
                    self.load_box_to_cluster(op, (&copy, &tensor), (barrier, *ranks), frame);
                }
                TensorDirection::Store => {
                    self.store_box(&copy, &tensor.stored(), StoreEffect::Write);
                }
                TensorDirection::Reduce(reduction) => {
                    self.reduce_box(&copy, &tensor.stored(), *reduction);
                }
            }
        }
    }

    /// The coordinates or offsets of all lanes, the innermost first, and the lanes for which they are initialised.
    fn tensor_coordinates(
        &mut self,
        (start, count): (u32, u8),
        pc: u32,
        frame: Frame,
        mask: u32,
    ) -> (Vec<[u32; LANES]>, u32) {
        let (start, count) = (start as usize, usize::from(count));
        let slots = &self.launch.program.lists[start..start + count];
        let lanes = self.lanes(frame, mask);
        let undefined = slots.iter().fold(0, |all, slot| all | lanes.word_undefined(*slot)) & mask;
        let coordinates = slots.iter().map(|slot| lanes.word(*slot)).collect();
        if undefined != 0 {
            self.report_undefined(pc, undefined, "a coordinate of a tensor copy");
        }
        (coordinates, mask & !undefined)
    }

    /// The box, or the column of pixels, of a copy with these coordinates and offsets. Reports a fault if the map or the
    /// coordinates are invalid.
    fn tensor_box(
        &mut self,
        copy: &TensorCopy,
        address: u64,
        (coordinates, offsets): (&[i32], Option<&[u16]>),
    ) -> Option<TensorBox> {
        let (map, buffer) = self.tensor_map(copy, address)?;
        let fault = |text: String| Err(copy.finding(FaultKind::TensorMap, text));
        let tensor = match (&map.region, offsets) {
            _ if map.rank() != coordinates.len() => fault(format!(
                "the instruction gives {} coordinates, but the tensor map has {} dimensions",
                coordinates.len(),
                map.rank()
            )),
            _ if map.interleave != Interleave::None => fault(
                "the tensor map has an interleaved layout, which the virtual GPU does not model"
                    .to_owned(),
            ),
            (MapRegion::Im2col { .. }, None) => fault(
                "the tensor map was encoded for im2col, but the instruction copies in tiled mode; \
                 encode it with `cuTensorMapEncodeTiled`"
                    .to_owned(),
            ),
            (MapRegion::Tiled(_), Some(_)) => fault(
                "the tensor map was encoded for boxes, but the instruction copies in im2col mode; \
                 encode it with `cuTensorMapEncodeIm2col`"
                    .to_owned(),
            ),
            (MapRegion::Tiled(sides), None) => {
                Ok(TensorBox::new(map.clone(), buffer, coordinates, sides))
            }
            (MapRegion::Im2col { .. }, Some(offsets)) => {
                TensorBox::of_pixels(map.clone(), buffer, coordinates, offsets)
                    .map_err(|text| copy.finding(FaultKind::OutOfBounds, text))
            }
        };
        let tensor = tensor.map_err(|finding| self.report(copy.pc, finding)).ok()?;
        (self.is_aligned(copy, &tensor, coordinates[0]) && self.is_in_shared(copy, &tensor))
            .then_some(tensor)
    }

    /// Whether a store or a reduction begins at coordinates of 0 or more; reports a fault otherwise. An H100 and an H200
    /// end such a launch with an illegal instruction (CUDA error 715), while loads may begin before the tensor.
    fn is_start_in_tensor(&mut self, copy: &TensorCopy, coordinates: &[i32]) -> bool {
        let mut starts = coordinates.iter().enumerate();
        let Some((dimension, start)) = starts.find(|(_, start)| **start < 0) else { return true };
        let text = format!(
            "the coordinate of dimension {dimension} is {start} (dimension 0 is the innermost); tensor stores and \
             reductions need coordinates of 0 or more: move the start into the tensor and shift the box by as much"
        );
        self.report(copy.pc, copy.finding(FaultKind::OutOfBounds, text));
        false
    }

    /// Whether the innermost coordinate and the place in shared memory are aligned; reports a fault otherwise.
    fn is_aligned(&mut self, copy: &TensorCopy, tensor: &TensorBox, innermost: i32) -> bool {
        if let Some(bytes) = tensor.misaligned_bytes() {
            let text = format!(
                "the innermost coordinate is {innermost}, {bytes} bytes from the tensor's beginning; expected a \
                 multiple of 16 bytes"
            );
            self.report(copy.pc, copy.finding(FaultKind::Misaligned, text));
            return false;
        }
        let shared = copy.shared;
        if !shared.is_multiple_of(SHARED_ALIGNMENT) {
            let text = format!(
                "the box lies at {shared:#x} of shared memory; expected a multiple of {SHARED_ALIGNMENT} bytes"
            );
            let finding = copy.finding(FaultKind::Misaligned, text);
            self.report(copy.pc, Finding { address: Some(shared), ..finding });
            return false;
        }
        true
    }

    /// Whether the box lies inside a variable of shared memory; reports a fault otherwise.
    fn is_in_shared(&mut self, copy: &TensorCopy, tensor: &TensorBox) -> bool {
        let shared = copy.shared;
        let bytes = tensor.shared_bytes();
        let is_inside =
            bytes <= LARGEST && self.launch.shared.place(shared, bytes as u32).is_some();
        if !is_inside {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let (buffer, text) = self.launch.shared.describe(shared, bytes);
            let finding = copy.finding(FaultKind::OutOfBounds, text);
            self.report(copy.pc, Finding { address: Some(shared), buffer, ..finding });
        }
        is_inside
    }

    /// The tensor map at a generic address, and the address of its buffer. Reports a fault if none is there.
    fn tensor_map(&mut self, copy: &TensorCopy, address: u64) -> Option<(TensorMap, u64)> {
        let mut addresses = [address; LANES];
        let lane = 1 << copy.lane;
        let spaces = Self::spaces(Space::Generic, BaseKind::Wide, &mut addresses, lane);
        let at = |kind, buffer, text: String| Finding {
            address: Some(address),
            buffer,
            ..copy.finding(kind, text)
        };
        let fault = |text: &str| at(FaultKind::TensorMap, None, text.to_owned());
        let place = self.launch.memory.place(address, BYTES as u64);
        let finding = if spaces.local != 0 {
            fault(
                "the tensor map lies in local memory: the parameter is not `const __grid_constant__ CUtensorMap`, so \
                 that the compiler copied it",
            )
        } else if spaces.shared != 0 {
            fault(
                "the tensor map lies in shared memory; expected parameters, constant or global memory",
            )
        } else if !address.is_multiple_of(MAP_ALIGNMENT) {
            let text = format!(
                "the tensor map lies at {address:#x}; expected a multiple of {MAP_ALIGNMENT} bytes"
            );
            at(FaultKind::Misaligned, None, text)
        } else if let Some(place) = place {
            let region = &self.launch.memory.regions[place.region];
            let mut bytes = [0; BYTES];
            for (index, part) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                *part = region.content.read(place.offset + 8 * index, 8).to_le_bytes();
            }
            match tensor_map::decode(&bytes) {
                Ok(decoded) => {
                    self.race_map_read(copy.pc, copy.lane, (address, place), BYTES);
                    return Some(decoded);
                }
                Err(error) => {
                    let offset = place.offset - region.start;
                    let text = format!("offset {offset} of `{}` holds {error}", region.name);
                    at(FaultKind::TensorMap, Some(region.name.clone()), text)
                }
            }
        } else {
            let (buffer, text) = self.launch.memory.describe(address, BYTES as u64);
            at(FaultKind::OutOfBounds, buffer, text)
        };
        self.report(copy.pc, finding);
        None
    }

    fn load_box(
        &mut self,
        op: &Op,
        copy: &TensorCopy,
        tensor: &TensorBox,
        barrier: &AddressSlot,
        frame: Frame,
    ) {
        let Some(barrier) = self.bulk_barrier(op, barrier, (copy.pc, copy.lane), frame) else {
            return;
        };
        let thread = (self.warp.index, copy.lane as u32);
        let (runs, loaded) = self.box_runs(copy, tensor);
        if let Some(loaded) = &loaded {
            self.block.copies.origins.record(loaded);
        }
        // The first range stands for the reads of the whole box.
        let mut sources = self.begin_reads(tensor.sources());
        for (start, words) in runs {
            let place = self.launch.shared.place(u64::from(start), 4 * words.len() as u32);
            let Some(offset) = place else { continue };
            self.race_asynchronous_write(thread, copy.pc, (offset, 4 * words.len()));
            self.check_pending_operands(copy.pc, thread.1, (offset, 4 * words.len()));
            self.check_mbarrier_overwritten(copy.pc, thread.1, (offset, 4 * words.len()));
            let sources = sources.take();
            let load = PendingLoad { thread, pc: copy.pc, offset, words, barrier, sources };
            self.block.copies.begin_load(load);
        }
    }

    fn load_box_to_cluster(
        &mut self,
        op: &Op,
        (copy, tensor): (&TensorCopy, &TensorBox),
        (barrier, ranks): (&AddressSlot, Slot),
        frame: Frame,
    ) {
        let TensorCopy { pc, lane, .. } = *copy;
        let Some(ranks) = self.destination_ranks((pc, lane), ranks, frame) else { return };
        let (barriers, valid) = self.slot_addresses(op, barrier, pc, frame, 1 << lane);
        if valid == 0 {
            return;
        }
        let barrier = barriers[lane];
        let (runs, loaded) = self.box_runs(copy, tensor);
        for (start, words) in runs {
            let bytes = 4 * words.len() as u32;
            let target = Target { pc, lane, to: u64::from(start), barrier, bytes, ranks };
            self.deliver(target, &Payload::Copied(words, loaded.clone()));
        }
    }

    /// The contiguous ranges of shared memory that a box fills, and the box if races are checked.
    fn box_runs(
        &mut self,
        copy: &TensorCopy,
        tensor: &TensorBox,
    ) -> (Vec<BoxRun>, Option<Arc<LoadedBox>>) {
        let start = copy.shared as u32;
        // A swizzle exchanges the chunks of a row.
        let mut words = vec![Word::default(); tensor.shared_bytes() as usize / 4];
        let mut chunks = Vec::new();
        let mut loaded = self.loaded_box(copy, tensor);
        let each = i64::from(CHUNK / tensor.map.element.bytes());
        let has_gaps = tensor.row_bytes() < tensor.pitch();
        let mut found = vec![Word::default(); tensor.row_bytes() as usize / 4];
        for row in tensor.rows() {
            let addresses = (start + row.shared..).step_by(CHUNK as usize);
            self.read_row(copy, tensor, &row, &mut found);
            let mut coordinates = row.coordinates;
            for (address, found) in addresses.zip(found.as_chunks::<WORDS>().0) {
                let offset = swizzled(tensor.map.swizzle, address, 0) - start;
                words[offset as usize / 4..][..WORDS].copy_from_slice(found);
                if let Some(loaded) = &mut loaded {
                    let chunk = LoadedChunk::new(coordinates, found);
                    loaded.chunks[(offset / CHUNK) as usize] = Some(chunk);
                    coordinates[0] += each;
                }
                if has_gaps {
                    chunks.push(offset);
                }
            }
        }
        let loaded = loaded.map(Arc::new);
        if !has_gaps {
            return (vec![(start, words)], loaded);
        }
        chunks.sort_unstable();
        let runs = chunks.chunk_by(|offset, next| offset + CHUNK == *next);
        let of_run = |run: &[u32]| {
            let count = WORDS * run.len();
            (start + run[0], words[run[0] as usize / 4..][..count].to_vec())
        };
        (runs.map(of_run).collect(), loaded)
    }

    /// The record of a box, without its chunks.
    fn loaded_box(&self, copy: &TensorCopy, tensor: &TensorBox) -> Option<LoadedBox> {
        self.block.races.as_deref()?;
        let bytes = tensor.shared_bytes() as u32;
        let start = self.launch.shared.place(copy.shared, bytes)?;
        let place = self.launch.memory.place(tensor.start, 1)?;
        Some(LoadedBox {
            name: self.launch.memory.regions[place.region].name.clone(),
            tensor: tensor.start,
            extents: tensor.map.dims.clone(),
            bits: 8 * tensor.map.element.bytes(),
            swizzle: tensor.map.swizzle,
            start,
            chunks: vec![None; (bytes / CHUNK) as usize],
        })
    }

    /// Reads a row, of which the words outside of the tensor have the fill value.
    fn read_row(
        &mut self,
        copy: &TensorCopy,
        tensor: &TensorBox,
        row: &BoxRow,
        words: &mut [Word],
    ) {
        let fill = match tensor.map.fill {
            OutOfBoundsFill::Zeros => 0,
            OutOfBoundsFill::Nan => NAN_FILL,
        };
        let bytes = row.inside.len() as u32;
        if bytes < tensor.row_bytes() {
            words.fill(Word { value: fill, is_undefined: false });
        }
        if bytes == 0 {
            return;
        }
        let start = row.global + u64::from(row.inside.start);
        if self.launch.memory.place(start, u64::from(bytes)).is_none() {
            self.report_outside(copy, start, bytes);
            return;
        }
        let whole = bytes / CHUNK * CHUNK;
        let read = copy.bulk(start, copy.shared, whole);
        let first = row.inside.start as usize / 4;
        let (read_words, rest) = words[first..].split_at_mut(whole as usize / 4);
        self.read_global_words(read, read_words);
        for word in read_words {
            word.value = loaded(tensor.map.element, word.value);
        }
        self.read_tail(
            copy,
            tensor.map.element,
            start + u64::from(whole)..start + u64::from(bytes),
            rest,
        );
    }

    /// Reads the elements of a row after its last whole chunk.
    fn read_tail(
        &mut self,
        copy: &TensorCopy,
        element: MapElement,
        range: std::ops::Range<u64>,
        words: &mut [Word],
    ) {
        let size = element.bytes();
        let count = (range.end - range.start) as usize / size as usize;
        if count == 0 {
            return;
        }
        let addresses: Doubles = std::array::from_fn(|index| {
            range.start + index.min(count - 1) as u64 * u64::from(size)
        });
        for address in &addresses[..count] {
            let (addresses, mask) = ([*address; LANES], 1 << copy.lane);
            let part = Part { pc: copy.pc, addresses: &addresses, mask, element: size, count: 1 };
            let spaces = Spaces { global: mask, shared: 0, local: 0 };
            self.race_load(&part, Ordering::Weak, &spaces);
        }
        let mask = u32::MAX >> (LANES - count);
        let part = Part { pc: copy.pc, addresses: &addresses, mask, element: size, count: 1 };
        let mut moved = Moved::nothing();
        self.load_global(&part, &mut moved);
        let size = size as usize;
        for index in 0..count {
            let value = moved.values[0][index].to_le_bytes();
            let is_undefined = moved.undefined[0] >> index & 1 == 1;
            for (byte, value) in (index * size..).zip(&value[..size]) {
                let (word, shift) = (&mut words[byte / 4], 8 * (byte % 4));
                word.value = word.value & !(0xff << shift) | u32::from(*value) << shift;
                // As for other loads, a word is initialised if one of its elements is.
                word.is_undefined = is_undefined && (byte % 4 < size || word.is_undefined);
            }
            if size == 4 {
                words[index].value = loaded(element, words[index].value);
            }
        }
        // The rest of a word that a row fills in part has the fill value.
        if !(count * size).is_multiple_of(4) {
            words[count * size / 4].is_undefined = false;
        }
    }

    fn report_outside(&mut self, copy: &TensorCopy, start: u64, bytes: u32) {
        let (buffer, text) = self.launch.memory.describe(start, u64::from(bytes));
        let finding = copy.finding(FaultKind::OutOfBounds, text);
        self.report(copy.pc, Finding { address: Some(start), buffer, ..finding });
    }

    fn reduce_box(&mut self, copy: &TensorCopy, tensor: &TensorBox, reduction: Reduction) {
        let element = tensor.map.element;
        match tensor_update(reduction, element) {
            Some(update) => self.store_box(copy, tensor, StoreEffect::Reduce(update)),
            None => {
                let text = format!(
                    "the tensor map has elements of type {element:?}, for which the reduction {reduction:?} is not \
                     defined"
                );
                self.report(copy.pc, copy.finding(FaultKind::TensorMap, text.to_lowercase()));
            }
        }
    }

    /// Stores the elements inside the tensor.
    fn store_box(&mut self, copy: &TensorCopy, tensor: &TensorBox, effect: StoreEffect) {
        for row in tensor.rows() {
            let bytes = row.inside.len() as u32;
            if bytes == 0 {
                continue;
            }
            let to = row.global + u64::from(row.inside.start);
            if self.launch.memory.place(to, u64::from(bytes)).is_none() {
                self.report_outside(copy, to, bytes);
                continue;
            }
            let from = copy.shared as u32 + row.shared + row.inside.start;
            let chunks: Vec<u32> = (from..from + bytes)
                .step_by(CHUNK as usize)
                .map(|address| swizzled(tensor.map.swizzle, address, 0))
                .collect();
            let mut done = 0;
            for run in chunks.chunk_by(|address, next| address + CHUNK == *next) {
                let size = run.len() as u32 * CHUNK;
                let store = copy.bulk(to + u64::from(done), u64::from(run[0]), size);
                self.begin_store(store, size.min(bytes - done), effect);
                done += size;
            }
        }
    }
}

/// The bits that a load stores for an element of four bytes. An H100 and an H200 round to TF32, to nearest even, and
/// keep subnormal numbers of every type.
fn loaded(element: MapElement, bits: u32) -> u32 {
    match element {
        MapElement::Tf32 | MapElement::Tf32Ftz => {
            f32_to_tf32(bits, Tf32Rounding::NearestEven, Negative::Keep, Beyond::Infinity)
        }
        MapElement::U8
        | MapElement::U16
        | MapElement::U32
        | MapElement::I32
        | MapElement::U64
        | MapElement::I64
        | MapElement::F16
        | MapElement::F32
        | MapElement::F64
        | MapElement::Bf16
        | MapElement::F32Ftz => bits,
    }
}
