//! A replay of the recorded warps of some blocks on one multiprocessor, with the time of each step.
//!
//! As many blocks are resident as fit. Each warp executes its steps in the order of machine code and waits until
//! the operands of a step are available. Each scheduler issues one instruction per cycle, pipes accept instructions
//! at their rate, and memory responds after its latency and within its bandwidth. The simulation is event-driven.

mod groups;
mod memory;
mod phases;
mod recording;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::trace::{Place, Role, Trace, TracedAccess, TracedOp, TracedPhase};
use super::order::{Assembler, Planned};
use super::pipes::{Pipe, cost};
use super::timeline::Recorder;
use super::{Latencies, StallReason};
use groups::Groups;
use memory::{Memory, Request};
use phases::{Contributions, Phases};

/// Time resolution: ticks per cycle.
const TICKS: f64 = 64.0;

/// The limit of replayed steps, unless the resident blocks have more.
const MOST_STEPS: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(super) struct Multiprocessor {
    /// Schedulers; each has every pipe except the load/store pipe.
    pub(super) schedulers: usize,
    /// Cycles that a warp instruction occupies a pipe.
    pub(super) pipes: [f64; Pipe::COUNT],
    /// Cycles that each tensor product occupies its pipe.
    pub(super) tensor: Vec<f64>,
    /// Bytes per cycle between L2 and the multiprocessor.
    pub(super) l2: f64,
    /// The multiprocessor's share of the DRAM bandwidth, in bytes per cycle.
    pub(super) dram: f64,
    /// The fraction of the sectors that a block touches for the first time that come from DRAM.
    pub(super) from_memory: f64,
    pub(super) latencies: Latencies,
}

/// The blocks of the multiprocessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Resident blocks.
    pub(super) at_once: usize,
    /// All blocks.
    pub(super) blocks: u64,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replayed {
    pub(super) cycles: f64,
    /// The main stall reason.
    pub(super) waits: StallReason,
}

/// Why a step started when it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The step before it, or contention for a pipe.
    Busy,
    Waits(StallReason),
}

impl Cause {
    const COUNT: usize = 6;
    const fn index(self) -> usize {
        match self {
            Self::Busy => 0,
            Self::Waits(wait) => 1 + wait as usize,
        }
    }
}

/// A running warp.
#[derive(Debug)]
struct Running {
    slot: usize,
    /// The block of the trace and the warp in it.
    of: (usize, usize),
    /// Whether its block is the first one.
    is_first: bool,
    next: usize,
    /// The times at which the results of its steps are available.
    done: Vec<u64>,
    /// The time at which it can issue again, and of the last issue.
    free: u64,
    issued: u64,
    copies: Groups,
    /// Asynchronous products.
    products: Groups,
    /// The phase of a barrier of the block at which it waits.
    waits_at: Option<TracedPhase>,
}

/// A slot for a resident block.
#[derive(Debug, Default)]
struct Slot {
    warps: Vec<usize>,
    living: usize,
    phases: Phases,
    ends: u64,
}

/// The cost of an instruction in ticks.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    slots: u64,
    latency: u64,
    taken: u64,
}

struct Replay<'a> {
    on: &'a Multiprocessor,
    ops: &'a [TracedOp],
    trace: &'a Trace,
    plans: Vec<Vec<Planned>>,
    contributions: Vec<Contributions>,
    ticks: Vec<Ticks>,
    warps: Vec<Running>,
    slots: Vec<Slot>,
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    schedulers: Vec<u64>,
    /// The pipes of each scheduler.
    pipes: Vec<u64>,
    memory: Memory,
    /// Ticks by instruction and cause.
    spent: Vec<[u64; Cause::COUNT]>,
    /// The number of replays of each instruction.
    repeated: Vec<u64>,
    /// The start time of each block.
    begun: Vec<u64>,
    last: u64,
    /// Collects the timeline of the first block, if requested.
    recorder: Option<Recorder>,
}

/// Replays blocks; none if there is nothing to replay.
pub(super) fn replay(trace: &Trace, on: &Multiprocessor, load: Load) -> Option<Replayed> {
    let mut replay = prepared(trace, on, load)?;
    let each = (replay.plans.iter().flatten().map(|warp| warp.steps.len()).sum::<usize>()
        / replay.plans.len())
    .max(1);
    let most = (MOST_STEPS / each).max(load.at_once) as u64;
    replay.run(load.at_once, load.blocks.min(most));
    Some(replay.told(load))
}

