//! Initialisation masks of single bytes: the bytes of memory in which only some bits are initialised, such as
//! bit-fields.
//!
//! Memory has one bit per byte that tells whether the byte is initialised. A byte that was stored with some
//! initialised bits counts as uninitialised there, and its uninitialised bits are recorded here. A value that
//! contains such a byte is initialised bit by bit. Any other value counts as initialised if one of its bytes is,
//! because the other bytes may be padding.

use std::collections::BTreeMap;

/// The uninitialised bits of single bytes, by offset and lane. An entry applies only while its byte counts as
/// uninitialised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteInitMask(BTreeMap<(u32, u32), u8>);

impl ByteInitMask {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The uninitialised bits of a value, if one of its bytes has an entry; `written` has a bit for each initialised
    /// byte.
    pub(super) fn uninitialised_bits(
        &self,
        offset: u32,
        lane: u32,
        bytes: u32,
        written: u32,
    ) -> Option<u64> {
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

    /// Sets the uninitialised bits of a byte, or removes its entry.
    pub(super) fn set(&mut self, offset: u32, lane: u32, unknown: Option<u8>) {
        match unknown {
            Some(unknown) => self.0.insert((offset, lane), unknown),
            None => self.0.remove(&(offset, lane)),
        };
    }

    /// Removes the entries of these bytes in these lanes.
    pub(super) fn clear(&mut self, bytes: std::ops::Range<u32>, mask: u32) {
        self.0.retain(|(offset, lane), _| mask >> lane & 1 == 0 || !bytes.contains(offset));
    }
}
