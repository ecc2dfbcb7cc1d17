//! Tensor products: registers to matrices, `semantics`, and back to registers.

use super::super::super::cost::{Counts, MULTIPLY_ADDS_PER_STEP};
use super::super::super::isa::matrix::{Accumulator, BitProduct, Multiplicand, MultiplyAccumulate};
use super::super::super::lower::code::{Op, Slot};
use super::super::super::lower::product::{FragmentPlan, Product};
use super::super::super::semantics::{self, matrix as s};
use super::super::compute::modes;
use super::super::lanes::Lanes;
use super::super::run::Worker;
use super::super::warp::{Frame, LANES};

impl Worker<'_, '_> {
    pub(super) fn multiply(&mut self, pc: u32, op: &Op, frame: Frame, mask: u32) {
        let program = self.launch.program;
        let Some(product) = program.products.get(op.immediate as usize) else { return };
        let (rows, columns, _) = product.multiply.shape.extents();
        let length = product.multiply.length_of_a();
        let multiply_adds = product.products as u64 * u64::from(rows * columns * length);
        // The assembler unpacks 8-bit floats and makes two products of f16 of it; only warpgroups have products of 8 bits.
        let executed = match (product.multiply.a, self.launch.target) {
            (Multiplicand::E4m3 | Multiplicand::E5m2, s::Architecture::Hopper) => Multiplicand::F16,
            (ty, _) => ty,
        };
        self.count_multiply_adds(pc, executed, multiply_adds);
        let Some(architecture) = self.launch.tensor_cores else { return };
        let slots = &program.lists[op.list.0 as usize..][..usize::from(op.list.1)];
        let (d, rest) = slots.split_at(product.d.registers);
        let (a, rest) = rest.split_at(product.a.registers);
        let (b, c) = rest.split_at(product.b.registers);
        let selection = self.selected(pc, op, product, (frame, mask));
        let mut lanes = self.lanes(frame, mask);
        let result = match kind(&product.multiply) {
            Kind::Doubles => {
                let rounding = modes::rounding(product.multiply.rounding);
                let (a, b) =
                    (gather_doubles(&lanes, a, &product.a), gather_doubles(&lanes, b, &product.b));
                let mut sums = gather_doubles(&lanes, c, &product.c);
                each(product, &a, &b, &mut sums, |a, b, sums| {
                    s::multiply_double(product.shape, a, b, sums, rounding);
                });
                Sums::Doubles(sums)
            }
            Kind::Words(kind) => {
                let (a, b) = (gather(&lanes, a, &product.a), gather(&lanes, b, &product.b));
                let mut sums = gather(&lanes, c, &product.c);
                let model = (architecture, s::Issuer::Warp);
                each(product, &a, &b, &mut sums, |a, b, sums| {
                    Rows::new(product, kind, model, a, selection.as_deref()).multiply(b, sums);
                });
                Sums::Words(sums)
            }
        };
        let unknown = [(a, &product.a), (b, &product.b), (c, &product.c)]
            .map(|(slots, plan)| unknown(&lanes, slots, plan, mask));
        scatter(&mut lanes, d, &product.d, &result, &undefined(product, &unknown));
    }

    /// The index along k of the element of B for each element of a sparse A, by rows.
    pub(super) fn selected(
        &mut self,
        pc: u32,
        op: &Op,
        product: &Product,
        (frame, mask): (Frame, u32),
    ) -> Option<Vec<usize>> {
        let selection = product.selection.as_ref()?;
        let lanes = self.lanes(frame, mask);
        let (metadata, undefined) = (lanes.word(op.c), lanes.word_undefined(op.c) & mask);
        if undefined != 0 && undefined & selection.lanes() != 0 {
            let undefined = undefined & selection.lanes();
            self.report_undefined(pc, undefined, "the metadata of a sparse matrix");
        }
        Some(selection.indices(&metadata))
    }

    /// Adds to the counters and to the steps of the launch: limits of steps stand for limits of time.
    pub(super) fn count_multiply_adds(&mut self, pc: u32, ty: Multiplicand, multiply_adds: u64) {
        if self.launch.tensor_cores.is_some() {
            let steps = multiply_adds / MULTIPLY_ADDS_PER_STEP;
            self.launch.steps += steps;
            self.launch.product_steps += steps;
        }
        if let Some(counts) = self.launch.count(pc) {
            *counter(counts, ty) += multiply_adds;
        }
    }
}

