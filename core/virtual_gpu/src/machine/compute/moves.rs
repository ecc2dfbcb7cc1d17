//! Packing, unpacking, and address conversions.

use super::super::super::isa::memory::Space;
use super::super::super::lower::code::{Op, Slot};
use super::super::lanes::Lanes;
use super::super::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use super::super::register_init_mask::{BitOperand, BitOperation, BitRule, UninitialisedBits};

pub(super) fn pack(lanes: &mut Lanes<'_>, op: &Op, lists: &[Slot], piece_bits: u8, whole_bits: u8) {
    let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
    let mut whole = [0_u64; 32];
    let mut undefined = u32::MAX;
    let mask = u64::MAX >> (64 - piece_bits);
    for (index, slot) in lists[start..start + count].iter().enumerate() {
        let (piece, piece_undefined) = lanes.any(*slot, piece_bits == 64);
        let shift = index as u32 * u32::from(piece_bits);
        for lane in 0..32 {
            whole[lane] |= (piece[lane] & mask) << shift;
        }
        // A packed value is initialised if one of its pieces is: the others may be padding.
        undefined &= piece_undefined;
    }
    if whole_bits == 64 {
        lanes.set_double(op.d, &whole, undefined);
    } else {
        lanes.set_word(op.d, &whole.map(|bits| bits as u32), undefined);
    }
}

pub(super) fn unpack(
    lanes: &mut Lanes<'_>,
    op: &Op,
    lists: &[Slot],
    piece_bits: u8,
    whole_bits: u8,
) {
    let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
    let (whole, undefined) = lanes.any(op.a, whole_bits == 64);
    let mask = u64::MAX >> (64 - piece_bits);
    let is_double = whole_bits == 64 && !op.a.is_pool();
    let from = if is_double { BitOperand::double(op.a) } else { BitOperand::word(op.a) };
    // Before any piece is set: the packed value may be one of them.
    let unknown = (undefined & lanes.mask != 0).then(|| {
        lanes.result_bits(&BitOperation {
            rule: BitRule::Copied,
            operands: &[from],
            apply: &|[a, ..]| a,
        })
    });
    for (index, slot) in lists[start..start + count].iter().enumerate() {
        let shift = index as u32 * u32::from(piece_bits);
        let piece = whole.map(|bits| (bits >> shift & mask) as u32);
        match &unknown {
            None => lanes.set_word(*slot, &piece, undefined),
            Some(unknown) => {
                let bits = unknown.bits.map(|bits| bits >> shift & mask);
                lanes.set_partly_initialised_word(
                    *slot,
                    &piece,
                    &UninitialisedBits { bits, ..*unknown },
                );
            }
        }
    }
}

pub(super) fn frame_address(lanes: &mut Lanes<'_>, op: &Op) {
    let address = i64::from(lanes.frame.local).wrapping_add(op.immediate) as u64;
    lanes.set_double(op.d, &[address; 32], 0);
}

/// The generic address of a state space; global memory, constants and parameters are generic already.
fn window(space: Space) -> u64 {
    match space {
        Space::Shared | Space::SharedCluster => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Generic | Space::Const | Space::Global | Space::Param => 0,
    }
}

pub(super) fn to_generic(lanes: &mut Lanes<'_>, op: &Op, space: Space) {
    let base = window(space);
    lanes.doubles_1(op, |a| a.wrapping_add(base));
}

pub(super) fn from_generic(lanes: &mut Lanes<'_>, op: &Op, space: Space) {
    let base = window(space);
    lanes.doubles_1(op, |a| a.wrapping_sub(base));
}
