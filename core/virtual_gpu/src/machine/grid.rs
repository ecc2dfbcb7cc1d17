//! The blocks of a grid: in order, each until it ends or its turn is over; those that are resident go on in turns, so that
//! blocks may wait for each other.

use std::collections::{BTreeSet, VecDeque};

use super::barrier::{self, BARRIERS, BlockBarrier};
use super::copies::Copies;
use super::fault::{FaultKind, Finding};
use super::local::LocalMemory;
use super::order::Order;
use super::parallel::Common;
use super::run::{BlockState, Launch, Worker};
use super::shared::SharedMemory;
use super::stall::{Circle, Stall};
use super::step::Turn;
use super::warp::{LANES, Registers, Split, SplitState, Warp};

/// Steps of a warp until the next one of its block has its turn.
pub(super) const WARP_TURN: i64 = 1 << 14;
/// Turns of warps until the next block has its turn.
const BLOCK_TURNS: i64 = 1 << 12;
/// Turns of a block in which it only waited for others.
const WAITING_TURNS: u32 = 16;

/// A warp that looked so often at what others write, and wrote nothing itself, waits for them.
const IDLE_POLLS: u32 = 8;

/// A block with its warps.
struct Block {
    state: BlockState,
    warps: Vec<Warp>,
    polled: bool,
}

/// Blocks that are still to begin.
struct Starts {
    next: u64,
    total: u64,
    shuffled: Option<Vec<usize>>,
}

enum BlockStop {
    Ended,
    /// Others have their turn.
    Suspended,
}

