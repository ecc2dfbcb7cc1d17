//! `wmma`: loads, stores and products. PTX ISA, sections "wmma.load", "wmma.store" and "wmma.mma".

use super::Matrix;
use super::fragment::{
    Accumulator, Fragment, Layout, Multiplicand, Shape, accumulator_register,
    multiplicand_register, reads, registers, writes,
};
use super::mma::{self, MultiplyAccumulate};
use crate::isa::memory::space;
use crate::isa::scalar::{Fit, ScalarType};
use crate::isa::signature::{Role, Signature};
use crate::isa::{Decoded, Modifiers, Operation, Refusal};

/// The shapes and accumulator types of a multiplicand type.
struct Combination {
    multiplicands: &'static [Multiplicand],
    shapes: &'static [Shape],
    accumulators: &'static [Accumulator],
}

const LARGE: &[Shape] = &[Shape::M16N16K16, Shape::M8N32K16, Shape::M32N8K16];

const COMBINATIONS: &[Combination] = &[
    Combination {
        multiplicands: &[Multiplicand::F16],
        shapes: LARGE,
        accumulators: &[Accumulator::F16, Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::Bf16],
        shapes: LARGE,
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::U8],
        shapes: LARGE,
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::S8],
        shapes: LARGE,
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::Tf32],
        shapes: &[Shape::M16N16K8],
        accumulators: &[Accumulator::F32],
    },
    Combination {
        multiplicands: &[Multiplicand::F64],
        shapes: &[Shape::M8N8K4],
        accumulators: &[Accumulator::F64],
    },
    Combination {
        multiplicands: &[Multiplicand::U4],
        shapes: &[Shape::M8N8K32],
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::S4],
        shapes: &[Shape::M8N8K32],
        accumulators: &[Accumulator::S32],
    },
    Combination {
        multiplicands: &[Multiplicand::B1],
        shapes: &[Shape::M8N8K128],
        accumulators: &[Accumulator::S32],
    },
];

fn aligned(m: &mut Modifiers<'_>) -> Result<(), Refusal> {
    m.require_flag("sync", "`.sync`")?;
    m.require_flag("aligned", "`.aligned`")
}

/// The registers of a multiplicand's fragment. Fragments of halves hold each element twice, for every shape.
fn multiplicand_count(ty: Multiplicand, elements: u32) -> u8 {
    if ty == Multiplicand::F16 { 8 } else { registers(elements, ty.into()) }
}

pub(super) fn load(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("load");
    aligned(m)?;
    let (layout, shape): (Layout, Shape) = (m.required()?, m.required()?);
    let space = space(m);
    let (rows, columns, length) = shape.extents();
    let (fragment, value) = if m.flag("a") {
        let ty = multiplicand(m, shape)?;
        let count = multiplicand_count(ty, rows * length);
        (Fragment::A(ty), writes(count, multiplicand_register(ty)))
    } else if m.flag("b") {
        let ty = multiplicand(m, shape)?;
        let count = multiplicand_count(ty, length * columns);
        (Fragment::B(ty), writes(count, multiplicand_register(ty)))
    } else {
        m.require_flag("c", "`.a`, `.b` or `.c`")?;
        let ty = accumulator(m, shape)?;
        let count = registers(rows * columns, ty.into());
        (Fragment::C(ty), writes(count, accumulator_register(ty)))
    };
    let stride = Role::Read(ScalarType::B32, Fit::Exact);
    let signature = Signature::new(&[value, Role::Address(space), stride]).optional(1);
    Ok((Operation::Matrix(Matrix::WarpLoad(fragment, shape, layout, space)), signature))
}

pub(super) fn store(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("store");
    aligned(m)?;
    m.require_flag("d", "`.d`")?;
    let (layout, shape): (Layout, Shape) = (m.required()?, m.required()?);
    let space = space(m);
    let ty = accumulator(m, shape)?;
    let (rows, columns, _) = shape.extents();
    let value = reads(registers(rows * columns, ty.into()), accumulator_register(ty));
    let stride = Role::Read(ScalarType::B32, Fit::Exact);
    let signature = Signature::new(&[Role::Address(space), value, stride]).optional(1);
    Ok((Operation::Matrix(Matrix::WarpStore(ty, shape, layout, space)), signature))
}

fn multiplicand(m: &mut Modifiers<'_>, shape: Shape) -> Result<Multiplicand, Refusal> {
    let ty = m.required()?;
    let exists = COMBINATIONS.iter().any(|combination| {
        combination.multiplicands.contains(&ty) && combination.shapes.contains(&shape)
    });
    if exists { Ok(ty) } else { Err(m.combination("this type does not support this shape")) }
}

fn accumulator(m: &mut Modifiers<'_>, shape: Shape) -> Result<Accumulator, Refusal> {
    let ty = m.required()?;
    let exists = COMBINATIONS.iter().any(|combination| {
        combination.accumulators.contains(&ty) && combination.shapes.contains(&shape)
    });
    if exists { Ok(ty) } else { Err(m.combination("this type does not support this shape")) }
}

pub(super) fn multiply(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("mma");
    aligned(m)?;
    let (a_layout, b_layout): (Layout, Layout) = (m.required()?, m.required()?);
    let shape = m.required()?;
    let d = mma::first_accumulator(m)?;
    // `.f32.f32` alone means multiplicands of f16.
    let a = m.optional::<Multiplicand>();
    let b = m.optional::<Multiplicand>();
    let (a, b, c) = match (a, b) {
        (Some(a), Some(b)) => (a, b, m.required()?),
        // `.f16.f16`: the second type is the accumulator, which is also a multiplicand type.
        (Some(Multiplicand::F16), None) => (Multiplicand::F16, Multiplicand::F16, Accumulator::F16),
        (None, None) => (Multiplicand::F16, Multiplicand::F16, m.required()?),
        (_, _) => return Err(m.missing("the types of both multiplicands")),
    };
    let product = MultiplyAccumulate {
        shape,
        a_layout,
        b_layout,
        a,
        b,
        c,
        d,
        overflow: mma::overflow(m, a)?,
        rounding: mma::rounding(m, a),
        bits: mma::bits(m, a)?,
        is_sparse: false,
    };
    check(m, &product)?;
    Ok((Operation::Matrix(Matrix::WarpMultiply(product)), signature(&product)))
}

fn check(m: &Modifiers<'_>, product: &MultiplyAccumulate) -> Result<(), Refusal> {
    let MultiplyAccumulate { shape, a, b, c, d, .. } = *product;
    let combination = COMBINATIONS
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
    let small = matches!(a, Multiplicand::U4 | Multiplicand::S4 | Multiplicand::B1);
    if small && (product.a_layout, product.b_layout) != (Layout::Row, Layout::Column) {
        return Err(m.combination("elements of fewer than 8 bits require `.row.col`"));
    }
    Ok(())
}

fn signature(product: &MultiplyAccumulate) -> Signature {
    let (rows, columns, length) = product.shape.extents();
    let accumulator = |ty: Accumulator| registers(rows * columns, ty.into());
    let MultiplyAccumulate { a, b, c, d, .. } = *product;
    Signature::new(&[
        writes(accumulator(d), accumulator_register(d)),
        reads(multiplicand_count(a, rows * length), multiplicand_register(a)),
        reads(multiplicand_count(b, length * columns), multiplicand_register(b)),
        reads(accumulator(c), accumulator_register(c)),
    ])
}
