//! The C++ between PyTorch and a launch function: it checks tensors and sizes, allocates outputs and scratch memory, and
//! launches on the current stream.

use lightbench_primitives::dtype::{Dtype, Family};

use super::function::{factor, limits};
use super::names::Names;
use super::steps::Statements;
use super::{ARITHMETIC, LauncherRequest, NoLauncher};
use crate::project::expression::Expression;
use crate::project::manifest::Init;
use crate::project::scalar::{Axis, Scalar};
use crate::project::tensor::{Layout, Role, Tensor};

const HEADERS: [&str; 9] = [
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAStream.h",
    "climits",
    "cstdint",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp8.h",
    "cuda_runtime.h",
    "torch/extension.h",
];

/// The wrapper of one launch function.
pub(super) struct TorchWrapper<'a> {
    subject: &'a LauncherRequest<'a>,
    pub(super) names: Names<'a>,
}

/// Where the value of an axis comes from.
pub(super) enum AxisSource<'a> {
    /// A dimension of an input.
    Dimension(&'a Tensor, usize),
    /// An argument of the operator, because no input has the axis as a dimension.
    Argument,
}

impl<'a> TorchWrapper<'a> {
    /// A wrapper, if PyTorch has the types and layouts of all tensors and scalars.
    pub(super) fn new(subject: &'a LauncherRequest<'a>) -> Result<Self, NoLauncher> {
        let names = Names::new(subject.definition, subject.launch, &subject.candidate.kernel);
        for tensor in &subject.definition.tensors {
            torch_type(tensor.dtype).ok_or(NoLauncher::TorchType(tensor.dtype.name()))?;
            if tensor.layout != Layout::RowMajor {
                return Err(NoLauncher::TorchLayout(tensor.name.clone()));
            }
        }
        for scalar in &subject.definition.scalars {
            argument_type(scalar).ok_or(NoLauncher::TorchType(scalar.dtype.name()))?;
        }
        let wrapper = Self { subject, names };
        if wrapper.inputs().next().is_none() {
            return Err(NoLauncher::NoInput);
        }
        Ok(wrapper)
    }

