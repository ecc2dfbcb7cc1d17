//! Types of the arguments of a launch, to compare with the parameters of the compiled kernel.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::PlannedArgument;
use lightbench_project::launch::plan::PlannedScratch;
use lightbench_project::launch::{Buffer, Launch};
use lightbench_project::tensor::{Role, Tensor};
use lightbench_project::{Definition, KernelRole};

use super::signature::{LaunchArgument, LaunchArgumentKind};

/// The definition and the launch that determine the types of arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaunchContext<'a> {
    pub(super) definition: &'a Definition,
    pub(super) launch: &'a Launch,
    pub(super) scratch: &'a [PlannedScratch],
    pub(super) role: KernelRole,
}

impl LaunchContext<'_> {
    /// The arguments with their types, in order.
    pub(super) fn launch_arguments(&self, arguments: &[PlannedArgument]) -> Vec<LaunchArgument> {
        arguments.iter().map(|argument| self.launch_argument(argument)).collect()
    }

    fn launch_argument(&self, argument: &PlannedArgument) -> LaunchArgument {
        let (name, kind) = match argument {
            PlannedArgument::Buffer(buffer) => {
                let (name, dtype) = self.buffer(*buffer);
                (name, LaunchArgumentKind::Buffer(dtype))
            }
            PlannedArgument::Value { name, c_type, .. } => {
                (name.clone(), LaunchArgumentKind::Scalar(c_type.dtype()))
            }
            PlannedArgument::TensorMap(index) => {
                (self.launch.tensor_maps[*index].name.clone(), LaunchArgumentKind::TensorMap)
            }
            PlannedArgument::Texture(index) => (
                self.launch.textures[*index].name.clone(),
                LaunchArgumentKind::Bytes { size: 8, align: 8 },
            ),
            PlannedArgument::Struct { index, bytes, alignment, .. } => {
                let kind = LaunchArgumentKind::Bytes { size: *bytes, align: *alignment };
                (self.launch.structs[*index].name.clone(), kind)
            }
            PlannedArgument::Null => ("null".to_owned(), LaunchArgumentKind::Null),
            // Names of a project are resolved before; an argument of zero bytes matches no parameter.
            PlannedArgument::Outside(name) => {
                (name.clone(), LaunchArgumentKind::Bytes { size: 0, align: 1 })
            }
        };
        LaunchArgument { name, kind }
    }

    /// Name and dtype; the reference computes its floating-point outputs in f64.
    fn buffer(&self, buffer: Buffer) -> (String, Dtype) {
        match buffer {
            Buffer::Tensor(index) => {
                let tensor = &self.definition.tensors[index];
                (tensor.name.clone(), self.tensor_dtype(tensor))
            }
            Buffer::Scratch(index) => {
                let scratch = &self.scratch[index];
                (scratch.name.clone(), scratch.dtype)
            }
            Buffer::Magnitude(index) => {
                (format!("{}.magnitude", self.definition.tensors[index].name), Dtype::F64)
            }
        }
    }

    fn tensor_dtype(&self, tensor: &Tensor) -> Dtype {
        let written = match tensor.role {
            Role::Input { .. } => false,
            Role::Output { .. } | Role::Inout { .. } => true,
        };
        let exact = self.role == KernelRole::Reference && written && tensor.dtype.is_float();
        if exact { Dtype::F64 } else { tensor.dtype }
    }
}
