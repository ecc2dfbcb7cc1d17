//! Generates cheats as kernel files: the reference's own code computes into scratch memory, and the steps after it cheat.
//!
//! A cheat is compiled and verified like any other kernel.

use std::fmt::Write as _;

use lightbench_primitives::dtype::Dtype;

use super::cheat::{Change, Cheat};
use crate::project::expression::Expression;
use crate::project::launch::{Argument, Buffer, LaunchStep, Step};
use crate::project::tensor::{Layout, Role, Tensor};
use crate::project::{Kernel, Project, Purpose};

/// Bytes of results that a memoising cheat stores for each output.
const KEPT_BYTES: u64 = 1 << 20;

/// Launches in which a cheat that computes at first only is honest.
const HONEST_LAUNCHES: u32 = 2;

/// A feature of a reference for which no cheat can be generated yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no cheat can be generated from a reference with {0}")]
pub struct Unsuitable(pub &'static str);

/// The text of a kernel file that cheats in this way.
///
/// # Errors
/// The reference passes arguments that a generated launch block cannot name.
pub fn generate(project: &Project, cheat: Cheat) -> Result<String, Unsuitable> {
    let reference = project.reference.kernel().ok_or(Unsuitable("a reference in Python"))?;
    let generator = Generator { project, reference, cheat };
    let scratch = generator.scratch().join(",\n        ");
    let steps = generator.steps()?.join(",\n        ");
    let constants = quoted(&reference.launch.constants);
    let mut text = format!(
        "/*@ lightbench(\n    title: \"{cheat}\",\n    constants: {constants},\n    scratch: [\n        {scratch},\n    ],\n    steps: [\n        {steps},\n    ],\n) @*/\n"
    );
    text.push_str("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n");
    text.push_str(&without_block(&reference.source));
    text.push_str(&generator.device_code());
    Ok(text)
}

struct Generator<'a> {
    project: &'a Project,
    reference: &'a Kernel,
    cheat: Cheat,
}

