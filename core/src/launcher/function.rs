//! The functions of a launcher: the launch function, and, if the kernel needs them, a function for the scratch size and one
//! that prepares memory.

use super::names::Names;
use super::steps::Statements;
use super::{LauncherRequest, NoLauncher};
use crate::project::expression::Expression;
use crate::project::launch::{Buffer, ConstantMemory};
use crate::project::manifest::Init;
use crate::project::scalar::Axis;
use crate::project::tensor::{Layout, Role, Tensor};

/// The text of the functions, and their usage.
pub(super) struct Function {
    pub(super) text: String,
    /// The namespace that they expect the kernel's text in.
    pub(super) space: String,
    /// Lines for the head of the file.
    pub(super) usage: Vec<String>,
}

struct Writer<'a> {
    subject: &'a LauncherRequest<'a>,
    names: &'a Names<'a>,
}

impl Function {
    pub(super) fn new(subject: &LauncherRequest<'_>) -> Result<Self, NoLauncher> {
        let names = Names::new(subject.definition, subject.launch, &subject.candidate.kernel);
        let writer = Writer { subject, names: &names };
        let layout = writer.memory_layout()?;
        let (scratch, prepare) = (writer.scratch_function(), writer.prepare_function());
        let launch = writer.launch_function()?;
        let usage = writer.usage();
        let parts = [Some(writer.kernels()), Some(layout), scratch, prepare, Some(launch)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
        Ok(Self { text, space: names.space.clone(), usage })
    }
}

impl Writer<'_> {
    /// The addresses of the kernels, in their own namespace.
    fn kernels(&self) -> String {
        let each = self.subject.launch.kernels().into_iter().enumerate().map(|(at, kernel)| {
            let name = kernel.text();
            format!("static const void *launched_{at}() {{ return (const void *)&{name}; }}\n")
        });
        let (space, each) = (&self.names.space, each.collect::<String>());
        format!("namespace {space} {{\n{each}}} // namespace {space}\n")
    }

    /// The sizes of all buffers and the offsets of scratch memory: `NAME_memory(axes…, bytes, offsets, sound)`, which
    /// returns the bytes of all scratch memory.
    fn memory_layout(&self) -> Result<String, NoLauncher> {
        let mut body = Statements::new(self.names, 1);
        for (index, tensor) in self.subject.definition.tensors.iter().enumerate() {
            let elements = self.span(tensor, &body)?;
            let bytes = byte_count(elements, tensor.dtype.bits());
            body.line(&format!("bytes[{index}] = {bytes}; // {}", tensor.name));
        }
        body.line("long long end = 0;");
        for (index, scratch) in self.subject.launch.scratch.iter().enumerate() {
            let place = self.names.place(Buffer::Scratch(index));
            let elements = product(&scratch.shape, &body)?;
            let bytes = byte_count(elements, scratch.dtype.bits());
            body.line(&format!("bytes[{place}] = {bytes}; // {}", scratch.name));
            body.line(&format!("offsets[{index}] = end;"));
            body.line(&format!("end += (bytes[{place}] + 255) / 256 * 256;"));
        }
        body.line("return end;");
        let (name, sizes) = (&self.names.function, self.sizes());
        Ok(format!(
            "// Bytes of every buffer, and where each scratch begins in what the caller gives.\n\
             static long long {name}_memory({sizes}, long long *bytes, long long *offsets, bool &sound) {{\n\
             {}}}\n",
            body.text
        ))
    }

    /// Elements from the first to the last of a tensor, gaps included.
    fn span(&self, tensor: &Tensor, body: &Statements<'_>) -> Result<String, NoLauncher> {
        match &tensor.layout {
            Layout::RowMajor => product(&tensor.shape, body),
            Layout::LeadingDimension(leading) => {
                let (rows, last) = tensor.shape.split_at(tensor.shape.len().saturating_sub(1));
                let (rows, last) = (product(rows, body)?, product(last, body)?);
                Ok(format!("({rows} - 1) * ({}) + {last}", body.formula(leading)?))
            }
            Layout::Strides(strides) => {
                let mut reach = "1".to_owned();
                for (size, stride) in tensor.shape.iter().zip(strides) {
                    let (size, stride) = (body.formula(size)?, body.formula(stride)?);
                    reach.push_str(&format!(" + (({size}) - 1) * ({stride})"));
                }
                Ok(reach)
            }
        }
    }

