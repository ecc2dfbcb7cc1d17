//! Launches that end before their blocks do: the reason, and the position of each warp.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use super::block_order::{BlockOrder, BlockStarts};
use super::cooperative::blocks_in_memory;
use super::fault::{FaultKind, Finding};
use super::grid::{Block, can_run};
use super::limit::LimitKind;
use super::register_pool::RegisterPool;
use super::resident::ResidentCluster;
use super::run::{Launch, Recorded};
use super::stall::RepeatedState;
use super::warp::{Split, SplitState, Warp};

/// The number of positions that a report lists.
const MOST_PLACES: usize = 12;

/// The number of turns with polls, without a change, after which a warp counts as waiting.
const IDLE_TURNS: u32 = 8;

/// The limit of steps, in addition to four times the steps so far, of a launch that continues beyond the residency of
/// the device.
const STEPS_BEYOND_RESIDENCY: u64 = 1 << 22;

/// A launch that continues with more blocks than the device holds, to find out whether its blocks wait for each
/// other.
#[derive(Debug)]
pub(super) struct BeyondResidency {
    /// The fault that is reported if the launch ends.
    recorded: Recorded,
    /// The number of earlier faults.
    faults: usize,
}

/// Warps at one position.
struct WarpsAtPosition {
    warps: BTreeSet<(u64, u32)>,
    block: [u32; 3],
    warp: u32,
    lanes: u32,
}

/// The activity of lanes at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WarpActivity {
    Running,
    AtBarrier(u8),
    AtClusterBarrier,
    AtWarpOperation,
}

