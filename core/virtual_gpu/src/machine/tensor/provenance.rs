//! Whether the operands of a product come from matching elements: along k, the rows of A and the columns of B must hold
//! the same indices. A descriptor with a wrong offset or swizzle breaks this, and so does a wrong stage of a pipeline.
//!
//! Only operands that tensor copies have written are known. A mismatch is no fault, because a kernel may multiply any two
//! matrices: it is a suspicion, which a wrong result makes a likely cause.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use lightbench_primitives::tensor_map::Swizzle;

use super::super::super::lower::product::Major;
use super::super::copies::{LoadedBox, LoadedChunk, MOST_DIMENSIONS};
use super::super::run::Worker;
use super::descriptor::{CHUNK, Descriptor};
use super::operand::SharedMatrix;

/// A chunk of an operand: its first row or column, and its first index along k.
#[derive(Clone, Copy)]
struct PlacedChunk {
    outer: usize,
    k: usize,
    chunk: LoadedChunk,
}

/// An operand whose chunks all come from one tensor.
struct KnownOperand {
    matrix: SharedMatrix,
    from: Arc<LoadedBox>,
    /// By row or column, then by k.
    chunks: Vec<PlacedChunk>,
}

/// Where the elements along k come from.
#[derive(Default)]
struct AlongK {
    dimension: usize,
    /// The coordinate in that dimension for each k.
    coordinates: BTreeMap<usize, i64>,
}

/// The names of the two operands and of their lines.
const NAMES: [(&str, &str); 2] = [("A", "row"), ("B", "column")];

impl Worker<'_, '_> {
    /// Records a suspicion if the operands of a product do not match.
    pub(super) fn check_operand_origins(&mut self, pc: u32, matrices: [Option<SharedMatrix>; 2]) {
        if self.launch.suspicions.contains_key(&pc) {
            return;
        }
        let known = matrices.map(|matrix| self.known_operand(matrix?));
        if let Some(text) = mismatch(&known) {
            self.launch.suspicions.insert(pc, text);
        }
    }

    fn known_operand(&mut self, matrix: SharedMatrix) -> Option<KnownOperand> {
        let plan = self.operand_plan(matrix);
        let length = matrix.length as usize;
        let mut from: Option<&Arc<LoadedBox>> = None;
        let mut chunks = Vec::with_capacity(plan.chunks.len());
        for (offset, position) in &plan.chunks {
            let (origin, chunk) = self.block.copies.origins.at(*offset, &self.block.shared)?;
            let first = *from.get_or_insert(origin);
            if first.tensor != origin.tensor || origin.bits != matrix.bits {
                return None;
            }
            chunks.push(PlacedChunk { outer: position / length, k: position % length, chunk });
        }
        let from = Arc::clone(from?);
        chunks.sort_by_key(|placed| (placed.outer, placed.k));
        Some(KnownOperand { matrix, from, chunks })
    }
}

/// What does not match.
fn mismatch(known: &[Option<KnownOperand>; 2]) -> Option<String> {
    let mut along = [None, None];
    for (which, operand) in known.iter().enumerate() {
        let Some(operand) = operand else { continue };
        match operand.along_k() {
            Ok(coordinates) => along[which] = Some(coordinates),
            Err(why) => {
                let (name, line) = NAMES[which];
                return Some(why.describe(operand, name, line));
            }
        }
    }
    let ([Some(a), Some(b)], [Some(of_a), Some(of_b)]) = (known, &along) else { return None };
    let extent = |operand: &KnownOperand, along: &AlongK| operand.from.extents[along.dimension];
    if extent(a, of_a) != extent(b, of_b) {
        // They may be different axes.
        return None;
    }
    let (k, [in_a, in_b]) = of_a.coordinates.iter().find_map(|(k, in_a)| {
        let in_b = of_b.coordinates.get(k)?;
        (in_a != in_b).then_some((*k, [in_a, in_b]))
    })?;
    let (name_a, name_b) = (&a.from.name, &b.from.name);
    Some(format!(
        "A and B of the product hold different parts of k: its element {k} along k is element {in_a} of dimension {} of \
         `{name_a}` in A, and element {in_b} of dimension {} of `{name_b}` in B; they are from different stages, or the \
         start of a descriptor is wrong",
        of_a.dimension, of_b.dimension,
    ))
}

/// Two chunks of an operand that do not belong together.
struct Inconsistency {
    /// The first chunk, if the other one does not continue it; otherwise another row or column has another k.
    first: Option<PlacedChunk>,
    found: PlacedChunk,
}

