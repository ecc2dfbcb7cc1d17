//! Addresses of the objects of a program in a launch, and the constants that all lanes share.

use super::super::isa::memory::Space;
use super::super::lower::code::{Object, PoolValue};
use super::super::lower::{Program, variable};
use super::super::module::{Module, RelocationTarget, Variable};
use super::lanes::Pool;
use super::launch::LaunchError;
use super::memory::{
    Access, Addresses, FUNCTION_WINDOW, Kept, Memory, Region, RegionKind, SHARED_WINDOW,
};
use super::region_bytes::RegionBytes;
use super::shared::SharedLayout;
use super::warp::Register;

/// Gives every object except the parameters an address, and initialises variables at the first launch of their
/// module: later launches see the values that a kernel left in a variable.
pub(super) fn place_objects(
    memory: &mut Memory,
    kept: &mut Kept,
    module: &Module,
    program: &Program,
    shared: &SharedLayout,
    limit: u64,
) -> Result<Addresses, LaunchError> {
    let first = memory.regions.len();
    place_all(memory, kept, module, program, shared, limit).inspect_err(|_error| {
        memory.regions.truncate(first);
        kept.retain(|_object, index| *index < first);
    })
}

fn place_all(
    memory: &mut Memory,
    kept: &mut Kept,
    module: &Module,
    program: &Program,
    shared: &SharedLayout,
    limit: u64,
) -> Result<Addresses, LaunchError> {
    let mut addresses = Addresses::new();
    let mut placed = Vec::new();
    let mut total = 0_u64;
    for object in &program.objects {
        if let Object::Function(id) = object {
            addresses.insert(*object, FUNCTION_WINDOW + 16 * u64::from(id.0));
        } else if let Some(address) = shared.address_of.get(object) {
            addresses.insert(*object, *address);
        } else if let Some(index) = kept.get(&(module.identity, *object)) {
            addresses.insert(*object, Memory::address(*index));
        } else if let Some(variable) = variable(module, *object) {
            total = total.saturating_add(variable.bytes.unwrap_or(0));
            if total > limit {
                return Err(LaunchError::Variables { bytes: total, limit });
            }
            let index = memory
                .add(region_of(variable))
                .ok_or(LaunchError::Variables { bytes: total, limit })?;
            kept.insert((module.identity, *object), index);
            addresses.insert(*object, Memory::address(index));
            placed.push((*object, index));
        }
    }
    for (object, index) in placed {
        relocate(memory, module, object, index, &addresses);
    }
    Ok(addresses)
}

/// The location of the parameters, if the program takes their address.
pub(super) fn place_parameters(
    memory: &mut Memory,
    program: &Program,
    parameters: &[u8],
    addresses: &mut Addresses,
) -> Result<(), LaunchError> {
    if !program.objects.contains(&Object::Parameters) {
        return Ok(());
    }
    let content = RegionBytes::new(parameters);
    let name = "kernel parameters".to_owned();
    let region = Region::new(name, RegionKind::Parameters, Access::ReadOnly, content);
    let bytes = parameters.len() as u64;
    let too_many = LaunchError::Variables { bytes, limit: Memory::MOST_REGIONS as u64 };
    let index = memory.add(region).ok_or(too_many)?;
    addresses.insert(Object::Parameters, Memory::address(index));
    Ok(())
}

/// The region of a variable, with its initial bytes.
pub(super) fn region_of(variable: &Variable) -> Region {
    let mut content = variable.initial.bytes.clone();
    content.resize(variable.bytes.unwrap_or(0) as usize, 0);
    let (kind, access) = match variable.space {
        Space::Const => (RegionKind::Constant, Access::ReadOnly),
        Space::Generic
        | Space::Global
        | Space::Local
        | Space::Param
        | Space::Shared
        | Space::SharedCluster => (RegionKind::Global, Access::ReadWrite),
    };
    Region::new(variable.name.clone(), kind, access, RegionBytes::new(&content))
}

fn relocate(
    memory: &mut Memory,
    module: &Module,
    object: Object,
    index: usize,
    addresses: &Addresses,
) {
    let Some(variable) = variable(module, object) else { return };
    for relocation in &variable.initial.relocations {
        let target = match relocation.target {
            RelocationTarget::Variable(id) => Object::Variable(id),
            RelocationTarget::Function(id) => Object::Function(id),
        };
        let Some(address) = addresses.get(&target) else { continue };
        let is_shared = super::super::lower::variable(module, target)
            .is_some_and(|variable| variable.space == Space::Shared);
        let window = if relocation.generic && is_shared { SHARED_WINDOW } else { 0 };
        let value = address.wrapping_add(window).wrapping_add(relocation.addend as u64);
        let value = (value >> relocation.shift).to_le_bytes();
        let start = relocation.offset as usize;
        let length = usize::from(relocation.bytes).min(8);
        let content = &memory.regions[index].content;
        for (offset, byte) in (start..content.len()).zip(&value[..length]) {
            content.write(offset, 1, u64::from(*byte));
        }
    }
}

/// The constants that all lanes share.
pub(super) fn pool(program: &Program, addresses: &Addresses, parameters: &[u8]) -> Pool {
    let mut pool = Pool::default();
    for value in &program.pool {
        let bits = match *value {
            PoolValue::Bits(bits) => bits,
            PoolValue::Address(object, offset) => {
                addresses.get(&object).copied().unwrap_or(0).wrapping_add(offset as u64)
            }
            PoolValue::Parameter { offset, bytes, signed, register_bits } => {
                let range = offset as usize..offset as usize + usize::from(bytes);
                let mut raw = [0; 8];
                if let Some(given) = parameters.get(range) {
                    raw[..usize::from(bytes)].copy_from_slice(given);
                }
                let value = u64::from_le_bytes(raw);
                let shift = 64 - 8 * u32::from(bytes);
                let extended =
                    if signed { ((value << shift) as i64 >> shift) as u64 } else { value };
                extended & (u64::MAX >> (64 - u32::from(register_bits)))
            }
        };
        pool.words.push(Register::shared(bits as u32));
        pool.doubles.push(Register::shared(bits));
    }
    pool
}
