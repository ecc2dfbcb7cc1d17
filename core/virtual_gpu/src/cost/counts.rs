//! Every counter, declared once: field, how parts join, unit, the Nsight Compute metric that means the same, and a
//! sentence that says what it is and where it differs.

use serde::{Deserialize, Serialize};

use super::metric::Metric;

/// How counts of parts make the count of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// They are added.
    Sum,
    /// The largest one stays.
    Largest,
}

impl Joined {
    fn of(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Sum => a.saturating_add(b),
            Self::Largest => a.max(b),
        }
    }

    /// What a part of so many blocks says about the whole grid.
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
        // Records of a time before a counter was there lack it.
        #[serde(default)]
        pub struct Counts {
            $(#[doc = $meaning] pub $field: u64,)*
        }

        impl Counts {
            /// Joins in the counts of another part.
            pub fn add(&mut self, other: &Self) {
                $(self.$field = Joined::$joined.of(self.$field, other.$field);)*
            }

            /// Counts of so many blocks as an estimate for all of them.
            pub(super) fn scaled(&self, blocks: (u64, u64)) -> Self {
                Self { $($field: Joined::$joined.scaled(self.$field, blocks),)* }
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
        "Instructions executed by warps, at the level of PTX where Nsight counts machine code.";
    thread_instructions, Sum, "instructions", Some("smsp__thread_inst_executed_pred_on.sum"),
        "Instructions executed by threads whose predicate holds, at the level of PTX.";
    active_threads, Sum, "instructions", Some("smsp__thread_inst_executed.sum"),
        "Instructions executed by threads that are at the instruction, predicate or not, at the level of PTX.";
    divergent_branches, Sum, "branches", Some("smsp__sass_branch_targets_threads_divergent.sum"),
        "Branches whose lanes went different ways; the assembler turns some into predicates.";
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
        "Bytes that lanes asked for, each counted as often as a lane asked.";
    global_store_bytes, Sum, "bytes", Some("smsp__sass_data_bytes_mem_global_op_st.sum"),
        "Bytes that lanes stored, each counted as often as a lane stored it.";
    global_load_distinct_bytes, Sum, "bytes", None,
        "Different bytes that the lanes of a request asked for, summed over requests.";
    global_store_distinct_bytes, Sum, "bytes", None,
        "Different bytes that the lanes of a request stored, summed over requests.";
    global_wavefronts, Sum, "wavefronts", None,
        "Passes through L1 that global accesses need at least: four lines, or 128 bytes of registers, in each.";
    shared_requests, Sum, "requests", None,
        "Loads and stores of shared memory by a warp, atomic ones left out.";
    shared_wavefronts, Sum, "wavefronts", Some("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
        "Passes over the 32 banks of shared memory, atomic ones left out.";
    shared_bank_conflicts, Sum, "wavefronts", Some("derived__memory_l1_wavefronts_shared_excessive"),
        "Passes over shared memory beyond those that its addresses would need in different banks.";
    atomics, Sum, "operations", None,
        "Read-modify-writes by threads.";
    atomic_requests, Sum, "requests", None,
        "Read-modify-writes by warps, of global and shared memory; Nsight counts atom and red apart.";
    shared_atomic_requests, Sum, "requests", None,
        "Read-modify-writes of shared memory by warps.";
    atomic_sectors, Sum, "sectors", None,
        "Sectors of global memory that read-modify-writes touched; Nsight counts those of atom and red apart.";
    atomic_passes, Sum, "passes", None,
        "For each atomic request the most lanes at one address, summed: lanes at one address go one after the other. \
         Compilers and hardware may combine lanes of one warp beforehand, which is not considered.";
    atomic_most_lanes, Largest, "lanes", None,
        "The most lanes of a warp that changed one address at once.";
    atomic_place_passes, Sum, "passes", None,
        "Passes of read-modify-writes over the kibibyte of global memory that has most of them: one for each sector of a \
         request, and as many as lanes meet at one address of it. What the assembler may join in a warp is one. Of whole \
         launches; lines have none.";
    atomic_sums_at_one_address, Sum, "operations", None,
        "Atomic sums of floats by threads at the word of global memory that has most of them: each needs the one before. \
         Of whole launches; lines have none.";
    local_load_requests, Sum, "requests", Some("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"),
        "Loads of a thread's own memory by a warp; spills, which PTX does not have, are not among them.";
    local_store_requests, Sum, "requests", Some("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"),
        "Stores to a thread's own memory by a warp; spills, which PTX does not have, are not among them.";
    local_load_sectors, Sum, "sectors", Some("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"),
        "Sectors that loads of own memory touch, if words of lanes lie side by side.";
    local_store_sectors, Sum, "sectors", Some("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"),
        "Sectors that stores to own memory touch, if words of lanes lie side by side.";
    constant_requests, Sum, "requests", None,
        "Loads of constant memory and of parameters at addresses that registers hold.";
    constant_passes, Sum, "passes", None,
        "Different addresses of each load of constant memory, summed: the constant cache serves one at a time.";
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
        "Whole numbers and bits, one for each thread and instruction of PTX.";
    special_operations, Sum, "operations", None,
        "Approximated functions, two for a pair; f32 ones count one FLOP.";
    tensor_f16_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with f16 multiplicands, each two FLOP.";
    tensor_bf16_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with bf16 multiplicands, each two FLOP.";
    tensor_tf32_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with tf32 multiplicands, each two FLOP.";
    tensor_f64_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with f64 multiplicands, each two FLOP.";
    tensor_f8_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with f8 multiplicands of either kind, each two FLOP.";
    tensor_int8_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with 8-bit integers.";
    tensor_int4_multiply_adds, Sum, "operations", None,
        "Multiply-adds of tensor cores with 4-bit integers.";
    tensor_bit_multiply_adds, Sum, "operations", None,
        "Products of tensor cores with single bits, added.";
}
