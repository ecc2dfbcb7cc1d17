//! Edits of the launch block that keep its order, comments and white space.

use lightbench_project::definition::Argument;
use lightbench_project::launch::{Architecture, MAX_COMBINATIONS};
use lightbench_project::{Definition, Located};

use super::edit::Edit;
use super::kernel_source::{KernelSource, Site};
use super::refusal::Missing;

/// The most parameters of a launch block.
const MAX_PARAMETERS: usize = 16;

/// Fields in the order in which the format's page has them.
const ORDER: [&str; 10] = [
    "title",
    "note",
    "lineage",
    "params",
    "require",
    "constants",
    "arch",
    "tensor_maps",
    "steps",
    "flags",
];

/// A text as RON writes it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// An entry of `params`.
pub(super) fn parameter_entry(name: &str, values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    format!("\"{name}\": [{}]", values.join(", "))
}

impl KernelSource<'_> {
    /// Declares a parameter.
    pub(super) fn new_parameter(&self, name: &str, values: &[i64]) -> Result<Edit, Missing> {
        self.new_parameters(&[(name, values)])
    }

    /// Declares parameters, given by name and values.
    pub(super) fn new_parameters(&self, new: &[(&str, &[i64])]) -> Result<Edit, Missing> {
        let known = &self.launch.parameters;
        let counts = known.iter().map(|each| each.values.len());
        let count = counts
            .chain(new.iter().map(|(_, values)| values.len()))
            .try_fold(1, usize::checked_mul);
        if known.len() + new.len() > MAX_PARAMETERS
            || count.is_none_or(|count| count > MAX_COMBINATIONS)
        {
            let what = format!("{} parameters", known.len());
            return Err(Missing::Contains {
                what,
                why: "the launch block has the largest permitted number of parameters",
            });
        }
        let entries: Vec<String> =
            new.iter().map(|(name, values)| parameter_entry(name, values)).collect();
        Ok(self.new_entry("params", '{', '}', &entries.join(", ")))
    }

    /// Adds a condition.
    pub(super) fn new_condition(&self, condition: &str) -> Edit {
        self.new_conditions(&[condition.to_owned()])
    }

    /// Adds conditions.
    pub(super) fn new_conditions(&self, conditions: &[String]) -> Edit {
        let written: Vec<String> = conditions.iter().map(|each| format!("\"{each}\"")).collect();
        self.new_entry("require", '[', ']', &written.join(", "))
    }

    /// Makes an axis known when the kernel is compiled.
    pub(super) fn new_constant(&self, axis: &str) -> Edit {
        self.new_entry("constants", '[', ']', &format!("\"{axis}\""))
    }

    /// Adds a compiler flag.
    pub(super) fn new_flag(&self, flag: &str) -> Edit {
        self.new_entry("flags", '[', ']', flag)
    }

    /// Compiles for the features of one architecture, which others do not have.
    pub(super) fn specific_architecture(&self) -> Option<Edit> {
        let field = self.block.field("arch");
        match (self.launch.architecture, self.block.has_field("arch")) {
            (Architecture::Specific, _) => None,
            (Architecture::Portable, true) => Some(Edit::replace(field.span.clone(), "specific")),
            (Architecture::Portable, false) => Some(self.new_field("arch", "specific")),
        }
    }

    /// Adds descriptors of the Tensor Memory Accelerator.
    pub(super) fn new_tensor_maps(&self, entries: &[String]) -> Edit {
        if self.block.has_field("tensor_maps") {
            return self.new_entry("tensor_maps", '[', ']', &entries.join(", "));
        }
        let outer = self.indentation(self.block.field("title").span.start);
        let lines: Vec<String> =
            entries.iter().map(|entry| format!("{outer}    {entry},\n")).collect();
        self.new_field("tensor_maps", &format!("[\n{}{outer}]", lines.concat()))
    }

    /// Puts another expression in the place of a size of a launch.
    pub(super) fn new_size(&self, at: &Located, expression: &str) -> Edit {
        Edit::replace(at.span.clone(), quoted(expression))
    }

    /// Adds a value to a parameter's list.
    pub(super) fn new_values(&self, parameter: usize, values: &[i64]) -> Option<Edit> {
        let list = self.block.field("params").value(parameter);
        let text: String = values.iter().map(|value| format!(", {value}")).collect();
        let count = self.launch.parameters.get(parameter)?.values.len();
        let last = list.item(count.checked_sub(1)?);
        Some(Edit::insert(last.span.end, text))
    }

    /// An entry at the end of a list or map; the field is added behind the title where it is not written.
    fn new_entry(&self, field: &str, open: char, close: char, entry: &str) -> Edit {
        if !self.block.has_field(field) {
            let spaced = if open == '{' {
                format!("{{ {entry} }}")
            } else {
                format!("{open}{entry}{close}")
            };
            return self.new_field(field, &spaced);
        }
        let span = self.block.field(field).span.clone();
        let inside = self.source.get(span.clone()).unwrap_or_default();
        let last = self.last_value(field);
        match last {
            Some(end) => Edit::insert(end, format!(", {entry}")),
            None => {
                let at = inside.find(open).map_or(span.end, |open| span.start + open + 1);
                Edit::insert(at, entry)
            }
        }
    }

    /// A field that is not written yet, behind those that come before it.
    fn new_field(&self, field: &str, value: &str) -> Edit {
        let before = ORDER.iter().take_while(|known| **known != field);
        let before = before.filter(|known| self.block.has_field(known)).last();
        let after = self.block.field(before.unwrap_or(&"title")).span.end;
        let indentation = self.indentation(self.block.field("title").span.start);
        Edit::insert(after, format!(",\n{indentation}{field}: {value}"))
    }

    /// Where the last entry of a list or map ends.
    fn last_value(&self, field: &str) -> Option<usize> {
        let list = self.block.field(field);
        let ends = (0..).map_while(|index| {
            let item = list.item(index);
            let value = list.value(index);
            let found = if item.span == list.span { value } else { item };
            (found.span != list.span).then_some(found.span.end)
        });
        ends.last()
    }
}

impl Site<'_> {
    /// Passes more arguments after the others.
    pub(super) fn more_arguments(&self, definition: &Definition, names: &[&str]) -> Edit {
        let new: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let new = new.join(", ");
        if self.at.has_field("args") {
            let args = self.at.field("args");
            let last = args.item(self.step.arguments.len().saturating_sub(1));
            return Edit::insert(last.span.end, format!(", {new}"));
        }
        let known = definition.arguments.iter().map(|argument| match argument {
            Argument::Tensor(index) => definition.tensors.get(*index).map_or("", |one| &one.name),
            Argument::Value(value) => &value.name,
        });
        let known: Vec<String> = known.map(quoted).collect();
        let kernel = self.at.field("kernel").span.end;
        Edit::insert(kernel, format!(", args: [{}, {new}]", known.join(", ")))
    }

    /// Where a size along a dimension is written.
    pub(super) fn size(&self, field: &str, dimension: usize) -> &Located {
        self.at.field(field).item(dimension)
    }
}