/// A of a product of elements of at most 32 bits, prepared for several matrices B.
pub(super) struct Rows<'a> {
    shape: s::Shape,
    overflow: semantics::Overflow,
    /// All rows together; of a sparse A each row, with the indices of its elements of B.
    parts: Vec<(Prepared<'a>, Option<&'a [usize]>)>,
}

/// Rows of A.
enum Prepared<'a> {
    Float(s::FloatRows<'a>),
    Integer(Vec<i32>, Extension),
    Bits(&'a [u32], s::BitProduct),
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        product: &Product,
        kind: WordKind,
        model: (s::Architecture, s::Issuer),
        a: &'a [u32],
        selected: Option<&'a [usize]>,
    ) -> Self {
        let overflow = modes::overflow(product.multiply.overflow);
        let prepared = |shape: s::Shape, a: &'a [u32]| match kind {
            WordKind::Float(types) => Prepared::Float(s::FloatRows::new(shape, types, a, model)),
            WordKind::Integer(of_a, of_b) => Prepared::Integer(of_a.extend_all(a), of_b),
            WordKind::Bits(bits) => Prepared::Bits(a, bits),
        };
        let Some(selected) = selected else {
            let parts = vec![(prepared(product.shape, a), None)];
            return Self { shape: product.shape, overflow, parts };
        };
        let shape = s::Shape { m: 1, ..product.shape };
        let rows = a.chunks(shape.k).zip(selected.chunks(shape.k));
        let parts = rows.map(|(row, selected)| (prepared(shape, row), Some(selected))).collect();
        Self { shape, overflow, parts }
    }

    /// Adds the product with B to a third matrix.
    pub(super) fn multiply(&self, b: &[u32], sums: &mut [u32]) {
        let s::Shape { m, n, .. } = self.shape;
        let length = b.len() / n;
        for ((rows, selected), sums) in self.parts.iter().zip(sums.chunks_mut(m * n)) {
            match selected {
                None => self.multiply_part(rows, b, sums),
                Some(selected) => {
                    let columns = b.chunks(length);
                    let met =
                        columns.flat_map(|column| selected.iter().map(|index| column[*index]));
                    self.multiply_part(rows, &met.collect::<Vec<u32>>(), sums);
                }
            }
        }
    }

    fn multiply_part(&self, rows: &Prepared<'_>, b: &[u32], sums: &mut [u32]) {
        match rows {
            Prepared::Float(rows) => rows.multiply(b, sums),
            Prepared::Integer(a, of_b) => {
                let sums = bytemuck::cast_slice_mut(sums);
                s::multiply_integer(self.shape, a, &of_b.extend_all(b), sums, self.overflow);
            }
            Prepared::Bits(a, bits) => s::multiply_bits(self.shape, a, b, sums, *bits),
        }
    }
}

/// The counter of multiply-adds of a type.
fn counter(counts: &mut Counts, ty: Multiplicand) -> &mut u64 {
    match ty {
        Multiplicand::F16 => &mut counts.tensor_f16_multiply_adds,
        Multiplicand::Bf16 => &mut counts.tensor_bf16_multiply_adds,
        Multiplicand::Tf32 => &mut counts.tensor_tf32_multiply_adds,
        Multiplicand::F64 => &mut counts.tensor_f64_multiply_adds,
        Multiplicand::E4m3 | Multiplicand::E5m2 => &mut counts.tensor_f8_multiply_adds,
        Multiplicand::U8 | Multiplicand::S8 => &mut counts.tensor_int8_multiply_adds,
        Multiplicand::U4 | Multiplicand::S4 => &mut counts.tensor_int4_multiply_adds,
        Multiplicand::B1 => &mut counts.tensor_bit_multiply_adds,
    }
}

/// The kind of a product.
pub(super) enum Kind {
    Doubles,
    Words(WordKind),
}

/// The kind of a product of elements of at most 32 bits, with the parameters of `semantics`.
#[derive(Clone, Copy)]
pub(super) enum WordKind {
    Float(s::FloatTypes),
    /// The extension of elements of A and B to 32 bits.
    Integer(Extension, Extension),
    Bits(s::BitProduct),
}

/// The extension of a small integer to 32 bits.
#[derive(Clone, Copy)]
pub(super) enum Extension {
    Zero,
    /// Sign extension from this number of bits.
    Sign(u32),
}

impl Extension {
    fn extend_all(self, elements: &[u32]) -> Vec<i32> {
        elements.iter().map(|bits| self.extend(*bits)).collect()
    }

    fn extend(self, bits: u32) -> i32 {
        match self {
            Self::Zero => bits as i32,
            Self::Sign(width) => (bits << (32 - width)) as i32 >> (32 - width),
        }
    }
}

