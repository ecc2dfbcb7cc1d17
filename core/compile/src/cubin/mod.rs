//! Parser of cubins: registers, memory and the parameter list of each kernel.
//!
//! A cubin is an ELF file; attributes stand in `.nv.info` (by symbol) and `.nv.info.KERNEL`, as
//! records of a format byte, an attribute byte and a 16-bit value or length. The vendor
//! describes neither: the numbers below were matched against what nvdisasm 13.5 prints for the
//! same bytes, and the results against `cuobjdump -res-usage`.

mod info;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use object::read::elf::ElfFile64;
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags, SymbolFlags, SymbolKind,
};

use info::{Attribute, attributes};

/// One parameter, as the driver packs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CubinParameter {
    /// From 0.
    pub ordinal: u32,
    /// Bytes from the beginning of the parameters.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// One kernel of a cubin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CubinKernel {
    /// The symbol, mangled.
    pub symbol: String,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Bytes of the kernel's own stack frame, per thread.
    pub frame_bytes: Option<u32>,
    /// Bytes of stack that it needs with all it calls, per thread; none where recursion or calls
    /// through pointers leave it open.
    pub stack_bytes: Option<u32>,
    /// Bytes of static shared memory per block as allocated: from sm_90 on with the 1 KiB that
    /// the system keeps, if the kernel uses shared memory at all.
    pub shared_bytes: u64,
    /// Bytes of each constant bank of its own; bank 0 holds the parameters.
    pub constant_bytes: BTreeMap<u32, u64>,
    /// Bytes of all parameters.
    pub parameter_bytes: Option<u32>,
    /// By ordinal.
    pub parameters: Vec<CubinParameter>,
    /// Named barriers.
    pub barriers: Option<u32>,
    /// From `__launch_bounds__`.
    pub max_threads: Option<[u32; 3]>,
    /// From `__block_size__` or `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// Bytes of machine code, padding included.
    pub code_bytes: u64,
}

/// One cubin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cubin {
    /// Compute capability as one number: 90 for sm_90.
    pub architecture: Option<u32>,
    /// By symbol.
    pub kernels: Vec<CubinKernel>,
    /// Bytes of the module's constant banks; bank 3 holds `__constant__` data.
    pub constant_bytes: BTreeMap<u32, u64>,
    /// Bytes of global variables.
    pub global_bytes: u64,
}

/// Why bytes are not a cubin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CubinError {
    /// No 64-bit ELF file, or a broken one.
    #[error("not a cubin ({reason}): compile it again")]
    NotElf {
        /// The message of the ELF reader.
        reason: String,
    },
    /// An ELF file for another machine.
    #[error("an ELF file for machine {machine}, not a cubin (machine {EM_CUDA}): compile it again")]
    OtherMachine {
        /// `e_machine`.
        machine: u16,
    },
}

/// The vendor's number in the ELF registry.
const EM_CUDA: u16 = 190;

/// Set in `st_other` of a kernel's symbol (nvdisasm: `STO_CUDA_ENTRY`).
const STO_CUDA_ENTRY: u8 = 0x10;

/// Reads a cubin.
///
/// # Errors
/// If the bytes are no 64-bit ELF file for this vendor's GPUs. Attributes that make no sense are
/// passed over.
pub fn read(bytes: &[u8]) -> Result<Cubin, CubinError> {
    let file = ElfFile64::<object::Endianness>::parse(bytes)
        .map_err(|error| CubinError::NotElf { reason: error.to_string() })?;
    let header = file.elf_header();
    let machine = header.e_machine.get(file.endian()).0;
    if machine != EM_CUDA {
        return Err(CubinError::OtherMachine { machine });
    }
    let flags = header.e_flags.get(file.endian()).0;
    let mut cubin =
        Cubin { architecture: architecture(flags, header.e_ident.abi_version), ..Cubin::default() };
    let mut kernels = entries(&file);
    for section in file.sections() {
        let Ok(name) = section.name() else { continue };
        section_facts(&mut cubin, &mut kernels, name, section.size());
        if let SectionFlags::Elf { sh_flags, .. } = section.flags()
            && let Some(count) = barriers(sh_flags.0)
            && let Some(kernel) =
                name.strip_prefix(".text.").and_then(|symbol| kernels.get_mut(symbol))
        {
            kernel.barriers = Some(count);
        }
        let Some(rest) = name.strip_prefix(".nv.info") else { continue };
        let Ok(data) = section.data() else { continue };
        for attribute in attributes(data) {
            match rest.strip_prefix('.') {
                Some(symbol) => {
                    if let Some(kernel) = kernels.get_mut(symbol) {
                        own_attribute(kernel, attribute);
                    }
                }
                None => symbol_attribute(&file, &mut kernels, attribute),
            }
        }
    }
    for kernel in kernels.values_mut() {
        kernel.parameters.sort_unstable();
        kernel.parameters.dedup();
    }
    cubin.kernels = kernels.into_values().collect();
    Ok(cubin)
}

