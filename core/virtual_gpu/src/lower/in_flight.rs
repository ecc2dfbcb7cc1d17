//! Registers of asynchronous products (`wgmma`): the instructions at which a register may be in flight.
//!
//! A product reads the registers of A and writes those of D until a `wgmma.wait_group` completes it. Each register of
//! each warp would need a state of its own if all accesses were checked while the kernel runs. Instead, a data-flow
//! analysis finds the accesses that may meet a register in flight on any path, and the products of which a register may
//! have been written since the last `wgmma.fence`. Only these are checked at run time.
//! The analysis alone would report paths that no thread takes (a wait under a condition), the check alone would slow
//! every instruction down. A kernel whose waits cover all paths has no such access and costs nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::isa::Operation;
use super::super::isa::matrix::{Matrix, Source, Warpgroup};
use super::super::isa::moves::Move;
use super::super::module::{Body, Instruction, Operand, RegisterId};
use super::code::Slot;
use super::flow::Block;
use super::liveness::{operand_reads, reads, writes};

/// The limit of the analysis in bytes of state; the registers of larger bodies are not tracked.
const MOST_STATE: usize = 1 << 27;

/// An access to registers of products, which the machine tracks before it executes the instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrackedInstruction {
    /// The guard of the instruction, or none.
    pub(crate) guard: Slot,
    pub(crate) access: TrackedAccess,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TrackedAccess {
    Product(TrackedProduct),
    /// A register copy: the copies are in flight as their source is.
    Copy {
        to: Vec<RegisterId>,
        from: Vec<RegisterId>,
    },
    Other {
        /// Registers that it reads, and that may be in flight.
        reads: Vec<RegisterId>,
        /// Registers that it writes, and that may be in flight.
        writes: Vec<RegisterId>,
        /// Registers that it writes, and that a product may use before a fence.
        unordered: Vec<RegisterId>,
    },
}

/// The registers of `wgmma.mma_async`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrackedProduct {
    pub(crate) shape: ProductShape,
    pub(crate) d: Vec<RegisterId>,
    pub(crate) a: Vec<RegisterId>,
    /// Those that may have been written since the last fence.
    pub(crate) unordered: Vec<RegisterId>,
}

/// n and k of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProductShape {
    pub(crate) columns: u32,
    pub(crate) length: u32,
}

/// The tracked accesses of a body, by the index of their instruction.
pub(super) fn run(body: &Body, blocks: &[Block], order: &[u32]) -> BTreeMap<u32, TrackedAccess> {
    let is_product = |instruction: &Instruction| {
        let Operation::Matrix(Matrix::Warpgroup(operation)) = instruction.operation else {
            return false;
        };
        matches!(operation, Warpgroup::Multiply(_))
    };
    if !body.instructions.iter().any(is_product) {
        return BTreeMap::new();
    }
    let analysis = Analysis::new(body);
    if analysis.state_bytes().saturating_mul(blocks.len()) > MOST_STATE {
        return BTreeMap::new();
    }
    let entries = analysis.entry_states(blocks, order);
    analysis.tracked(blocks, order, &entries)
}

/// The effect of an instruction on the states of registers; registers are indices of the analysis.
enum Step {
    Multiply {
        shape: ProductShape,
        d: Vec<usize>,
        a: Vec<usize>,
    },
    Fence,
    Commit,
    /// Completes all but this number of groups.
    Wait(u8),
    Copy {
        to: Vec<usize>,
        from: Vec<usize>,
    },
    Other {
        reads: Vec<usize>,
        writes: Vec<usize>,
    },
}

/// No product uses the register.
const IDLE: u8 = u8::MAX;
/// Ages from this number on are not distinguished: `wgmma.wait_group` leaves at most seven groups pending.
const OLDEST: u8 = 8;

/// What may be true on some path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// For each register, the least age of a product that may use it as D: the number of groups committed since the
    /// product was issued.
    d: Vec<u8>,
    /// The same for A.
    a: Vec<u8>,
    /// Whether an instruction other than a copy has written the register since the last fence.
    written: Vec<bool>,
    /// Whether no fence has been executed.
    is_unfenced: bool,
}

