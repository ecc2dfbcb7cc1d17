//! Memory accesses: address calculation, state spaces, and the checks of bounds, alignment and write permission for
//! each lane.

use super::super::isa::memory::Space;
use super::super::lower::code::{AddressSlot, BaseKind, Code, Op};
use super::fault::{FaultKind, Finding};
use super::lanes::Doubles;
use super::memory::Access as Rights;
use super::memory::{LOCAL_WINDOW, RegionKind, RegionPlace, SHARED_WINDOW, WINDOW_BYTES};
use super::register_init_mask::UninitialisedBits;
use super::run::Worker;
use super::warp::{Frame, LANES};

/// The elements that an access transfers, for all lanes.
pub(super) struct Moved {
    pub(super) values: [Doubles; 8],
    /// Lanes whose element is uninitialised, completely or in part.
    pub(super) undefined: [u32; 8],
    /// The uninitialised bits of each element, if at least one uninitialised element is partly initialised.
    pub(super) parts: Option<Box<[UninitialisedBits; 8]>>,
}

impl Moved {
    /// An access without elements.
    pub(super) const fn nothing() -> Self {
        Self { values: [[0; LANES]; 8], undefined: [0; 8], parts: None }
    }

    /// Marks an element as uninitialised in some lanes.
    pub(super) fn lacks_all(&mut self, index: usize, lane: usize) {
        self.undefined[index] |= 1 << lane;
        if let Some(parts) = &mut self.parts {
            parts[index].bits[lane] = u64::MAX;
        }
    }

    /// Records the uninitialised bits of an element.
    pub(super) fn lacks(&mut self, index: usize, lane: usize, unknown: u64) {
        let all = |undefined: u32| UninitialisedBits {
            bits: std::array::from_fn(|lane| if undefined >> lane & 1 == 1 { u64::MAX } else { 0 }),
            copied: 0,
        };
        let undefined = self.undefined;
        let parts = self.parts.get_or_insert_with(|| Box::new(undefined.map(all)));
        parts[index].bits[lane] = unknown;
        parts[index].copied |= 1 << lane;
        self.undefined[index] |= 1 << lane;
    }

    /// The bytes of an element, and whether memory without single-bit masks stores them as initialised: all bytes of
    /// an initialised value, none of an uninitialised one, and of a copied value each byte that has an initialised
    /// bit.
    pub(super) fn bytes(
        &self,
        index: usize,
        lane: usize,
        element: usize,
    ) -> impl Iterator<Item = (std::ops::Range<usize>, bool)> + use<> {
        let unknown = self.unknown(index, lane);
        let copied = self.copied(index) >> lane & 1 == 1;
        let single = unknown == 0 || !copied;
        let size = if single { element } else { 1 };
        (0..element / size).map(move |piece| {
            let start = piece * size;
            let lost =
                if single { unknown != 0 } else { (unknown >> (8 * start)) as u8 == u8::MAX };
            (start..start + size, !lost)
        })
    }

    /// Lanes whose element is an unmodified copy from memory, of a value with at least one initialised bit.
    pub(super) fn copied(&self, index: usize) -> u32 {
        self.parts.as_ref().map_or(0, |parts| parts[index].copied)
    }

    /// The uninitialised bits of an element.
    pub(super) fn unknown(&self, index: usize, lane: usize) -> u64 {
        match &self.parts {
            _ if self.undefined[index] >> lane & 1 == 0 => 0,
            Some(parts) => parts[index].bits[lane],
            None => u64::MAX,
        }
    }
}

/// Lanes that access one state space.
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

/// The state spaces that lanes access, as three masks.
pub(super) struct Spaces {
    pub(super) global: u32,
    pub(super) shared: u32,
    pub(super) local: u32,
}

/// The location of a value that one lane reads or updates.
pub(super) enum Spot {
    Region(RegionPlace),
    Shared(usize),
}

impl Worker<'_, '_> {
    /// The addresses of an access, and the lanes whose address is valid.
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

    /// The addresses of an operand, and the lanes whose address is valid.
    pub(super) fn slot_addresses(
        &mut self,
        op: &Op,
        address: &AddressSlot,
        pc: u32,
        frame: Frame,
        mask: u32,
    ) -> (Doubles, u32) {
        let op = Op { a: address.slot, immediate: address.offset, ..*op };
        self.addresses(pc, &op, address.base, frame, mask)
    }

