//! Compares argument specs with the parameters of the compiled kernel; errors quote the specs.

use super::{Spec, SpecKind, buffer_of};
use crate::compile::KernelFacts;
use crate::compile::signature::{self, LaunchArgument, LaunchArgumentKind, Mismatch};

/// An argument that the kernel does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// Too few or too many.
    #[error("the kernel takes {expected} arguments ({list}); {found} were given")]
    Count {
        /// Parameters.
        expected: usize,
        /// Specs.
        found: usize,
        /// The parameters, as specs would begin.
        list: String,
    },
    /// `same:` with an index at which no earlier argument is a buffer.
    #[error(
        "argument {index} is `{spec}`; expected the index of an earlier argument that is a buffer (counted from 0)"
    )]
    NoBuffer {
        /// From 0.
        index: usize,
        /// The spec.
        spec: String,
    },
    /// An argument of another type or size than the parameter.
    #[error("argument {index} is `{spec}`; the kernel takes {declared} there (counted from 0)")]
    Misfit {
        /// From 0.
        index: usize,
        /// The spec.
        spec: String,
        /// What the kernel takes there.
        declared: String,
    },
}

/// All mismatches. A wrong number of arguments is reported alone, because further mismatches would only follow from it.
#[must_use]
pub fn match_specs(specs: &[Spec], kernel: &KernelFacts) -> Vec<ArgumentError> {
    let types = signature::parameters(&kernel.symbol);
    let types = types.filter(|types| types.len() == kernel.parameters.len());
    let declared: Vec<String> = kernel
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            let spelled = types.as_ref().map(|types| types[index].to_string());
            spelled.unwrap_or_else(|| format!("{} bytes", parameter.size))
        })
        .collect();
    if specs.len() != declared.len() {
        let (expected, found) = (declared.len(), specs.len());
        let list = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
        return vec![ArgumentError::Count { expected, found, list }];
    }
    let dangling = specs.iter().enumerate().filter_map(|(index, spec)| match &spec.kind {
        SpecKind::Same(_) if buffer_of(specs, index).is_none() => {
            Some(ArgumentError::NoBuffer { index, spec: spec.text.clone() })
        }
        SpecKind::Same(_)
        | SpecKind::Null
        | SpecKind::Buffer(_)
        | SpecKind::Value { .. }
        | SpecKind::Bytes(_) => None,
    });
    let dangling: Vec<ArgumentError> = dangling.collect();
    if !dangling.is_empty() {
        return dangling;
    }
    let arguments: Vec<LaunchArgument> = specs
        .iter()
        .zip(&kernel.parameters)
        .enumerate()
        .map(|(index, (spec, parameter))| LaunchArgument {
            name: spec.text.clone(),
            kind: match &spec.kind {
                SpecKind::Value { c_type, .. } => LaunchArgumentKind::Scalar(c_type.dtype()),
                // Bytes have no alignment of their own.
                SpecKind::Bytes(bytes) => LaunchArgumentKind::Bytes {
                    size: bytes.len() as u64,
                    align: parameter.alignment,
                },
                SpecKind::Buffer(_) | SpecKind::Same(_) | SpecKind::Null => {
                    let dtype = buffer_of(specs, index).map(|buffer| buffer.c_type.dtype());
                    dtype.map_or(LaunchArgumentKind::Null, LaunchArgumentKind::Buffer)
                }
            },
        })
        .collect();
    let mismatches = signature::match_arguments(&arguments, &kernel.parameters, types.as_deref());
    let misfit = |mismatch: &Mismatch| {
        let index = position(mismatch)?.checked_sub(1)?;
        let parameter = kernel.parameters.get(index)?;
        let (spec, declared) = (specs.get(index)?, declared.get(index)?);
        let declared = match mismatch {
            Mismatch::Pointee { .. }
            | Mismatch::PointerExpected { .. }
            | Mismatch::HostBuilt { .. } => declared.clone(),
            Mismatch::Count { .. }
            | Mismatch::Size { .. }
            | Mismatch::Alignment { .. }
            | Mismatch::Kind { .. }
            | Mismatch::PointerUnexpected { .. } => {
                if declared.ends_with("bytes") {
                    declared.clone()
                } else {
                    format!("{declared} of {} bytes", parameter.size)
                }
            }
        };
        Some(ArgumentError::Misfit { index, spec: spec.text.clone(), declared })
    };
    mismatches.iter().filter_map(misfit).collect()
}

/// Which argument a mismatch is about.
const fn position(mismatch: &Mismatch) -> Option<usize> {
    match mismatch {
        Mismatch::Count { .. } => None,
        Mismatch::Size { position, .. }
        | Mismatch::Alignment { position, .. }
        | Mismatch::Kind { position, .. }
        | Mismatch::PointerExpected { position, .. }
        | Mismatch::PointerUnexpected { position, .. }
        | Mismatch::HostBuilt { position, .. }
        | Mismatch::Pointee { position, .. } => Some(*position),
    }
}