impl State {
    fn idle(registers: usize) -> Self {
        let ages = vec![IDLE; registers];
        Self { d: ages.clone(), a: ages, written: vec![false; registers], is_unfenced: false }
    }

    fn ages(&mut self) -> impl Iterator<Item = &mut u8> {
        self.d.iter_mut().chain(&mut self.a)
    }

    /// The state if either this or another path was taken; returns whether that differs from this one.
    fn join(&mut self, other: &Self) -> bool {
        let mut is_changed = other.is_unfenced && !self.is_unfenced;
        self.is_unfenced |= other.is_unfenced;
        for (written, other) in self.written.iter_mut().zip(&other.written) {
            is_changed |= *other && !*written;
            *written |= other;
        }
        for (age, other) in self.ages().zip(other.d.iter().chain(&other.a)) {
            is_changed |= other < age;
            *age = (*age).min(*other);
        }
        is_changed
    }

    fn apply(&mut self, step: &Step, is_guarded: bool) {
        // Lanes that a guard disables keep their state.
        let replace = |age: &mut u8, new: u8| *age = if is_guarded { new.min(*age) } else { new };
        match step {
            Step::Multiply { d, a, .. } => {
                d.iter().for_each(|register| self.d[*register] = 0);
                a.iter().for_each(|register| self.a[*register] = 0);
                // A missing fence is reported at the first product.
                d.iter().chain(a).for_each(|register| self.written[*register] = false);
            }
            Step::Fence if is_guarded => {}
            Step::Fence => {
                self.written.fill(false);
                self.is_unfenced = false;
            }
            Step::Commit if is_guarded => {}
            Step::Commit => {
                let pending = self.ages().filter(|age| **age != IDLE);
                pending.for_each(|age| *age = (*age + 1).min(OLDEST));
            }
            Step::Wait(_) if is_guarded => {}
            Step::Wait(pending) => {
                let due = self.ages().filter(|age| **age > *pending);
                due.for_each(|age| *age = IDLE);
            }
            Step::Copy { to, from } => {
                let age = from.iter().map(|register| self.d[*register]).min().unwrap_or(IDLE);
                let is_written = from.iter().any(|register| self.written[*register]);
                for register in to {
                    self.written[*register] = is_written || is_guarded && self.written[*register];
                    replace(&mut self.d[*register], age);
                    replace(&mut self.a[*register], IDLE);
                }
            }
            Step::Other { writes, .. } => {
                for register in writes {
                    self.written[*register] = true;
                    replace(&mut self.d[*register], IDLE);
                    replace(&mut self.a[*register], IDLE);
                }
            }
        }
    }
}

struct Analysis<'b> {
    body: &'b Body,
    /// The registers of products and their copies.
    registers: Vec<RegisterId>,
    /// The effect of each instruction, if it has one.
    steps: Vec<Option<Step>>,
    /// Registers that are D of products of several shapes.
    several_shapes: BTreeSet<usize>,
}

impl<'b> Analysis<'b> {
    fn new(body: &'b Body) -> Self {
        let registers: Vec<RegisterId> = related_registers(body).into_iter().collect();
        let index: HashMap<RegisterId, usize> =
            registers.iter().enumerate().map(|(index, register)| (*register, index)).collect();
        let steps: Vec<Option<Step>> =
            body.instructions.iter().map(|instruction| step(instruction, &index)).collect();
        let mut shapes: HashMap<usize, ProductShape> = HashMap::new();
        let mut several_shapes = BTreeSet::new();
        for step in steps.iter().flatten() {
            let Step::Multiply { shape, d, .. } = step else { continue };
            let differs = |register: &&usize| *shapes.entry(**register).or_insert(*shape) != *shape;
            several_shapes.extend(d.iter().filter(differs));
        }
        Self { body, registers, steps, several_shapes }
    }

    fn state_bytes(&self) -> usize {
        3 * self.registers.len()
    }