/// The timeline of the first block, while as many blocks as are resident at once are replayed.
pub(super) fn recorded(trace: &Trace, on: &Multiprocessor, load: Load) -> Option<Recorder> {
    let mut replay = prepared(trace, on, load)?;
    replay.recorder = Some(Recorder::default());
    replay.run(load.at_once, load.at_once as u64);
    replay.recorder
}

fn prepared<'a>(trace: &'a Trace, on: &'a Multiprocessor, load: Load) -> Option<Replay<'a>> {
    let mut assembler = Assembler::new(&trace.ops, &on.latencies);
    let plans: Vec<Vec<Planned>> = trace
        .blocks
        .iter()
        .map(|block| block.warps.iter().map(|warp| assembler.plan(warp)).collect())
        .collect();
    let is_empty = plans.iter().flatten().all(|warp| warp.steps.is_empty());
    (!is_empty && load.at_once > 0).then(|| Replay::new(trace, on, plans))
}

impl<'a> Replay<'a> {
    fn new(trace: &'a Trace, on: &'a Multiprocessor, plans: Vec<Vec<Planned>>) -> Self {
        let ticks = |op: &TracedOp| {
            let cost = cost(op.kind, &on.latencies);
            let taken = on.pipes[cost.pipe as usize] * cost.slots.max(1.0);
            Ticks {
                slots: to_ticks(cost.slots),
                latency: to_ticks(cost.latency),
                taken: to_ticks(if cost.pipe == Pipe::None { 0.0 } else { taken }),
            }
        };
        let contributes = |pc: u32| {
            let role = trace.ops.get(pc as usize).map(|op| &op.role);
            matches!(role, Some(Role::Copy { .. } | Role::Arrive { .. } | Role::Barrier { .. }))
        };
        let contributions = trace.blocks.iter().map(|block| Contributions::new(block, contributes));
        Self {
            on,
            ops: &trace.ops,
            trace,
            plans,
            contributions: contributions.collect(),
            ticks: trace.ops.iter().map(ticks).collect(),
            warps: Vec::new(),
            slots: Vec::new(),
            queue: BinaryHeap::new(),
            schedulers: vec![0; on.schedulers.max(1)],
            pipes: vec![0; Pipe::COUNT * on.schedulers.max(1)],
            memory: Memory::default(),
            spent: vec![[0; Cause::COUNT]; trace.ops.len()],
            repeated: vec![0; trace.ops.len()],
            begun: Vec::new(),
            last: 0,
            recorder: None,
        }
    }

    fn run(&mut self, at_once: usize, blocks: u64) {
        let first = at_once.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        for slot in 0..first {
            self.slots.push(Slot::default());
            self.begin(slot, 0);
        }
        loop {
            let Some(Reverse((_, warp))) = self.queue.pop() else {
                if self.end_phase() {
                    continue;
                }
                return;
            };
            self.go_on(warp);
            let slot = self.warps[warp].slot;
            if self.slots[slot].living == 0 && (self.begun.len() as u64) < blocks {
                self.begin(slot, self.slots[slot].ends);
            }
        }
    }

    /// Ends a phase for which warps wait, because nothing else can run; returns whether there is one.
    fn end_phase(&mut self) -> bool {
        let mut released = self.slots.iter_mut().map(|slot| slot.phases.end_first());
        let released = released.find(|warps| !warps.is_empty());
        self.resume(released.unwrap_or_default())
    }

    /// Warps no longer wait for a phase; returns whether there are any.
    fn resume(&mut self, warps: Vec<usize>) -> bool {
        let is_any = !warps.is_empty();
        self.queue.extend(warps.into_iter().map(|warp| Reverse((self.warps[warp].free, warp))));
        is_any
    }

    /// Starts the next block in a slot.
    fn begin(&mut self, slot: usize, now: u64) {
        let block = self.begun.len() % self.plans.len();
        self.begun.push(now);
        let now = now + to_ticks(self.on.latencies.block);
        let warps = self.plans[block].len();
        let old = std::mem::take(&mut self.slots[slot].warps);
        let mut taken = Vec::with_capacity(warps);
        for warp in 0..warps {
            let steps = self.plans[block][warp].steps.len();
            let done = vec![0; steps];
            let running = Running {
                slot,
                of: (block, warp),
                is_first: self.begun.len() == 1,
                next: 0,
                done,
                free: now,
                issued: now,
                copies: Groups::default(),
                products: Groups::default(),
                waits_at: None,
            };
            let index = match old.get(warp) {
                Some(index) => {
                    self.warps[*index] = running;
                    *index
                }
                None => {
                    self.warps.push(running);
                    self.warps.len() - 1
                }
            };
            taken.push(index);
            if steps > 0 {
                self.queue.push(Reverse((now, index)));
            }
        }
        let living = taken.iter().filter(|index| !self.warps[**index].done.is_empty()).count();
        let phases = Phases::new(&self.contributions[block]);
        self.slots[slot] = Slot { warps: taken, living, phases, ends: now };
    }