type Kernels = BTreeMap<String, CubinKernel>;

/// From ABI version 8 (CUDA 13) on the number is in the second byte, in earlier versions in the first.
fn architecture(flags: u32, abi_version: u8) -> Option<u32> {
    let number = if abi_version >= 8 { (flags >> 8) & 0xff } else { flags & 0xff };
    (number > 0).then_some(number)
}

/// The named barriers of a kernel, which CUDA 12 writes into the flags of its code section; CUDA 13 has an attribute, and
/// zeros here.
fn barriers(flags: u64) -> Option<u32> {
    u32::try_from((flags >> 20) & 0x7f).ok().filter(|count| *count > 0)
}

fn entries(file: &ElfFile64<'_>) -> Kernels {
    let mut kernels = Kernels::new();
    for symbol in file.symbols() {
        let SymbolFlags::Elf { st_other, .. } = symbol.flags() else { continue };
        let entry = st_other.0 & STO_CUDA_ENTRY != 0;
        if entry
            && symbol.kind() == SymbolKind::Text
            && let Ok(name) = symbol.name()
        {
            let kernel = CubinKernel { symbol: name.to_owned(), ..CubinKernel::default() };
            kernels.insert(name.to_owned(), kernel);
        }
    }
    kernels
}

/// Facts from a section's name and size.
fn section_facts(cubin: &mut Cubin, kernels: &mut Kernels, name: &str, size: u64) {
    if let Some(kernel) = name.strip_prefix(".text.").and_then(|symbol| kernels.get_mut(symbol)) {
        kernel.code_bytes = size;
    } else if let Some(kernel) =
        name.strip_prefix(".nv.shared.").and_then(|symbol| kernels.get_mut(symbol))
    {
        kernel.shared_bytes = size;
    } else if let Some(rest) = name.strip_prefix(".nv.constant") {
        let (bank, symbol) =
            rest.split_once('.').map_or((rest, None), |(bank, rest)| (bank, Some(rest)));
        let Ok(bank) = bank.parse() else { return };
        match symbol {
            None => drop(cubin.constant_bytes.insert(bank, size)),
            Some(symbol) => {
                if let Some(kernel) = kernels.get_mut(symbol) {
                    kernel.constant_bytes.insert(bank, size);
                }
            }
        }
    } else if matches!(name, ".nv.global" | ".nv.global.init") {
        cubin.global_bytes = cubin.global_bytes.saturating_add(size);
    }
}

/// Attributes of `.nv.info.KERNEL`.
fn own_attribute(kernel: &mut CubinKernel, attribute: Attribute<'_>) {
    match attribute {
        Attribute::Parameter(parameter) => kernel.parameters.push(parameter),
        Attribute::ParameterBytes(bytes) => kernel.parameter_bytes = Some(bytes),
        Attribute::Barriers(count) => kernel.barriers = Some(count),
        Attribute::MaxThreads(extent) => kernel.max_threads = Some(extent),
        Attribute::RequiredThreads(extent) => kernel.required_threads = Some(extent),
        Attribute::Registers { .. }
        | Attribute::Frame { .. }
        | Attribute::Stack { .. }
        | Attribute::Other(_) => {}
    }
}

/// Attributes of `.nv.info`, which name a symbol by its index.
fn symbol_attribute(file: &ElfFile64<'_>, kernels: &mut Kernels, attribute: Attribute<'_>) {
    let symbol = match attribute {
        Attribute::Registers { symbol, .. }
        | Attribute::Frame { symbol, .. }
        | Attribute::Stack { symbol, .. } => symbol,
        Attribute::Parameter(_)
        | Attribute::ParameterBytes(_)
        | Attribute::Barriers(_)
        | Attribute::MaxThreads(_)
        | Attribute::RequiredThreads(_)
        | Attribute::Other(_) => return,
    };
    let Ok(index) = usize::try_from(symbol) else { return };
    let Ok(symbol) = file.symbol_by_index(object::SymbolIndex(index)) else { return };
    let Some(kernel) = symbol.name().ok().and_then(|name| kernels.get_mut(name)) else { return };
    match attribute {
        Attribute::Registers { count, .. } => kernel.registers = Some(count),
        Attribute::Frame { bytes, .. } => kernel.frame_bytes = Some(bytes),
        // All ones: unknown to the assembler.
        Attribute::Stack { bytes, .. } => {
            kernel.stack_bytes = (bytes != u32::MAX).then_some(bytes);
        }
        Attribute::Parameter(_)
        | Attribute::ParameterBytes(_)
        | Attribute::Barriers(_)
        | Attribute::MaxThreads(_)
        | Attribute::RequiredThreads(_)
        | Attribute::Other(_) => {}
    }
}
