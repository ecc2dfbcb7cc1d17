//! Sizes and alignments of variables and parameters, as the ABI defines them.

use lightbench_ptx::tree::Declaration;

use super::super::error::Problem;
use super::super::isa::Keyword as _;
use super::super::isa::memory::{Space, SpaceWord};
use super::super::isa::scalar::ScalarType;

/// A parameter: its offset and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the PTX; `_` in prototypes.
    pub name: String,
    /// The element type: `b8` for structs.
    pub element: ScalarType,
    /// Offset from the first parameter in bytes.
    pub offset: u64,
    /// Size in bytes; zero for `name[]`, which only declarations of variadic functions have.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// The properties of the memory that a pointer refers to.
    pub pointer: Option<PointerHint>,
}

/// `.ptr .global .align 16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerHint {
    /// The state space, if it is given.
    pub space: Option<Space>,
    /// The alignment of the memory in bytes.
    pub align: u32,
}

/// The limit of a declaration in bytes, far above the memory of a GPU.
const LARGEST: u64 = 1 << 40;

/// The size and alignment of a declaration.
pub(super) struct Extent {
    pub(super) element: ScalarType,
    /// None for `[]`.
    pub(super) bytes: Option<u64>,
    pub(super) align: u32,
}

/// The element type of a declaration.
pub(super) fn element(
    declaration: &Declaration<'_>,
    what: &'static str,
) -> Result<ScalarType, Problem> {
    let known = ScalarType::from_word(declaration.element).filter(|ty| ty.is_register_type());
    known.ok_or_else(|| {
        let reason = match declaration.element {
            "texref" | "samplerref" | "surfref" => {
                "is a texture or surface: not modelled".to_owned()
            }
            other => format!("has the type `.{other}`, which cannot be declared"),
        };
        problem(declaration, what, reason)
    })
}

pub(super) fn extent(declaration: &Declaration<'_>, what: &'static str) -> Result<Extent, Problem> {
    let element = element(declaration, what)?;
    if element == ScalarType::Pred {
        return Err(problem(declaration, what, "is a predicate, which memory does not hold"));
    }
    let unit = u64::from(element.bytes()) * u64::from(declaration.vector);
    let align = declaration.align.unwrap_or(unit);
    if !align.is_power_of_two() || align > 1 << 20 {
        return Err(problem(declaration, what, "is not aligned to a power of two"));
    }
    let product = declaration
        .dimensions
        .iter()
        .try_fold(unit, |product, size| product.checked_mul(*size))
        .filter(|bytes| *bytes <= LARGEST)
        .ok_or_else(|| problem(declaration, what, "is larger than any memory"))?;
    let unsized_array = declaration.dimensions.first() == Some(&0);
    let bytes = (!unsized_array).then_some(product);
    Ok(Extent { element, bytes, align: align as u32 })
}

/// The size of `name[]` or `name[][3]`, which follows from its initialiser: whole rows.
pub(super) fn bytes_from_initial(
    declaration: &Declaration<'_>,
    element: ScalarType,
) -> Result<u64, Problem> {
    let last = declaration.initial.iter().map(|value| value.index).max().unwrap_or(0);
    let inner = declaration.dimensions.get(1..).unwrap_or_default();
    let row = inner
        .iter()
        .try_fold(u64::from(declaration.vector), |row, size| row.checked_mul(*size))
        .filter(|row| *row > 0);
    row.and_then(|row| last.checked_add(1)?.checked_next_multiple_of(row))
        .and_then(|elements| elements.checked_mul(u64::from(element.bytes())))
        .filter(|bytes| *bytes <= LARGEST)
        .ok_or_else(|| problem(declaration, "variable", "is larger than any memory"))
}

/// The kind of function that has parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterOwner {
    /// A kernel: its parameters are in `.param`.
    Kernel,
    /// A function or a prototype: its parameters are in `.param`; scalars may be in `.reg`.
    Function,
}

/// Parameters in memory, one after the other, each at a multiple of its alignment. Those in `.reg` are included:
/// values are always passed through memory.
pub(super) fn parameters(
    declarations: &[Declaration<'_>],
    taker: ParameterOwner,
) -> Result<Vec<Parameter>, (super::super::error::PtxLocation, Problem)> {
    let mut offset = 0_u64;
    let mut parameters = Vec::with_capacity(declarations.len());
    for declaration in declarations {
        let place = declaration.place;
        let reason = match (declaration.space, taker) {
            ("param", _) => None,
            ("reg", ParameterOwner::Function) => {
                let is_scalar = declaration.vector == 1 && declaration.dimensions.is_empty();
                (!is_scalar)
                    .then(|| "is not a scalar; only scalars are passed in `.reg`".to_owned())
            }
            (space, ParameterOwner::Kernel) => {
                Some(format!("lies in `.{space}`; a kernel takes `.param`"))
            }
            (space, ParameterOwner::Function) => {
                Some(format!("lies in `.{space}`; a function takes `.param` and `.reg`"))
            }
        };
        if let Some(reason) = reason {
            return Err((place, problem(declaration, "parameter", reason)));
        }
        let extent = extent(declaration, "parameter").map_err(|problem| (place, problem))?;
        let bytes = extent.bytes.unwrap_or(0);
        offset = offset.next_multiple_of(u64::from(extent.align));
        let pointer = declaration.pointer.map(|hint| PointerHint {
            space: hint.space.and_then(space),
            align: hint.align.unwrap_or(1) as u32,
        });
        parameters.push(Parameter {
            name: declaration.name.to_owned(),
            element: extent.element,
            offset,
            bytes,
            align: extent.align,
            pointer,
        });
        offset += bytes;
    }
    Ok(parameters)
}

/// The state space with this name, if it is memory.
pub(super) fn space(word: &str) -> Option<Space> {
    Some(match SpaceWord::from_spelling(word)? {
        SpaceWord::Const => Space::Const,
        SpaceWord::Global => Space::Global,
        SpaceWord::Local => Space::Local,
        SpaceWord::Param | SpaceWord::ParamEntry | SpaceWord::ParamFunction => Space::Param,
        SpaceWord::Shared | SpaceWord::SharedCta => Space::Shared,
        SpaceWord::SharedCluster => return None,
    })
}

pub(super) fn problem(
    declaration: &Declaration<'_>,
    what: &'static str,
    reason: impl Into<String>,
) -> Problem {
    let name = lightbench_ptx::excerpt(declaration.name).to_owned();
    Problem::Declaration { what, name, reason: reason.into() }
}