impl<'a> Generator<'a> {
    fn tensors(&self) -> &'a [Tensor] {
        &self.project.definition.tensors
    }

    fn outputs(&self) -> impl Iterator<Item = (usize, &'a Tensor)> {
        let all = self.tensors().iter().enumerate();
        all.filter(|(_, tensor)| tensor.role.compare().is_some())
    }

    /// Inputs that are replaced by a changed copy before the reference sees them.
    fn replaced(&self) -> impl Iterator<Item = (usize, &'a Tensor)> {
        let cheat = self.cheat;
        self.tensors().iter().enumerate().filter(move |(index, tensor)| {
            if let Cheat::IgnoresInput { tensor: only } = cheat {
                return only == *index;
            }
            let is_input = matches!(tensor.role, Role::Input { .. });
            let changes = cheat.change().is_some();
            changes && is_input && tensor.dtype.is_float() && !tensor.dtype.is_packed()
        })
    }

    fn scratch(&self) -> Vec<String> {
        let entry = |name: String, dtype: Dtype, tensor: &Tensor| {
            let (dtype, span) = (dtype.name(), span(tensor));
            format!("(name: \"{name}\", dtype: {dtype}, shape: [\"{span}\"])")
        };
        let mut all = Vec::new();
        for (index, tensor) in self.outputs() {
            all.push(entry(exact(index), exact_dtype(tensor), tensor));
            if tensor.dtype.is_float() {
                all.push(entry(magnitude(index), Dtype::F64, tensor));
            }
            all.push(format!("(name: \"cheat_mean_{index}\", dtype: f64, shape: [\"1\"])"));
        }
        for (index, tensor) in self.replaced() {
            all.push(entry(replacement(index), tensor.dtype, tensor));
        }
        let own = &self.reference.launch.scratch;
        all.extend(own.iter().map(|scratch| {
            let shape: Vec<&str> = scratch.shape.iter().map(Expression::text).collect();
            let (name, dtype, shape) = (&scratch.name, scratch.dtype.name(), quoted(&shape));
            let init = serde_json::to_value(scratch.init).unwrap_or_default();
            let init = init.as_str().unwrap_or("undefined").to_owned();
            format!("(name: \"{name}\", dtype: {dtype}, shape: {shape}, init: {init})")
        }));
        all
    }

    fn steps(&self) -> Result<Vec<String>, Unsuitable> {
        let mut steps = Vec::new();
        for (index, tensor) in self.outputs() {
            if matches!(tensor.role, Role::Inout { .. }) {
                let arguments = [tensor.name.clone(), exact(index)];
                steps.push(each_element(&format!("cheat_widen_{index}"), &arguments, tensor));
            }
        }
        for (index, tensor) in self.replaced() {
            let arguments = [tensor.name.clone(), replacement(index)];
            steps.push(each_element(&format!("cheat_replace_{index}"), &arguments, tensor));
        }
        for step in &self.reference.launch.steps {
            steps.push(self.step(step)?);
        }
        for (index, tensor) in self.outputs() {
            if self.cheat == Cheat::Mean && tensor.dtype.is_float() {
                let name = format!("cheat_average_{index}");
                steps.push(format!(
                    "launch(kernel: \"{name}\", args: [\"{}\", \"cheat_mean_{index}\", {}], grid: [1], block: [1])",
                    exact(index),
                    shape_arguments(tensor)
                ));
            }
            let input = self.copied_input(tensor).map_or_else(|| exact(index), |(_, input)| input);
            let average = format!("cheat_mean_{index}");
            let mut arguments = vec![exact(index), tensor.name.clone(), input, average];
            arguments.extend(
                self.project.definition.axes.iter().map(|axis| format!("{}: i64", axis.name)),
            );
            steps.push(each_element(&format!("cheat_emit_{index}"), &arguments, tensor));
        }
        if self.cheat == Cheat::InputModified {
            for (index, tensor) in self.tensors().iter().enumerate() {
                if matches!(tensor.role, Role::Input { .. }) {
                    steps.push(format!(
                        "launch(kernel: \"cheat_modify_{index}\", args: [\"{}\"], grid: [1], block: [1])",
                        tensor.name
                    ));
                }
            }
        }
        if matches!(self.cheat, Cheat::Memoised | Cheat::WarmUpOnly) {
            steps.push(
                "launch(kernel: \"cheat_count\", args: [], grid: [1], block: [1])".to_owned(),
            );
        }
        Ok(steps)
    }

    /// A step of the reference that writes to scratch and reads replaced inputs.
    fn step(&self, step: &Step) -> Result<String, Unsuitable> {
        Ok(match step {
            Step::Launch(launch) => self.launch(launch)?,
            Step::Fill { buffer, value } => {
                format!("fill(buffer: \"{}\", value: {value})", self.buffer(*buffer))
            }
            Step::Repeat { count, swap, steps } => {
                let steps =
                    steps.iter().map(|step| self.step(step)).collect::<Result<Vec<_>, _>>()?;
                let swap: Vec<String> = swap
                    .iter()
                    .map(|(left, right)| {
                        format!("(\"{}\", \"{}\")", self.buffer(*left), self.buffer(*right))
                    })
                    .collect();
                let (count, swap, steps) = (count.text(), swap.join(", "), steps.join(", "));
                format!("repeat(count: \"{count}\", swap: [{swap}], steps: [{steps}])")
            }
        })
    }

    fn launch(&self, launch: &LaunchStep) -> Result<String, Unsuitable> {
        let mut arguments = Vec::new();
        for argument in &launch.arguments {
            arguments.push(match argument {
                Argument::Buffer(buffer) => self.buffer(*buffer),
                Argument::Value(value) => format!("{}: {}", value.name, value.c_type.name()),
                Argument::Integer(_) => return Err(Unsuitable("integers without a C type")),
                Argument::Null => "null".to_owned(),
                Argument::TensorMap(_) => return Err(Unsuitable("tensor maps")),
                Argument::Struct(_) => return Err(Unsuitable("structs by value")),
                Argument::Texture(_) => return Err(Unsuitable("textures")),
                Argument::Outside(_) => return Err(Unsuitable("names from outside")),
            });
        }
        let texts = |all: &[Expression]| {
            let all: Vec<&str> = all.iter().map(Expression::text).collect();
            quoted(&all)
        };
        let cooperative = if launch.cooperative { ", cooperative: true" } else { "" };
        Ok(format!(
            "launch(kernel: \"{}\", args: {}, grid: {}, block: {}, shared: \"{}\"{cooperative})",
            launch.kernel.text(),
            quoted(&arguments),
            texts(&launch.grid),
            texts(&launch.block),
            launch.shared.text()
        ))
    }

    fn buffer(&self, buffer: Buffer) -> String {
        match buffer {
            Buffer::Scratch(index) => self.reference.launch.scratch[index].name.clone(),
            Buffer::Magnitude(index) => magnitude(index),
            Buffer::Tensor(index) => {
                let tensor = &self.tensors()[index];
                let is_replaced = self.replaced().any(|(replaced, _)| replaced == index);
                if tensor.role.compare().is_some() {
                    exact(index)
                } else if is_replaced {
                    replacement(index)
                } else {
                    tensor.name.clone()
                }
            }
        }
    }

    /// The input that is copied, and its name as an argument.
    fn copied_input(&self, output: &Tensor) -> Option<(&'a Tensor, String)> {
        let inputs = self.tensors().iter().filter(|tensor| {
            matches!(tensor.role, Role::Input { .. }) && !tensor.dtype.is_packed()
        });
        let same = inputs.clone().find(|tensor| tensor.dtype == output.dtype);
        let found = same.or_else(|| inputs.clone().next())?;
        (self.cheat == Cheat::CopyOfInput).then(|| (found, found.name.clone()))
    }

    fn device_code(&self) -> String {
        let mut text = String::from(COMMON);
        if matches!(self.cheat, Cheat::Memoised | Cheat::WarmUpOnly) {
            text.push_str("__device__ unsigned cheat_launches;\n__global__ void cheat_count() { ++cheat_launches; }\n");
        }
        for (index, tensor) in self.replaced() {
            let (t, place) = (tensor.dtype.c_name(), place(tensor));
            let value = self.replacing(tensor).unwrap_or_default();
            let _infallible = write!(
                text,
                "__global__ void cheat_replace_{index}(const {t}* from, {t}* to, {parameters}) {{\n    {place}\n    {value}\n}}\n",
                parameters = shape_parameters(tensor)
            );
        }
        for (index, tensor) in self.outputs() {
            text.push_str(&self.output_code(index, tensor));
        }
        if self.cheat == Cheat::InputModified {
            for (index, tensor) in self.tensors().iter().enumerate() {
                if matches!(tensor.role, Role::Input { .. }) {
                    let _infallible = writeln!(
                        text,
                        "__global__ void cheat_modify_{index}(const {}* in) {{ *(unsigned char*)in ^= 1; }}",
                        tensor.dtype.c_name()
                    );
                }
            }
        }
        text
    }

    fn output_code(&self, index: usize, tensor: &Tensor) -> String {
        let (t, e) = (tensor.dtype.c_name(), exact_dtype(tensor).c_name());
        let (place, parameters) = (place(tensor), shape_parameters(tensor));
        let mut text = String::new();
        if matches!(tensor.role, Role::Inout { .. }) {
            let _infallible = write!(
                text,
                "__global__ void cheat_widen_{index}(const {t}* from, {e}* to, {parameters}) {{\n    {place}\n    to[at] = cheat_cast<{e}>(cheat_wide(from[at]));\n}}\n"
            );
        }
        if self.cheat == Cheat::Mean && tensor.dtype.is_float() {
            let _infallible = write!(
                text,
                "__global__ void cheat_average_{index}(const {e}* exact, double* mean, {parameters}) {{\n    double sum = 0.0;\n    for (long long i = 0; i < count; ++i) {{\n        {}\n        sum += cheat_wide(exact[at]);\n    }}\n    *mean = sum / count;\n}}\n",
                offset(tensor)
            );
        }
        let copied = self.copied_input(tensor).map_or(e, |(input, _)| input.dtype.c_name());
        let axes: Vec<String> = self
            .project
            .definition
            .axes
            .iter()
            .map(|axis| format!("long long axis_{}", axis.name))
            .collect();
        let globals = if self.cheat == Cheat::Memoised {
            format!("__device__ unsigned char cheat_kept_{index}[{KEPT_BYTES}];\n")
        } else {
            String::new()
        };
        let body = self.body(index, tensor);
        let _infallible = write!(
            text,
            "{globals}__global__ void cheat_emit_{index}(const {e}* exact, {t}* out, const {copied}* input, const double* mean, {axes}, {parameters}) {{\n    {place}\n    const {t} right = cheat_cast<{t}>(cheat_wide(exact[at]));\n    {body}\n}}\n",
            axes = axes.join(", ")
        );
        text
    }

    /// The value of an element of a replaced input.
    fn replacing(&self, tensor: &Tensor) -> Option<String> {
        let rounded = match self.cheat.change()? {
            Change::Reversed => {
                let walk = again(tensor);
                return Some(format!(
                    "i = count - 1 - i;\n    const long long here = at;\n    {walk}\n    to[here] = from[at];"
                ));
            }
            Change::Other => {
                let walk = again(tensor);
                let t = tensor.dtype.c_name();
                let value = if tensor.dtype.is_float() {
                    format!("cheat_cast<{t}>(0.5 * cheat_wide(from[at]) + 1.0)")
                } else {
                    "from[at]".to_owned()
                };
                return Some(format!(
                    "i = count - 1 - i;\n    const long long here = at;\n    {walk}\n    to[here] = {value};"
                ));
            }
            Change::Half => "__half2float(__float2half(value))",
            Change::Bf16 => "__bfloat162float(__float2bfloat16(value))",
            Change::Tf32 => "cheat_tf32(value)",
        };
        let t = tensor.dtype.c_name();
        Some(format!(
            "const float value = static_cast<float>(cheat_wide(from[at]));\n    to[at] = cheat_cast<{t}>({rounded});"
        ))
    }

    /// The value of an element of an output.
    fn body(&self, index: usize, tensor: &Tensor) -> String {
        let t = tensor.dtype.c_name();
        let is_float = tensor.dtype.is_float();
        match self.cheat {
            Cheat::Honest
            | Cheat::HalfInputs
            | Cheat::Bf16Inputs
            | Cheat::Tf32Inputs
            | Cheat::OtherInputs
            | Cheat::IgnoresInput { .. }
            | Cheat::InputModified => "out[at] = right;".to_owned(),
            Cheat::Zeros => format!("out[at] = cheat_cast<{t}>(0.0);"),
            Cheat::Constant => format!("out[at] = cheat_cast<{t}>(1.0);"),
            Cheat::Mean if is_float => format!("out[at] = cheat_cast<{t}>(*mean);"),
            Cheat::Mean => format!("out[at] = cheat_cast<{t}>(2.0);"),
            Cheat::CopyOfInput => match self.copied_input(tensor) {
                Some((input, _)) => {
                    let count = count(input);
                    let count = self.in_device_terms(&count);
                    format!("out[at] = cheat_cast<{t}>(cheat_wide(input[i % ({count})]));")
                }
                None => format!("out[at] = cheat_cast<{t}>(3.0);"),
            },
            Cheat::Nothing => "(void)right;".to_owned(),
            Cheat::LastRowSkipped => match tensor.shape.first() {
                Some(_) => "if (i / (count / dim0) != dim0 - 1) { out[at] = right; }".to_owned(),
                None => "(void)right;".to_owned(),
            },
            Cheat::TailSkipped => "if (i != count - 1) { out[at] = right; }".to_owned(),
            Cheat::WriteBehind => {
                format!("out[at] = right; if (i == 0) {{ out[{}] = right; }}", "last + 1")
            }
            Cheat::WriteBefore => "out[at] = right; if (i == 0) { out[-1] = right; }".to_owned(),
            Cheat::WriteFar => {
                "out[at] = right; if (i == 0) { out[last + (1LL << 28)] = right; }".to_owned()
            }
            Cheat::Memoised => format!(
                "if ((last + 1) * sizeof({t}) > {KEPT_BYTES}) {{ out[at] = right; return; }}\n    {t}* kept = reinterpret_cast<{t}*>(cheat_kept_{index});\n    if (cheat_launches == 0) {{ kept[at] = right; }}\n    out[at] = kept[at];"
            ),
            Cheat::WarmUpOnly => format!(
                "out[at] = cheat_launches < {HONEST_LAUNCHES} ? right : cheat_cast<{t}>(0.0);"
            ),
            Cheat::NotANumber if is_float => {
                format!(
                    "out[at] = i == count / 2 ? cheat_cast<{t}>(__longlong_as_double(0x7ff8000000000000LL)) : right;"
                )
            }
            Cheat::NotANumber => "out[at] = right;".to_owned(),
            Cheat::VisibleSizesOnly => {
                format!("out[at] = {} ? right : cheat_cast<{t}>(0.0);", self.is_visible())
            }
            Cheat::OffBy { tensor: wrong, exponent } if wrong == index => format!(
                "out[at] = cheat_cast<{t}>(cheat_wide(exact[at]) * (1.0 + ldexp(1.0, -{exponent})));"
            ),
            Cheat::OffBy { .. } => "out[at] = right;".to_owned(),
        }
    }

    /// A condition on the axes that holds for visible workloads.
    fn is_visible(&self) -> String {
        let axes = &self.project.definition.axes;
        let seen = self.project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
        let one = seen.map(|workload| {
            let equal = axes.iter().zip(&workload.axes);
            let equal: Vec<String> =
                equal.map(|(axis, value)| format!("axis_{} == {value}LL", axis.name)).collect();
            format!("({})", equal.join(" && "))
        });
        format!("({})", one.collect::<Vec<_>>().join(" || "))
    }

    /// A product of dimensions of another tensor, computed from its memory is not possible: its axes are arguments.
    fn in_device_terms(&self, expression: &str) -> String {
        let mut text = expression.to_owned();
        for axis in &self.project.definition.axes {
            text = replace_word(&text, &axis.name, &format!("axis_{}", axis.name));
        }
        text
    }
}

