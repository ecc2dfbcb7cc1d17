//! Module variables that are filled before the launch: `--var limits=buf:i32[4]=1,2,3,4`.

use lightbench_core::arguments::{Spec, SpecKind};
use lightbench_core::device::{Device, ModuleId};
use lightbench_core::report::document::error::ErrorKind;
use lightbench_core::virtual_gpu::InitialContent;

use super::{POINTER_BYTES, refused, request, unlaunched};
use crate::args::Launch;
use crate::outcome::Outcome;

/// A variable and its initial value.
#[derive(Debug)]
pub(super) struct Variable {
    /// Its name in the PTX.
    symbol: String,
    value: Spec,
}

impl Variable {
    /// Parses `NAME=SPEC`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |reason: String| format!("`--var {text}`: {reason}");
        let (symbol, value) = text
            .split_once('=')
            .filter(|(symbol, _)| !symbol.is_empty())
            .ok_or_else(|| wrong("expected NAME=SPEC, such as `scale=f32:2.5`".to_owned()))?;
        let value = Spec::parse(value).map_err(|error| wrong(error.to_string()))?;
        match &value.kind {
            SpecKind::Same(_) => Err(wrong(
                "a variable cannot hold the address of a buffer; pass the buffer as an argument"
                    .to_owned(),
            )),
            SpecKind::Value { .. } | SpecKind::Bytes(_) | SpecKind::Buffer(_) | SpecKind::Null => {
                Ok(Self { symbol: symbol.to_owned(), value })
            }
        }
    }

    /// The initial bytes; `position` separates the random streams of several variables.
    fn bytes(&self, seed: u64, position: u32) -> Result<Vec<u8>, String> {
        match &self.value.kind {
            SpecKind::Value { bytes, .. } | SpecKind::Bytes(bytes) => Ok(bytes.clone()),
            SpecKind::Null | SpecKind::Same(_) => Ok(vec![0; POINTER_BYTES]),
            SpecKind::Buffer(buffer) => {
                let size = usize::try_from(buffer.size()).map_err(|error| error.to_string())?;
                let initial = buffer.initial(seed, position, request::read_bytes);
                match initial.map_err(|error| error.to_string())? {
                    InitialContent::Uninitialised => Err(format!(
                        "`{}` has no initial values: append `=zeros` or values",
                        self.value.text
                    )),
                    initial @ (InitialContent::Bytes(_) | InitialContent::Repeated(_)) => {
                        Ok(initial.given(size))
                    }
                }
            }
        }
    }
}

/// Fills the variables of a loaded module.
pub(super) fn fill(
    device: &mut dyn Device,
    module: ModuleId,
    variables: &[Variable],
    arguments: &Launch,
) -> Result<(), Outcome> {
    // Positions after the arguments, which count from 0.
    let first = u32::try_from(arguments.arguments.len()).unwrap_or(u32::MAX);
    for (position, variable) in (first..).zip(variables) {
        let bytes = variable.bytes(arguments.seed, position).map_err(|reason| {
            refused(
                ErrorKind::Arguments,
                &format!("`--var {}`: {reason}", variable.symbol),
                arguments,
            )
        })?;
        device
            .fill_variable(module, &variable.symbol, &bytes)
            .map_err(|error| unlaunched(&error, arguments))?;
    }
    Ok(())
}
