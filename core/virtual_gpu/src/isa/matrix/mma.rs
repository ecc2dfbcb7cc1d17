//! `mma.sync`: the combinations of shapes and types. PTX ISA, section "Multiply-and-Accumulate Instruction: mma".

use super::Matrix;
use super::fragment::{
    Accumulator, Layout, Multiplicand, Shape, accumulator_register, multiplicand_register, reads,
    registers, writes,
};
use crate::isa::float::Rounding;
use crate::isa::integer::Overflow;
use crate::isa::keyword::keywords;
use crate::isa::scalar::{Fit, ScalarType};
use crate::isa::signature::{Role, Signature};
use crate::isa::{Decoded, Modifiers, Operation, Refusal};

keywords! {
    /// The operation that replaces the product of single bits; the ones in the result are counted.
    BitProduct: "`.and` or `.xor`" { And = "and", Xor = "xor" }
}

/// A matrix multiply-accumulate, D = A × B + C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyAccumulate {
    /// The shape m × n × k.
    pub shape: Shape,
    /// The layout of A in its fragment.
    pub a_layout: Layout,
    /// The layout of B in its fragment.
    pub b_layout: Layout,
    /// Element type of A.
    pub a: Multiplicand,
    /// Element type of B.
    pub b: Multiplicand,
    /// Element type of C.
    pub c: Accumulator,
    /// Element type of D.
    pub d: Accumulator,
    /// Saturation of s32 sums.
    pub overflow: Overflow,
    /// The rounding of f64.
    pub rounding: Rounding,
    /// The operation on single bits; none for other types.
    pub bits: Option<BitProduct>,
    /// Whether half of the elements of A are zero and absent from its fragment (`.sp`).
    pub is_sparse: bool,
}

impl MultiplyAccumulate {
    /// Elements of a row of A in its fragment.
    #[must_use]
    pub fn length_of_a(&self) -> u32 {
        let (_, _, length) = self.shape.extents();
        if self.is_sparse { length / 2 } else { length }
    }
}

/// The positions of the elements of a sparse A.
pub(super) const METADATA: Role = Role::Read(ScalarType::B32, Fit::Exact);

/// Multiplicand types with their shapes and accumulator types.
struct Combination {
    multiplicands: &'static [Multiplicand],
    shapes: &'static [Shape],
    accumulators: &'static [Accumulator],
}

const COMBINATIONS: &[Combination] = &[
    Combination {
        multiplicands: &[Multiplicand::F16],
        shapes: &[Shape::M8N8K4, Shape::M16N8K8, Shape::M16N8K16],
        accumulators: &[Accumulator::F16, Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::Bf16],
        shapes: &[Shape::M16N8K8, Shape::M16N8K16],
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::Tf32],
        shapes: &[Shape::M16N8K4, Shape::M16N8K8],
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::E4m3, Multiplicand::E5m2],
        shapes: &[Shape::M16N8K16, Shape::M16N8K32],
        accumulators: &[Accumulator::F16, Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::F64],
        shapes: &[Shape::M8N8K4, Shape::M16N8K4, Shape::M16N8K8, Shape::M16N8K16],
        accumulators: &[Accumulator::F64],
    },
    Combination {
        multiplicands: &[Multiplicand::U8, Multiplicand::S8],
        shapes: &[Shape::M8N8K16, Shape::M16N8K16, Shape::M16N8K32],
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::U4, Multiplicand::S4],
        shapes: &[Shape::M8N8K32, Shape::M16N8K32, Shape::M16N8K64],
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::B1],
        shapes: &[Shape::M8N8K128, Shape::M16N8K128, Shape::M16N8K256],
        accumulators: &[Accumulator::S32],
    },
];

/// The combinations of sparse products.
const SPARSE_COMBINATIONS: &[Combination] = &[
    Combination {
        multiplicands: &[Multiplicand::F16],
        shapes: &[Shape::M16N8K16, Shape::M16N8K32],
        accumulators: &[Accumulator::F16, Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::Bf16],
        shapes: &[Shape::M16N8K16, Shape::M16N8K32],
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::Tf32],
        shapes: &[Shape::M16N8K8, Shape::M16N8K16],
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::E4m3, Multiplicand::E5m2],
        shapes: &[Shape::M16N8K64],
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::U8, Multiplicand::S8],
        shapes: &[Shape::M16N8K32, Shape::M16N8K64],
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::U4, Multiplicand::S4],
        shapes: &[Shape::M16N8K64, Shape::M16N8K128],
        accumulators: &[Accumulator::S32],
    },
];

