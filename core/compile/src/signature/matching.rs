//! Whether a compiled kernel takes exactly the arguments that it will be given.
//!
//! The driver copies as many bytes as the kernel declares, whatever the arguments hold: a kernel that declares more would
//! read memory after the arguments. A launch with a mismatch is therefore refused.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_ptx::{ParameterKind, PtxParameter};

use super::ParameterType;

/// Kind and type of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchArgumentKind {
    /// The address of a buffer.
    Buffer(Dtype),
    /// A null pointer, which points to nothing: any pointer takes it.
    Null,
    /// A value.
    Scalar(Dtype),
    /// A tensor map.
    TensorMap,
    /// A struct, a texture object.
    Bytes {
        /// Bytes.
        size: u64,
        /// Bytes.
        align: u64,
    },
}

/// One argument of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchArgument {
    /// The argument's name in the project.
    pub name: String,
    /// What it is.
    pub kind: LaunchArgumentKind,
}

/// One way in which the kernel and its arguments do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// More or fewer parameters than arguments.
    #[error(
        "the kernel declares {declared} parameters but is given {given} arguments: make them agree"
    )]
    Count {
        /// Arguments.
        given: usize,
        /// Parameters.
        declared: usize,
    },
    /// Another number of bytes.
    #[error(
        "parameter {position} (`{name}`) has {declared} bytes but is given {given}: declare {wanted}"
    )]
    Size {
        /// From 1.
        position: usize,
        /// The argument.
        name: String,
        /// Bytes given.
        given: u64,
        /// Bytes declared.
        declared: u64,
        /// What to declare.
        wanted: String,
    },
    /// Another alignment.
    #[error(
        "parameter {position} (`{name}`) is aligned to {declared} bytes but is given {given}: declare {wanted}"
    )]
    Alignment {
        /// From 1.
        position: usize,
        /// The argument.
        name: String,
        /// Bytes given.
        given: u64,
        /// Bytes declared.
        declared: u64,
        /// What to declare.
        wanted: String,
    },
    /// A float where an integer is given, a struct where a scalar is, another format.
    #[error("parameter {position} (`{name}`) is {declared}: declare {wanted}")]
    Kind {
        /// From 1.
        position: usize,
        /// The argument.
        name: String,
        /// What the kernel declares.
        declared: String,
        /// What to declare.
        wanted: String,
    },
    /// A value where the address of a buffer is given.
    #[error("parameter {position} (`{name}`) is {declared}, not a pointer: declare {wanted}")]
    PointerExpected {
        /// From 1.
        position: usize,
        /// The argument.
        name: String,
        /// What the kernel declares.
        declared: String,
        /// What to declare.
        wanted: String,
    },
    /// A pointer where a value is given.
    #[error(
        "parameter {position} (`{name}`) is the pointer {declared}, but a value is given: declare {wanted}"
    )]
    PointerUnexpected {
        /// From 1.
        position: usize,
        /// The argument.
        name: String,
        /// What the kernel declares.
        declared: String,
        /// What to declare.
        wanted: String,
    },
    /// An object of CUTLASS that only its host code can build.
    #[error(
        "parameter {position} is an object of {declared}, which CUTLASS's host code builds and a launch block cannot pass: \
         declare pointers, sizes, structs and tensor maps, and build the object in the kernel"
    )]
    HostBuilt {
        /// From 1.
        position: usize,
        /// Its class, without template arguments.
        declared: String,
    },
    /// A pointer to elements of another type.
    #[error(
        "parameter {position} (`{name}`) points to {declared} but the buffer holds {dtype}: declare a pointer to {dtype}"
    )]
    Pointee {
        /// From 1.
        position: usize,
        /// The argument.
        name: String,
        /// What the kernel's parameter points to.
        declared: String,
        /// What the buffer holds.
        dtype: String,
    },
}

/// Everything that does not fit; empty if the kernel may be launched with these arguments.
///
/// `compiled` is the kernel's parameter list in the PTX, `signature` the types in its symbol,
/// if it has them: without them an `int64_t` cannot be told from a pointer.
#[must_use]
pub fn match_arguments(
    given: &[LaunchArgument],
    compiled: &[PtxParameter],
    signature: Option<&[ParameterType]>,
) -> Vec<Mismatch> {
    let types = signature.filter(|types| types.len() == compiled.len());
    if let Some(host_built) = types.and_then(|types| host_built(given, types)) {
        // Counts and sizes follow from it.
        return vec![host_built];
    }
    let mut mismatches = Vec::new();
    if given.len() != compiled.len() {
        mismatches.push(Mismatch::Count { given: given.len(), declared: compiled.len() });
    }
    for (at, (given, compiled)) in given.iter().zip(compiled).enumerate() {
        let argument = Argument { position: at + 1, given, compiled };
        mismatches.extend(argument.check(types.map(|types| &types[at])));
    }
    mismatches
}

