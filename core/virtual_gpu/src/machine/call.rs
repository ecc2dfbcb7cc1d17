//! Calls: new frames, arguments and results, and the built-in functions (`vprintf`, `malloc`, `free`, assertions).

use super::super::lower::LARGEST_FRAME;
use super::super::lower::code::{Builtin, Target};
use super::super::module::FunctionId;
use super::fault::{FaultKind, Finding};
use super::local::Initialisation;
use super::memory::{
    Access, FUNCTION_WINDOW, LOCAL_WINDOW, Memory, Region, RegionKind, SHARED_WINDOW, WINDOW_BYTES,
};
use super::region_bytes::RegionBytes;
use super::run::Worker;
use super::step::Stop;
use super::warp::{Frame, LANES, Split, SplitState};

/// The deepest nesting of calls; a deeper recursion counts as infinite.
const MOST_CALLERS: usize = 4096;
/// The largest size of the registers of all frames of a thread, in bytes; a deeper recursion counts as infinite.
const MOST_REGISTER_BYTES: u64 = 1 << 20;
/// The longest text that kernels may print, in bytes.
const MOST_PRINTED: usize = 1 << 20;

impl Worker<'_, '_> {
    pub(super) fn call(&mut self, split: &mut Split, mask: u32, site: u32) -> Option<Stop> {
        let program = self.launch.program;
        let call = &program.calls[site as usize];
        match call.target {
            Target::Function(function) => self.enter(split, mask, site, function),
            Target::Builtin(builtin) => self.builtin(split, mask, site, builtin),
            Target::Address(slot) => {
                let lanes = self.lanes(split.frame, mask);
                let (addresses, undefined) = (lanes.double(slot), lanes.double_undefined(slot));
                if undefined & mask != 0 {
                    self.report_undefined(split.pc, undefined & mask, "the address of the callee");
                }
                // One callee after the other: the remaining lanes execute the call again.
                let lane = mask.trailing_zeros() as usize;
                let address = addresses[lane];
                let same = super::lanes::bits(|lane| addresses[lane] == address) & mask;
                if same != mask {
                    let mut rest = split.clone();
                    rest.mask = mask & !same;
                    rest.state = SplitState::Ready;
                    let skipped = split.mask & !mask;
                    self.warp.splits.push(rest);
                    if skipped != 0 {
                        let mut others = split.clone();
                        others.mask = skipped;
                        others.pc += 1;
                        self.warp.splits.push(others);
                    }
                    split.mask = same;
                }
                let number = address.wrapping_sub(FUNCTION_WINDOW) / 16;
                let function = u32::try_from(number).map(FunctionId);
                let known = function.ok().filter(|id| program.functions.contains_key(id));
                let fits = known.is_some_and(|id| {
                    let function = &program.functions[&id];
                    function.parameters.len() == call.arguments.len()
                        && function.returns.len() == call.returns.len()
                });
                let Some(function) = known.filter(|_| fits) else {
                    let text = format!(
                        "a call of {address:#x}, which is not a function with this signature"
                    );
                    self.report(split.pc, Finding::new(FaultKind::Call, lane as u32, text));
                    return Some(Stop::Launch);
                };
                self.enter(split, same, site, function)
            }
        }
    }

    fn enter(
        &mut self,
        split: &mut Split,
        mask: u32,
        site: u32,
        function: FunctionId,
    ) -> Option<Stop> {
        let program = self.launch.program;
        let (Some(callee), Some(caller)) =
            (program.functions.get(&function), program.functions.get(&split.frame.function))
        else {
            return Some(Stop::Launch);
        };
        let before = split.frame;
        let frame = Frame {
            function,
            words: before.words + caller.words,
            doubles: before.doubles + caller.doubles,
            predicates: before.predicates + caller.predicates,
            local: before.local_end,
            local_end: before.local_end.saturating_add(callee.frame_bytes),
            return_pc: split.pc + 1,
            call: site,
        };
        let end = |base: u32, more: u32| u64::from(base) + u64::from(more);
        let registers = 4 * end(frame.words, callee.words) + 8 * end(frame.doubles, callee.doubles);
        if split.callers.len() >= MOST_CALLERS
            || u64::from(frame.local_end) > LARGEST_FRAME
            || registers > MOST_REGISTER_BYTES
        {
            let depth = split.callers.len();
            let text = format!("a call at depth {depth} exhausts the memory of the thread");
            self.report(split.pc, Finding::new(FaultKind::Call, mask.trailing_zeros(), text));
            return Some(Stop::Launch);
        }
        self.warp.registers.open(&frame, callee, mask);
        self.warp.local.grow(frame.local_end);
        self.warp.local.clear(frame.local, frame.local_end, mask);
        let arguments = &program.calls[site as usize].arguments;
        for ((from, bytes), (to, _)) in arguments.iter().zip(&callee.parameters) {
            self.warp.local.copy(before.local + from, frame.local + to, *bytes, mask);
        }
        let mut inside = split.clone();
        inside.callers.push(before);
        inside.frame = frame;
        inside.mask = mask;
        inside.pc = callee.entry.unwrap_or(0);
        split.mask &= !mask;
        split.pc += 1;
        self.warp.splits.push(inside);
        Some(Stop::Choose)
    }

    /// Copies results from the frame of a function to that of its caller.
    pub(super) fn copy_results(&mut self, frame: Frame, caller: Frame, mask: u32) {
        let program = self.launch.program;
        let Some(callee) = program.functions.get(&frame.function) else { return };
        let returns = &program.calls[frame.call as usize].returns;
        for ((to, bytes), (from, _)) in returns.iter().zip(&callee.returns) {
            self.warp.local.copy(frame.local + from, caller.local + to, *bytes, mask);
        }
    }

