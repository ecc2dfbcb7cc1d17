//! Facts: the numbers that conditions of the playbook test, each with a sentence.
//!
//! An unknown fact has no value, and a condition on it does not hold.

use lightbench_compile::occupancy::{Occupancy, Resident, Resource};
use lightbench_project::manifest::OperationKind;
use lightbench_units::{Bytes, Fraction};
use lightbench_virtual_gpu::cost::{InstructionClass, Kind};
use serde::Deserialize;

use super::minimal_work::Operands;
use super::performance_data::{KernelCounters, PerformanceData};

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident: $sentence:literal, $value:expr;)*) => {
        /// A fact about a kernel: a number that may be unknown.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Fact {
            $(#[doc = $sentence] $name,)*
        }

        impl Fact {
            /// All facts.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The value; `None` if it is unknown or not finite.
            #[must_use]
            pub fn value(self, of: &PerformanceData<'_>) -> Option<f64> {
                let value: fn(&PerformanceData<'_>) -> Option<f64> = match self {
                    $(Self::$name => $value,)*
                };
                value(of).filter(|value| value.is_finite())
            }

            /// The fact in words.
            #[must_use]
            pub fn sentence(self, value: f64) -> String {
                let number = plain(value);
                let words = in_number(self.words(), &number);
                words.replace("{%}", &percent(value)).replace("{}", &number)
            }

            /// Only the number, as the sentence has it.
            #[must_use]
            pub fn number(self, value: f64) -> String {
                if self.words().contains("{%}") { percent(value) } else { plain(value) }
            }

            /// The sentence of the fact with a limit instead of its number: `no more than 4 sectors`.
            #[must_use]
            pub fn bounded(self, limit: &str, number: f64) -> String {
                let number = self.number(number);
                let words = in_number(self.words(), &number);
                let limit = format!("{limit} {number}");
                words.replace("{%}", &limit).replace("{}", &limit)
            }

            const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $sentence,)*
                }
            }
        }
    };
}

/// Replaces `{s}` by the plural ending that the number requires.
fn in_number(words: &str, number: &str) -> String {
    words.replace("{s}", if number == "1" { "" } else { "s" })
}

