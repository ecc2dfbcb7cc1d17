//! Writes of the host to the variables of a module before a launch, as `cudaMemcpyToSymbol` does.

use super::super::isa::memory::Space;
use super::super::lower::code::Object;
use super::super::module::{Module, VariableId};
use super::Machine;
use super::layout::region_of;
use super::memory::Memory;

/// Why a variable cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// The module has no variable of this name.
    #[error("the module has no global or constant variable `{0}`")]
    Unknown(String),
    /// The variable is smaller than the given bytes.
    #[error("variable `{name}` has {bytes} bytes; {given} bytes were given")]
    Size {
        name: String,
        /// Size of the variable.
        bytes: u64,
        /// Number of given bytes.
        given: u64,
    },
    /// The machine has too many memory regions.
    #[error("the machine has more than {0} variables and buffers", Memory::MOST_REGIONS)]
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
