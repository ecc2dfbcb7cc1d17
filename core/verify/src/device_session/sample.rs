//! Sampled blocks of a launch at a size that is too large to run whole, and the comparison of what they wrote.
//!
//! The candidate's device runs a few blocks with every check, follows them to the last element and to random ones, and
//! writes the elements around those to the folder. The reference's device runs only the blocks that compute the same
//! elements. Elements that no sampled block writes are no proof that nothing writes them: then the whole grid runs,
//! where it is small enough, and otherwise the size counts as not checked.

use std::fs;
use std::time::Duration;

use lightbench_device::{Device, MemoryLimit, Operation, PartialLaunch, Placement, Watch};
use lightbench_project::compare::Comparator;
use lightbench_project::manifest::Init;
use lightbench_project::tensor::Role;
use lightbench_tensors::case::{Case, TensorCase};
use lightbench_tensors::compare::{Comparison, Expected, Found, Mismatch, Strictness, compare};
use lightbench_tensors::inputs::{InputSpec, repeated};
use lightbench_tensors::layout::Layout;
use lightbench_virtual_gpu::cost::Counts;
use lightbench_virtual_gpu::{Checks, FaultKind, Races};
use serde::{Deserialize, Serialize};

use super::bound::{Bound, failure_from_device_error, failure_from_input_error};
use super::sampler::{GroupedLaunch, Sampler, outputs};
use super::session::DeviceSession;
use super::steps::{fill_constants, flattened};
use super::{
    BufferPlacement, JudgeReport, JudgeRequest, RunReport, RunRequest, SessionFailure, Side,
};
use crate::program::{Program, Step};
use crate::reference_source::ReferenceSource;

/// Steps of a single block, at most.
const MOST_BLOCK_STEPS: u64 = 1 << 23;

/// Steps of a whole grid that is run to see every element written: about a second without further checks.
pub(super) const MOST_GRID_STEPS: u64 = 1 << 24;

/// Bytes of inputs that do not repeat and of zeroed scratch: more take longer to make than the sample takes to run.
const MOST_MADE_BYTES: u64 = 64 << 20;

/// The file in the folder between the two sides.
pub(super) const FILE: &str = "sample.json";

/// Which blocks of the grids of a program run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GridPart {
    /// All of them.
    Whole,
    /// Some, and their outputs are judged in part; the program must be a single launch whose blocks are independent.
    Sampled {
        /// What chooses them.
        seed: u64,
    },
}

/// What running sampled blocks showed, besides faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sampled {
    /// Their outputs are in the folder.
    Ran {
        /// Blocks that ran.
        blocks: u64,
        /// Blocks of the grid.
        of: u64,
    },
    /// The whole grid ran and left elements unwritten.
    Unwritten {
        /// The output.
        tensor: String,
        /// How many of its elements.
        elements: u64,
        /// The index of the first one.
        first: Vec<u64>,
    },
    /// The size cannot be checked, for this reason.
    Impossible(String),
}

/// Sampled elements of one output, as they are written to the folder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Handed {
    pub(super) tensor: usize,
    pub(super) elements: Vec<u64>,
    pub(super) bytes: Vec<u8>,
}

