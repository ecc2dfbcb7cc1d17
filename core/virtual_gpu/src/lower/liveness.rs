//! Liveness analysis: the registers that are live at the boundaries of each basic block.

use super::super::isa::Operation;
use super::super::isa::matrix::{Matrix, Warpgroup};
use super::super::module::{Base, Body, CallTarget, Instruction, Operand, RegisterId};
use super::flow::Block;

/// The limit of work in bits; beyond it every register gets a slot of its own.
const MOST_BITS: usize = 1 << 28;

/// For each register, the first and last position, in layout order, at which it is live.
pub(super) type Ranges = Vec<Option<(u32, u32)>>;

/// All registers that an instruction reads.
pub(crate) fn reads(instruction: &Instruction, mut each: impl FnMut(RegisterId)) {
    if let Some(guard) = instruction.guard {
        each(guard.predicate);
    }
    for operand in instruction.sources() {
        operand_reads(operand, &mut each);
    }
    let updates = updates(instruction.operation);
    for operand in instruction.destinations() {
        if updates || matches!(operand, Operand::Address(_)) {
            operand_reads(operand, &mut each);
        }
    }
}

/// Whether an operation reads the registers of its result: the sums of `wgmma`.
fn updates(operation: Operation) -> bool {
    matches!(operation, Operation::Matrix(Matrix::Warpgroup(Warpgroup::Multiply(_))))
}

pub(super) fn operand_reads(operand: &Operand, each: &mut impl FnMut(RegisterId)) {
    match operand {
        Operand::Register(register) | Operand::Not(register) => each(*register),
        Operand::Address(address) => {
            if let Base::Register(register) = address.base {
                each(register);
            }
        }
        Operand::Vector(parts) => parts.iter().for_each(|part| operand_reads(part, each)),
        Operand::Pair(first, second) => {
            [first, second].into_iter().flatten().for_each(|r| each(*r));
        }
        Operand::Call(call) => match call.target {
            CallTarget::Prototype(register, _) | CallTarget::List(register, _) => each(register),
            CallTarget::Function(_) => {}
        },
        Operand::Special(_)
        | Operand::Immediate(_)
        | Operand::Symbol(..)
        | Operand::Sink
        | Operand::Label(_)
        | Operand::Targets(_) => {}
    }
}

/// All registers that an instruction writes.
pub(crate) fn writes(instruction: &Instruction, mut each: impl FnMut(RegisterId)) {
    for operand in instruction.destinations() {
        match operand {
            Operand::Register(register) => each(*register),
            Operand::Vector(parts) => {
                for part in parts {
                    if let Operand::Register(register) = part {
                        each(*register);
                    }
                }
            }
            Operand::Pair(first, second) => {
                [first, second].into_iter().flatten().for_each(|register| each(*register));
            }
            Operand::Special(_)
            | Operand::Immediate(_)
            | Operand::Symbol(..)
            | Operand::Address(_)
            | Operand::Sink
            | Operand::Not(_)
            | Operand::Label(_)
            | Operand::Targets(_)
            | Operand::Call(_) => {}
        }
    }
}

struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn new(blocks: usize, registers: usize) -> Self {
        let words = registers.div_ceil(64);
        Self { words, bits: vec![0; words * blocks] }
    }
    fn row(&self, block: usize) -> &[u64] {
        &self.bits[block * self.words..(block + 1) * self.words]
    }
    fn row_mut(&mut self, block: usize) -> &mut [u64] {
        &mut self.bits[block * self.words..(block + 1) * self.words]
    }
}

fn insert(row: &mut [u64], register: RegisterId) {
    row[register.0 as usize / 64] |= 1 << (register.0 % 64);
}

fn contains(row: &[u64], register: RegisterId) -> bool {
    row[register.0 as usize / 64] >> (register.0 % 64) & 1 == 1
}

/// The live ranges of all registers; `order` is the layout.
pub(super) fn ranges(body: &Body, blocks: &[Block], order: &[u32]) -> Ranges {
    let registers = body.registers.len();
    let length: u32 =
        order.iter().map(|b| blocks[*b as usize].end - blocks[*b as usize].start).sum();
    if registers.saturating_mul(blocks.len()) > MOST_BITS {
        return vec![Some((0, length)); registers];
    }
    let (live_in, used) = live_in(body, blocks, order, registers);
    let mut ranges: Ranges = vec![None; registers];
    let mut extend = |register: usize, position: u32| {
        let range = ranges[register].get_or_insert((position, position));
        *range = (range.0.min(position), range.1.max(position));
    };
    let mut position = 0;
    for block in order {
        let block = *block as usize;
        for_each(live_in.row(block), |register| extend(register, position));
        for index in blocks[block].start..blocks[block].end {
            let instruction = &body.instructions[index as usize];
            reads(instruction, |register| extend(register.0 as usize, position));
            writes(instruction, |register| extend(register.0 as usize, position));
            position += 1;
        }
        for next in &blocks[block].next {
            for_each(live_in.row(*next as usize), |register| extend(register, position));
        }
    }
    debug_assert!(used <= registers);
    ranges
}

fn for_each(row: &[u64], mut each: impl FnMut(usize)) {
    for (word, bits) in row.iter().enumerate() {
        let mut bits = *bits;
        while bits != 0 {
            each(word * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

/// The registers that are live at the entry of each block.
fn live_in(body: &Body, blocks: &[Block], order: &[u32], registers: usize) -> (Sets, usize) {
    let mut needed = Sets::new(blocks.len(), registers);
    let mut killed = Sets::new(blocks.len(), registers);
    for block in order {
        let index = *block as usize;
        for position in blocks[index].start..blocks[index].end {
            let instruction = &body.instructions[position as usize];
            reads(instruction, |register| {
                if !contains(killed.row(index), register) {
                    insert(needed.row_mut(index), register);
                }
            });
            // A write by some lanes keeps the values of the others, so that the register stays live; a call writes
            // its results in all lanes.
            let always = instruction.guard.is_none()
                || matches!(instruction.operation, Operation::Control(_));
            if always {
                writes(instruction, |register| insert(killed.row_mut(index), register));
            }
        }
    }
    let mut live = needed;
    loop {
        let mut changed = false;
        for block in order.iter().rev() {
            let index = *block as usize;
            for next in &blocks[index].next {
                for word in 0..live.words {
                    let from_next = live.row(*next as usize)[word] & !killed.row(index)[word];
                    let before = live.row(index)[word];
                    live.row_mut(index)[word] = before | from_next;
                    changed |= before | from_next != before;
                }
            }
        }
        if !changed {
            return (live, registers);
        }
    }
}
