//! Detects a library or program that cannot be loaded, before it is loaded.
//!
//! A truncated copy begins like a valid library, and loading it kills the process with a bus error; its headers state
//! the full length of the file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::naming::BinaryFormat;

const ELF_64_BIT: u8 = 2;
const ELF_LITTLE_ENDIAN: u8 = 1;
const ELF_X86_64: u16 = 62;
const ELF_AARCH64: u16 = 183;
const PE_X86_64: u16 = 0x8664;
const PE_AARCH64: u16 = 0xaa64;

/// A defect of a library or program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file cannot be read.
    #[error("cannot be read: {message}")]
    Unreadable {
        /// The system's message.
        message: String,
    },
    /// The file is shorter than its headers state.
    #[error("truncated: {bytes} bytes, needs at least {needed}")]
    Truncated {
        /// Bytes of the file.
        bytes: u64,
        /// Bytes that the headers call for.
        needed: u64,
    },
    /// The file is not a 64-bit library or program at all.
    #[error("not a 64-bit library or program of this system")]
    WrongFormat,
    /// The file is made for another processor.
    #[error("made for another processor (machine number {machine}, expected {expected})")]
    WrongProcessor {
        /// Machine number in the header.
        machine: u16,
        /// Machine number of this processor.
        expected: u16,
    },
}

/// Checks that `file` is whole and made for this processor.
pub(super) fn check(file: &Path, format: BinaryFormat) -> Result<(), Damage> {
    let needed = read_needed(file, format)
        .map_err(|error| Damage::Unreadable { message: error.to_string() })??;
    if needed.bytes < needed.needed {
        return Err(Damage::Truncated { bytes: needed.bytes, needed: needed.needed });
    }
    Ok(())
}

/// The length of a file and the length that its headers state.
struct Length {
    bytes: u64,
    needed: u64,
}

fn read_needed(file: &Path, format: BinaryFormat) -> io::Result<Result<Length, Damage>> {
    let mut file = File::open(file)?;
    let bytes = file.metadata()?.len();
    let mut head = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut head)?;
    let needed = match format {
        BinaryFormat::Elf => elf_length(&head),
        BinaryFormat::PortableExecutable => portable_executable_length(&mut file, &head)?,
    };
    Ok(needed.map(|needed| Length { bytes, needed }))
}

/// The end of the section-header table and of the program-header table, whichever is later
/// (System V ABI, ELF-64 header).
fn elf_length(head: &[u8]) -> Result<u64, Damage> {
    const HEADER_BYTES: usize = 64;
    if !head.starts_with(b"\x7fELF") {
        return Err(not_a_binary(head));
    }
    let Some(header) = head.get(..HEADER_BYTES) else {
        let needed = HEADER_BYTES as u64;
        return Err(Damage::Truncated { bytes: head.len() as u64, needed });
    };
    let (class, encoding) = (header[4], header[5]);
    if (class, encoding) != (ELF_64_BIT, ELF_LITTLE_ENDIAN) {
        return Err(Damage::WrongFormat);
    }
    let expected = if cfg!(target_arch = "aarch64") { ELF_AARCH64 } else { ELF_X86_64 };
    let machine = u16_at(header, 18);
    if machine != expected {
        return Err(Damage::WrongProcessor { machine, expected });
    }
    let table = |offset: u64, count: u16, size: u16| {
        offset.saturating_add(u64::from(count) * u64::from(size))
    };
    let segments = table(u64_at(header, 32), u16_at(header, 56), u16_at(header, 54));
    let sections = table(u64_at(header, 40), u16_at(header, 60), u16_at(header, 58));
    Ok(sections.max(segments))
}

/// The end of the last section's data (Microsoft PE format, sections 2 to 4).
fn portable_executable_length(file: &mut File, head: &[u8]) -> io::Result<Result<u64, Damage>> {
    const SECTION_BYTES: u64 = 40;
    if !head.starts_with(b"MZ") {
        return Ok(Err(not_a_binary(head)));
    }
    if head.len() < 64 {
        return Ok(Err(Damage::Truncated { bytes: head.len() as u64, needed: 64 }));
    }
    let start = u64::from(u32_at(head, 0x3c));
    let bytes = file.metadata()?.len();
    let mut coff = [0_u8; 24];
    if bytes < start + coff.len() as u64 {
        return Ok(Err(Damage::Truncated { bytes, needed: start + coff.len() as u64 }));
    }
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut coff)?;
    if !coff.starts_with(b"PE\0\0") {
        return Ok(Err(Damage::WrongFormat));
    }
    let expected = if cfg!(target_arch = "aarch64") { PE_AARCH64 } else { PE_X86_64 };
    let machine = u16_at(&coff, 4);
    if machine != expected {
        return Ok(Err(Damage::WrongProcessor { machine, expected }));
    }
    let sections = u64::from(u16_at(&coff, 6));
    let optional_header = u64::from(u16_at(&coff, 20));
    let table = start + coff.len() as u64 + optional_header;
    let mut needed = table + sections * SECTION_BYTES;
    if needed <= bytes {
        let mut section = [0_u8; SECTION_BYTES as usize];
        file.seek(SeekFrom::Start(table))?;
        for _ in 0..sections {
            file.read_exact(&mut section)?;
            let size = u64::from(u32_at(&section, 16));
            let offset = u64::from(u32_at(&section, 20));
            needed = needed.max(offset + size);
        }
    }
    Ok(Ok(needed))
}

/// A file without complete magic bytes is truncated; other magic bytes are another format.
fn not_a_binary(head: &[u8]) -> Damage {
    if head.len() < 4 {
        Damage::Truncated { bytes: head.len() as u64, needed: 64 }
    } else {
        Damage::WrongFormat
    }
}

/// The little-endian number at `offset`; the caller has checked the bounds.
fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes([bytes[offset], bytes[offset + 1]])
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from(u16_at(bytes, offset)) | u32::from(u16_at(bytes, offset + 2)) << 16
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from(u32_at(bytes, offset)) | u64::from(u32_at(bytes, offset + 4)) << 32
}