impl DeviceSession {
    /// Runs sampled blocks of a candidate.
    ///
    /// # Errors
    /// The device cannot run it. What the candidate does wrong is in the report.
    pub(super) fn run_sample(
        &mut self,
        order: &RunRequest,
        seed: u64,
    ) -> Result<RunReport, SessionFailure> {
        let RunRequest { case, program, recipe, .. } = order;
        let prepared = self.prepare_sample((case, program, Side::Candidate), *recipe)?;
        let (bound, launch) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return Ok(not_sampled(reason)),
        };
        let outputs = outputs(case, &bound, Side::Candidate)?;
        let mut sampler = Sampler::new(self.device(), launch, outputs);
        sampler.explore(seed)?;
        let faults = std::mem::take(&mut sampler.faults);
        let report = if faults.iter().any(|fault| fault.kind() == FaultKind::StepLimit) {
            not_sampled(too_many_steps())
        } else if !faults.is_empty() {
            let faults = faults.into_iter().map(Into::into).collect();
            return Ok(RunReport { faults, ..RunReport::default() });
        } else {
            let sampled = sampler.settle(case)?;
            if let (Sampled::Ran { .. }, Some(folder)) = (&sampled, &order.outputs) {
                sampler.hand_over(folder)?;
            }
            RunReport { sampled: Some(sampled), ..RunReport::default() }
        };
        bound.free(self.device())?;
        Ok(report)
    }

    /// Judges what sampled blocks of a candidate wrote.
    ///
    /// # Errors
    /// The reference cannot be run, or there is no sample.
    pub(super) fn judge_sample(
        &mut self,
        order: &JudgeRequest,
    ) -> Result<JudgeReport, SessionFailure> {
        let JudgeRequest { case, reference, recipe, outputs: folder, .. } = order;
        let handed: Vec<Handed> =
            serde_json::from_slice(&fs::read(folder.join(FILE)).map_err(failure)?)
                .map_err(failure)?;
        let program = match reference {
            ReferenceSource::Program(program) => program,
            ReferenceSource::Python(_) => return self.judge_sample_by_results(order, &handed),
        };
        let prepared = self.prepare_sample((case, program, Side::Reference), *recipe)?;
        let (bound, launch) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return Ok(JudgeReport::unsampled(format!("the reference: {reason}"))),
        };
        let outputs = outputs(case, &bound, Side::Reference)?;
        let mut sampler = Sampler::new(self.device(), launch, outputs);
        sampler.learn(true)?;
        let (mut comparisons, mut judged) = (Vec::new(), 0);
        for handed in &handed {
            let Some(expected) = sampler.expect(handed)? else { continue };
            let comparison = expected.judge(case)?;
            judged += comparison.compared;
            comparisons.push(comparison);
        }
        let faulty = sampler.faults.first().map(|fault| fault.kind());
        bound.free(self.device())?;
        if let Some(kind) = faulty {
            return Ok(JudgeReport::unsampled(format!(
                "the reference's sampled blocks fault: {kind:?}"
            )));
        }
        if comparisons.len() < handed.len() || judged == 0 {
            let reason = "no block of the reference was found for the sampled elements";
            return Ok(JudgeReport::unsampled(reason.to_owned()));
        }
        let sampled = Some(Ok(judged));
        Ok(JudgeReport { comparisons, exact: false, sampled, inadmissible: None })
    }

    /// The same by the results of a Python reference, which computes all elements. The outputs are contiguous.
    fn judge_sample_by_results(
        &mut self,
        order: &JudgeRequest,
        handed: &[Handed],
    ) -> Result<JudgeReport, SessionFailure> {
        self.compute(order)?;
        let (mut comparisons, mut judged) = (Vec::new(), 0);
        for handed in handed {
            let results = self.fetch_output(handed.tensor)?;
            let dtype = order.case.tensors[handed.tensor].dtype;
            let size = if dtype.is_float() { 8 } else { dtype.address_bytes() as usize };
            let gather = |bytes: &[u8], size: usize| -> Option<Vec<u8>> {
                let each = handed.elements.iter().map(|element| {
                    let start = usize::try_from(*element).ok()?.checked_mul(size)?;
                    bytes.get(start..start.checked_add(size)?)
                });
                Some(each.collect::<Option<Vec<_>>>()?.concat())
            };
            let cut = || failure("the results of the reference are cut off");
            let sample = Sample {
                handed,
                known: (0..handed.elements.len()).collect(),
                elements: handed.elements.clone(),
                values: gather(&results.values, size).ok_or_else(cut)?,
                magnitudes: results
                    .magnitudes
                    .map(|bytes| gather(&bytes, 8).ok_or_else(cut))
                    .transpose()?,
            };
            let comparison = sample.judge(&order.case)?;
            judged += comparison.compared;
            comparisons.push(comparison);
        }
        let sampled = Some(Ok(judged));
        Ok(JudgeReport { comparisons, exact: false, sampled, inadmissible: None })
    }

    /// The buffers and the launch of a program that can be sampled, or why it cannot.
    fn prepare_sample(
        &mut self,
        (case, program, side): (&Case, &Program, Side),
        recipe: InputSpec,
    ) -> Result<Result<(Bound, GroupedLaunch), String>, SessionFailure> {
        if let Some(before) = self.take_bound() {
            before.free(self.device())?;
        }
        if let Some(reason) = unsuitable(case, program, recipe)? {
            return Ok(Err(reason));
        }
        let (trusted, memory) = (self.harness_kernels(), BufferPlacement::Fresh(Placement::Left));
        let sides = (case, program, side);
        partial(self.device())?.limit_memory(MemoryLimit::Sampled);
        let bound = Bound::prepare(self.device(), None, sides, recipe, memory, trusted);
        partial(self.device())?.limit_memory(MemoryLimit::Host);
        let bound = match bound {
            Ok(bound) => bound,
            Err(SessionFailure::Memory(reason)) => return Ok(Err(reason)),
            Err(failure) => return Err(failure),
        };
        let walk = self.walk(&bound, program);
        fill_constants(self.device(), &walk, program)?;
        let Some(Operation::Launch { launch, .. }) = flattened(walk, program)?.pop() else {
            return Err(SessionFailure::Order("a sample needs a launch".to_owned()));
        };
        let groups = partial(self.device())?.independent_blocks(&launch);
        let group = match groups.map_err(|error| failure_from_device_error(&error))? {
            Ok(group) => group,
            Err(coupling) => {
                bound.free(self.device())?;
                return Ok(Err(format!("its blocks depend on each other: {coupling}")));
            }
        };
        let launch = GroupedLaunch { launch, group };
        let races = match side {
            Side::Candidate => Races::CudaIdiom,
            Side::Reference => Races::Ignored,
        };
        self.device().watch(Watch {
            checks: Checks { uninitialized: true, races },
            max_steps: MOST_BLOCK_STEPS.saturating_mul(launch.blocks_of_group()),
            counters: false,
            ..Watch::ALL
        });
        Ok(Ok((bound, launch)))
    }
}

