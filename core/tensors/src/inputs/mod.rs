//! Generates the inputs of a case: the same bytes for the same input specification on every machine and device.
//!
//! ```text
//!  InputSpec ──► base value (fill) ──► within the fill ──► distribution ──► within the domain ──► nearest element
//!             Philox: key = seed, counter = (element, part, tensor)
//! ```
//!
//! An element depends only on the seed, its tensor and its index, so that a device can generate it in place; the
//! exceptions are sparse structure (offsets before indices) and probabilities (a row sums to 1). Numbers are computed
//! with additions and multiplications of f64, and one division where a row sums to 1, which round identically
//! everywhere.
//!
//! Elements that share memory through a stride of 0 count once. If elements overlap otherwise, all memory from the
//! first to the last is filled, and values that depend on neighbours (masks, probabilities, sorted indices) are
//! refused.

mod bounds;
mod class;
mod distribution;
mod domain;
mod integers;
mod on_device;
mod perturbed;
mod place;
mod probability;
mod probe;
mod reals;
mod sparse;
#[cfg(test)]
mod tests;

use lightbench_primitives::dtype::Family;
use lightbench_primitives::random::Stream;
use lightbench_project::fill::Fill;
use lightbench_project::manifest::Distribution;
use lightbench_project::tensor::Domain;
use serde::{Deserialize, Serialize};

use super::case::{Case, TensorCase};
use super::element::load_reals;
use super::layout::{Layout, LayoutError};

pub use class::Class;
pub use domain::{Along, DomainInput, varies};
pub use on_device::{FloatStorage, GeneratedInput, make, make_on_host};
pub use perturbed::{Change, Patch, PerturbedInput, changes, single_change};
pub use probe::{exact_limit, probe_applies, probed_tensor};

use integers::Integers;
use probability::Probabilities;
use reals::Reals;

/// Determines the inputs of a case; recorded, and sufficient to reproduce them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InputSpec {
    /// From the operating system, or given by a person.
    pub seed: u64,
    /// How values are generated.
    pub draw: InputMode,
}

/// How the values of inputs are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// Every tensor that allows this distribution has it; the others are as declared.
    Distribution(Distribution),
    /// As declared, but large tensors of independent elements repeat their beginning: for modelled times, which hardly
    /// depend on the values, and for sampled blocks.
    Repeating,
    /// Odd integers with more bits than a lower precision has, multiplied by 0 and ±1, few of them nonzero: exact in
    /// the accuracy of the task, inexact in a lower one. If [`probe_applies`], results must be exact.
    PrecisionProbe,
    /// As declared, after a number of small changes.
    #[serde(rename = "echo")]
    Perturbed(PerturbedInput),
    /// From the whole domain of each tensor: extreme values, and structure that random numbers do not have.
    Domain(DomainInput),
}

/// Why a case has no inputs. For a case of a checked project that fits the machine, only [`InputError::SharedMemory`]
/// can occur.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Sizes that describe no memory, or too much of it.
    #[error("`{tensor}` cannot be generated: {reason}")]
    Layout {
        /// The tensor.
        tensor: String,
        reason: LayoutError,
    },
    /// The values depend on each other, and some of them would share memory.
    #[error(
        "`{tensor}` cannot be generated: its elements share memory, and its fill or domain keeps them apart"
    )]
    SharedMemory {
        /// The tensor.
        tensor: String,
    },
    /// No offsets are as long as they should be.
    #[error(
        "`{tensor}` cannot be generated: {rows} rows of at most {longest} do not add up to {total}"
    )]
    Offsets {
        /// The tensor.
        tensor: String,
        /// Rows that the offsets divide.
        rows: u64,
        /// Maximum indices of a row.
        longest: u64,
        /// The required sum.
        total: u64,
    },
    /// Indices refer to a tensor that has no row offsets.
    #[error(
        "`{tensor}` cannot be generated: the tensor that it refers to is not filled with row offsets"
    )]
    NotOffsets {
        /// The tensor.
        tensor: String,
    },
    /// The fill has no value, or none of this dtype.
    #[error("`{tensor}` cannot be generated: its fill has no value of its dtype")]
    NoValue {
        /// The tensor.
        tensor: String,
    },
}

