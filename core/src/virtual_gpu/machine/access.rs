//! Loads and stores: addresses are checked lane by lane, values move for all lanes at once.

use super::super::cost::{SharedRequest, line_counts, shared_wavefronts};
use super::super::isa::memory::{Access, ElementType, Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{BaseKind, Op};
use super::fault::{FaultKind, Finding};
use super::lanes::Doubles;
use super::memory::Access as Rights;
use super::memory::{LOCAL_WINDOW, Memory, RegionKind, RegionPlace, SHARED_WINDOW, WINDOW_BYTES};
use super::run::Worker;
use super::warp::{Frame, LANES};

/// What an access moves, for all lanes.
pub(super) struct Moved {
    pub(super) values: [Doubles; 8],
    /// Lanes whose element nothing wrote.
    pub(super) undefined: [u32; 8],
}

/// Lanes that access one space.
pub(super) struct Part<'a> {
    pub(super) pc: u32,
    pub(super) addresses: &'a Doubles,
    pub(super) mask: u32,
    pub(super) element: u32,
    pub(super) count: usize,
}

impl Part<'_> {
    pub(super) fn bytes(&self) -> u32 {
        self.element * self.count as u32
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
    }
}

/// How waiting for others shows: accesses that others' writes may change.
pub(super) fn polls(ordering: Ordering) -> bool {
    match ordering {
        Ordering::Weak | Ordering::Release(_) => false,
        Ordering::Volatile | Ordering::Relaxed(_) | Ordering::Acquire(_) => true,
    }
}

pub(super) fn is_signed(element: ElementType) -> bool {
    matches!(element, ElementType::S8 | ElementType::S16 | ElementType::S32 | ElementType::S64)
}

/// Which memory lanes access: three masks.
pub(super) struct Spaces {
    pub(super) global: u32,
    pub(super) shared: u32,
    pub(super) local: u32,
}

impl Worker<'_, '_> {
    /// The addresses of an access, and the lanes that may go on with them.
    pub(super) fn addresses(
        &mut self,
        pc: u32,
        op: &Op,
        base: BaseKind,
        frame: Frame,
        mask: u32,
    ) -> (Doubles, u32) {
        let lanes = self.lanes(frame, mask);
        let offset = op.immediate as u64;
        let (addresses, undefined) = match base {
            BaseKind::Wide => {
                let base = lanes.double(op.a);
                (base.map(|base| base.wrapping_add(offset)), lanes.double_undefined(op.a))
            }
            BaseKind::Narrow => {
                let base = lanes.word(op.a);
                let offset = offset as u32;
                (base.map(|base| u64::from(base.wrapping_add(offset))), lanes.word_undefined(op.a))
            }
            BaseKind::Frame => ([u64::from(frame.local).wrapping_add(offset); LANES], 0),
        };
        let undefined = undefined & mask;
        if undefined != 0 && self.launch.checks.uninitialized {
            self.report_undefined(pc, undefined, "the address");
            return (addresses, mask & !undefined);
        }
        (addresses, mask)
    }