impl KnownOperand {
    /// The coordinates along k, if they are those of every row or column.
    fn along_k(&self) -> Result<AlongK, Inconsistency> {
        let [first, rest @ ..] = &self.chunks[..] else {
            return Ok(AlongK::default());
        };
        let base = first.chunk.coordinates;
        let of_first = || rest.iter().take_while(|placed| placed.outer == first.outer);
        let is_along = |dimension: &usize| {
            of_first().any(|placed| placed.chunk.coordinates[*dimension] != base[*dimension])
        };
        let dimensions: Vec<usize> = (0..MOST_DIMENSIONS).filter(is_along).collect();
        let dimension = match (self.matrix.major, &dimensions[..]) {
            (Major::K, [0]) => 0,
            (Major::Outer, [dimension]) if *dimension > 0 => *dimension,
            (Major::K | Major::Outer, _) => {
                let Some(next) = of_first().next() else {
                    return Ok(AlongK::default());
                };
                return Err(Inconsistency { first: Some(*first), found: *next });
            }
        };
        let steps: BTreeMap<usize, i64> = std::iter::once(first)
            .chain(of_first())
            .map(|placed| (placed.k, placed.chunk.coordinates[dimension]))
            .collect();
        let mut line = first;
        for placed in rest {
            if placed.outer != line.outer {
                line = placed;
            }
            let is_expected = (0..MOST_DIMENSIONS).all(|index| {
                let found = placed.chunk.coordinates[index];
                match index == dimension {
                    true => Some(&found) == steps.get(&placed.k),
                    false => found == line.chunk.coordinates[index],
                }
            });
            if !is_expected {
                return Err(Inconsistency { first: None, found: *placed });
            }
        }
        let each = match self.matrix.major {
            Major::K => 8 * CHUNK as usize / self.matrix.bits as usize,
            Major::Outer => 1,
        };
        let elements = |(k, first): (&usize, &i64)| -> Vec<(usize, i64)> {
            (0..each).map(|index| (k + index, first + index as i64)).collect()
        };
        let coordinates = steps.iter().flat_map(elements).collect();
        Ok(AlongK { dimension, coordinates })
    }
}

impl Inconsistency {
    fn describe(&self, operand: &KnownOperand, name: &str, line: &str) -> String {
        let KnownOperand { matrix, from, .. } = operand;
        let shown = |coordinates: [i64; MOST_DIMENSIONS]| {
            let coordinates = coordinates[..from.extents.len()].iter().map(ToString::to_string);
            format!("({})", coordinates.collect::<Vec<_>>().join(", "))
        };
        let PlacedChunk { outer, k, chunk } = self.found;
        let mut text = format!(
            "{line} {} of {name} holds at k = {k} the elements from {} of `{}` (the innermost coordinate first)",
            matrix.first as usize + outer,
            shown(chunk.coordinates),
            from.name
        );
        let _infallible = match self.first {
            Some(PlacedChunk { outer, k, chunk }) => write!(
                text,
                ", and {line} {} at k = {k} those from {}",
                matrix.first as usize + outer,
                shown(chunk.coordinates)
            ),
            None => write!(text, ", which is not the k of the other {line}s"),
        };
        text.push_str("; ");
        text.push_str(&cause(matrix.descriptor, matrix.major, from, (outer, k)));
        text
    }
}