    fn scratch_function(&self) -> Option<String> {
        if self.subject.launch.scratch.is_empty() {
            return None;
        }
        let (name, sizes) = (&self.names.function, self.sizes());
        let mut body = Statements::new(self.names, 1);
        body.line("bool sound = true;");
        let measured = self.measured(&mut body);
        body.line(&format!("const long long end = {measured};"));
        body.line("return sound ? (size_t)end : 0;");
        Some(format!(
            "// Bytes of device memory that a launch needs beside its tensors; 0 for sizes that are not the task's.\n\
             extern \"C\" size_t {name}_scratch_bytes({sizes}) {{\n{}}}\n",
            body.text
        ))
    }

    /// The buffers that are cleared once, before the first launch.
    fn prepare_function(&self) -> Option<String> {
        let once = self.beginning(Init::ZeroOnce);
        if once.is_empty() {
            return None;
        }
        let mut body = Statements::new(self.names, 1);
        body.line("bool sound = true;");
        self.addresses(&mut body);
        for buffer in once {
            body.fill(buffer, &[0]);
        }
        body.line("return status;");
        let (name, parameters) = (&self.names.function, self.parameters().join(",\n    "));
        Some(format!(
            "// Once before the first launch: what every launch leaves as it finds it.\n\
             extern \"C\" cudaError_t {name}_prepare(\n    {parameters}) {{\n{}}}\n",
            body.text
        ))
    }

    fn launch_function(&self) -> Result<String, NoLauncher> {
        let LauncherRequest { definition, launch, candidate, .. } = self.subject;
        let mut body = Statements::new(self.names, 1);
        body.line("bool sound = true;");
        for axis in &definition.axes {
            let limits = limits(&self.names.spelled(&axis.name), axis);
            body.line(&format!("sound = sound && {limits};"));
        }
        for (name, _) in &candidate.selection.constants {
            let axis = self.names.spelled(name);
            body.line(&format!("sound = sound && {axis} == AXIS_{name};"));
        }
        for condition in &launch.require {
            let condition = body.formula(condition)?;
            body.line(&format!("sound = sound && ({condition});"));
        }
        body.line("if (!sound) return cudaErrorInvalidValue;");
        self.addresses(&mut body);
        for ConstantMemory { symbol, buffer } in &launch.constant_memory {
            let (address, place) = (self.names.address(*buffer), self.names.place(*buffer));
            let space = &self.names.space;
            body.line(&format!(
                "status = cudaMemcpyToSymbolAsync({space}::{symbol}, {address}, (size_t)bytes[{place}], 0, \
                 cudaMemcpyDeviceToDevice, stream);"
            ));
            body.line("if (status != cudaSuccess) return status;");
        }
        for buffer in self.beginning(Init::ZeroEachLaunch) {
            body.fill(buffer, &[0]);
        }
        body.steps(&launch.steps)?;
        body.line("return status;");
        let (name, parameters) = (&self.names.function, self.parameters().join(",\n    "));
        Ok(format!(
            "// Puts the launches into the stream; sizes that are not the task's, or that this variant was not made for, are\n\
             // `cudaErrorInvalidValue`.\n\
             extern \"C\" cudaError_t {name}(\n    {parameters}) {{\n{}}}\n",
            body.text
        ))
    }

    /// Declares and computes the sizes of all buffers; `sound` is declared already.
    fn measured(&self, body: &mut Statements<'_>) -> String {
        let (tensors, scratch) =
            (self.subject.definition.tensors.len(), self.subject.launch.scratch.len());
        body.line(&format!("long long bytes[{}] = {{}};", tensors + scratch));
        body.line(&format!("long long offsets[{}] = {{}};", scratch.max(1)));
        let sizes = self.size_names();
        format!("{}_memory({sizes}, bytes, offsets, sound)", self.names.function)
    }

    /// Sizes and addresses of all buffers.
    fn addresses(&self, body: &mut Statements<'_>) {
        let measured = self.measured(body);
        body.line(&format!("{measured};"));
        body.line("if (!sound) return cudaErrorInvalidValue;");
        let tensors = &self.subject.definition.tensors;
        let tensors = tensors.iter().map(|tensor| self.names.spelled(&tensor.name));
        let tensors = tensors.map(|name| format!("(void *){name}"));
        let places = 0..self.subject.launch.scratch.len();
        let places = places.map(|at| format!("(char *)scratch + offsets[{at}]"));
        let all: Vec<String> = tensors.chain(places).collect();
        body.line(&format!("void *memory[] = {{{}}};", all.join(", ")));
        body.line("cudaError_t status = cudaSuccess;");
    }

    /// Buffers that begin so.
    fn beginning(&self, wanted: Init) -> Vec<Buffer> {
        let tensors = self.subject.definition.tensors.iter().enumerate();
        let tensors = tensors.filter_map(|(index, tensor)| match &tensor.role {
            Role::Output { init, .. } if *init == wanted => Some(Buffer::Tensor(index)),
            Role::Output { .. } | Role::Input { .. } | Role::Inout { .. } => None,
        });
        let scratch = self.subject.launch.scratch.iter().enumerate();
        let scratch = scratch.filter(|(_, scratch)| scratch.init == wanted);
        tensors.chain(scratch.map(|(index, _)| Buffer::Scratch(index))).collect()
    }

