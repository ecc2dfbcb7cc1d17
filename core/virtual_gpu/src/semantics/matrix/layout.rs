//! The positions of the elements of fragments. PTX ISA 9.7.15.5 "Matrix Fragments for mma" (figures 46 to 105). The
//! layout of `wmma`, which the ISA does not specify, is that of `wmma.load` on an H200.
//!
//! Nearly all layouts follow one scheme: a register of a multiplicand covers, over the warp, 8 rows by 4 times as
//! many columns as it holds elements, and two elements of an accumulator cover 8 × 8. Only the order of these tiles
//! differs.

/// The shape of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and of the result.
    pub m: usize,
    /// Columns of B and of the result.
    pub n: usize,
    /// The inner dimension.
    pub k: usize,
}

/// Whether rows or columns are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MajorOrder {
    Row,
    /// `.col`
    Column,
}

/// The matrix and the size of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// A, m × k, with elements of this number of bits.
    A(u32),
    /// B, k × n, with elements of this number of bits.
    B(u32),
    /// C or D, m × n.
    C,
}

/// The position of an element in its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub row: usize,
    pub column: usize,
}

/// The layout of a fragment in the registers of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Tiles of eight rows: every `mma` except one, and `wmma`.
    Tiles(Shape, Fragment),
    /// `mma.m8n8k4` of f16: four products, one for each of the groups of lanes 0–3 and 16–19, 4–7 and 20–23,
    /// and so on. PTX ISA 9.7.15.5.1.
    QuadPairs(QuadFragment),
}

/// The fragments of `mma.m8n8k4` of f16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuadFragment {
    /// A, by rows or columns.
    A(MajorOrder),
    /// B, by rows or columns.
    B(MajorOrder),
    /// An accumulator of f16.
    C16,
    /// An accumulator of f32.
    C32,
}

impl Layout {
    /// The matrix position of an element of a lane; elements count from the low end of the lane's first register.
    ///
    /// Some fragments of `wmma` hold elements twice. For [`Layout::QuadPairs`] the position is in the product of the
    /// lane's group.
    #[must_use]
    pub fn position(self, lane: usize, element: usize) -> Position {
        match self {
            Self::Tiles(shape, fragment) => tiled(shape, fragment, lane, element),
            Self::QuadPairs(fragment) => quad_pair(fragment, lane, element),
        }
    }
}

fn tiled(shape: Shape, fragment: Fragment, lane: usize, element: usize) -> Position {
    let (group, member) = (lane / 4, lane % 4);
    // With more columns than rows the scheme is mirrored.
    let mirrored = shape.n > shape.m;
    match fragment {
        Fragment::A(bits) | Fragment::B(bits) => {
            let (per_register, along) = elements_per_register(bits, shape.k);
            let (register, within) = (element / per_register, element % per_register);
            let is_left = matches!(fragment, Fragment::A(_));
            let across = if is_left { shape.m / 8 } else { shape.n / 8 };
            let interleaved = is_left != mirrored;
            let (tile_across, tile_along) = tile(register, across, along, interleaved);
            let outer = group + 8 * tile_across;
            let inner = member * per_register + within + 4 * per_register * tile_along;
            if is_left {
                Position { row: outer, column: inner }
            } else {
                Position { row: inner, column: outer }
            }
        }
        Fragment::C => {
            let (tall, wide) = if mirrored { (shape.n, shape.m) } else { (shape.m, shape.n) };
            let (tile_across, tile_along) = tile(element / 2, tall / 8, wide / 8, true);
            let outer = group + 8 * tile_across;
            let inner = member * 2 + element % 2 + 8 * tile_along;
            if mirrored {
                Position { row: inner, column: outer }
            } else {
                Position { row: outer, column: inner }
            }
        }
    }
}

fn elements_per_register(bits: u32, length: usize) -> (usize, usize) {
    let per_register = if bits == 64 { 1 } else { 32 / bits as usize };
    (per_register, length / (4 * per_register))
}

/// The tile of a register, of `across` by `along` tiles.
///
/// Interleaved fragments go through two tiles across, then along, then to the next two; the others along first. After
/// the last tile they begin again.
fn tile(register: usize, across: usize, along: usize, interleaved: bool) -> (usize, usize) {
    let pair = if interleaved { across.min(2) } else { 1 };
    let (low, rest) = (register % pair, register / pair);
    ((low + pair * (rest / along)) % across, rest % along)
}

fn quad_pair(fragment: QuadFragment, lane: usize, element: usize) -> Position {
    let upper = if lane < 16 { 0 } else { 4 };
    let member = lane % 4;
    let (row, column) = match fragment {
        QuadFragment::A(MajorOrder::Row) => (member + upper, element),
        QuadFragment::A(MajorOrder::Column) => (element + upper, member),
        QuadFragment::B(MajorOrder::Row) => (member, element + upper),
        QuadFragment::B(MajorOrder::Column) => (element, member + upper),
        QuadFragment::C16 => (member + upper, element),
        QuadFragment::C32 => {
            ((member & 1) + (element & 2) + upper, (element & 4) + (member & 2) + (element & 1))
        }
    };
    Position { row, column }
}
