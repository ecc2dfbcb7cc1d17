//! The pipes that a task's accuracy permits for each kind of operation, and the number of pipe operations that replace one
//! operation of the task.
//!
//! A wide product can be composed of narrow ones: an f32 product of three f16 or tf32 products, an f64 or f32 product of
//! several 8-bit integer products. The physical bound includes these methods; otherwise a correct kernel could be faster
//! than the bound.

use lightbench_device::Pipe;
use lightbench_project::manifest::{Accuracy, OperationKind};
use lightbench_units::FlopsPerSecond;

use super::ceilings::{Ceiling, Ceilings};
use super::minimal_work::{MinimalWork, Operands};

/// A pipe that can execute an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeChoice {
    /// The pipe.
    pub pipe: Pipe,
    /// Operations of the pipe for one operation of the task.
    pub products: u32,
    /// Why that is enough.
    pub because: &'static str,
}

/// The pipes for one kind of operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermittedPipes {
    /// Permitted pipes, unordered; a device may lack any of them.
    Ways(Vec<PipeChoice>),
    /// No bound follows from this kind.
    LeftOut(&'static str),
}

/// Significant bits of the operands of tensor cores.
const HALF_BITS: u32 = 11;
const BFLOAT_BITS: u32 = 8;
const EIGHT_BITS: u32 = 4;
const FOUR_BITS: u32 = 2;

const DIRECT: &str = "the pipe of the task's own precision";
const EXACT_PRODUCTS: &str = "products of inputs this narrow are exact, and are added in f32";
const SPLIT: &str = "an f32 is the sum of two halves (Ootomo and Yokota 2022, arXiv 2203.03341)";
const REMAINDERS: &str =
    "8-bit products modulo coprime numbers (Ozaki et al. 2025, arXiv 2504.08009, 2508.03984)";
const SAME_BITS: &str = "f16 has as many significant bits as tf32";
const WIDER: &str = "a wider format is as good";

/// All pipes with which a correct kernel may execute a kind of operation.
#[must_use]
pub fn permitted(kind: OperationKind, accuracy: Accuracy, operands: Operands) -> PermittedPipes {
    match kind {
        OperationKind::Arithmetic => arithmetic(accuracy),
        OperationKind::Contraction => contraction(accuracy, operands),
        OperationKind::Special => PermittedPipes::LeftOut(
            "special functions can be polynomials on the FP32 lanes, so their own unit is no physical limit",
        ),
        OperationKind::Integer => {
            PermittedPipes::LeftOut("the device sheet states no rate of integer operations")
        }
        OperationKind::Compare => {
            PermittedPipes::LeftOut("the device sheet states no rate of comparisons")
        }
    }
}

/// The pipe that the task's precision names for a kind of operation, with its peak: the first one that the device has.
#[must_use]
pub fn named<'c>(
    kind: OperationKind,
    work: &MinimalWork,
    ceilings: &'c Ceilings,
) -> Option<(Pipe, &'c Ceiling<FlopsPerSecond>)> {
    let pipes = candidates(kind, work.accuracy, work.operands);
    pipes.into_iter().find_map(|pipe| Some((pipe, ceilings.pipe(pipe)?)))
}

/// The pipes that a precision names, in order: one without a tensor pipe uses the FP32 or FP64 lanes.
fn candidates(kind: OperationKind, accuracy: Accuracy, operands: Operands) -> Vec<Pipe> {
    match kind {
        OperationKind::Arithmetic => lanes(accuracy).into_iter().collect(),
        OperationKind::Contraction => {
            let tensor = tensor_pipe(accuracy, operands);
            let eight_bits = matches!(accuracy, Accuracy::F16 | Accuracy::Bf16)
                && matches!(operands, Operands::Floats { widest, .. } if widest <= EIGHT_BITS);
            let narrow = eight_bits.then_some(Pipe::TensorFp8AccumulateFp32);
            narrow.into_iter().chain(tensor).chain(lanes(accuracy)).collect()
        }
        OperationKind::Special | OperationKind::Integer | OperationKind::Compare => Vec::new(),
    }
}

/// The pipe of a precision for products, whose operands are converted to it.
fn tensor_pipe(accuracy: Accuracy, operands: Operands) -> Option<Pipe> {
    match (accuracy, operands) {
        (Accuracy::F64, _) => Some(Pipe::TensorFp64),
        (Accuracy::F32, Operands::Floats { widest, .. }) if widest <= BFLOAT_BITS => {
            Some(Pipe::TensorBf16)
        }
        (Accuracy::F32, Operands::Floats { widest, .. }) if widest <= HALF_BITS => {
            Some(Pipe::TensorFp16AccumulateFp32)
        }
        (Accuracy::F32, _) => Some(Pipe::Fp32),
        (Accuracy::Tf32, _) => Some(Pipe::TensorTf32),
        (Accuracy::F16, _) => Some(Pipe::TensorFp16AccumulateFp32),
        (Accuracy::Bf16, _) => Some(Pipe::TensorBf16),
        (Accuracy::F8, _) => Some(Pipe::TensorFp8AccumulateFp32),
        (Accuracy::Exact, Operands::Integers { bits: 5..=8 }) => Some(Pipe::TensorInt8),
        (Accuracy::Exact, _) => None,
    }
}

/// The FP32 or FP64 lanes of a precision.
const fn lanes(accuracy: Accuracy) -> Option<Pipe> {
    match accuracy {
        Accuracy::F64 => Some(Pipe::Fp64),
        Accuracy::F32 | Accuracy::Tf32 => Some(Pipe::Fp32),
        Accuracy::F16 | Accuracy::F8 => Some(Pipe::Fp16),
        Accuracy::Bf16 => Some(Pipe::Bf16),
        Accuracy::Exact => None,
    }
}

