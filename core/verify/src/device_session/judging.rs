//! Compares outputs with the reference's: on the device where it can, and on the host where an output is wrong or
//! unusual, so that all evidence has one format.

use lightbench_device::{BufferId, Content, Device};
use lightbench_project::compare::Comparator;
use lightbench_tensors::case::Case;
use lightbench_tensors::compare::{Comparison, Found, OnDevice, Strictness, compare};
use lightbench_tensors::inputs::{
    InputMode, InputSpec, exact_limit, generate_tensor, probe_applies,
};

use super::bound::{failure_from_device_error, failure_from_input_error};
use super::harness_kernels::{HarnessKernels, working_space};
use super::outputs::Handed;
use super::reference_results::{Exact, Results};
use super::{JudgeReport, JudgeRequest, SessionFailure};
use crate::harness_kernels::launches::Compared;

/// Judges the outputs of a candidate. `results` are those of the reference for the same inputs.
pub(super) fn judge(
    device: &mut dyn Device,
    trusted: Option<HarnessKernels>,
    order: &JudgeRequest,
    results: &Results,
) -> Result<JudgeReport, SessionFailure> {
    let JudgeRequest { case, recipe, outputs, .. } = order;
    let judge = Judge { case, results, trusted };
    let exact = recipe.draw == InputMode::PrecisionProbe && judge.is_exact(device)?;
    let strictness = if exact { Strictness::Exact } else { Strictness::Tolerance };
    let inputs = read_by_comparators(case, *recipe)?;
    let mut comparisons = Vec::new();
    for handed in Handed::all(outputs)? {
        let exact = results.get(handed.tensor).and_then(Option::as_ref);
        let exact = exact.ok_or_else(|| order_error("an output of no tensor"))?;
        let found = judge.found(device, &handed)?;
        let right = match found {
            Some(found) => judge.on_device(device, (&handed, found), exact, strictness)?,
            None => None,
        };
        comparisons.push(match right {
            Some(right) => right,
            None => {
                let content = match found {
                    Some(found) => {
                        device.read(found).map_err(|error| failure_from_device_error(&error))?
                    }
                    None => handed.content()?,
                };
                let content = Content { unwritten: handed.unwritten.clone(), ..content };
                judge.on_host(device, (handed.tensor, &content), (exact, strictness), &inputs)?
            }
        });
        if let Some(found) = found {
            device.free(found).map_err(|error| failure_from_device_error(&error))?;
        }
    }
    Ok(JudgeReport { comparisons, exact, sampled: None, inadmissible: None })
}

struct Judge<'a> {
    case: &'a Case,
    results: &'a Results,
    trusted: Option<HarnessKernels>,
}

impl Judge<'_> {
    /// Whether the reference's results show that every permitted order of operations is exact.
    fn is_exact(&self, device: &mut dyn Device) -> Result<bool, SessionFailure> {
        if let Some(applies) = self.is_exact_on_device(device)? {
            return Ok(applies);
        }
        let fetch =
            |exact: &Option<Exact>| exact.as_ref().map(|exact| exact.fetch(device)).transpose();
        let fetched: Vec<_> = self.results.iter().map(fetch).collect::<Result<_, _>>()?;
        let expected: Vec<_> =
            fetched.iter().map(|one| one.as_ref().map(|fetched| fetched.expected())).collect();
        Ok(probe_applies(self.case, &expected))
    }

    /// The same, computed by the device; none where it does not hold all results.
    fn is_exact_on_device(&self, device: &mut dyn Device) -> Result<Option<bool>, SessionFailure> {
        let (Some(trusted), Some(limit)) = (self.trusted, exact_limit(self.case)) else {
            return Ok(None);
        };
        let mut any_telling = false;
        for (tensor, made) in self.case.tensors.iter().enumerate() {
            if !matches!(made.role.compare(), Some(Comparator::Elementwise { .. })) {
                continue;
            }
            let reals = self.results.get(tensor).and_then(Option::as_ref).and_then(Exact::reals);
            let (Some(reals), Some(OnDevice { comparing, .. })) =
                (reals, OnDevice::new(self.case, tensor))
            else {
                return Ok(None);
            };
            let (exact, telling) = trusted.survey(device, reals, &comparing, limit)?;
            if !exact {
                return Ok(Some(false));
            }
            any_telling |= telling;
        }
        Ok(Some(any_telling))
    }

    /// The outputs on the device, if the device compares them; their size is that of the case.
    fn found(
        &self,
        device: &mut dyn Device,
        handed: &Handed,
    ) -> Result<Option<BufferId>, SessionFailure> {
        let made = self.case.tensors.get(handed.tensor);
        let fits = made.is_some_and(|made| made.bytes == handed.bytes);
        if self.trusted.is_none() || !fits {
            return Ok(None);
        }
        let found = working_space(device, "found", handed.bytes)?;
        handed.place(device, found)?;
        Ok(Some(found))
    }

    /// The result for an output that the device judges correct, or whose root mean square error is too large; none
    /// where the host must judge.
    fn on_device(
        &self,
        device: &mut dyn Device,
        (handed, found): (&Handed, BufferId),
        exact: &Exact,
        strictness: Strictness,
    ) -> Result<Option<Comparison>, SessionFailure> {
        let tensor = handed.tensor;
        let on_device = OnDevice::new(self.case, tensor);
        let (Some(trusted), Some(on_device), Some(expected)) =
            (self.trusted, on_device, exact.values_there())
        else {
            return Ok(None);
        };
        if !handed.unwritten.is_empty() {
            return Ok(None);
        }
        let comparing = &on_device.comparing;
        let judged = match exact.reals() {
            Some(reals) => trusted.compare(device, (found, reals), comparing, strictness)?,
            None => {
                let compared = Compared { found, expected };
                (trusted.compare_bits(device, compared, comparing)?, Vec::new())
            }
        };
        Ok(on_device.settle(strictness, judged.0, judged.1))
    }

    fn on_host(
        &self,
        device: &mut dyn Device,
        (tensor, content): (usize, &Content),
        (exact, strictness): (&Exact, Strictness),
        inputs: &[Option<Vec<u8>>],
    ) -> Result<Comparison, SessionFailure> {
        let fetched = exact.fetch(device)?;
        let found = Found { bytes: &content.bytes, unwritten: &content.unwritten };
        let expected = fetched.expected();
        let judged = compare(self.case, tensor, found, expected, inputs, strictness);
        judged.map_err(|error| order_error(&error.to_string()))
    }
}

fn order_error(message: &str) -> SessionFailure {
    SessionFailure::Order(message.to_owned())
}

/// The inputs that judging needs, by tensor: most comparators need none.
fn read_by_comparators(
    case: &Case,
    recipe: InputSpec,
) -> Result<Vec<Option<Vec<u8>>>, SessionFailure> {
    let outputs = case.tensors.iter().filter_map(|tensor| tensor.role.compare());
    let read: Vec<usize> = outputs.filter_map(Comparator::reads).collect();
    let made = (0..case.tensors.len()).map(|tensor| match read.contains(&tensor) {
        true => generate_tensor(case, tensor, recipe),
        false => Ok(None),
    });
    made.collect::<Result<_, _>>().map_err(|error| failure_from_input_error(&error))
}