    /// Tensors that the caller gives.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &'a Tensor> {
        self.subject.definition.tensors.iter().filter(|tensor| !is_output(tensor))
    }

    /// Tensors that the wrapper allocates.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'a Tensor> {
        self.subject.definition.tensors.iter().filter(|tensor| is_output(tensor))
    }

    pub(super) fn axis_source(&self, axis: &Axis) -> AxisSource<'a> {
        for tensor in self.inputs() {
            let is_it = |size: &Expression| size.as_name() == Some(axis.name.as_str());
            if let Some(dimension) = tensor.shape.iter().position(is_it) {
                return AxisSource::Dimension(tensor, dimension);
            }
        }
        AxisSource::Argument
    }

    /// Axes that are arguments of the operator.
    pub(super) fn axis_arguments(&self) -> impl Iterator<Item = &'a Axis> {
        let axes = self.subject.definition.axes.iter();
        axes.filter(|axis| matches!(self.axis_source(axis), AxisSource::Argument))
    }

    /// The function that allocates outputs.
    pub(super) fn function(&self) -> String {
        format!("torch_{}", self.names.function)
    }

    /// The function that is given its outputs.
    pub(super) fn function_into(&self) -> String {
        format!("torch_{}_into", self.names.function)
    }

    /// The text of the wrapper.
    pub(super) fn text(&self) -> Result<String, NoLauncher> {
        let headers: String = HEADERS.map(|header| format!("#include <{header}>\n")).concat();
        let declarations = self.declarations();
        let (into, allocating) = (self.filling_function()?, self.allocating_function()?);
        Ok(format!(
            "{headers}\n{ARITHMETIC}}} // namespace lightbench\n\n{declarations}\n{CHECK}\n{into}\n{allocating}"
        ))
    }

    /// The functions of the CUDA part.
    fn declarations(&self) -> String {
        let name = &self.names.function;
        let parameters = self.launch_parameters().join(",\n    ");
        let mut text = format!("extern \"C\" cudaError_t {name}(\n    {parameters});\n");
        if self.prepares() {
            text.push_str(&format!(
                "extern \"C\" cudaError_t {name}_prepare(\n    {parameters});\n"
            ));
        }
        if self.has_scratch() {
            let sizes = self.size_parameters().join(", ");
            text.push_str(&format!("extern \"C\" size_t {name}_scratch_bytes({sizes});\n"));
        }
        text
    }

    fn has_scratch(&self) -> bool {
        !self.subject.launch.scratch.is_empty()
    }

    /// Whether a buffer is cleared before the first launch: the wrapper's are new in every call.
    fn prepares(&self) -> bool {
        let scratch = &self.subject.launch.scratch;
        let outputs = self.outputs().filter_map(|tensor| match &tensor.role {
            Role::Output { init, .. } => Some(*init),
            Role::Input { .. } | Role::Inout { .. } => None,
        });
        outputs.chain(scratch.iter().map(|scratch| scratch.init)).any(|init| init == Init::ZeroOnce)
    }

    fn launch_parameters(&self) -> Vec<String> {
        let tensors = self.subject.definition.tensors.iter().map(|tensor| {
            let read = match tensor.role {
                Role::Input { .. } => "const ",
                Role::Output { .. } | Role::Inout { .. } => "",
            };
            format!("{read}{} *{}", tensor.dtype.c_name(), self.spelled(&tensor.name))
        });
        let scratch = self.has_scratch().then(|| "void *scratch".to_owned());
        let stream = "cudaStream_t stream".to_owned();
        tensors.chain(self.size_parameters()).chain(scratch).chain([stream]).collect()
    }

    fn size_parameters(&self) -> Vec<String> {
        let definition = self.subject.definition;
        let axes =
            definition.axes.iter().map(|axis| format!("long long {}", self.spelled(&axis.name)));
        let scalars = definition.scalars.iter();
        let scalars = scalars
            .map(|scalar| format!("{} {}", scalar.dtype.c_name(), self.spelled(&scalar.name)));
        axes.chain(scalars).collect()
    }

    /// Axes and scalars as the launch function is given them.
    fn size_values(&self) -> Vec<String> {
        let definition = self.subject.definition;
        let axes = definition.axes.iter().map(|axis| self.spelled(&axis.name));
        let scalars = definition.scalars.iter().map(|scalar| {
            format!("static_cast<{}>({})", scalar.dtype.c_name(), self.spelled(&scalar.name))
        });
        axes.chain(scalars).collect()
    }

    /// Axes and scalars that the operator is given.
    fn value_parameters(&self) -> Vec<String> {
        let axes =
            self.axis_arguments().map(|axis| format!("int64_t {}", self.spelled(&axis.name)));
        let scalars = self.subject.definition.scalars.iter().map(|scalar| {
            let name = argument_type(scalar).unwrap_or(ArgumentType::Integer).cpp();
            format!("{name} {}", self.spelled(&scalar.name))
        });
        axes.chain(scalars).collect()
    }

    fn spelled(&self, name: &str) -> String {
        self.names.spelled(name)
    }

    fn filling_function(&self) -> Result<String, NoLauncher> {
        let mut body = Statements::new(&self.names, 1);
        let tensors = || self.inputs().chain(self.outputs());
        let first = self.inputs().next().map(|tensor| self.spelled(&tensor.name));
        let first = first.ok_or(NoLauncher::NoInput)?;
        for tensor in tensors() {
            self.check_tensor(tensor, &first, &mut body);
        }
        self.declare_axes(&mut body);
        body.line("bool sound = true;");
        for tensor in tensors() {
            self.check_sizes(tensor, &mut body)?;
        }
        for axis in &self.subject.definition.axes {
            self.check_axis(axis, &mut body);
        }
        body.line(&format!("const c10::cuda::CUDAGuard guard({first}.device());"));
        body.line("cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();");
        let sizes = self.size_values().join(", ");
        let name = &self.names.function;
        if self.has_scratch() {
            body.line(&format!(
                "const auto bytes = static_cast<int64_t>({name}_scratch_bytes({sizes}));"
            ));
            body.line(&format!(
                "at::Tensor scratch = at::empty({{bytes}}, {first}.options().dtype(at::kByte));"
            ));
        }
        let calls = self.prepares().then(|| format!("{name}_prepare"));
        for call in calls.into_iter().chain([name.clone()]) {
            let arguments = self.launch_values(&sizes).join(", ");
            body.line(&format!("{STATUS_CHECK}({call}({arguments}));"));
        }
        let parameters =
            tensors().map(|tensor| format!("at::Tensor {}", self.spelled(&tensor.name)));
        let parameters: Vec<String> = parameters.chain(self.value_parameters()).collect();
        let (function, parameters) = (self.function_into(), parameters.join(", "));
        Ok(format!("void {function}({parameters}) {{\n{}}}\n", body.text))
    }

    fn launch_values(&self, sizes: &str) -> Vec<String> {
        let tensors = self.subject.definition.tensors.iter().map(|tensor| {
            let read = match tensor.role {
                Role::Input { .. } => "const ",
                Role::Output { .. } | Role::Inout { .. } => "",
            };
            let (dtype, name) = (tensor.dtype.c_name(), self.spelled(&tensor.name));
            format!("static_cast<{read}{dtype} *>({name}.data_ptr())")
        });
        let sizes = (!sizes.is_empty()).then(|| sizes.to_owned());
        let scratch = self.has_scratch().then(|| "scratch.data_ptr()".to_owned());
        tensors.chain(sizes).chain(scratch).chain(["stream".to_owned()]).collect()
    }

    fn check_tensor(&self, tensor: &Tensor, first: &str, body: &mut Statements<'_>) {
        let (name, spelled) = (&tensor.name, self.spelled(&tensor.name));
        let scalar_type = torch_type(tensor.dtype).map_or("kByte", |known| known.cpp);
        let (dimensions, align) = (tensor.shape.len(), tensor.align);
        body.line(&format!(
            "check_tensor({spelled}, \"{name}\", at::{scalar_type}, {dimensions}, {align}, {first});"
        ));
    }

    fn declare_axes(&self, body: &mut Statements<'_>) {
        for axis in &self.subject.definition.axes {
            if let AxisSource::Dimension(tensor, dimension) = self.axis_source(axis) {
                let (name, tensor) = (self.spelled(&axis.name), self.spelled(&tensor.name));
                body.line(&format!("const long long {name} = {tensor}.size({dimension});"));
            }
        }
    }

    fn check_sizes(&self, tensor: &Tensor, body: &mut Statements<'_>) -> Result<(), NoLauncher> {
        for (dimension, size) in tensor.shape.iter().enumerate() {
            let is_source = self.subject.definition.axes.iter().any(|axis| {
                matches!(self.axis_source(axis), AxisSource::Dimension(source, at)
                    if source.name == tensor.name && at == dimension)
            });
            if is_source {
                continue;
            }
            let (name, spelled) = (&tensor.name, self.spelled(&tensor.name));
            let (size, text) = (factor(body.formula(size)?), size.text());
            body.line(&format!(
                "check_size({spelled}.size({dimension}), {size}, sound, \"{name}\", {dimension}, \"{text}\");"
            ));
        }
        Ok(())
    }

    fn check_axis(&self, axis: &Axis, body: &mut Statements<'_>) {
        let Axis { name, min, max, multiple_of, .. } = axis;
        let spelled = self.spelled(name);
        let condition = limits(&spelled, axis);
        let multiple = match multiple_of {
            1 => String::new(),
            multiple => format!(", a multiple of {multiple}"),
        };
        body.line(&format!(
            "TORCH_CHECK({condition}, \"{name}: expected {min} to {max}{multiple}; found \", {spelled});"
        ));
    }

    fn allocating_function(&self) -> Result<String, NoLauncher> {
        let mut body = Statements::new(&self.names, 1);
        let first = self.inputs().next().map(|tensor| self.spelled(&tensor.name));
        let first = first.ok_or(NoLauncher::NoInput)?;
        // Their sizes are those of the outputs.
        for tensor in self.inputs() {
            self.check_tensor(tensor, &first, &mut body);
        }
        self.declare_axes(&mut body);
        body.line("bool sound = true;");
        for axis in &self.subject.definition.axes {
            self.check_axis(axis, &mut body);
        }
        let mut outputs = Vec::new();
        for tensor in self.outputs() {
            let shape: Result<Vec<String>, NoLauncher> =
                tensor.shape.iter().map(|size| body.formula(size)).collect();
            let (shape, name) = (shape?.join(", "), self.spelled(&tensor.name));
            let scalar_type = torch_type(tensor.dtype).map_or("kByte", |known| known.cpp);
            body.line(&format!(
                "at::Tensor {name} = at::empty({{{shape}}}, {first}.options().dtype(at::{scalar_type}));"
            ));
            outputs.push(name);
        }
        body.line("TORCH_CHECK(sound, \"the outputs have no size for these inputs\");");
        let inputs = || self.inputs().map(|tensor| self.spelled(&tensor.name));
        let values = self.axis_arguments().map(|axis| self.spelled(&axis.name));
        let scalars = self.subject.definition.scalars.iter();
        let values = values.chain(scalars.map(|scalar| self.spelled(&scalar.name)));
        let arguments: Vec<String> =
            inputs().chain(outputs.iter().cloned()).chain(values).collect();
        body.line(&format!("{}({});", self.function_into(), arguments.join(", ")));
        let returned = match outputs.as_slice() {
            [] => "void".to_owned(),
            [one] => {
                body.line(&format!("return {one};"));
                "at::Tensor".to_owned()
            }
            several => {
                body.line(&format!("return {{{}}};", several.join(", ")));
                format!("std::tuple<{}>", vec!["at::Tensor"; several.len()].join(", "))
            }
        };
        let parameters = inputs().map(|name| format!("at::Tensor {name}"));
        let parameters: Vec<String> = parameters.chain(self.value_parameters()).collect();
        let (function, parameters) = (self.function(), parameters.join(", "));
        Ok(format!("{returned} {function}({parameters}) {{\n{}}}\n", body.text))
    }
}

