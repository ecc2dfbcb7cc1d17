//! Names of a project's tensors, axes, scalars and kernels in a launcher.

use lightbench_primitives::dtype::{CType, Dtype};

use super::function::factor;
use super::steps::launches;
use crate::project::definition::Definition;
use crate::project::expression::{DEVICE_PREFIX, Spelling};
use crate::project::launch::{Buffer, LaunchStep};
use crate::project::{Launch, names::is_identifier};

/// Names that a launcher's functions use themselves. An equal name of the project gets an underscore.
const OWN: [&str; 15] = [
    "arguments",
    "attributes",
    "bytes",
    "cluster",
    "config",
    "end",
    "guard",
    "kernel",
    "lightbench",
    "memory",
    "offsets",
    "scratch",
    "sound",
    "status",
    "stream",
];

/// Numbered names of that kind.
const OWN_BEGINNINGS: [&str; 2] = ["turn_", "value_"];

/// Names of one launcher.
pub(super) struct Names<'a> {
    pub(super) definition: &'a Definition,
    pub(super) launch: &'a Launch,
    /// The function.
    pub(super) function: String,
    /// The namespace of the kernel's code.
    pub(super) space: String,
}

impl<'a> Names<'a> {
    pub(super) fn new(definition: &'a Definition, launch: &'a Launch, kernel: &str) -> Self {
        let function = identifier(&format!("{}_{kernel}", definition.name));
        let space = format!("{function}_code");
        Self { definition, launch, function, space }
    }

    /// The name of a tensor, an axis or a scalar.
    pub(super) fn spelled(&self, name: &str) -> String {
        let is_own = OWN.contains(&name.trim_end_matches('_'))
            || OWN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
        // Names that end in underscores get one more, so that names stay distinct.
        if is_own { format!("{name}_") } else { name.to_owned() }
    }

    /// The address of a step's kernel, from a function inside the kernel's namespace.
    pub(super) fn kernel(&self, step: &LaunchStep) -> String {
        let place = self.launch.kernels().iter().position(|kernel| **kernel == step.kernel);
        format!("{}::launched_{}()", self.space, place.unwrap_or_default())
    }

    /// The index of a buffer in the array of addresses: tensors first, then scratch memory.
    pub(super) fn place(&self, buffer: Buffer) -> usize {
        match buffer {
            Buffer::Tensor(index) | Buffer::Magnitude(index) => index,
            Buffer::Scratch(index) => self.definition.tensors.len() + index,
        }
    }

    /// The address of a buffer as an lvalue.
    pub(super) fn address(&self, buffer: Buffer) -> String {
        format!("memory[{}]", self.place(buffer))
    }

    /// The type of a buffer's elements.
    pub(super) fn dtype(&self, buffer: Buffer) -> Option<Dtype> {
        match buffer {
            Buffer::Tensor(index) | Buffer::Magnitude(index) => {
                self.definition.tensors.get(index).map(|tensor| tensor.dtype)
            }
            Buffer::Scratch(index) => self.launch.scratch.get(index).map(|scratch| scratch.dtype),
        }
    }
}

impl Spelling for Names<'_> {
    fn name(&self, name: &str) -> String {
        if let Some(fact) = name.strip_prefix(DEVICE_PREFIX) {
            return format!("lightbench::{fact}(sound)");
        }
        if self.launch.parameters.iter().any(|parameter| parameter.name == name) {
            return format!("PARAM_{name}");
        }
        self.spelled(name)
    }

    fn max_active_blocks(&self, kernel: &str) -> Option<String> {
        let named =
            |step: &&&LaunchStep| step.kernel.text() == kernel || step.kernel.base() == kernel;
        let mut each: Vec<String> = Vec::new();
        for step in launches(&self.launch.steps).iter().filter(named) {
            let threads: Option<Vec<String>> =
                step.block.iter().map(|size| Some(factor(size.cpp(self)?))).collect();
            let (threads, shared) = (threads?.join(" * "), step.shared.cpp(self)?);
            let function = self.kernel(step);
            let call = format!("lightbench::resident({function}, {threads}, {shared}, sound)");
            if !each.contains(&call) {
                each.push(call);
            }
        }
        match each.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            // The least value for all kernels with the name.
            several => Some(format!("std::min<long long>({{{}}})", several.join(", "))),
        }
    }
}

/// A text as an identifier of C.
fn identifier(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = text.chars().map(letter).collect();
    if is_identifier(&name) { name } else { format!("kernel_{name}") }
}

/// The type of a value in C++.
pub(super) fn value_type(c_type: CType) -> &'static str {
    c_type.dtype().c_name()
}
