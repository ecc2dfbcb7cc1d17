//! Global memory: every buffer has an address range of its own, so that an index out of bounds cannot reach another
//! buffer.

use super::super::lower::code::Object;
use super::atomic_counts::AtomicCounts;
use super::region_bytes::RegionBytes;

/// The bits of an address that are the offset within a region.
const REGION_BITS: u32 = 40;
const OFFSET_MASK: u64 = (1 << REGION_BITS) - 1;

/// The generic address of the shared memory window.
pub(super) const SHARED_WINDOW: u64 = 1 << 36;
/// The generic address of the local memory window.
pub(super) const LOCAL_WINDOW: u64 = 1 << 37;
/// The generic address of function 0; function `n` is 16 × `n` bytes further.
pub(super) const FUNCTION_WINDOW: u64 = 1 << 38;
/// The size of a window in bytes.
pub(super) const WINDOW_BYTES: u64 = 1 << 32;

/// Write permission of a kernel for a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The kernel may only read.
    ReadOnly,
    /// The kernel may read and write.
    ReadWrite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionKind {
    Buffer,
    Global,
    Constant,
    Parameters,
    Heap,
    /// Freed: no access is valid.
    Freed,
}

/// A range of addresses with its bytes.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) name: String,
    pub(super) kind: RegionKind,
    pub(super) access: Access,
    pub(super) content: RegionBytes,
    /// Padding at the beginning of the content, in bytes, that no access may touch: it gives the bytes after it an
    /// address with the requested alignment.
    pub(super) start: usize,
    /// One bit for each sector of 32 bytes that was read, and that was written.
    pub(super) read_sectors: Vec<u64>,
    pub(super) written_sectors: Vec<u64>,
    /// The number of atomic operations on each address range; empty if there were none.
    pub(super) changes: AtomicCounts,
}

impl Region {
    pub(super) const fn new(
        name: String,
        kind: RegionKind,
        access: Access,
        content: RegionBytes,
    ) -> Self {
        Self {
            name,
            kind,
            access,
            content,
            start: 0,
            read_sectors: Vec::new(),
            written_sectors: Vec::new(),
            changes: AtomicCounts::NONE,
        }
    }

    /// The number of accessible bytes.
    pub(super) fn bytes(&self) -> usize {
        self.content.len() - self.start.min(self.content.len())
    }
}

impl Clone for Region {
    /// Copies the bytes; the clone does not share them.
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            kind: self.kind,
            access: self.access,
            content: self.content.copy(),
            start: self.start,
            read_sectors: self.read_sectors.clone(),
            written_sectors: self.written_sectors.clone(),
            changes: self.changes.clone(),
        }
    }
}

/// All regions; the index of a region is part of its addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) regions: Vec<Region>,
}

/// A region and an offset within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegionPlace {
    pub(super) region: usize,
    pub(super) offset: usize,
}

impl Memory {
    pub(super) const MOST_REGIONS: usize = 1 << 16;

    pub(super) fn add(&mut self, region: Region) -> Option<usize> {
        if self.regions.len() >= Self::MOST_REGIONS {
            return None;
        }
        self.regions.push(region);
        Some(self.regions.len() - 1)
    }

    /// The same bytes for another host thread, with separate counts of touched sectors.
    pub(super) fn share(&self) -> Self {
        let share = |region: &Region| Region {
            name: region.name.clone(),
            kind: region.kind,
            access: region.access,
            content: region.content.clone(),
            start: region.start,
            read_sectors: Vec::new(),
            written_sectors: Vec::new(),
            changes: AtomicCounts::NONE,
        };
        Self { regions: self.regions.iter().map(share).collect() }
    }