/// The first parameter that is an object of CUTLASS by value, unless a struct or a number is given for it.
fn host_built(given: &[LaunchArgument], types: &[ParameterType]) -> Option<Mismatch> {
    types.iter().enumerate().find_map(|(at, declared)| {
        let ParameterType::Other(name) = declared else { return None };
        let fits = given.get(at).is_some_and(|given| match given.kind {
            LaunchArgumentKind::Scalar(_)
            | LaunchArgumentKind::TensorMap
            | LaunchArgumentKind::Bytes { .. } => true,
            LaunchArgumentKind::Buffer(_) | LaunchArgumentKind::Null => false,
        });
        let is_cutlass = name.starts_with("cutlass::") || name.starts_with("cute::");
        let declared = without_template_arguments(name);
        (is_cutlass && !fits).then_some(Mismatch::HostBuilt { position: at + 1, declared })
    })
}

/// `cutlass::gemm::kernel::GemmUniversal::Params` of the same with template arguments, which may fill pages.
fn without_template_arguments(name: &str) -> String {
    let mut depth = 0_usize;
    let outside = |letter: &char| {
        match letter {
            '<' => depth += 1,
            '>' => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        depth == 0
    };
    name.chars().filter(outside).collect()
}

/// `CUtensorMap` of the driver's header.
const TENSOR_MAP_BYTES: u64 = 128;

struct Argument<'match_> {
    position: usize,
    given: &'match_ LaunchArgument,
    compiled: &'match_ PtxParameter,
}

