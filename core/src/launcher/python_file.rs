//! A kernel as a Python file: an operator of PyTorch, and what GPU MODE, KernelBench and FlashInfer-Bench call.

use lightbench_primitives::display_text::visible_lines;
use lightbench_primitives::scalar_value::ScalarValue;
use serde_json::json;

use super::torch_wrapper::{AxisSource, TorchWrapper, argument_type, torch_type};
use super::{LauncherRequest, NoLauncher};
use crate::project::launch::Architecture;
use crate::project::tensor::{Role, Tensor};

/// What calls the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonCaller {
    /// Any program that uses PyTorch: an operator of `torch.library`.
    Torch,
    /// GPU MODE: `custom_kernel(data)` of a submission.
    GpuMode,
    /// KernelBench: the class `ModelNew`.
    KernelBench,
    /// FlashInfer-Bench: `run` of a `solution.json`.
    FlashInfer,
}

/// Words that Python does not permit as names.
const KEYWORDS: [&str; 36] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try",
    "while", "with", "yield",
];

/// Names of the file itself.
const OWN: [&str; 8] =
    ["extension", "functools", "load_inline", "operator", "run", "torch", "min", "max"];

/// PyTorch takes these operators away from kernels by default; `cuda_fp16.h` has them.
const HALF_FLAGS: [&str; 4] = [
    "-U__CUDA_NO_HALF_OPERATORS__",
    "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__",
    "-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
];

impl LauncherRequest<'_> {
    /// The text of the file for a caller; JSON for FlashInfer-Bench, Python for the others.
    ///
    /// # Errors
    /// As [`LauncherRequest::launcher`]; and the types and layouts of all tensors must be PyTorch's.
    pub fn python(&self, caller: PythonCaller) -> Result<String, NoLauncher> {
        let cuda = self.launcher()?;
        let wrapper = TorchWrapper::new(self)?;
        let file = PythonFile { subject: self, wrapper: &wrapper };
        let common = file.common(&cuda)?;
        Ok(match caller {
            PythonCaller::Torch => common + &file.operator()?,
            PythonCaller::GpuMode => common + &file.submission(),
            PythonCaller::KernelBench => common + &file.model(),
            PythonCaller::FlashInfer => file.solution(&(common + &file.run())),
        })
    }
}

struct PythonFile<'a> {
    subject: &'a LauncherRequest<'a>,
    wrapper: &'a TorchWrapper<'a>,
}

