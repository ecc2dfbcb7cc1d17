//! The time of every pipe and level by itself.

use super::super::expansion::Expansion;
use super::super::{Counters, Counts, Kind};
use super::{Assumption, Limit, Rates, Spread};
use lightbench_units::{Bytes, Flops, FlopsPerSecond, Seconds};

/// What a launch asks of a device.
pub(super) struct Demand<'a> {
    pub(super) counters: &'a Counters,
    /// Of the whole grid.
    pub(super) counts: &'a Counts,
    pub(super) rates: &'a Rates,
    pub(super) spread: &'a Spread,
    pub(super) expansion: Option<&'a Expansion>,
    /// Of the whole grid, where it is known.
    pub(super) dram: Option<Bytes>,
}

const LANES: f64 = 32.0;

impl Demand<'_> {
    /// The time of every pipe and level whose rate is known; the others are assumptions.
    pub(super) fn times(&self, assumptions: &mut Vec<Assumption>) -> Vec<(Limit, Seconds)> {
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
            (Limit::Integer, self.integer_instructions(), self.rates.integer_lanes),
            (Limit::Special, self.warps(&[Kind::Special]), self.rates.special_lanes),
        ] {
            let time = lanes.map(|lanes| self.cycles(instructions * LANES / lanes));
            add(limit, instructions > 0.0, time);
        }
        let tensor = self.tensor();
        add(Limit::Tensor, tensor.is_none(), tensor);
        let issue = self.rates.issue_per_cycle.map(|rate| self.cycles(self.issued() / rate));
        add(Limit::Issue, true, issue);
        // One pass a cycle through the pipe that loads and stores share.
        let global = self.counts.global_wavefronts as f64;
        add(Limit::GlobalWavefronts, true, Some(self.cycles(global)));
        add(Limit::Shared, true, Some(self.cycles(self.counts.shared_wavefronts as f64)));
        let (queued, served) = self.queue();
        add(Limit::Atomics, queued, served);
        let (l2, dram) = self.traffic();
        add(Limit::L2, l2.0 > 0, self.rates.l2.map(|rate| l2 / rate));
        add(Limit::Dram, dram.0 > 0, self.rates.dram.map(|rate| dram / rate));
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

    /// Warp instructions of some kinds, for the whole grid.
    fn warps(&self, kinds: &[Kind]) -> f64 {
        let counted = kinds.iter().filter_map(|kind| self.counters.kinds.get(kind)).sum::<u64>();
        counted as f64 / self.counters.blocks.fraction()
    }

    /// Warp instructions that the integer pipe certainly executes.
    fn integer_instructions(&self) -> f64 {
        self.warps(&[Kind::Integer32, Kind::Integer64, Kind::Logic32, Kind::Logic64])
    }

    /// A pipe, its warp instructions, the FLOP that one lane's rate counts for each, and the rate.
    fn float_pipes(&self) -> [(Limit, f64, f64, Option<FlopsPerSecond>); 3] {
        let single = self.warps(&[Kind::Single]) + 2.0 * self.warps(&[Kind::SinglePair]);
        [
            // The rate counts a multiply-add as two, and any other instruction takes as long.
            (Limit::Single, single, 2.0, self.rates.single),
            (Limit::Double, self.warps(&[Kind::Double]), 2.0, self.rates.double),
            // That of halves counts pairs.
            (Limit::Half, self.warps(&[Kind::Half]), 4.0, self.rates.half),
        ]
    }

    fn float_time(&self, flop: f64, device: FlopsPerSecond) -> Seconds {
        let one = device * (1.0 / f64::from(self.rates.multiprocessors));
        Flops(self.spread.of_busiest(flop)) / one
    }

    /// Cycles of all multiprocessors together, as the time of the busiest.
    fn cycles(&self, total: f64) -> Seconds {
        self.rates.clock.time_of(self.spread.of_busiest(total))
    }

    /// Whether atomics queue, and how long the longest queue takes: that for a place, or that for a sum of floats; none
    /// where a rate is not known.
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

    /// What the place with most has in the whole grid, at least. Of many places that are changed alike, the one with most
    /// in a sample has more than its share: two standard deviations of a count are left out, unless it has half of all.
    fn in_whole_grid(&self, counted: u64, all: u64) -> f64 {
        let chance = if self.counters.blocks.is_sample() && 2 * counted < all { 2.0 } else { 0.0 };
        let counted = counted as f64;
        (counted - chance * counted.sqrt()).max(0.0) / self.counters.blocks.fraction()
    }

    fn issued(&self) -> f64 {
        match self.expansion {
            // The low end of what the fit says of unseen kernels, so that it remains a bound for most.
            Some(expansion) => {
                expansion.machine_instructions(&self.counters.kinds) * expansion.band.0
                    / self.counters.blocks.fraction()
            }
            None => self.counts.warp_instructions as f64,
        }
    }

    /// Tensor cores; none if a rate is not known.
    fn tensor(&self) -> Option<Seconds> {
        let (counts, rates) = (self.counts, &self.rates.tensor);
        let work = [
            (counts.tensor_f16_multiply_adds, rates.f16),
            (counts.tensor_bf16_multiply_adds, rates.bf16),
            (counts.tensor_tf32_multiply_adds, rates.tf32),
            (counts.tensor_f64_multiply_adds, rates.f64),
            (counts.tensor_f8_multiply_adds, rates.f8),
            (counts.tensor_int8_multiply_adds, rates.int8),
            (counts.tensor_int4_multiply_adds, None),
            (counts.tensor_bit_multiply_adds, None),
        ];
        let mut time = Seconds(0.0);
        for (count, rate) in work.into_iter().filter(|(count, _)| *count > 0) {
            time = time + self.float_time(2.0 * count as f64, rate?);
        }
        Some(time)
    }

    /// Bytes between L1 and L2, and between L2 and memory, at least.
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
