//! The entry: from a file and the name of a wrapper to its description.

use crate::source::Source;
use crate::syntax::part;

use super::description::{Step, Wrapper};
use super::functions;
use super::reader::{Known, Reader};
use super::refusal::{Refusal, Why};
use super::text::Text;

/// Reads the wrapper called `name`, or the only one.
///
/// # Errors
///
/// There is no such wrapper, or it does something that a launch block cannot express.
pub fn read_wrapper(
    source: &Source<'_>,
    name: Option<&str>,
    known: &Known,
) -> Result<Wrapper, Refusal> {
    let function = functions::chosen(source, name)?;
    let mut reader = Reader::new(source, known);
    let text = Text { source, at: None };
    reader.inputs(text, function)?;
    let body =
        part(function, "body").ok_or_else(|| text.refused(function, Why::UnknownFunction))?;
    let result = reader.block(text, body)?;
    if !reader.steps.iter().any(|step| matches!(step, Step::Launch(_))) {
        return Err(text.refused(function, Why::NoLaunch));
    }
    let returned = match result {
        Some(value) => reader.results(text, function, value)?,
        None => Vec::new(),
    };
    let tensors = (0..reader.tensors.len()).map(|index| reader.described(index)).collect();
    Ok(Wrapper {
        name: functions::function_name(source, function).unwrap_or_default().to_owned(),
        place: source.place(function.start_byte()),
        parameters: reader.parameters,
        tensors,
        steps: reader.steps,
        returned,
        requirements: reader.requirements,
        local_names: reader.local_names,
        same_shapes: reader.same_shapes,
        other_dtypes: reader.other_dtypes,
        notes: reader.notes,
    })
}