/// The groups of blocks that a sample has at least: the first one, its neighbours along two dimensions, the last two.
const FEWEST_GROUPS: u64 = 5;

/// Nanoseconds of a warp instruction and of the products of a step, with every check, on a processor of 2024.
const NANOSECONDS_PER_INSTRUCTION: u64 = 100;
const NANOSECONDS_PER_PRODUCT_STEP: u64 = 250;

/// The estimated time of a sample of a program, of whose launches these are the counters; or why it would be cut off.
pub(crate) fn sample_time(program: &Program, counts: &Counts) -> Result<Duration, String> {
    let [Step::Launch(launch)] = &program.steps[..] else { return Ok(Duration::ZERO) };
    let blocks = grid_blocks(program);
    if counts.steps() / blocks > MOST_BLOCK_STEPS {
        return Err(too_many_steps());
    }
    let groups = FEWEST_GROUPS * launch.cluster.map_or(1, product);
    let instructions = counts.warp_instructions / blocks * NANOSECONDS_PER_INSTRUCTION;
    let products = counts.product_steps() / blocks * NANOSECONDS_PER_PRODUCT_STEP;
    Ok(Duration::from_nanos(groups.saturating_mul(instructions + products)))
}

/// The blocks of a program with one launch; 1 of any other.
pub(crate) fn grid_blocks(program: &Program) -> u64 {
    let [Step::Launch(launch)] = &program.steps[..] else { return 1 };
    product(launch.grid).max(1)
}

pub(super) fn product(sides: [u32; 3]) -> u64 {
    sides.iter().fold(1, |all, side| all * u64::from(*side))
}

fn too_many_steps() -> String {
    format!("a block executes more than {MOST_BLOCK_STEPS} steps")
}

fn not_sampled(reason: String) -> RunReport {
    RunReport { sampled: Some(Sampled::Impossible(reason)), ..RunReport::default() }
}

pub(super) fn partial(device: &mut dyn Device) -> Result<&mut dyn PartialLaunch, SessionFailure> {
    let whole_only = || SessionFailure::Order("the device runs whole grids only".to_owned());
    device.partial_launch().ok_or_else(whole_only)
}

pub(super) fn failure(error: impl std::fmt::Display) -> SessionFailure {
    SessionFailure::Outputs(error.to_string())
}

/// Why sampled blocks cannot show the results of a program.
fn unsuitable(
    case: &Case,
    program: &Program,
    recipe: InputSpec,
) -> Result<Option<String>, SessionFailure> {
    let [Step::Launch(launch)] = &program.steps[..] else {
        let reason = "it has several steps, and sampled blocks of one step do not show the next";
        return Ok(Some(reason.to_owned()));
    };
    if launch.cooperative {
        return Ok(Some("its blocks wait for each other".to_owned()));
    }
    let zeroed = program.scratch.iter().filter(|scratch| scratch.init != Init::Undefined);
    let mut made: u64 = zeroed.map(|scratch| scratch.bytes).sum();
    for (index, tensor) in case.tensors.iter().enumerate() {
        let name = &tensor.name;
        match &tensor.role {
            Role::Inout { .. } => return Ok(Some(format!("`{name}` is updated in place"))),
            Role::Output { init, .. } if *init != Init::Undefined => {
                return Ok(Some(format!("`{name}` is zeroed before the launch")));
            }
            Role::Output { compare, .. } => {
                let alone =
                    matches!(compare, Comparator::Elementwise { .. } | Comparator::IntegerExact);
                if !alone {
                    return Ok(Some(format!("`{name}` is judged as a whole")));
                }
                let layout = Layout::new(tensor).map_err(failure)?;
                if tensor.dtype.is_packed() || !layout.is_contiguous() {
                    return Ok(Some(format!("the elements of `{name}` are not contiguous")));
                }
            }
            Role::Input { .. } => {
                let is_repeated = repeated(case, index, recipe)
                    .map_err(|error| failure_from_input_error(&error))?;
                made += if is_repeated.is_some() { 0 } else { tensor.bytes };
            }
        }
    }
    Ok((made > MOST_MADE_BYTES).then(|| {
        format!("making {} MB of inputs and zeros takes longer than running a sample", made >> 20)
    }))
}