    /// Executes a warp until another one is earlier.
    fn go_on(&mut self, index: usize) {
        loop {
            if let Some(phase) = self.leave_barrier(index) {
                self.slots[self.warps[index].slot].phases.wait(phase, index);
                return;
            }
            let (block, warp) = self.warps[index].of;
            let step = self.warps[index].next;
            let pc = self.plans[block][warp].steps[step].pc as usize;
            if let Some(phase) = self.incomplete_phase(index, pc) {
                self.slots[self.warps[index].slot].phases.wait(phase, index);
                return;
            }
            let (ready, cause) = self.ready(index);
            if self.queue.peek().is_some_and(|Reverse((other, _))| *other < ready) {
                self.queue.push(Reverse((ready, index)));
                return;
            }
            let issued = self.execute(index, pc, ready);
            let running = &mut self.warps[index];
            let before = std::mem::replace(&mut running.issued, issued);
            running.next += 1;
            self.spent[pc][cause.index()] += issued.saturating_sub(before);
            self.record_span(index, (before, issued), cause);
            self.repeated[pc] += 1;
            if self.warps[index].next == self.warps[index].done.len() {
                self.end(index);
                return;
            }
        }
    }

    /// The phase of a barrier at which a warp still waits; it goes on at the end of the phase otherwise.
    fn leave_barrier(&mut self, index: usize) -> Option<TracedPhase> {
        let phase = self.warps[index].waits_at?;
        let phases = &self.slots[self.warps[index].slot].phases;
        if phases.is_open(phase) {
            return Some(phase);
        }
        let end = phases.end(phase).map_or(0, |(end, _)| end);
        let running = &mut self.warps[index];
        let (block, warp) = running.of;
        let pc = self.plans[block][warp].steps[running.next - 1].pc as usize;
        let now = end.max(running.free);
        let cause = Cause::Waits(StallReason::Barriers);
        let issued = std::mem::replace(&mut running.issued, now);
        (running.free, running.waits_at) = (now, None);
        self.spent[pc][cause.index()] += now - issued;
        self.record_span(index, (issued, now), cause);
        None
    }

    /// The earliest time of the next step of a warp, and its cause.
    fn ready(&self, index: usize) -> (u64, Cause) {
        let running = &self.warps[index];
        let (block, warp) = running.of;
        let plan = &self.plans[block][warp];
        let (mut ready, mut cause) = (running.free, Cause::Busy);
        for earlier in plan.waits_for(running.next) {
            let done = running.done[*earlier as usize];
            if done > ready {
                ready = done;
                cause = Cause::Waits(self.wait(plan.steps[*earlier as usize].pc));
            }
        }
        let (done, reason) = match self.ops[plan.steps[running.next].pc as usize].role {
            Role::WaitCopies(pending) => (running.copies.ready(pending), StallReason::GlobalMemory),
            Role::WaitProducts(pending) => {
                (running.products.ready(pending), StallReason::Arithmetic)
            }
            Role::WaitPhase => {
                let phases = &self.slots[running.slot].phases;
                let end = self.access(index).phase.and_then(|phase| phases.end(phase));
                end.unwrap_or((0, StallReason::Barriers))
            }
            Role::Plain
            | Role::Load { .. }
            | Role::Store(_)
            | Role::Atomic { .. }
            | Role::Copy { .. }
            | Role::CommitCopies
            | Role::Arrive { .. }
            | Role::Barrier { .. }
            | Role::Branch
            | Role::Product { .. }
            | Role::CommitProducts => return (ready, cause),
        };
        if done > ready {
            (ready, cause) = (done, Cause::Waits(reason));
        }
        (ready, cause)
    }

