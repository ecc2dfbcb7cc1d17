//! The variables of a module as the host sees them: filled before a launch, as `cudaMemcpyToSymbol` does.

use super::super::isa::memory::Space;
use super::super::lower::code::Object;
use super::super::module::{Module, VariableId};
use super::Machine;
use super::layout::region_of;
use super::memory::Memory;

/// Why a variable cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// The module has none of that name.
    #[error("the module has no global or constant variable `{0}`")]
    Unknown(String),
    /// It is smaller than what should be in it.
    #[error("`{name}` has {bytes} bytes; {given} were given")]
    Size {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
        /// What was given.
        given: u64,
    },
    /// There are too many regions of memory.
    #[error("more than {0} variables and buffers", Memory::MOST_REGIONS)]
    TooMany,
}

impl Machine {
    /// Replaces the first bytes of a global or constant variable.
    ///
    /// # Errors
    ///
    /// The module has no such variable, or it is smaller.
    pub fn set_variable(
        &mut self,
        module: &Module,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), VariableError> {
        let lasts = |space| matches!(space, Space::Const | Space::Global);
        let mut known = module.variables.iter().enumerate();
        let found = known.find(|(_, variable)| variable.name == name && lasts(variable.space));
        let (id, variable) = found.ok_or_else(|| VariableError::Unknown(name.to_owned()))?;
        let (size, given) = (variable.bytes.unwrap_or(0), bytes.len() as u64);
        if given > size {
            return Err(VariableError::Size { name: name.to_owned(), bytes: size, given });
        }
        let key = (module.identity, Object::Variable(VariableId(id as u32)));
        let region = match self.variables.get(&key) {
            Some(region) => *region,
            None => {
                let region = self.memory.add(region_of(variable)).ok_or(VariableError::TooMany)?;
                self.variables.insert(key, region);
                region
            }
        };
        if let Some(region) = self.memory.regions.get(region) {
            region.content.fill_front(bytes);
        }
        Ok(())
    }
}
