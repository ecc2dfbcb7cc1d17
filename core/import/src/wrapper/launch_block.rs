//! Launch blocks: fills and launches of a wrapper in the language of projects.

use std::path::Path;

use lightbench_cuda_source::torch_wrapper::{
    ArgumentValue, Integer, LaunchArgument, Step, WrapperLaunch,
};
use lightbench_primitives::dtype::Dtype;

use super::interface::{Interface, ProjectTensor, Role, launches};
use crate::error::ImportError;
use crate::ron::quoted;

/// The delimiters of a launch block in CUDA C++ and PTX.
pub(crate) const CUDA_COMMENT: [&str; 2] = ["/*@", "@*/"];

/// The delimiters of a launch block in Python.
pub(crate) const PYTHON_STRING: [&str; 2] = ["\"\"\"@", "@\"\"\""];

/// What a launch block has besides the steps of the wrapper.
pub(crate) struct LaunchBlock<'a> {
    /// The imported file, for errors.
    pub(crate) path: &'a Path,
    /// Lines of the file before the text of the wrapper.
    pub(crate) line_offset: usize,
    pub(crate) delimiters: [&'static str; 2],
    /// The field `params`.
    pub(crate) parameters: Option<String>,
    /// Conditions on sizes.
    pub(crate) required: &'a [String],
    /// The field `flags`.
    pub(crate) flags: Option<String>,
}

impl LaunchBlock<'_> {
    /// The block, with a line break at its end. `launch_text` writes one launch, or returns `None` where a size of it has
    /// no formula.
    pub(crate) fn text(
        &self,
        interface: &Interface<'_>,
        launch_text: &dyn Fn(&Interface<'_>, &WrapperLaunch) -> Option<String>,
    ) -> Result<String, ImportError> {
        let [open, close] = self.delimiters;
        let mut text = format!("{open} lightbench(\n");
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        let title = quoted(&format!("The launches of {}", interface.wrapper.name));
        line(format!("    title: {title},"));
        if let Some(parameters) = &self.parameters {
            line(format!("    {parameters},"));
        }
        if !self.required.is_empty() {
            line(format!("    require: [{}],", list(self.required)));
        }
        let scratch = scratch(interface);
        if !scratch.is_empty() {
            line(format!("    scratch: [\n        {},\n    ],", scratch.join(",\n        ")));
        }
        line("    steps: [".to_owned());
        for step in &interface.wrapper.steps {
            match step {
                Step::Fill { tensor, value } => {
                    let own = interface.tensors.get(*tensor);
                    if let Some(tensor) = own.filter(|tensor| is_used(interface, tensor)) {
                        let (name, value) = (quoted(&tensor.name), number(*value, tensor.dtype));
                        line(format!("        fill(buffer: {name}, value: {value}),"));
                    }
                }
                Step::Launch(launch) => {
                    let written = launch_text(interface, launch);
                    line(written.ok_or_else(|| self.no_formula(launch))?);
                }
            }
        }
        line("    ],".to_owned());
        if let Some(flags) = &self.flags {
            line(format!("    {flags},"));
        }
        line(format!(") {close}"));
        Ok(text)
    }

    fn no_formula(&self, launch: &WrapperLaunch) -> ImportError {
        let place = format!("line {}", launch.place.line + self.line_offset);
        let found = format!("a launch of `{}` with sizes that have no formula", launch.kernel);
        ImportError::new(self.path, place, found, "sizes of tensors and integer parameters")
    }
}

/// Whether a tensor has memory in the project.
fn is_used(interface: &Interface<'_>, tensor: &ProjectTensor) -> bool {
    tensor.role != Role::Scratch
        || scratch(interface).iter().any(|text| text.contains(&quoted(&tensor.name)))
}

/// Scratch memory that a launch takes.
fn scratch(interface: &Interface<'_>) -> Vec<String> {
    let launched = |index: usize| {
        launches(interface.wrapper).flat_map(|launch| &launch.arguments).any(
            |argument| matches!(argument.value, ArgumentValue::Tensor { tensor, .. } if tensor == index),
        )
    };
    let tensors = interface.tensors.iter().enumerate();
    tensors
        .filter(|(index, tensor)| tensor.role == Role::Scratch && launched(*index))
        .map(|(index, tensor)| {
            format!(
                "(name: {}, dtype: {}, shape: [{}], init: undefined)",
                quoted(&tensor.name),
                tensor.dtype.name(),
                list(&interface.shape(index))
            )
        })
        .collect()
}

/// A launch of a kernel in CUDA C++ or PTX.
pub(crate) fn launch_text(interface: &Interface<'_>, launch: &WrapperLaunch) -> Option<String> {
    let name = match launch.template_arguments.as_slice() {
        [] => launch.kernel.clone(),
        some => format!("{}<{}>", launch.kernel, some.join(", ")),
    };
    let arguments: Option<Vec<String>> =
        launch.arguments.iter().map(|argument| argument_text(interface, argument)).collect();
    let mut text =
        format!("        launch(kernel: {}, args: [{}],\n", quoted(&name), list(&arguments?));
    text.push_str(&format!(
        "               grid: [{}], block: [{}]",
        extents(interface, &launch.grid)?,
        extents(interface, &launch.block)?
    ));
    if launch.shared != Integer::Literal(0) {
        text.push_str(&format!(", shared: {}", quoted(&interface.axes.text(&launch.shared)?)));
    }
    text.push_str("),");
    Some(text)
}

/// Extents without trailing ones.
pub(crate) fn extents(interface: &Interface<'_>, extents: &[Integer; 3]) -> Option<String> {
    let last = extents.iter().rposition(|extent| *extent != Integer::Literal(1)).unwrap_or(0);
    let texts: Option<Vec<String>> =
        extents.iter().take(last + 1).map(|extent| interface.axes.text(extent)).collect();
    Some(list(&texts?))
}

pub(crate) fn argument_text(
    interface: &Interface<'_>,
    argument: &LaunchArgument,
) -> Option<String> {
    Some(match &argument.value {
        ArgumentValue::Tensor { tensor, .. } => interface.tensors.get(*tensor)?.name.clone(),
        ArgumentValue::Null => "null".to_owned(),
        ArgumentValue::Integer(integer, dtype) => {
            format!("{}: {}", interface.axes.text(integer)?, dtype.name())
        }
        ArgumentValue::Real(real, dtype) => {
            format!("{}: {}", interface.scalar_of(real)?.name, dtype.name())
        }
        ArgumentValue::Boolean(value) => format!("{}: bool", u8::from(*value)),
        ArgumentValue::BooleanParameter(position) => {
            format!("{}: bool", interface.parameter_scalar(*position)?.name)
        }
    })
}

/// Texts in quotes with commas.
pub(crate) fn list(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}

/// A number as RON has it.
fn number(value: f64, dtype: Dtype) -> String {
    if dtype.is_float() { format!("{value:?}") } else { format!("{value:.0}") }
}