    fn builtin(
        &mut self,
        split: &mut Split,
        mask: u32,
        site: u32,
        builtin: Builtin,
    ) -> Option<Stop> {
        let pc = split.pc;
        self.launch.changes += 1;
        let call = &self.launch.program.calls[site as usize];
        let frame = split.frame;
        let argument = |worker: &Self, index: usize, lane: usize| {
            let (offset, bytes) = call.arguments.get(index).copied().unwrap_or((0, 0));
            let bytes = bytes.min(8);
            if bytes == 0 { 0 } else { worker.warp.local.read(lane, frame.local + offset, bytes).0 }
        };
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let result = match builtin {
                Builtin::Print => {
                    let (format, values) = (argument(self, 0, lane), argument(self, 1, lane));
                    self.print(lane, frame, format, values)
                }
                Builtin::Allocate => self.allocate(argument(self, 0, lane)),
                Builtin::Free => {
                    let address = argument(self, 0, lane);
                    self.free(pc, lane, address);
                    0
                }
                Builtin::AssertFail => {
                    let text = |index| {
                        let address = argument(self, index, lane);
                        String::from_utf8_lossy(&self.text(lane, frame, address)).into_owned()
                    };
                    let line = argument(self, 2, lane) as u32;
                    let details =
                        format!("{}:{line}: {}: assertion `{}` failed", text(1), text(3), text(0));
                    self.report(pc, Finding::new(FaultKind::Assertion, lane as u32, details));
                    return Some(Stop::Launch);
                }
                Builtin::Trap => {
                    let details = "the kernel executed a trap";
                    self.report(pc, Finding::new(FaultKind::Trap, lane as u32, details));
                    return Some(Stop::Launch);
                }
            };
            if let Some((offset, bytes)) = call.returns.first() {
                let (offset, bytes) = (frame.local + offset, (*bytes).min(8));
                self.warp.local.write(lane, offset, bytes, result, Initialisation::All);
            }
        }
        split.pc += 1;
        None
    }

    fn allocate(&mut self, bytes: u64) -> u64 {
        if bytes == 0 || bytes > self.launch.heap_left {
            return 0;
        }
        let name = format!("malloc({bytes}) number {}", self.launch.heap.len() + 1);
        let content = RegionBytes::uninitialised(bytes as usize);
        let region = Region::new(name, RegionKind::Heap, Access::ReadWrite, content);
        let Some(index) = self.launch.memory.add(region) else { return 0 };
        self.launch.heap_left -= bytes;
        self.launch.heap.insert(Memory::address(index), index);
        Memory::address(index)
    }

    fn free(&mut self, pc: u32, lane: usize, address: u64) {
        if address == 0 {
            return;
        }
        let Some(index) = self.launch.heap.remove(&address) else {
            let details = format!(
                "free of {address:#x}, which malloc did not return or which is free already"
            );
            let (kind, lane) = (FaultKind::OutOfBounds, lane as u32);
            self.report(
                pc,
                Finding { kind, lane, address: Some(address), buffer: None, other: None, details },
            );
            return;
        };
        let region = &mut self.launch.memory.regions[index];
        self.launch.heap_left += region.content.len() as u64;
        region.kind = RegionKind::Freed;
        region.content = RegionBytes::uninitialised(0);
    }

    /// The byte at a generic address, if the address is valid.
    fn byte(&self, lane: usize, frame: Frame, address: u64) -> Option<u8> {
        if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES {
            let offset = self.launch.shared.place(address - SHARED_WINDOW, 1)?;
            return Some(self.block.shared.read(offset, 1) as u8);
        }
        if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES {
            let offset = (address - LOCAL_WINDOW) as u32;
            return (offset < frame.local_end)
                .then(|| self.warp.local.read(lane, offset, 1).0 as u8);
        }
        let place = self.launch.memory.place(address, 1)?;
        Some(self.launch.memory.regions[place.region].content.read(place.offset, 1) as u8)
    }

    fn text(&self, lane: usize, frame: Frame, address: u64) -> Vec<u8> {
        let bytes = (0..4096).map_while(|i| self.byte(lane, frame, address.wrapping_add(i)));
        bytes.take_while(|byte| *byte != 0).collect()
    }

    /// Prints as `vprintf` does: arguments are consecutive in memory, each aligned to its size.
    fn print(&mut self, lane: usize, frame: Frame, format: u64, values: u64) -> u64 {
        let format = self.text(lane, frame, format);
        let mut offset = 0_u64;
        let mut argument = |bytes: u64| {
            offset = offset.next_multiple_of(bytes);
            let start = values.wrapping_add(offset);
            offset += bytes;
            (0..bytes).rev().fold(0_u64, |value, index| {
                let byte = self.byte(lane, frame, start.wrapping_add(index)).unwrap_or(0);
                value << 8 | u64::from(byte)
            })
        };
        let (text, count) =
            super::print::format(&format, &mut argument, |address| self.text(lane, frame, address));
        // Long texts count as steps, so that the limit of steps bounds printing as well.
        let steps = text.len() / 256;
        self.launch.steps += steps as u64;
        self.budget -= steps as i64;
        if self.launch.printed.len() + text.len() <= MOST_PRINTED {
            self.launch.printed.push_str(&text);
        }
        count
    }
}
