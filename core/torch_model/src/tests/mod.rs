//! Text of tasks and what was read from it.

mod dimension;
mod hostile;
mod operations;
mod sizes;
mod tasks;

use lightbench_python_source::Module;

use crate::{Task, read};

/// A task with one class, whose `__init__`, `forward` and inputs are given.
pub(super) fn text(
    constants: &str,
    init: &str,
    forward: &str,
    inputs: &str,
    init_inputs: &str,
) -> String {
    format!(
        "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n{constants}\n\
         class Model(nn.Module):\n{init}\n{forward}\n\
         def get_inputs():\n    return {inputs}\n\
         def get_init_inputs():\n    return {init_inputs}\n"
    )
}

pub(super) fn task(text: &str) -> Result<Task, String> {
    let module = Module::parse(text).map_err(|error| error.to_string())?;
    read(&module).map_err(|refusal| refusal.to_string())
}

/// Names and shapes of the tensors of a task, the outputs last: `x[a, b] y[a]`.
pub(super) fn shapes(task: &Task) -> String {
    let shape = |shape: &[crate::Dimension]| {
        shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let inputs = task.tensors.iter().map(|each| format!("{}[{}]", each.name, shape(&each.shape)));
    let outputs = task.outputs.iter().map(|each| format!("->[{}]", shape(&each.shape)));
    inputs.chain(outputs).collect::<Vec<_>>().join(" ")
}
