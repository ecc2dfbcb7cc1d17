//! The projects that reach ceilings: what each keeps busy, and what is read from its time.

use std::fmt;
use std::path::Path;

use crate::device::{ComputeCapability, Pipe};
use crate::measure::timing::Mode;
use crate::project::Project;
use crate::speed_of_light::calibration::MemoryPath;

use super::CalibrateError;

/// A project that reaches one ceiling.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Its folder.
    pub name: &'static str,
    files: [(&'static str, &'static str); 3],
    /// What it measures.
    pub quantity: Quantity,
    /// Which of its times counts.
    pub(super) mode: Mode,
    /// How, in a few words.
    pub(super) method: &'static str,
}

/// What a benchmark measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The rate of a way through memory.
    Memory(MemoryPath),
    /// The rate of a pipe.
    Pipe(Pipe),
    /// The rate of approximated functions.
    Special,
}

macro_rules! benchmark {
    ($name:literal, $quantity:expr, $mode:ident, $method:literal) => {
        Benchmark {
            name: $name,
            files: [
                (
                    "project.ron",
                    include_str!(concat!("../../../assets/calibration/", $name, "/project.ron")),
                ),
                (
                    "reference.cu",
                    include_str!(concat!("../../../assets/calibration/", $name, "/reference.cu")),
                ),
                (
                    "kernels/best.cu",
                    include_str!(concat!(
                        "../../../assets/calibration/",
                        $name,
                        "/kernels/best.cu"
                    )),
                ),
            ],
            quantity: $quantity,
            mode: Mode::$mode,
            method: $method,
        }
    };
}

/// All benchmarks, in the order in which they run.
pub const BENCHMARKS: [Benchmark; 12] = [
    benchmark!("dram-read", Quantity::Memory(MemoryPath::DramRead), Cold, "16-byte loads, 2 GiB"),
    benchmark!(
        "dram-write",
        Quantity::Memory(MemoryPath::DramWrite),
        Cold,
        "16-byte stores, 2 GiB"
    ),
    benchmark!(
        "dram-copy",
        Quantity::Memory(MemoryPath::DramCopy),
        Cold,
        "16-byte loads and stores, 1 GiB each way"
    ),
    benchmark!(
        "l2-read",
        Quantity::Memory(MemoryPath::L2Read),
        Warm,
        "16-byte loads past L1, 16 MiB"
    ),
    benchmark!("shared-read", Quantity::Memory(MemoryPath::SharedRead), Cold, "16-byte loads"),
    benchmark!("fma-f32", Quantity::Pipe(Pipe::Fp32), Cold, "fma.f32, eight chains a thread"),
    benchmark!("fma-f64", Quantity::Pipe(Pipe::Fp64), Cold, "fma.f64, eight chains a thread"),
    benchmark!("fma-f16", Quantity::Pipe(Pipe::Fp16), Cold, "fma.f16x2, eight chains a thread"),
    benchmark!("special", Quantity::Special, Cold, "rsqrt.approx.f32, eight chains a thread"),
    benchmark!(
        "tensor-f16",
        Quantity::Pipe(Pipe::TensorFp16AccumulateFp32),
        Cold,
        "mma.sync m16n16k16 f16, f32 accumulators"
    ),
    benchmark!("tensor-bf16", Quantity::Pipe(Pipe::TensorBf16), Cold, "mma.sync m16n16k16 bf16"),
    benchmark!("tensor-tf32", Quantity::Pipe(Pipe::TensorTf32), Cold, "mma.sync m16n16k8 tf32"),
];

impl Benchmark {
    /// Why its rate is no ceiling of a device of this compute capability, where it is none.
    ///
    /// Chips from 9.0 to before 12.0 have products of warp groups (`wgmma`, `tcgen05`), and `mma.sync` reaches about 63 %
    /// of those on Hopper (W. Luo et al. 2024, arXiv 2402.13499): a ceiling that low would be no ceiling.
    #[must_use]
    pub fn unsuitable(&self, capability: ComputeCapability) -> Option<&'static str> {
        let is_tensor = match self.quantity {
            Quantity::Memory(_) | Quantity::Special => false,
            Quantity::Pipe(pipe) => pipe.is_tensor(),
        };
        let has_group_products = (9..12).contains(&capability.major());
        (is_tensor && has_group_products)
            .then_some("its tensor cores are faster by products of warp groups than by mma.sync")
    }

    /// The project, below a folder that exists.
    pub(super) fn written_to(&self, folder: &Path) -> Result<Project, CalibrateError> {
        let root = folder.join(self.name);
        std::fs::create_dir_all(root.join("kernels"))?;
        for (file, text) in self.files {
            std::fs::write(root.join(file), text)?;
        }
        Project::load(&root)
            .map_err(|error| CalibrateError::Project { name: self.name, error: Box::new(error) })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(path) => path.fmt(formatter),
            Self::Pipe(pipe) => pipe.fmt(formatter),
            Self::Special => formatter.pad("special functions"),
        }
    }
}