pub(super) fn kind(multiply: &MultiplyAccumulate) -> Kind {
    let float = |a, b| {
        let (c, d) = (sum(multiply.c), sum(multiply.d));
        WordKind::Float(s::FloatTypes { a, b, c, d })
    };
    Kind::Words(match multiply.a {
        Multiplicand::F16 => float(s::Multiplicand::F16, s::Multiplicand::F16),
        Multiplicand::Bf16 => float(s::Multiplicand::Bf16, s::Multiplicand::Bf16),
        Multiplicand::Tf32 => float(s::Multiplicand::Tf32, s::Multiplicand::Tf32),
        Multiplicand::E4m3 => float(s::Multiplicand::E4m3, eight_bits(multiply.b)),
        Multiplicand::E5m2 => float(s::Multiplicand::E5m2, eight_bits(multiply.b)),
        Multiplicand::F64 => return Kind::Doubles,
        Multiplicand::U8 | Multiplicand::S8 | Multiplicand::U4 | Multiplicand::S4 => {
            WordKind::Integer(extension(multiply.a), extension(multiply.b))
        }
        Multiplicand::B1 => WordKind::Bits(match multiply.bits {
            Some(BitProduct::And) => s::BitProduct::And,
            Some(BitProduct::Xor) | None => s::BitProduct::Xor,
        }),
    })
}

/// The two eight-bit formats may be mixed, no others.
fn eight_bits(ty: Multiplicand) -> s::Multiplicand {
    if ty == Multiplicand::E5m2 { s::Multiplicand::E5m2 } else { s::Multiplicand::E4m3 }
}

fn extension(ty: Multiplicand) -> Extension {
    match ty {
        Multiplicand::S8 => Extension::Sign(8),
        Multiplicand::S4 => Extension::Sign(4),
        Multiplicand::U8
        | Multiplicand::U4
        | Multiplicand::B1
        | Multiplicand::F16
        | Multiplicand::Bf16
        | Multiplicand::Tf32
        | Multiplicand::F64
        | Multiplicand::E4m3
        | Multiplicand::E5m2 => Extension::Zero,
    }
}

fn sum(ty: Accumulator) -> s::Accumulator {
    if ty == Accumulator::F16 { s::Accumulator::F16 } else { s::Accumulator::F32 }
}

pub(super) enum Sums {
    Words(Vec<u32>),
    Doubles(Vec<u64>),
}

/// Executes the products one after the other.
fn each<T>(
    product: &Product,
    a: &[T],
    b: &[T],
    sums: &mut [T],
    multiply: impl Fn(&[T], &[T], &mut [T]),
) {
    let of = |elements: usize| elements / product.products;
    let (a, b) = (a.chunks(of(a.len())), b.chunks(of(b.len())));
    let length = of(sums.len());
    for ((a, b), sums) in a.zip(b).zip(sums.chunks_mut(length)) {
        multiply(a, b, sums);
    }
}

/// The elements of a matrix, from the registers of all lanes.
pub(super) fn gather(lanes: &Lanes<'_>, slots: &[Slot], plan: &FragmentPlan) -> Vec<u32> {
    let mut matrix = vec![0; plan.elements];
    // The number of pieces of a register is constant in each loop.
    match plan.per_register() {
        1 => gather_pieces::<1>(lanes, slots, plan, &mut matrix),
        2 => gather_pieces::<2>(lanes, slots, plan, &mut matrix),
        4 => gather_pieces::<4>(lanes, slots, plan, &mut matrix),
        // No element is smaller than four bits.
        _ => gather_pieces::<8>(lanes, slots, plan, &mut matrix),
    }
    matrix
}

#[inline(always)]
fn gather_pieces<const PIECES: usize>(
    lanes: &Lanes<'_>,
    slots: &[Slot],
    plan: &FragmentPlan,
    matrix: &mut [u32],
) {
    let bits = 32 / PIECES as u32;
    let mask = u32::MAX >> (32 - bits);
    let (places, _) = plan.places.as_chunks::<PIECES>();
    for (slot, places) in slots.iter().zip(places.chunks_exact(LANES)) {
        for (word, places) in lanes.word_ref(*slot).iter().zip(places) {
            for (piece, place) in places.iter().enumerate() {
                matrix[usize::from(*place)] = word >> (piece as u32 * bits) & mask;
            }
        }
    }
}

