//! Shapes and element types of matrices, and the number of registers per lane of a fragment.

use crate::isa::keyword::{keywords, scalar_subset};
use crate::isa::scalar::{Fit, ScalarType};
use crate::isa::signature::Role;

scalar_subset! {
    /// Element types of the multiplicands A and B.
    Multiplicand: "the type of a multiplicand" {
        F16, Bf16, Tf32, F64, E4m3, E5m2, U8, S8, U4, S4, B1
    }
}
scalar_subset! {
    /// Element types of the accumulators C and D.
    Accumulator: "the type of an accumulator" { F16, F32, F64, S32 }
}
keywords! {
    /// The layout of a matrix in memory or in a fragment.
    Layout: "`.row` or `.col`" { Row = "row", Column = "col" }
}
keywords! {
    /// The shape m × n × k.
    Shape: "a shape such as .m16n8k16" {
        M8N8K4 = "m8n8k4", M8N8K16 = "m8n8k16", M8N8K32 = "m8n8k32", M8N8K128 = "m8n8k128",
        M16N8K4 = "m16n8k4", M16N8K8 = "m16n8k8", M16N8K16 = "m16n8k16", M16N8K32 = "m16n8k32",
        M16N8K64 = "m16n8k64", M16N8K128 = "m16n8k128", M16N8K256 = "m16n8k256",
        M16N16K16 = "m16n16k16", M16N16K8 = "m16n16k8", M8N32K16 = "m8n32k16",
        M32N8K16 = "m32n8k16",
    }
}

impl Shape {
    /// (m, n, k).
    #[must_use]
    pub fn extents(self) -> (u32, u32, u32) {
        match self {
            Self::M8N8K4 => (8, 8, 4),
            Self::M8N8K16 => (8, 8, 16),
            Self::M8N8K32 => (8, 8, 32),
            Self::M8N8K128 => (8, 8, 128),
            Self::M16N8K4 => (16, 8, 4),
            Self::M16N8K8 => (16, 8, 8),
            Self::M16N8K16 => (16, 8, 16),
            Self::M16N8K32 => (16, 8, 32),
            Self::M16N8K64 => (16, 8, 64),
            Self::M16N8K128 => (16, 8, 128),
            Self::M16N8K256 => (16, 8, 256),
            Self::M16N16K16 => (16, 16, 16),
            Self::M16N16K8 => (16, 16, 8),
            Self::M8N32K16 => (8, 32, 16),
            Self::M32N8K16 => (32, 8, 16),
        }
    }
}

impl Multiplicand {
    /// The size of an element in a register and in shared memory, in bits: tf32 has the size of f32.
    pub(crate) fn register_bits(self) -> u32 {
        if self == Self::Tf32 { 32 } else { ScalarType::from(self).bits() }
    }
}

/// The matrix of a `wmma.load`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// A, m × k.
    A(Multiplicand),
    /// B, k × n.
    B(Multiplicand),
    /// C, m × n.
    C(Accumulator),
}

const LANES: u32 = 32;

/// The registers per lane of a matrix with this number of elements: 32-bit registers, or one 64-bit register per f64.
pub(super) fn registers(elements: u32, ty: ScalarType) -> u8 {
    let register = if ty == ScalarType::F64 { 64 } else { 32 };
    (elements * ty.bits() / (LANES * register)) as u8
}

/// The register type of multiplicands.
pub(super) fn multiplicand_register(ty: Multiplicand) -> ScalarType {
    match ty {
        Multiplicand::F64 => ScalarType::F64,
        Multiplicand::F16
        | Multiplicand::Bf16
        | Multiplicand::Tf32
        | Multiplicand::E4m3
        | Multiplicand::E5m2
        | Multiplicand::U8
        | Multiplicand::S8
        | Multiplicand::U4
        | Multiplicand::S4
        | Multiplicand::B1 => ScalarType::B32,
    }
}

/// The register type of accumulators; halves are packed in pairs.
pub(super) fn accumulator_register(ty: Accumulator) -> ScalarType {
    match ty {
        Accumulator::F16 => ScalarType::F16x2,
        Accumulator::F32 => ScalarType::F32,
        Accumulator::F64 => ScalarType::F64,
        Accumulator::S32 => ScalarType::S32,
    }
}

pub(super) fn reads(count: u8, ty: ScalarType) -> Role {
    Role::ReadVector { count, ty, fit: Fit::Exact }
}

pub(super) fn writes(count: u8, ty: ScalarType) -> Role {
    Role::WriteVector { count, ty, fit: Fit::Exact }
}