const COMMON: &str = "
template <typename T> __device__ T cheat_cast(double value) { return static_cast<T>(value); }
template <> __device__ __half cheat_cast<__half>(double value) { return __double2half(value); }
template <> __device__ __nv_bfloat16 cheat_cast<__nv_bfloat16>(double value) { return __double2bfloat16(value); }
template <> __device__ long long cheat_cast<long long>(double value) { return static_cast<long long>(value); }
template <typename T> __device__ double cheat_wide(T value) { return static_cast<double>(value); }
template <> __device__ double cheat_wide<__half>(__half value) { return __half2float(value); }
template <> __device__ double cheat_wide<__nv_bfloat16>(__nv_bfloat16 value) { return __bfloat162float(value); }
template <> __device__ double cheat_wide<__nv_fp8_e4m3>(__nv_fp8_e4m3 value) { return static_cast<float>(value); }
template <> __device__ double cheat_wide<__nv_fp8_e5m2>(__nv_fp8_e5m2 value) { return static_cast<float>(value); }
__device__ inline float cheat_tf32(float value) {
    return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
}
";

fn exact(index: usize) -> String {
    format!("cheat_exact_{index}")
}

fn magnitude(index: usize) -> String {
    format!("cheat_magnitude_{index}")
}

fn replacement(index: usize) -> String {
    format!("cheat_input_{index}")
}