    /// Adds the touched sectors of another host thread.
    pub(super) fn add_touched(&mut self, other: &Self) {
        let add = |all: &mut Vec<u64>, part: &[u64]| {
            all.resize(all.len().max(part.len()), 0);
            all.iter_mut().zip(part).for_each(|(all, part)| *all |= part);
        };
        for (region, other) in self.regions.iter_mut().zip(&other.regions) {
            add(&mut region.read_sectors, &other.read_sectors);
            add(&mut region.written_sectors, &other.written_sectors);
            region.changes.add(&other.changes);
        }
    }

    /// The address of the first byte of a region's content.
    pub(super) const fn address(region: usize) -> u64 {
        (region as u64 + 1) << REGION_BITS
    }

    /// The address of the first accessible byte of a region.
    pub(super) fn start_of(&self, region: usize) -> u64 {
        let start = self.regions.get(region).map_or(0, |region| region.start);
        Self::address(region) + start as u64
    }

    /// The region whose address range contains an address, and the offset, which may be beyond its end.
    #[inline]
    pub(super) fn region_of(&self, address: u64) -> Option<(usize, u64)> {
        let number = (address >> REGION_BITS).checked_sub(1)? as usize;
        (number < self.regions.len()).then_some((number, address & OFFSET_MASK))
    }

    /// The location of an access, if all of it is in one region.
    #[inline]
    pub(super) fn place(&self, address: u64, bytes: u64) -> Option<RegionPlace> {
        let (region, offset) = self.region_of(address)?;
        let Region { content, start, kind, .. } = &self.regions[region];
        let inside = offset >= *start as u64 && offset + bytes <= content.len() as u64;
        let fits = inside && *kind != RegionKind::Freed;
        fits.then_some(RegionPlace { region, offset: offset as usize })
    }

    /// The name of the object that contains an address, and the address of the object.
    pub(super) fn object_at(&self, address: u64) -> Option<(String, u64)> {
        let (region, _) = self.region_of(address)?;
        Some((self.regions.get(region)?.name.clone(), self.start_of(region)))
    }

    /// A description of an invalid address, with the object that it was probably meant for.
    pub(super) fn describe(&self, address: u64, bytes: u64) -> (Option<String>, String) {
        let Some((region, offset)) = self.region_of(address) else {
            return match address.checked_sub(0) {
                Some(low) if low < 1 << 16 => {
                    (None, format!("{bytes} bytes at {address:#x}, at or near the null pointer"))
                }
                _ => self.before_a_region(address, bytes),
            };
        };
        let region_number = region;
        let region = &self.regions[region];
        let (length, start) = (region.bytes(), region.start as u64);
        if offset < start {
            return self.before_a_region(address, bytes);
        }
        let offset = offset - start;
        if region.kind == RegionKind::Freed {
            let text = format!("{bytes} bytes at offset {offset} of memory that was freed");
            return (Some(region.name.clone()), text);
        }
        // A negative index results in an offset near the end of the address range before.
        if offset > OFFSET_MASK / 2 && region_number + 1 < self.regions.len() {
            return self.before_a_region(address, bytes);
        }
        let text = format!(
            "{bytes} bytes at offset {offset} of `{}`, which has {length} bytes",
            region.name
        );
        (Some(region.name.clone()), text)
    }

    fn before_a_region(&self, address: u64, bytes: u64) -> (Option<String>, String) {
        let next = address.wrapping_add(1 << (REGION_BITS - 1));
        match self.region_of(next) {
            Some((region, _)) if self.start_of(region) > address => {
                let region_start = self.start_of(region);
                let name = self.regions[region].name.clone();
                let before = region_start - address;
                let text =
                    format!("{bytes} bytes, {before} bytes before the beginning of `{name}`");
                (Some(name), text)
            }
            Some(_) | None => (
                None,
                format!("{bytes} bytes at {address:#x}, outside of every buffer and variable"),
            ),
        }
    }
}

/// The regions of variables that outlive launches, by the identity of their module.
pub(super) type Kept = std::collections::BTreeMap<(u64, Object), usize>;

/// The addresses of the objects of a program.
pub(super) type Addresses = std::collections::BTreeMap<Object, u64>;
