//! The time that the work of a launch needs on each pipe and each level of memory.

use super::super::Trace;
use super::super::expansion::Expansion;
use super::super::trace::{Role, TracedOp};
use super::super::{Counters, Counts, Kind};
use super::pipes::Pipe;
use super::replay::{Load, Multiprocessor};
use super::{Assumption, LaunchShape, LimitingResource, Rates, Spread};
use lightbench_units::{Bytes, Flops, FlopsPerSecond, Seconds};

/// The work of a launch on a device.
pub(super) struct Demand<'a> {
    pub(super) counters: &'a Counters,
    /// Of the whole grid.
    pub(super) counts: &'a Counts,
    pub(super) rates: &'a Rates,
    pub(super) spread: &'a Spread,
    pub(super) expansion: Option<&'a Expansion>,
    /// Of the whole grid, if it is known.
    pub(super) dram: Option<Bytes>,
}

const LANES: f64 = 32.0;

/// The lanes of a narrow pipe of a multiprocessor, if the device sheet does not give them: since Volta half as many
/// for f64 or for special functions, and two to four times as many for f32 and integers.
const FEW_LANES: f64 = 32.0;

impl Demand<'_> {
    /// The time on every pipe and level whose rate is known; unknown rates become assumptions.
    pub(super) fn times(
        &self,
        assumptions: &mut Vec<Assumption>,
    ) -> Vec<(LimitingResource, Seconds)> {
        let mut parts = Vec::new();
        let mut add = |limit, needed: bool, time: Option<Seconds>| match time {
            Some(time) => parts.push((limit, time)),
            None if needed => assumptions.push(Assumption::UnknownRate(limit)),
            None => {}
        };
        for (limit, instructions, flop, rate) in self.float_pipes() {
            let time = rate.map(|rate| self.float_time(instructions * LANES * flop, rate));
            add(limit, instructions > 0.0, time);
        }
        for (limit, instructions, lanes) in [
            (LimitingResource::Integer, self.integer_instructions(), self.rates.integer_lanes),
            (LimitingResource::Special, self.warps(&[Kind::Special]), self.rates.special_lanes),
        ] {
            let time = lanes.map(|lanes| self.cycles(instructions * LANES / lanes));
            add(limit, instructions > 0.0, time);
        }
        let tensor = self.tensor();
        add(LimitingResource::Tensor, tensor.is_none(), tensor);
        let issue = self.rates.issue_per_cycle.map(|rate| self.cycles(self.issued() / rate));
        add(LimitingResource::Issue, true, issue);
        // One wavefront per cycle through the load/store pipe.
        let global = self.counts.global_wavefronts as f64;
        add(LimitingResource::GlobalWavefronts, true, Some(self.cycles(global)));
        add(
            LimitingResource::Shared,
            true,
            Some(self.cycles(self.counts.shared_wavefronts as f64)),
        );
        let (queued, served) = self.queue();
        add(LimitingResource::Atomics, queued, served);
        let (l2, dram) = self.traffic();
        add(LimitingResource::L2, l2.0 > 0, self.rates.l2.map(|rate| l2 / rate));
        add(LimitingResource::Dram, dram.0 > 0, self.rates.dram.map(|rate| dram / rate));
        assumptions.push(match self.expansion {
            Some(expansion) => Assumption::Expanded(expansion.median_error),
            None => Assumption::NotExpanded,
        });
        assumptions.push(match (self.dram, self.counters.caches) {
            (Some(bytes), _) => Assumption::Extrapolated(bytes),
            (None, Some(_)) if !self.counters.blocks.is_sample() => Assumption::ModelledCaches,
            (None, Some(_) | None) => Assumption::CompulsoryTraffic,
        });
        parts
    }

    /// The busiest multiprocessor with its blocks; none if the device sheet does not give the issue rate.
    pub(super) fn multiprocessor(
        &self,
        trace: &Trace,
        shape: &LaunchShape,
    ) -> Option<(Multiprocessor, Load)> {
        let Rates { latencies, clock, .. } = *self.rates;
        let schedulers = self.rates.issue_per_cycle?.max(1.0);
        // Multiprocessors with as much work as the busiest one share the memory bandwidth.
        let busy = (self.spread.blocks / self.spread.busiest).max(1.0);
        let dram = self.rates.dram.map_or(f64::INFINITY, |rate| rate.0 / clock.0);
        let touched = trace.distinct_bytes() * shape.blocks as f64;
        let least = self.counters.dram_read().least + self.counters.dram_written().least;
        let moved = shape.dram.unwrap_or(least).0 as f64;
        let on = Multiprocessor {
            schedulers: schedulers as usize,
            pipes: self.pipes(schedulers),
            tensor: trace.ops.iter().map(|op| self.product_cycles(op, schedulers)).collect(),
            l2: latencies.l2_bytes,
            dram: dram * latencies.dram_part / busy,
            from_memory: if touched > 0.0 { (moved / touched).min(1.0) } else { 1.0 },
            latencies,
        };
        let load = Load {
            at_once: usize::try_from(self.spread.at_once).unwrap_or(usize::MAX),
            blocks: self.spread.busiest as u64,
        };
        Some((on, load))
    }

    /// Cycles that a warp instruction occupies each pipe of a scheduler.
    fn pipes(&self, schedulers: f64) -> [f64; Pipe::COUNT] {
        let Rates { clock, multiprocessors, .. } = *self.rates;
        let cycles = |lanes: f64| LANES * schedulers / lanes;
        let of = |rate: Option<FlopsPerSecond>, flop: f64, lanes: f64| {
            let lanes =
                rate.map_or(lanes, |rate| rate.0 / (flop * f64::from(multiprocessors) * clock.0));
            cycles(lanes)
        };
        let mut pipes = [0.0; Pipe::COUNT];
        pipes[Pipe::Single as usize] = of(self.rates.single, 2.0, 4.0 * FEW_LANES);
        pipes[Pipe::Double as usize] = of(self.rates.double, 2.0, FEW_LANES);
        pipes[Pipe::Half as usize] = of(self.rates.half, 4.0, 4.0 * FEW_LANES);
        pipes[Pipe::Integer as usize] = cycles(self.rates.integer_lanes.unwrap_or(2.0 * FEW_LANES));
        pipes[Pipe::Special as usize] = cycles(self.rates.special_lanes.unwrap_or(FEW_LANES / 2.0));
        // The load/store pipe is one per multiprocessor, and a whole warp passes it at once.
        pipes[Pipe::Memory as usize] = 1.0;
        pipes
    }

    /// Cycles that one product occupies the tensor core of a scheduler.
    fn product_cycles(&self, op: &TracedOp, schedulers: f64) -> f64 {
        let Role::Product { counts, .. } = &op.role else { return 0.0 };
        let flop_of = f64::from(self.rates.multiprocessors) * self.rates.clock.0;
        let mut cycles = 0.0;
        for (count, rate) in self.tensor_work(counts).into_iter().filter(|(count, _)| *count > 0) {
            let Some(rate) = rate else { continue };
            cycles += 2.0 * count as f64 * flop_of / rate.0;
        }
        let cycles = cycles / self.rates.latencies.tensor_part;
        cycles * schedulers / counts.warp_instructions.max(1) as f64
    }

    /// Warp instructions of some kinds, for the whole grid.
    fn warps(&self, kinds: &[Kind]) -> f64 {
        let counted = kinds.iter().filter_map(|kind| self.counters.kinds.get(kind)).sum::<u64>();
        counted as f64 / self.counters.blocks.fraction()
    }

    /// The least number of warp instructions of the integer pipe.
    fn integer_instructions(&self) -> f64 {
        self.warps(&[Kind::Integer32, Kind::Integer64, Kind::Logic32, Kind::Logic64])
    }

    /// Pipe, warp instructions, FLOP per lane and instruction in the unit of the rate, and rate.
    fn float_pipes(&self) -> [(LimitingResource, f64, f64, Option<FlopsPerSecond>); 3] {
        let single = self.warps(&[Kind::Single]) + 2.0 * self.warps(&[Kind::SinglePair]);
        [
            // The rate counts a multiply-add as two, and any other instruction takes as long.
            (LimitingResource::Single, single, 2.0, self.rates.single),
            (LimitingResource::Double, self.warps(&[Kind::Double]), 2.0, self.rates.double),
            // The rate of halves counts pairs.
            (LimitingResource::Half, self.warps(&[Kind::Half]), 4.0, self.rates.half),
        ]
    }

    fn float_time(&self, flop: f64, device: FlopsPerSecond) -> Seconds {
        let one = device * (1.0 / f64::from(self.rates.multiprocessors));
        Flops(self.spread.of_busiest(flop)) / one
    }

    /// The cycles of the busiest multiprocessor, from those of all, as a time.
    fn cycles(&self, total: f64) -> Seconds {
        self.rates.clock.time_of(self.spread.of_busiest(total))
    }

    /// Whether atomics queue, and the time of the longest queue, of an address range or of a floating-point sum; none
    /// if a rate is unknown.
    fn queue(&self) -> (bool, Option<Seconds>) {
        let (total, rates) = (&self.counters.total, self.rates);
        let queues = [
            (total.atomic_place_passes, total.atomic_sectors, rates.atomics_per_cycle),
            (total.atomic_sums_at_one_address, total.atomics, rates.float_atomics_per_cycle),
        ];
        let queues = queues.into_iter().filter(|(counted, ..)| *counted > 0);
        let mut longest = Seconds(0.0);
        for (counted, all, rate) in queues.clone() {
            let Some(rate) = rate else { return (true, None) };
            let time = rates.clock.time_of(self.in_whole_grid(counted, all) / rate);
            longest = if time > longest { time } else { longest };
        }
        (queues.count() > 0, Some(longest))
    }

    /// A lower bound of the count of the busiest address range in the whole grid. Of many ranges with similar counts,
    /// the largest one in a sample has more than its share: two standard deviations are subtracted, unless it has
    /// half of all operations.
    fn in_whole_grid(&self, counted: u64, all: u64) -> f64 {
        let chance = if self.counters.blocks.is_sample() && 2 * counted < all { 2.0 } else { 0.0 };
        let counted = counted as f64;
        (counted - chance * counted.sqrt()).max(0.0) / self.counters.blocks.fraction()
    }

    fn issued(&self) -> f64 {
        match self.expansion {
            // The low end of the error band of the fit, so that the result remains a bound for most kernels.
            Some(expansion) => {
                expansion.machine_instructions(&self.counters.kinds) * expansion.band.0
                    / self.counters.blocks.fraction()
            }
            None => self.counts.warp_instructions as f64,
        }
    }

    /// The time of the tensor cores; none if a rate is unknown.
    fn tensor(&self) -> Option<Seconds> {
        let mut time = Seconds(0.0);
        let work = self.tensor_work(self.counts).into_iter();
        for (count, rate) in work.filter(|(count, _)| *count > 0) {
            time = time + self.float_time(2.0 * count as f64, rate?);
        }
        Some(time)
    }

    /// Multiply-adds of tensor cores, with their rates.
    const fn tensor_work(&self, counts: &Counts) -> [(u64, Option<FlopsPerSecond>); 8] {
        let rates = &self.rates.tensor;
        [
            (counts.tensor_f16_multiply_adds, rates.f16),
            (counts.tensor_bf16_multiply_adds, rates.bf16),
            (counts.tensor_tf32_multiply_adds, rates.tf32),
            (counts.tensor_f64_multiply_adds, rates.f64),
            (counts.tensor_f8_multiply_adds, rates.f8),
            (counts.tensor_int8_multiply_adds, rates.int8),
            (counts.tensor_int4_multiply_adds, None),
            (counts.tensor_bit_multiply_adds, None),
        ]
    }

    /// The least bytes between L1 and L2, and between L2 and DRAM.
    fn traffic(&self) -> (Bytes, Bytes) {
        let least = self.counters.dram_read().least + self.counters.dram_written().least;
        if let Some(bytes) = self.dram {
            return (bytes, bytes);
        }
        match self.counters.caches {
            Some(caches) if !self.counters.blocks.is_sample() => {
                (caches.l2_read + caches.l2_written, caches.dram_read + caches.dram_written)
            }
            Some(_) | None => (least, least),
        }
    }
}
