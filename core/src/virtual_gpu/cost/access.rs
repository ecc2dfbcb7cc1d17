//! What one access of a warp costs: sectors, lines, passes over the banks.

/// Lanes that access shared memory: offsets in storage, and how many bytes each.
pub(crate) struct SharedRequest<'a> {
    pub(crate) offsets: &'a [u64; 32],
    pub(crate) mask: u32,
    pub(crate) bytes: u32,
}

/// Distinct sectors of 32 bytes and lines of 128 that an access touches.
pub(crate) fn line_counts(addresses: &[u64; 32], mask: u32, bytes: u32) -> (u64, u64) {
    let mut starts = [0_u64; 32];
    let mut count = 0;
    let mut sorted = true;
    for (lane, address) in addresses.iter().enumerate() {
        if mask >> lane & 1 == 1 {
            sorted &= count == 0 || starts[count - 1] <= *address;
            starts[count] = *address;
            count += 1;
        }
    }
    let starts = &mut starts[..count];
    if !sorted {
        starts.sort_unstable();
    }
    (distinct(starts, bytes, 5), distinct(starts, bytes, 7))
}

/// How many units of `2^shift` bytes sorted accesses touch.
fn distinct(starts: &[u64], bytes: u32, shift: u32) -> u64 {
    let (mut units, mut next) = (0, 0);
    for start in starts {
        let first = (start >> shift).max(next);
        let last = (start + u64::from(bytes) - 1) >> shift;
        if last >= first {
            units += last - first + 1;
            next = last + 1;
        }
    }
    units
}

/// Passes over the 32 banks of four bytes, and how many of them conflicts cause. Accesses of 8 bytes go in two halves
/// of the warp, those of 16 in four quarters.
pub(crate) fn shared_wavefronts(request: &SharedRequest<'_>) -> (u64, u64) {
    if request.bytes <= 4 && is_free_of_conflicts(request) {
        return (1, 0);
    }
    let (groups, lanes) = match request.bytes {
        0..=4 => (1, 32),
        5..=8 => (2, 16),
        _ => (4, 8),
    };
    let words = request.bytes.div_ceil(4).max(1);
    let (mut passes, mut needed) = (0, 0);
    for group in 0..groups {
        let range = group * lanes..(group + 1) * lanes;
        let active = range.clone().any(|lane| request.mask >> lane & 1 == 1);
        if active {
            passes += group_passes(request, range, words);
            needed += 1;
        }
    }
    (passes, passes - needed)
}

/// Whether no bank is asked for two different words, which is the rule.
fn is_free_of_conflicts(request: &SharedRequest<'_>) -> bool {
    let mut words = [0_u64; 32];
    let mut used = 0_u32;
    for lane in (0..32).filter(|lane| request.mask >> lane & 1 == 1) {
        let word = request.offsets[lane] / 4;
        let bank = (word % 32) as usize;
        if used >> bank & 1 == 1 && words[bank] != word {
            return false;
        }
        used |= 1 << bank;
        words[bank] = word;
    }
    true
}

/// The most distinct words of one bank.
fn group_passes(request: &SharedRequest<'_>, lanes: std::ops::Range<u32>, words: u32) -> u64 {
    let mut seen = [[0_u64; 32]; 32];
    let mut counts = [0_usize; 32];
    for lane in lanes.filter(|lane| request.mask >> lane & 1 == 1) {
        for word in 0..u64::from(words.min(4)) {
            let word = request.offsets[lane as usize] / 4 + word;
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
