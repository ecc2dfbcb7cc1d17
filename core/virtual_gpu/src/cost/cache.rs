//! A simple model of the two cache levels: sectors of 32 bytes in lines of 128, the least recently used line goes.
//!
//! Blocks are given to multiprocessors in turn and one after the other, so that the result is always the same; a GPU
//! interleaves the blocks that are resident, which can make L1 serve less than here. Set indices are plain remainders.
//! Loads allocate in L1. Stores go through to L2, neither allocate nor displace in L1, and leave a line that is there
//! as it is (CUDA C++ Programming Guide, "Global Memory", caches of compute capability 5.x and later). L2 writes a
//! sector back when its line is displaced, and fetches nothing for a store. Read-modify-writes happen in L2.

use lightbench_units::Bytes;

const LINE_SHIFT: u32 = 7;
const SECTOR_SHIFT: u32 = 5;
const WAYS: usize = 16;
/// Larger caches than any device has are cut to this, so that a wrong number cannot ask for all memory.
const LARGEST: u64 = 1 << 30;
/// Buffers begin this far apart; see `set_of`.
const REGION_LINES_SHIFT: u32 = 33;

/// Sizes of the caches that a launch is counted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// L1 of each multiprocessor, shared memory left out.
    pub l1: Bytes,
    /// L2 of the device.
    pub l2: Bytes,
    /// Multiprocessors that blocks are given to.
    pub multiprocessors: u32,
}

/// Bytes that each level moved, in whole sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheTraffic {
    /// Loads that L1 served (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit`, as bytes).
    pub l1_hit: Bytes,
    /// Loads and read-modify-writes that L2 served.
    pub l2_hit: Bytes,
    /// What L1 asked of L2 for loads, and read-modify-writes (`lts__t_sectors_srcunit_tex_op_read`, as bytes).
    pub l2_read: Bytes,
    /// What stores brought to L2 (`lts__t_sectors_srcunit_tex_op_write`, as bytes).
    pub l2_written: Bytes,
    /// What memory delivered (`dram__bytes_read.sum`).
    pub dram_read: Bytes,
    /// What went back to memory before the kernel ended (`dram__bytes_write.sum`).
    pub dram_written: Bytes,
    /// What L2 still had to write when the kernel ended.
    pub left_dirty: Bytes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    tag: u64,
    /// One bit for each sector that is here, and that memory does not have yet.
    valid: u8,
    dirty: u8,
}

/// One cache: sets of lines, the most recently used first.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectorCache {
    lines: Vec<Line>,
    sets: u64,
}

impl SectorCache {
    pub(crate) fn new(size: Bytes) -> Self {
        let lines = (size.0.min(LARGEST) >> LINE_SHIFT) as usize;
        let sets = lines / WAYS;
        Self { lines: vec![Line::default(); sets * WAYS], sets: sets as u64 }
    }

    /// Whether it has a sector; it has it from now on.
    pub(crate) fn take(&mut self, line: u64, bit: u8) -> bool {
        let (Some(found), _) = self.find_or_displace(line) else { return false };
        let hit = found.valid & bit != 0;
        found.valid |= bit;
        hit
    }

    /// Lines side by side lie in sets side by side; where a buffer begins is as good as random.
    fn set_of(&self, line: u64) -> usize {
        let region = line >> REGION_LINES_SHIFT;
        let start = region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let inside = line & ((1 << REGION_LINES_SHIFT) - 1);
        (inside.wrapping_add(start) % self.sets) as usize * WAYS
    }

    /// The line of an address moved to the front, if it is here.
    fn find(&mut self, line: u64) -> Option<&mut Line> {
        if self.sets == 0 {
            return None;
        }
        let start = self.set_of(line);
        let set = self.lines.get_mut(start..start + WAYS)?;
        let position = set.iter().position(|one| one.valid != 0 && one.tag == line)?;
        set[..=position].rotate_right(1);
        set.first_mut()
    }