/// The bytes of each tensor, by its index in the case; `None` for outputs. Gaps between elements hold poison (0xff).
///
/// # Errors
/// The case cannot have inputs: its sizes exceed memory, or its fills contradict them.
pub fn generate(case: &Case, recipe: InputSpec) -> Result<Vec<Option<Vec<u8>>>, InputError> {
    (0..case.tensors.len()).map(|tensor| generate_tensor(case, tensor, recipe)).collect()
}

/// The bytes of one tensor, as from [`generate`]; `None` for outputs and for indices beyond the last tensor.
///
/// # Errors
/// As [`generate`].
pub fn generate_tensor(
    case: &Case,
    tensor: usize,
    recipe: InputSpec,
) -> Result<Option<Vec<u8>>, InputError> {
    let Some(made) = case.tensors.get(tensor) else { return Ok(None) };
    let Some(fill) = made.role.fill() else { return Ok(None) };
    if let InputMode::Perturbed(echo) = recipe.draw {
        return echoed(case, tensor, recipe.seed, echo);
    }
    let plan = Plan::new(case, tensor, fill, recipe)?;
    if let InputMode::Domain(_) = recipe.draw {
        return match domain::class_of(&plan) {
            Some(class) => domain::bytes(&plan, class).map(Some),
            None => generate_tensor(case, tensor, domain::without_class(recipe)),
        };
    }
    plan.bytes().map(Some)
}

/// The beginning of a large tensor that consists of repetitions of it, so that gigabytes need not be generated before
/// they are copied.
///
/// # Errors
/// As [`generate`].
pub fn repeated(
    case: &Case,
    tensor: usize,
    recipe: InputSpec,
) -> Result<Option<Vec<u8>>, InputError> {
    let Some(made) = case.tensors.get(tensor) else { return Ok(None) };
    let Some(fill) = made.role.fill() else { return Ok(None) };
    let plan = Plan::new(case, tensor, fill, recipe)?;
    let repeats = plan.repeats()
        && made.elements > REPEATED as u64
        && plan.layout.is_contiguous()
        && plan.layout.bytes as u64 == made.bytes;
    repeats.then(|| plan.beginning()).transpose()
}

/// The elements of a float tensor as f64, gaps included.
fn widened(tensor: &TensorCase, content: &[u8]) -> Vec<u8> {
    let mut reals = vec![0.0; usize::try_from(tensor.span).unwrap_or(0)];
    load_reals(tensor.dtype, content, &mut reals);
    reals.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// The declared content with the changes of a perturbed input.
fn echoed(
    case: &Case,
    tensor: usize,
    seed: u64,
    echo: PerturbedInput,
) -> Result<Option<Vec<u8>>, InputError> {
    let draw = InputMode::Distribution(Distribution::AsDeclared);
    let mut made = generate_tensor(case, tensor, InputSpec { seed, draw })?;
    if let Some(made) = &mut made {
        for Patch { offset, bytes } in echo.patches(case, tensor, seed)? {
            if let Some(place) = made.get_mut(offset..offset + bytes.len()) {
                place.copy_from_slice(&bytes);
            }
        }
    }
    Ok(made)
}

/// Period of [`InputMode::Repeating`] in elements: a multiple of [`place::CHUNK`], so that no chunk is divided.
const REPEATED: usize = 256 * place::CHUNK;

/// One tensor about to be made.
struct Plan<'a> {
    case: &'a Case,
    tensor: usize,
    made: &'a TensorCase,
    fill: &'a Fill<u64>,
    layout: Layout,
    /// Whether each element has a separate address, except for sharing through a stride of 0.
    apart: bool,
    recipe: InputSpec,
    stream: Stream,
}

impl<'a> Plan<'a> {
    fn new(
        case: &'a Case,
        tensor: usize,
        fill: &'a Fill<u64>,
        recipe: InputSpec,
    ) -> Result<Self, InputError> {
        let made = &case.tensors[tensor];
        let layout = Layout::new(made)
            .map_err(|reason| InputError::Layout { tensor: made.name.clone(), reason })?
            .without_repetition();
        let apart = !layout.shares_memory();
        let layout = if apart { layout } else { layout.whole_span() };
        let stream = Stream::new(recipe.seed, tensor as u32);
        Ok(Self { case, tensor, made, fill, layout, apart, recipe, stream })
    }

