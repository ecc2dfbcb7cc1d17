//! Every counter, declared once: field, aggregation, unit, the corresponding Nsight Compute metric, and a sentence
//! that defines the counter and states where it differs from that metric.

use serde::{Deserialize, Serialize};

use super::metric::Metric;

/// How the counts of parts are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregation {
    /// They are added.
    Sum,
    /// The largest one is kept.
    Largest,
}

impl Aggregation {
    fn combine(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Sum => a.saturating_add(b),
            Self::Largest => a.max(b),
        }
    }

    /// The estimate for the whole grid from a count of some blocks.
    fn scaled(self, count: u64, (run, all): (u64, u64)) -> u64 {
        match self {
            Self::Sum => {
                let whole = u128::from(count) * u128::from(all) / u128::from(run.max(1));
                u64::try_from(whole).unwrap_or(u64::MAX)
            }
            Self::Largest => count,
        }
    }
}

macro_rules! counters {
    ($($field:ident, $joined:ident, $unit:literal, $nsight:expr, $meaning:literal;)*) => {
        /// Counts of one instruction, or of many together.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        // Records from before a counter was introduced lack it.
        #[serde(default)]
        pub struct Counts {
            $(#[doc = $meaning] pub $field: u64,)*
        }

        impl Counts {
            /// Combines with the counts of another part.
            pub fn add(&mut self, other: &Self) {
                $(self.$field = Aggregation::$joined.combine(self.$field, other.$field);)*
            }

            /// The estimate for all blocks.
            pub(super) fn scaled(&self, blocks: (u64, u64)) -> Self {
                Self { $($field: Aggregation::$joined.scaled(self.$field, blocks),)* }
            }
        }

        /// One entry for each field of [`Counts`].
        pub(super) const COUNTED: &[Metric] = &[$(Metric {
            name: stringify!($field),
            unit: $unit,
            nsight: $nsight,
            meaning: $meaning,
            value: |counts| Some(counts.$field as f64),
        },)*];
    };
}

counters! {
    warp_instructions, Sum, "instructions", Some("smsp__inst_executed.sum"),
        "Warp instructions executed, counted in PTX; Nsight counts machine code.";
    thread_instructions, Sum, "instructions", Some("smsp__thread_inst_executed_pred_on.sum"),
        "Thread instructions executed with a true predicate, counted in PTX.";
    active_threads, Sum, "instructions", Some("smsp__thread_inst_executed.sum"),
        "Thread instructions executed by active threads, with any predicate, counted in PTX.";
    divergent_branches, Sum, "branches", Some("smsp__sass_branch_targets_threads_divergent.sum"),
        "Branches after which lanes diverge; the assembler converts some to predicates.";
    global_load_requests, Sum, "requests", Some("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        "Loads of global memory by a warp.";
    global_store_requests, Sum, "requests", Some("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
        "Stores to global memory by a warp.";
    global_load_sectors, Sum, "sectors", Some("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
        "Sectors of 32 bytes that loads of global memory touched, summed over requests.";
    global_store_sectors, Sum, "sectors", Some("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
        "Sectors of 32 bytes that stores to global memory touched, summed over requests.";
    global_load_lines, Sum, "lines", None,
        "Lines of 128 bytes that loads of global memory touched, summed over requests.";
    global_store_lines, Sum, "lines", None,
        "Lines of 128 bytes that stores to global memory touched, summed over requests.";
    global_load_bytes, Sum, "bytes", Some("smsp__sass_data_bytes_mem_global_op_ld.sum"),
        "Bytes requested by lanes; a byte counts once for each lane.";
    global_store_bytes, Sum, "bytes", Some("smsp__sass_data_bytes_mem_global_op_st.sum"),
        "Bytes stored by lanes; a byte counts once for each lane.";
    global_load_distinct_bytes, Sum, "bytes", None,
        "Distinct bytes requested by the lanes of a request, summed over requests.";
    global_store_distinct_bytes, Sum, "bytes", None,
        "Distinct bytes stored by the lanes of a request, summed over requests.";
    global_wavefronts, Sum, "wavefronts", None,
        "The least number of L1 wavefronts of global accesses: each covers four lines, or 128 bytes of registers.";
    shared_requests, Sum, "requests", None,
        "Loads and stores of shared memory by a warp, without atomics.";
    shared_wavefronts, Sum, "wavefronts", Some("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
        "Wavefronts over the 32 banks of shared memory, without atomics.";
    shared_bank_conflicts, Sum, "wavefronts", Some("derived__memory_l1_wavefronts_shared_excessive"),
        "Wavefronts of shared memory beyond those that the same accesses need without bank conflicts.";
    atomics, Sum, "operations", None,
        "Read-modify-writes by threads.";
    atomic_requests, Sum, "requests", None,
        "Read-modify-writes by warps, of global and shared memory; Nsight counts atom and red separately.";
    shared_atomic_requests, Sum, "requests", None,
        "Read-modify-writes of shared memory by warps.";
    atomic_sectors, Sum, "sectors", None,
        "Sectors of global memory that read-modify-writes touched; Nsight counts atom and red separately.";
    atomic_passes, Sum, "passes", None,
        "The largest number of lanes at one address, summed over atomic requests: lanes at one address are serialised. \
         Compilers and hardware may combine lanes of one warp, which is not considered.";
    atomic_most_lanes, Largest, "lanes", None,
        "The largest number of lanes of a warp that updated one address.";
    atomic_place_passes, Sum, "passes", None,
        "Passes of read-modify-writes over the busiest kibibyte of global memory: one per sector of a request, and as many \
         as lanes access one address of it. Operations that the assembler may combine within a warp count as one. \
         Counted for whole launches, not for lines.";
    atomic_sums_at_one_address, Sum, "operations", None,
        "Atomic floating-point additions by threads at the busiest word of global memory: each depends on the one before. \
         Counted for whole launches, not for lines.";
    local_load_requests, Sum, "requests", Some("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"),
        "Loads of local memory by a warp, without spills, which PTX does not show.";
    local_store_requests, Sum, "requests", Some("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"),
        "Stores to local memory by a warp, without spills, which PTX does not show.";
    local_load_sectors, Sum, "sectors", Some("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"),
        "Sectors that loads of local memory touch, with the words of lanes interleaved.";
    local_store_sectors, Sum, "sectors", Some("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"),
        "Sectors that stores to local memory touch, with the words of lanes interleaved.";
    constant_requests, Sum, "requests", None,
        "Loads of constant memory and of parameters at addresses in registers.";
    constant_passes, Sum, "passes", None,
        "Distinct addresses of each load of constant memory, summed: the constant cache serves one at a time.";
    barriers, Sum, "arrivals", None,
        "Arrivals of warps at barriers of the block.";
    single_adds, Sum, "operations", Some("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"),
        "Additions and subtractions of f32; those within divisions and functions are not visible in PTX.";
    single_multiplies, Sum, "operations", Some("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"),
        "Multiplications of f32; those within divisions and functions are not visible in PTX.";
    single_multiply_adds, Sum, "operations", Some("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"),
        "Multiply-adds of f32, each two FLOP; those within divisions and functions are not visible in PTX.";
    single_divisions, Sum, "operations", None,
        "Divisions, reciprocals and square roots of f32 with exact rounding, each one FLOP.";
    double_adds, Sum, "operations", Some("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"),
        "Additions and subtractions of f64; those within divisions are not visible in PTX.";
    double_multiplies, Sum, "operations", Some("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"),
        "Multiplications of f64; those within divisions are not visible in PTX.";
    double_multiply_adds, Sum, "operations", Some("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"),
        "Multiply-adds of f64, each two FLOP; those within divisions are not visible in PTX.";
    double_divisions, Sum, "operations", None,
        "Divisions, reciprocals and square roots of f64 with exact rounding, each one FLOP.";
    half_adds, Sum, "operations", None,
        "Additions and subtractions of f16, two for a pair; Nsight counts instructions.";
    half_multiplies, Sum, "operations", None,
        "Multiplications of f16, two for a pair; Nsight counts instructions.";
    half_multiply_adds, Sum, "operations", None,
        "Multiply-adds of f16, two for a pair, each two FLOP; Nsight counts instructions.";
    bfloat_adds, Sum, "operations", None,
        "Additions and subtractions of bf16, two for a pair; Nsight counts them with f16.";
    bfloat_multiplies, Sum, "operations", None,
        "Multiplications of bf16, two for a pair; Nsight counts them with f16.";
    bfloat_multiply_adds, Sum, "operations", None,
        "Multiply-adds of bf16, two for a pair, each two FLOP; Nsight counts them with f16.";
    integer_operations, Sum, "operations", None,
        "Integer and bit operations, one for each thread and PTX instruction.";
    special_operations, Sum, "operations", None,
        "Special functions, two for a pair; each f32 function counts one FLOP.";
    tensor_f16_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with f16 multiplicands, each two FLOP.";
    tensor_bf16_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with bf16 multiplicands, each two FLOP.";
    tensor_tf32_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with tf32 multiplicands, each two FLOP.";
    tensor_f64_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with f64 multiplicands, each two FLOP.";
    tensor_f8_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with f8 multiplicands of either kind, each two FLOP; \
         `mma` of compute capability 9.0 executes them as f16, and counts there.";
    tensor_int8_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with 8-bit integers.";
    tensor_int4_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with 4-bit integers.";
    tensor_bit_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with single bits.";
}