    /// The state at the entry of each block, for the paths from the entry of the body.
    fn entry_states(&self, blocks: &[Block], order: &[u32]) -> Vec<State> {
        let mut entries = vec![State::idle(self.registers.len()); blocks.len()];
        if let Some(first) = entries.first_mut() {
            first.is_unfenced = true;
        }
        loop {
            let mut is_changed = false;
            for block in order {
                let mut state = entries[*block as usize].clone();
                self.walk(&blocks[*block as usize], &mut state, |_, _, _| {});
                for next in &blocks[*block as usize].next {
                    is_changed |= entries[*next as usize].join(&state);
                }
            }
            if !is_changed {
                return entries;
            }
        }
    }

    /// Visits the steps of a block with the state before each.
    fn walk(&self, block: &Block, state: &mut State, mut visit: impl FnMut(u32, &Step, &State)) {
        for position in block.start..block.end {
            let Some(step) = &self.steps[position as usize] else { continue };
            visit(position, step, state);
            state.apply(step, self.body.instructions[position as usize].guard.is_some());
        }
    }

    fn tracked(
        &self,
        blocks: &[Block],
        order: &[u32],
        entries: &[State],
    ) -> BTreeMap<u32, TrackedAccess> {
        let unordered = self.unordered_registers(blocks, order, entries);
        let mut tracked = BTreeMap::new();
        let mut has_checks = false;
        for block in order {
            let mut state = entries[*block as usize].clone();
            self.walk(&blocks[*block as usize], &mut state, |position, step, state| {
                let Some((access, is_check)) = self.access(step, state, &unordered) else { return };
                has_checks |= is_check;
                tracked.insert(position, access);
            });
        }
        if has_checks { tracked } else { BTreeMap::new() }
    }

    /// Registers of a product that may have been written since the last fence, and the sources of their copies.
    fn unordered_registers(
        &self,
        blocks: &[Block],
        order: &[u32],
        entries: &[State],
    ) -> BTreeSet<usize> {
        let mut unordered = BTreeSet::new();
        for block in order {
            let mut state = entries[*block as usize].clone();
            self.walk(&blocks[*block as usize], &mut state, |_, step, state| {
                if let Step::Multiply { d, a, .. } = step {
                    unordered
                        .extend(d.iter().chain(a).filter(|register| state.written[**register]));
                }
            });
        }
        loop {
            let before = unordered.len();
            for step in self.steps.iter().flatten() {
                if let Step::Copy { to, from } = step
                    && to.iter().any(|register| unordered.contains(register))
                {
                    unordered.extend(from);
                }
            }
            if unordered.len() == before {
                return unordered;
            }
        }
    }

    /// The access of an instruction if it must be tracked, and whether it may be a fault.
    fn access(
        &self,
        step: &Step,
        state: &State,
        unordered: &BTreeSet<usize>,
    ) -> Option<(TrackedAccess, bool)> {
        let is_unordered = |register: &&usize| unordered.contains(*register);
        let may_be_d = |register: &&usize| state.d[**register] != IDLE;
        let may_be_any = |register: &&usize| may_be_d(register) || state.a[**register] != IDLE;
        let named = |registers: Vec<&usize>| -> Vec<RegisterId> {
            registers.into_iter().map(|register| self.registers[*register]).collect()
        };
        match step {
            Step::Multiply { shape, d, a } => {
                let reads_sums = a.iter().any(|register| may_be_d(&register));
                let changes_shape = d.iter().any(|register| self.several_shapes.contains(register));
                let written = |register: &&usize| state.written[**register];
                let unordered = named(d.iter().chain(a).filter(written).collect());
                let lacks_fence = state.is_unfenced || !unordered.is_empty();
                let (d, a) = (named(d.iter().collect()), named(a.iter().collect()));
                let product = TrackedProduct { shape: *shape, d, a, unordered };
                let is_check = reads_sums || changes_shape || lacks_fence;
                Some((TrackedAccess::Product(product), is_check))
            }
            Step::Fence | Step::Commit | Step::Wait(_) => None,
            Step::Copy { to, from } => {
                let is_carried = from.iter().any(|register| may_be_d(&register));
                let overwrites = to.iter().any(|register| may_be_d(&register));
                let renames = to.iter().any(|register| may_be_any(&register));
                let is_unordered = to.iter().any(|register| is_unordered(&register));
                let (to, from) = (named(to.iter().collect()), named(from.iter().collect()));
                let is_tracked = is_carried || renames || is_unordered;
                is_tracked.then_some((TrackedAccess::Copy { to, from }, overwrites))
            }
            Step::Other { reads, writes } => {
                let reads: Vec<_> = reads.iter().filter(may_be_d).collect();
                let unordered: Vec<_> = writes.iter().filter(is_unordered).collect();
                let writes: Vec<_> = writes.iter().filter(may_be_any).collect();
                let is_check = !reads.is_empty() || !writes.is_empty();
                let is_tracked = is_check || !unordered.is_empty();
                let (reads, writes, unordered) = (named(reads), named(writes), named(unordered));
                let access = TrackedAccess::Other { reads, writes, unordered };
                is_tracked.then_some((access, is_check))
            }
        }
    }
}

