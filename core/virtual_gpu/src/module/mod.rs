//! A module as it is meant: functions with decoded bodies, variables with their bytes, parameters with offsets.

mod arguments;
mod body;
mod branches;
mod constants;
mod declared;
mod initial;
mod layout;
mod load;
mod locations;
mod names;
mod operand;
mod operands;
mod registers_passed;
mod selectors;

pub use arguments::{Call, CallTarget};
pub use body::{Guard, Instruction};
pub use initial::{Initial, Relocation, RelocationTarget};
pub use layout::{Parameter, PointerHint};
pub use locations::{Inlined, Location, LocationId, SourceLine};
pub use operand::{Address, Base, Immediate, Operand, Symbol};

use super::error::LoadError;
use super::isa::memory::Space;
use super::isa::scalar::ScalarType;
use super::lower::programs::Programs;
pub use super::ptx::tree::{FunctionKind, Linkage};

/// A place among the functions of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A place among the variables of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

/// A place among the variables that a body declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A place among the registers of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterId(pub u32);

/// A place among the prototypes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrototypeId(pub u32);

/// A place among the lists of targets of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetsId(pub u32);

/// A place among the lists of functions of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalleesId(pub u32);

/// A module, checked: every name is declared, every operand fits.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The PTX version that the text claims.
    pub version: (u32, u32),
    /// The targets that the text names: `sm_90a`, `debug`.
    pub targets: Vec<String>,
    /// Functions, with or without a body.
    pub functions: Vec<Function>,
    /// Variables of module scope.
    pub variables: Vec<Variable>,
    /// Source files by number.
    pub files: Vec<(u32, String)>,
    /// Source locations that instructions refer to.
    pub locations: Vec<Location>,
    /// What launches made of the kernels. The fields above do not change once there has been one.
    pub(super) programs: Programs,
    /// Another one for each load: a module that is loaded again has variables of its own.
    pub(super) identity: u64,
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    ///
    /// All that is wrong with it, at most about a hundred problems, in the order of the text.
    pub fn load(ptx: &str) -> Result<Self, Vec<LoadError>> {
        load::load(ptx)
    }

    /// The function of that name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The variable of that name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.kind == FunctionKind::Entry)
    }

    /// The source line of a location, innermost.
    #[must_use]
    pub fn source_line(&self, location: LocationId) -> Option<SourceLine> {
        let location = self.locations.get(location.0 as usize)?;
        Some(locations::source_line(&self.files, location))
    }

    /// The source line of a location as who wrote a kernel knows it: where a header of somebody else was inlined, the
    /// line that called it. Own files are those in the folder of the kernel's file and below.
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
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Who sees it.
    pub linkage: Linkage,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub returns: Vec<Parameter>,
    /// `.noreturn`.
    pub never_returns: bool,
    /// What it says about its launch.
    pub bounds: LaunchBounds,
    /// Its instructions; none where it is only declared, as `vprintf` is.
    pub body: Option<Body>,
}

/// Performance directives. PTX ISA, section "Performance-Tuning Directives".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid`: a block has at most the product of these.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: a block has exactly these.
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

/// The instructions of a function, and what they refer to.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// All instructions; a branch may also go behind the last one, which returns.
    pub instructions: Vec<Instruction>,
    /// The registers that are used.
    pub registers: Vec<Register>,
    /// Variables that the body declares, `.param` slots of calls among them.
    pub locals: Vec<Variable>,
    /// What functions that are called by address take and return.
    pub prototypes: Vec<Prototype>,
    /// Lists of branch targets, as positions among the instructions.
    pub targets: Vec<Vec<u32>>,
    /// Lists of functions, one of which a call by address reaches.
    pub callees: Vec<Vec<FunctionId>>,
}

/// A register of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in the PTX; nested scopes may have several of one name.
    pub name: String,
    /// The type that it is declared with.
    pub ty: ScalarType,
}

/// What a function that is called by address takes and returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub returns: Vec<Parameter>,
    /// `.noreturn`.
    pub never_returns: bool,
}

/// Memory with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name in the PTX.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Who sees it.
    pub linkage: Linkage,
    /// The type of its elements.
    pub element: ScalarType,
    /// Bytes; none for `extern` arrays that the launch sizes.
    pub bytes: Option<u64>,
    /// Alignment in bytes.
    pub align: u32,
    /// What it holds at the start; what is not said is zero, or nothing where a space has no zeros.
    pub initial: Initial,
}