impl PythonFile<'_> {
    /// The head of the file, both sources and the function that compiles them.
    fn common(&self, cuda: &str) -> Result<String, NoLauncher> {
        let LauncherRequest { definition, launch, candidate, provenance } = self.subject;
        let lines = [
            format!("{}: {}", definition.title, launch.title),
            String::new(),
            format!("Kernel `{}`; candidate {}.", candidate.kernel, candidate.hash),
        ];
        let lines = lines.into_iter().chain(provenance.iter().cloned());
        let needs =
            "Needs PyTorch 2.4 or newer with CUDA, nvcc and ninja: the first call compiles.";
        let lines: Vec<String> = lines.chain([needs.to_owned()]).collect();
        let head: String = lines
            .iter()
            .map(|line| {
                format!("# {}", visible_lines(line).replace('\n', " ")).trim_end().to_owned() + "\n"
            })
            .collect();
        let (cuda, cpp) = (literal(cuda), literal(&self.wrapper.text()?));
        let flags: Vec<String> = self.flags().iter().map(|flag| quoted(flag)).collect();
        let flags = flags.join(", ");
        let (function, into) = (self.wrapper.function(), self.wrapper.function_into());
        let name = &self.wrapper.names.function;
        Ok(format!(
            "{head}import functools\n\nimport torch\nfrom torch.utils.cpp_extension import load_inline\n\n\
             CUDA_SOURCE = {cuda}\n\nCPP_SOURCE = {cpp}\n\n\n\
             @functools.cache\ndef extension():\n    return load_inline(\n        \
             name=\"lightbench_{name}\",\n        cpp_sources=[CPP_SOURCE],\n        \
             cuda_sources=[CUDA_SOURCE],\n        functions=[\"{function}\", \"{into}\"],\n        \
             extra_cuda_cflags=[{flags}],\n    )\n"
        ))
    }

    fn flags(&self) -> Vec<String> {
        let selection = &self.subject.candidate.selection;
        let mut flags = vec!["-O3".to_owned()];
        flags.extend(HALF_FLAGS.map(str::to_owned));
        match selection.architecture {
            // PyTorch names the architectures of the machine's devices.
            Architecture::Portable => {}
            Architecture::Specific => {
                flags.push("-gencode=arch=compute_90a,code=sm_90a".to_owned());
            }
        }
        // PyTorch adds a dialect unless an option begins so.
        flags.extend(selection.options.iter().map(|option| match option.strip_prefix("--std=") {
            Some(dialect) => format!("-std={dialect}"),
            None => option.to_string(),
        }));
        flags
    }

    fn spelled(&self, name: &str) -> String {
        let name = self.wrapper.names.spelled(name);
        let is_taken = KEYWORDS.contains(&name.as_str()) || OWN.contains(&name.as_str());
        if is_taken { format!("{name}_") } else { name }
    }

    fn tensor_names<'a>(&self, tensors: impl Iterator<Item = &'a Tensor>) -> Vec<String> {
        tensors.map(|tensor| self.spelled(&tensor.name)).collect()
    }

    /// Axes that are arguments, and scalars.
    fn value_names(&self) -> Vec<String> {
        let axes = self.wrapper.axis_arguments().map(|axis| self.spelled(&axis.name));
        let scalars = self.subject.definition.scalars.iter();
        axes.chain(scalars.map(|scalar| self.spelled(&scalar.name))).collect()
    }

    /// The same with the values of the definition as defaults.
    fn value_parameters(&self) -> Vec<String> {
        let axes = self.wrapper.axis_arguments().map(|axis| self.spelled(&axis.name));
        let scalars = self
            .subject
            .definition
            .scalars
            .iter()
            .map(|scalar| format!("{}={}", self.spelled(&scalar.name), default(&scalar.value)));
        axes.chain(scalars).collect()
    }

    /// A function that allocates and returns outputs.
    fn function(&self, name: &str) -> String {
        let inputs = self.tensor_names(self.wrapper.inputs());
        let parameters = [inputs.clone(), self.value_parameters()].concat().join(", ");
        let arguments = [inputs, self.value_names()].concat().join(", ");
        let function = self.wrapper.function();
        format!("\n\ndef {name}({parameters}):\n    return extension().{function}({arguments})\n")
    }

    /// A function that is given its outputs after its inputs.
    fn function_into(&self, name: &str) -> String {
        let inputs = self.tensor_names(self.wrapper.inputs());
        let outputs = self.tensor_names(self.wrapper.outputs());
        let tensors = [inputs, outputs].concat();
        let parameters = [tensors.clone(), self.value_parameters()].concat().join(", ");
        let arguments = [tensors, self.value_names()].concat().join(", ");
        let function = self.wrapper.function_into();
        format!("\n\ndef {name}({parameters}):\n    extension().{function}({arguments})\n")
    }

    /// The operator of `torch.library` with its fake implementation.
    fn operator(&self) -> Result<String, NoLauncher> {
        let name = &self.wrapper.names.function;
        let inputs = self.tensor_names(self.wrapper.inputs());
        let mut fake = String::new();
        for axis in &self.subject.definition.axes {
            if let AxisSource::Dimension(tensor, dimension) = self.wrapper.axis_source(axis) {
                let (axis, tensor) = (self.spelled(&axis.name), self.spelled(&tensor.name));
                fake.push_str(&format!("    {axis} = {tensor}.shape[{dimension}]\n"));
            }
        }
        let first = inputs.first().cloned().unwrap_or_default();
        let mut made = Vec::new();
        for tensor in self.wrapper.outputs() {
            let sizes = tensor.shape.iter().map(|size| {
                let spelled = |name: &str| self.spelled(name);
                let size_text = size.python(&spelled);
                size_text.ok_or_else(|| NoLauncher::Formula(size.text().to_owned()))
            });
            let sizes: Result<Vec<String>, NoLauncher> = sizes.collect();
            let sizes: String = sizes?.iter().map(|size| format!("{size}, ")).collect();
            let dtype = torch_type(tensor.dtype).map_or("uint8", |known| known.python);
            made.push(format!("{first}.new_empty(({sizes}), dtype=torch.{dtype})"));
        }
        let returned = match made.as_slice() {
            [] => "None".to_owned(),
            several => several.join(", "),
        };
        let (kernel, schema) = (self.function("operator"), self.schema());
        let parameters = [inputs.clone(), self.value_parameters()].concat().join(", ");
        let arguments = [inputs, self.value_names()].concat().join(", ");
        Ok(format!(
            "{kernel}\n\nLIBRARY = torch.library.Library(\"lightbench_{name}\", \"DEF\")\n\
             LIBRARY.define(\"run{schema}\")\n\
             LIBRARY.impl(\"run\", operator, \"CUDA\")\n\n\n\
             @torch.library.register_fake(\"lightbench_{name}::run\", lib=LIBRARY)\n\
             def fake({parameters}):\n{fake}    return {returned}\n\n\n\
             def {name}({parameters}):\n    return torch.ops.lightbench_{name}.run({arguments})\n"
        ))
    }

    /// The schema of the operator, which names the tensors that it writes.
    fn schema(&self) -> String {
        let mut letters = 'a'..='z';
        let tensors = self.wrapper.inputs().map(|tensor| {
            let name = self.spelled(&tensor.name);
            match tensor.role {
                Role::Inout { .. } => {
                    format!("Tensor({}!) {name}", letters.next().unwrap_or('z'))
                }
                Role::Input { .. } | Role::Output { .. } => format!("Tensor {name}"),
            }
        });
        let tensors: Vec<String> = tensors.collect();
        let axes = self.wrapper.axis_arguments();
        let axes: Vec<String> =
            axes.map(|axis| format!("int {}", self.spelled(&axis.name))).collect();
        let scalars = self.subject.definition.scalars.iter().map(|scalar| {
            let kind = argument_type(scalar).map_or("float", |kind| kind.schema());
            format!("{kind} {}={}", self.spelled(&scalar.name), default(&scalar.value))
        });
        let parameters = [tensors, axes, scalars.collect()].concat().join(", ");
        let returned = match self.wrapper.outputs().count() {
            1 => "Tensor".to_owned(),
            count => format!("({})", vec!["Tensor"; count].join(", ")),
        };
        format!("({parameters}) -> {returned}")
    }

    /// A submission: the data are the inputs, and outputs if the task has them among its data.
    fn submission(&self) -> String {
        let inputs = self.wrapper.inputs().count();
        let outputs = self.wrapper.outputs().count();
        let values = self.value_names().len();
        let mut text = self.function("operator") + &self.function_into("operator_into");
        text.push_str(&format!(
            "\n\ndef custom_kernel(data):\n    \
             data = tuple(data) if isinstance(data, (tuple, list)) else (data,)\n    \
             tensors = sum(isinstance(part, torch.Tensor) for part in data)\n    \
             if tensors == {inputs} and len(data) <= {}:\n        return operator(*data)\n    \
             if tensors == {} and len(data) <= {}:\n        operator_into(*data)\n        \
             outputs = data[{inputs}:{}]\n        return outputs[0] if len(outputs) == 1 else outputs\n    \
             raise ValueError(f\"expected {inputs} tensors, or {} with the outputs after them; found {{tensors}} in {{len(data)}} values\")\n",
            inputs + values,
            inputs + outputs,
            inputs + outputs + values,
            inputs + outputs,
            inputs + outputs,
        ));
        text
    }

    fn model(&self) -> String {
        let inputs = self.tensor_names(self.wrapper.inputs());
        let parameters = [inputs.clone(), self.value_parameters()].concat().join(", ");
        let arguments = [inputs, self.value_names()].concat().join(", ");
        format!(
            "{}\n\nclass ModelNew(torch.nn.Module):\n    \
             def __init__(self, *_arguments, **_named):\n        super().__init__()\n\n    \
             def forward(self, {parameters}):\n        return operator({arguments})\n",
            self.function("operator")
        )
    }

    fn run(&self) -> String {
        self.function_into("run")
    }

    /// A solution whose source is this text.
    fn solution(&self, source: &str) -> String {
        let LauncherRequest { definition, launch, candidate, .. } = self.subject;
        let solution = json!({
            "name": self.wrapper.names.function,
            "definition": definition.name,
            "author": "lightbench",
            "description": format!("{}; candidate {}", launch.title, candidate.hash),
            "spec": {
                "language": "python",
                "target_hardware": ["cuda"],
                "entry_point": "main.py::run",
                "destination_passing_style": true,
                "dependencies": ["torch"],
            },
            "sources": [{ "path": "main.py", "content": source }],
        });
        format!("{solution:#}\n")
    }
}

/// A value as Python and schemas write it.
fn default(value: &ScalarValue) -> String {
    match value {
        ScalarValue::Boolean(true) => "True".to_owned(),
        ScalarValue::Boolean(false) => "False".to_owned(),
        ScalarValue::Integer(value) => value.to_string(),
        ScalarValue::Real(value) => format!("{value:?}"),
    }
}

/// A text as a string of several lines.
fn literal(text: &str) -> String {
    let text = format!("\n{text}");
    let is_plain = !text.contains("'''") && !text.ends_with('\'') && !text.ends_with('\\');
    if is_plain {
        return format!("r'''{text}'''");
    }
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
    format!("'''{escaped}'''")
}

/// A text as a string of one line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
