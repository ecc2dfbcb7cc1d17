//! Bulk reductions: stores that combine each element with the one in global memory. PTX ISA,
//! "cp.reduce.async.bulk" and "cp.reduce.async.bulk.tensor".
//!
//! Each element is a relaxed read-modify-write of device scope by the thread that issued the operation, executed when
//! its group completes. Results are those of `red.global`.

use lightbench_primitives::tensor_map::MapElement;

use super::super::super::isa::atomic::{
    AddType, Atomic, AtomicOrder, BitwiseType, ExtremeType, OldValue, Update,
};
use super::super::super::isa::memory::{Scope, Space};
use super::super::super::isa::tensor_copy::Reduction;
use super::super::access::Part;
use super::super::atomic::bytes;
use super::super::race::WriteOutcome;
use super::super::run::Worker;
use super::super::shared::Word;
use super::super::warp::LANES;
use super::bulk::BulkCopy;

/// The update of each element of a tensor; none if the reduction is not defined for the type.
pub(super) fn tensor_update(reduction: Reduction, element: MapElement) -> Option<Update> {
    match reduction {
        Reduction::Add => add_type(element).map(Update::Add),
        Reduction::Minimum => extreme_type(element).map(Update::Minimum),
        Reduction::Maximum => extreme_type(element).map(Update::Maximum),
        Reduction::Increment => (element == MapElement::U32).then_some(Update::Increment),
        Reduction::Decrement => (element == MapElement::U32).then_some(Update::Decrement),
        Reduction::And => bitwise_type(element).map(Update::And),
        Reduction::Or => bitwise_type(element).map(Update::Or),
        Reduction::Xor => bitwise_type(element).map(Update::Xor),
    }
}

fn add_type(element: MapElement) -> Option<AddType> {
    match element {
        MapElement::U32 => Some(AddType::U32),
        MapElement::I32 => Some(AddType::S32),
        MapElement::U64 => Some(AddType::U64),
        MapElement::F16 => Some(AddType::F16),
        MapElement::Bf16 => Some(AddType::Bf16),
        MapElement::F32 | MapElement::F32Ftz => Some(AddType::F32),
        MapElement::F64 => Some(AddType::F64),
        MapElement::U8
        | MapElement::U16
        | MapElement::I64
        | MapElement::Tf32
        | MapElement::Tf32Ftz => None,
    }
}

fn extreme_type(element: MapElement) -> Option<ExtremeType> {
    match element {
        MapElement::U32 => Some(ExtremeType::U32),
        MapElement::I32 => Some(ExtremeType::S32),
        MapElement::U64 => Some(ExtremeType::U64),
        MapElement::I64 => Some(ExtremeType::S64),
        MapElement::F16 => Some(ExtremeType::F16),
        MapElement::Bf16 => Some(ExtremeType::Bf16),
        MapElement::U8
        | MapElement::U16
        | MapElement::F32
        | MapElement::F32Ftz
        | MapElement::F64
        | MapElement::Tf32
        | MapElement::Tf32Ftz => None,
    }
}

fn bitwise_type(element: MapElement) -> Option<BitwiseType> {
    match element {
        MapElement::U32 | MapElement::I32 => Some(BitwiseType::B32),
        MapElement::U64 | MapElement::I64 => Some(BitwiseType::B64),
        MapElement::U8
        | MapElement::U16
        | MapElement::F16
        | MapElement::Bf16
        | MapElement::F32
        | MapElement::F32Ftz
        | MapElement::F64
        | MapElement::Tf32
        | MapElement::Tf32Ftz => None,
    }
}

impl Worker<'_, '_> {
    /// Combines the first bytes of a source with global memory, element by element.
    pub(super) fn reduce_words(&mut self, copy: BulkCopy, to: u64, words: &[Word], update: Update) {
        let atomic = Atomic {
            space: Space::Global,
            update,
            lanes: 1,
            order: AtomicOrder::Relaxed,
            scope: Scope::Gpu,
            old_value: OldValue::Dropped,
        };
        self.launch.order_memory();
        let element = bytes(update);
        let mask = 1 << copy.lane;
        for offset in (0..copy.bytes).step_by(element as usize) {
            let addresses = [to + u64::from(offset); LANES];
            let part = Part { pc: copy.pc, addresses: &addresses, mask, element, count: 1 };
            self.count_atomic(&part, mask, 0);
            let (operand, is_undefined) = operand(words, offset, element);
            if is_undefined {
                self.report_undefined(copy.pc, mask, "an element of a bulk reduction");
            }
            let Some(spot) = self.spot(&part, copy.lane, false) else { continue };
            let (old, is_known) = self.swap(&spot, atomic, operand, 0, element as usize);
            if !is_known {
                self.report_undefined(copy.pc, mask, "the memory that a bulk reduction updates");
            }
            let size = (copy.lane, element);
            self.race_atomic(copy.pc, size, &spot, atomic, (WriteOutcome::Wrote, old));
        }
        self.changed();
    }
}

/// An element of up to 8 bytes, and whether it is uninitialised.
fn operand(words: &[Word], offset: u32, bytes: u32) -> (u64, bool) {
    let word = words[offset as usize / 4];
    let low = u64::from(word.value) >> (8 * (offset % 4));
    match bytes {
        8 => {
            let high = words[offset as usize / 4 + 1];
            (low | u64::from(high.value) << 32, word.is_undefined || high.is_undefined)
        }
        bytes => (low & (u64::MAX >> (64 - 8 * bytes)), word.is_undefined),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX ISA, "cp.reduce.async.bulk.tensor": the types of each reduction.
    fn check(reduction: Reduction, expected: &[MapElement]) {
        let found: Vec<MapElement> = crate::tensor_map::ELEMENTS
            .into_iter()
            .filter(|element| tensor_update(reduction, *element).is_some())
            .collect();
        assert_eq!(found, expected, "{reduction:?}");
    }

    #[test]
    fn reductions_have_the_types_of_the_isa() {
        use MapElement::{Bf16, F16, F32, F32Ftz, F64, I32, I64, U32, U64};
        check(Reduction::Add, &[U32, I32, U64, F16, F32, F32Ftz, F64, Bf16]);
        check(Reduction::Minimum, &[U32, I32, U64, I64, F16, Bf16]);
        check(Reduction::Maximum, &[U32, I32, U64, I64, F16, Bf16]);
        check(Reduction::Increment, &[U32]);
        check(Reduction::Decrement, &[U32]);
        for reduction in [Reduction::And, Reduction::Or, Reduction::Xor] {
            check(reduction, &[U32, I32, U64, I64]);
        }
    }

    #[test]
    fn elements_are_little_endian() {
        let word = |value| Word { value, is_undefined: false };
        let words = [word(0x4433_2211), Word { value: 0x8877_6655, is_undefined: true }];
        assert_eq!(operand(&words, 2, 2), (0x4433, false));
        assert_eq!(operand(&words, 4, 4), (0x8877_6655, true));
        assert_eq!(operand(&words, 0, 8), (0x8877_6655_4433_2211, true));
    }
}
