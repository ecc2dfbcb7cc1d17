//! A model of the L1 and L2 caches: sectors of 32 bytes in lines of 128 bytes, least-recently-used replacement.
//!
//! Blocks are assigned to multiprocessors round-robin and simulated one after the other, so that the result is
//! deterministic. A GPU interleaves its resident blocks, which can increase or decrease the L1 hit rate. The set
//! index is the line number modulo the number of sets. Loads allocate in L1. Stores are written through to L2; they
//! neither allocate a line in L1 nor change one (CUDA C++ Programming Guide, "Global Memory", caches of compute
//! capability 5.x and later). L2 writes a sector back when its line is evicted, and reads nothing from DRAM for a
//! store. Read-modify-writes execute in L2.

use lightbench_units::Bytes;

const LINE_SHIFT: u32 = 7;
const SECTOR_SHIFT: u32 = 5;
const WAYS: usize = 16;
/// The limit of a cache size in bytes, so that a wrong size cannot exhaust the memory of the host.
const LARGEST: u64 = 1 << 30;
/// The distance between buffers in lines, as a power of two; see `set_of`.
const REGION_LINES_SHIFT: u32 = 33;

/// The cache sizes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// L1 of each multiprocessor, without shared memory.
    pub l1: Bytes,
    /// L2 of the device.
    pub l2: Bytes,
    /// The multiprocessors that blocks are assigned to.
    pub multiprocessors: u32,
}

/// Traffic of each cache level, in whole sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheTraffic {
    /// Loads that hit in L1 (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit`, in bytes).
    pub l1_hit: Bytes,
    /// Loads and read-modify-writes that hit in L2.
    pub l2_hit: Bytes,
    /// Loads from L1 to L2, and read-modify-writes (`lts__t_sectors_srcunit_tex_op_read`, in bytes).
    pub l2_read: Bytes,
    /// Stores to L2 (`lts__t_sectors_srcunit_tex_op_write`, in bytes).
    pub l2_written: Bytes,
    /// Reads from DRAM (`dram__bytes_read.sum`).
    pub dram_read: Bytes,
    /// Writes to DRAM before the end of the kernel (`dram__bytes_write.sum`).
    pub dram_written: Bytes,
    /// Dirty sectors in L2 at the end of the kernel.
    pub left_dirty: Bytes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    tag: u64,
    /// One bit per valid sector, and per dirty sector.
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

    /// Whether the cache has a sector; allocates it otherwise.
    pub(crate) fn take(&mut self, line: u64, bit: u8) -> bool {
        let (Some(found), _) = self.find_or_displace(line) else { return false };
        let hit = found.valid & bit != 0;
        found.valid |= bit;
        hit
    }

    /// The set of a line: consecutive lines are in consecutive sets; the set of the first line of a buffer is
    /// pseudo-random.
    fn set_of(&self, line: u64) -> usize {
        let region = line >> REGION_LINES_SHIFT;
        let start = region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let inside = line & ((1 << REGION_LINES_SHIFT) - 1);
        (inside.wrapping_add(start) % self.sets) as usize * WAYS
    }

    /// Finds the line of an address and moves it to the front.
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

    /// Finds the line, or replaces the last one by an empty one; returns the number of dirty sectors of the replaced
    /// line.
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

/// Both cache levels of a device, with their traffic.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    sizes: CacheSizes,
    l1: Vec<SectorCache>,
    l2: SectorCache,
    traffic: CacheTraffic,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheAccess {
    Load,
    /// A load that bypasses L1, by its ordering or a cache operator.
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

    /// Accesses one sector, given by the address of a byte in it, from a block.
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

    /// The traffic of all levels.
    pub(crate) fn traffic(&self) -> CacheTraffic {
        let dirty: u64 = self.l2.lines.iter().map(|line| u64::from(line.dirty.count_ones())).sum();
        CacheTraffic { left_dirty: SECTOR * dirty, ..self.traffic }
    }

    /// Whether L1 has the sector; allocates it otherwise.
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
/// The limit of multiprocessors, above that of any device.
const MOST_MULTIPROCESSORS: u32 = 1 << 10;
const LARGEST_L1: u64 = 1 << 20;

#[cfg(test)]
mod tests;
