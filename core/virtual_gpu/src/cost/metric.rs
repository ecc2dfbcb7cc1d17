//! Descriptions of the counters, as data for tables, for `explain` and for the window.

use super::Counts;
use super::counts::COUNTED;

/// A counter, or a ratio of counters.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub name: &'static str,
    /// The unit, or `1` for a ratio.
    pub unit: &'static str,
    /// The corresponding metric of Nsight Compute; `meaning` states the differences.
    pub nsight: Option<&'static str>,
    /// The definition, in one or two sentences.
    pub meaning: &'static str,
    /// The value; none if the denominator is zero.
    pub value: fn(&Counts) -> Option<f64>,
}

/// Ratios of counters.
const DERIVED: &[Metric] = &[
    Metric {
        name: "active_lanes",
        unit: "lanes",
        nsight: Some("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
        meaning: "The mean number of lanes with a true predicate per warp instruction.",
        value: Counts::active_lanes,
    },
    Metric {
        name: "lanes_present",
        unit: "lanes",
        nsight: Some("smsp__thread_inst_executed_per_inst_executed.ratio"),
        meaning: "The mean number of active lanes per warp instruction, with any predicate.",
        value: |counts| ratio(counts.active_threads, counts.warp_instructions),
    },
    Metric {
        name: "load_efficiency",
        unit: "1",
        nsight: Some("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"),
        meaning: "Distinct bytes requested, as a fraction of the bytes of the sectors.",
        value: Counts::load_efficiency,
    },
    Metric {
        name: "store_efficiency",
        unit: "1",
        nsight: Some("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"),
        meaning: "Distinct bytes stored, as a fraction of the bytes of the sectors.",
        value: Counts::store_efficiency,
    },
    Metric {
        name: "load_sectors_per_request",
        unit: "sectors",
        nsight: Some("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
        meaning: "Sectors per load of global memory: 4 for 32 consecutive words, 32 at worst.",
        value: |counts| ratio(counts.global_load_sectors, counts.global_load_requests),
    },
    Metric {
        name: "store_sectors_per_request",
        unit: "sectors",
        nsight: Some("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"),
        meaning: "Sectors per store to global memory: 4 for 32 consecutive words, 32 at worst.",
        value: |counts| ratio(counts.global_store_sectors, counts.global_store_requests),
    },
    Metric {
        name: "load_lines_per_request",
        unit: "lines",
        nsight: None,
        meaning: "Lines of 128 bytes per load of global memory.",
        value: |counts| ratio(counts.global_load_lines, counts.global_load_requests),
    },
    Metric {
        name: "store_lines_per_request",
        unit: "lines",
        nsight: None,
        meaning: "Lines of 128 bytes per store to global memory.",
        value: |counts| ratio(counts.global_store_lines, counts.global_store_requests),
    },
    Metric {
        name: "shared_wavefronts_per_request",
        unit: "wavefronts",
        nsight: None,
        meaning: "Wavefronts per access of shared memory: 1 without conflicts, up to 4 bytes per lane.",
        value: |counts| ratio(counts.shared_wavefronts, counts.shared_requests),
    },
    Metric {
        name: "atomic_lanes_at_one_address",
        unit: "lanes",
        nsight: None,
        meaning: "The largest number of lanes at one address, mean over atomic requests.",
        value: |counts| ratio(counts.atomic_passes, counts.atomic_requests),
    },
];

/// All metrics: counters first, then ratios.
pub fn metrics() -> impl Iterator<Item = &'static Metric> {
    COUNTED.iter().chain(DERIVED)
}

/// The metric with this name, ours or that of Nsight Compute.
#[must_use]
pub fn metric(name: &str) -> Option<&'static Metric> {
    metrics().find(|metric| metric.name == name || metric.nsight == Some(name))
}

impl Counts {
    /// Distinct bytes that loads request, as a fraction of the bytes of their sectors, from 0 to 1
    /// (`smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`).
    ///
    /// Nsight Compute's rule for access patterns prints the same as bytes of 32: 26.4 for a warp that reads one word
    /// in all lanes and 32 consecutive ones, 25.6 for 32 words that are not aligned.
    #[must_use]
    pub fn load_efficiency(&self) -> Option<f64> {
        ratio(self.global_load_distinct_bytes, 32 * self.global_load_sectors)
    }

    /// Distinct bytes that stores write, as a fraction of the bytes of their sectors, from 0 to 1.
    #[must_use]
    pub fn store_efficiency(&self) -> Option<f64> {
        ratio(self.global_store_distinct_bytes, 32 * self.global_store_sectors)
    }

    /// The mean number of lanes of 32 whose predicate is true.
    #[must_use]
    pub fn active_lanes(&self) -> Option<f64> {
        ratio(self.thread_instructions, self.warp_instructions)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