facts! {
    BoundFraction: "{%} of the speed of light",
        |s| s.bound_fraction();
    LoadSectors: "a load by a warp touches {} sectors of 32 bytes",
        |s| per(s, |c| (c.total.global_load_sectors, c.total.global_load_requests));
    StoreSectors: "a store by a warp touches {} sectors of 32 bytes",
        |s| per(s, |c| (c.total.global_store_sectors, c.total.global_store_requests));
    LoadWaste: "loads move {} times the bytes that they use",
        |s| per(s, |c| (32 * c.total.global_load_sectors, c.total.global_load_distinct_bytes));
    StoreWaste: "stores move {} times the bytes that they use",
        |s| per(s, |c| (32 * c.total.global_store_sectors, c.total.global_store_distinct_bytes));
    Rereads: "each byte that is read is requested {} times",
        |s| {
            let counted = s.counted.as_ref()?;
            let (Bytes(read), _) = counted.touched.whole()?;
            per(s, |c| (c.total.global_load_distinct_bytes, read))
        };
    Passes: "the largest input is read about {} times",
        |s| Some(Fact::Rereads.value(s)? - s.work.broadcast);
    StoredShare: "{%} of the bytes that the task moves are stores",
        |s| Some((s.work.written / s.work.moved()).0);
    TaskBits: "the task needs {} significant bits",
        |s| Some(f64::from(s.work.accuracy_bits()));
    RepeatedLaunches: "a launch is repeated {} times on average",
        |s| Some(s.launches_run? as f64 / count(s)?);
    ExcessTraffic: "the kernel touches {} times the memory that the task needs",
        |s| {
            let (read, written) = s.counted.as_ref()?.touched.whole()?;
            Some(((read + written) / s.work.moved()).0)
        };
    WidestLoad: "the widest load moves {} bytes a thread; 16 are possible",
        |s| s.code.filter(|code| code.global_loads > 0).map(|code| code.widest_load as f64);
    WidestStore: "the widest store moves {} bytes a thread; 16 are possible",
        |s| s.code.filter(|code| code.global_stores > 0).map(|code| code.widest_store as f64);
    StreamingAccesses: "{} accesses have a streaming cache hint",
        |s| s.code.map(|code| code.streaming as f64);
    WorkingSetByL2: "the working set is {} times L2",
        |s| Some((s.work.working_set / s.device.l2?).0);
    ConflictShare: "{%} of the passes over shared memory are bank conflicts",
        |s| per(s, |c| (c.total.shared_bank_conflicts, c.total.shared_wavefronts));
    ConflictFactor: "with bank conflicts, shared memory takes {} times the minimum number of passes",
        |s| per(s, |c| {
            let passes = c.total.shared_wavefronts;
            (passes, passes.saturating_sub(c.total.shared_bank_conflicts))
        });
    SharedAccesses: "{} instructions access shared memory",
        |s| s.code.map(|code| code.shared as f64);
    ProductsPerSharedRequest: "there are {} warp multiply-adds for each access to shared memory",
        |s| per(s, |c| (c.total.single_multiply_adds / 32, c.total.shared_requests));
    ProductsPerLoad: "there are {} warp multiply-adds for each load from global memory",
        |s| per(s, |c| (c.total.single_multiply_adds / 32, c.total.global_load_requests));
    ActiveLanes: "{} of 32 threads of a warp are active on average",
        |s| s.counted.as_ref()?.total.active_lanes();
    IdleLaneFactor: "with inactive threads, warps execute {} times the instructions",
        |s| s.counted.as_ref()?.total.active_lanes().map(|lanes| 32.0 / lanes);
    DivergentShare: "{%} of all instructions are divergent branches",
        |s| per(s, |c| (c.total.divergent_branches, c.total.warp_instructions));
    GlobalAtomicShare: "{%} of the sectors of global memory are accessed by atomics",
        |s| per(s, |c| (c.total.atomic_sectors, c.global_sectors()));
    AtomicsPerInput: "there are {} atomics for each element read",
        |s| per(s, |c| (c.total.atomics, c.total.global_load_bytes)).map(|each| each * element_bytes(s));
    AtomicQueue: "{} threads of a warp contend for one address of an atomic",
        |s| per(s, |c| (c.total.atomic_passes, c.total.atomic_requests));
    BarriersPerWarp: "every warp waits at {} barrier{s}",
        |s| Some(s.counted.as_ref()?.total.barriers as f64 / warps(s)?);
    Barriers: "{} barrier{s} in the code",
        |s| s.code.map(|code| code.barriers as f64);
    Shuffles: "{} shuffle{s} in the code",
        |s| s.code.map(|code| code.shuffles as f64);
    BytesPerThread: "a thread reads {} bytes in all",
        |s| Some(s.counted.as_ref()?.total.global_load_bytes as f64 / threads(s)?);
    InstructionsPerWarp: "a warp executes {} instructions in all",
        |s| Some(s.counted.as_ref()?.total.warp_instructions as f64 / warps(s)?);
    OwnMemoryAccesses: "warps access local memory {} times",
        |s| s.counted.as_ref().map(|c| (c.total.local_load_requests + c.total.local_store_requests) as f64);
    ConstantPasses: "a load of constants takes {} passes",
        |s| per(s, |c| (c.total.constant_passes, c.total.constant_requests));
    DoubleShare: "{%} of the instructions compute in f64",
        |s| share_of_kinds(s, &[Kind::Double, Kind::DoubleDivide]);
    DivisionShare: "{%} of the instructions are integer divisions, each of which expands to many",
        |s| share_of_kinds(s, &[Kind::Divide32, Kind::Divide64]);
    RealDivisionShare: "{%} of the instructions are correctly rounded divisions or square roots",
        |s| share_of_kinds(s, &[Kind::SingleDivide, Kind::DoubleDivide]);
    SpecialShare: "{%} of the instructions are special functions",
        |s| share_of_kinds(s, &[Kind::Special, Kind::SpecialDivide]);
    FunctionsPerNeeded: "{} special functions are computed for each one that the task needs",
        |s| Some(s.counted.as_ref()?.total.special_operations as f64 / s.work.count(OperationKind::Special).0);
    OverheadShare: "{%} of the instructions are integer operations, moves and branches",
        |s| share_of_classes(s, &[InstructionClass::Integer, InstructionClass::Move, InstructionClass::Control]);
    TensorInstructions: "{} tensor instruction{s} in the code",
        |s| s.code.map(|code| code.tensor as f64);
    WarpGroupInstructions: "{} warp-group multiply-add{s} in the code",
        |s| s.code.map(|code| code.warp_group as f64);
    AsyncCopies: "{} asynchronous copies in the code",
        |s| s.code.map(|code| (code.async_copies + code.bulk_copies) as f64);
    BulkCopies: "{} bulk copies in the code",
        |s| s.code.map(|code| code.bulk_copies as f64);
    Prefetches: "{} tile stores whose loads overlap with multiply-adds",
        |s| s.code.map(|code| code.prefetches as f64);
    Contractions: "the task has {} operations that tensor cores could do",
        |s| Some(s.work.count(OperationKind::Contraction).0);
    ContractionIntensity: "the task has {} such operations for each byte",
        |s| Some((s.work.count(OperationKind::Contraction) / s.work.moved()).0);
    OperandBytes: "the widest operands have {} bytes",
        |s| Some(element_bytes(s));
    Capability: "compute capability {} tenths",
        |s| Some(f64::from(s.device.capability.major() * 10 + s.device.capability.minor()));
    Launches: "{} different launches",
        count;
    BlocksPerMultiprocessor: "{} blocks for each multiprocessor",
        |s| Some(s.blocks()? / f64::from(s.device.multiprocessors?));
    IdleMultiprocessorFactor: "there are {} times as many multiprocessors as blocks",
        |s| Some(f64::from(s.device.multiprocessors?) / s.blocks()?);
    Waves: "the grid fills the device {} times",
        waves;
    TailFactor: "a partial last wave makes the launch {} times as long",
        |s| waves(s).map(|waves| waves.ceil() / waves);
    ThreadsPerBlock: "a block has {} threads",
        |s| s.main_launch().map(|launch| f64::from(launch.planned.block.iter().product::<u32>()));
    Occupancy: "{%} of the warp slots are occupied",
        |s| resident(s).map(|resident| resident.fraction().0);
    LimitedByRegisters: "registers limit how many blocks fit",
        |s| limits(s, Resource::Registers);
    LimitedByShared: "shared memory limits how many blocks fit",
        |s| limits(s, Resource::SharedMemory);
    LimitedByBlocks: "the number of blocks limits how many warps fit",
        |s| limits(s, Resource::Blocks);
    SpilledBytes: "{} bytes a thread are spilled because registers run out",
        |s| s.main_launch()?.kernel.resources.map(|own| bytes(own.spill_stores) + bytes(own.spill_loads));
}