    /// The phase for which the next step of a warp waits, if contributions to it are still to come.
    fn incomplete_phase(&self, index: usize, pc: usize) -> Option<TracedPhase> {
        if self.ops[pc].role != Role::WaitPhase {
            return None;
        }
        let phases = &self.slots[self.warps[index].slot].phases;
        self.access(index).phase.filter(|phase| phases.is_open(*phase))
    }

    fn wait(&self, pc: u32) -> StallReason {
        match self.ops[pc as usize].role {
            Role::Load { place: Place::Shared, .. } => StallReason::SharedMemory,
            Role::Load { .. } | Role::Copy { .. } | Role::CommitCopies | Role::WaitCopies(_) => {
                StallReason::GlobalMemory
            }
            Role::Atomic { .. } => StallReason::Atomics,
            Role::Store(_)
            | Role::Plain
            | Role::Branch
            | Role::Product { .. }
            | Role::CommitProducts
            | Role::WaitProducts(_) => StallReason::Arithmetic,
            Role::Barrier { .. } | Role::Arrive { .. } | Role::WaitPhase => StallReason::Barriers,
        }
    }

    /// Executes a step not before a time; returns the issue time.
    fn execute(&mut self, index: usize, pc: usize, time: u64) -> u64 {
        let scheduler = index % self.schedulers.len();
        let Ticks { slots, latency, taken } = self.ticks[pc];
        let op = &self.ops[pc];
        let mut issued = time;
        if slots > 0 {
            issued = time.max(self.schedulers[scheduler]);
            self.schedulers[scheduler] = issued + slots;
        }
        let pipe = cost(op.kind, &self.on.latencies).pipe;
        if pipe != Pipe::Memory && taken > 0 {
            let pipe = &mut self.pipes[scheduler * Pipe::COUNT + pipe as usize];
            issued = issued.max(*pipe);
            *pipe = issued + taken;
        }
        let mut done = issued + latency;
        let mut free = issued + slots;
        match &op.role {
            Role::Plain => {
                if pipe == Pipe::Memory {
                    let start = issued.max(self.memory.pipe);
                    self.memory.pipe = start + taken;
                    (issued, done) = (start, start + latency);
                    free = start + slots;
                }
            }
            Role::Product { is_async, .. } => {
                let taken = to_ticks(self.on.tensor.get(pc).copied().unwrap_or(0.0));
                let pipe = &mut self.pipes[scheduler * Pipe::COUNT + Pipe::Tensor as usize];
                let start = issued.max(*pipe);
                *pipe = start + taken;
                if *is_async {
                    done = issued;
                    self.warps[index].products.add(start + taken);
                    self.record_product(index, (start, start + taken));
                } else {
                    issued = start;
                    done = start + taken + to_ticks(self.on.latencies.tensor);
                    free = start + slots;
                }
            }
            Role::Branch => free = issued + to_ticks(self.on.latencies.branch),
            Role::WaitPhase => {}
            Role::Barrier { waits } => self.arrive(index, free, *waits),
            Role::Load { place, .. } => {
                (issued, done) = self.request(index, issued, Request::Load(*place));
                free = issued + slots;
            }
            Role::Store(place) => {
                (issued, done) = self.request(index, issued, Request::Store(*place));
                free = issued + slots;
            }
            Role::Atomic { place, .. } => {
                (issued, done) = self.request(index, issued, Request::Atomic(*place));
                free = issued + slots;
            }
            Role::Copy { is_bulk } => {
                issued = issued.max(self.memory.pipe);
                (free, done) = (issued + slots, issued);
                self.copy(index, issued, *is_bulk);
            }
            Role::Arrive { after_copies } => {
                let copies = if *after_copies { self.warps[index].copies.end() } else { 0 };
                let end = (done.max(copies), StallReason::Barriers);
                self.contribute(index, self.access(index).phase, end);
            }
            Role::CommitCopies => self.warps[index].copies.commit(),
            Role::WaitCopies(pending) => self.warps[index].copies.retire(*pending),
            Role::CommitProducts => self.warps[index].products.commit(),
            Role::WaitProducts(pending) => self.warps[index].products.retire(*pending),
        }
        let running = &mut self.warps[index];
        running.done[running.next] = done;
        running.free = free;
        self.last = self.last.max(done);
        issued
    }

    /// Executes the access of a step not before a time; returns the issue time and the time of its result.
    fn request(&mut self, index: usize, time: u64, request: Request) -> (u64, u64) {
        let start = time.max(self.memory.pipe);
        (start, self.memory.served(self.on, request, self.access(index), start))
    }

