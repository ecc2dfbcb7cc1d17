//! Writes elements to their addresses, chunk by chunk, through a staging buffer if the layout has gaps.

use lightbench_primitives::dtype::Dtype;

use super::super::element::POISON;
use super::super::layout::{Layout, LayoutError, Run};

/// Elements that are made at once: few enough for the nearest cache.
pub(super) const CHUNK: usize = 1024;

/// The bytes of a tensor. `chunk` makes the elements from an index on, in ascending order.
pub(super) fn place(
    layout: &Layout,
    dtype: Dtype,
    mut chunk: impl FnMut(u64, &mut [u8]),
) -> Result<Vec<u8>, LayoutError> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(layout.bytes).ok().ok_or(LayoutError::TooLarge)?;
    let chunk_bytes = CHUNK * dtype.bits() as usize / 8;
    if layout.is_contiguous() {
        let mut first = 0;
        // Each chunk while it is in the nearest cache: a gigabyte is written once.
        while bytes.len() < layout.bytes {
            let start = bytes.len();
            bytes.resize((start + chunk_bytes).min(layout.bytes), POISON);
            chunk(first, &mut bytes[start..]);
            first += CHUNK as u64;
        }
        return Ok(bytes);
    }
    bytes.resize(layout.bytes, POISON);
    let size = dtype.address_bytes() as usize;
    let mut staging = vec![0; chunk_bytes];
    let (mut first, mut held) = (0_u64, 0);
    let mut used = 0;
    for mut run in layout.runs() {
        while run.length > 0 {
            if used == held {
                let remaining = layout.elements() - first;
                held = remaining.min(CHUNK as u64) as usize;
                chunk(first, &mut staging[..held * size]);
                first += held as u64;
                used = 0;
            }
            let count = run.length.min(held - used);
            scatter(&staging[used * size..(used + count) * size], &mut bytes, run, size);
            used += count;
            run.length -= count;
            run.offset += count * run.step;
        }
    }
    Ok(bytes)
}

/// Copies contiguous elements to the start of a run.
fn scatter(elements: &[u8], bytes: &mut [u8], run: Run, size: usize) {
    let start = run.offset * size;
    if run.step == 1 {
        bytes[start..start + elements.len()].copy_from_slice(elements);
        return;
    }
    let places = bytes[start..].chunks_mut(run.step * size);
    for (element, place) in elements.chunks_exact(size).zip(places) {
        place[..size].copy_from_slice(element);
    }
}
