//! A kernel compiled for one workload of a project, to run on a virtual device of this process.

use std::collections::BTreeMap;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::{InputMode, InputSpec};

use crate::compile::facts::{FactsError, Setting, facts};
use crate::compile::{Build, Compiler};
use crate::device::DeviceSheet;
use crate::project::manifest::Distribution;
use crate::project::{Kernel, KernelRole, PlanError, Project, Workload};
use crate::verify::compiled_candidate::Origins;
use crate::verify::device_session::virtual_run::VirtualRun;
use crate::verify::device_session::{ModuleImage, SessionFailure, Side};
use crate::verify::program::{Program, ProgramError};

/// The largest number of warp instructions of one launch: a few seconds.
const MOST_STEPS: u64 = 1 << 26;

/// A kernel, its inputs, and the device that is played.
#[derive(Clone, Copy, Debug)]
pub struct ProgramRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The kernel, one of the project's.
    pub kernel: &'a Kernel,
    /// Whose inputs it gets.
    pub workload: &'a Workload,
    /// The device that is played.
    pub sheet: &'a DeviceSheet,
    /// The seed of the inputs.
    pub seed: u64,
}

/// A compiled kernel with its sizes.
#[derive(Debug)]
pub struct VirtualProgram<'a> {
    /// Where its instructions come from.
    pub origins: Origins,
    sheet: &'a DeviceSheet,
    image: ModuleImage,
    case: Case,
    program: Program,
    side: Side,
    recipe: InputSpec,
}

/// Why a kernel cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum VirtualProgramError {
    /// The kernel does not compile.
    #[error(transparent)]
    Facts(Box<FactsError>),
    /// The sizes of the workload are invalid.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// The launch block.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The device.
    #[error(transparent)]
    Session(#[from] SessionFailure),
}

impl<'a> VirtualProgram<'a> {
    /// Compiles a kernel with its default parameters.
    ///
    /// # Errors
    /// The kernel does not compile, or its launch is invalid for this workload.
    pub fn compile(
        compiler: &mut Compiler,
        request: &ProgramRequest<'a>,
        cancellation: &Cancellation,
    ) -> Result<Self, VirtualProgramError> {
        let ProgramRequest { project, kernel, workload, sheet, seed } = *request;
        let (chosen, build) = (&BTreeMap::new(), Build::Optimised);
        let setting = Setting { project, workload, chosen, sheet, multiprocessors: None, build };
        let facts = facts(compiler, kernel, &setting, cancellation);
        let facts = &facts.map_err(|error| VirtualProgramError::Facts(Box::new(error)))?;
        let case = Case::new(&project.definition, workload);
        let case = case.map_err(|error| VirtualProgramError::Plan(Box::new(error)))?;
        let program = Program::from_facts(0, &project.definition, kernel, facts)?;
        let image = ModuleImage { ptx: facts.artifact.ptx.clone(), cubin: None };
        let recipe = InputSpec { seed, draw: InputMode::Distribution(Distribution::AsDeclared) };
        let side = match kernel.role {
            KernelRole::Reference => Side::Reference,
            KernelRole::Variant | KernelRole::Wrong | KernelRole::Standalone => Side::Candidate,
        };
        let origins = Origins::from_facts(facts);
        Ok(Self { origins, sheet, image, case, program, side, recipe })
    }

    /// A run of it.
    #[must_use]
    pub const fn run(&self) -> VirtualRun<'_> {
        let Self { sheet, image, case, program, side, recipe, .. } = self;
        let (side, recipe) = (*side, *recipe);
        VirtualRun { sheet, image, case, program, side, recipe, max_steps: MOST_STEPS }
    }
}