/// The field of the descriptor that decides where a chunk is.
fn cause(
    descriptor: Descriptor,
    major: Major,
    from: &LoadedBox,
    (outer, k): (usize, usize),
) -> String {
    let named = |swizzle: Swizzle| {
        swizzle.span().map_or_else(|| "none".to_owned(), |span| format!("{span} bytes"))
    };
    if descriptor.swizzle != from.swizzle {
        let (own, of_map) = (named(descriptor.swizzle), named(from.swizzle));
        return format!("the swizzle of the descriptor is {own}, that of the tensor map {of_map}");
    }
    let Descriptor { leading, stride, .. } = descriptor;
    let strides = format!("the stride-dimension byte offset of the descriptor is {stride}");
    let leads = format!("the leading-dimension byte offset of the descriptor is {leading}");
    match major {
        Major::K if outer >= 8 => strides,
        Major::K => leads,
        Major::Outer if k >= 8 => strides,
        Major::Outer => leads,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a tensor of bf16 with 4096 elements each.
    fn operand(
        major: Major,
        coordinates: impl Fn(usize, usize) -> (i64, i64),
        swizzle: Swizzle,
    ) -> KnownOperand {
        let descriptor =
            Descriptor { start: 0, leading: 16, stride: 1024, base_offset: 0, swizzle };
        let matrix = SharedMatrix { descriptor, major, first: 0, count: 16, length: 16, bits: 16 };
        let from = LoadedBox::of_test("a", vec![4096, 512], Swizzle::B128);
        let places: Vec<(usize, usize)> = match major {
            Major::K => (0..16).flat_map(|row| [(row, 0), (row, 8)]).collect(),
            Major::Outer => [0, 8].iter().flat_map(|at| (0..16).map(|k| (*at, k))).collect(),
        };
        let chunk = |(outer, k)| {
            let (inner, row) = coordinates(outer, k);
            let chunk = LoadedChunk::of_test([inner, row, 0, 0, 0]);
            PlacedChunk { outer, k, chunk }
        };
        KnownOperand {
            matrix,
            from: Arc::new(from),
            chunks: places.into_iter().map(chunk).collect(),
        }
    }

    /// Rows from row 128, from element 64.
    fn by_rows(row: usize, k: usize) -> (i64, i64) {
        (64 + k as i64, 128 + row as i64)
    }

    /// The transposed tensor: k goes down its rows, from row 64.
    fn by_columns(outer: usize, k: usize) -> (i64, i64) {
        (256 + outer as i64, 64 + k as i64)
    }

    #[track_caller]
    fn check(a: KnownOperand, b: KnownOperand, expected: Option<&str>) {
        let found = mismatch(&[Some(a), Some(b)]);
        match (&found, expected) {
            (None, None) => {}
            (Some(text), Some(words)) if text.contains(words) => {}
            _ => panic!("{found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn operands_of_the_same_k_match_in_either_layout() {
        let rows = || operand(Major::K, by_rows, Swizzle::B128);
        let columns = || operand(Major::Outer, by_columns, Swizzle::B128);
        check(rows(), rows(), None);
        check(columns(), columns(), None);
        // The extents of k differ: they may be different axes.
        check(rows(), columns(), None);
        assert_eq!(mismatch(&[None, Some(rows())]), None);
        assert_eq!(mismatch(&[None, None]), None);
    }

    #[test]
    fn a_field_of_the_descriptor_is_named() {
        let rows = || operand(Major::K, by_rows, Swizzle::B128);
        let swizzled = |row: usize, k: usize| by_rows(row, k ^ (row % 2 * 8));
        let unlike = operand(Major::K, swizzled, Swizzle::B64);
        check(
            unlike,
            rows(),
            Some("the swizzle of the descriptor is 64 bytes, that of the tensor map 128 bytes"),
        );
        let next_rows = |row: usize, k: usize| match row {
            0..8 => by_rows(row, k),
            _ => (by_rows(row, k).0 + 64, 128 + row as i64 - 8),
        };
        let strided = operand(Major::K, next_rows, Swizzle::B128);
        check(
            rows(),
            strided,
            Some("column 8 of B holds at k = 0 the elements from (128, 128) of `a`"),
        );
        let strided = operand(Major::K, next_rows, Swizzle::B128);
        check(rows(), strided, Some("the stride-dimension byte offset of the descriptor is 1024"));
        let columns = || operand(Major::Outer, by_columns, Swizzle::B128);
        let next_k = |outer: usize, k: usize| match k {
            0..8 => by_columns(outer, k),
            _ => (by_columns(outer, k).0 + 64, 64 + k as i64 - 8),
        };
        let strided = operand(Major::Outer, next_k, Swizzle::B128);
        check(columns(), strided, Some("holds at k = "));
        let next_outer = |outer: usize, k: usize| match outer {
            0..8 => by_columns(outer, k),
            _ => (by_columns(outer, k).0, 64 + k as i64 + 16),
        };
        let leading = operand(Major::Outer, next_outer, Swizzle::B128);
        check(
            leading,
            columns(),
            Some("the leading-dimension byte offset of the descriptor is 16"),
        );
    }

    #[test]
    fn different_parts_of_k_are_found() {
        let rows = || operand(Major::K, by_rows, Swizzle::B128);
        let later =
            operand(Major::K, |row, k| (by_rows(row, k).0 + 64, 5 + row as i64), Swizzle::B128);
        check(
            rows(),
            later,
            Some("its element 0 along k is element 64 of dimension 0 of `a` in A"),
        );
        let exchanged = operand(Major::K, |row, k| by_rows(row, k ^ 8), Swizzle::B128);
        check(exchanged, rows(), Some("is element 72 of dimension 0 of `a` in A, and element 64"));
        let columns = operand(Major::Outer, by_columns, Swizzle::B128);
        let halved = operand(Major::Outer, |outer, k| by_columns(outer, k / 2), Swizzle::B128);
        check(columns, halved, Some("its element 1 along k"));
    }
}