/// The registers of products, and those that copies connect with them.
fn related_registers(body: &Body) -> BTreeSet<RegisterId> {
    let mut related = BTreeSet::new();
    let mut copies = Vec::new();
    for instruction in &body.instructions {
        if let Some((d, a)) = product_registers(instruction) {
            related.extend(d.into_iter().chain(a));
        } else if is_copy(instruction) {
            let mut connected = Vec::new();
            reads(instruction, |register| connected.push(register));
            writes(instruction, |register| connected.push(register));
            copies.push(connected);
        }
    }
    loop {
        let before = related.len();
        for connected in &copies {
            if connected.iter().any(|register| related.contains(register)) {
                related.extend(connected);
            }
        }
        if related.len() == before {
            return related;
        }
    }
}

fn is_copy(instruction: &Instruction) -> bool {
    let Operation::Move(operation) = instruction.operation else { return false };
    matches!(operation, Move::Copy(_) | Move::CopyVector(_))
}

/// The registers of D and A.
fn product_registers(instruction: &Instruction) -> Option<(Vec<RegisterId>, Vec<RegisterId>)> {
    let Operation::Matrix(Matrix::Warpgroup(Warpgroup::Multiply(multiply))) = instruction.operation
    else {
        return None;
    };
    let [d, a, ..] = &instruction.operands[..] else { return None };
    let registers = |operand: &Operand| {
        let mut registers = Vec::new();
        operand_reads(operand, &mut |register| registers.push(register));
        registers
    };
    let a = if multiply.source == Source::Registers { registers(a) } else { Vec::new() };
    Some((registers(d), a))
}

fn step(instruction: &Instruction, index: &HashMap<RegisterId, usize>) -> Option<Step> {
    let known = |registers: Vec<RegisterId>| -> Vec<usize> {
        registers.iter().filter_map(|register| index.get(register).copied()).collect()
    };
    if let Operation::Matrix(Matrix::Warpgroup(operation)) = instruction.operation {
        return match operation {
            Warpgroup::Multiply(multiply) => {
                let (d, a) = product_registers(instruction)?;
                let columns = multiply.columns.into();
                let shape = ProductShape { columns, length: multiply.length() };
                Some(Step::Multiply { shape, d: known(d), a: known(a) })
            }
            Warpgroup::Fence => Some(Step::Fence),
            Warpgroup::CommitGroup => Some(Step::Commit),
            Warpgroup::WaitGroup => {
                let Some(Operand::Immediate(pending)) = instruction.operands.first() else {
                    return None;
                };
                Some(Step::Wait(u8::try_from(pending.bits()).unwrap_or(OLDEST)))
            }
        };
    }
    let (mut from, mut to) = (Vec::new(), Vec::new());
    reads(instruction, |register| from.push(register));
    writes(instruction, |register| to.push(register));
    let (from, to) = (known(from), known(to));
    if from.is_empty() && to.is_empty() {
        return None;
    }
    Some(if is_copy(instruction) {
        Step::Copy { to, from }
    } else {
        Step::Other { reads: from, writes: to }
    })
}
