//! Where the warps of a launch stand that ends before its blocks do, and why it ends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use super::block_order::{BlockOrder, Starts};
use super::cooperative::blocks_in_memory;
use super::fault::{FaultKind, Finding};
use super::grid::{Block, can_run};
use super::limit::Limit;
use super::run::{Launch, Recorded};
use super::stall::Circle;
use super::warp::{Split, SplitState, Warp};

/// Places that a report lists; a kernel with more is described by the first.
const MOST_PLACES: usize = 12;

/// A warp that looked so often at what others write, and wrote nothing itself, waits for them.
const IDLE_POLLS: u32 = 8;

/// Steps, besides four times those so far, in which a launch beyond the device's residency shows that it makes progress.
const STEPS_BEYOND_RESIDENCY: u64 = 1 << 22;

/// A launch that goes on with more blocks than the device holds, to learn whether its blocks wait for one another.
#[derive(Debug)]
pub(super) struct BeyondResidency {
    /// What is reported if the launch ends.
    recorded: Recorded,
    /// Faults that were found before.
    faults: usize,
}

/// Warps at one place.
struct Standing {
    warps: BTreeSet<(u64, u32)>,
    block: [u32; 3],
    warp: u32,
    lanes: u32,
}

/// How lanes stand at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Running,
    AtBarrier(u8),
    AtWarpOperation,
}