    /// Executes an asynchronous copy at a time.
    fn copy(&mut self, index: usize, start: u64, is_bulk: bool) {
        let access = self.access(index);
        let phase = access.phase;
        let end = match phase {
            Some(_) => self.memory.served_in_bulk(self.on, access, start),
            None => self.memory.served(self.on, Request::Load(Place::Global), access, start),
        };
        if phase.is_some() || !is_bulk {
            self.record_load(index, (start, end), access);
        }
        match phase {
            Some(_) => self.contribute(index, phase, (end, StallReason::GlobalMemory)),
            None => self.warps[index].copies.add(end),
        }
    }

    fn access(&self, index: usize) -> TracedAccess {
        let running = &self.warps[index];
        let (block, warp) = running.of;
        let access = self.plans[block][warp].steps[running.next].access;
        self.trace.blocks[block].warps[warp].access(access)
    }

    /// A step of a warp contributes to a phase at a time.
    fn contribute(&mut self, index: usize, phase: Option<TracedPhase>, end: (u64, StallReason)) {
        let slot = self.warps[index].slot;
        let released = phase.map(|phase| self.slots[slot].phases.contribute(phase, end));
        self.resume(released.unwrap_or_default());
    }

    /// A warp arrives at a barrier of its block at a time.
    fn arrive(&mut self, index: usize, time: u64, waits: bool) {
        let Some(phase) = self.access(index).phase else { return };
        let Latencies { barrier, barrier_warp, .. } = self.on.latencies;
        let warps = self.contributions[self.warps[index].of.0].to(phase);
        let end = time + to_ticks(barrier + barrier_warp * f64::from(warps));
        self.contribute(index, Some(phase), (end, StallReason::Barriers));
        self.warps[index].waits_at = waits.then_some(phase);
    }

    fn end(&mut self, index: usize) {
        let (slot, free) = (self.warps[index].slot, self.warps[index].free);
        let block = &mut self.slots[slot];
        block.living -= 1;
        block.ends = block.ends.max(free);
        self.last = self.last.max(free);
    }

    /// The time of all blocks, and its main cause.
    fn told(&self, load: Load) -> Replayed {
        let end = self.last.max(self.memory.end()) as f64;
        let replayed = self.begun.len() as u64;
        let more = load.blocks.saturating_sub(replayed) as f64;
        // Blocks that replaced others started at the rate at which those ended.
        let replaced = self.begun.get(load.at_once..).unwrap_or_default();
        let each = match (replaced.first(), replaced.last()) {
            (Some(first), Some(last)) if last > first => {
                (last - first) as f64 / (replaced.len() - 1) as f64
            }
            _ => end / load.at_once.max(1) as f64,
        };
        let (stretch, by_cause) = self.stretched();
        let waits = StallReason::ALL.into_iter().max_by(|a, b| {
            let of = |wait: &StallReason| by_cause[Cause::Waits(*wait).index()];
            of(a).total_cmp(&of(b))
        });
        Replayed {
            cycles: (end + more * each) / TICKS * stretch,
            waits: waits.unwrap_or(StallReason::GlobalMemory),
        }
    }

    /// The ratio of all steps to the recorded ones, and the time by cause.
    fn stretched(&self) -> (f64, [f64; Cause::COUNT]) {
        let blocks = self.begun.len().max(1) as f64;
        let (mut kept, mut whole, mut steps, mut left_out) = (0.0, 0.0, 0.0, 0.0);
        let mut by_cause = [0.0; Cause::COUNT];
        for (pc, op) in self.ops.iter().enumerate() {
            let repeated = self.repeated[pc] as f64 / blocks;
            if repeated == 0.0 {
                left_out += op.executed * self.ticks[pc].slots.min(1) as f64;
                continue;
            }
            let times = op.executed / repeated;
            for (cause, spent) in self.spent[pc].iter().enumerate() {
                let spent = *spent as f64;
                kept += spent;
                whole += spent * times;
                by_cause[cause] += spent * times;
            }
            steps += op.executed * self.ticks[pc].slots.min(1) as f64;
        }
        if kept <= 0.0 || steps <= 0.0 {
            return (1.0, by_cause);
        }
        // Instructions that were never recorded take the mean time.
        ((whole / kept) * (1.0 + left_out / steps), by_cause)
    }
}

fn to_ticks(cycles: f64) -> u64 {
    (cycles * TICKS) as u64
}
