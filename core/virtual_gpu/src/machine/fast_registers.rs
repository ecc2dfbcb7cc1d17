//! Fast path of frequent register operations: a small interpreter loop whose state the host's compiler keeps in
//! registers, which is impossible in the main loop of `step`.
//!
//! The run ends before an operation that needs more than that (an uninitialised operand, an address that must be
//! checked lane by lane); `step` then executes that operation.

use multiversion::multiversion;
use multiversion::target::selected_target;

use super::super::cost::Counts;
use super::super::lower::code::{Op, Slot};
use super::super::lower::hot_op::HotOp;
use super::super::semantics::float::{self, SingleMode};
use super::super::semantics::{bits, compare, integer};
use super::Races;
use super::compute::{Fused, modes};
use super::lane_offsets::HALF;
use super::lanes::{self, Pool, each};
use super::run::Worker;
use super::shared::{SharedLayout, SharedMemory};
use super::warp::{LANES, Register, Split};

/// Bytes that one wavefront over the banks of shared memory transfers.
const BANKS: u32 = 128;

/// The state that a run of operations uses.
struct RegisterRun<'r> {
    words: &'r mut [Register<u32>],
    doubles: &'r mut [Register<u64>],
    predicates: &'r mut [u32],
    predicates_undefined: &'r mut [u32],
    pool: &'r Pool,
    /// The result slots of loads.
    lists: &'r [Slot],
    /// Counters of every operation; empty if nothing is counted.
    counts: &'r mut [Counts],
    mask: u32,
    /// Whether the warp has no other split that could wait at a reconvergence point.
    alone: bool,
    /// Shared memory, if its words can be read on the fast path.
    shared: Option<SharedWords<'r>>,
}

#[derive(Clone, Copy)]
struct SharedWords<'r> {
    layout: &'r SharedLayout,
    memory: &'r SharedMemory,
    /// Whether uninitialised values are checked.
    checked: bool,
}

/// The operations that a run may execute.
#[derive(Clone, Copy)]
struct OpWindow<'r> {
    ops: &'r [Op],
    hot: &'r [HotOp],
    /// The run ends before this operation, or after `max_steps` operations.
    stop_at: u32,
    max_steps: u32,
}

/// The steps of a run and the operation after it.
struct RunProgress {
    steps: u32,
    pc: u32,
}

/// Executes operations of all lanes up to the first one that is not on the fast path.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn execute_all(run: RegisterRun<'_>, text: OpWindow<'_>, pc: u32) -> RunProgress {
    let fused = const { Fused::from_features(selected_target!()) };
    // A constant mask lets the compiler remove the selects; that is worth a second copy of the code.
    execute(RegisterRun { mask: u32::MAX, ..run }, text, pc, fused)
}

/// Executes operations of some lanes.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn execute_some(run: RegisterRun<'_>, text: OpWindow<'_>, pc: u32) -> RunProgress {
    let fused = const { Fused::from_features(selected_target!()) };
    execute(run, text, pc, fused)
}

#[inline(always)]
fn execute(mut run: RegisterRun<'_>, text: OpWindow<'_>, start: u32, fused: Fused) -> RunProgress {
    let (mut left, mut pc) = (text.max_steps, start);
    'runs: while pc < text.stop_at {
        let end = text.stop_at.min(pc.saturating_add(left)) as usize;
        let end = end.min(text.ops.len()).min(text.hot.len());
        let from = pc as usize;
        let (Some(ops), Some(hot)) = (text.ops.get(from..end), text.hot.get(from..end)) else {
            break;
        };
        if ops.is_empty() {
            break;
        }
        for (op, hot) in ops.iter().zip(hot) {
            if let HotOp::Branch(target) = *hot {
                let Some(taken) = run.branch(op) else { break 'runs };
                run.count(pc, *hot, taken);
                (left, pc) = (left - 1, if taken == 0 { pc + 1 } else { target });
                continue 'runs;
            }
            if run.step(op, *hot, fused).is_none() {
                break 'runs;
            }
            run.count(pc, *hot, run.mask);
            (left, pc) = (left - 1, pc + 1);
        }
    }
    RunProgress { steps: text.max_steps - left, pc }
}

impl Worker<'_, '_> {
    /// Whether an operation may begin a run.
    #[inline(always)]
    pub(super) fn may_run(&self, hot: HotOp) -> bool {
        match hot {
            HotOp::Other | HotOp::Branch(_) => false,
            // Race checks record readers, so that the load must use the other path.
            HotOp::LoadShared => self.launch.checks.races == Races::Ignored,
            HotOp::MultiplyAdd32
            | HotOp::AddFloat32
            | HotOp::SubtractFloat32
            | HotOp::MultiplyFloat32
            | HotOp::Add32
            | HotOp::Add64
            | HotOp::MultiplyAdd32Low
            | HotOp::MultiplyWideSigned
            | HotOp::MultiplyWideUnsigned
            | HotOp::And32
            | HotOp::Or32
            | HotOp::Xor32
            | HotOp::CompareSigned(_)
            | HotOp::CompareUnsigned(_)
            | HotOp::Copy32
            | HotOp::Copy64 => true,
        }
    }

