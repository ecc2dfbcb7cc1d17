//! `reference.py`: the text of the definition, and below it what fits its function to the project.

use super::definition::Definition;
use super::interface::{Interface, Takes};
use super::sizes::Sizes;
use super::values::{How, Returned, Values};
use crate::python::takes_any_keyword;

/// Names that the appended function uses besides its parameters.
pub(super) const OWN_NAMES: [&str; 3] = ["_imported", "_returned", "_outputs"];

/// The whole file.
pub(super) fn text(definition: &Definition, values: &Values<'_>) -> String {
    let mut text = definition.reference.clone();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let interface = values.interface;
    if fits(interface, values) {
        return text;
    }
    text.push_str(
        "\n\n# Appended by the import: names the inputs and outputs as project.ron does.\n",
    );
    text.push_str(&format!("_imported = {}\n\n\n", interface.function.name));
    text.push_str(&format!("def reference({}):\n", parameters(values).join(", ")));
    let arguments: Vec<String> = interface
        .bindings
        .iter()
        .filter_map(|binding| {
            let taken = taken(&binding.takes, values)?;
            Some(format!("{}={taken}", binding.parameter))
        })
        .collect();
    text.push_str(&format!("    _returned = _imported({})\n", arguments.join(", ")));
    for result in &values.results {
        if let (How::Added(input), Some(tensor)) = (&result.how, &result.tensor) {
            let other = values.project_name(input).unwrap_or(input);
            text.push_str(&format!("    {tensor} += {other}\n"));
        }
    }
    text.push_str(&outputs(&values.results));
    text
}

/// Whether the text needs nothing appended.
fn fits(interface: &Interface, values: &Values<'_>) -> bool {
    let is_entry = ["reference", "run"].contains(&interface.function.name.as_str());
    let same = interface.bindings.iter().all(|binding| match &binding.takes {
        Takes::Input(input) => {
            *input == binding.parameter && values.project_name(input) == Some(input)
                || values.project_name(input).is_none() && binding.default.is_some()
        }
        Takes::Size(size) => values
            .sizes
            .axis(size)
            .is_some_and(|axis| axis.name == *size && *size == binding.parameter),
        Takes::Tuple(_) | Takes::Nothing => false,
    });
    let plain = values.results.iter().all(|result| {
        result.how == How::Value && result.tensor.as_deref() == Some(result.output.as_str())
    });
    is_entry && same && plain && !takes_any_keyword(&interface.function)
}

/// The parameters of the appended function: everything that the inner one takes, by its name in the project.
fn parameters(values: &Values<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for binding in &values.interface.bindings {
        let own: Vec<&str> = match &binding.takes {
            Takes::Input(input) => named(values, input).into_iter().collect(),
            Takes::Tuple(inputs) => {
                inputs.iter().filter_map(|input| named(values, input)).collect()
            }
            Takes::Size(size) => {
                values.sizes.axis(size).map(|axis| axis.name.as_str()).into_iter().collect()
            }
            Takes::Nothing => Vec::new(),
        };
        names.extend(own.into_iter().map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}

/// The name of an input in the project: a tensor, a scalar, or an axis.
fn named<'v>(values: &'v Values<'_>, input: &str) -> Option<&'v str> {
    let size = |sizes: &'v Sizes| sizes.axis(input).map(|axis| axis.name.as_str());
    values.project_name(input).or_else(|| size(values.sizes))
}

/// The expression that a parameter gets; `None` if it keeps its default.
fn taken(takes: &Takes, values: &Values<'_>) -> Option<String> {
    match takes {
        Takes::Input(input) => match named(values, input) {
            Some(name) => Some(name.to_owned()),
            None => {
                let binding = values.interface.of_input(input)?;
                binding.default.is_none().then(|| "None".to_owned())
            }
        },
        Takes::Tuple(inputs) => {
            let names: Vec<&str> = inputs.iter().filter_map(|input| named(values, input)).collect();
            Some(format!("({},)", names.join(", ")))
        }
        Takes::Size(size) => values.sizes.axis(size).map(|axis| axis.name.clone()),
        Takes::Nothing => Some("None".to_owned()),
    }
}

/// The statements that name the returned values.
fn outputs(results: &[Returned]) -> String {
    let mut text = String::new();
    let returned: Vec<(&str, Option<&str>)> = results
        .iter()
        .filter(|result| result.how == How::Value)
        .map(|result| (result.output.as_str(), result.tensor.as_deref()))
        .collect();
    if returned.is_empty() {
        text.push_str("    return None\n");
        return text;
    }
    let pairs = |wanted: fn(&(&str, Option<&str>)) -> String| {
        returned.iter().map(wanted).collect::<Vec<_>>().join(", ")
    };
    let names = pairs(|(output, tensor)| format!("{:?}", tensor.unwrap_or(output)));
    if returned.iter().any(|(output, tensor)| tensor.is_some_and(|tensor| tensor != *output)) {
        let renamed =
            pairs(|(output, tensor)| format!("{output:?}: {:?}", tensor.unwrap_or(output)));
        text.push_str("    if isinstance(_returned, dict):\n");
        text.push_str(&format!("        _outputs = {{{renamed}}}\n"));
        text.push_str("        return {_outputs.get(name, name): value for name, value in _returned.items()}\n");
    } else {
        text.push_str("    if isinstance(_returned, dict):\n        return _returned\n");
    }
    text.push_str(
        "    if not isinstance(_returned, (tuple, list)):\n        _returned = (_returned,)\n",
    );
    text.push_str(&format!("    _outputs = ({names},)\n"));
    text.push_str("    return {name: value for name, value in zip(_outputs, _returned) if value is not None}\n");
    text
}
