//! Texture fetches, and loads and stores of surfaces. PTX ISA, sections "Texture Instructions" and "Surface
//! Instructions".
//!
//! An object is a value that the launch passes; its texels are the bytes of a buffer, in the order of the buffer. A GPU
//! may store them in another order, which a kernel cannot observe.

use std::sync::Arc;

use lightbench_primitives::texture::{
    Sampling, TexelAccess, TexelMemory, Texels, TextureAddress, TextureFilter, TextureObject,
};

use super::super::isa::memory::Ordering;
use super::super::isa::scalar::ScalarType;
use super::super::isa::texture::{
    Component, Extent, OutsideSurface, SurfaceAccess, TexelResult, Texture,
};
use super::super::lower::code::{Op, Slot, TextureSite};
use super::super::semantics::texture::{
    Interval, addressed, element, filtered, gathered, interval, point, weights,
};
use super::access::{Moved, Part, Spaces};
use super::fault::{FaultKind, Finding};
use super::lanes::{Doubles, Words};
use super::run::Worker;
use super::texture_object::{BoundTexture, FIRST_OBJECT};
use super::warp::{Frame, LANES};

/// The largest number of texels of one fetch: two along each dimension.
const CORNERS: usize = 8;

/// The texels that the lanes of a warp fetch.
struct Fetched {
    /// For each texel: its bits by channel and lane.
    texels: [[Words; 4]; CORNERS],
    /// Lanes whose value is uninitialised, by channel.
    undefined: [u32; 4],
}

/// The instruction that a warp executes.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    site: &'a TextureSite,
    pc: u32,
    frame: Frame,
}

/// A part of the bytes that each lane accesses.
struct Piece {
    offset: u32,
    element: u32,
    count: usize,
}

impl Piece {
    fn part<'a>(&self, whole: &Part<'_>, addresses: &'a Doubles) -> Part<'a> {
        let Self { element, count, .. } = *self;
        Part { pc: whole.pc, addresses, mask: whole.mask, element, count }
    }
}

/// An access in pieces that are aligned in the buffer: an array is aligned by itself, and its rows have no gaps there.
fn pieces(part: &Part<'_>, texel_element: u32) -> Vec<Piece> {
    let bytes = part.bytes();
    if part.mask == 0 {
        return Vec::new();
    }
    if part.lanes().all(|lane| part.addresses[lane].is_multiple_of(u64::from(bytes))) {
        return vec![Piece { offset: 0, element: part.element, count: part.count }];
    }
    let element = texel_element.min(part.element);
    (0..bytes / element).map(|index| Piece { offset: index * element, element, count: 1 }).collect()
}

/// Texels along each dimension; those that are missing have one.
fn extents(texels: &Texels) -> [u64; 3] {
    std::array::from_fn(|dimension| texels.extents.get(dimension).copied().unwrap_or(1))
}

/// The place of each coordinate in each dimension, from its bits and the extent.
fn places(
    texels: &Texels,
    coordinates: &[Words; 3],
    place: impl Fn(u32, u64) -> Interval,
) -> [[Interval; LANES]; 3] {
    let mut places = [[Interval::default(); LANES]; 3];
    for ((places, words), side) in places.iter_mut().zip(coordinates).zip(&texels.extents) {
        *places = words.map(|word| place(word, *side));
    }
    places
}

