//! The kernel file: the Triton file as it is, after a launch block with the launches of its host function.

use std::path::Path;

use lightbench_cuda_source::torch_wrapper::{
    ArgumentValue, ConstexprValue, Integer, LaunchArgument, TritonLaunch, WrapperLaunch,
};

use super::host::HostReading;
use crate::draft::KernelFile;
use crate::error::ImportError;
use crate::input::InputFile;
use crate::ron::quoted;
use crate::wrapper::interface::Interface;
use crate::wrapper::launch_block::{LaunchBlock, PYTHON_STRING, argument_text, extents, list};

/// `kernels/NAME.py`.
pub(crate) fn kernel(
    file: &InputFile,
    reading: &HostReading,
    interface: &Interface<'_>,
    required: &[String],
) -> Result<KernelFile, ImportError> {
    let block = block(&file.path, reading, interface, required)?;
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{}.py", crate::names::file_name(&stem));
    Ok(KernelFile { name, text: format!("{block}{}", file.text) })
}

fn block(
    path: &Path,
    reading: &HostReading,
    interface: &Interface<'_>,
    required: &[String],
) -> Result<String, ImportError> {
    let tuned = reading.tuned.iter().map(|(name, values)| {
        let values: Vec<String> = values.iter().map(i128::to_string).collect();
        format!("{}: [{}]", quoted(name), values.join(", "))
    });
    let tuned: Vec<String> = tuned.collect();
    let block = LaunchBlock {
        path,
        line_offset: 0,
        delimiters: PYTHON_STRING,
        parameters: (!tuned.is_empty()).then(|| format!("params: {{{}}}", tuned.join(", "))),
        required,
        flags: None,
    };
    block.text(interface, &launch_text)
}

fn launch_text(interface: &Interface<'_>, launch: &WrapperLaunch) -> Option<String> {
    let arguments: Option<Vec<String>> =
        launch.arguments.iter().map(|argument| untyped(interface, argument)).collect();
    let mut text = format!(
        "        triton(kernel: {}, args: [{}],\n               grid: [{}]",
        quoted(&launch.kernel),
        list(&arguments?),
        extents(interface, &launch.grid)?
    );
    let triton: &TritonLaunch = launch.triton.as_ref()?;
    if !triton.constexprs.is_empty() {
        let constants: Option<Vec<String>> = triton
            .constexprs
            .iter()
            .map(|(name, value)| Some(format!("{}: {}", quoted(name), constant(interface, value)?)))
            .collect();
        text.push_str(&format!(",\n               constexprs: {{{}}}", constants?.join(", ")));
    }
    let options = [
        ("num_warps", &triton.num_warps),
        ("num_stages", &triton.num_stages),
        ("num_ctas", &triton.num_ctas),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            text.push_str(&format!(", {name}: {}", formula(interface, value)?));
        }
    }
    text.push_str("),");
    Some(text)
}

/// An argument; integers have no type, so that they get the one that Triton's JIT gives for the value.
fn untyped(interface: &Interface<'_>, argument: &LaunchArgument) -> Option<String> {
    match &argument.value {
        ArgumentValue::Integer(integer, _) => interface.axes.text(integer),
        ArgumentValue::Tensor { .. }
        | ArgumentValue::Null
        | ArgumentValue::Real(..)
        | ArgumentValue::Boolean(_)
        | ArgumentValue::BooleanParameter(_) => argument_text(interface, argument),
    }
}

fn constant(interface: &Interface<'_>, value: &ConstexprValue) -> Option<String> {
    Some(match value {
        ConstexprValue::Integer(integer) => formula(interface, integer)?,
        ConstexprValue::Boolean(value) => value.to_string(),
        ConstexprValue::Text(text) => quoted(&format!("'{text}'")),
        ConstexprValue::Type(name) => quoted(name),
        ConstexprValue::None => "None".to_owned(),
    })
}

/// A number as it is, a formula in quotes.
fn formula(interface: &Interface<'_>, integer: &Integer) -> Option<String> {
    Some(match integer {
        Integer::Literal(literal) => literal.to_string(),
        Integer::Fact(_) | Integer::Binary(..) | Integer::NextPowerOfTwo(_) => {
            quoted(&interface.axes.text(integer)?)
        }
    })
}