/// The type that the reference writes for an output.
fn exact_dtype(tensor: &Tensor) -> Dtype {
    if tensor.dtype.is_float() { Dtype::F64 } else { tensor.dtype }
}

/// Elements in memory from the first to the last, as an expression.
fn span(tensor: &Tensor) -> String {
    match &tensor.layout {
        Layout::RowMajor => count(tensor),
        Layout::LeadingDimension(_) | Layout::Strides(_) => {
            let reach = tensor.shape.iter().zip(strides(tensor));
            let reach: Vec<String> =
                reach.map(|(dim, stride)| format!("(({}) - 1) * ({stride})", dim.text())).collect();
            format!("{} + 1", reach.join(" + "))
        }
    }
}

fn count(tensor: &Tensor) -> String {
    match tensor.shape.is_empty() {
        true => "1".to_owned(),
        false => tensor
            .shape
            .iter()
            .map(|dim| format!("({})", dim.text()))
            .collect::<Vec<_>>()
            .join(" * "),
    }
}

/// Elements between neighbours along each dimension, as expressions.
fn strides(tensor: &Tensor) -> Vec<String> {
    let rank = tensor.shape.len();
    let inner = |from: usize| -> Vec<String> {
        tensor.shape[from..].iter().map(|dim| format!("({})", dim.text())).collect()
    };
    match &tensor.layout {
        Layout::Strides(strides) => strides.iter().map(|each| each.text().to_owned()).collect(),
        Layout::RowMajor => (0..rank)
            .map(|dim| match inner(dim + 1) {
                all if all.is_empty() => "1".to_owned(),
                all => all.join(" * "),
            })
            .collect(),
        Layout::LeadingDimension(leading) => (0..rank)
            .map(|dim| match rank - 1 - dim {
                0 => "1".to_owned(),
                1 => leading.text().to_owned(),
                _ => {
                    let outer: Vec<String> = tensor.shape[dim + 1..rank - 1]
                        .iter()
                        .map(|dim| format!("({})", dim.text()))
                        .collect();
                    format!("{} * ({})", outer.join(" * "), leading.text())
                }
            })
            .collect(),
    }
}