    /// Splits lanes by state space and converts their addresses to addresses of that space.
    pub(super) fn spaces(
        space: Space,
        base: BaseKind,
        addresses: &mut Doubles,
        mask: u32,
    ) -> Spaces {
        let mut spaces = Spaces { global: 0, shared: 0, local: 0 };
        match (space, base) {
            (_, BaseKind::Frame) | (Space::Local, _) => spaces.local = mask,
            (Space::Shared | Space::SharedCluster, _) => spaces.shared = mask,
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

    /// The access of an instruction before its bytes in a sentence; empty for instructions that do more.
    fn access_words(&self, pc: u32) -> &'static str {
        let code = self.launch.program.ops.get(pc as usize).map(|op| &op.code);
        if matches!(code, Some(Code::Load { .. })) {
            "a read of "
        } else if matches!(code, Some(Code::Store { .. })) {
            "a write of "
        } else if matches!(code, Some(Code::Atomic { .. } | Code::AtomicVector { .. })) {
            "an atomic operation on "
        } else {
            ""
        }
    }

    /// Resolves addresses of global memory. Lanes with an invalid access are reported and masked out.
    pub(super) fn place_global(&mut self, part: &Part<'_>, lane: usize) -> Option<RegionPlace> {
        let address = part.addresses[lane];
        let bytes = u64::from(part.bytes());
        let place = self.launch.memory.place(address, bytes);
        if place.is_some() && address.is_multiple_of(bytes) {
            return place;
        }
        let (kind, buffer, details) = if place.is_some() {
            let text = format!(
                "{address:#x} is not a multiple of {bytes}, the size of the access in bytes"
            );
            (FaultKind::Misaligned, None, text)
        } else {
            let (buffer, text) = self.launch.memory.describe(address, bytes);
            (FaultKind::OutOfBounds, buffer, format!("{}{text}", self.access_words(part.pc)))
        };
        let address = Some(address);
        self.report(
            part.pc,
            Finding { kind, lane: lane as u32, address, buffer, other: None, details },
        );
        None
    }

    pub(super) fn place_shared(&mut self, part: &Part<'_>, lane: usize) -> Option<usize> {
        let address = part.addresses[lane];
        let bytes = part.bytes();
        let place = self.launch.shared.place(address, bytes);
        if let Some(offset) = place
            && address.is_multiple_of(u64::from(bytes))
        {
            self.check_pending(part, lane, offset);
            return place;
        }
        let (kind, buffer, details) = if place.is_some() {
            let text = format!(
                "{address:#x} is not a multiple of {bytes}, the size of the access in bytes"
            );
            (FaultKind::Misaligned, None, text)
        } else {
            let (buffer, text) = self.launch.shared.describe(address, bytes);
            let owner = self.launch.peers.owner_text();
            let text = format!("{}{text}{owner}", self.access_words(part.pc));
            (FaultKind::OutOfBounds, buffer, text)
        };
        let address = Some(address);
        self.report(
            part.pc,
            Finding { kind, lane: lane as u32, address, buffer, other: None, details },
        );
        None
    }

    pub(super) fn place_local(
        &mut self,
        part: &Part<'_>,
        frame: Frame,
        lane: usize,
    ) -> Option<u32> {
        let address = part.addresses[lane];
        let bytes = part.bytes();
        let function = self.launch.program.functions.get(&frame.function);
        let inside = u32::try_from(address).is_ok_and(|address| {
            match address.checked_sub(frame.local) {
                Some(offset) => function.is_some_and(|function| function.holds(offset, bytes)),
                // The variables of the callers are located before the frame, and a pointer may refer to them.
                None => address >= super::super::lower::FIRST_FRAME,
            }
        });
        if inside && address.is_multiple_of(u64::from(bytes)) {
            return Some(address as u32);
        }
        let (kind, details) = if inside {
            let text = format!(
                "{address:#x} is not a multiple of {bytes}, the size of the access in bytes"
            );
            (FaultKind::Misaligned, text)
        } else {
            let text =
                format!("{bytes} bytes of local memory at {address:#x}, outside of every variable");
            (FaultKind::OutOfBounds, text)
        };
        let (lane, address) = (lane as u32, Some(address));
        self.report(part.pc, Finding { kind, lane, address, buffer: None, other: None, details });
        None
    }

    /// Whether the region may be written; reports a fault otherwise.
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
        let offset = place.offset - region.start;
        let details = format!("a write to `{name}` at offset {offset}, which is {what}");
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

    /// The location of one lane's read-modify-write, checked.
    pub(super) fn spot(&mut self, part: &Part<'_>, lane: usize, shared: bool) -> Option<Spot> {
        if shared {
            return self.place_shared(part, lane).map(Spot::Shared);
        }
        let place = self.place_global(part, lane)?;
        self.may_write(part.pc, lane, place, part.addresses[lane]).then_some(Spot::Region(place))
    }

    /// Charges a read of memory that other threads may write: it costs more of the turn, so that they run soon.
    pub(super) fn poll(&mut self, pc: u32) {
        self.warp.last_poll = Some(pc);
        self.polled = true;
        self.budget -= super::POLL_COST;
    }

    /// Ends the turn of a warp that sleeps.
    pub(super) fn sleep(&mut self, pc: u32) {
        self.poll(pc);
        self.end_turn();
    }

    /// Ends the turn of the warp after this instruction.
    pub(super) fn end_turn(&mut self) {
        self.budget -= super::grid::WARP_TURN;
    }
}