    fn bytes(&self) -> Result<Vec<u8>, InputError> {
        let dtype = self.made.dtype;
        if self.repeats() {
            return self.repeating();
        }
        if dtype.is_packed() {
            let random = matches!(self.fill, Fill::PackedWeights);
            return self.place(|first, bytes| {
                if random {
                    reals::random_bytes(self.stream, first / 2, bytes);
                } else {
                    bytes.fill(0);
                }
            });
        }
        match dtype.family() {
            Family::Float if self.made.domain == Domain::Probability => {
                let mut rows = Probabilities::new(self)?;
                self.place(|first, bytes| rows.chunk(first, bytes))
            }
            Family::Float => {
                let mut reals = Reals::new(self)?;
                self.place(|first, bytes| reals.chunk(first, bytes))
            }
            Family::Signed | Family::Unsigned | Family::Boolean => {
                let mut wholes = Integers::new(self)?;
                self.place(|first, bytes| wholes.chunk(first, bytes))
            }
        }
    }

    /// Whether the beginning is repeated: integers are, if no element depends on another one or on its place.
    fn repeats(&self) -> bool {
        let is_independent = match self.fill {
            Fill::Normal { .. }
            | Fill::Uniform { .. }
            | Fill::Integers { .. }
            | Fill::Ones
            | Fill::Zeros
            | Fill::Constant(_)
            | Fill::Mask { .. }
            | Fill::HeavyTail { .. } => true,
            Fill::Permutation
            | Fill::SortedOffsets { .. }
            | Fill::SortedIndices { .. }
            | Fill::CausalMask
            | Fill::Labels { .. }
            | Fill::PackedWeights => false,
        };
        self.recipe.draw == InputMode::Repeating
            && !self.made.dtype.is_packed()
            && match self.made.dtype.family() {
                Family::Float => self.made.domain != Domain::Probability,
                Family::Signed | Family::Unsigned | Family::Boolean => is_independent,
            }
    }

    /// The beginning that is repeated.
    fn beginning(&self) -> Result<Vec<u8>, InputError> {
        let mut beginning = vec![0; REPEATED * self.made.dtype.address_bytes() as usize];
        let mut fill = |chunk: &mut dyn FnMut(u64, &mut [u8])| {
            let bytes = place::CHUNK * self.made.dtype.address_bytes() as usize;
            for (index, slice) in beginning.chunks_mut(bytes).enumerate() {
                chunk((index * place::CHUNK) as u64, slice);
            }
        };
        match self.made.dtype.family() {
            Family::Float => {
                let mut reals = Reals::new(self)?;
                fill(&mut |first, bytes| reals.chunk(first, bytes));
            }
            Family::Signed | Family::Unsigned | Family::Boolean => {
                let mut wholes = Integers::new(self)?;
                fill(&mut |first, bytes| wholes.chunk(first, bytes));
            }
        }
        Ok(beginning)
    }

    /// Repetitions of the beginning.
    fn repeating(&self) -> Result<Vec<u8>, InputError> {
        let beginning = self.beginning()?;
        self.place(|first, bytes| {
            let start = (first as usize % REPEATED) * (beginning.len() / REPEATED);
            bytes.copy_from_slice(&beginning[start..start + bytes.len()]);
        })
    }

    fn place(&self, chunk: impl FnMut(u64, &mut [u8])) -> Result<Vec<u8>, InputError> {
        place::place(&self.layout, self.made.dtype, chunk)
            .map_err(|reason| self.layout_error(reason))
    }

    fn layout_error(&self, reason: LayoutError) -> InputError {
        InputError::Layout { tensor: self.made.name.clone(), reason }
    }

    /// The last dimensions, if each of their elements has a separate address.
    fn inner_dims<const N: usize>(&self) -> Result<[u64; N], InputError> {
        let mut inner = [1; N];
        let sizes = self.made.dims.iter().zip(&self.made.strides);
        let mut apart = self.apart;
        for (slot, (dim, stride)) in inner.iter_mut().rev().zip(sizes.rev()) {
            apart &= *dim == 1 || *stride > 0;
            *slot = *dim;
        }
        if apart { Ok(inner) } else { Err(self.shared()) }
    }

    /// Refuses tensors whose elements share memory.
    fn require_apart(&self) -> Result<(), InputError> {
        if self.apart && self.layout.elements() == self.made.elements {
            Ok(())
        } else {
            Err(self.shared())
        }
    }

    fn shared(&self) -> InputError {
        InputError::SharedMemory { tensor: self.made.name.clone() }
    }

    fn no_value(&self) -> InputError {
        InputError::NoValue { tensor: self.made.name.clone() }
    }
}
