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
    /// The shape of each product; single bits count as 32-bit words along k, and absent elements of A do not count.
    pub(crate) shape: Shape,
    /// The elements of B that those of a sparse A meet.
    pub(crate) selection: Option<Selection>,
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
    /// A product whose fragments have these numbers of registers: D, A, B, C; with the selector of a sparse A.
    pub(crate) fn new(multiply: MultiplyAccumulate, registers: [usize; 4], selector: u8) -> Self {
        let extents = shape(multiply.shape);
        let compressed = Shape { k: multiply.length_of_a() as usize, ..extents };
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
                Layout::Tiles(compressed, Fragment::A(a_bits)),
                Layout::Tiles(extents, Fragment::B(b_bits)),
            )
        };
        let words = if a_bits == 1 { 32 } else { 1 };
        let of_b = Shape { k: extents.k / words, ..extents };
        let shape = Shape { k: compressed.k / words, ..extents };
        let products = if quads { 4 } else { 1 };
        let plan = |layout, bits, registers, matrix: Matrix| {
            let shape = if matrix == Matrix::B { of_b } else { shape };
            fragment(layout, bits, registers, matrix.at(shape, words), products)
        };
        let [(c_layout, c_bits), (d_layout, d_bits)] =
            [accumulator(multiply.c), accumulator(multiply.d)];
        Self {
            multiply,
            shape,
            selection: multiply.is_sparse.then(|| Selection::new(a_bits, extents.k, selector)),
            products,
            a: plan(a, a_bits, registers[1], Matrix::A),
            b: plan(b, b_bits, registers[2], Matrix::B),
            c: plan(c_layout, c_bits, registers[3], Matrix::C),
            d: plan(d_layout, d_bits, registers[0], Matrix::C),
        }
    }
}

/// For each element of a sparse A, by rows, the element of B that it meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection(Vec<Selected>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Selected {
    /// The lane with the metadata, and the lowest of the two bits.
    lane: u8,
    shift: u8,
    /// The first element of the group along k.
    first: u16,
    /// The elements of two steps of the metadata.
    scale: u8,
    /// The element behind the selected one.
    within: u8,
}

/// Rows of A of a warp.
const ROWS_OF_A: usize = 16;

impl Selection {
    /// The selection of a product of `length` elements of this size. Four bits of the metadata describe a group: the
    /// positions of two elements of four, of two pairs of four with 4-bit elements, and of one of two with tf32, as halves.
    ///
    /// PTX ISA, "Sparse matrix storage". The lanes are those of an H200: of each four that hold a row of A, the selector names
    /// the first ones that contribute.
    fn new(bits: u32, length: usize, selector: u8) -> Self {
        let (group, present, scale) = match bits {
            32 => (2, 1, 1),
            4 => (8, 4, 4),
            _ => (4, 2, 2),
        };
        let (groups, selector) = (length / group, usize::from(selector));
        let selected = |index: usize| {
            let (row, element) = (index / (groups * present), index % (groups * present));
            let (number, position) = (element / present, element % present);
            let (lane, nibble) = if bits >= 16 {
                let lanes = groups.div_ceil(4);
                (selector * lanes + number / 4, number % 4 + 4 * (row / 8))
            } else {
                (2 * selector + row / 8 + 2 * (number / 8), number % 8)
            };
            let each = if bits == 4 { 2 } else { 1 };
            Selected {
                lane: (4 * (row % 8) + lane % 4) as u8,
                shift: (4 * nibble + 2 * (position / each)) as u8,
                first: (number * group) as u16,
                scale,
                within: (position % each) as u8,
            }
        };
        Self((0..ROWS_OF_A * groups * present).map(selected).collect())
    }

    /// The lanes whose metadata count.
    pub(crate) fn lanes(&self) -> u32 {
        self.0.iter().fold(0, |all, selected| all | 1 << selected.lane)
    }

    /// The index along k of the element of B for each element of A, by rows.
    pub(crate) fn indices(&self, metadata: &[u32; LANES]) -> Vec<usize> {
        let index = |selected: &Selected| {
            let position = metadata[usize::from(selected.lane)] >> selected.shift & 3;
            let behind = position as usize * usize::from(selected.scale) / 2;
            usize::from(selected.first) + behind + usize::from(selected.within)
        };
        self.0.iter().map(index).collect()
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
    pub(crate) fn new(
        multiply: WarpgroupMultiply,
        a: Multiplier,
        b: Multiplier,
        selector: u8,
    ) -> Self {
        let shape = match multiply.length() {
            8 => IsaShape::M16N8K8,
            16 => IsaShape::M16N8K16,
            32 => IsaShape::M16N8K32,
            64 => IsaShape::M16N8K64,
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
            is_sparse: multiply.is_sparse,
        };
        let sums = if multiply.d == Accumulator::F16 { 2 } else { 4 };
        let of_b = if multiply.is_sparse { 4 } else { 2 };
        Self { multiply, tile: Product::new(tile, [sums, 4, of_b, sums], selector), a, b }
    }
}

/// The matrix of a fragment, which decides its storage order.
#[derive(Clone, Copy, PartialEq, Eq)]
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