    /// The same, or an empty one in the place of the last; how many dirty sectors that had.
    fn find_or_displace(&mut self, line: u64) -> (Option<&mut Line>, u32) {
        if self.find(line).is_none() && self.sets > 0 {
            let start = self.set_of(line);
            let set = &mut self.lines[start..start + WAYS];
            set.rotate_right(1);
            let displaced = std::mem::replace(&mut set[0], Line { tag: line, valid: 0, dirty: 0 });
            return (set.first_mut(), displaced.dirty.count_ones());
        }
        (self.find(line), 0)
    }
}

/// Both levels of a device, with what they moved.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    sizes: CacheSizes,
    l1: Vec<SectorCache>,
    l2: SectorCache,
    traffic: CacheTraffic,
}

/// What an access does, as far as caches go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheAccess {
    Load,
    /// A load that must see what others wrote, or that says it skips L1.
    LoadThrough,
    Store,
    ReadModifyWrite,
}

impl Caches {
    pub(crate) fn new(sizes: CacheSizes) -> Self {
        Self {
            sizes,
            l1: Vec::new(),
            l2: SectorCache::new(sizes.l2),
            traffic: CacheTraffic::default(),
        }
    }

    /// One sector, by the address of a byte in it, from a block.
    pub(crate) fn access(&mut self, block: u64, address: u64, access: CacheAccess) {
        let line = address >> LINE_SHIFT;
        let bit = 1 << (address >> SECTOR_SHIFT & 3);
        match access {
            CacheAccess::Load => {
                if self.l1_has(block, line, bit) {
                    self.traffic.l1_hit = self.traffic.l1_hit + SECTOR;
                } else {
                    self.l2_load(line, bit);
                }
            }
            CacheAccess::LoadThrough => self.l2_load(line, bit),
            CacheAccess::Store => {
                self.traffic.l2_written = self.traffic.l2_written + SECTOR;
                self.l2_store(line, bit);
            }
            CacheAccess::ReadModifyWrite => {
                self.l2_load(line, bit);
                self.l2_store(line, bit);
            }
        }
    }

    /// What all levels moved so far.
    pub(crate) fn traffic(&self) -> CacheTraffic {
        let dirty: u64 = self.l2.lines.iter().map(|line| u64::from(line.dirty.count_ones())).sum();
        CacheTraffic { left_dirty: SECTOR * dirty, ..self.traffic }
    }

    /// Whether L1 has the sector; it has it from now on.
    fn l1_has(&mut self, block: u64, line: u64, bit: u8) -> bool {
        let multiprocessors = self.sizes.multiprocessors.clamp(1, MOST_MULTIPROCESSORS);
        let index = (block % u64::from(multiprocessors)) as usize;
        if self.l1.len() <= index {
            self.l1.resize_with(index + 1, SectorCache::default);
        }
        let cache = &mut self.l1[index];
        if cache.lines.is_empty() {
            *cache = SectorCache::new(Bytes(self.sizes.l1.0.min(LARGEST_L1)));
        }
        cache.take(line, bit)
    }

    fn l2_load(&mut self, line: u64, bit: u8) {
        self.traffic.l2_read = self.traffic.l2_read + SECTOR;
        let (found, displaced) = self.l2.find_or_displace(line);
        let hit = found.is_some_and(|found| {
            let hit = found.valid & bit != 0;
            found.valid |= bit;
            hit
        });
        self.traffic.dram_written = self.traffic.dram_written + SECTOR * u64::from(displaced);
        let served = if hit { &mut self.traffic.l2_hit } else { &mut self.traffic.dram_read };
        *served = *served + SECTOR;
    }

    fn l2_store(&mut self, line: u64, bit: u8) {
        let (found, displaced) = self.l2.find_or_displace(line);
        let kept = found.map(|found| {
            found.valid |= bit;
            found.dirty |= bit;
        });
        let through = u64::from(displaced) + u64::from(kept.is_none());
        self.traffic.dram_written = self.traffic.dram_written + SECTOR * through;
    }
}

const SECTOR: Bytes = Bytes(32);
/// No device has more of either.
const MOST_MULTIPROCESSORS: u32 = 1 << 10;
const LARGEST_L1: u64 = 1 << 20;

#[cfg(test)]
mod tests;