/// Sampled elements of one output with what the reference computed for them.
pub(super) struct Sample<'a> {
    pub(super) handed: &'a Handed,
    /// Their positions among the elements in the folder.
    pub(super) known: Vec<usize>,
    pub(super) elements: Vec<u64>,
    pub(super) values: Vec<u8>,
    pub(super) magnitudes: Option<Vec<u8>>,
}

impl Sample<'_> {
    /// Compares them as an output of so many elements.
    fn judge(&self, case: &Case) -> Result<Comparison, SessionFailure> {
        let Handed { tensor, bytes, .. } = self.handed;
        let whole = case.tensors.get(*tensor);
        let whole = whole.ok_or_else(|| SessionFailure::Order("no such output".to_owned()))?;
        let count = self.elements.len() as u64;
        let size = whole.dtype.address_bytes();
        let part = TensorCase {
            dims: vec![count],
            strides: vec![1],
            elements: count,
            span: count,
            bytes: count * size,
            ..whole.clone()
        };
        let part = Case { tensors: vec![part], ..case.clone() };
        let each = bytes.chunks_exact(size as usize);
        let each: Vec<&[u8]> = each.collect();
        let found: Option<Vec<&[u8]>> =
            self.known.iter().map(|place| each.get(*place).copied()).collect();
        let found = found.ok_or_else(|| failure("the sample is cut off"))?.concat();
        let found = Found { bytes: &found, unwritten: &[] };
        let expected = Expected { values: &self.values, magnitudes: self.magnitudes.as_deref() };
        let judged = compare(&part, 0, found, expected, &[], Strictness::Tolerance);
        let mut comparison = judged.map_err(|error| SessionFailure::Order(error.to_string()))?;
        comparison.tensor = *tensor;
        if let Some(wrong) = &mut comparison.wrong {
            for mismatch in [&mut wrong.first, &mut wrong.worst].into_iter().flatten() {
                self.place(mismatch, &whole.dims);
            }
        }
        Ok(comparison)
    }

    /// Gives a mismatch its index in the whole output.
    fn place(&self, mismatch: &mut Mismatch, dims: &[u64]) {
        let element = mismatch.index.first().and_then(|index| usize::try_from(*index).ok());
        if let Some(element) = element.and_then(|index| self.elements.get(index)) {
            mismatch.index = index_of(dims, *element);
        }
    }
}

/// The index of an element, counted in the order of indices.
pub(super) fn index_of(dims: &[u64], element: u64) -> Vec<u64> {
    let mut rest = element;
    let mut index: Vec<u64> = dims
        .iter()
        .rev()
        .map(|dim| {
            let own = rest % dim.max(&1);
            rest /= dim.max(&1);
            own
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::LaunchStep;

    #[track_caller]
    fn check(
        cluster: Option<[u32; 3]>,
        (instructions, multiply_adds): (u64, u64),
        expected: Result<u64, String>,
    ) {
        let launch = LaunchStep {
            kernel: "k".to_owned(),
            grid: [10, 10, 1],
            block: [128, 1, 1],
            dynamic_shared: 0,
            cooperative: false,
            cluster,
            residence: None,
            arguments: Vec::new(),
        };
        let program = Program {
            module: 0,
            scratch: Vec::new(),
            constants: Vec::new(),
            steps: vec![Step::Launch(launch)],
        };
        let counts = Counts {
            warp_instructions: 100 * instructions,
            tensor_bf16_multiply_adds: 100 * multiply_adds,
            ..Counts::default()
        };
        assert_eq!(sample_time(&program, &counts), expected.map(Duration::from_micros));
    }

    #[test]
    fn the_time_of_a_sample_is_that_of_its_groups() {
        check(None, (0, 0), Ok(0));
        check(None, (1000, 0), Ok(5 * 100));
        check(None, (1000, 64_000), Ok(5 * (100 + 250)));
        check(Some([2, 1, 1]), (1000, 0), Ok(2 * 5 * 100));
        check(None, (MOST_BLOCK_STEPS, 0), Ok(5 * MOST_BLOCK_STEPS / 10));
        check(None, (MOST_BLOCK_STEPS, 64), Err(too_many_steps()));
    }
}
