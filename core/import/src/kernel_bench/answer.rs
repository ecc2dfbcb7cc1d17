//! An answer of KernelBench: a class `ModelNew` whose `forward` calls one wrapper of an extension, or one function that
//! launches Triton kernels.
//!
//! The function becomes a kernel of the task's project: its tensors are the inputs, weights and outputs of the task.

use std::collections::BTreeMap;
use std::path::Path;

use lightbench_cuda_source::torch_wrapper::{
    Known, KnownInput, ParameterKind, TensorOrigin, Wrapper, read_wrapper,
};
use lightbench_cuda_source::{Source, normalised};
use lightbench_project::manifest::{Manifest, RoleWritten, TensorWritten};
use lightbench_python_source::{Class, Function, Module, Statement};

use super::KernelBench;
use super::forward::{Forward, Passed};
use crate::draft::{KernelFile, declared};
use crate::error::ImportError;
use crate::extension::{ExtensionSource, is_extension, kernel_file, refusal_error, sources};
use crate::input::InputFile;
use crate::names::file_name;
use crate::python;
use crate::report::Report;
use crate::triton::{self, KnownInputs, is_triton};
use crate::wrapper::interface::{Interface, Role, ScalarSource};

/// What an answer has.
const EXPECTED: &str = "a class `ModelNew` whose `forward` passes its inputs and weights to one function: of `load_inline`, or of the file, with Triton kernels";

/// The kernel of an answer.
///
/// # Errors
///
/// The line of the answer, and what is there that a launch block cannot express.
pub(super) fn kernel(
    file: &InputFile,
    task: &KernelBench,
    manifest: &Manifest,
    report: &mut Report,
) -> Result<KernelFile, ImportError> {
    let refused =
        |place: String, found: String| ImportError::new(&file.path, place, found, EXPECTED);
    let module = python::read(&file.path, "", &file.text)?;
    let class = class(&module, "ModelNew");
    let class = class.ok_or_else(|| refused(String::new(), "no class `ModelNew`".to_owned()))?;
    let names = parameters(class_of_task(&task.module));
    let forward = Forward::read(&module, class, &names, manifest)
        .map_err(|refusal| refused(format!("line {}", refusal.line), refusal.reason))?;
    for (line, attribute) in &forward.attributes {
        if class_of_task(&task.module).map(|class| making(&task.text, class, attribute))
            != Some(making(&file.text, class, attribute))
        {
            let found =
                format!("`self.{attribute}`, which the answer does not make as the task does");
            return Err(refused(format!("line {line}"), found));
        }
    }
    let at = format!("line {}", forward.line);
    let located = |found: String| refused(at.clone(), found);
    let name = kernel_name(&file.path);
    let python_function = module.function(&forward.function).filter(|_| is_triton(file));
    // Questions about shapes and dtypes are those of a new project; this one states them.
    let mut own = Report::new(report.format);
    let (kernel, notes) = if let Some(function) = python_function {
        let known = known_inputs(function, &forward, manifest);
        let reading = triton::read_function(&file.text, &forward.function, &known);
        let reading = reading.map_err(located)?;
        let wrapper = bound(reading.wrapper.clone(), &name, &forward, manifest).map_err(located)?;
        let (interface, required) = interface(&wrapper, manifest, &mut own).map_err(located)?;
        let path = file.path.with_file_name(format!("{name}.py"));
        let kernel = triton::kernel_file::kernel(
            &InputFile { path, ..file.clone() },
            &reading,
            &interface,
            &required,
        )?;
        report.carried.push(format!("kernels/{}: the file, after its launches", kernel.name));
        (kernel, reading.wrapper.notes)
    } else {
        let sources = if is_extension(file) { sources::read(file)? } else { Vec::new() };
        let source = sources.into_iter().find(|each| each.functions.contains(&forward.function));
        let source = source.ok_or_else(|| {
            let function = &forward.function;
            located(format!(
                "`{function}` is no function of the file or of a call of `load_inline`"
            ))
        })?;
        let source = ExtensionSource { cuda: normalised(&source.cuda), ..source };
        let wrapper = wrapper(&file.path, &source, &forward, manifest)?;
        let wrapper = bound(wrapper, &name, &forward, manifest).map_err(located)?;
        let (interface, required) = interface(&wrapper, manifest, &mut own).map_err(located)?;
        let kernel = kernel_file::kernel(&file.path, &source, &interface, &required, report)?;
        (kernel, wrapper.notes.clone())
    };
    for note in notes {
        let what = format!("`{}`", note.found);
        if !report.left_out.iter().any(|part| part.what == what) {
            report.leave_out(what, note.kind.words());
        }
    }
    Ok(kernel)
}

