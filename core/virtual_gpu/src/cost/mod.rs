//! Counters of a launch, in total, by PTX line and by source line, and the modelled time on a device.
//! `docs/counters.md` explains both.

mod access;
mod cache;
mod class;
mod counts;
pub mod expansion;
mod kind;
mod metric;
mod sample;
pub mod time;
pub(crate) mod trace;
mod work;

pub(crate) use access::{Direction, Request, Touched, shared_wavefronts};
pub(crate) use cache::{CacheAccess, Caches, SectorCache};
pub use cache::{CacheSizes, CacheTraffic};
pub use class::InstructionClass;
pub(crate) use class::class;
pub use counts::Counts;
pub use kind::Kind;
pub(crate) use kind::kind;
pub use metric::{Metric, metric, metrics};
pub use sample::{BlockSelection, BlocksRun};
pub(crate) use trace::{Step, TracedAccess, TracedBlock, TracedPhase, TracedWarp};
pub use trace::{Trace, TraceUse};

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lower::Program;
use super::module::{Module, SourceLine};
use lightbench_units::Bytes;

/// Floating-point operations by the format of their result; a multiply-add counts as two. Tensor cores are not
/// included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlopCounts {
    /// f16 and bf16.
    pub half: u64,
    /// f32.
    pub single: u64,
    /// f64.
    pub double: u64,
}

/// A lower and an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Lower bound.
    pub least: Bytes,
    /// Upper bound.
    pub most: Bytes,
}

/// All counters of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// All instructions together.
    pub total: Counts,
    /// By class of instruction.
    pub classes: BTreeMap<InstructionClass, Counts>,
    /// By PTX line.
    pub ptx_lines: BTreeMap<u32, Counts>,
    /// By source line, in the innermost inlined function; columns are zero.
    pub source_lines: BTreeMap<SourceLine, Counts>,
    /// Warp instructions by kind.
    pub kinds: BTreeMap<Kind, u64>,
    pub flops: FlopCounts,
    /// Bytes of the distinct sectors of global memory that were read: the compulsory traffic of any cache.
    pub compulsory_read_bytes: u64,
    /// Bytes of the distinct sectors of global memory that were written.
    pub compulsory_written_bytes: u64,
    /// Traffic of the caches, if the launch requested it.
    pub caches: Option<CacheTraffic>,
    /// Recorded steps of some blocks, if the launch requested them.
    pub trace: Option<Arc<Trace>>,
    /// The number of blocks that were counted. The counters are not scaled; [`BlocksRun::scaled`] does that.
    pub blocks: BlocksRun,
}

impl Counters {
    /// Sums the counts of all operations.
    pub(crate) fn gather(module: &Module, program: &Program, counts: &[Counts]) -> Self {
        let mut all = Self::default();
        for (pc, counts) in counts.iter().enumerate() {
            let Some(op) = program.ops.get(pc) else { break };
            if counts.warp_instructions == 0 {
                continue;
            }
            let mut counts = *counts;
            work::add_work(&mut counts, op.code);
            let counts = &counts;
            all.total.add(counts);
            all.classes.entry(class(op.code)).or_default().add(counts);
            *all.kinds.entry(kind(op.code)).or_default() += counts.warp_instructions;
            let (place, line) = program.place(module, pc as u32);
            all.ptx_lines.entry(place.line).or_default().add(counts);
            if let Some(line) = line.filter(|line| line.line > 0) {
                let line = SourceLine { column: 0, ..line };
                all.source_lines.entry(line).or_default().add(counts);
            }
        }
        all.flops = all.total.flops();
        all
    }

    /// Bytes read from DRAM: every sector once, or again for each request.
    #[must_use]
    pub const fn dram_read(&self) -> Interval {
        let sectors = self.total.global_load_sectors + self.total.atomic_sectors;
        Interval { least: Bytes(self.compulsory_read_bytes), most: Bytes(32 * sectors) }
    }

    /// Bytes written to DRAM: every sector once, or again for each request. Dirty sectors in L2 are not written at
    /// the end of the kernel, so that Nsight Compute may show less than the lower bound.
    #[must_use]
    pub const fn dram_written(&self) -> Interval {
        let sectors = self.total.global_store_sectors + self.total.atomic_sectors;
        Interval { least: Bytes(self.compulsory_written_bytes), most: Bytes(32 * sectors) }
    }
}

/// Multiply-adds of tensor cores that the virtual GPU computes in the time of a step.
pub(crate) const MULTIPLY_ADDS_PER_STEP: u64 = 64;

impl Counts {
    /// Steps of a launch that computes the products of tensor cores: warp instructions, and the steps of products.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.warp_instructions + self.product_steps()
    }

    /// The steps that stand for the products of tensor cores.
    #[must_use]
    pub const fn product_steps(&self) -> u64 {
        self.tensor_multiply_adds() / MULTIPLY_ADDS_PER_STEP
    }

    /// Multiply-adds of tensor cores, of all types.
    #[must_use]
    pub const fn tensor_multiply_adds(&self) -> u64 {
        self.tensor_f16_multiply_adds
            + self.tensor_bf16_multiply_adds
            + self.tensor_tf32_multiply_adds
            + self.tensor_f64_multiply_adds
            + self.tensor_f8_multiply_adds
            + self.tensor_int8_multiply_adds
            + self.tensor_int4_multiply_adds
            + self.tensor_bit_multiply_adds
    }

    /// Floating-point operations of all types.
    #[must_use]
    pub const fn flops(&self) -> FlopCounts {
        FlopCounts {
            half: self.half_adds
                + self.half_multiplies
                + 2 * self.half_multiply_adds
                + self.bfloat_adds
                + self.bfloat_multiplies
                + 2 * self.bfloat_multiply_adds,
            single: self.single_adds
                + self.single_multiplies
                + 2 * self.single_multiply_adds
                + self.single_divisions
                + self.special_operations,
            double: self.double_adds
                + self.double_multiplies
                + 2 * self.double_multiply_adds
                + self.double_divisions,
        }
    }
}
