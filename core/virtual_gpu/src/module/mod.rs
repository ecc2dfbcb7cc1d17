//! A loaded module: functions with decoded bodies, variables with their bytes, parameters with offsets.

mod arguments;
mod body;
mod branches;
mod constants;
mod initial;
mod layout;
mod load;
mod locations;
mod module_scope;
mod names;
mod operand;
mod operands;
mod registers_passed;
mod selectors;

use std::collections::BTreeMap;

pub use arguments::{Call, CallTarget};
pub use body::{Guard, Instruction};
pub use initial::{InitialBytes, Relocation, RelocationTarget};
pub use layout::{Parameter, PointerHint};
pub use locations::{Inlined, Location, LocationId, SourceLine};
pub use operand::{Address, Base, Immediate, Operand, Symbol};

pub use lightbench_ptx::tree::{FunctionKind, Linkage};

use super::error::LoadError;
use super::isa::memory::Space;
use super::isa::scalar::ScalarType;
use super::lower::programs::Programs;

/// The index of a function of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// The index of a variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

/// The index of a variable declared in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// The index of a register of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterId(pub u32);

/// The index of a prototype of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrototypeId(pub u32);

/// The index of a list of branch targets of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetsId(pub u32);

/// The index of a list of functions of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalleesId(pub u32);

/// A checked module: every name is declared, every operand has a valid type.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The PTX version of the text.
    pub version: (u32, u32),
    /// The targets of the text: `sm_90a`, `debug`.
    pub targets: Vec<String>,
    /// Whether the text has the heading of NVIDIA's compilers of CUDA C++.
    pub(super) is_from_cuda: bool,
    /// Functions, with or without a body.
    pub functions: Vec<Function>,
    /// Variables of module scope.
    pub variables: Vec<Variable>,
    /// Source files by number.
    pub files: Vec<(u32, String)>,
    /// Source locations that instructions refer to.
    pub locations: Vec<Location>,
    /// The errors of kernels with instructions that the virtual GPU does not support; these kernels have no body.
    pub(super) refused: BTreeMap<FunctionId, Vec<LoadError>>,
    /// The lowered kernels. The fields above do not change after the first launch.
    pub(super) programs: Programs,
    /// A number that differs for each load: a module that is loaded again has variables of its own.
    pub(super) identity: u64,
}

impl Module {
    /// Loads a module.
    ///
    /// # Errors
    ///
    /// The errors of the module, at most about a hundred, in the order of the text.
    pub fn load(ptx: &str) -> Result<Self, Vec<LoadError>> {
        load::load(ptx)
    }

    /// Loads a module of which some kernels may contain instructions that the virtual GPU does not support. Such a
    /// kernel has no body, and [`Self::refusal`] gives its errors.
    ///
    /// # Errors
    ///
    /// The errors of the module, if one of them is not an unsupported instruction of a kernel, or if no kernel is
    /// supported.
    pub fn load_supported(ptx: &str) -> Result<Self, Vec<LoadError>> {
        load::load_supported(ptx)
    }

    /// Why the virtual GPU cannot run a kernel of a module that [`Self::load_supported`] loaded: its unsupported
    /// instructions, in the order of the text. Empty for a kernel that it can run.
    #[must_use]
    pub fn refusal(&self, kernel: &str) -> &[LoadError] {
        let function = self.functions.iter().position(|function| function.name == kernel);
        let refused = function.and_then(|index| self.refused.get(&FunctionId(index as u32)));
        refused.map_or(&[], Vec::as_slice)
    }

    /// The function with this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The variable with this name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.kind == FunctionKind::Entry)
    }

    /// The source line of a location, in the innermost inlined function.
    #[must_use]
    pub fn source_line(&self, location: LocationId) -> Option<SourceLine> {
        let location = self.locations.get(location.0 as usize)?;
        Some(locations::source_line(&self.files, location))
    }

    /// The source line of a location for the author of a kernel: if a header of another project was inlined, the line
    /// that called it. Own files are those in the folder of the kernel's file and below.
    #[must_use]
    pub fn own_source_line(&self, location: LocationId, kernel: FunctionId) -> Option<SourceLine> {
        let innermost = self.source_line(location)?;
        let body = self.functions.get(kernel.0 as usize)?.body.as_ref();
        let first = body?.instructions.iter().find_map(|instruction| instruction.location);
        let home = first.and_then(|first| self.callers(first).last());
        let Some(home) = home else { return Some(innermost) };
        let own =
            self.callers(location).find(|line| locations::lies_beside(&line.file, &home.file));
        Some(own.unwrap_or(innermost))
    }

    /// The line itself, then the lines that it was inlined into.
    fn callers(&self, location: LocationId) -> impl Iterator<Item = SourceLine> {
        let of = |id: LocationId| self.locations.get(id.0 as usize);
        let chain = std::iter::successors(of(location), move |location| {
            of(location.inlined.as_ref()?.caller)
        });
        chain.map(|location| locations::source_line(&self.files, location))
    }
}

/// An entry or a device function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in the PTX.
    pub name: String,
    pub kind: FunctionKind,
    pub linkage: Linkage,
    pub parameters: Vec<Parameter>,
    /// Results.
    pub returns: Vec<Parameter>,
    /// `.noreturn`.
    pub never_returns: bool,
    /// Performance directives.
    pub bounds: LaunchBounds,
    /// Its instructions; none if it is only declared, as `vprintf` is.
    pub body: Option<Body>,
}

/// Performance directives. PTX ISA, section "Performance-Tuning Directives".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid`: the largest block, as a product of the dimensions.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the exact size of a block.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks_per_multiprocessor: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`.
    pub max_cluster_rank: Option<u32>,
}

/// The instructions of a function, and the objects that they refer to.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// All instructions; a branch may also target the end, which returns.
    pub instructions: Vec<Instruction>,
    /// The registers that are used.
    pub registers: Vec<Register>,
    /// Variables that the body declares, including `.param` variables of calls.
    pub locals: Vec<Variable>,
    /// The prototypes of functions that are called by address.
    pub prototypes: Vec<Prototype>,
    /// Lists of branch targets, as indices of instructions.
    pub targets: Vec<Vec<u32>>,
    /// Lists of functions, one of which is the callee of a call by address.
    pub callees: Vec<Vec<FunctionId>>,
}

/// A register of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in the PTX; nested scopes may declare a name several times.
    pub name: String,
    /// The declared type.
    pub ty: ScalarType,
}

/// The prototype of a function that is called by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    pub parameters: Vec<Parameter>,
    /// Results.
    pub returns: Vec<Parameter>,
    /// A variable in memory.
    pub never_returns: bool,
}

/// Its name in the PTX.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    pub linkage: Linkage,
    /// The element type.
    pub element: ScalarType,
    /// Size in bytes; none for `extern` arrays that the launch sizes.
    pub bytes: Option<u64>,
    /// Alignment in bytes.
    pub align: u32,
    /// The initial bytes; the others are zero, or uninitialised in a state space without initialisation.
    pub initial: InitialBytes,
}