const STATUS_CHECK: &str = "check_status";

/// Checks that every wrapper uses.
const CHECK: &str = r#"static void check_tensor(const at::Tensor &tensor, const char *name, at::ScalarType type, int64_t dimensions,
                         uintptr_t align, const at::Tensor &first) {
    TORCH_CHECK(tensor.is_cuda(), name, ": expected a CUDA tensor; found one on ", tensor.device());
    TORCH_CHECK(tensor.device() == first.device(), name, ": expected a tensor on ", first.device(), "; found one on ",
                tensor.device());
    TORCH_CHECK(tensor.scalar_type() == type, name, ": expected elements of type ", type, "; found ",
                tensor.scalar_type());
    TORCH_CHECK(tensor.dim() == dimensions, name, ": expected ", dimensions, " dimensions; found ", tensor.dim());
    TORCH_CHECK(tensor.is_contiguous(), name, ": expected a contiguous tensor; `.contiguous()` gives one");
    TORCH_CHECK(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % align == 0, name,
                ": expected an address that is a multiple of ", align);
}

static void check_size(int64_t found, long long expected, bool sound, const char *name, int dimension,
                       const char *formula) {
    TORCH_CHECK(sound && found == expected, name, ": expected ", formula, " = ", expected, " in dimension ", dimension,
                "; found ", found);
}

