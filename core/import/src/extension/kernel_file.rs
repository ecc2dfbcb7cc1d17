//! The kernel file: the device code of the extension, with the wrapper's launches as launch block.

use std::path::Path;

use lightbench_cuda_source::Source;
use lightbench_cuda_source::torch_wrapper::{
    ArgumentValue, Integer, LaunchArgument, Step, WrapperLaunch,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::scaffold::device_text;

use super::interface::{Interface, Role};
use super::sources::{ExtensionSource, Flag};
use crate::draft::KernelFile;
use crate::error::ImportError;
use crate::report::Report;
use crate::ron::quoted;

/// `kernels/NAME.cu`.
pub(crate) fn kernel(
    path: &Path,
    source: &ExtensionSource,
    interface: &Interface<'_>,
    required: &[String],
    report: &mut Report,
) -> Result<KernelFile, ImportError> {
    let parsed = Source::parse(&source.cuda)
        .map_err(|error| ImportError::new(path, "", error.to_string(), "CUDA C++"))?;
    let code = device_text(&parsed);
    let block = block(path, source, interface, required, report)?;
    let headers = headers(&code, interface);
    let name = crate::names::file_name(&interface.wrapper.name);
    report.carried.push(format!(
        "kernels/{name}.cu: the device code, and the launches of `{}`",
        interface.wrapper.name
    ));
    Ok(KernelFile { name: format!("{name}.cu"), text: format!("{block}{headers}\n{code}") })
}

fn block(
    path: &Path,
    source: &ExtensionSource,
    interface: &Interface<'_>,
    required: &[String],
    report: &mut Report,
) -> Result<String, ImportError> {
    let mut text = String::from("/*@ lightbench(\n");
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("    title: {},", quoted(&format!("The launches of {}", interface.wrapper.name))));
    if !required.is_empty() {
        line(format!("    require: [{}],", list(required)));
    }
    let scratch = scratch(interface);
    if !scratch.is_empty() {
        line(format!("    scratch: [\n        {},\n    ],", scratch.join(",\n        ")));
    }
    line("    steps: [".to_owned());
    for step in &interface.wrapper.steps {
        match step {
            Step::Fill { tensor, value } => {
                if let Some(tensor) =
                    interface.tensors.get(*tensor).filter(|tensor| is_used(interface, tensor))
                {
                    let value = number(*value, tensor.dtype);
                    line(format!(
                        "        fill(buffer: {}, value: {value}),",
                        quoted(&tensor.name)
                    ));
                }
            }
            Step::Launch(launch) => {
                let written = launch_text(interface, launch).ok_or_else(|| {
                    let place = format!("line {}", launch.place.line + source.line_offset);
                    let found =
                        format!("a launch of `{}` with sizes that have no formula", launch.kernel);
                    ImportError::new(path, place, found, "sizes of tensors and integer parameters")
                })?;
                line(written);
            }
        }
    }
    line("    ],".to_owned());
    if let Some(flags) = flags(source, report) {
        line(format!("    flags: [{flags}],"));
    }
    line(") @*/".to_owned());
    Ok(text)
}

/// Whether a tensor has memory in the project.
pub(crate) fn is_used(interface: &Interface<'_>, tensor: &super::interface::ProjectTensor) -> bool {
    tensor.role != Role::Scratch
        || scratch(interface).iter().any(|text| text.contains(&quoted(&tensor.name)))
}

/// Scratch memory that a launch takes.
pub(crate) fn scratch(interface: &Interface<'_>) -> Vec<String> {
    let launched = |index: usize| {
        super::interface::launches(interface.wrapper).flat_map(|launch| &launch.arguments).any(
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

fn launch_text(interface: &Interface<'_>, launch: &WrapperLaunch) -> Option<String> {
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
pub(crate) fn number(value: f64, dtype: Dtype) -> String {
    if dtype.is_float() { format!("{value:?}") } else { format!("{value:.0}") }
}

/// The compiler's options that a launch block has too.
fn flags(source: &ExtensionSource, report: &mut Report) -> Option<String> {
    let mut found: Vec<&str> = Vec::new();
    for flag in &source.flags {
        match Flag::read(flag) {
            Flag::Same(written) => found.push(written),
            Flag::WithoutEffect => {}
            Flag::Unknown => report.leave_out(
                format!("the compiler option `{flag}`"),
                "a launch block has a closed list of flags",
            ),
        }
    }
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then(|| found.join(", "))
}

/// What PyTorch's headers give to device code: half-precision types, their names, loops.
fn headers(code: &str, interface: &Interface<'_>) -> String {
    let templates: Vec<&str> = super::interface::launches(interface.wrapper)
        .flat_map(|launch| launch.template_arguments.iter().map(String::as_str))
        .collect();
    let uses = |word: &str| code.contains(word) || templates.contains(&word);
    let has_half = ["half", "Half"].iter().any(|word| code.contains(word)) || uses("__half");
    let has_bfloat =
        ["bfloat16", "BFloat16"].iter().any(|word| code.contains(word)) || uses("__nv_bfloat16");
    let mut text = String::new();
    if has_half {
        text.push_str("#include <cuda_fp16.h>\n");
    }
    if has_bfloat {
        text.push_str("#include <cuda_bf16.h>\n");
    }
    for namespace in ["at", "c10"] {
        let mut names = String::new();
        if code.contains(&format!("{namespace}::Half")) {
            names.push_str(" using Half = __half;");
        }
        if code.contains(&format!("{namespace}::BFloat16")) {
            names.push_str(" using BFloat16 = __nv_bfloat16;");
        }
        if !names.is_empty() {
            text.push_str(&format!("namespace {namespace} {{{names} }}\n"));
        }
    }
    for name in ["CUDA_KERNEL_LOOP", "CUDA_1D_KERNEL_LOOP"] {
        if code.contains(&format!("{name}(")) && !code.contains(&format!("define {name}")) {
            text.push_str(&format!(
                "#define {name}(i, n) \\\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)\n"
            ));
        }
    }
    text
}
