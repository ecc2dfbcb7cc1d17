//! Shared memory of a block: variables are apart in the address window and packed in storage.

use std::collections::BTreeMap;

use super::super::isa::memory::Space;
use super::super::lower::Program;
use super::super::lower::code::Object;
use super::super::lower::variable;
use super::super::module::Module;
use super::byte_init_mask::ByteInitMask;
use super::region_bytes::{MASKED, mask_words};

/// The addresses of two variables differ in these bits and above; the bits below are offsets in storage, which decide
/// the bank.
pub(super) const SPACING_BITS: u32 = 20;

/// One variable.
#[derive(Clone, Debug)]
pub(super) struct SharedVariable {
    pub(super) name: String,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The shared variables of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedLayout {
    pub(super) variables: Vec<SharedVariable>,
    pub(super) address_of: BTreeMap<Object, u64>,
    /// Static shared memory in bytes.
    pub(super) fixed_bytes: u32,
    pub(super) bytes: u32,
    /// Whether the kernel is one that Triton generated, by the name of its shared memory and the compiler.
    pub(super) is_of_triton: bool,
}

/// The largest shared memory of a block in bytes, above that of any GPU; offsets stay below the spacing.
pub(super) const LARGEST: u64 = 1 << SPACING_BITS;

/// The only shared variable of a kernel that Triton generates; in a module joined from several, `$` and a number follow
/// (`lightbench_ptx::merge`).
const TRITON_SHARED: &str = "global_smem";

impl SharedLayout {
    /// Lays out the variables of a program, with `dynamic` bytes for arrays that the launch sizes.
    pub(super) fn new(module: &Module, program: &Program, dynamic: u32) -> Option<Self> {
        let mut layout = Self::default();
        let mut end = 0_u64;
        let mut sized_by_launch = Vec::new();
        let mut dynamic_align = 16;
        for object in &program.objects {
            let Some(variable) = variable(module, *object) else { continue };
            if variable.space != Space::Shared {
                continue;
            }
            match variable.bytes {
                Some(bytes) => {
                    end = end.next_multiple_of(u64::from(variable.align.max(1)));
                    let start = end;
                    end = end.checked_add(bytes).filter(|end| *end < LARGEST)?;
                    layout.push(&variable.name, start as u32, end as u32, &[*object])?;
                }
                None => {
                    dynamic_align = dynamic_align.max(variable.align);
                    sized_by_launch.push((*object, variable.name.clone()));
                }
            }
        }
        layout.fixed_bytes = end as u32;
        if let Some((_, name)) = sized_by_launch.first() {
            end = end.next_multiple_of(u64::from(dynamic_align));
            let start = end;
            end = end.checked_add(u64::from(dynamic)).filter(|end| *end < LARGEST)?;
            let objects: Vec<Object> = sized_by_launch.iter().map(|(object, _)| *object).collect();
            let name = name.clone();
            layout.push(&name, start as u32, end as u32, &objects)?;
        } else {
            end = end.checked_add(u64::from(dynamic)).filter(|end| *end < LARGEST)?;
        }
        layout.bytes = end as u32;
        let is_triton = |name: &str| name.split('$').next() == Some(TRITON_SHARED);
        layout.is_of_triton = !module.is_from_cuda
            && matches!(layout.variables.as_slice(), [only] if is_triton(&only.name));
        Some(layout)
    }

    fn push(&mut self, name: &str, start: u32, end: u32, objects: &[Object]) -> Option<()> {
        let number = self.variables.len() as u64;
        // Index zero is not used, so that small integers are not valid addresses.
        let address = (number + 1) << SPACING_BITS | u64::from(start);
        if address >> 32 != 0 {
            return None;
        }
        self.variables.push(SharedVariable { name: name.to_owned(), start, end });
        for object in objects {
            self.address_of.insert(*object, address);
        }
        Some(())
    }

    /// The offset in storage, if all of the access is in one variable.
    #[inline]
    pub(super) fn place(&self, address: u64, bytes: u32) -> Option<usize> {
        let number = (address >> SPACING_BITS).wrapping_sub(1);
        let variable = self.variables.get(usize::try_from(number).ok()?)?;
        let offset = (address & ((1 << SPACING_BITS) - 1)) as u32;
        (offset >= variable.start && offset + bytes <= variable.end).then_some(offset as usize)
    }

    /// The address bits of a variable above its offsets, and the range of its offsets.
    #[inline]
    pub(super) fn variable_of(&self, address: u32) -> Option<(u32, std::ops::Range<u32>)> {
        let number = (address >> SPACING_BITS).wrapping_sub(1);
        let variable = self.variables.get(number as usize)?;
        Some((address >> SPACING_BITS << SPACING_BITS, variable.start..variable.end))
    }

    /// The address of an offset in storage, if a variable contains it.
    pub(super) fn address(&self, offset: usize) -> u64 {
        let offset = offset as u64;
        let inside = |v: &SharedVariable| (u64::from(v.start)..u64::from(v.end)).contains(&offset);
        let number = self.variables.iter().position(inside).unwrap_or(0) as u64;
        (number + 1) << SPACING_BITS | offset
    }

    /// A description of an invalid address, with the variable that it was probably meant for.
    pub(super) fn describe(&self, address: u64, bytes: u32) -> (Option<String>, String) {
        let number = (address >> SPACING_BITS).wrapping_sub(1);
        let found = usize::try_from(number).ok().and_then(|number| self.variables.get(number));
        let Some(variable) = found else {
            return (
                None,
                format!(
                    "{bytes} bytes of shared memory at {address:#x}, outside of every variable"
                ),
            );
        };
        let offset = (address & ((1 << SPACING_BITS) - 1)) as i64 - i64::from(variable.start);
        let size = variable.end - variable.start;
        let name = variable.name.clone();
        let text =
            format!("{bytes} bytes at offset {offset} of shared `{name}`, which has {size} bytes");
        (Some(name), text)
    }
}

/// A word that a copy transfers, and whether it is uninitialised.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub(super) value: u32,
    pub(super) is_undefined: bool,
}