static void check_status(cudaError_t status) {
    TORCH_CHECK(status != cudaErrorInvalidValue, "the kernel was not made for these sizes, or the device refuses the "
                "launch; the CUDA source has the conditions");
    TORCH_CHECK(status == cudaSuccess, cudaGetErrorString(status));
}
"#;

const fn is_output(tensor: &Tensor) -> bool {
    match tensor.role {
        Role::Output { .. } => true,
        Role::Input { .. } | Role::Inout { .. } => false,
    }
}

/// A type of elements in PyTorch.
pub(super) struct TorchType {
    /// Its name in the namespace `at`.
    cpp: &'static str,
    /// Its name in the module `torch`.
    pub(super) python: &'static str,
}

/// PyTorch's type; `None` for packed elements.
pub(super) const fn torch_type(dtype: Dtype) -> Option<TorchType> {
    let (cpp, python) = match dtype {
        Dtype::F64 => ("kDouble", "float64"),
        Dtype::F32 => ("kFloat", "float32"),
        Dtype::F16 => ("kHalf", "float16"),
        Dtype::Bf16 => ("kBFloat16", "bfloat16"),
        Dtype::F8E4M3 => ("kFloat8_e4m3fn", "float8_e4m3fn"),
        Dtype::F8E5M2 => ("kFloat8_e5m2", "float8_e5m2"),
        Dtype::I64 => ("kLong", "int64"),
        Dtype::I32 => ("kInt", "int32"),
        Dtype::I16 => ("kShort", "int16"),
        Dtype::I8 => ("kChar", "int8"),
        Dtype::U64 => ("kUInt64", "uint64"),
        Dtype::U32 => ("kUInt32", "uint32"),
        Dtype::U16 => ("kUInt16", "uint16"),
        Dtype::U8 => ("kByte", "uint8"),
        Dtype::Bool => ("kBool", "bool"),
        Dtype::I4 | Dtype::U4 | Dtype::E2M1 => return None,
    };
    Some(TorchType { cpp, python })
}

/// The type of a scalar argument of an operator.
#[derive(Clone, Copy)]
pub(super) enum ArgumentType {
    Boolean,
    Integer,
    Real,
}

impl ArgumentType {
    const fn cpp(self) -> &'static str {
        match self {
            Self::Boolean => "bool",
            Self::Integer => "int64_t",
            Self::Real => "double",
        }
    }

    /// In the schema of an operator.
    pub(super) const fn schema(self) -> &'static str {
        match self {
            Self::Boolean => "bool",
            Self::Integer => "int",
            Self::Real => "float",
        }
    }
}

/// The type of an operator's argument; `None` where C++ has no conversion from it.
pub(super) fn argument_type(scalar: &Scalar) -> Option<ArgumentType> {
    match (scalar.dtype.family(), scalar.dtype) {
        (Family::Boolean, _) => Some(ArgumentType::Boolean),
        (_, Dtype::U64 | Dtype::I4 | Dtype::U4) => None,
        (Family::Signed | Family::Unsigned, _) => Some(ArgumentType::Integer),
        (Family::Float, Dtype::F64 | Dtype::F32) => Some(ArgumentType::Real),
        (Family::Float, _) => None,
    }
}
