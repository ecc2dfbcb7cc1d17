//! `ldmatrix` and `stmatrix`: 8 × 8 matrices of 16-bit elements between shared memory and registers; each of eight
//! lanes gives the address of a row of 16 bytes. PTX ISA, sections "ldmatrix" and "stmatrix".

use super::super::super::isa::matrix::{MatrixCount, Orientation};
use super::super::super::isa::memory::{Ordering, Space};
use super::super::super::lower::code::{BaseKind, Op};
use super::super::access::{Moved, Part, Spaces};
use super::super::lanes::Doubles;
use super::super::run::Worker;
use super::super::warp::{Frame, LANES};

/// 32-bit words of a row.
const WORDS: usize = 4;

type Form = (MatrixCount, Orientation, Space, BaseKind);

/// The source of a lane's register of a matrix: the low and the high half, each as row, word and half of the word.
fn halves(lane: usize, orientation: Orientation) -> [(usize, usize, usize); 2] {
    let (group, member) = (lane / 4, lane % 4);
    match orientation {
        Orientation::Straight => [(group, member, 0), (group, member, 1)],
        Orientation::Transposed => {
            [(2 * member, group / 2, group % 2), (2 * member + 1, group / 2, group % 2)]
        }
    }
}

impl Worker<'_, '_> {
    pub(super) fn load_rows(
        &mut self,
        pc: u32,
        op: &Op,
        (count, orientation, space, base): Form,
        (frame, mask): (Frame, u32),
    ) {
        let (addresses, rows) = self.row_addresses(pc, op, (count, space, base), (frame, mask));
        let mut moved = Moved::nothing();
        let part = Part { pc, addresses: &addresses, mask: rows, element: 4, count: WORDS };
        self.race_load(&part, Ordering::Weak, &Spaces { global: 0, shared: rows, local: 0 });
        self.load_shared(&part, &mut moved);
        // A row without an address contributes nothing.
        moved.undefined.iter_mut().for_each(|undefined| *undefined |= !rows);
        for matrix in 0..usize::from(count.number()) {
            let first = 8 * matrix;
            let piece = |lane: usize, index: usize| {
                let (row, word, half) = halves(lane, orientation)[index];
                (moved.values[word][first + row] as u32) >> (16 * half) & 0xffff
            };
            let unknown = |lane: usize, index: usize| {
                let (row, word, _) = halves(lane, orientation)[index];
                moved.undefined[word] >> (first + row) & 1 == 1
            };
            let words = std::array::from_fn(|lane| piece(lane, 0) | piece(lane, 1) << 16);
            let undefined = super::super::lanes::bits(|lane| unknown(lane, 0) && unknown(lane, 1));
            for lane in (0..LANES).filter(|lane| undefined >> lane & 1 == 1) {
                self.warp.undefined_load[lane] = Some(pc);
            }
            let slot = self.launch.program.lists[op.list.0 as usize + matrix];
            self.lanes(frame, mask).set_word(slot, &words, undefined);
        }
    }

    pub(super) fn store_rows(
        &mut self,
        pc: u32,
        op: &Op,
        (count, orientation, space, base): Form,
        (frame, mask): (Frame, u32),
    ) {
        let (addresses, rows) = self.row_addresses(pc, op, (count, space, base), (frame, mask));
        let mut moved = Moved::nothing();
        for matrix in 0..usize::from(count.number()) {
            let slot = self.launch.program.lists[op.list.0 as usize + matrix];
            let lanes = self.lanes(frame, mask);
            let (words, undefined) = (lanes.word(slot), lanes.word_undefined(slot) | !mask);
            for (lane, value) in words.into_iter().enumerate() {
                for (index, (row, word, half)) in halves(lane, orientation).into_iter().enumerate()
                {
                    let piece = u64::from(value >> (16 * index) & 0xffff);
                    moved.values[word][8 * matrix + row] |= piece << (16 * half);
                    moved.undefined[word] |= (undefined >> lane & 1) << (8 * matrix + row);
                }
            }
        }
        let part = Part { pc, addresses: &addresses, mask: rows, element: 4, count: WORDS };
        let spaces = Spaces { global: 0, shared: rows, local: 0 };
        self.race_store(&part, Ordering::Weak, &spaces, &moved);
        self.store_shared(&part, &moved);
    }

    /// The addresses of the rows, in the lanes that provide them.
    fn row_addresses(
        &mut self,
        pc: u32,
        op: &Op,
        (count, space, base): (MatrixCount, Space, BaseKind),
        (frame, mask): (Frame, u32),
    ) -> (Doubles, u32) {
        let rows = mask & (u32::MAX >> (32 - 8 * u32::from(count.number())));
        let (mut addresses, rows) = self.addresses(pc, op, base, frame, rows);
        // An address outside the shared memory window is not converted, so that it is out of bounds.
        Self::spaces(space, base, &mut addresses, rows);
        (addresses, rows)
    }
}