/// The shared memory of one block, with one initialisation bit per byte.
///
/// Accesses of 1, 2, 4 or 8 bytes are aligned to their size and end within the bytes: the caller has checked.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedMemory {
    pub(super) words: Vec<u32>,
    initialised: Vec<u64>,
    init_mask: ByteInitMask,
}

impl SharedMemory {
    /// Uninitialised memory, with zeros as its bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            words: vec![0; bytes.div_ceil(4)],
            initialised: vec![0; bytes.div_ceil(MASKED)],
            init_mask: ByteInitMask::default(),
        }
    }

    /// Up to eight bytes, zero-extended.
    #[inline]
    pub(super) fn read(&self, offset: usize, bytes: usize) -> u64 {
        let word = u64::from(self.words[offset / 4]);
        match bytes {
            4 => word,
            8 => word | u64::from(self.words[offset / 4 + 1]) << 32,
            _ => word >> (8 * (offset % 4)) & ((1 << (8 * bytes)) - 1),
        }
    }

    /// Writes up to eight bytes; their initialisation does not change.
    #[inline]
    pub(super) fn write(&mut self, offset: usize, bytes: usize, value: u64) {
        let word = &mut self.words[offset / 4];
        match bytes {
            4 => *word = value as u32,
            8 => {
                *word = value as u32;
                self.words[offset / 4 + 1] = (value >> 32) as u32;
            }
            _ => {
                let shift = 8 * (offset % 4);
                let mask = ((1_u32 << (8 * bytes)) - 1) << shift;
                *word = *word & !mask | (value as u32) << shift & mask;
            }
        }
    }

    /// Writes a word as initialised or uninitialised.
    pub(super) fn write_word(&mut self, offset: usize, value: u32, is_undefined: bool) {
        self.write(offset, 4, u64::from(value));
        if is_undefined {
            self.mark_uninitialised(offset, 4);
        } else {
            self.mark_initialised(offset, 4);
        }
    }

    /// Writes consecutive words as initialised or uninitialised.
    pub(super) fn write_words(&mut self, offset: usize, words: &[Word]) {
        if words.iter().any(|word| word.is_undefined) {
            for (index, word) in words.iter().enumerate() {
                self.write_word(offset + 4 * index, word.value, word.is_undefined);
            }
        } else if !words.is_empty() {
            let own = &mut self.words[offset / 4..offset / 4 + words.len()];
            own.iter_mut().zip(words).for_each(|(own, word)| *own = word.value);
            self.mark_range_initialised(offset, offset + 4 * words.len());
        }
    }

    /// The initialisation bits of up to sixteen bytes, the first byte in the lowest bit.
    #[inline]
    pub(super) fn init_bits(&self, offset: usize, bytes: usize) -> u32 {
        (self.initialised[offset / MASKED] >> (offset % MASKED)) as u32 & u32::MAX >> (32 - bytes)
    }

    /// Whether any of up to sixteen bytes is initialised: the other bytes of a value may be padding.
    #[inline]
    pub(super) fn is_any_initialised(&self, offset: usize, bytes: usize) -> bool {
        self.init_bits(offset, bytes) != 0
    }

    /// Marks up to sixteen bytes as initialised.
    #[inline]
    pub(super) fn mark_initialised(&mut self, offset: usize, bytes: usize) {
        self.initialised[offset / MASKED] |=
            u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED);
    }

    /// Whether all bytes of a range are initialised.
    #[inline]
    pub(super) fn is_range_initialised(&self, start: usize, end: usize) -> bool {
        // A loop is inlined where warps are stepped, the closure of an iterator is not.
        for (word, bits) in mask_words(start, end) {
            if self.initialised[word] & bits != bits {
                return false;
            }
        }
        true
    }

    /// Marks a range of bytes as initialised.
    #[inline]
    pub(super) fn mark_range_initialised(&mut self, start: usize, end: usize) {
        for (word, bits) in mask_words(start, end) {
            self.initialised[word] |= bits;
        }
    }

    /// Marks up to sixteen bytes as uninitialised, after a store of an uninitialised value.
    pub(super) fn mark_uninitialised(&mut self, offset: usize, bytes: usize) {
        self.initialised[offset / MASKED] &=
            !(u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED));
        if !self.init_mask.is_empty() {
            self.init_mask.clear(offset as u32..(offset + bytes) as u32, 1);
        }
    }

    /// Records the uninitialised bits of up to eight bytes, some of which are initialised.
    pub(super) fn mark_partly_initialised(&mut self, offset: usize, bytes: usize, unknown: u64) {
        self.mark_uninitialised(offset, bytes);
        for byte in 0..bytes {
            match (unknown >> (8 * byte)) as u8 {
                0 => self.mark_initialised(offset + byte, 1),
                unknown => self.init_mask.set((offset + byte) as u32, 0, Some(unknown)),
            }
        }
    }

    /// The uninitialised bits of up to eight bytes, if they are recorded bit by bit.
    pub(super) fn uninitialised_bits(&self, offset: usize, bytes: usize) -> Option<u64> {
        if self.init_mask.is_empty() {
            return None;
        }
        let written = self.init_bits(offset, bytes);
        self.init_mask.uninitialised_bits(offset as u32, 0, bytes as u32, written)
    }
}
