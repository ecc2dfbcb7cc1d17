//! Writes structures of the device code; every member has eight bytes.

/// Members, one after the other.
#[derive(Debug, Default)]
pub(super) struct Words(pub(super) Vec<u8>);

impl Words {
    pub(super) fn whole(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn signed(&mut self, value: i64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn real(&mut self, value: f64) {
        self.0.extend(value.to_le_bytes());
    }

    /// An array of this many members; missing values are 0.
    pub(super) fn array(&mut self, length: usize, values: impl Iterator<Item = u64>) {
        let values = values.chain(std::iter::repeat(0));
        values.take(length).for_each(|value| self.whole(value));
    }
}