    /// Runs frequent operations of a split up to the given position, at most `most`; returns their number.
    #[inline(always)]
    pub(super) fn run_fast_registers(&mut self, split: &mut Split, stop_at: u32, most: i64) -> u32 {
        let program = self.launch.program;
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let text = OpWindow { ops: &program.ops, hot: &program.hot, stop_at, max_steps: most };
        let frame = &split.frame;
        let registers = &mut self.warp.registers;
        let checks = self.launch.checks;
        let is_plain = split.mask == u32::MAX
            && checks.races == Races::Ignored
            && self.block.copies.is_empty();
        let run = RegisterRun {
            words: &mut registers.words[frame.words as usize..],
            doubles: &mut registers.doubles[frame.doubles as usize..],
            predicates: &mut registers.predicates[frame.predicates as usize..],
            predicates_undefined: &mut registers.predicates_undefined[frame.predicates as usize..],
            pool: &self.launch.pool,
            lists: &program.lists,
            counts: &mut self.launch.counts,
            mask: split.mask,
            alone: self.warp.splits.is_empty(),
            shared: is_plain.then_some(SharedWords {
                layout: &self.launch.shared,
                memory: &self.block.shared,
                checked: checks.uninitialized,
            }),
        };
        let ran = if split.mask == u32::MAX {
            execute_all(run, text, split.pc)
        } else {
            execute_some(run, text, split.pc)
        };
        split.pc = ran.pc;
        ran.steps
    }
}

/// Some if the operation was executed.
type Done = Option<()>;