impl Worker<'_, '_> {
    pub(super) fn texture(&mut self, op: &Op, site: u32, pc: u32, (frame, active): (Frame, u32)) {
        let program = self.launch.program;
        let Some(site) = program.textures.get(site as usize) else { return };
        let (values, mask) = self.slot_addresses(op, &site.object, pc, frame, active);
        let textures = Arc::clone(&self.launch.textures);
        // Lanes mostly share an object.
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let value = values[lane];
            let same = super::lanes::bits(|lane| values[lane] == value) & left;
            left &= !same;
            let index = usize::try_from(value.wrapping_sub(FIRST_OBJECT)).ok();
            let Some(bound) = index.and_then(|index| textures.get(index)) else {
                let text = format!("{value:#x} is no texture or surface object of the launch");
                self.report(pc, Finding::new(FaultKind::Texture, lane as u32, text));
                return;
            };
            if let Err(text) = check(site.texture, &bound.object) {
                self.report(pc, Finding::new(FaultKind::Texture, lane as u32, text));
                return;
            }
            self.texture_of(Instruction { site, pc, frame }, bound, same);
        }
    }

    fn texture_of(&mut self, instruction: Instruction<'_>, bound: &BoundTexture, mask: u32) {
        match (instruction.site.texture, bound.object.access) {
            (Texture::Size(extent), _) => {
                let [width, height, depth] = extents(&bound.object.texels);
                let size = match extent {
                    Extent::Width => width,
                    Extent::Height => height,
                    Extent::Depth => depth,
                };
                self.set_values(instruction, mask, &[([size; LANES], 0)]);
            }
            (Texture::Fetch { is_indexed, .. }, TexelAccess::Texture(sampling)) => {
                // Linear memory of one dimension has neither a filter nor an address mode: beyond it are zeros.
                let address = if is_indexed { TextureAddress::Border } else { sampling.address };
                self.fetch(
                    instruction,
                    (bound, Sampling { address, ..sampling }),
                    is_indexed,
                    mask,
                );
            }
            (Texture::Gather { component, .. }, TexelAccess::Texture(sampling)) => {
                self.gather(instruction, (bound, sampling), component, mask);
            }
            (Texture::Load(access), _) => {
                self.surface(instruction, bound, access, mask);
            }
            (Texture::Store(access), _) => {
                self.changed();
                self.surface(instruction, bound, access, mask);
            }
            // Refused before.
            (Texture::Fetch { .. } | Texture::Gather { .. }, TexelAccess::Surface) => {}
        }
    }

    /// Words of coordinates by dimension, and the lanes that have them.
    fn coordinates(&mut self, instruction: Instruction<'_>, mask: u32) -> ([Words; 3], u32) {
        let Instruction { site, pc, frame } = instruction;
        let (start, count) = (site.coordinates.0 as usize, usize::from(site.coordinates.1));
        let program = self.launch.program;
        let slots = &program.lists[start..start + count.min(3)];
        let mut words = [[0; LANES]; 3];
        let mut undefined = 0;
        for (words, slot) in words.iter_mut().zip(slots) {
            let lanes = self.lanes(frame, mask);
            *words = lanes.word(*slot);
            undefined |= lanes.word_undefined(*slot) & mask;
        }
        if undefined != 0 && self.launch.checks.uninitialized {
            self.report_undefined(pc, undefined, "a coordinate");
            return (words, mask & !undefined);
        }
        (words, mask)
    }

    fn fetch(
        &mut self,
        instruction: Instruction<'_>,
        (bound, sampling): (&BoundTexture, Sampling),
        is_indexed: bool,
        mask: u32,
    ) {
        let (coordinates, mask) = self.coordinates(instruction, mask);
        let texels = &bound.object.texels;
        let rank = texels.extents.len();
        let places = places(texels, &coordinates, |word, side| {
            if is_indexed {
                return Interval { first: i64::from(word as i32), weight: 0 };
            }
            let coordinate = f32::from_bits(word);
            match (sampling.filter, sampling.address) {
                (TextureFilter::Point, _) => {
                    Interval { first: point(coordinate, side, &sampling), weight: 0 }
                }
                (TextureFilter::Linear, TextureAddress::Clamp) => {
                    interval(coordinate, side, &sampling).clamped(side)
                }
                (
                    TextureFilter::Linear,
                    TextureAddress::Border | TextureAddress::Wrap | TextureAddress::Mirror,
                ) => interval(coordinate, side, &sampling),
            }
        });
        let corners = match sampling.filter {
            TextureFilter::Point => 1,
            TextureFilter::Linear => 1 << rank,
        };
        let fetched =
            self.corners(instruction, (bound, sampling.address), &places, (corners, mask));
        let format = texels.format;
        let mut results = Vec::new();
        for channel in 0..usize::from(texels.channels) {
            let values: Doubles = std::array::from_fn(|lane| {
                let corners: [u32; CORNERS] =
                    std::array::from_fn(|corner| fetched.texels[corner][channel][lane]);
                let bits = match sampling.filter {
                    TextureFilter::Point => element(format, sampling.read, corners[0]),
                    TextureFilter::Linear => {
                        let parts: [u32; 3] = std::array::from_fn(|axis| places[axis][lane].weight);
                        filtered(format, &weights(parts), &corners)
                    }
                };
                u64::from(bits)
            });
            results.push((values, fetched.undefined[channel]));
        }
        self.set_texel(instruction, mask, results);
    }

    /// One component of the texels around a point, in the order of the ISA: below left, below right, above right, above
    /// left.
    fn gather(
        &mut self,
        instruction: Instruction<'_>,
        (bound, sampling): (&BoundTexture, Sampling),
        component: Component,
        mask: u32,
    ) {
        let (coordinates, mask) = self.coordinates(instruction, mask);
        let texels = &bound.object.texels;
        let places = places(texels, &coordinates, |word, side| {
            // All four texels are returned.
            Interval { weight: 1, ..interval(f32::from_bits(word), side, &sampling) }
        });
        let fetched = self.corners(instruction, (bound, sampling.address), &places, (4, mask));
        let channel = usize::from(component_index(component));
        let results = [2, 3, 1, 0].map(|corner: usize| {
            let value = |lane: usize| {
                let bits = fetched.texels[corner][channel][lane];
                u64::from(gathered(texels.format, sampling.read, bits))
            };
            (std::array::from_fn(value), fetched.undefined[channel])
        });
        self.set_values(instruction, mask, &results);
    }

    /// Loads the texels of the first corners of each lane's intervals; those without a weight are not read.
    fn corners(
        &mut self,
        instruction: Instruction<'_>,
        (bound, address): (&BoundTexture, TextureAddress),
        places: &[[Interval; LANES]; 3],
        (corners, mask): (usize, u32),
    ) -> Fetched {
        let texels = &bound.object.texels;
        let (sides, rank) = (extents(texels), texels.extents.len());
        let (element, count) = (texels.format.bytes(), usize::from(texels.channels));
        let mut fetched = Fetched { texels: [[[0; LANES]; 4]; CORNERS], undefined: [0; 4] };
        for corner in 0..corners {
            let mut addresses = [0; LANES];
            let mut inside = 0;
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                let mut index = Some(0);
                for dimension in (0..rank).rev() {
                    let Interval { first, weight } = places[dimension][lane];
                    let is_second = corner >> dimension & 1 == 1;
                    let at = first.saturating_add(i64::from(is_second));
                    let at = addressed(at, sides[dimension], address)
                        .filter(|_| !is_second || weight != 0);
                    index = index.zip(at).map(|(index, at)| index * sides[dimension] + at);
                }
                if let Some(index) = index {
                    addresses[lane] = bound.address + index * u64::from(texels.texel_bytes());
                    inside |= 1 << lane;
                }
            }
            let part =
                Part { pc: instruction.pc, addresses: &addresses, mask: inside, element, count };
            let moved = self.load_texels(&part, element);
            for channel in 0..count {
                fetched.texels[corner][channel] = moved.values[channel].map(|value| value as u32);
                fetched.undefined[channel] |= moved.undefined[channel];
            }
        }
        fetched
    }

    /// Loads values that no write of the launch may precede (rule 46), of texels whose elements have so many bytes.
    fn load_texels(&mut self, part: &Part<'_>, texel_element: u32) -> Moved {
        let mut all = Moved::nothing();
        for piece in pieces(part, texel_element) {
            let addresses = part.addresses.map(|address| address + u64::from(piece.offset));
            let piece_part = piece.part(part, &addresses);
            let spaces = Spaces { global: part.mask, shared: 0, local: 0 };
            self.race_texels(&piece_part);
            self.race_load(&piece_part, Ordering::Weak, &spaces);
            let mut moved = Moved::nothing();
            self.load_global(&piece_part, &mut moved);
            let first = (piece.offset / part.element) as usize;
            let shift = 8 * (piece.offset % part.element);
            for index in 0..piece.count {
                all.undefined[first + index] |= moved.undefined[index];
                for (value, loaded) in all.values[first + index].iter_mut().zip(moved.values[index])
                {
                    *value |= loaded << shift;
                }
            }
        }
        let any = all.undefined[..part.count].iter().fold(0, |all, bits| all | bits);
        for lane in (0..LANES).filter(|lane| any >> lane & 1 == 1) {
            self.warp.undefined_load[lane] = Some(part.pc);
        }
        all
    }

    /// Loads or stores bytes of a surface.
    fn surface(
        &mut self,
        instruction: Instruction<'_>,
        bound: &BoundTexture,
        access: SurfaceAccess,
        mask: u32,
    ) {
        let (coordinates, mask) = self.coordinates(instruction, mask);
        let mut addresses = [0; LANES];
        let mut inside = 0;
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let mut at = coordinates.map(|words| i64::from(words[lane] as i32));
            at.iter_mut().skip(usize::from(access.rank)).for_each(|at| *at = 0);
            match surface_offset(&bound.object.texels, access, at) {
                Ok(Some(offset)) => {
                    addresses[lane] = bound.address + offset;
                    inside |= 1 << lane;
                }
                Ok(None) => {}
                Err((kind, text)) => {
                    self.report(instruction.pc, Finding::new(kind, lane as u32, text));
                }
            }
        }
        let (element, count) = (access.element.bytes(), usize::from(access.count));
        let part = Part { pc: instruction.pc, addresses: &addresses, mask: inside, element, count };
        let texel_element = bound.object.texels.format.bytes();
        if matches!(instruction.site.texture, Texture::Store(_)) {
            self.store_surface(instruction, &part, texel_element);
        } else {
            let moved = self.load_texels(&part, texel_element);
            let all = moved.values.into_iter().zip(moved.undefined);
            let values: Vec<_> = all.take(count).collect();
            self.set_values(instruction, mask, &values);
        }
    }

    fn store_surface(&mut self, instruction: Instruction<'_>, part: &Part<'_>, texel_element: u32) {
        let is_wide = part.element == ScalarType::B64.bytes();
        let slots = self.value_slots(instruction);
        let mut moved = Moved::nothing();
        for (index, slot) in slots.iter().enumerate() {
            let lanes = self.lanes(instruction.frame, part.mask);
            let (values, undefined) = lanes.any(*slot, is_wide);
            moved.values[index] = values.map(|value| value & u64::MAX >> (64 - 8 * part.element));
            moved.undefined[index] = undefined & part.mask;
        }
        for piece in pieces(part, texel_element) {
            let addresses = part.addresses.map(|address| address + u64::from(piece.offset));
            let piece_part = piece.part(part, &addresses);
            let (first, shift) =
                ((piece.offset / part.element) as usize, piece.offset % part.element);
            let mut stored = Moved::nothing();
            for index in 0..piece.count {
                let bytes = u64::MAX >> (64 - 8 * piece.element);
                stored.values[index] =
                    moved.values[first + index].map(|value| value >> (8 * shift) & bytes);
                stored.undefined[index] = moved.undefined[first + index];
            }
            let spaces = Spaces { global: part.mask, shared: 0, local: 0 };
            self.race_store(&piece_part, Ordering::Weak, &spaces, &stored);
            self.store_global(&piece_part, &stored);
        }
    }

    /// The registers of the results, or of the values of a store.
    fn value_slots(&self, instruction: Instruction<'_>) -> Vec<Slot> {
        let (start, count) = instruction.site.values;
        let program = self.launch.program;
        program.lists[start as usize..start as usize + usize::from(count)].to_vec()
    }

    /// Writes the channels of a texel; those that it lacks are zero, as on an H200.
    fn set_texel(
        &mut self,
        instruction: Instruction<'_>,
        mask: u32,
        mut channels: Vec<(Doubles, u32)>,
    ) {
        channels.resize(4, ([0; LANES], 0));
        self.set_values(instruction, mask, &channels);
    }

    /// Writes results, with the lanes whose value is uninitialised.
    fn set_values(&mut self, instruction: Instruction<'_>, mask: u32, values: &[(Doubles, u32)]) {
        let is_wide = matches!(
            instruction.site.texture,
            Texture::Load(SurfaceAccess { element: ScalarType::B64, .. })
        );
        for (slot, (values, undefined)) in self.value_slots(instruction).into_iter().zip(values) {
            let mut lanes = self.lanes(instruction.frame, mask);
            if is_wide {
                lanes.set_double(slot, values, *undefined);
            } else {
                lanes.set_word(slot, &values.map(|value| value as u32), *undefined);
            }
        }
    }
}