/// The data that a fact is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactSource {
    /// A time: as good as the clock that it was read from.
    Timed,
    /// Counters of the virtual GPU.
    Counted,
    /// The task, the compiled code, its launches and the device's sheet.
    Read,
}

impl Fact {
    /// The data that the fact is computed from.
    #[must_use]
    pub const fn source(self) -> FactSource {
        match self {
            Self::BoundFraction => FactSource::Timed,
            Self::LoadSectors
            | Self::StoreSectors
            | Self::LoadWaste
            | Self::StoreWaste
            | Self::Rereads
            | Self::Passes
            | Self::ExcessTraffic
            | Self::ConflictShare
            | Self::ConflictFactor
            | Self::ProductsPerSharedRequest
            | Self::ProductsPerLoad
            | Self::ActiveLanes
            | Self::IdleLaneFactor
            | Self::DivergentShare
            | Self::GlobalAtomicShare
            | Self::AtomicsPerInput
            | Self::AtomicQueue
            | Self::BarriersPerWarp
            | Self::BytesPerThread
            | Self::InstructionsPerWarp
            | Self::OwnMemoryAccesses
            | Self::ConstantPasses
            | Self::DoubleShare
            | Self::DivisionShare
            | Self::RealDivisionShare
            | Self::SpecialShare
            | Self::FunctionsPerNeeded
            | Self::OverheadShare => FactSource::Counted,
            Self::StoredShare
            | Self::TaskBits
            | Self::RepeatedLaunches
            | Self::WidestLoad
            | Self::WidestStore
            | Self::StreamingAccesses
            | Self::WorkingSetByL2
            | Self::SharedAccesses
            | Self::Barriers
            | Self::Shuffles
            | Self::TensorInstructions
            | Self::WarpGroupInstructions
            | Self::AsyncCopies
            | Self::BulkCopies
            | Self::Prefetches
            | Self::Contractions
            | Self::ContractionIntensity
            | Self::OperandBytes
            | Self::Capability
            | Self::Launches
            | Self::BlocksPerMultiprocessor
            | Self::IdleMultiprocessorFactor
            | Self::Waves
            | Self::TailFactor
            | Self::ThreadsPerBlock
            | Self::Occupancy
            | Self::LimitedByRegisters
            | Self::LimitedByShared
            | Self::LimitedByBlocks
            | Self::SpilledBytes => FactSource::Read,
        }
    }
}

