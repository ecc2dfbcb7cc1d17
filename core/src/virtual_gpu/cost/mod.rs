//! What a launch did, counted: in total, by PTX line and by source line, under the names that Nsight Compute has.

mod access;
mod class;

pub(crate) use access::{SharedRequest, line_counts, shared_wavefronts};
pub use class::InstructionClass;
pub(crate) use class::{class, flops};

use std::collections::BTreeMap;

use super::lower::Program;
use super::module::{Module, SourceLine};

/// Counts of one instruction, or of many together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Warp instructions (`smsp__inst_executed`), at PTX level.
    pub warp_instructions: u64,
    /// Thread instructions (`smsp__thread_inst_executed_pred_on`), at PTX level.
    pub thread_instructions: u64,
    /// Branches whose lanes went different ways (`smsp__sass_branch_targets_threads_divergent`).
    pub divergent_branches: u64,
    /// Loads and stores of global memory by a warp (`l1tex__t_requests_pipe_lsu_mem_global_op_ld`, `_st`).
    pub global_load_requests: u64,
    /// The same of stores.
    pub global_store_requests: u64,
    /// Sectors of 32 bytes that loads touched (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld`).
    pub global_load_sectors: u64,
    /// The same of stores.
    pub global_store_sectors: u64,
    /// Lines of 128 bytes that loads touched.
    pub global_load_lines: u64,
    /// The same of stores.
    pub global_store_lines: u64,
    /// Bytes that lanes asked for, each counted as often as a lane asked.
    pub global_load_bytes: u64,
    /// The same of stores.
    pub global_store_bytes: u64,
    /// Passes over shared memory (`l1tex__data_pipe_lsu_wavefronts_mem_shared`).
    pub shared_wavefronts: u64,
    /// Passes beyond those that the bytes need (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared`).
    pub shared_bank_conflicts: u64,
    /// Loads and stores of shared memory by a warp.
    pub shared_requests: u64,
    /// Read-modify-writes by threads.
    pub atomics: u64,
    /// Arrivals of warps at barriers of the block.
    pub barriers: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.divergent_branches += other.divergent_branches;
        self.global_load_requests += other.global_load_requests;
        self.global_store_requests += other.global_store_requests;
        self.global_load_sectors += other.global_load_sectors;
        self.global_store_sectors += other.global_store_sectors;
        self.global_load_lines += other.global_load_lines;
        self.global_store_lines += other.global_store_lines;
        self.global_load_bytes += other.global_load_bytes;
        self.global_store_bytes += other.global_store_bytes;
        self.shared_wavefronts += other.shared_wavefronts;
        self.shared_bank_conflicts += other.shared_bank_conflicts;
        self.shared_requests += other.shared_requests;
        self.atomics += other.atomics;
        self.barriers += other.barriers;
    }

    /// Useful bytes of loads among those that their sectors hold, from 0 to 1 and above where lanes share bytes.
    #[must_use]
    pub fn load_efficiency(&self) -> Option<f64> {
        ratio(self.global_load_bytes, 32 * self.global_load_sectors)
    }

    /// The same of stores.
    #[must_use]
    pub fn store_efficiency(&self) -> Option<f64> {
        ratio(self.global_store_bytes, 32 * self.global_store_sectors)
    }

    /// Active lanes of 32 in the mean.
    #[must_use]
    pub fn active_lanes(&self) -> Option<f64> {
        ratio(self.thread_instructions, self.warp_instructions)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Floating-point operations by the format of their result; a multiply-add is two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlopCounts {
    /// f16 and bf16.
    pub half: u64,
    /// f32.
    pub single: u64,
    /// f64.
    pub double: u64,
}

/// All counters of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Of all instructions.
    pub total: Counts,
    /// By what instructions do.
    pub classes: BTreeMap<InstructionClass, Counts>,
    /// By line of the PTX.
    pub ptx_lines: BTreeMap<u32, Counts>,
    /// By line of the source, innermost; columns are zero.
    pub source_lines: BTreeMap<SourceLine, Counts>,
    /// Floating-point operations.
    pub flops: FlopCounts,
    /// Bytes of distinct sectors of global memory that were read: what no cache can spare.
    pub compulsory_read_bytes: u64,
    /// The same of written ones.
    pub compulsory_written_bytes: u64,
}

impl Counters {
    /// Sums up the counts of every operation.
    pub(crate) fn gather(module: &Module, program: &Program, counts: &[Counts]) -> Self {
        let mut all = Self::default();
        for (pc, counts) in counts.iter().enumerate() {
            if counts.warp_instructions == 0 {
                continue;
            }
            let op = &program.ops[pc];
            all.total.add(counts);
            all.classes.entry(class(op.code)).or_default().add(counts);
            let (place, line) = program.place(module, pc as u32);
            all.ptx_lines.entry(place.line).or_default().add(counts);
            if let Some(line) = line.filter(|line| line.line > 0) {
                let line = SourceLine { column: 0, ..line };
                all.source_lines.entry(line).or_default().add(counts);
            }
            let flops = flops(op.code);
            all.flops.half += flops.half * counts.thread_instructions;
            all.flops.single += flops.single * counts.thread_instructions;
            all.flops.double += flops.double * counts.thread_instructions;
        }
        all
    }
}