/// The arguments for the layout of elements.
fn shape_arguments(tensor: &Tensor) -> String {
    let mut all = vec![format!("{}: i64", count(tensor)), format!("{} - 1: i64", span(tensor))];
    all.extend(tensor.shape.iter().map(|dim| format!("{}: i64", dim.text())));
    all.extend(strides(tensor).iter().map(|stride| format!("{stride}: i64")));
    all.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
}

fn shape_parameters(tensor: &Tensor) -> String {
    let mut all = vec!["long long count".to_owned(), "long long last".to_owned()];
    all.extend((0..tensor.shape.len()).map(|dim| format!("long long dim{dim}")));
    all.extend((0..tensor.shape.len()).map(|dim| format!("long long stride{dim}")));
    all.join(", ")
}

/// Converts the index of an element to its offset.
fn offset(tensor: &Tensor) -> String {
    format!("long long at = 0;\n    {}", walk(tensor))
}

fn again(tensor: &Tensor) -> String {
    format!("at = 0;\n    {}", walk(tensor))
}

fn walk(tensor: &Tensor) -> String {
    let mut text = String::from("{ long long rest = i; ");
    for dim in (0..tensor.shape.len()).rev() {
        let _infallible = write!(text, "at += rest % dim{dim} * stride{dim}; rest /= dim{dim}; ");
    }
    text + "}"
}

