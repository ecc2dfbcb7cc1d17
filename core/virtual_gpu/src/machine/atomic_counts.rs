//! The number of atomic operations on each address range of a region. Operations on the same range are serialised.

/// Size of an address range in which atomic operations are serialised, in bytes. On an H200, two addresses that are
/// at least 256 bytes apart use two atomic units and closer ones use one, and two such units share each kibibyte
/// (`tests/benches/atomics`): operations queue for the range, not for a single address.
const PLACE: usize = 1024;

/// Size of the smallest floating-point sum, in bytes.
const WORD: usize = 4;

/// Size of a sector in bytes. L2 updates a sector at once if the lanes have different words.
const SECTOR: usize = 32;

/// The counts of a region; empty if there were no atomic operations.
#[derive(Clone, Debug)]
pub(super) struct AtomicCounts {
    /// Passes over each address range.
    passes: Vec<u64>,
    /// Floating-point sums at each word; each depends on the one before.
    sums: Vec<u32>,
}

impl AtomicCounts {
    /// No operations.
    pub(super) const NONE: Self = Self { passes: Vec::new(), sums: Vec::new() };

    /// Counts a request at these offsets, in ascending order, of a region of `bytes` bytes: one pass per sector, and
    /// as many as lanes access one address of it.
    pub(super) fn count(&mut self, offsets: &[usize], bytes: usize) {
        if self.passes.is_empty() {
            self.passes.resize(bytes.div_ceil(PLACE), 0);
        }
        for sector in offsets.chunk_by(|a, b| a / SECTOR == b / SECTOR) {
            let meeting = sector.chunk_by(|a, b| a == b).map(|same| same.len() as u64).max();
            if let Some(passes) = self.passes.get_mut(sector[0] / PLACE) {
                *passes += meeting.unwrap_or(0);
            }
        }
    }

    /// Counts the floating-point sums of the same request.
    pub(super) fn count_sums(&mut self, offsets: &[usize], bytes: usize) {
        if self.sums.is_empty() {
            self.sums.resize(bytes.div_ceil(WORD), 0);
        }
        for offset in offsets {
            if let Some(sums) = self.sums.get_mut(offset / WORD) {
                *sums = sums.saturating_add(1);
            }
        }
    }

    /// Adds the counts of another host thread.
    pub(super) fn add(&mut self, other: &Self) {
        self.passes.resize(self.passes.len().max(other.passes.len()), 0);
        for (passes, more) in self.passes.iter_mut().zip(&other.passes) {
            *passes += more;
        }
        self.sums.resize(self.sums.len().max(other.sums.len()), 0);
        for (sums, more) in self.sums.iter_mut().zip(&other.sums) {
            *sums = sums.saturating_add(*more);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::NONE;
    }

    /// The passes over the busiest address range.
    pub(super) fn most(&self) -> u64 {
        self.passes.iter().copied().max().unwrap_or(0)
    }

    /// The floating-point sums at the busiest word.
    pub(super) fn most_sums(&self) -> u64 {
        self.sums.iter().copied().max().map_or(0, u64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_is_changed_most_is_known() {
        let bytes = 3 * PLACE;
        let check = |rule: &str, offsets: &[usize], most: u64| {
            let mut changes = AtomicCounts::NONE;
            changes.count(offsets, bytes);
            assert_eq!(changes.most(), most, "{rule}");
        };
        check("nothing", &[], 0);
        check("words of a sector go together", &[0, 4, 8, 28], 1);
        check("sectors do not", &[0, 4, 32, 96], 3);
        check("what meets goes one after the other", &[0, 4, 4, 4, 8, 8], 3);
        check("places are apart", &[0, 32, PLACE, 2 * PLACE, 3 * PLACE - 4], 2);
        check("what lies behind the end counts nowhere", &[0, bytes], 1);
        let mut changes = AtomicCounts::NONE;
        changes.count(&[0], bytes);
        let mut other = AtomicCounts::NONE;
        other.count(&[0, 32], bytes);
        changes.add(&other);
        assert_eq!(changes.most(), 3, "threads are added");
        changes.count_sums(&[0, 4, 4], bytes);
        changes.add(&changes.clone());
        assert_eq!(changes.most_sums(), 4, "sums are those of one word");
        changes.clear();
        assert_eq!((changes.most(), changes.most_sums()), (0, 0));
    }
}
