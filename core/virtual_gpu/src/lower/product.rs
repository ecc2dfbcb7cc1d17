//! The positions of the elements of a tensor product in the registers of a warp, computed once for each shape and
//! type.

use super::super::isa::float::Rounding;
use super::super::isa::matrix::{
    Accumulator, Layout as Order, Multiplicand, MultiplyAccumulate, Shape as IsaShape,
    WarpgroupMultiply,
};
use super::super::isa::scalar::ScalarType;
use super::super::semantics::matrix::{Fragment, Layout, MajorOrder, QuadFragment, Shape};

const LANES: usize = 32;

/// A product with its four fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) multiply: MultiplyAccumulate,
    /// The shape of each product; single bits count as 32-bit words along k.
    pub(crate) shape: Shape,
    /// The number of independent products: four for `mma.m8n8k4` of f16.
    pub(crate) products: usize,
    /// By rows.
    pub(crate) a: FragmentPlan,
    /// By columns.
    pub(crate) b: FragmentPlan,
    /// By rows.
    pub(crate) c: FragmentPlan,
    pub(crate) d: FragmentPlan,
}

/// The matrix positions of the registers of one fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FragmentPlan {
    /// The size of an element in bits; words of single bits count as one element.
    pub(crate) bits: u32,
    pub(crate) registers: usize,
    /// The number of elements of all products.
    pub(crate) elements: usize,
    /// For each register, lane and element of the register from the low end: the index in the matrix.
    pub(crate) places: Vec<u16>,
}

impl FragmentPlan {
    /// The number of elements of a register.
    pub(crate) fn per_register(&self) -> usize {
        if self.bits == 64 { 1 } else { 32 / self.bits as usize }
    }
}

/// The shape of an instruction as `semantics` defines it.
pub(crate) fn shape(shape: IsaShape) -> Shape {
    let (m, n, k) = shape.extents();
    Shape { m: m as usize, n: n as usize, k: k as usize }
}

fn order(order: Order) -> MajorOrder {
    match order {
        Order::Row => MajorOrder::Row,
        Order::Column => MajorOrder::Column,
    }
}

impl Product {
    /// A product whose fragments have these numbers of registers: D, A, B, C.
    pub(crate) fn new(multiply: MultiplyAccumulate, registers: [usize; 4]) -> Self {
        let extents = shape(multiply.shape);
        let quads = multiply.shape == IsaShape::M8N8K4 && multiply.a == Multiplicand::F16;
        let accumulator = |ty: Accumulator| {
            let quad = if ty == Accumulator::F16 { QuadFragment::C16 } else { QuadFragment::C32 };
            let layout = Layout::Tiles(extents, Fragment::C);
            (if quads { Layout::QuadPairs(quad) } else { layout }, ScalarType::from(ty).bits())
        };
        let (a_bits, b_bits) = (multiply.a.register_bits(), multiply.b.register_bits());
        let (a, b) = if quads {
            (
                Layout::QuadPairs(QuadFragment::A(order(multiply.a_layout))),
                Layout::QuadPairs(QuadFragment::B(order(multiply.b_layout))),
            )
        } else {
            (
                Layout::Tiles(extents, Fragment::A(a_bits)),
                Layout::Tiles(extents, Fragment::B(b_bits)),
            )
        };
        let words = if a_bits == 1 { 32 } else { 1 };
        let shape = Shape { k: extents.k / words, ..extents };
        let products = if quads { 4 } else { 1 };
        let plan = |layout, bits, registers, matrix: Matrix| {
            fragment(layout, bits, registers, matrix.at(shape, words), products)
        };
        let [(c_layout, c_bits), (d_layout, d_bits)] =
            [accumulator(multiply.c), accumulator(multiply.d)];
        Self {
            multiply,
            shape,
            products,
            a: plan(a, a_bits, registers[1], Matrix::A),
            b: plan(b, b_bits, registers[2], Matrix::B),
            c: plan(c_layout, c_bits, registers[3], Matrix::C),
            d: plan(d_layout, d_bits, registers[0], Matrix::C),
        }
    }
}

/// A product of a warpgroup. Each warp computes 16 rows of it, in tiles of 8 columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WarpgroupProduct {
    pub(crate) multiply: WarpgroupMultiply,
    /// The product of one tile.
    pub(crate) tile: Product,
    pub(crate) a: Multiplier,
    pub(crate) b: Multiplier,
}

/// The immediate operands that describe A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Multiplier {
    pub(crate) major: Major,
    pub(crate) sign: Sign,
}

/// The dimension along which a matrix in shared memory is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Major {
    /// The inner dimension.
    K,
    /// Rows of A, or columns of B.
    Outer,
}

/// The factor of all elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl WarpgroupProduct {
    pub(crate) fn new(multiply: WarpgroupMultiply, a: Multiplier, b: Multiplier) -> Self {
        let shape = match multiply.length() {
            8 => IsaShape::M16N8K8,
            16 => IsaShape::M16N8K16,
            32 => IsaShape::M16N8K32,
            _ => IsaShape::M16N8K256,
        };
        let tile = MultiplyAccumulate {
            shape,
            a_layout: Order::Row,
            b_layout: Order::Column,
            a: multiply.a,
            b: multiply.b,
            c: multiply.d,
            d: multiply.d,
            overflow: multiply.overflow,
            rounding: Rounding::NearestEven,
            bits: multiply.bits,
        };
        let sums = if multiply.d == Accumulator::F16 { 2 } else { 4 };
        Self { multiply, tile: Product::new(tile, [sums, 4, 2, sums]), a, b }
    }
}

/// The matrix of a fragment, which decides its storage order.
#[derive(Clone, Copy)]
enum Matrix {
    A,
    B,
    C,
}

/// The storage of a matrix: rows and columns in elements, and the contiguous dimension.
#[derive(Clone, Copy)]
struct Storage {
    matrix: Matrix,
    shape: Shape,
    /// The number of bits along k that form one element.
    words: usize,
}

impl Matrix {
    fn at(self, shape: Shape, words: usize) -> Storage {
        Storage { matrix: self, shape, words }
    }
}

impl Storage {
    fn elements(self) -> usize {
        let Shape { m, n, k } = self.shape;
        match self.matrix {
            Matrix::A => m * k,
            Matrix::B => k * n,
            Matrix::C => m * n,
        }
    }

    fn place(self, row: usize, column: usize) -> usize {
        let Shape { n, k, .. } = self.shape;
        match self.matrix {
            Matrix::A => row * k + column / self.words,
            Matrix::B => column * k + row / self.words,
            Matrix::C => row * n + column,
        }
    }
}

fn fragment(
    layout: Layout,
    bits: u32,
    registers: usize,
    storage: Storage,
    products: usize,
) -> FragmentPlan {
    // A register of single bits is one word of its row or column.
    let (bits, step) = if bits == 1 { (32, 32) } else { (bits, 1) };
    let per_register = if bits == 64 { 1 } else { 32 / bits as usize };
    let each = storage.elements();
    let mut places = Vec::with_capacity(registers * LANES * per_register);
    for register in 0..registers {
        for lane in 0..LANES {
            for within in 0..per_register {
                let element = (register * per_register + within) * step;
                let at = layout.position(lane, element);
                // Lanes 0–3 and 16–19 hold the first product, 4–7 and 20–23 the second, and so on.
                let product = if products > 1 { lane % 16 / 4 } else { 0 };
                places.push((product * each + storage.place(at.row, at.column)) as u16);
            }
        }
    }
    FragmentPlan { bits, registers, elements: products * each, places }
}