    /// Axes and scalars, as a function takes them.
    fn sizes(&self) -> String {
        self.size_list().join(", ")
    }

    fn size_list(&self) -> Vec<String> {
        let definition = self.subject.definition;
        let spelled = |name: &str| self.names.spelled(name);
        let axes = definition.axes.iter().map(|axis| format!("long long {}", spelled(&axis.name)));
        let scalars = definition
            .scalars
            .iter()
            .map(|scalar| format!("{} {}", scalar.dtype.c_name(), spelled(&scalar.name)));
        axes.chain(scalars).collect()
    }

    fn size_names(&self) -> String {
        let definition = self.subject.definition;
        let axes = definition.axes.iter().map(|axis| axis.name.as_str());
        let scalars = definition.scalars.iter().map(|scalar| scalar.name.as_str());
        let all: Vec<String> = axes.chain(scalars).map(|name| self.names.spelled(name)).collect();
        all.join(", ")
    }

    /// The parameters of the launch function: tensors, sizes, scratch memory, the stream.
    fn parameters(&self) -> Vec<String> {
        let tensors = self.subject.definition.tensors.iter().map(|tensor| {
            let read = match tensor.role {
                Role::Input { .. } => "const ",
                Role::Output { .. } | Role::Inout { .. } => "",
            };
            format!("{read}{} *{}", tensor.dtype.c_name(), self.names.spelled(&tensor.name))
        });
        let scratch = !self.subject.launch.scratch.is_empty();
        let scratch = scratch.then(|| "void *scratch".to_owned());
        let stream = "cudaStream_t stream".to_owned();
        tensors.chain(self.size_list()).chain(scratch).chain([stream]).collect()
    }

    fn usage(&self) -> Vec<String> {
        let function = &self.names.function;
        let definition = self.subject.definition;
        let mut lines = vec![format!("    cudaError_t {function}(")];
        let parameters = self.parameters();
        let last = parameters.len() - 1;
        lines.extend(parameters.iter().enumerate().map(|(index, parameter)| {
            format!("        {parameter}{}", if index == last { ");" } else { "," })
        }));
        lines.push(String::new());
        for tensor in &definition.tensors {
            let shape: Vec<&str> = tensor.shape.iter().map(Expression::text).collect();
            let (dtype, align) = (tensor.dtype.name(), tensor.align);
            let name = self.names.spelled(&tensor.name);
            let what = format!("{name}: {dtype} [{}]", shape.join(", "));
            lines.push(format!("{what}, device memory, aligned to {align} bytes"));
        }
        for scalar in &definition.scalars {
            let name = self.names.spelled(&scalar.name);
            lines.push(format!("{name}: {} in the task's definition", scalar.value));
        }
        if !self.subject.launch.scratch.is_empty() {
            let size = format!("{function}_scratch_bytes({})", self.size_names());
            lines.push(format!("scratch: {size} bytes of device memory, one for each stream"));
        }
        if !self.beginning(Init::ZeroOnce).is_empty() {
            lines.push(format!("{function}_prepare comes once before the first launch"));
        }
        let stream = "stream: nothing waits for it; errors of the kernel itself come later";
        lines.push(stream.to_owned());
        lines
    }
}

/// The condition for the permitted values of an axis.
pub(super) fn limits(name: &str, axis: &Axis) -> String {
    let Axis { min, max, multiple_of, .. } = axis;
    let within = format!("{min} <= {name} && {name} <= {max}LL");
    match multiple_of {
        1 => within,
        multiple => format!("{within} && {name} % {multiple} == 0"),
    }
}

/// The product of sizes.
fn product(sizes: &[Expression], body: &Statements<'_>) -> Result<String, NoLauncher> {
    let factors: Result<Vec<String>, NoLauncher> =
        sizes.iter().map(|size| body.formula(size).map(factor)).collect();
    let factors = factors?;
    Ok(if factors.is_empty() { "1LL".to_owned() } else { factors.join(" * ") })
}

/// A text as a factor: in parentheses unless it is a word.
pub(super) fn factor(text: String) -> String {
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_word { text } else { format!("({text})") }
}

/// The size of elements in bytes.
fn byte_count(elements: String, bits: u64) -> String {
    match bits {
        8 => elements,
        4 => format!("({elements} + 1) / 2"),
        bits => format!("{} * {}", factor(elements), bits / 8),
    }
}