pub(super) fn decode(m: &mut Modifiers<'_>) -> Decoded {
    let is_sparse = m.flag("sp") || m.flag("sp::ordered_metadata");
    m.require_flag("sync", "`.sync`")?;
    m.require_flag("aligned", "`.aligned`")?;
    let shape: Shape = m.required()?;
    let (a_layout, b_layout) = (m.required()?, m.required()?);
    let d: Accumulator = first_accumulator(m)?;
    let (a, b) = (m.required()?, m.required()?);
    let c = m.required()?;
    let product = MultiplyAccumulate {
        shape,
        a_layout,
        b_layout,
        a,
        b,
        c,
        d,
        overflow: overflow(m, a)?,
        rounding: rounding(m, a),
        bits: bits(m, a)?,
        is_sparse,
    };
    check(m, &product)?;
    Ok((Operation::Matrix(Matrix::Multiply(product)), signature(&product)))
}

/// The type of D, which is written before those of A and B; `.f16` and `.f64` may be either.
pub(super) fn first_accumulator(m: &mut Modifiers<'_>) -> Result<Accumulator, Refusal> {
    m.required()
}

pub(super) fn overflow(m: &mut Modifiers<'_>, a: Multiplicand) -> Result<Overflow, Refusal> {
    let integers =
        matches!(a, Multiplicand::U8 | Multiplicand::S8 | Multiplicand::U4 | Multiplicand::S4);
    match (m.flag("satfinite"), integers) {
        (false, _) => Ok(Overflow::Wrap),
        (true, true) => Ok(Overflow::Saturate),
        (true, false) => Err(m.combination("`.satfinite` takes 8- and 4-bit integers")),
    }
}

pub(super) fn rounding(m: &mut Modifiers<'_>, a: Multiplicand) -> Rounding {
    let written = if a == Multiplicand::F64 { m.optional() } else { None };
    written.unwrap_or(Rounding::NearestEven)
}

pub(super) fn bits(m: &mut Modifiers<'_>, a: Multiplicand) -> Result<Option<BitProduct>, Refusal> {
    if a != Multiplicand::B1 {
        return Ok(None);
    }
    m.require_flag("popc", "`.popc`")?;
    m.required().map(Some)
}

fn check(m: &Modifiers<'_>, product: &MultiplyAccumulate) -> Result<(), Refusal> {
    let MultiplyAccumulate { shape, a, b, c, d, .. } = *product;
    let combinations = if product.is_sparse { SPARSE_COMBINATIONS } else { COMBINATIONS };
    let combination = combinations
        .iter()
        .find(|combination| combination.multiplicands.contains(&a))
        .filter(|combination| combination.multiplicands.contains(&b))
        .ok_or_else(|| m.combination("these multiplicand types cannot be combined"))?;
    if !combination.shapes.contains(&shape) {
        return Err(m.combination("these types do not support this shape"));
    }
    let accumulators = combination.accumulators;
    if !accumulators.contains(&c) || !accumulators.contains(&d) {
        return Err(m.combination("these types do not support this accumulator type"));
    }
    let widens = shape == Shape::M8N8K4 && c == Accumulator::F16 && d == Accumulator::F32;
    if c != d && !widens {
        return Err(m.combination("D has the type of C"));
    }
    let plain = product.a_layout == Layout::Row && product.b_layout == Layout::Column;
    let any_layout = shape == Shape::M8N8K4 && a == Multiplicand::F16;
    if !plain && !any_layout {
        return Err(m.combination("only .m8n8k4 of .f16 supports layouts other than `.row.col`"));
    }
    Ok(())
}

fn signature(product: &MultiplyAccumulate) -> Signature {
    let (rows, columns, length) = product.shape.extents();
    // `.m8n8k4` of halves is four products, one per group of eight lanes.
    let products =
        if product.shape == Shape::M8N8K4 && product.a == Multiplicand::F16 { 4 } else { 1 };
    let accumulator = |ty: Accumulator| registers(products * rows * columns, ty.into());
    let mut roles = vec![
        writes(accumulator(product.d), accumulator_register(product.d)),
        reads(
            registers(products * rows * product.length_of_a(), product.a.into()),
            multiplicand_register(product.a),
        ),
        reads(
            registers(products * length * columns, product.b.into()),
            multiplicand_register(product.b),
        ),
        reads(accumulator(product.c), accumulator_register(product.c)),
    ];
    if product.is_sparse {
        roles.extend([METADATA, Role::Constant { largest: largest_selector(product) }]);
    }
    Signature::new(&roles)
}

/// The largest selector of a sparse A: one, two or all of the four lanes with a row of it hold metadata, each of four
/// groups of elements. PTX ISA, "Sparse matrix storage".
fn largest_selector(product: &MultiplyAccumulate) -> u64 {
    let (_, _, length) = product.shape.extents();
    let group = match product.a.register_bits() {
        32 => 2,
        4 => 8,
        _ => 4,
    };
    u64::from(4 / (length / group / 4)) - 1
}
