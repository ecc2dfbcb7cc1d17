//! `wmma.load` and `wmma.store`: transfers of fragments between memory and registers. PTX ISA, sections "wmma.load"
//! and "wmma.store", and "Matrix Storage for WMMA".

use super::super::super::isa::matrix::{
    Accumulator, Fragment as Loaded, Layout as Order, Shape as IsaShape,
};
use super::super::super::isa::memory::Space;
use super::super::super::isa::scalar::ScalarType;
use super::super::super::lower::code::{BaseKind, Op};
use super::super::super::lower::product::shape;
use super::super::super::semantics::matrix::{Fragment, Layout, Position, Shape};
use super::super::access::{Moved, Part};
use super::super::fault::{FaultKind, Finding};
use super::super::lanes::Doubles;
use super::super::run::Worker;
use super::super::warp::{Frame, LANES};

/// A fragment, and the layout of its matrix in memory.
pub(super) struct Form {
    layout: Layout,
    bits: u32,
    order: Order,
    /// Rows and columns.
    extents: (usize, usize),
}

impl Form {
    pub(super) fn loaded(fragment: Loaded, isa_shape: IsaShape, order: Order) -> Self {
        let Shape { m, n, k } = shape(isa_shape);
        let (fragment, bits, extents) = match fragment {
            Loaded::A(ty) => {
                let bits = ty.register_bits();
                (Fragment::A(bits), bits, (m, k))
            }
            Loaded::B(ty) => {
                let bits = ty.register_bits();
                (Fragment::B(bits), bits, (k, n))
            }
            Loaded::C(ty) => (Fragment::C, ScalarType::from(ty).bits(), (m, n)),
        };
        Self { layout: Layout::Tiles(shape(isa_shape), fragment), bits, order, extents }
    }

    pub(super) fn stored(ty: Accumulator, isa_shape: IsaShape, order: Order) -> Self {
        Self::loaded(Loaded::C(ty), isa_shape, order)
    }

    fn per_register(&self) -> usize {
        if self.bits == 64 { 1 } else { 32 / self.bits as usize }
    }

    /// The line of memory that contains an element, and its index in the line.
    fn line(&self, Position { row, column }: Position) -> (u64, u64) {
        match self.order {
            Order::Row => (row as u64, column as u64),
            Order::Column => (column as u64, row as u64),
        }
    }

    /// The default stride between lines, in elements.
    fn default_stride(&self) -> u64 {
        let (rows, columns) = self.extents;
        match self.order {
            Order::Row => columns as u64,
            Order::Column => rows as u64,
        }
    }

    /// Whether the elements of a register are adjacent in memory, as elements of fewer than eight bits always are.
    fn is_contiguous(&self) -> bool {
        let first = self.line(self.layout.position(0, 0));
        let last = self.line(self.layout.position(0, self.per_register() - 1));
        first.0 == last.0
    }
}

/// The location of a matrix: the address of each lane, and the stride in bits.
struct Base {
    addresses: Doubles,
    stride: u64,
    mask: u32,
}

impl Base {
    /// The address of an element in each lane.
    fn at(&self, form: &Form, element: usize) -> Doubles {
        std::array::from_fn(|lane| {
            let (line, along) = form.line(form.layout.position(lane, element));
            let bits = (line * self.stride + along).wrapping_mul(u64::from(form.bits));
            self.addresses[lane].wrapping_add(bits / 8)
        })
    }

    /// The access of all lanes to a piece at these addresses.
    const fn part<'a>(&self, pc: u32, addresses: &'a Doubles, piece: &Piece) -> Part<'a> {
        Part { pc, addresses, mask: self.mask, element: piece.bytes, count: 1 }
    }
}

/// A transfer by all lanes: bytes per lane, and the first element of the register.
struct Piece {
    element: usize,
    bytes: u32,
    shift: u32,
}

fn pieces(form: &Form, register: usize) -> Vec<Piece> {
    let per_register = form.per_register();
    if form.is_contiguous() {
        let bytes = if form.bits == 64 { 8 } else { 4 };
        return vec![Piece { element: register * per_register, bytes, shift: 0 }];
    }
    let piece = |index: usize| Piece {
        element: register * per_register + index,
        bytes: form.bits / 8,
        shift: form.bits * index as u32,
    };
    (0..per_register).map(piece).collect()
}

