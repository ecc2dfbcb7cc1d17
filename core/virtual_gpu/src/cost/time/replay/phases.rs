//! The phases of the mbarrier objects and barriers of a resident block. A phase ends with the last recorded contribution
//! to it: an arrival or an asynchronous copy.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::super::trace::{TracedBlock, TracedPhase};
use super::super::StallReason;

/// The number of recorded contributions to each phase of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Contributions(Arc<BTreeMap<TracedPhase, u32>>);

/// The phases of one resident block.
#[derive(Debug, Default)]
pub(super) struct Phases {
    /// The contributions that are still to come.
    missing: BTreeMap<TracedPhase, u32>,
    /// The time of the last contribution to each phase so far, and why a warp that waits for it stalls.
    ends: BTreeMap<TracedPhase, (u64, StallReason)>,
    /// The warps that wait for each incomplete phase.
    waiting: BTreeMap<TracedPhase, Vec<usize>>,
}

impl Contributions {
    /// Counts the contributions of the recorded steps of a block; `contributes` decides by the instruction.
    pub(super) fn new(block: &TracedBlock, contributes: impl Fn(u32) -> bool) -> Self {
        let mut counts = BTreeMap::new();
        for warp in &block.warps {
            for step in warp.steps.iter().filter(|step| contributes(step.pc)) {
                if let Some(phase) = warp.access(step.access).phase {
                    *counts.entry(phase).or_default() += 1;
                }
            }
        }
        Self(Arc::new(counts))
    }

    /// The number of contributions to a phase.
    pub(super) fn to(&self, phase: TracedPhase) -> u32 {
        self.0.get(&phase).copied().unwrap_or(0)
    }
}

impl Phases {
    pub(super) fn new(contributions: &Contributions) -> Self {
        Self { missing: (*contributions.0).clone(), ..Self::default() }
    }

    /// Whether contributions to a phase are still to come.
    pub(super) fn is_open(&self, phase: TracedPhase) -> bool {
        self.missing.contains_key(&phase)
    }

    /// The time of the last contribution to a phase so far, and why a warp that waits for it stalls.
    pub(super) fn end(&self, phase: TracedPhase) -> Option<(u64, StallReason)> {
        self.ends.get(&phase).copied()
    }

    /// A contribution at a time; returns the warps that no longer wait.
    pub(super) fn contribute(
        &mut self,
        phase: TracedPhase,
        (time, reason): (u64, StallReason),
    ) -> Vec<usize> {
        let end = self.ends.entry(phase).or_insert((time, reason));
        *end = (time, reason).max(*end);
        match self.missing.get_mut(&phase) {
            Some(missing) if *missing > 1 => {
                *missing -= 1;
                Vec::new()
            }
            Some(_) | None => self.release(phase),
        }
    }

    /// A warp waits for an incomplete phase.
    pub(super) fn wait(&mut self, phase: TracedPhase, warp: usize) {
        self.waiting.entry(phase).or_default().push(warp);
    }

    /// Ends the first phase for which warps wait, because nothing else can run: the steps that contribute to it were
    /// not recorded before those that wait. Returns the warps that no longer wait; none if no warp waits.
    pub(super) fn end_first(&mut self) -> Vec<usize> {
        let first = self.waiting.keys().min_by_key(|phase| (phase.number, phase.object)).copied();
        first.map(|phase| self.release(phase)).unwrap_or_default()
    }

    fn release(&mut self, phase: TracedPhase) -> Vec<usize> {
        self.missing.remove(&phase);
        self.waiting.remove(&phase).unwrap_or_default()
    }
}