fn gather_doubles(lanes: &Lanes<'_>, slots: &[Slot], plan: &FragmentPlan) -> Vec<u64> {
    let mut matrix = vec![0; plan.elements];
    for (slot, places) in slots.iter().zip(plan.places.chunks_exact(LANES)) {
        for (value, place) in lanes.double(*slot).iter().zip(places) {
            matrix[usize::from(*place)] = *value;
        }
    }
    matrix
}

/// The elements of a matrix that are uninitialised; none if all are initialised.
pub(super) fn unknown(
    lanes: &Lanes<'_>,
    slots: &[Slot],
    plan: &FragmentPlan,
    mask: u32,
) -> Option<Vec<bool>> {
    let bits = |slot: &Slot| {
        let bits = if plan.bits == 64 {
            lanes.double_undefined(*slot)
        } else {
            lanes.word_undefined(*slot)
        };
        // A lane that does not take part contributes nothing.
        if slot.is_pool() { bits } else { bits | !mask }
    };
    if slots.iter().all(|slot| bits(slot) == 0) {
        return None;
    }
    let mut unknown = vec![false; plan.elements];
    let per_register = plan.per_register();
    for (slot, places) in slots.iter().zip(plan.places.chunks_exact(LANES * per_register)) {
        let bits = bits(slot);
        for (index, place) in places.iter().enumerate() {
            unknown[usize::from(*place)] |= bits >> (index / per_register) & 1 == 1;
        }
    }
    Some(unknown)
}

/// For each register of the result, the lanes whose value depends on an uninitialised element of A, B or C.
pub(super) fn undefined(product: &Product, unknown: &[Option<Vec<bool>>; 3]) -> Vec<u32> {
    let [rows, columns, sums] = unknown;
    if unknown.iter().all(Option::is_none) {
        return vec![0; product.d.registers];
    }
    let s::Shape { m, n, k } = product.shape;
    let line = |unknown: &Option<Vec<bool>>, line: usize, k: usize| {
        unknown.as_ref().is_some_and(|unknown| unknown[line * k..(line + 1) * k].contains(&true))
    };
    let of_b = product.b.elements / (n * product.products);
    let depends = |place: usize| {
        let (which, place) = (place / (m * n), place % (m * n));
        line(rows, which * m + place / n, k)
            || line(columns, which * n + place % n, of_b)
            || sums.as_ref().is_some_and(|unknown| unknown[which * m * n + place])
    };
    let per_register = product.d.per_register();
    let registers = product.d.places.chunks_exact(LANES * per_register);
    registers
        .map(|places| {
            super::super::lanes::bits(|lane| {
                // As with packing, a register is initialised if one of its elements is.
                let places = &places[lane * per_register..(lane + 1) * per_register];
                places.iter().all(|place| depends(usize::from(*place)))
            })
        })
        .collect()
}

pub(super) fn scatter(
    lanes: &mut Lanes<'_>,
    slots: &[Slot],
    plan: &FragmentPlan,
    sums: &Sums,
    undefined: &[u32],
) {
    match (sums, plan.per_register()) {
        (Sums::Doubles(sums), _) => {
            let registers = slots.iter().zip(plan.places.chunks_exact(LANES));
            for ((slot, places), undefined) in registers.zip(undefined) {
                let values = std::array::from_fn(|lane| sums[usize::from(places[lane])]);
                lanes.set_double(*slot, &values, *undefined);
            }
        }
        (Sums::Words(sums), 1) => scatter_pieces::<1>(lanes, slots, plan, sums, undefined),
        (Sums::Words(sums), 2) => scatter_pieces::<2>(lanes, slots, plan, sums, undefined),
        (Sums::Words(sums), 4) => scatter_pieces::<4>(lanes, slots, plan, sums, undefined),
        (Sums::Words(sums), _) => scatter_pieces::<8>(lanes, slots, plan, sums, undefined),
    }
}

#[inline(always)]
fn scatter_pieces<const PIECES: usize>(
    lanes: &mut Lanes<'_>,
    slots: &[Slot],
    plan: &FragmentPlan,
    sums: &[u32],
    undefined: &[u32],
) {
    let bits = 32 / PIECES as u32;
    let (places, _) = plan.places.as_chunks::<PIECES>();
    let registers = slots.iter().zip(places.chunks_exact(LANES));
    for ((slot, places), undefined) in registers.zip(undefined) {
        let mut values = [0; LANES];
        for (value, places) in values.iter_mut().zip(places) {
            for (piece, place) in places.iter().enumerate() {
                *value |= sums[usize::from(*place)] << (piece as u32 * bits);
            }
        }
        lanes.set_word(*slot, &values, *undefined);
    }
}
