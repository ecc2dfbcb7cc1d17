//! Variables that hold the index of a thread in its grid, as far as the launches determine it.

use lightbench_cuda_source::Node;
use lightbench_project::argument::ValueSource;
use lightbench_project::launch::Argument;

use super::canonical::{canonical, global_thread, global_thread_along};
use super::function::{Function, Local};
use super::kernel_source::Site;
use super::refusal::Missing;
use super::syntax::{all, contains, squeezed};

/// The one index that the place of a thread is used for.
pub(super) fn thread_index<'s>(function: &Function<'s>) -> Result<Local<'s>, Missing> {
    only_index(function, &["threadIdx", "blockIdx", "gridDim"])
}

/// The index of a thread in its grid, if nothing else in the kernel uses these built-in variables.
pub(super) fn only_index<'s>(
    function: &Function<'s>,
    built_in: &[&str],
) -> Result<Local<'s>, Missing> {
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
        let place = built_in.iter().any(|name| text.starts_with(name));
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

/// The variable with the place of a thread along a dimension.
pub(super) fn coordinate<'s>(function: &Function<'s>, dimension: usize) -> Option<Local<'s>> {
    let wanted = global_thread_along(function, dimension)?;
    let is_plain = |local: &Local<'_>| {
        !local.is_pointer && !local.is_array && !function.is_changed(local.name, function.body)
    };
    function
        .locals()
        .iter()
        .copied()
        .filter(is_plain)
        .find(|local| local.value.is_some_and(|value| canonical(function, value) == wanted))
}

/// The size in a grid of `ceil_div(size, block)` with the block of this launch.
pub(super) fn divided<'s>(site: &Site<'s>, dimension: usize) -> Option<&'s str> {
    let step = site.step;
    let (grid, block) = (step.grid.get(dimension)?, step.block.get(dimension)?);
    let inside = grid.text().trim().strip_prefix("ceil_div(")?.strip_suffix(')')?;
    let (size, by) = inside.rsplit_once(',')?;
    let balanced = size.matches('(').count() == size.matches(')').count();
    (balanced && squeezed(by) == squeezed(block.text())).then_some(size.trim())
}

/// Whether an expression of the code is what a launch calls by these words.
pub(super) fn is_launch_size(
    function: &Function<'_>,
    site: &Site<'_>,
    node: Node<'_>,
    size: &str,
) -> bool {
    launch_size(function, site, node).is_some_and(|text| squeezed(&text) == squeezed(size))
}

/// What a launch calls the value of an expression of the code: an axis, an integer, or an argument.
pub(super) fn launch_size(
    function: &Function<'_>,
    site: &Site<'_>,
    node: Node<'_>,
) -> Option<String> {
    let text = function.subject.of_node(node);
    if let Some(axis) = text.strip_prefix("axis::").or_else(|| text.strip_prefix("AXIS_")) {
        return Some(axis.to_owned());
    }
    if node.kind() == "number_literal" {
        return Some(text.to_owned());
    }
    let index = function.parameters.iter().position(|parameter| parameter.name == text)?;
    let Argument::Value(value) = site.step.arguments.get(index)? else { return None };
    let ValueSource::Formula(formula) = &value.source else { return None };
    let is_argument =
        !function.is_changed(text, function.body) && function.local(text, node).is_none();
    is_argument.then(|| formula.text().to_owned())
}