impl Launch<'_> {
    /// The positions of the warps of some blocks, each with its source line.
    pub(super) fn unfinished_warps<'b>(
        &self,
        blocks: impl IntoIterator<Item = &'b Block>,
    ) -> String {
        let mut places: BTreeMap<(u32, WarpActivity), WarpsAtPosition> = BTreeMap::new();
        for block in blocks {
            let warps = block.warps.iter();
            for (warp, split) in warps.flat_map(|warp| warp.splits.iter().map(move |s| (warp, s))) {
                let new = || WarpsAtPosition {
                    warps: BTreeSet::new(),
                    block: block.state.index,
                    warp: warp.index,
                    lanes: split.mask,
                };
                let standing = places.entry(place(split)).or_insert_with(new);
                standing.warps.insert((block.state.linear, warp.index));
            }
        }
        let mut text = "warp positions: ".to_owned();
        for (index, ((pc, how), standing)) in places.iter().take(MOST_PLACES).enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(text, "{separator}{}", self.describe(*pc, *how, standing)).ok();
        }
        if places.len() > MOST_PLACES {
            write!(text, "; and {} more positions", places.len() - MOST_PLACES).ok();
        }
        text
    }

    fn describe(&self, pc: u32, how: WarpActivity, standing: &WarpsAtPosition) -> String {
        let (place, line) = self.program.place(self.module, pc);
        let line = line.map_or_else(String::new, |line| format!(" ({line})"));
        let how = match how {
            WarpActivity::Running => "running".to_owned(),
            WarpActivity::AtBarrier(number) => format!("waiting at barrier {number}"),
            WarpActivity::AtClusterBarrier => "waiting at the cluster barrier".to_owned(),
            WarpActivity::AtWarpOperation => "waiting at a warp-wide operation".to_owned(),
        };
        let WarpsAtPosition { warps, block: [x, y, z], warp, lanes } = standing;
        let first = format!("warp {warp} of block ({x}, {y}, {z}), lanes {lanes:#010x}");
        let which = match warps.len() {
            1 => first,
            count => format!("{count} warps, the first is {first}"),
        };
        format!("PTX {place}{line}, {how}: {which}")
    }

    /// Ends a launch in which every warp that can run repeats a state, and no block can start.
    ///
    /// If blocks have not started, the launch first continues with room for them: only if that lets it end, its
    /// blocks waited for those that could not start.
    pub(super) fn end_if_stalled(
        &mut self,
        resident: &mut VecDeque<ResidentCluster>,
        starts: &mut BlockStarts,
    ) {
        let circles: Option<Vec<RepeatedState>> =
            resident.iter().map(|cluster| self.repeated_state(&cluster.blocks)).collect();
        let Some(circles) = circles else { return };
        let waits = circles.contains(&RepeatedState::Polls);
        let standing = self.unfinished_warps(resident.iter().flat_map(|cluster| &cluster.blocks));
        let runs = |warp: &Warp| {
            let polls = warp.repeated_state(self.changes) == Some(RepeatedState::Polls);
            can_run(warp) && polls == waits
        };
        let mut all = resident.iter_mut().flat_map(|cluster| &mut cluster.blocks);
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
            let in_memory = self.clusters.resident_clusters(in_memory);
            starts.max_resident = starts.max_resident.max(in_memory);
            let steps = self.steps.saturating_mul(4).saturating_add(STEPS_BEYOND_RESIDENCY);
            self.max_steps = self.max_steps.min(steps);
            return;
        }
        let (kind, pc, what) = if waits {
            (FaultKind::Livelock, poll, "poll a value that no thread writes")
        } else {
            (FaultKind::StepLimit, pc, "repeat the same steps indefinitely")
        };
        if starts.left() == 0 {
            self.beyond_residency = None;
        }
        let outstanding = block.state.outstanding_barriers();
        let (kind, text) = match block.state.registers.as_ref().and_then(RegisterPool::shortage) {
            Some(shortage) => (FaultKind::Deadlock, format!("{shortage}{outstanding}; {standing}")),
            None => {
                let text = format!("threads {what}: no value in memory changes{outstanding}");
                (kind, format!("{text}; {standing}"))
            }
        };
        self.report_for(block, index, pc, Finding::new(kind, lane, text));
        self.stopped = true;
    }

    fn residency_text(&self, starts: &BlockStarts, standing: &str) -> String {
        let each = u64::from(self.clusters.blocks());
        let (held, left) = (starts.max_resident as u64 * each, starts.left() * each);
        let total = starts.total * each;
        let order = match self.block_order {
            BlockOrder::Ascending => "",
            BlockOrder::Descending | BlockOrder::Random { .. } => {
                " in this block order (CUDA guarantees no order)"
            }
        };
        format!(
            "blocks wait for blocks that cannot start{order}: {held} blocks of this kernel are \
             resident at once, all of them wait, and {left} of {total} blocks have not started; launch \
             at most {held} blocks, or remove the wait for blocks that start later; {standing}"
        )
    }

    /// Ends a launch that continued beyond the residency of the device.
    pub(super) fn end_beyond_residency(&mut self) {
        let Some(beyond) = self.beyond_residency.take() else { return };
        // Later faults would not have occurred on the device.
        self.faults.truncate(beyond.faults);
        self.seen.retain(|_, index| *index < beyond.faults);
        self.faults.push(beyond.recorded);
        self.stopped = true;
    }

    /// Ends a launch that reached a limit, at the warp that ran last.
    pub(super) fn end_at_limit(
        &mut self,
        limit: LimitKind,
        (cluster, rank, index): (&mut ResidentCluster, usize, usize),
        resident: &VecDeque<ResidentCluster>,
    ) {
        let all = || std::iter::once(&*cluster).chain(resident).flat_map(|cluster| &cluster.blocks);
        let standing = self.unfinished_warps(all());
        // A warp may also wait for others that still compute.
        let waits = all().all(|block| {
            let mut running = block.warps.iter().filter(|warp| can_run(warp));
            running.all(|warp| warp.idle_turns >= IDLE_TURNS && warp.changes == self.changes)
        });
        let block = &mut cluster.blocks[rank];
        let warp = &block.warps[index];
        let ready = warp.splits.iter().find(|split| split.state == SplitState::Ready);
        let split = ready.or(warp.splits.first());
        let (pc, lane) = split.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
        let poll = warp.last_poll.filter(|_| waits);
        let reached = match (limit, self.deadline) {
            (LimitKind::Time, Some(deadline)) => format!("{} s", deadline.limit.as_secs_f64()),
            (LimitKind::Steps, _) | (LimitKind::Time, None) => format!("{} steps", self.max_steps),
        };
        let (kind, text) = match (poll, limit) {
            (Some(_), _) => (
                FaultKind::Livelock,
                format!("after {reached} threads still poll a value that no thread writes"),
            ),
            (None, LimitKind::Steps) => {
                (FaultKind::StepLimit, format!("the launch reached its limit of {reached}"))
            }
            (None, LimitKind::Time) => {
                (FaultKind::TimeLimit, format!("the launch reached its limit of {reached}"))
            }
        };
        let outstanding = block.state.outstanding_barriers();
        let finding = Finding::new(kind, lane, format!("{text}{outstanding}; {standing}"));
        self.report_for(block, index, poll.unwrap_or(pc), finding);
    }
}

/// The number of different program counters of the threads of a block.
pub(super) fn count_positions(block: &Block) -> usize {
    let splits = block.warps.iter().flat_map(|warp| &warp.splits);
    splits.map(|split| place(split).0).collect::<BTreeSet<u32>>().len()
}

fn place(split: &Split) -> (u32, WarpActivity) {
    match split.state {
        // The program counter of lanes at a barrier points after it.
        SplitState::Barrier(number) => {
            (split.pc.saturating_sub(1), WarpActivity::AtBarrier(number))
        }
        SplitState::ClusterBarrier => (split.pc.saturating_sub(1), WarpActivity::AtClusterBarrier),
        SplitState::WarpSync(_) => (split.pc, WarpActivity::AtWarpOperation),
        SplitState::Ready => (split.pc, WarpActivity::Running),
    }
}
