//! Bytes of which some bits were written: parts of bit-fields.
//!
//! Memory remembers of each byte whether it was written. A byte that was not as a whole, but was stored together with
//! bits that were, is also here. A value with such bytes is known bit by bit; any other is known if one of its bytes is,
//! because the others may be padding.

use std::collections::BTreeMap;

/// The unknown bits of such bytes, by offset and lane. What is here counts only as long as the byte is unwritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts(BTreeMap<(u32, u32), u8>);

impl Parts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The unknown bits of a value, if one of its bytes is here; `written` has a bit for each byte.
    pub(super) fn unknown(&self, offset: u32, lane: u32, bytes: u32, written: u32) -> Option<u64> {
        let (mut unknown, mut any) = (0, false);
        for byte in (0..bytes).filter(|byte| written >> byte & 1 == 0) {
            let part = self.get(offset + byte, lane);
            any |= part.is_some();
            unknown |= u64::from(part.unwrap_or(u8::MAX)) << (8 * byte);
        }
        any.then_some(unknown)
    }

    pub(super) fn get(&self, offset: u32, lane: u32) -> Option<u8> {
        self.0.get(&(offset, lane)).copied()
    }

    /// What is unknown of a byte, or that nothing of it is known.
    pub(super) fn set(&mut self, offset: u32, lane: u32, unknown: Option<u8>) {
        match unknown {
            Some(unknown) => self.0.insert((offset, lane), unknown),
            None => self.0.remove(&(offset, lane)),
        };
    }

    /// Nothing of these bytes is known in these lanes.
    pub(super) fn clear(&mut self, bytes: std::ops::Range<u32>, mask: u32) {
        self.0.retain(|(offset, lane), _| mask >> lane & 1 == 0 || !bytes.contains(offset));
    }
}