impl RegisterRun<'_> {
    #[inline(always)]
    fn step(&mut self, op: &Op, hot: HotOp, fused: Fused) -> Done {
        const MODE: SingleMode = SingleMode::DEFAULT;
        match hot {
            HotOp::MultiplyAdd32 if fused == Fused::Hardware => {
                self.words_3(op, float::fused_multiply_add_f32)
            }
            HotOp::MultiplyAdd32 => {
                self.words_3(op, |a, b, c| float::multiply_add_f32(a, b, c, MODE))
            }
            HotOp::AddFloat32 => self.words_2(op, |a, b| float::add_f32(a, b, MODE)),
            HotOp::SubtractFloat32 => self.words_2(op, |a, b| float::subtract_f32(a, b, MODE)),
            HotOp::MultiplyFloat32 => self.words_2(op, |a, b| float::multiply_f32(a, b, MODE)),
            HotOp::Add32 => self.words_2(op, integer::add::<u32>),
            HotOp::MultiplyAdd32Low => {
                self.words_3(op, |a, b, c| integer::multiply_add(a, b, c, integer::Part::Low))
            }
            HotOp::And32 => self.words_2(op, bits::and),
            HotOp::Or32 => self.words_2(op, bits::or),
            HotOp::Xor32 => self.words_2(op, bits::xor),
            HotOp::Add64 => {
                let (a, b) = (self.double(op.a)?, self.double(op.b)?);
                self.written(a.undefined | b.undefined)?;
                let values = each(|lane| integer::add(a.values[lane], b.values[lane]));
                self.set_double(op.d, values)
            }
            HotOp::MultiplyWideSigned => {
                self.widening(op, |a, b| integer::multiply_wide(a as i32, b as i32) as u64)
            }
            HotOp::MultiplyWideUnsigned => self.widening(op, integer::multiply_wide),
            HotOp::Copy32 => {
                let a = self.word(op.a)?;
                self.written(a.undefined)?;
                let values = a.values;
                self.set_word(op.d, values)
            }
            HotOp::Copy64 => {
                let a = self.double(op.a)?;
                self.written(a.undefined)?;
                let values = a.values;
                self.set_double(op.d, values)
            }
            HotOp::CompareSigned(order) => {
                let order = modes::order(order);
                self.test(op, |a, b| compare::compare(a as i32, b as i32, order))
            }
            HotOp::CompareUnsigned(order) => {
                let order = modes::order(order);
                self.test(op, |a, b| compare::compare(a, b, order))
            }
            HotOp::LoadShared => self.load_shared(op),
            HotOp::Branch(_) | HotOp::Other => None,
        }
    }

    #[inline(always)]
    fn count(&mut self, pc: u32, hot: HotOp, executing: u32) {
        let Some(counts) = self.counts.get_mut(pc as usize) else { return };
        counts.warp_instructions += 1;
        counts.thread_instructions += u64::from(executing.count_ones());
        counts.active_threads += u64::from(self.mask.count_ones());
        if hot == HotOp::LoadShared {
            counts.shared_requests += 1;
            counts.shared_wavefronts += 1;
        }
    }

    /// The lanes that take a branch, if all lanes go the same way and meet no other split.
    #[inline(always)]
    fn branch(&self, op: &Op) -> Option<u32> {
        if !self.alone || op.guard.is_pool() {
            return None;
        }
        let index = op.guard.index();
        self.written(*self.predicates_undefined.get(index)?)?;
        let bits = *self.predicates.get(index)?;
        let taken = if op.guard.is_negated() { !bits } else { bits } & self.mask;
        (taken == self.mask || taken == 0).then_some(taken)
    }

    #[inline(always)]
    fn word(&self, slot: Slot) -> Option<&Register<u32>> {
        let bank: &[_] = if slot.is_pool() { &self.pool.words } else { self.words };
        bank.get(slot.index())
    }

    #[inline(always)]
    fn double(&self, slot: Slot) -> Option<&Register<u64>> {
        let bank: &[_] = if slot.is_pool() { &self.pool.doubles } else { self.doubles };
        bank.get(slot.index())
    }

    /// Whether the values of all active lanes are initialised.
    #[inline(always)]
    fn written(&self, undefined: u32) -> Done {
        (undefined & self.mask == 0).then_some(())
    }

    #[inline(always)]
    fn set_word(&mut self, slot: Slot, values: [u32; LANES]) -> Done {
        self.words.get_mut(slot.index())?.set(&values, 0, self.mask);
        Some(())
    }

    #[inline(always)]
    fn set_double(&mut self, slot: Slot, values: [u64; LANES]) -> Done {
        self.doubles.get_mut(slot.index())?.set(&values, 0, self.mask);
        Some(())
    }

    #[inline(always)]
    fn words_2(&mut self, op: &Op, f: impl Fn(u32, u32) -> u32) -> Done {
        let (a, b) = (self.word(op.a)?, self.word(op.b)?);
        self.written(a.undefined | b.undefined)?;
        let values = each(|lane| f(a.values[lane], b.values[lane]));
        self.set_word(op.d, values)
    }

    #[inline(always)]
    fn words_3(&mut self, op: &Op, f: impl Fn(u32, u32, u32) -> u32) -> Done {
        let (a, b, c) = (self.word(op.a)?, self.word(op.b)?, self.word(op.c)?);
        self.written(a.undefined | b.undefined | c.undefined)?;
        let values = each(|lane| f(a.values[lane], b.values[lane], c.values[lane]));
        self.set_word(op.d, values)
    }

    #[inline(always)]
    fn widening(&mut self, op: &Op, f: impl Fn(u32, u32) -> u64) -> Done {
        let (a, b) = (self.word(op.a)?, self.word(op.b)?);
        self.written(a.undefined | b.undefined)?;
        let values = each(|lane| f(a.values[lane], b.values[lane]));
        self.set_double(op.d, values)
    }

    #[inline(always)]
    fn test(&mut self, op: &Op, f: impl Fn(u32, u32) -> bool) -> Done {
        let (a, b) = (self.word(op.a)?, self.word(op.b)?);
        self.written(a.undefined | b.undefined)?;
        let holds = lanes::bits(|lane| f(a.values[lane], b.values[lane]));
        let predicate = self.predicates.get_mut(op.d.index())?;
        *predicate = *predicate & !self.mask | holds & self.mask;
        *self.predicates_undefined.get_mut(op.d.index())? &= !self.mask;
        Some(())
    }

    /// Loads where each half of the warp reads one word or sixteen consecutive words, all within one wavefront.
    #[inline(always)]
    fn load_shared(&mut self, op: &Op) -> Done {
        let shared = self.shared?;
        let strides =
            if op.a.is_pool() { [Some(0); 2] } else { self.words.get_mut(op.a.index())?.strides() };
        let [Some(low @ (0 | 4)), Some(high @ (0 | 4))] = strides else { return None };
        let base = self.word(op.a)?;
        self.written(base.undefined)?;
        let immediate = op.immediate as u32;
        let firsts = [0, HALF].map(|lane| base.values[lane].wrapping_add(immediate));
        let (tag, allowed) = shared.layout.variable_of(firsts[0])?;
        let [low_start, high_start] = firsts.map(|first| first.wrapping_sub(tag));
        if low_start.max(high_start) >= allowed.end || (low_start | high_start) % 4 != 0 {
            return None;
        }
        let last = (low_start + low * (HALF as u32 - 1)).max(high_start + high * (HALF as u32 - 1));
        let (start, end) = (low_start.min(high_start), last + 4);
        if start < allowed.start || end > allowed.end || end - start > BANKS {
            return None;
        }
        if shared.checked && !shared.memory.is_range_initialised(start as usize, end as usize) {
            return None;
        }
        let words = &shared.memory.words;
        let slot = self.lists.get(op.list.0 as usize)?;
        let register = self.words.get_mut(slot.index())?;
        let (low_half, high_half) = register.replaced().split_at_mut(HALF);
        for (values, start, stride) in [(low_half, low_start, low), (high_half, high_start, high)] {
            let first = start as usize / 4;
            if stride == 0 {
                values.fill(words[first]);
            } else {
                values.copy_from_slice(&words[first..first + HALF]);
            }
        }
        Some(())
    }
}
