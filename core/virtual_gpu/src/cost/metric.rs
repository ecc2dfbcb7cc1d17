//! What each counter is, as data: for a table, for `explain`, for the window.

use super::Counts;
use super::counts::COUNTED;

/// One counter, or one ratio of counters.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// What it counts, or `1` for a plain ratio.
    pub unit: &'static str,
    /// The metric of Nsight Compute that means the same, but for what `meaning` says.
    pub nsight: Option<&'static str>,
    /// What it is, in one or two sentences.
    pub meaning: &'static str,
    /// Its value, if there is anything to divide by.
    pub value: fn(&Counts) -> Option<f64>,
}

/// Ratios of counters.
const DERIVED: &[Metric] = &[
    Metric {
        name: "active_lanes",
        unit: "lanes",
        nsight: Some("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
        meaning: "Lanes whose predicate holds, in the mean over instructions.",
        value: Counts::active_lanes,
    },
    Metric {
        name: "lanes_present",
        unit: "lanes",
        nsight: Some("smsp__thread_inst_executed_per_inst_executed.ratio"),
        meaning: "Lanes that are at an instruction, predicate or not, in the mean over instructions.",
        value: |counts| ratio(counts.active_threads, counts.warp_instructions),
    },
    Metric {
        name: "load_efficiency",
        unit: "1",
        nsight: Some("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"),
        meaning: "Different bytes that requests asked for, among those that their sectors hold.",
        value: Counts::load_efficiency,
    },
    Metric {
        name: "store_efficiency",
        unit: "1",
        nsight: Some("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"),
        meaning: "Different bytes that requests stored, among those that their sectors hold.",
        value: Counts::store_efficiency,
    },
    Metric {
        name: "load_sectors_per_request",
        unit: "sectors",
        nsight: Some("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
        meaning: "Sectors of a load of global memory: 4 for 32 words side by side, 32 at worst.",
        value: |counts| ratio(counts.global_load_sectors, counts.global_load_requests),
    },
    Metric {
        name: "store_sectors_per_request",
        unit: "sectors",
        nsight: Some("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"),
        meaning: "Sectors of a store to global memory: 4 for 32 words side by side, 32 at worst.",
        value: |counts| ratio(counts.global_store_sectors, counts.global_store_requests),
    },
    Metric {
        name: "load_lines_per_request",
        unit: "lines",
        nsight: None,
        meaning: "Lines of 128 bytes of a load of global memory.",
        value: |counts| ratio(counts.global_load_lines, counts.global_load_requests),
    },
    Metric {
        name: "store_lines_per_request",
        unit: "lines",
        nsight: None,
        meaning: "Lines of 128 bytes of a store to global memory.",
        value: |counts| ratio(counts.global_store_lines, counts.global_store_requests),
    },
    Metric {
        name: "shared_wavefronts_per_request",
        unit: "wavefronts",
        nsight: None,
        meaning: "Passes over shared memory of one access: 1 without conflicts up to 4 bytes a lane.",
        value: |counts| ratio(counts.shared_wavefronts, counts.shared_requests),
    },
    Metric {
        name: "atomic_lanes_at_one_address",
        unit: "lanes",
        nsight: None,
        meaning: "The most lanes at one address of an atomic request, in the mean over requests.",
        value: |counts| ratio(counts.atomic_passes, counts.atomic_requests),
    },
];

/// All metrics: what is counted, then ratios.
pub fn metrics() -> impl Iterator<Item = &'static Metric> {
    COUNTED.iter().chain(DERIVED)
}

/// The metric of a name, ours or that of Nsight Compute.
#[must_use]
pub fn metric(name: &str) -> Option<&'static Metric> {
    metrics().find(|metric| metric.name == name || metric.nsight == Some(name))
}

impl Counts {
    /// Different bytes that loads asked for among those that their sectors hold, from 0 to 1
    /// (`smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`).
    ///
    /// Nsight Compute's rule for access patterns prints the same in bytes of 32: 26.4 for a warp that reads one word
    /// together and 32 side by side, 25.6 for 32 words that are not aligned.
    #[must_use]
    pub fn load_efficiency(&self) -> Option<f64> {
        ratio(self.global_load_distinct_bytes, 32 * self.global_load_sectors)
    }

    /// The same of stores.
    #[must_use]
    pub fn store_efficiency(&self) -> Option<f64> {
        ratio(self.global_store_distinct_bytes, 32 * self.global_store_sectors)
    }

    /// Lanes of 32 whose predicate holds, in the mean.
    #[must_use]
    pub fn active_lanes(&self) -> Option<f64> {
        ratio(self.thread_instructions, self.warp_instructions)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