    /// Sorts lanes by the memory that they access; addresses become those of their space.
    pub(super) fn spaces(
        space: Space,
        base: BaseKind,
        addresses: &mut Doubles,
        mask: u32,
    ) -> Spaces {
        let mut spaces = Spaces { global: 0, shared: 0, local: 0 };
        match (space, base) {
            (_, BaseKind::Frame) | (Space::Local, _) => spaces.local = mask,
            (Space::Shared, _) => spaces.shared = mask,
            (Space::Global | Space::Const | Space::Param, _) => spaces.global = mask,
            (Space::Generic, _) => {
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    let address = &mut addresses[lane];
                    if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES {
                        *address -= SHARED_WINDOW;
                        spaces.shared |= 1 << lane;
                    } else if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES {
                        *address -= LOCAL_WINDOW;
                        spaces.local |= 1 << lane;
                    } else {
                        spaces.global |= 1 << lane;
                    }
                }
            }
        }
        spaces
    }

    pub(super) fn load(&mut self, pc: u32, op: &Op, frame: Frame, active: u32) {
        let super::super::lower::code::Code::Load { access, base, register_bits, read_only: _ } =
            op.code
        else {
            return;
        };
        if polls(access.ordering) {
            self.poll(pc);
        }
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let spaces = Self::spaces(access.space, base, &mut addresses, mask);
        let element = ScalarType::from(access.element).bytes();
        let count = usize::from(op.list.1);
        let part = |mask| Part { pc, addresses: &addresses, mask, element, count };
        self.race_load(&part(mask), access.ordering, &spaces);
        if count == 1 && element == 4 && register_bits == 32 && mask == active {
            let slot = self.launch.program.lists[op.list.0 as usize];
            if spaces.shared == mask && self.quick_load_shared(&addresses, mask, slot, frame) {
                self.count_shared(&part(mask));
                return;
            }
            if spaces.global == mask && self.quick_load_global(&addresses, mask, slot, frame) {
                self.count_global(&part(mask), true);
                return;
            }
        }
        let mut moved = Moved { values: [[0; LANES]; 8], undefined: [0; 8] };
        if spaces.global != 0 {
            self.load_global(&part(spaces.global), &mut moved);
        }
        if spaces.shared != 0 {
            self.load_shared(&part(spaces.shared), &mut moved);
        }
        if spaces.local != 0 {
            self.load_local(&part(spaces.local), frame, &mut moved);
        }
        let any = moved.undefined[..count].iter().fold(0, |all, bits| all | bits);
        for lane in (0..LANES).filter(|lane| any >> lane & 1 == 1) {
            self.warp.undefined_load[lane] = Some(pc);
        }
        self.write_back(op, (access, register_bits), (frame, active), &moved);
    }

    fn write_back(
        &mut self,
        op: &Op,
        (access, register_bits): (Access, u8),
        (frame, mask): (Frame, u32),
        moved: &Moved,
    ) {
        let shift = 64 - 8 * ScalarType::from(access.element).bytes();
        let signed = is_signed(access.element);
        let register_mask = u64::MAX >> (64 - u32::from(register_bits));
        let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
        for index in 0..count {
            let slot = self.launch.program.lists[start + index];
            let mut values = moved.values[index];
            if signed {
                for value in &mut values {
                    *value = ((*value << shift) as i64 >> shift) as u64;
                }
            }
            let undefined = moved.undefined[index];
            let mut lanes = self.lanes(frame, mask);
            if register_bits == 64 {
                lanes.set_double(slot, &values, undefined);
            } else {
                lanes.set_word(
                    slot,
                    &values.map(|value| (value & register_mask) as u32),
                    undefined,
                );
            }
        }
    }

    /// The lanes whose access is wrong are reported and left out.
    fn place_global(&mut self, part: &Part<'_>, lane: usize) -> Option<RegionPlace> {
        let address = part.addresses[lane];
        let bytes = u64::from(part.bytes());
        let place = self.launch.memory.place(address, bytes);
        if place.is_some() && address.is_multiple_of(bytes) {
            return place;
        }
        let (kind, buffer, details) = if place.is_some() {
            let text = format!("{address:#x} is no multiple of the {bytes} bytes of the access");
            (FaultKind::Misaligned, None, text)
        } else {
            let (buffer, text) = self.launch.memory.describe(address, bytes);
            (FaultKind::OutOfBounds, buffer, text)
        };
        let address = Some(address);
        self.report(
            part.pc,
            Finding { kind, lane: lane as u32, address, buffer, other: None, details },
        );
        None
    }

    fn load_global(&mut self, part: &Part<'_>, moved: &mut Moved) {
        self.count_global(part, true);
        let element = part.element as usize;
        for lane in part.lanes() {
            let Some(place) = self.place_global(part, lane) else { continue };
            let region = &self.launch.memory.regions[place.region];
            for index in 0..part.count {
                let start = place.offset + index * element;
                moved.values[index][lane] = read_bytes(&region.bytes, start, element);
                if !region.written.is_empty() {
                    let unwritten = region.written[start..start + element].iter().all(|w| *w == 0);
                    moved.undefined[index] |= u32::from(unwritten) << lane;
                }
            }
        }
    }

    pub(super) fn place_shared(&mut self, part: &Part<'_>, lane: usize) -> Option<usize> {
        let address = part.addresses[lane];
        let bytes = part.bytes();
        let place = self.launch.shared.place(address, bytes);
        if place.is_some() && address.is_multiple_of(u64::from(bytes)) {
            return place;
        }
        let (kind, buffer, details) = if place.is_some() {
            let text = format!("{address:#x} is no multiple of the {bytes} bytes of the access");
            (FaultKind::Misaligned, None, text)
        } else {
            let (buffer, text) = self.launch.shared.describe(address, bytes);
            (FaultKind::OutOfBounds, buffer, text)
        };
        let address = Some(address);
        self.report(
            part.pc,
            Finding { kind, lane: lane as u32, address, buffer, other: None, details },
        );
        None
    }

    fn load_shared(&mut self, part: &Part<'_>, moved: &mut Moved) {
        self.count_shared(part);
        let element = part.element as usize;
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            for index in 0..part.count {
                let start = offset + index * element;
                moved.values[index][lane] = read_bytes(&self.block.shared, start, element);
                let written = &self.block.shared_written[start..start + element];
                moved.undefined[index] |= u32::from(written.iter().all(|w| *w == 0)) << lane;
            }
        }
    }

    fn place_local(&mut self, part: &Part<'_>, frame: Frame, lane: usize) -> Option<u32> {
        let address = part.addresses[lane];
        let bytes = u64::from(part.bytes());
        let first = u64::from(super::super::lower::FIRST_FRAME);
        let inside =
            address >= first && address.saturating_add(bytes) <= u64::from(frame.local_end);
        // Elements are aligned, whatever the alignment of the whole.
        if inside && address.is_multiple_of(u64::from(part.element)) {
            return Some(address as u32);
        }
        let (kind, details) = if inside {
            let text = format!("{address:#x} is no multiple of the {bytes} bytes of the access");
            (FaultKind::Misaligned, text)
        } else {
            let text = format!(
                "{bytes} bytes of the thread's own memory at {address:#x}, outside of its variables"
            );
            (FaultKind::OutOfBounds, text)
        };
        let (lane, address) = (lane as u32, Some(address));
        self.report(part.pc, Finding { kind, lane, address, buffer: None, other: None, details });
        None
    }

    fn load_local(&mut self, part: &Part<'_>, frame: Frame, moved: &mut Moved) {
        for lane in part.lanes() {
            let Some(offset) = self.place_local(part, frame, lane) else { continue };
            for index in 0..part.count {
                let start = offset + index as u32 * part.element;
                let (value, written) = self.warp.local.read(lane, start, part.element);
                moved.values[index][lane] = value;
                moved.undefined[index] |= u32::from(!written) << lane;
            }
        }
    }

    pub(super) fn store(&mut self, pc: u32, op: &Op, frame: Frame, active: u32) {
        let super::super::lower::code::Code::Store { access, base } = op.code else { return };
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let spaces = Self::spaces(access.space, base, &mut addresses, mask);
        let element = ScalarType::from(access.element).bytes();
        let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
        let from_doubles = op.b.index() == 1;
        let all = Part { pc, addresses: &addresses, mask, element, count };
        self.race_store(&all, access.ordering, &spaces, (op, frame));
        if count == 1 && element == 4 && !from_doubles {
            let slot = self.launch.program.lists[start];
            let lanes = self.lanes(frame, mask);
            let (values, undefined) = (lanes.word(slot), lanes.word_undefined(slot) & mask);
            let part = Part { pc, addresses: &addresses, mask, element, count };
            let defined = undefined == 0 && mask != 0;
            if defined
                && spaces.shared == mask
                && self.quick_store_shared(&addresses, mask, &values)
            {
                self.count_shared(&part);
                return;
            }
            if defined
                && spaces.global == mask
                && self.quick_store_global(&addresses, mask, &values)
            {
                self.count_global(&part, false);
                return;
            }
        }
        let mut moved = Moved { values: [[0; LANES]; 8], undefined: [0; 8] };
        let value_mask = u64::MAX >> (64 - 8 * element);
        for index in 0..count {
            let slot = self.launch.program.lists[start + index];
            let (values, undefined) = self.lanes(frame, mask).any(slot, from_doubles);
            moved.values[index] = values.map(|value| value & value_mask);
            moved.undefined[index] = undefined & mask;
        }
        let part = |mask| Part { pc, addresses: &addresses, mask, element, count };
        if spaces.global != 0 {
            self.store_global(&part(spaces.global), &moved);
        }
        if spaces.shared != 0 {
            self.store_shared(&part(spaces.shared), &moved);
        }
        if spaces.local != 0 {
            self.store_local(&part(spaces.local), frame, &moved);
        }
    }

    fn store_global(&mut self, part: &Part<'_>, moved: &Moved) {
        self.count_global(part, false);
        let element = part.element as usize;
        // What is undefined in part may be padding that is copied along; the whole is no output.
        let undefined =
            moved.undefined[..part.count].iter().fold(part.mask, |all, bits| all & bits);
        if undefined != 0 {
            self.report_undefined(part.pc, undefined, "what is stored to global memory");
        }
        for lane in part.lanes() {
            let Some(place) = self.place_global(part, lane) else { continue };
            if !self.may_write(part.pc, lane, place, part.addresses[lane]) {
                continue;
            }
            let region = &mut self.launch.memory.regions[place.region];
            for index in 0..part.count {
                let start = place.offset + index * element;
                write_bytes(&mut region.bytes, start, element, moved.values[index][lane]);
                if !region.written.is_empty() {
                    let defined = moved.undefined[index] >> lane & 1 == 0;
                    region.written[start..start + element].fill(u8::from(defined));
                }
            }
        }
    }

    /// Whether the region takes stores; if not, that is reported.
    pub(super) fn may_write(
        &mut self,
        pc: u32,
        lane: usize,
        place: RegionPlace,
        address: u64,
    ) -> bool {
        let region = &self.launch.memory.regions[place.region];
        if region.access == Rights::ReadWrite {
            return true;
        }
        let what = match region.kind {
            RegionKind::Constant => "constant memory",
            RegionKind::Parameters => "the kernel's parameters",
            RegionKind::Buffer | RegionKind::Global | RegionKind::Heap | RegionKind::Freed => {
                "an input"
            }
        };
        let name = region.name.clone();
        let details = format!("a write to `{name}` at offset {}, which is {what}", place.offset);
        let (kind, lane) = (FaultKind::ReadOnlyWrite, lane as u32);
        self.report(
            pc,
            Finding {
                kind,
                lane,
                address: Some(address),
                buffer: Some(name),
                other: None,
                details,
            },
        );
        false
    }

    fn store_shared(&mut self, part: &Part<'_>, moved: &Moved) {
        self.count_shared(part);
        let element = part.element as usize;
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            for index in 0..part.count {
                let start = offset + index * element;
                write_bytes(&mut self.block.shared, start, element, moved.values[index][lane]);
                let defined = moved.undefined[index] >> lane & 1 == 0;
                self.block.shared_written[start..start + element].fill(u8::from(defined));
            }
        }
    }

    fn store_local(&mut self, part: &Part<'_>, frame: Frame, moved: &Moved) {
        for lane in part.lanes() {
            let Some(offset) = self.place_local(part, frame, lane) else { continue };
            for index in 0..part.count {
                let start = offset + index as u32 * part.element;
                let defined = moved.undefined[index] >> lane & 1 == 0;
                let value = moved.values[index][lane];
                self.warp.local.write(lane, start, part.element, value, defined);
            }
        }
    }

    fn count_global(&mut self, part: &Part<'_>, is_load: bool) {
        if self.launch.counts.is_empty() {
            return;
        }
        self.touch(part, is_load);
        let (sectors, lines) = line_counts(part.addresses, part.mask, part.bytes());
        let bytes = u64::from(part.bytes()) * u64::from(part.mask.count_ones());
        let Some(counts) = self.launch.count(part.pc) else { return };
        if is_load {
            counts.global_load_requests += 1;
            counts.global_load_sectors += sectors;
            counts.global_load_lines += lines;
            counts.global_load_bytes += bytes;
        } else {
            counts.global_store_requests += 1;
            counts.global_store_sectors += sectors;
            counts.global_store_lines += lines;
            counts.global_store_bytes += bytes;
        }
    }

    /// Marks the sectors that are touched at all.
    fn touch(&mut self, part: &Part<'_>, is_load: bool) {
        let bytes = u64::from(part.bytes());
        let mut last = u64::MAX;
        for lane in part.lanes() {
            let address = part.addresses[lane];
            if address >> 5 == last && (address + bytes - 1) >> 5 == last {
                continue;
            }
            last = (address + bytes - 1) >> 5;
            let Some(place) = self.launch.memory.place(address, bytes) else { continue };
            let region = &mut self.launch.memory.regions[place.region];
            let words = region.bytes.len().div_ceil(32 * 64);
            let bits = if is_load { &mut region.read_sectors } else { &mut region.written_sectors };
            if bits.is_empty() {
                bits.resize(words, 0);
            }
            for sector in place.offset / 32..=(place.offset + bytes as usize - 1) / 32 {
                bits[sector / 64] |= 1 << (sector % 64);
            }
        }
    }

    pub(super) fn count_shared(&mut self, part: &Part<'_>) {
        if self.launch.counts.is_empty() {
            return;
        }
        let bytes = part.bytes();
        let request = SharedRequest { offsets: part.addresses, mask: part.mask, bytes };
        let (wavefronts, conflicts) = shared_wavefronts(&request);
        let Some(counts) = self.launch.count(part.pc) else { return };
        counts.shared_requests += 1;
        counts.shared_wavefronts += wavefronts;
        counts.shared_bank_conflicts += conflicts;
    }

    /// Looking at what others write costs more of the turn, so that they get theirs soon.
    pub(super) fn poll(&mut self, pc: u32) {
        self.warp.last_poll = Some(pc);
        self.polled = true;
        self.budget -= super::POLL_COST;
    }
}