impl Launch<'_> {
    /// Runs all blocks, or those that this thread gets.
    pub(super) fn run(&mut self) {
        let total = self.blocks.run;
        let threads = self.block.iter().product();
        let most = self.common.map_or_else(
            || self.shape.resident_blocks(self.program, threads, self.shared.bytes),
            |common| common.resident,
        );
        let mut starts = Starts { next: 0, total, shuffled: self.shuffled(total, most) };
        let mut resident: VecDeque<Block> = VecDeque::new();
        while !self.stopped {
            // A new block goes first, as long as there is room: most end in their first turn.
            let fresh = resident.len() < most && self.order.pick(0, 2) == 0;
            let started = if fresh || resident.is_empty() { self.start(&mut starts) } else { None };
            let chosen = self.order.pick(0, resident.len());
            let mut block = match started {
                Some(number) => self.create(self.blocks.nth(number)),
                None => match resident.remove(chosen) {
                    Some(block) => block,
                    None if fresh => return,
                    None => continue,
                },
            };
            let linear = block.state.linear;
            let stop = self.run_block(&mut block);
            if let Some(common) = self.common
                && self.stopped
            {
                // Blocks before it go on.
                common.end_with(linear);
                self.stopped = false;
            }
            match stop {
                BlockStop::Ended => {}
                BlockStop::Suspended => {
                    let stalls = self.circle(&block).is_some();
                    resident.push_back(block);
                    let none_begins = resident.len() >= most || starts.next >= starts.total;
                    if stalls && none_begins && !self.stopped {
                        self.end_if_stalled(&mut resident);
                    }
                }
            }
        }
    }

    /// An order of blocks that may differ from that of their numbers: only where all of them are there at once, since
    /// otherwise waiting for a lower block may take for ever.
    fn shuffled(&mut self, total: u64, most: usize) -> Option<Vec<usize>> {
        match &self.order {
            Order::Seeded(_) if total <= most as u64 => Some(self.order.round(total as usize)),
            Order::Seeded(_) | Order::Fixed => None,
        }
    }

    fn start(&self, starts: &mut Starts) -> Option<u64> {
        if let Some(common) = self.common {
            return common.take(starts.total);
        }
        let next = (starts.next < starts.total).then_some(starts.next)?;
        starts.next += 1;
        match &starts.shuffled {
            Some(shuffled) => shuffled.get(next as usize).map(|block| *block as u64),
            None => Some(next),
        }
    }

    fn create(&mut self, linear: u64) -> Block {
        let [x, y, _] = self.grid.map(u64::from);
        let index = [linear % x, linear / x % y, linear / (x * y)].map(|i| i as u32);
        let threads: u32 = self.block.iter().product();
        let state = BlockState {
            index,
            linear,
            threads,
            shared: SharedMemory::new(self.shared.bytes as usize),
            barriers: vec![BlockBarrier::default(); BARRIERS],
            exited: 0,
            copies: Copies::default(),
            mbarriers: BTreeSet::new(),
            races: self.races.as_ref().map(|races| races.block(linear, threads)),
        };
        let warps = (0..threads.div_ceil(LANES as u32)).map(|warp| self.warp(warp, threads));
        let warps = warps.collect();
        Block { state, warps, polled: false }
    }

    fn warp(&self, index: u32, threads: u32) -> Warp {
        let lanes = (threads - index * LANES as u32).min(LANES as u32);
        let mask = u32::MAX >> (LANES as u32 - lanes);
        let kernel = self.program.kernel;
        let function = self.program.functions.get(&kernel);
        let bytes = function.map_or(0, |function| function.frame_bytes);
        let end = super::super::lower::FIRST_FRAME + bytes;
        let frame = Worker::first_frame(end, kernel);
        let mut registers = Registers::default();
        let mut local = LocalMemory::default();
        local.grow(end);
        let mut pc = 0;
        if let Some(function) = function {
            registers.open(&frame, function, u32::MAX);
            pc = function.entry.unwrap_or(0);
        }
        let split =
            Split { pc, mask, frame, callers: Vec::new(), state: SplitState::Ready, rounds: 0 };
        let undefined_load = [None; LANES];
        Warp {
            index,
            registers,
            local,
            splits: vec![split],
            live: mask,
            undefined_load,
            awaited: 0,
            last_poll: None,
            idle_polls: 0,
            stall: Stall::default(),
        }
    }

    fn run_block(&mut self, block: &mut Block) -> BlockStop {
        let (mut turns, mut waiting) = (0, 0);
        let most_turns = self.order.turn_length(BLOCK_TURNS);
        loop {
            let mut ran = false;
            block.polled = false;
            if self.common.is_some_and(|common| common.is_beyond(block.state.linear)) {
                return BlockStop::Ended;
            }
            for index in self.order.round(block.warps.len()) {
                if !can_run(&block.warps[index]) {
                    continue;
                }
                ran = true;
                turns += 1;
                block.polled |= self.turn(block, index, false);
                if self.stopped {
                    return BlockStop::Ended;
                }
                if self.is_out_of_steps() {
                    self.out_of_steps(block, index);
                    return BlockStop::Ended;
                }
            }
            let released = self.release(block);
            if self.stopped || block.warps.iter().all(|warp| warp.splits.is_empty()) {
                return BlockStop::Ended;
            }
            if !ran && !released && !self.resolve(block) {
                return BlockStop::Ended;
            }
            waiting = if block.polled { waiting + 1 } else { 0 };
            if waiting >= self.order.patience(WAITING_TURNS) {
                let ending = self.common.is_some_and(Common::is_ending);
                // What it waits for may be a block that the end of the launch has stopped.
                return if ending { BlockStop::Ended } else { BlockStop::Suspended };
            }
            if turns >= most_turns || self.circle(block).is_some() {
                return BlockStop::Suspended;
            }
        }
    }

    /// One turn of a warp; whether it looked at what others write.
    fn turn(&mut self, block: &mut Block, index: usize, forced: bool) -> bool {
        let budget = self.order.turn_length(WARP_TURN);
        let warp = &mut block.warps[index];
        let number = block.state.linear;
        let is_traced = self.trace.as_mut().is_some_and(|trace| trace.enter(number));
        let is_given = self.watch.is_some() || is_traced;
        let (budget, withheld) = if is_given { (0, budget) } else { (budget, 0) };
        let mut worker = Worker {
            launch: self,
            block: &mut block.state,
            warp,
            forced,
            budget,
            withheld,
            polled: false,
        };
        let turn = worker.turn();
        let polled = worker.polled && turn == Turn::Ready;
        // Threads of the host do not know of each other's changes, and where chance decides which lanes go on, those that
        // would change something may not have had their turn.
        if turn == Turn::Ready && self.common.is_none() && !self.order.parts_lanes() {
            let changes = self.changes;
            block.warps[index].observe(changes, polled);
        }
        polled
    }

    /// How the warps of a block go on that can: none if one of them may still do something else.
    fn circle(&self, block: &Block) -> Option<Circle> {
        let mut all = Some(Circle::Spins);
        for warp in block.warps.iter().filter(|warp| can_run(warp)) {
            match warp.circle(self.changes) {
                None => return None,
                Some(Circle::Waits) => all = Some(Circle::Waits),
                Some(Circle::Spins) => {}
            }
        }
        all
    }

    /// Ends a launch in which all that can go on do so in circles, and nobody else can begin.
    fn end_if_stalled(&mut self, resident: &mut VecDeque<Block>) {
        let circles: Option<Vec<Circle>> =
            resident.iter().map(|block| self.circle(block)).collect();
        let Some(circles) = circles else { return };
        let waits = circles.contains(&Circle::Waits);
        let places: Vec<String> = resident.front().map_or(Vec::new(), |block| self.places(block));
        let runs = |warp: &Warp| {
            let polls = warp.circle(self.changes) == Some(Circle::Waits);
            can_run(warp) && polls == waits
        };
        let mut all = resident.iter_mut();
        let found = all.find_map(|block| Some((block.warps.iter().position(runs)?, block)));
        let Some((index, block)) = found else { return };
        let warp = &block.warps[index];
        let ready = warp.splits.iter().find(|split| split.state == SplitState::Ready);
        let (pc, lane) = ready.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
        let (kind, pc, what) = if waits {
            (FaultKind::Livelock, warp.last_poll.unwrap_or(pc), "wait for what nobody writes")
        } else {
            (FaultKind::StepLimit, pc, "repeat the same steps for ever")
        };
        let text = format!(
            "threads {what}: no value changes any more; threads of the block are at {}",
            places.join(", ")
        );
        self.report_for(block, index, pc, Finding::new(kind, lane, text));
        self.stopped = true;
    }

    /// Where the threads of a block are.
    fn places(&self, block: &Block) -> Vec<String> {
        let splits = block.warps.iter().flat_map(|warp| &warp.splits);
        let place = |split: &Split| match split.state {
            SplitState::Barrier(_) => split.pc.saturating_sub(1),
            SplitState::Ready | SplitState::WarpSync(_) => split.pc,
        };
        let pcs: BTreeSet<u32> = splits.map(place).collect();
        let name = |pc: &u32| format!("PTX {}", self.program.place(self.module, *pc).0);
        pcs.iter().take(8).map(name).collect()
    }

    fn release(&mut self, block: &mut Block) -> bool {
        let (released, missed) = barrier::release(&mut block.state, &mut block.warps);
        if let Some(missed) = missed
            && let Some(index) = block.warps.iter().position(|warp| warp.index == missed.warp)
        {
            let text = format!(
                "threads wait at a barrier for the whole block, of which {} have ended without it",
                missed.exited
            );
            let finding = Finding::new(FaultKind::BarrierDivergence, missed.lane, text);
            self.report_for(block, index, missed.pc, finding);
        }
        released
    }

    fn report_for(&mut self, block: &mut Block, index: usize, pc: u32, finding: Finding) {
        let warp = &mut block.warps[index];
        let state = &mut block.state;
        let mut worker = Worker {
            launch: self,
            block: state,
            warp,
            forced: false,
            budget: 0,
            withheld: 0,
            polled: false,
        };
        worker.report(pc, finding);
    }

    /// No thread of the block can go on: says why, and goes on if that is possible.
    fn resolve(&mut self, block: &mut Block) -> bool {
        let at_warp_operation = block.warps.iter().position(|warp| {
            warp.splits.iter().any(|split| matches!(split.state, SplitState::WarpSync(_)))
        });
        if let Some(index) = at_warp_operation {
            self.turn(block, index, true);
            return !self.stopped;
        }
        let mut found = None;
        for (index, warp) in block.warps.iter().enumerate() {
            for split in &warp.splits {
                if let SplitState::Barrier(number) = split.state {
                    found.get_or_insert((index, split.pc - 1, split.mask, number));
                }
            }
        }
        let Some((index, pc, mask, number)) = found else { return false };
        let counted = block.state.barriers[usize::from(number)].arrivals.len();
        let places = self.places(block);
        let whole_block = places.len() > 1;
        let kind = if whole_block { FaultKind::BarrierDivergence } else { FaultKind::Deadlock };
        let text = format!(
            "no thread of the block can go on: {counted} warps wait at barrier {number}; threads wait at {}",
            places.join(", ")
        );
        self.report_for(block, index, pc, Finding::new(kind, mask.trailing_zeros(), text));
        false
    }

    fn out_of_steps(&mut self, block: &mut Block, index: usize) {
        let split = block.warps[index].splits.first();
        let (pc, lane) = split.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
        let steps = self.max_steps;
        let waits = block.polled && block.warps[index].idle_polls >= IDLE_POLLS;
        let poll = block.warps[index].last_poll.filter(|_| waits);
        let pc = poll.unwrap_or(pc);
        let (kind, text) = if poll.is_some() {
            (
                FaultKind::Livelock,
                format!("after {steps} steps threads still wait for what nobody writes"),
            )
        } else {
            (FaultKind::StepLimit, format!("the launch took the {steps} steps that it may take"))
        };
        self.report_for(block, index, pc, Finding::new(kind, lane, text));
    }
}

fn can_run(warp: &Warp) -> bool {
    warp.splits.iter().any(|split| split.state == SplitState::Ready)
}
