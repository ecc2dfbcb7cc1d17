//! Register allocation: registers whose live ranges do not overlap share a slot (linear scan).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::isa::scalar::ScalarType;
use super::super::module::Body;
use super::code::Bank;
use super::liveness::Ranges;

/// The slot of each register, and the number of slots of each bank.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) of_register: Vec<u32>,
    pub(super) words: u32,
    pub(super) doubles: u32,
    pub(super) predicates: u32,
}

/// The bank of a register type; none for 128-bit types, which occupy two adjacent 64-bit slots.
pub(super) fn bank(ty: ScalarType) -> Option<Bank> {
    match ty.bits() {
        1 => Some(Bank::Predicates),
        8 | 16 | 32 => Some(Bank::Words),
        64 => Some(Bank::Doubles),
        _ => None,
    }
}

/// Assigns a slot to every register.
pub(super) fn run(body: &Body, ranges: &Ranges) -> Slots {
    let mut slots = Slots { of_register: vec![0; body.registers.len()], ..Slots::default() };
    slots.words = scan(body, ranges, Some(Bank::Words), &mut slots.of_register);
    slots.doubles = scan(body, ranges, Some(Bank::Doubles), &mut slots.of_register);
    slots.predicates = scan(body, ranges, Some(Bank::Predicates), &mut slots.of_register);
    // Pairs come after the 64-bit registers, so that they never split a free pair.
    let pairs = scan(body, ranges, None, &mut slots.of_register);
    for (slot, register) in slots.of_register.iter_mut().zip(&body.registers) {
        if bank(register.ty).is_none() {
            *slot = slots.doubles + 2 * *slot;
        }
    }
    slots.doubles += 2 * pairs;
    slots
}

fn scan(body: &Body, ranges: &Ranges, wanted: Option<Bank>, of_register: &mut [u32]) -> u32 {
    let mut by_start: Vec<(u32, u32, usize)> = ranges
        .iter()
        .enumerate()
        .filter(|(register, _)| bank(body.registers[*register].ty) == wanted)
        .filter_map(|(register, range)| range.map(|(first, last)| (first, last, register)))
        .collect();
    by_start.sort_unstable();
    let mut active: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut count = 0;
    for (first, last, register) in by_start {
        // A result must not take the slot of a source of the same instruction: inactive lanes keep the old value.
        while let Some(Reverse((end, slot))) = active.peek().copied() {
            if end >= first {
                break;
            }
            active.pop();
            free.push(Reverse(slot));
        }
        let slot = free.pop().map_or(count, |Reverse(slot)| slot);
        count = count.max(slot + 1);
        of_register[register] = slot;
        active.push(Reverse((last, slot)));
    }
    count
}