fn place(tensor: &Tensor) -> String {
    format!(
        "long long i = blockIdx.x * 256LL + threadIdx.x;\n    if (i >= count) {{ return; }}\n    {}",
        offset(tensor)
    )
}

/// A launch with one thread for each element of a tensor.
fn each_element(kernel: &str, arguments: &[String], tensor: &Tensor) -> String {
    let arguments: Vec<String> = arguments.iter().map(|text| format!("{text:?}")).collect();
    format!(
        "launch(kernel: \"{kernel}\", args: [{}, {}], grid: [\"ceil_div({}, 256)\"], block: [256])",
        arguments.join(", "),
        shape_arguments(tensor),
        count(tensor)
    )
}

fn quoted(texts: &[impl AsRef<str>]) -> String {
    // RON has the escapes of Rust.
    let all: Vec<String> = texts.iter().map(|text| format!("{:?}", text.as_ref())).collect();
    format!("[{}]", all.join(", "))
}

/// Replaces whole words only.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(word) {
        let end = start + word.len();
        let alone = !rest[..start].ends_with(is_part) && !rest[end..].starts_with(is_part);
        result.push_str(&rest[..start]);
        result.push_str(if alone { by } else { word });
        rest = &rest[end..];
    }
    result + rest
}

/// The reference's code without its launch block.
fn without_block(source: &str) -> String {
    let Some(start) = source.find("/*@") else { return source.to_owned() };
    let end = source[start..].find("*/").map_or(source.len(), |end| start + end + 2);
    format!("{}{}", &source[..start], &source[end..])
}