impl Argument<'_> {
    /// The first mismatch; later ones follow from it.
    fn check(&self, declared: Option<&ParameterType>) -> Option<Mismatch> {
        match &self.given.kind {
            LaunchArgumentKind::Buffer(dtype) => self
                .pointer(declared)
                .or_else(|| declared.and_then(|declared| self.pointee(*dtype, declared))),
            LaunchArgumentKind::Null => self.pointer(declared),
            LaunchArgumentKind::Scalar(dtype) => self
                .value(declared)
                .or_else(|| self.layout(dtype.address_bytes(), dtype.address_bytes()))
                .or_else(|| self.scalar(*dtype, declared)),
            LaunchArgumentKind::TensorMap => {
                // Before CUDA 13 the driver's header aligned the type to 64 bytes.
                let align = if self.compiled.alignment == 128 { 128 } else { 64 };
                self.value(declared).or_else(|| self.layout(TENSOR_MAP_BYTES, align))
            }
            LaunchArgumentKind::Bytes { size, align } => {
                self.value(declared).or_else(|| self.layout(*size, *align))
            }
        }
    }

    /// An address is given, so the parameter must be a pointer.
    fn pointer(&self, declared: Option<&ParameterType>) -> Option<Mismatch> {
        if let Some(
            other @ (ParameterType::Scalar(_) | ParameterType::Char | ParameterType::Other(_)),
        ) = declared
        {
            return Some(self.pointer_expected(other.to_string()));
        }
        let may_be = self.compiled.may_be_pointer();
        (!may_be).then(|| self.pointer_expected(described(self.compiled)))
    }

    /// Compares the elements of a buffer with what the parameter points to.
    fn pointee(&self, dtype: Dtype, declared: &ParameterType) -> Option<Mismatch> {
        let ParameterType::Pointer { to: pointee, .. } = declared else { return None };
        (!accepts(pointee, dtype)).then(|| Mismatch::Pointee {
            position: self.position,
            name: self.given.name.clone(),
            declared: pointee.to_string(),
            dtype: dtype.name().to_owned(),
        })
    }

    /// A value is given, so the parameter must not be a pointer.
    fn value(&self, declared: Option<&ParameterType>) -> Option<Mismatch> {
        let pointer = match declared {
            Some(pointer @ ParameterType::Pointer { .. }) => pointer.to_string(),
            Some(ParameterType::Scalar(_) | ParameterType::Char | ParameterType::Other(_)) => {
                return None;
            }
            None => {
                self.compiled.pointer.as_ref()?;
                described(self.compiled)
            }
        };
        Some(Mismatch::PointerUnexpected {
            position: self.position,
            name: self.given.name.clone(),
            declared: pointer,
            wanted: self.wanted(),
        })
    }

    fn layout(&self, size: u64, align: u64) -> Option<Mismatch> {
        let (position, name) = (self.position, self.given.name.clone());
        let PtxParameter { size: declared, alignment, .. } = *self.compiled;
        let wanted = self.wanted();
        if declared != size {
            return Some(Mismatch::Size { position, name, given: size, declared, wanted });
        }
        (alignment != align).then_some(Mismatch::Alignment {
            position,
            name,
            given: align,
            declared: alignment,
            wanted,
        })
    }

    /// Compares the meanings of two values of equal size.
    fn scalar(&self, dtype: Dtype, declared: Option<&ParameterType>) -> Option<Mismatch> {
        let float = dtype.is_float();
        // Half precision and smaller floats are structs of one member.
        let narrow = float && dtype.address_bytes() <= 2;
        let by_layout = match self.compiled.kind {
            ParameterKind::Integer => !float,
            ParameterKind::Float => float,
            ParameterKind::Bits => true,
            ParameterKind::Bytes => narrow,
            ParameterKind::Opaque => false,
        };
        let by_type = match declared {
            Some(ParameterType::Pointer { .. }) => false,
            // An enum or a struct of the same layout has no dtype.
            Some(
                declared @ (ParameterType::Scalar(_)
                | ParameterType::Char
                | ParameterType::Other(_)),
            ) => declared.scalar().is_none_or(|declared| has_value(declared, dtype)),
            None => true,
        };
        (!(by_layout && by_type)).then(|| Mismatch::Kind {
            position: self.position,
            name: self.given.name.clone(),
            declared: declared.map_or_else(|| described(self.compiled), ParameterType::to_string),
            wanted: self.wanted(),
        })
    }

    fn pointer_expected(&self, declared: String) -> Mismatch {
        Mismatch::PointerExpected {
            position: self.position,
            name: self.given.name.clone(),
            declared,
            wanted: self.wanted(),
        }
    }

    fn wanted(&self) -> String {
        match &self.given.kind {
            LaunchArgumentKind::Buffer(dtype) => format!("a pointer to {}", dtype.name()),
            LaunchArgumentKind::Null => "a pointer".to_owned(),
            LaunchArgumentKind::Scalar(dtype) => dtype.name().to_owned(),
            LaunchArgumentKind::TensorMap => {
                format!("`const __grid_constant__ CUtensorMap {}`", self.given.name)
            }
            LaunchArgumentKind::Bytes { size, align } => {
                format!("a struct of {size} bytes aligned to {align}")
            }
        }
    }
}

fn described(parameter: &PtxParameter) -> String {
    let size = parameter.size;
    if parameter.pointer.is_some() {
        return "an address".to_owned();
    }
    match parameter.kind {
        ParameterKind::Integer => format!("an integer of {size} bytes"),
        ParameterKind::Bits => format!("a value of {size} bytes"),
        ParameterKind::Float => format!("a float of {size} bytes"),
        ParameterKind::Bytes => format!("a struct or array of {size} bytes"),
        ParameterKind::Opaque => "a texture, surface or sampler reference".to_owned(),
    }
}

/// Whether a parameter of the type `declared` takes a value of `given`; signs may differ, as in `size_t rows`.
fn has_value(declared: Dtype, given: Dtype) -> bool {
    let same_size = declared.address_bytes() == given.address_bytes();
    match given.family() {
        Family::Float if !given.is_packed() => declared == given,
        Family::Boolean => same_size && !declared.is_float(),
        Family::Float | Family::Signed | Family::Unsigned => same_size && declared.is_integer(),
    }
}

/// A buffer of the dtype may be read through a pointer to this: as itself, as raw bytes or bits,
/// or as a wider type whose name does not show the element (vectors, structs, `void`).
fn accepts(pointee: &ParameterType, dtype: Dtype) -> bool {
    let scalar = match pointee {
        ParameterType::Scalar(scalar) => *scalar,
        ParameterType::Char | ParameterType::Other(_) => return true,
        ParameterType::Pointer { .. } => return false,
    };
    let same_size = scalar.address_bytes() == dtype.address_bytes();
    let raw_bits = scalar.family() == Family::Unsigned && (same_size || dtype.is_packed());
    scalar == Dtype::U8 || raw_bits || scalar == dtype
}
