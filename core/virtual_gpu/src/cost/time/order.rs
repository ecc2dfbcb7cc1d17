//! The order in which machine code executes PTX instructions, and the dependences of each step.
//!
//! PTX is not scheduled: each load stands directly before its use. The assembler moves loads up within a stretch of
//! code without a loop, a barrier or a long branch, as far as stores permit. The model therefore orders each
//! stretch that a warp executed by list scheduling: of the instructions that are ready, the one with the longest
//! chain of dependent latency comes first. The stretches themselves stay in program order.

use std::collections::HashMap;

use super::super::Kind;
use super::super::trace::{Place, Role, TracedOp, TracedWarp};
use super::Latencies;
use super::pipes::cost;

/// The limit of steps that are ordered at once; a longer stretch is ordered in parts.
const LONGEST: usize = 768;

/// The steps of a warp in the order of machine code.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) steps: Vec<PlannedStep>,
    /// The predecessors of all steps.
    pub(super) before: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedStep {
    pub(super) pc: u32,
    /// The index of its access, counted from one; zero if it has none.
    pub(super) access: u32,
    /// The index in `before` of its first predecessor; the next step gives the end.
    pub(super) first: u32,
}

impl Planned {
    /// The predecessors of a step.
    pub(super) fn waits_for(&self, step: usize) -> &[u32] {
        let first = self.steps[step].first as usize;
        let end = self.steps.get(step + 1).map_or(self.before.len(), |next| next.first as usize);
        &self.before[first..end]
    }
}