/// The wrapper with the names of the project.
fn bound(
    mut wrapper: Wrapper,
    name: &str,
    forward: &Forward,
    manifest: &Manifest,
) -> Result<Wrapper, String> {
    rename(&mut wrapper, forward, manifest)?;
    name.clone_into(&mut wrapper.name);
    Ok(wrapper)
}

/// The wrapper's tensors as those of the project, and its checks as conditions of the launch block.
fn interface<'w>(
    wrapper: &'w Wrapper,
    manifest: &Manifest,
    report: &mut Report,
) -> Result<(Interface<'w>, Vec<String>), String> {
    let interface = Interface::new(wrapper, &shapes(wrapper, manifest), report);
    check(&interface, manifest)?;
    let required = interface.required();
    Ok((interface, required))
}

/// What the project states about the parameters of a Python function.
fn known_inputs(function: &Function, forward: &Forward, manifest: &Manifest) -> KnownInputs {
    let mut known = KnownInputs::default();
    for (parameter, passed) in python::parameters(function).zip(&forward.arguments) {
        match passed {
            Passed::Tensor(name) => {
                let stated = declared(manifest, name).map(|own| (own.dtype, own.shape.len()));
                known.tensors.extend(stated.map(|stated| (parameter.name.clone(), stated)));
            }
            Passed::Scalar(name) => {
                let scalar = manifest.scalars.iter().find(|scalar| scalar.name == *name);
                known.numbers.extend(scalar.map(|own| (parameter.name.clone(), own.dtype)));
            }
            Passed::Number(_) => {}
        }
    }
    known
}

/// The last class of a name, which counts in Python.
fn class<'m>(module: &'m Module, name: &str) -> Option<&'m Class> {
    module.classes().filter(|class| class.name == name).last()
}

fn class_of_task(task: &Module) -> Option<&Class> {
    class(task, "Model")
}

/// The statements outside `forward` that mention an attribute of the model, without white space.
fn making(text: &str, class: &Class, attribute: &str) -> Vec<String> {
    let own = format!("self.{attribute}");
    let statements = class.body.iter().flat_map(Statement::inner);
    let outside =
        class.method("forward").map(|forward| forward.body.as_slice()).unwrap_or_default();
    let statements = statements.filter(|statement| !outside.contains(statement));
    let words = statements.filter_map(|statement| text.get(statement.span.clone()));
    let mentions = words.filter(|words| {
        words.match_indices(&own).any(|(at, _)| {
            let next = words[at + own.len()..].chars().next();
            next.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_')
        })
    });
    mentions.map(|words| words.split_whitespace().collect()).collect()
}

/// The parameters of `forward` without `self`, which are the names of the task's inputs.
fn parameters(class: Option<&Class>) -> Vec<String> {
    let forward = class.and_then(|class| class.method("forward"));
    let all = forward.into_iter().flat_map(python::parameters).skip(1);
    all.map(|parameter| parameter.name.clone()).collect()
}

/// `kernels/naive.cu` is the starter of the project.
fn kernel_name(path: &Path) -> String {
    let stem = file_name(&path.file_stem().unwrap_or_default().to_string_lossy());
    if stem.eq_ignore_ascii_case("naive") { "answer".to_owned() } else { stem }
}

fn outputs(manifest: &Manifest) -> impl Iterator<Item = &TensorWritten> {
    manifest.tensors.iter().filter(|tensor| tensor.role != RoleWritten::Input)
}

/// Reads the wrapper with the dtypes and ranks of the task, and the numbers that `forward` passes.
fn wrapper(
    path: &Path,
    source: &ExtensionSource,
    forward: &Forward,
    manifest: &Manifest,
) -> Result<Wrapper, ImportError> {
    let parsed = Source::parse(&source.cuda)
        .map_err(|error| ImportError::new(path, "", error.to_string(), "CUDA C++"))?;
    let mut known = Known::default();
    for (position, passed) in forward.arguments.iter().enumerate() {
        let input = match passed {
            Passed::Tensor(name) => {
                let own = declared(manifest, name);
                let (dtype, rank) =
                    (own.map(|tensor| tensor.dtype), own.map(|tensor| tensor.shape.len()));
                KnownInput::Tensor { dtype, rank }
            }
            Passed::Number(known) => *known,
            Passed::Scalar(_) => continue,
        };
        known.inputs.insert(position, input);
    }
    let name = forward.function.clone();
    read_wrapper(&parsed, Some(&name), &known)
        .map_err(|refusal| refusal_error(path, source, Some((name, refusal))))
}

