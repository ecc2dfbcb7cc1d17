//! The benchmark projects: the memory or pipe that each keeps busy, and the quantity computed from its time.

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
    /// The folder of the project.
    pub name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The measured quantity.
    pub quantity: Quantity,
    /// The cache state whose time counts.
    pub(super) mode: Mode,
    /// How, in a few words.
    pub(super) method: &'static str,
}

/// A quantity that a benchmark measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The rate of a memory path.
    Memory(MemoryPath),
    /// The rate of a pipe.
    Pipe(Pipe),
    /// The rate of approximate special functions.
    Special,
    /// The written bytes that L2 retains.
    RetainedWrites,
}

macro_rules! benchmark {
    ($name:literal, $quantity:expr, $mode:ident, $method:literal $(, with $include:literal)?) => {
        Benchmark {
            name: $name,
            files: &[
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
                $((
                    concat!("include/", $include),
                    include_str!(concat!("../../../assets/calibration/", $include)),
                ),)?
            ],
            quantity: $quantity,
            mode: Mode::$mode,
            method: $method,
        }
    };
}

/// All benchmarks, in the order in which they run.
pub const BENCHMARKS: [Benchmark; 16] = [
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
    benchmark!("fma-f32", Quantity::Pipe(Pipe::Fp32), Cold, "fma.f32, four chains a thread"),
    benchmark!("fma-f64", Quantity::Pipe(Pipe::Fp64), Cold, "fma.f64, four chains a thread"),
    benchmark!("fma-f16", Quantity::Pipe(Pipe::Fp16), Cold, "fma.f16x2, eight chains a thread"),
    benchmark!("special", Quantity::Special, Cold, "rsqrt.approx.f32, four chains a thread"),
    benchmark!(
        "tensor-f16",
        Quantity::Pipe(Pipe::TensorFp16AccumulateFp32),
        Cold,
        "mma.sync m16n16k16 f16, f32 accumulators"
    ),
    benchmark!("tensor-bf16", Quantity::Pipe(Pipe::TensorBf16), Cold, "mma.sync m16n16k16 bf16"),
    benchmark!("tensor-tf32", Quantity::Pipe(Pipe::TensorTf32), Cold, "mma.sync m16n16k8 tf32"),
    benchmark!(
        "group-f16",
        Quantity::Pipe(Pipe::TensorFp16AccumulateFp32),
        Cold,
        "wgmma m64n256k16 f16, f32 accumulators",
        with "warp_group.cuh"
    ),
    benchmark!(
        "group-bf16",
        Quantity::Pipe(Pipe::TensorBf16),
        Cold,
        "wgmma m64n256k16 bf16",
        with "warp_group.cuh"
    ),
    benchmark!(
        "group-tf32",
        Quantity::Pipe(Pipe::TensorTf32),
        Cold,
        "wgmma m64n256k8 tf32",
        with "warp_group.cuh"
    ),
    benchmark!("l2-retained", Quantity::RetainedWrites, Cold, "16-byte stores"),
];

/// The instructions that multiply matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Products {
    /// Products of a warp: `mma.sync`.
    Warp,
    /// Products of a warp group: `wgmma`.
    Group,
}

impl Benchmark {
    /// The reason why the benchmark's rate is not a ceiling of a device of this compute capability, if it is not.
    ///
    /// Compute capabilities from 9.0 to below 12.0 have warp-group products (`wgmma`, `tcgen05`); `mma.sync` reaches about
    /// 63 % of their rate on Hopper (W. Luo et al. 2024, arXiv 2402.13499), which is too low for a ceiling. Only compute
    /// capability 9.0 has `wgmma` (PTX ISA, `wgmma.mma_async`: target sm_90a).
    #[must_use]
    pub fn unsuitable(&self, capability: ComputeCapability) -> Option<&'static str> {
        let products = self.products()?;
        match (products, capability.major()) {
            (Products::Warp, 9..12) => {
                Some("its tensor cores are faster by products of warp groups than by mma.sync")
            }
            (Products::Group, 9) | (Products::Warp, _) => None,
            (Products::Group, _) => Some("it has no wgmma"),
        }
    }

    /// Whether another benchmark of the same quantity suits a device of this compute capability.
    pub(super) fn has_substitute(&self, capability: ComputeCapability) -> bool {
        let suits = |other: &Self| {
            other.quantity == self.quantity && other.unsuitable(capability).is_none()
        };
        BENCHMARKS.iter().any(suits)
    }

    /// The kind of matrix products, if the benchmark has any.
    fn products(&self) -> Option<Products> {
        match self.quantity {
            Quantity::Pipe(pipe) if pipe.is_tensor() => {
                Some(match self.name.starts_with("group-") {
                    true => Products::Group,
                    false => Products::Warp,
                })
            }
            Quantity::Pipe(_)
            | Quantity::Memory(_)
            | Quantity::Special
            | Quantity::RetainedWrites => None,
        }
    }

    /// The project, written below a folder that exists.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn written_to(&self, folder: &Path) -> Result<Project, CalibrateError> {
        let root = folder.join(self.name);
        for (file, text) in self.files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap_or(&root))?;
            std::fs::write(path, text)?;
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
            Self::RetainedWrites => formatter.pad("writes that L2 retains"),
        }
    }
}
