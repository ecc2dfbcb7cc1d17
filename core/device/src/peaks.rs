//! Peak operations per second of a device, per pipe and number format.

use std::collections::BTreeMap;
use std::fmt;

use lightbench_units::FlopsPerSecond;
use serde::{Deserialize, Serialize};

use super::sourced::Sourced;

/// A pipe with its own peak. Variants without `Tensor` are the CUDA cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipe {
    /// Double precision.
    Fp64,
    /// Single precision.
    Fp32,
    /// Half precision, two to a register.
    Fp16,
    /// bfloat16, two to a register.
    Bf16,
    /// Tensor cores, f64 in and out.
    TensorFp64,
    /// Tensor cores, tf32 in, f32 accumulation.
    TensorTf32,
    /// Tensor cores, f16 in, with the accumulation that is fastest.
    TensorFp16,
    /// Tensor cores, f16 in, f32 accumulation.
    TensorFp16AccumulateFp32,
    /// Tensor cores, bf16 in, f32 accumulation.
    TensorBf16,
    /// Tensor cores, f8 in, with the accumulation that is fastest.
    TensorFp8,
    /// Tensor cores, f8 in, f32 accumulation.
    TensorFp8AccumulateFp32,
    /// Tensor cores, f4 in, f32 accumulation.
    TensorFp4,
    /// Tensor cores, 8-bit integers in, 32-bit accumulation.
    TensorInt8,
}

impl Pipe {
    /// All pipes, ordinary lanes first.
    pub const ALL: [Self; 13] = [
        Self::Fp64,
        Self::Fp32,
        Self::Fp16,
        Self::Bf16,
        Self::TensorFp64,
        Self::TensorTf32,
        Self::TensorFp16,
        Self::TensorFp16AccumulateFp32,
        Self::TensorBf16,
        Self::TensorFp8,
        Self::TensorFp8AccumulateFp32,
        Self::TensorFp4,
        Self::TensorInt8,
    ];

    /// Whether it is one of tensor cores.
    #[must_use]
    pub const fn is_tensor(self) -> bool {
        match self {
            Self::Fp64 | Self::Fp32 | Self::Fp16 | Self::Bf16 => false,
            Self::TensorFp64
            | Self::TensorTf32
            | Self::TensorFp16
            | Self::TensorFp16AccumulateFp32
            | Self::TensorBf16
            | Self::TensorFp8
            | Self::TensorFp8AccumulateFp32
            | Self::TensorFp4
            | Self::TensorInt8 => true,
        }
    }

    /// The name as sheets write it.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::TensorFp64 => "tensor_fp64",
            Self::TensorTf32 => "tensor_tf32",
            Self::TensorFp16 => "tensor_fp16",
            Self::TensorFp16AccumulateFp32 => "tensor_fp16_accumulate_fp32",
            Self::TensorBf16 => "tensor_bf16",
            Self::TensorFp8 => "tensor_fp8",
            Self::TensorFp8AccumulateFp32 => "tensor_fp8_accumulate_fp32",
            Self::TensorFp4 => "tensor_fp4",
            Self::TensorInt8 => "tensor_int8",
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Fp64 => "FP64",
            Self::Fp32 => "FP32",
            Self::Fp16 => "FP16",
            Self::Bf16 => "BF16",
            Self::TensorFp64 => "FP64 tensor",
            Self::TensorTf32 => "TF32 tensor",
            Self::TensorFp16 => "FP16 tensor",
            Self::TensorFp16AccumulateFp32 => "FP16 tensor, FP32 accumulation",
            Self::TensorBf16 => "BF16 tensor",
            Self::TensorFp8 => "FP8 tensor",
            Self::TensorFp8AccumulateFp32 => "FP8 tensor, FP32 accumulation",
            Self::TensorFp4 => "FP4 tensor",
            Self::TensorInt8 => "INT8 tensor",
        };
        f.pad(name)
    }
}

/// The dense peaks of a device: operations, never multiply-adds, and never with sparsity.
///
/// Every pipe has an entry, which states if the device lacks the pipe.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Peaks(BTreeMap<Pipe, Sourced<FlopsPerSecond>>);

impl Peaks {
    /// The pipes that `written` leaves out, or the peaks.
    pub(super) fn complete(
        written: BTreeMap<Pipe, Sourced<FlopsPerSecond>>,
    ) -> Result<Self, Vec<Pipe>> {
        let missing: Vec<Pipe> =
            Pipe::ALL.into_iter().filter(|pipe| !written.contains_key(pipe)).collect();
        if missing.is_empty() { Ok(Self(written)) } else { Err(missing) }
    }

    /// The peaks that a function gives.
    pub(super) fn from_fn(peak: impl Fn(Pipe) -> Sourced<FlopsPerSecond>) -> Self {
        Self(Pipe::ALL.into_iter().map(|pipe| (pipe, peak(pipe))).collect())
    }

    /// The peak of a pipe, if known.
    #[must_use]
    pub fn get(&self, pipe: Pipe) -> Option<FlopsPerSecond> {
        self.0.get(&pipe).and_then(Sourced::get)
    }

    /// All pipes in order with their peaks.
    pub fn iter(&self) -> impl Iterator<Item = (Pipe, &Sourced<FlopsPerSecond>)> {
        self.0.iter().map(|(&pipe, peak)| (pipe, peak))
    }
}
