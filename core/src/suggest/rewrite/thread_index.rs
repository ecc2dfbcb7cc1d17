//! The one variable that says which thread of a one-dimensional grid this is.

use super::canonical::{canonical, global_thread};
use super::function::{Function, Local};
use super::refusal::Missing;
use super::syntax::{all, contains};

/// The one index that the place of a thread is used for.
pub(super) fn thread_index<'s>(function: &Function<'s>) -> Result<Local<'s>, Missing> {
    let subject = function.subject;
    let wanted = global_thread(function);
    let expected = "a variable with `blockIdx.x * block + threadIdx.x`";
    let form = || Missing::Form { found: function.name.to_owned(), expected };
    let local = function.locals().iter().copied().find(|local| {
        let value = local.value.map(|value| canonical(function, value));
        wanted.is_some() && value == wanted && !local.is_pointer && !local.is_array
    });
    let local = local.ok_or_else(form)?;
    for field in all(function.body, &["field_expression"]) {
        let text = subject.of_node(field);
        let place = ["threadIdx", "blockIdx", "gridDim"].iter().any(|name| text.starts_with(name));
        if place && !contains(local.declaration, field) {
            let used = field.parent().map_or_else(String::new, |node| subject.line_of(node));
            return Err(Missing::OtherUse { name: text.to_owned(), used });
        }
    }
    if function.is_changed(local.name, function.body) {
        let used = format!("{} = …", local.name);
        return Err(Missing::OtherUse { name: local.name.to_owned(), used });
    }
    Ok(local)
}