/// Orders the steps of warps; the order of each stretch is computed once.
pub(super) struct Assembler<'a> {
    ops: &'a [TracedOp],
    latencies: &'a Latencies,
    known: HashMap<Vec<u32>, Vec<u32>>,
    registers: usize,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(ops: &'a [TracedOp], latencies: &'a Latencies) -> Self {
        let all = ops.iter().flat_map(|op| op.reads.iter().chain(&op.writes));
        let registers = all.max().map_or(0, |last| *last as usize + 1);
        Self { ops, latencies, known: HashMap::new(), registers }
    }

    pub(super) fn plan(&mut self, warp: &TracedWarp) -> Planned {
        let pcs: Vec<u32> = warp.steps.iter().map(|step| step.pc).collect();
        let (first, before) = self.dependences(&pcs);
        let order = self.order(warp, &pcs);
        let mut position = vec![0_u32; order.len()];
        for (place, step) in order.iter().enumerate() {
            position[*step as usize] = place as u32;
        }
        let mut planned = Planned::default();
        for (place, step) in order.iter().enumerate() {
            let step = *step as usize;
            let (pc, access) = (warp.steps[step].pc, warp.steps[step].access);
            planned.steps.push(PlannedStep { pc, access, first: planned.before.len() as u32 });
            let filled_by = warp.access(access).filled_by.checked_sub(1);
            let own = &before[first[step] as usize..first[step + 1] as usize];
            let all = own.iter().copied().chain(filled_by);
            let places = all.filter_map(|other| position.get(other as usize)).copied();
            planned.before.extend(places.filter(|other| (*other as usize) < place));
        }
        planned
    }

    /// The predecessors of each step, by data dependence: offsets of the lists, and the lists.
    fn dependences(&self, pcs: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let mut written = vec![u32::MAX; self.registers];
        let (mut first, mut before) = (vec![0], Vec::new());
        for (step, pc) in pcs.iter().enumerate() {
            if let Some(op) = self.ops.get(*pc as usize) {
                let writers = op.reads.iter().map(|register| written[*register as usize]);
                before.extend(writers.filter(|writer| *writer != u32::MAX));
                op.writes.iter().for_each(|register| written[*register as usize] = step as u32);
            }
            first.push(before.len() as u32);
        }
        (first, before)
    }

    /// The order of all steps, stretch by stretch.
    fn order(&mut self, warp: &TracedWarp, pcs: &[u32]) -> Vec<u32> {
        let mut order = Vec::with_capacity(pcs.len());
        let mut start = 0;
        for end in 1..=pcs.len() {
            if end < pcs.len() && end - start < LONGEST && !self.is_parted(warp, end) {
                continue;
            }
            let stretch = &pcs[start..end];
            if !self.known.contains_key(stretch) {
                let ordered = self.ordered(stretch);
                self.known.insert(stretch.to_vec(), ordered);
            }
            let known = self.known.get(stretch).into_iter().flatten();
            order.extend(known.map(|step| start as u32 + step));
            start = end;
        }
        order
    }

    /// Whether no instruction moves over the boundary before a step.
    fn is_parted(&self, warp: &TracedWarp, step: usize) -> bool {
        let (before, this) = (warp.steps[step - 1], warp.steps[step]);
        let begins = self.ops.get(this.pc as usize).is_none_or(|op| op.begins);
        let ends = self.ops.get(before.pc as usize).is_none_or(|op| op.ends);
        begins || ends || this.is_behind_gap || this.pc <= before.pc
    }

    /// The order of one stretch.
    fn ordered(&self, pcs: &[u32]) -> Vec<u32> {
        let (first, before) = self.dependences(pcs);
        let mut needs: Vec<Vec<u32>> = (0..pcs.len())
            .map(|step| before[first[step] as usize..first[step + 1] as usize].to_vec())
            .collect();
        self.keep_memory_order(pcs, &mut needs);
        let latency: Vec<u32> = pcs.iter().map(|pc| self.nominal(*pc)).collect();
        let mut height = latency.clone();
        for step in (0..pcs.len()).rev() {
            for earlier in &needs[step] {
                let earlier = *earlier as usize;
                height[earlier] = height[earlier].max(height[step] + latency[earlier]);
            }
        }
        listed(&needs, &latency, &height)
    }

    /// Keeps accesses to one memory that may alias in order, and the end of the stretch last.
    fn keep_memory_order(&self, pcs: &[u32], needs: &mut [Vec<u32>]) {
        let mut stored: HashMap<u8, u32> = HashMap::new();
        let mut loaded: HashMap<u8, Vec<u32>> = HashMap::new();
        for (step, pc) in pcs.iter().enumerate() {
            let Some(op) = self.ops.get(*pc as usize) else { continue };
            let (place, loads, stores) = match op.role {
                Role::Load { place, read_only: false } => (place, true, false),
                Role::Store(place) => (place, false, true),
                Role::Atomic { place, .. } => (place, true, true),
                Role::Copy { .. } | Role::CommitCopies => (Place::Shared, true, true),
                Role::Load { read_only: true, .. }
                | Role::Plain
                | Role::WaitCopies(_)
                | Role::Arrive { .. }
                | Role::WaitPhase
                | Role::Barrier { .. }
                | Role::Branch
                | Role::Product { .. }
                | Role::CommitProducts
                | Role::WaitProducts(_) => continue,
            };
            let key = place as u8;
            needs[step].extend(stored.get(&key));
            if stores {
                needs[step].extend(loaded.remove(&key).unwrap_or_default());
                stored.insert(key, step as u32);
            }
            if loads {
                loaded.entry(key).or_default().push(step as u32);
            }
        }
        let last = pcs.len() - 1;
        let op = self.ops.get(pcs[last] as usize);
        if op.is_none_or(|op| op.ends || op.role == Role::Branch) {
            needs[last].extend(0..last as u32);
        }
    }

    /// The latency that the assembler assumes for an instruction.
    fn nominal(&self, pc: u32) -> u32 {
        let Some(op) = self.ops.get(pc as usize) else { return 1 };
        let latencies = self.latencies;
        let cycles = match (&op.role, op.kind) {
            (Role::Load { place: Place::Global | Place::Local, .. }, _) => latencies.l2,
            (Role::Load { .. }, _) => latencies.shared,
            (Role::Atomic { .. }, _) => latencies.l2,
            (_, Kind::Move | Kind::Hint) => 0.0,
            (_, kind) => cost(kind, latencies).latency,
        };
        cycles as u32
    }
}

/// List scheduling: of the ready steps, the one with the highest priority first.
fn listed(needs: &[Vec<u32>], latency: &[u32], height: &[u32]) -> Vec<u32> {
    let count = needs.len();
    let mut missing: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (step, needs) in needs.iter().enumerate() {
        for earlier in needs {
            after[*earlier as usize].push(step as u32);
        }
    }
    let mut ready_at = vec![0_u32; count];
    let mut open: Vec<u32> =
        (0..count as u32).filter(|step| missing[*step as usize] == 0).collect();
    let mut order = Vec::with_capacity(count);
    let mut now = 0;
    while !open.is_empty() {
        let key = |step: &u32| {
            let step = *step as usize;
            (ready_at[step].max(now), std::cmp::Reverse(height[step]), step)
        };
        let chosen = (0..open.len()).min_by_key(|index| key(&open[*index])).unwrap_or(0);
        let step = open.swap_remove(chosen);
        now = now.max(ready_at[step as usize]) + 1;
        order.push(step);
        for next in &after[step as usize] {
            let next_step = *next as usize;
            let result = now - 1 + latency[step as usize];
            ready_at[next_step] = ready_at[next_step].max(result);
            missing[next_step] -= 1;
            if missing[next_step] == 0 {
                open.push(*next);
            }
        }
    }
    order
}