impl KernelCounters {
    fn global_sectors(&self) -> u64 {
        let Self { total, .. } = self;
        total.global_load_sectors + total.global_store_sectors + total.atomic_sectors
    }
}

fn per(data: &PerformanceData<'_>, ratio: impl Fn(&KernelCounters) -> (u64, u64)) -> Option<f64> {
    let (part, whole) = ratio(data.counted.as_ref()?);
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn share_of_kinds(data: &PerformanceData<'_>, kinds: &[Kind]) -> Option<f64> {
    let counted = data.counted.as_ref()?;
    let all: u64 = counted.kinds.values().sum();
    let these: u64 = kinds.iter().filter_map(|kind| counted.kinds.get(kind)).sum();
    (all > 0).then(|| these as f64 / all as f64)
}

fn share_of_classes(data: &PerformanceData<'_>, classes: &[InstructionClass]) -> Option<f64> {
    let counted = data.counted.as_ref()?;
    let these = classes.iter().filter_map(|class| counted.classes.get(class));
    let these: u64 = these.map(|counts| counts.warp_instructions).sum();
    (counted.total.warp_instructions > 0)
        .then(|| these as f64 / counted.total.warp_instructions as f64)
}

/// Different launches.
fn count(data: &PerformanceData<'_>) -> Option<f64> {
    (!data.launches.is_empty()).then_some(data.launches.len() as f64)
}

/// The threads of all launches, each launch counted once.
fn threads(data: &PerformanceData<'_>) -> Option<f64> {
    let each = data.launches.iter().map(|launch| {
        let sizes = launch.planned.grid.iter().chain(&launch.planned.block);
        sizes.map(|size| f64::from(*size)).product::<f64>()
    });
    (!data.launches.is_empty()).then(|| each.sum())
}

fn warps(data: &PerformanceData<'_>) -> Option<f64> {
    threads(data).map(|threads| threads / 32.0)
}

fn waves(data: &PerformanceData<'_>) -> Option<f64> {
    let at_once = f64::from(resident(data)?.blocks) * f64::from(data.device.multiprocessors?);
    Some(data.blocks()? / at_once)
}

fn resident<'a>(data: &'a PerformanceData<'_>) -> Option<&'a Resident> {
    match data.main_launch()?.occupancy.as_ref()? {
        Occupancy::Resident(resident) => Some(resident),
        Occupancy::CannotLaunch(_) => None,
    }
}

/// 1 where the resource allows no further block, and warps are not all there anyway.
fn limits(data: &PerformanceData<'_>, resource: Resource) -> Option<f64> {
    let resident = resident(data)?;
    let is_limit = resident.warps < resident.max_warps
        && resident.limiters().any(|limiter| limiter == resource);
    Some(f64::from(u8::from(is_limit)))
}

/// The element size in bytes of the widest operand.
fn element_bytes(data: &PerformanceData<'_>) -> f64 {
    match data.work.operands {
        Operands::Integers { bits } => bits as f64 / 8.0,
        Operands::Floats { widest: 25.., .. } => 8.0,
        Operands::Floats { widest: 12..=24, .. } => 4.0,
        Operands::Floats { widest: 5..=11, .. } => 2.0,
        Operands::Floats { widest: 0..=4, .. } => 1.0,
    }
}

fn bytes(size: Bytes) -> f64 {
    size.0 as f64
}

/// Enough digits to compare with a threshold.
fn plain(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        format!("{value:.2e}")
    } else if size >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

fn percent(value: f64) -> String {
    Fraction(value).to_string()
}
