//! Which elements of which tensor shared memory holds: the boxes that tensor copies have written, by chunks of 16 bytes.

use std::sync::Arc;

use lightbench_primitives::tensor_map::Swizzle;

use super::super::shared::{SharedMemory, Word};
use super::super::swizzle::CHUNK;

/// The largest number of dimensions of a tensor.
pub(in super::super) const MOST_DIMENSIONS: usize = 5;

/// A box that a copy writes to shared memory.
#[derive(Debug)]
pub(in super::super) struct LoadedBox {
    /// The buffer of the tensor.
    pub(in super::super) name: String,
    /// The address of the tensor.
    pub(in super::super) tensor: u64,
    /// Elements along each dimension, the innermost first.
    pub(in super::super) extents: Vec<u64>,
    /// The bits of an element.
    pub(in super::super) bits: u32,
    pub(in super::super) swizzle: Swizzle,
    /// Offset in shared memory, in bytes.
    pub(super) start: usize,
    /// The chunks in the order of shared memory; none for gaps between rows.
    pub(super) chunks: Vec<Option<LoadedChunk>>,
}

/// A chunk of a box.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LoadedChunk {
    /// The coordinates of the first element, the innermost first.
    pub(in super::super) coordinates: [i64; MOST_DIMENSIONS],
    /// What the copy writes.
    pub(super) words: [u32; 4],
}

/// The latest box of each chunk of a block's shared memory.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Origins(Vec<Option<Arc<LoadedBox>>>);

impl LoadedChunk {
    pub(super) fn new(coordinates: [i64; MOST_DIMENSIONS], words: &[Word; 4]) -> Self {
        Self { coordinates, words: words.map(|word| word.value) }
    }
}

impl Origins {
    /// Records a box when its copy is issued.
    pub(super) fn record(&mut self, loaded: &Arc<LoadedBox>) {
        let first = loaded.start / CHUNK as usize;
        let end = first + loaded.chunks.len();
        if self.0.len() < end {
            self.0.resize(end, None);
        }
        for (origin, chunk) in self.0[first..end].iter_mut().zip(&loaded.chunks) {
            if chunk.is_some() {
                *origin = Some(Arc::clone(loaded));
            }
        }
    }

    /// The origin of the chunk at an offset; none if no copy wrote it, or if it has another content since.
    pub(in super::super) fn at(
        &self,
        offset: usize,
        shared: &SharedMemory,
    ) -> Option<(&Arc<LoadedBox>, LoadedChunk)> {
        let loaded = self.0.get(offset / CHUNK as usize)?.as_ref()?;
        let chunk = (*loaded.chunks.get((offset - loaded.start) / CHUNK as usize)?)?;
        let mut words = chunk.words.iter().zip((offset..).step_by(4));
        let is_same = words.all(|(word, place)| shared.read(place, 4) as u32 == *word);
        is_same.then_some((loaded, chunk))
    }
}

#[cfg(test)]
impl LoadedBox {
    pub(in super::super) fn of_test(name: &str, extents: Vec<u64>, swizzle: Swizzle) -> Self {
        let (tensor, start, chunks) = (0, 0, Vec::new());
        Self { name: name.to_owned(), tensor, extents, bits: 16, swizzle, start, chunks }
    }
}

#[cfg(test)]
impl LoadedChunk {
    pub(in super::super) const fn of_test(coordinates: [i64; MOST_DIMENSIONS]) -> Self {
        Self { coordinates, words: [0; 4] }
    }
}