impl Worker<'_, '_> {
    pub(super) fn load_fragment(
        &mut self,
        pc: u32,
        op: &Op,
        form: &Form,
        (space, base): (Space, BaseKind),
        (frame, mask): (Frame, u32),
    ) {
        let base_of = self.matrix_base(pc, op, form, base, (frame, mask));
        let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
        for register in 0..count {
            let (mut whole, mut undefined) = ([0_u64; LANES], u32::MAX);
            for piece in pieces(form, register) {
                let mut addresses = base_of.at(form, piece.element);
                let spaces = Self::spaces(space, base, &mut addresses, base_of.mask);
                let mut moved = Moved::nothing();
                let part = base_of.part(pc, &addresses, &piece);
                self.race_fragment_load(&part, &spaces);
                self.bring(&part, &spaces, frame, &mut moved);
                for (whole, moved) in whole.iter_mut().zip(moved.values[0]) {
                    *whole |= moved << piece.shift;
                }
                undefined &= moved.undefined[0];
            }
            for lane in (0..LANES).filter(|lane| undefined >> lane & 1 == 1) {
                self.warp.undefined_load[lane] = Some(pc);
            }
            let slot = self.launch.program.lists[start + register];
            let mut lanes = self.lanes(frame, mask);
            if form.bits == 64 {
                lanes.set_double(slot, &whole, undefined);
            } else {
                lanes.set_word(slot, &whole.map(|value| value as u32), undefined);
            }
        }
    }

    pub(super) fn store_fragment(
        &mut self,
        pc: u32,
        op: &Op,
        form: &Form,
        (space, base): (Space, BaseKind),
        (frame, mask): (Frame, u32),
    ) {
        let base_of = self.matrix_base(pc, op, form, base, (frame, mask));
        let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
        for register in 0..count {
            let slot = self.launch.program.lists[start + register];
            let (whole, undefined) = self.lanes(frame, mask).any(slot, form.bits == 64);
            for piece in pieces(form, register) {
                let mut addresses = base_of.at(form, piece.element);
                let spaces = Self::spaces(space, base, &mut addresses, base_of.mask);
                let cut = u64::MAX >> (64 - 8 * piece.bytes);
                let mut moved = Moved::nothing();
                moved.values[0] = whole.map(|value| value >> piece.shift & cut);
                moved.undefined[0] = undefined & mask;
                let part = base_of.part(pc, &addresses, &piece);
                self.race_fragment_store(&part, &spaces, &moved);
                self.put(&part, &spaces, frame, &moved);
            }
        }
    }

    /// The addresses and the stride, checked.
    fn matrix_base(
        &mut self,
        pc: u32,
        op: &Op,
        form: &Form,
        base: BaseKind,
        (frame, mask): (Frame, u32),
    ) -> Base {
        let (addresses, mut mask) = self.addresses(pc, op, base, frame, mask);
        let mut stride = form.default_stride();
        if !op.b.is_none() {
            let lanes = self.lanes(frame, mask);
            let (strides, undefined) = (lanes.word(op.b), lanes.word_undefined(op.b) & mask);
            if undefined != 0 && self.launch.checks.uninitialized {
                self.report_undefined(pc, undefined, "the stride of a matrix");
                mask = 0;
            }
            stride = u64::from(strides[mask.trailing_zeros() as usize % LANES]);
        }
        let base = Base { addresses, stride, mask };
        self.check_lines(pc, form, op.list.1, &base);
        base
    }

    /// Checks the alignment of lines: multiples of the fragment's size, of which any GPU requires at most 16 bytes;
    /// the CUDA C++ Programming Guide requires 16 bytes of strides ("Warp Matrix Functions").
    fn check_lines(&mut self, pc: u32, form: &Form, registers: u8, base: &Base) {
        let register_bytes = if form.bits == 64 { 8 } else { 4 };
        let align = (register_bytes * u64::from(registers)).min(16);
        let stride = base.stride.wrapping_mul(u64::from(form.bits)) / 8;
        let wrong = super::super::lanes::bits(|lane| !base.addresses[lane].is_multiple_of(align));
        let wrong = wrong & base.mask;
        let (lane, text) = if wrong != 0 {
            let lane = wrong.trailing_zeros();
            let address = base.addresses[lane as usize];
            (lane, format!("a matrix at {address:#x}, which is not a multiple of {align} bytes"))
        } else if !stride.is_multiple_of(align) && base.mask != 0 {
            let text = format!(
                "a matrix with a stride of {stride} bytes, which is not a multiple of {align}"
            );
            (base.mask.trailing_zeros(), text)
        } else {
            return;
        };
        let address = Some(base.addresses[lane as usize % LANES]);
        let kind = FaultKind::Misaligned;
        self.report(pc, Finding { address, ..Finding::new(kind, lane, text) });
    }
}