/// The offset of a surface access in its buffer; none if it is outside and has no effect.
fn surface_offset(
    texels: &Texels,
    access: SurfaceAccess,
    mut at: [i64; 3],
) -> Result<Option<u64>, (FaultKind, String)> {
    let [width, height, depth] = extents(texels);
    let row = width * u64::from(texels.texel_bytes());
    let bytes = u64::from(access.element.bytes()) * u64::from(access.count);
    if at[0] % bytes as i64 != 0 {
        let text =
            format!("byte {} of a row is not a multiple of {bytes}, the size of the access", at[0]);
        return Err((FaultKind::Misaligned, text));
    }
    // The last place along each dimension; an access that crosses the end of a row is outside.
    let last_in_row = row.checked_sub(bytes).map(|last| last / bytes * bytes);
    let last = [last_in_row, Some(height - 1), Some(depth - 1)];
    let fits = at
        .iter()
        .zip(last)
        .all(|(at, last)| u64::try_from(*at).is_ok_and(|at| last.is_some_and(|last| at <= last)));
    if !fits {
        match access.outside {
            OutsideSurface::Zero => return Ok(None),
            OutsideSurface::Trap => {
                let text = format!(
                    "{bytes} bytes at {at:?} of a surface of {row} bytes, {height} rows and {depth} layers"
                );
                return Err((FaultKind::OutOfBounds, text));
            }
            OutsideSurface::Clamp => {
                for (at, last) in at.iter_mut().zip(last) {
                    *at = (*at).clamp(0, last.unwrap_or(0) as i64);
                }
            }
        }
    }
    let [x, y, z] = at.map(|at| at as u64);
    Ok(Some((z * height + y) * row + x))
}

