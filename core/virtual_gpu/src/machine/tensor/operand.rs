//! Operands of products of a warpgroup that are in shared memory.

use std::ops::Range;
use std::sync::Arc;

use super::super::super::lower::product::{Major, Sign};
use super::super::access::Part;
use super::super::lanes::Doubles;
use super::super::run::Worker;
use super::super::warp::LANES;
use super::descriptor::{CHUNK, Descriptor};

/// The largest number of plans that a launch keeps; a kernel uses some for each stage of its pipeline.
const MOST_PLANS: usize = 4096;

/// A part of a matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct SharedMatrix {
    pub(super) descriptor: Descriptor,
    pub(super) major: Major,
    /// The first row of A, or column of B, and their number.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Elements of a row of A or a column of B.
    pub(super) length: u32,
    /// The size of an element.
    pub(super) bits: u32,
}

/// The places of a matrix in shared memory.
#[derive(Debug)]
pub(in super::super) struct OperandPlan {
    /// The offset of each chunk of 16 bytes, and the position of its first element, by rows of A or columns of B.
    pub(super) chunks: Vec<(usize, usize)>,
    /// The distance between the positions of neighbouring elements of a chunk.
    stride: usize,
    /// The bytes, sorted and disjoint.
    pub(super) ranges: Vec<Range<usize>>,
    /// Whether all of it is in variables.
    is_inside: bool,
}

/// Elements of a matrix, by rows of A or columns of B, and which of them are uninitialised, if any is.
pub(super) struct Elements {
    pub(super) values: Vec<u32>,
    pub(super) unknown: Option<Vec<bool>>,
}

impl SharedMatrix {
    /// The chunks of 16 bytes, as their index and their line (see [`Descriptor::chunk`]).
    fn chunks(self) -> impl Iterator<Item = (u32, u32)> {
        let each = 8 * CHUNK / self.bits;
        let (lines, indices) = match self.major {
            Major::K => (self.first..self.first + self.count, 0..self.length / each),
            Major::Outer => (0..self.length, self.first / each..(self.first + self.count) / each),
        };
        lines.flat_map(move |line| indices.clone().map(move |index| (index, line)))
    }

    fn plan(self, is_inside: impl Fn(usize) -> bool) -> OperandPlan {
        let length = self.length as usize;
        let chunk = |(index, line)| {
            let along = index * (8 * CHUNK / self.bits);
            let (outer, k) = match self.major {
                Major::K => (line, along),
                Major::Outer => (along, line),
            };
            let offset = self.descriptor.chunk(self.major, index, line) as usize;
            (offset, (outer - self.first) as usize * length + k as usize)
        };
        let chunks: Vec<(usize, usize)> = self.chunks().map(chunk).collect();
        let mut starts: Vec<usize> = chunks.iter().map(|(offset, _)| *offset).collect();
        starts.sort_unstable();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for start in &starts {
            let end = start + CHUNK as usize;
            match ranges.last_mut() {
                Some(last) if *start <= last.end => last.end = end,
                Some(_) | None => ranges.push(*start..end),
            }
        }
        OperandPlan {
            chunks,
            stride: match self.major {
                Major::K => 1,
                Major::Outer => length,
            },
            ranges,
            is_inside: starts.into_iter().all(is_inside),
        }
    }
}

impl OperandPlan {
    /// Whether any of these bytes belongs to the matrix.
    pub(super) fn overlaps(&self, bytes: &Range<usize>) -> bool {
        let next = self.ranges.partition_point(|range| range.end <= bytes.start);
        self.ranges.get(next).is_some_and(|range| range.start < bytes.end)
    }

    /// All bytes from the first to the last one.
    fn extent(&self) -> Range<usize> {
        match (self.ranges.first(), self.ranges.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            (None, _) | (_, None) => 0..0,
        }
    }
}

impl Worker<'_, '_> {
    pub(super) fn operand_plan(&mut self, matrix: SharedMatrix) -> Arc<OperandPlan> {
        if let Some(plan) = self.launch.operand_plans.get(&matrix) {
            return Arc::clone(plan);
        }
        let shared = &self.launch.shared;
        let is_inside = |start| shared.place(shared.address(start), CHUNK).is_some();
        let plan = Arc::new(matrix.plan(is_inside));
        if self.launch.operand_plans.len() >= MOST_PLANS {
            self.launch.operand_plans.clear();
        }
        self.launch.operand_plans.insert(matrix, Arc::clone(&plan));
        plan
    }

    /// The elements of a matrix in shared memory; none if a fault was reported.
    pub(super) fn shared_elements(&mut self, pc: u32, matrix: SharedMatrix) -> Option<Elements> {
        let plan = self.operand_plan(matrix);
        if !self.access_operand(pc, &plan) {
            return None;
        }
        let size = matrix.bits as usize / 8;
        let mut values = vec![0; plan.chunks.len() * CHUNK as usize / size];
        let mut unknown: Option<Vec<bool>> = None;
        let shared = &self.block.shared;
        for (start, position) in &plan.chunks {
            let words = [shared.read(*start, 8), shared.read(start + 8, 8)];
            let values_of_chunk = values[*position..].iter_mut().step_by(plan.stride);
            match size {
                1 => unpack::<8>(words, values_of_chunk),
                2 => unpack::<16>(words, values_of_chunk),
                _ => unpack::<32>(words, values_of_chunk),
            }
            if shared.is_range_initialised(*start, start + CHUNK as usize) {
                continue;
            }
            let count = values.len();
            let places = (*position..).step_by(plan.stride);
            let unknown = unknown.get_or_insert_with(|| vec![false; count]);
            for (place, offset) in places.zip((*start..start + CHUNK as usize).step_by(size)) {
                unknown[place] = !shared.is_any_initialised(offset, size)
                    || shared.uninitialised_bits(offset, size).is_some();
            }
        }
        Some(Elements { values, unknown })
    }

    /// Checks bounds and races of the reads of a matrix; returns whether all of it is in shared memory.
    fn access_operand(&mut self, pc: u32, plan: &OperandPlan) -> bool {
        let extent = plan.extent();
        if !plan.is_inside || self.block.copies.covers(extent.start, extent.len()) {
            for chunks in plan.chunks.chunks(LANES) {
                let mut addresses: Doubles = [0; LANES];
                for (address, (offset, _)) in addresses.iter_mut().zip(chunks) {
                    *address = self.launch.shared.address(*offset);
                }
                let mask = u32::MAX >> (LANES - chunks.len());
                let part = Part { pc, addresses: &addresses, mask, element: 4, count: 4 };
                for lane in part.lanes() {
                    self.place_shared(&part, lane);
                }
            }
        }
        if plan.is_inside {
            self.race_asynchronous_read(0, pc, &plan.ranges);
        }
        plan.is_inside
    }
}

/// The elements of a chunk.
#[inline(always)]
fn unpack<'v, const BITS: u32>(words: [u64; 2], values: impl Iterator<Item = &'v mut u32>) {
    let per_word = 64 / BITS as usize;
    for (index, value) in values.take(2 * per_word).enumerate() {
        let word = words[index / per_word] >> (BITS * (index % per_word) as u32);
        *value = word as u32 & (u32::MAX >> (32 - BITS));
    }
}

impl Elements {
    pub(super) fn with_sign(mut self, sign: Sign, bits: u32) -> Self {
        if sign == Sign::Minus {
            self.values.iter_mut().for_each(|value| *value ^= 1 << (bits - 1));
        }
        self
    }
}