/// Gives the wrapper's parameters and results the names of the project.
fn rename(wrapper: &mut Wrapper, forward: &Forward, manifest: &Manifest) -> Result<(), String> {
    let (taken, passed) = (wrapper.parameters.len(), forward.arguments.len());
    if taken != passed {
        let function = &forward.function;
        return Err(format!("`forward` passes {passed} arguments; `{function}` takes {taken}"));
    }
    for (parameter, passed) in wrapper.parameters.iter_mut().zip(&forward.arguments) {
        let written = parameter.name.clone();
        match (&parameter.kind, passed) {
            (ParameterKind::Tensor(index), Passed::Tensor(name)) => {
                if let Some(own) = wrapper.tensors.get_mut(*index) {
                    own.name.clone_from(name);
                }
                parameter.name.clone_from(name);
            }
            (
                ParameterKind::Integer(_) | ParameterKind::Real(_) | ParameterKind::Boolean(_),
                Passed::Scalar(name),
            ) => parameter.name.clone_from(name),
            (ParameterKind::Integer(_), Passed::Number(KnownInput::Integer(_)))
            | (ParameterKind::Boolean(_), Passed::Number(KnownInput::Boolean(_)))
            | (ParameterKind::Tensor(_), Passed::Number(KnownInput::Absent)) => {}
            (ParameterKind::Real(_), Passed::Number(_)) => {
                return Err(format!(
                    "a real number for `{written}`, which is no input of the task; write it in the kernel"
                ));
            }
            (
                ParameterKind::Tensor(_)
                | ParameterKind::Integer(_)
                | ParameterKind::Boolean(_)
                | ParameterKind::Real(_)
                | ParameterKind::Launch(_),
                _,
            ) => return Err(format!("an argument of another kind than `{written}` has")),
        }
    }
    let results: Vec<String> = outputs(manifest).map(|tensor| tensor.name.clone()).collect();
    if results.len() != wrapper.returned.len() {
        let (found, wanted) = (wrapper.returned.len(), results.len());
        return Err(format!("the wrapper returns {found} tensors; the task has {wanted} results"));
    }
    for (index, name) in wrapper.returned.iter().zip(results) {
        match wrapper.tensors.get_mut(*index) {
            Some(own) if matches!(own.origin, TensorOrigin::Allocated(_)) => own.name = name,
            Some(own) => return Err(format!("the wrapper returns its input `{}`", own.name)),
            None => {}
        }
    }
    Ok(())
}

/// The shapes that the task states, by the position of the wrapper's tensor.
fn shapes(wrapper: &Wrapper, manifest: &Manifest) -> BTreeMap<usize, Vec<String>> {
    let tensors = wrapper.tensors.iter().enumerate();
    let received = tensors.filter(|(_, own)| matches!(own.origin, TensorOrigin::Parameter(_)));
    let shape = |own: &TensorWritten| own.shape.iter().map(|size| size.0.clone()).collect();
    received
        .filter_map(|(index, own)| Some((index, shape(declared(manifest, &own.name)?))))
        .collect()
}

/// Whether names, roles and dtypes are those of the project.
fn check(interface: &Interface<'_>, manifest: &Manifest) -> Result<(), String> {
    for own in &interface.tensors {
        let name = &own.name;
        match (own.role, declared(manifest, name)) {
            (Role::Scratch, None) => {}
            (Role::Scratch, Some(_)) => {
                return Err(format!("the wrapper's memory `{name}` has the name of a tensor"));
            }
            (Role::Input | Role::Output | Role::Inout, None) => {
                return Err(format!("the wrapper's tensor `{name}` is no tensor of the task"));
            }
            (role, Some(stated)) if stated.dtype != own.dtype => {
                let kind = if role == Role::Input { "input" } else { "result" };
                let (found, wanted) = (own.dtype.name(), stated.dtype.name());
                return Err(format!("the {kind} `{name}` is {found}; the task has {wanted}"));
            }
            (Role::Input, Some(_)) => {}
            (Role::Output | Role::Inout, Some(stated)) => {
                if stated.role == RoleWritten::Input {
                    return Err(format!("a kernel writes to the input `{name}`"));
                }
            }
        }
    }
    let computed = interface.scalars.iter().find(|scalar| match scalar.source {
        ScalarSource::Computed(_) => true,
        ScalarSource::Parameter(_) => false,
    });
    match computed {
        Some(scalar) => Err(format!(
            "the wrapper computes the real number `{}`, which is no input of the task; compute it in the kernel",
            scalar.name
        )),
        None => Ok(()),
    }
}