pub(super) fn read_bytes(bytes: &[u8], start: usize, size: usize) -> u64 {
    let mut value = [0; 8];
    match size {
        4 => value[..4].copy_from_slice(&bytes[start..start + 4]),
        8 => value.copy_from_slice(&bytes[start..start + 8]),
        2 => value[..2].copy_from_slice(&bytes[start..start + 2]),
        _ => value[0] = bytes[start],
    }
    u64::from_le_bytes(value)
}

pub(super) fn write_bytes(bytes: &mut [u8], start: usize, size: usize, value: u64) {
    let value = value.to_le_bytes();
    match size {
        4 => bytes[start..start + 4].copy_from_slice(&value[..4]),
        8 => bytes[start..start + 8].copy_from_slice(&value),
        2 => bytes[start..start + 2].copy_from_slice(&value[..2]),
        _ => bytes[start] = value[0],
    }
}

/// Where a value lies that one lane reads or changes at once.
pub(super) enum Spot {
    Region(RegionPlace),
    Shared(usize),
}

impl Memory {
    pub(super) fn written(&self, place: RegionPlace, bytes: usize) -> bool {
        let written = &self.regions[place.region].written;
        written.is_empty() || written[place.offset..place.offset + bytes].contains(&1)
    }
}

impl Worker<'_, '_> {
    /// Where one lane's read-modify-write goes, checked.
    pub(super) fn spot(&mut self, part: &Part<'_>, lane: usize, shared: bool) -> Option<Spot> {
        if shared {
            return self.place_shared(part, lane).map(Spot::Shared);
        }
        let place = self.place_global(part, lane)?;
        self.may_write(part.pc, lane, place, part.addresses[lane]).then_some(Spot::Region(place))
    }
}
