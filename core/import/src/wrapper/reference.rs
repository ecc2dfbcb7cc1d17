//! `reference.py`: the file that the user names, fitted to the names of the project, or a function to be written.

use lightbench_project::written::NumberWritten;
use lightbench_python_source::Function;

use super::interface::{Interface, ProjectTensor, Role};
use crate::draft::ReferenceFile;
use crate::error::ImportError;
use crate::input::InputFile;
use crate::python::{parameters, read};
use crate::report::{Place, Report};
use crate::undefined::ask_for_definitions;

/// The text of the reference.
pub(crate) fn text(
    file: Option<&InputFile>,
    interface: &Interface<'_>,
    report: &mut Report,
) -> Result<ReferenceFile, ImportError> {
    let Some(file) = file else {
        report.ask(
            "reference",
            Place::Reference,
            "the file has no reference; write the function, or import again with `--reference FILE.py`",
        );
        return Ok(ReferenceFile::Python(stub(interface)));
    };
    if file.name.ends_with(".cu") {
        report.carried.push(format!("{} as reference.cu", file.name));
        return Ok(ReferenceFile::Cuda(file.text.clone()));
    }
    let module = read(&file.path, "", &file.text)?;
    ask_for_definitions(&module, report);
    let function = module.function("reference").or_else(|| module.function("run"));
    let only = if let [only] = module.functions().as_slice() { Some(*only) } else { None };
    let has_model = module.classes().any(|class| class.name == "Model");
    let mut text = file.text.clone();
    if !["import torch", "from torch", "import numpy", "from numpy"]
        .iter()
        .any(|own| text.contains(own))
    {
        // Without it, the function would get arrays of NumPy.
        text.insert_str(0, "import torch\n\n\n");
    }
    match function.or(only.filter(|_| !has_model)) {
        Some(function) => text.push_str(&adapter(function, interface)),
        None if has_model => {}
        None => {
            let expected = "a function `reference`, or a class `Model`";
            return Err(ImportError::new(&file.path, "", "neither", expected));
        }
    }
    report.carried.push(format!("{} as reference.py", file.name));
    report.first_run.push(
        "reference.py runs in a confined Python process at the first run; the import executed no Python".to_owned(),
    );
    Ok(ReferenceFile::Python(text))
}

/// The inputs of the wrapper in the order of its parameters, by their names in the project.
fn inputs<'a>(interface: &'a Interface<'_>) -> Vec<&'a str> {
    use lightbench_cuda_source::torch_wrapper::ParameterKind;
    let parameters = interface.wrapper.parameters.iter().enumerate();
    parameters
        .filter_map(|(position, parameter)| match parameter.kind {
            ParameterKind::Tensor(tensor) => {
                let tensor: &ProjectTensor = interface.tensors.get(tensor)?;
                (tensor.role != Role::Output).then_some(tensor.name.as_str())
            }
            ParameterKind::Integer(_) | ParameterKind::Real(_) | ParameterKind::Boolean(_) => {
                interface.parameter_scalar(position).map(|scalar| scalar.name.as_str())
            }
            ParameterKind::Launch(_) => None,
        })
        .collect()
}

/// A function that passes the project's inputs by position, if the given one has other names.
fn adapter(function: &Function, interface: &Interface<'_>) -> String {
    let mut known: Vec<&str> = inputs(interface);
    known.extend(interface.tensors.iter().map(|tensor| tensor.name.as_str()));
    known.extend(interface.axes.axes.iter().map(|axis| axis.name.as_str()));
    known.extend(interface.scalars.iter().map(|scalar| scalar.name.as_str()));
    let fits = parameters(function)
        .all(|parameter| known.contains(&parameter.name.as_str()) || parameter.default.is_some());
    if fits && ["reference", "run"].contains(&function.name.as_str()) {
        return String::new();
    }
    let taken: Vec<(&str, &str)> = parameters(function)
        .map(|parameter| parameter.name.as_str())
        .zip(inputs(interface))
        .map(|(own, by_position)| if fits { (own, own) } else { (own, by_position) })
        .collect();
    let received: Vec<&str> = taken.iter().map(|(_, input)| *input).collect();
    let arguments: Vec<String> =
        taken.iter().map(|(own, input)| format!("{own}={input}")).collect();
    format!(
        "\n\n# Appended by the import: names the inputs as project.ron does.\n_imported = {}\n\n\ndef reference({}):\n    return _imported({})\n",
        function.name,
        received.join(", "),
        arguments.join(", ")
    )
}

/// A reference that asks to be written; the project loads, and no kernel is judged.
fn stub(interface: &Interface<'_>) -> String {
    let outputs: Vec<String> = interface
        .tensors
        .iter()
        .enumerate()
        .filter(|(_, tensor)| matches!(tensor.role, Role::Output | Role::Inout))
        .map(|(index, tensor)| format!("{} [{}]", tensor.name, interface.shape(index).join(", ")))
        .collect();
    let values = interface.scalars.iter().map(|scalar| match &scalar.value {
        NumberWritten::Boolean(value) => format!("{} = {value}", scalar.name),
        NumberWritten::Integer(value) => format!("{} = {value}", scalar.name),
        NumberWritten::Real(value) => format!("{} = {value:?}", scalar.name),
    });
    let values: Vec<String> = values.collect();
    let note =
        if values.is_empty() { String::new() } else { format!("    # {}\n", values.join(", ")) };
    format!(
        "import torch\n\n\ndef reference({}):\n    # Returns {}.\n{note}    raise NotImplementedError(\"write the reference: a function of PyTorch that computes the same\")\n",
        inputs(interface).join(", "),
        outputs.join(", ")
    )
}
