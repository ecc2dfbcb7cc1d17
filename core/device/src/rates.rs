//! The rates of a sheet for modelled time; undocumented rates stay unknown.

use lightbench_units::{Bytes, Seconds};
use lightbench_virtual_gpu::TraceUse;
use lightbench_virtual_gpu::cost::CacheSizes;
use lightbench_virtual_gpu::cost::time::{Latencies, Rates, TensorRates};

use super::peaks::Pipe;
use super::sheet::DeviceSheet;
use super::timing::Residence;

/// Time of an empty kernel: an assumption, because no document states it. An H200 takes 0.93 µs by the driver's time
/// stamps.
pub const MODELLED_LAUNCH: Seconds = Seconds(0.9e-6);

/// The same by events, including the first fetch of the kernel's code.
const FIRST_LAUNCH: Seconds = Seconds(1.6e-6);

impl DeviceSheet {
    /// The rates; `None` if the multiprocessors or their clock are unknown.
    ///
    /// The clock is the highest, as a bound requires. Sheets do not state the rate of L2. No rate of integer
    /// instructions is given, because no documented one is a bound: additions run on two pipes together as fast as
    /// instructions are issued (128 lanes of compute capability 8.9), one machine instruction performs two of PTX
    /// (additions and logic of three operands), and values shared by a warp have a separate pipe.
    #[must_use]
    pub fn rates(&self) -> Option<Rates> {
        let peak = |pipe| self.peaks.get(pipe);
        Some(Rates {
            multiprocessors: self.sms.get()?,
            // One warp instruction in each part.
            issue_per_cycle: self.capability.sub_partitions_per_sm.get().map(f64::from),
            clock: self.boost_clock.get()?,
            single: peak(Pipe::Fp32),
            double: peak(Pipe::Fp64),
            half: peak(Pipe::Fp16),
            integer_lanes: None,
            special_lanes: self.capability.special_function_lanes_per_sm.get().map(f64::from),
            tensor: TensorRates {
                f16: peak(Pipe::TensorFp16),
                bf16: peak(Pipe::TensorBf16),
                tf32: peak(Pipe::TensorTf32),
                f64: peak(Pipe::TensorFp64),
                f8: peak(Pipe::TensorFp8),
                int8: peak(Pipe::TensorInt8),
            },
            atomics_per_cycle: self.capability.atomics_per_clock.get(),
            float_atomics_per_cycle: self.capability.float_atomics_per_clock.get(),
            l2: None,
            dram: self.dram_bandwidth.get(),
            launch: MODELLED_LAUNCH,
            first_launch: FIRST_LAUNCH,
            latencies: Latencies::default(),
        })
    }

    /// The recorded accesses of some blocks of a grid, each with its share of the caches.
    #[must_use]
    pub fn trace_use(&self, (blocks, all): (u32, u64), residence: Residence) -> TraceUse {
        let sms = u64::from(self.sms.get().unwrap_or(1).max(1));
        let at_once = all.div_ceil(sms).clamp(1, u64::from(residence.blocks.max(1)));
        let sizes = self.cache_sizes(residence.shared);
        let l1 = sizes.map_or(Bytes(0), |sizes| Bytes(sizes.l1.0 / at_once));
        let l2 = sizes.map_or(Bytes(0), |sizes| Bytes(sizes.l2.0 / all.clamp(1, at_once * sms)));
        TraceUse { blocks, l1, l2 }
    }

    /// The cache sizes that remain with this much shared memory on each multiprocessor; `None` if a size is unknown.
    #[must_use]
    pub fn cache_sizes(&self, shared_per_sm: lightbench_units::Bytes) -> Option<CacheSizes> {
        let whole = self.capability.l1.get()?;
        // The system sets shared memory to the smallest size that is enough.
        let carveouts = self.capability.shared_carveouts.value()?;
        let shared = carveouts.iter().copied().find(|size| *size >= shared_per_sm);
        Some(CacheSizes {
            l1: whole.checked_sub(shared.unwrap_or(shared_per_sm)).unwrap_or_default(),
            l2: self.l2.get()?,
            multiprocessors: self.sms.get()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sheet_with_a_clock_gives_rates() {
        for sheet in DeviceSheet::all().unwrap() {
            let known = sheet.sms.get().is_some() && sheet.boost_clock.get().is_some();
            assert_eq!(sheet.rates().is_some(), known, "{}", sheet.name);
        }
    }

    #[test]
    fn l1_is_what_shared_memory_leaves() {
        let sheet = DeviceSheet::named("h200").unwrap();
        let check = |shared, l1| {
            let sizes = sheet.cache_sizes(Bytes::from_kib(shared)).unwrap();
            assert_eq!(sizes.l1, Bytes::from_kib(l1), "{shared}");
            assert_eq!(sizes.l2, Bytes::from_kib(61_440));
        };
        check(0, 256);
        check(5, 248);
        check(33, 192);
        check(228, 28);
    }
}
