//! The reference of a project made from a kernel: a signature and a launch, without the computation.
//!
//! The computation cannot be derived from a signature, and a reference copied from the kernel would repeat its
//! mistakes. So the body does not compile until the user has written it.

use lightbench_primitives::dtype::Dtype;

use super::guess::{Argument, Guess, Role, Tensor};
use super::names::Names;
use super::render::{Subject, compares_by_value, line, list, quoted};

/// One parameter of the reference kernel.
struct Parameter {
    /// The argument of the launch.
    argument: String,
    declaration: String,
    meaning: String,
}

pub(super) fn reference(subject: &Subject, guess: &Guess) -> String {
    let Some(output) = guess.written().next() else { return String::new() };
    let parameters = parameters(guess);
    let arguments: Vec<String> = parameters.iter().map(|one| one.argument.clone()).collect();
    let count = guess.count(output);
    let mut text = String::new();
    line!(text, "/*@ lightbench(");
    line!(text, "    title: {},", quoted(&format!("The definition of {}, in f64", subject.name)));
    line!(text, "    steps: [");
    line!(text, "        // guess: one thread for each element of `{}`.", output.name);
    line!(text, "        launch(");
    line!(text, "            kernel: \"reference\",");
    line!(text, "            args: {},", list(&arguments));
    line!(text, "            grid: [{}],", quoted(&format!("ceil_div({count}, 256)")));
    line!(text, "            block: [256],");
    line!(text, "        ),");
    line!(text, "    ],");
    line!(text, ") @*/\n");
    for header in headers(guess) {
        line!(text, "#include <{header}>");
    }
    line!(
        text,
        "// The reference decides what is right, so it is short and obvious rather than fast."
    );
    for parameter in &parameters {
        line!(text, "//   {}: {}", name_of(&parameter.declaration), parameter.meaning);
    }
    line!(text, "__global__ void reference(");
    let declarations: Vec<String> =
        parameters.iter().map(|one| format!("    {}", one.declaration)).collect();
    line!(text, "{}) {{", declarations.join(",\n"));
    body(&mut text, guess, output);
    line!(text, "}}");
    text
}

fn body(text: &mut String, guess: &Guess, output: &Tensor) {
    let mut names = Names::default();
    for argument in &guess.arguments {
        match argument {
            Argument::Tensor(name) | Argument::Value(name, _) => names.give(name),
        };
    }
    let index = names.give("i");
    line!(
        text,
        "    long long {index} = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;"
    );
    let passed = |name: &str| {
        guess
            .arguments
            .iter()
            .any(|argument| matches!(argument, Argument::Value(value, _) if value == name))
    };
    if guess.shape_axes().iter().all(|axis| passed(&axis.name)) {
        let mut factors: Vec<String> = guess
            .shape_axes()
            .iter()
            .map(|axis| format!("static_cast<long long>({})", axis.name))
            .collect();
        if output.pointee.lanes > 1 {
            factors.push(output.pointee.lanes.to_string());
        }
        line!(text, "    if ({index} >= {}) return;", factors.join(" * "));
    } else {
        line!(
            text,
            "    // The last block reaches past the end: compare {index} with the number of elements."
        );
    }
    line!(text, "    static_assert(false, \"{GUARD}\");");
}

/// The compiler's message until the user has written the reference.
pub(super) const GUARD: &str =
    "write the reference: compute every output in double here, then remove this line";

fn parameters(guess: &Guess) -> Vec<Parameter> {
    let mut names = Names::default();
    for argument in &guess.arguments {
        match argument {
            Argument::Tensor(name) | Argument::Value(name, _) => names.give(name),
        };
    }
    let mut found = Vec::new();
    for argument in &guess.arguments {
        match argument {
            Argument::Value(name, dtype) => found.push(Parameter {
                argument: name.clone(),
                declaration: format!("{} {name}", dtype.c_name()),
                meaning: "as in project.ron".to_owned(),
            }),
            Argument::Tensor(name) => {
                let named = guess.tensors.iter().find(|tensor| tensor.name == *name);
                found.extend(
                    named
                        .into_iter()
                        .flat_map(|tensor| tensor_parameters(guess, tensor, &mut names)),
                );
            }
        }
    }
    found
}

/// A tensor, and for an output with a tolerance the magnitudes that scale the tolerance.
fn tensor_parameters(guess: &Guess, tensor: &Tensor, names: &mut Names) -> Vec<Parameter> {
    let name = &tensor.name;
    let tolerant = compares_by_value(tensor) && tensor.role != Role::Input;
    let dtype = if tolerant { Dtype::F64 } else { tensor.pointee.dtype };
    let qualifier = if tensor.role == Role::Input { "const " } else { "" };
    let mut parameters = vec![Parameter {
        argument: name.clone(),
        declaration: format!("{qualifier}{}* {name}", dtype.c_name()),
        meaning: format!("{} [{}]", tensor.role.word(), guess.shape(tensor).join(", ")),
    }];
    if tolerant {
        let magnitude = names.give(&format!("{name}_magnitude"));
        parameters.push(Parameter {
            argument: format!("{name}.magnitude"),
            declaration: format!("double* {magnitude}"),
            meaning: format!("for each element of {name}, the sum of the magnitudes of its terms"),
        });
    }
    parameters
}

fn name_of(declaration: &str) -> &str {
    declaration.rsplit(' ').next().unwrap_or(declaration)
}

fn headers(guess: &Guess) -> Vec<&'static str> {
    let tensors = guess.tensors.iter().map(|tensor| tensor.pointee.dtype);
    let values = guess.arguments.iter().filter_map(|argument| match argument {
        Argument::Value(_, dtype) => Some(*dtype),
        Argument::Tensor(_) => None,
    });
    let mut headers: Vec<&str> = tensors.chain(values).filter_map(Dtype::c_header).collect();
    headers.sort_unstable();
    headers.dedup();
    headers
}