fn arithmetic(accuracy: Accuracy) -> PermittedPipes {
    let halves = [direct(Pipe::Fp16), direct(Pipe::Bf16), wider(Pipe::Fp32)];
    match accuracy {
        Accuracy::F64 => PermittedPipes::Ways(vec![direct(Pipe::Fp64)]),
        Accuracy::F32 | Accuracy::Tf32 => {
            PermittedPipes::Ways(vec![direct(Pipe::Fp32), wider(Pipe::Fp64)])
        }
        Accuracy::F16 | Accuracy::Bf16 | Accuracy::F8 => PermittedPipes::Ways(halves.to_vec()),
        Accuracy::Exact => PermittedPipes::LeftOut(
            "exact arithmetic is of integers, whose rate no device sheet states",
        ),
    }
}

fn contraction(accuracy: Accuracy, operands: Operands) -> PermittedPipes {
    let (widest, narrowest) = match operands {
        Operands::Floats { widest, narrowest } => (widest, narrowest),
        Operands::Integers { bits } => return integers(bits),
    };
    let mut ways = vec![remainders(widest.min(bits_of(accuracy)))];
    match accuracy {
        Accuracy::F64 => ways.extend([direct(Pipe::TensorFp64), direct(Pipe::Fp64)]),
        Accuracy::F32 => {
            ways.extend([direct(Pipe::Fp32), wider(Pipe::Fp64), wider(Pipe::TensorFp64)]);
            ways.extend(narrow(widest, narrowest));
        }
        Accuracy::Tf32 => {
            let same = |pipe| PipeChoice { pipe, products: 1, because: SAME_BITS };
            ways.extend([direct(Pipe::TensorTf32), same(Pipe::TensorFp16AccumulateFp32)]);
            ways.extend([wider(Pipe::Fp32), wider(Pipe::TensorFp64)]);
            ways.extend(narrow(widest, narrowest));
        }
        Accuracy::F16 | Accuracy::Bf16 | Accuracy::F8 => {
            ways.extend(
                [Pipe::TensorFp16, Pipe::TensorFp16AccumulateFp32, Pipe::TensorBf16].map(direct),
            );
            ways.extend([Pipe::Fp16, Pipe::Bf16].map(direct));
            ways.extend([Pipe::TensorTf32, Pipe::Fp32].map(wider));
            if accuracy == Accuracy::F8 || widest <= EIGHT_BITS {
                ways.extend([Pipe::TensorFp8, Pipe::TensorFp8AccumulateFp32].map(direct));
            }
            if widest <= FOUR_BITS {
                ways.push(direct(Pipe::TensorFp4));
            }
        }
        // Floating-point results that must be exact are possible only for small integers, which is unknown here.
        Accuracy::Exact => return PermittedPipes::LeftOut("exact products of floats have no pipe"),
    }
    PermittedPipes::Ways(ways)
}

/// f32 accumulation of products of narrower formats.
fn narrow(widest: u32, narrowest: u32) -> Vec<PipeChoice> {
    let exact = |pipe| PipeChoice { pipe, products: 1, because: EXACT_PRODUCTS };
    let mut ways = Vec::new();
    if widest <= FOUR_BITS {
        ways.push(exact(Pipe::TensorFp4));
    }
    if widest <= EIGHT_BITS {
        ways.push(exact(Pipe::TensorFp8AccumulateFp32));
    }
    if widest <= BFLOAT_BITS {
        ways.push(exact(Pipe::TensorBf16));
    }
    if widest <= HALF_BITS {
        ways.push(exact(Pipe::TensorFp16AccumulateFp32));
    } else {
        // Low times low is beyond f32; a narrow operand needs no second half.
        let products = if narrowest <= HALF_BITS { 2 } else { 3 };
        let pipes = [Pipe::TensorFp16AccumulateFp32, Pipe::TensorTf32];
        ways.extend(pipes.map(|pipe| PipeChoice { pipe, products, because: SPLIT }));
    }
    ways
}

fn integers(bits: u64) -> PermittedPipes {
    match bits {
        0..=4 => {
            PermittedPipes::LeftOut("the device sheet states no rate of 4-bit integer products")
        }
        5..=8 => PermittedPipes::Ways(vec![direct(Pipe::TensorInt8)]),
        9.. => PermittedPipes::LeftOut("integers above 8 bits have no tensor pipe of their own"),
    }
}

/// Significant bits that a result needs.
const fn bits_of(accuracy: Accuracy) -> u32 {
    match accuracy {
        Accuracy::F64 | Accuracy::Exact => 53,
        Accuracy::F32 => 24,
        Accuracy::Tf32 | Accuracy::F16 => HALF_BITS,
        Accuracy::Bf16 => BFLOAT_BITS,
        Accuracy::F8 => EIGHT_BITS,
    }
}

/// The products must represent twice the bits plus the growth of the sum; the papers use 14 to 17 products for f64 and 7 to
/// 9 for f32.
const fn remainders(bits: u32) -> PipeChoice {
    let products = (2 * bits + 11) / 8;
    PipeChoice { pipe: Pipe::TensorInt8, products, because: REMAINDERS }
}

const fn direct(pipe: Pipe) -> PipeChoice {
    PipeChoice { pipe, products: 1, because: DIRECT }
}

const fn wider(pipe: Pipe) -> PipeChoice {
    PipeChoice { pipe, products: 1, because: WIDER }
}
