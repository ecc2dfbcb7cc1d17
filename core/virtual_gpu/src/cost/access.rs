//! The cost of one memory request of a warp: sectors, lines, wavefronts over the banks, serialised lanes.

/// The addresses of the active lanes, and the number of bytes per lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// Addresses of global memory, or offsets in shared memory.
    pub(crate) addresses: &'a [u64; 32],
    pub(crate) mask: u32,
    pub(crate) bytes: u32,
}

/// The parts of global memory that a request touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Sectors of 32 bytes.
    pub(crate) sectors: u64,
    /// Lines of 128 bytes.
    pub(crate) lines: u64,
    pub(crate) distinct_bytes: u64,
    /// Bytes of all lanes.
    pub(crate) bytes: u64,
}

impl Touched {
    /// The least number of wavefronts in L1: the tag stage resolves four lines per cycle, and the data stage returns
    /// 128 bytes.
    pub(crate) const fn wavefronts(&self) -> u64 {
        let (tags, data) = (self.lines.div_ceil(4), self.bytes.div_ceil(128));
        if tags > data { tags } else { data }
    }
}

impl Request<'_> {
    fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// The addresses of active lanes, ascending, at the beginning of the array.
    fn sorted(&self) -> ([u64; 32], usize) {
        let mut starts = [0_u64; 32];
        let mut count = 0;
        let mut sorted = true;
        for lane in self.lanes() {
            let address = self.addresses[lane];
            sorted &= count == 0 || starts[count - 1] <= address;
            starts[count] = address;
            count += 1;
        }
        if !sorted {
            starts[..count].sort_unstable();
        }
        (starts, count)
    }

    /// The parts of global memory that the request touches.
    pub(crate) fn touched(&self) -> Touched {
        let (starts, count) = self.sorted();
        let starts = &starts[..count];
        Touched {
            sectors: distinct(starts, self.bytes, 5),
            lines: distinct(starts, self.bytes, 7),
            distinct_bytes: distinct(starts, self.bytes, 0),
            bytes: u64::from(self.bytes) * count as u64,
        }
    }

    /// The largest number of lanes at one address.
    pub(crate) fn most_at_one_address(&self) -> u64 {
        let (starts, count) = self.sorted();
        starts[..count].chunk_by(|a, b| a == b).map(|equal| equal.len() as u64).max().unwrap_or(0)
    }

    /// The number of distinct addresses.
    pub(crate) fn different_addresses(&self) -> u64 {
        let (starts, count) = self.sorted();
        starts[..count].chunk_by(|a, b| a == b).count() as u64
    }

    /// Sectors of local memory, whose words are interleaved over the lanes of a warp (CUDA C++ Programming Guide,
    /// "Local Memory").
    pub(crate) fn local_sectors(&self) -> u64 {
        let mut interleaved = [0; 32];
        let mut sectors = 0;
        let words = self.bytes.div_ceil(4).max(1);
        for word in 0..u64::from(words) {
            for lane in self.lanes() {
                let index = self.addresses[lane] / 4 + word;
                interleaved[lane] = index.wrapping_mul(128).wrapping_add(4 * lane as u64);
            }
            let request = Request { addresses: &interleaved, mask: self.mask, bytes: 4 };
            sectors += request.touched().sectors;
        }
        sectors
    }
}

/// The number of units of `2^shift` bytes that sorted accesses touch.
fn distinct(starts: &[u64], bytes: u32, shift: u32) -> u64 {
    let (mut units, mut next) = (0, 0);
    for start in starts {
        let first = (start >> shift).max(next);
        let last = start.saturating_add(u64::from(bytes).saturating_sub(1)) >> shift;
        if last >= first {
            units += last - first + 1;
            next = last.saturating_add(1);
        }
    }
    units
}

/// The direction of a shared memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Load,
    Store,
}

/// Wavefronts over the 32 banks of four bytes, and the number of them that bank conflicts cause.
///
/// Accesses of up to 4 bytes are processed for the whole warp; accesses of 8 bytes in two halves of the warp, and
/// accesses of 16 bytes in four quarters, because a wavefront transfers 128 bytes. Loads in which lanes have pairwise
/// the same address, `n` and `n^1` or `n` and `n^2` throughout, return less data: two groups are processed together
/// (NVIDIA, developer forum, thread 77228, for compute capability 7.0 to 7.5; assumed for later ones).
pub(crate) fn shared_wavefronts(request: &Request<'_>, direction: Direction) -> (u64, u64) {
    if request.bytes <= 4 && is_free_of_conflicts(request) {
        return (1, 0);
    }
    // The number of lanes of a group, and of a group in which pairs are checked.
    let (lanes, paired) = match request.bytes {
        0..=4 => (32, 32),
        5..=8 => (16, 32),
        _ => (8, 16),
    };
    let (mut passes, mut needed) = (0, 0);
    for start in (0..32).step_by(paired) {
        let part = Request { mask: request.mask & lane_mask(start, paired), ..*request };
        let together = direction == Direction::Load && (pairs(&part, 1) || pairs(&part, 2));
        let step = if together { paired } else { lanes };
        for start in (start..start + paired).step_by(step) {
            let group = Request { mask: part.mask & lane_mask(start, step), ..part };
            if group.mask != 0 {
                passes += group_passes(&group);
                needed += 1;
            }
        }
    }
    (passes, passes - needed)
}

/// Lanes from `start`.
const fn lane_mask(start: usize, count: usize) -> u32 {
    (u32::MAX >> (32 - count)) << start
}

/// Whether every active lane has the address of its partner, if the partner is active.
fn pairs(request: &Request<'_>, distance: usize) -> bool {
    request.lanes().all(|lane| {
        let partner = lane ^ distance;
        request.mask >> partner & 1 == 0 || request.addresses[lane] == request.addresses[partner]
    })
}

/// Whether no bank serves two different words, which is the usual case.
fn is_free_of_conflicts(request: &Request<'_>) -> bool {
    let mut words = [0_u64; 32];
    let mut used = 0_u32;
    for lane in request.lanes() {
        let word = request.addresses[lane] / 4;
        let bank = (word % 32) as usize;
        if used >> bank & 1 == 1 && words[bank] != word {
            return false;
        }
        used |= 1 << bank;
        words[bank] = word;
    }
    true
}

/// The largest number of distinct words of one bank.
fn group_passes(request: &Request<'_>) -> u64 {
    let mut seen = [[0_u64; 32]; 32];
    let mut counts = [0_usize; 32];
    let words = u64::from(request.bytes.div_ceil(4).clamp(1, 4));
    for lane in request.lanes() {
        for word in 0..words {
            let word = (request.addresses[lane] / 4).wrapping_add(word);
            let bank = (word % 32) as usize;
            let known = &mut seen[bank];
            if !known[..counts[bank]].contains(&word) && counts[bank] < 32 {
                known[counts[bank]] = word;
                counts[bank] += 1;
            }
        }
    }
    counts.iter().copied().max().unwrap_or(0) as u64
}

#[cfg(test)]
mod tests;