/// The channel of a component.
const fn component_index(component: Component) -> u8 {
    match component {
        Component::Red => 0,
        Component::Green => 1,
        Component::Blue => 2,
        Component::Alpha => 3,
    }
}

/// Whether an instruction fits to an object; a GPU returns undefined values otherwise.
fn check(texture: Texture, object: &TextureObject) -> Result<(), String> {
    let TextureObject { texels, access } = object;
    let dimensions = |rank: u8| {
        if usize::from(rank) == texels.extents.len() {
            return Ok(());
        }
        Err(format!("{rank} coordinates of an object of {} dimensions", texels.extents.len()))
    };
    let result = |sampling: &Sampling, result: TexelResult| {
        let is_float = sampling.is_float(texels.format);
        if is_float == (result == TexelResult::Float) {
            return Ok(());
        }
        let (found, wanted) = if is_float { ("integers", "f32") } else { ("f32", "integers") };
        Err(format!("a fetch of {found} from a texture that returns {wanted}"))
    };
    match (texture, access) {
        (Texture::Size(Extent::Width), _) => Ok(()),
        (Texture::Size(Extent::Height), _) if texels.extents.len() >= 2 => Ok(()),
        (Texture::Size(Extent::Depth), _) if texels.extents.len() == 3 => Ok(()),
        (Texture::Size(_), _) => {
            let rank = texels.extents.len();
            Err(format!("a query of a dimension that an object of {rank} dimensions lacks"))
        }
        (Texture::Fetch { rank, is_indexed, result: ty }, TexelAccess::Texture(sampling)) => {
            dimensions(rank)?;
            let is_linear = rank == 1 && texels.memory == TexelMemory::Linear;
            if is_indexed != is_linear {
                return Err("`tex1Dfetch` reads linear memory of one dimension, and nothing else does: declare \
                            `memory: linear` for it alone"
                    .to_owned());
            }
            result(sampling, ty)
        }
        (Texture::Gather { result: ty, component }, TexelAccess::Texture(sampling)) => {
            dimensions(2)?;
            if component_index(component) >= texels.channels {
                return Err(format!("a gather of a texture with {} channels", texels.channels));
            }
            result(sampling, ty)
        }
        (Texture::Load(access) | Texture::Store(access), TexelAccess::Surface) => {
            dimensions(access.rank)
        }
        (Texture::Fetch { .. } | Texture::Gather { .. }, TexelAccess::Surface) => {
            Err("a fetch from a surface object".to_owned())
        }
        (Texture::Load(_) | Texture::Store(_), TexelAccess::Texture(_)) => {
            Err("a surface access to a texture object".to_owned())
        }
    }
}