impl Launch<'_> {
    /// Where the warps of some blocks stand, each place with its source line.
    pub(super) fn standing<'b>(&self, blocks: impl IntoIterator<Item = &'b Block>) -> String {
        let mut places: BTreeMap<(u32, How), Standing> = BTreeMap::new();
        for block in blocks {
            let warps = block.warps.iter();
            for (warp, split) in warps.flat_map(|warp| warp.splits.iter().map(move |s| (warp, s))) {
                let new = || Standing {
                    warps: BTreeSet::new(),
                    block: block.state.index,
                    warp: warp.index,
                    lanes: split.mask,
                };
                let standing = places.entry(place(split)).or_insert_with(new);
                standing.warps.insert((block.state.linear, warp.index));
            }
        }
        let mut text = "where the warps stand: ".to_owned();
        for (index, ((pc, how), standing)) in places.iter().take(MOST_PLACES).enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(text, "{separator}{}", self.describe(*pc, *how, standing)).ok();
        }
        if places.len() > MOST_PLACES {
            write!(text, "; and {} more places", places.len() - MOST_PLACES).ok();
        }
        text
    }

    fn describe(&self, pc: u32, how: How, standing: &Standing) -> String {
        let (place, line) = self.program.place(self.module, pc);
        let line = line.map_or_else(String::new, |line| format!(" ({line})"));
        let how = match how {
            How::Running => "running".to_owned(),
            How::AtBarrier(number) => format!("waiting at barrier {number}"),
            How::AtWarpOperation => "waiting at a warp-wide operation".to_owned(),
        };
        let Standing { warps, block: [x, y, z], warp, lanes } = standing;
        let first = format!("warp {warp} of block ({x}, {y}, {z}), lanes {lanes:#010x}");
        let which = match warps.len() {
            1 => first,
            count => format!("{count} warps, the first is {first}"),
        };
        format!("PTX {place}{line}, {how}: {which}")
    }

    /// Ends a launch in which every warp that can run repeats itself, and no block can begin.
    ///
    /// If blocks have not started, the launch first goes on with room for them: only if that lets it end, its blocks
    /// waited for those that could not start.
    pub(super) fn end_if_stalled(&mut self, resident: &mut VecDeque<Block>, starts: &mut Starts) {
        let circles: Option<Vec<Circle>> =
            resident.iter().map(|block| self.circle(block)).collect();
        let Some(circles) = circles else { return };
        let waits = circles.contains(&Circle::Waits);
        let standing = self.standing(&*resident);
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
        let poll = warp.last_poll.unwrap_or(pc);
        if waits && starts.left() > 0 && self.beyond_residency.is_none() {
            let text = self.residency_text(starts, &standing);
            let finding = Finding::new(FaultKind::Residency, lane, text);
            let recorded = self.recorded_for(block, index, poll, finding);
            self.beyond_residency = Some(BeyondResidency { recorded, faults: self.faults.len() });
            let in_memory = blocks_in_memory(self.program, self.block.iter().product());
            starts.most = starts.most.max(in_memory);
            let steps = self.steps.saturating_mul(4).saturating_add(STEPS_BEYOND_RESIDENCY);
            self.max_steps = self.max_steps.min(steps);
            return;
        }
        let (kind, pc, what) = if waits {
            (FaultKind::Livelock, poll, "wait for a value that no thread writes")
        } else {
            (FaultKind::StepLimit, pc, "repeat the same steps for ever")
        };
        if starts.left() == 0 {
            self.beyond_residency = None;
        }
        let text = format!("threads {what}: no value changes any more; {standing}");
        self.report_for(block, index, pc, Finding::new(kind, lane, text));
        self.stopped = true;
    }

    fn residency_text(&self, starts: &Starts, standing: &str) -> String {
        let (held, left, total) = (starts.most, starts.left(), starts.total);
        let order = match self.block_order {
            BlockOrder::Ascending => "",
            BlockOrder::Descending | BlockOrder::Random { .. } => {
                " in this block order (CUDA promises no order)"
            }
        };
        format!(
            "blocks wait for blocks that cannot start{order}: {held} blocks of this kernel are \
             resident at once, all of them wait, and {left} of {total} have not started; launch \
             at most {held} blocks, or let no block wait for one that starts later; {standing}"
        )
    }

    /// The end of a launch that went on beyond what the device holds.
    pub(super) fn end_beyond_residency(&mut self) {
        let Some(beyond) = self.beyond_residency.take() else { return };
        // What happened since would not have happened on the device.
        self.faults.truncate(beyond.faults);
        self.seen.retain(|_, index| *index < beyond.faults);
        self.faults.push(beyond.recorded);
        self.stopped = true;
    }

    /// Ends a launch that reached a limit, at the warp that ran last.
    pub(super) fn end_at_limit(
        &mut self,
        limit: Limit,
        (block, index): (&mut Block, usize),
        resident: &VecDeque<Block>,
    ) {
        let standing = self.standing(std::iter::once(&*block).chain(resident));
        let warp = &block.warps[index];
        let ready = warp.splits.iter().find(|split| split.state == SplitState::Ready);
        let split = ready.or(warp.splits.first());
        let (pc, lane) = split.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
        let waits = block.polled && warp.idle_polls >= IDLE_POLLS;
        let poll = warp.last_poll.filter(|_| waits);
        let reached = match (limit, self.deadline) {
            (Limit::Time, Some(deadline)) => format!("{} s", deadline.limit.as_secs_f64()),
            (Limit::Steps, _) | (Limit::Time, None) => format!("{} steps", self.max_steps),
        };
        let (kind, text) = match (poll, limit) {
            (Some(_), _) => (
                FaultKind::Livelock,
                format!("after {reached} threads still wait for a value that no thread writes"),
            ),
            (None, Limit::Steps) => {
                (FaultKind::StepLimit, format!("the launch reached its limit of {reached}"))
            }
            (None, Limit::Time) => {
                (FaultKind::TimeLimit, format!("the launch reached its limit of {reached}"))
            }
        };
        let finding = Finding::new(kind, lane, format!("{text}; {standing}"));
        self.report_for(block, index, poll.unwrap_or(pc), finding);
    }
}

/// At how many instructions the threads of a block stand.
pub(super) fn standing_places(block: &Block) -> usize {
    let splits = block.warps.iter().flat_map(|warp| &warp.splits);
    splits.map(|split| place(split).0).collect::<BTreeSet<u32>>().len()
}

fn place(split: &Split) -> (u32, How) {
    match split.state {
        // Lanes go on behind a barrier at which they wait.
        SplitState::Barrier(number) => (split.pc.saturating_sub(1), How::AtBarrier(number)),
        SplitState::WarpSync(_) => (split.pc, How::AtWarpOperation),
        SplitState::Ready => (split.pc, How::Running),
    }
}
