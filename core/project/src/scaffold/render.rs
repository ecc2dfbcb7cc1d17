//! Renders a guess as the texts of a project: `project.ron`, the kernel, the unfinished reference.

use lightbench_cuda_source::{OmittedItem, brief};
use lightbench_primitives::dtype::{Dtype, Family};

use super::geometry::Origin;
use super::guess::{Argument, Guess, Tensor};
use super::sizes;

/// The source, as named in the texts.
pub(super) struct Subject {
    /// The kernel's name with namespaces.
    pub(super) path: String,
    /// The name of the project and of the kernel file.
    pub(super) name: String,
    /// The source's display name, made safe.
    pub(super) origin: String,
    /// `__constant__` arrays that host code filled.
    pub(super) unfilled: Vec<String>,
}

/// Adds one formatted line to a text.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{
        $text.push_str(&format!($($argument)*));
        $text.push('\n');
    }};
}
pub(super) use line;

pub(super) fn project(subject: &Subject, guess: &Guess) -> String {
    let mut text = String::new();
    line!(text, "// Read from the signature of `{}` in {}.", subject.path, subject.origin);
    line!(text, "// Every line marked `guess` is for you to check; README.md says how to go on.");
    line!(text, "(");
    line!(text, "    schema: 1,");
    line!(text, "    name: {},", quoted(&subject.name));
    line!(text, "    title: {},", quoted(&format!("{} from {}", subject.name, subject.origin)));
    axes(&mut text, guess);
    scalars(&mut text, guess);
    tensors(&mut text, guess);
    let arguments: Vec<String> = guess.arguments.iter().map(argument).collect();
    line!(text, "    arguments: {},", list(&arguments));
    line!(text, "    // guess: the precision in which the task may be computed.");
    line!(text, "    accuracy: {},", accuracy(guess));
    work(&mut text, guess);
    sizes::workloads(&mut text, &guess.axes);
    line!(text, "    // guess: what people would otherwise run.");
    line!(text, "    baselines: [kernel({})],", quoted(&subject.name));
    line!(text, ")");
    text
}

fn axes(text: &mut String, guess: &Guess) {
    line!(text, "    axes: [");
    if guess.axes.iter().any(|axis| axis.invented) {
        line!(
            text,
            "        // guess: the kernel takes no size; if it has one built in, set min and max to it."
        );
    } else {
        line!(
            text,
            "        // guess: every integer is a size of the problem, not a stride, an offset or a seed."
        );
    }
    for axis in &guess.axes {
        let limit = axis.limit.map(|limit| format!(", max: {limit}")).unwrap_or_default();
        line!(text, "        (name: {}, min: 1{limit}),", quoted(&axis.name));
    }
    line!(text, "    ],");
}

fn scalars(text: &mut String, guess: &Guess) {
    if guess.scalars.is_empty() {
        return;
    }
    line!(text, "    scalars: [");
    for scalar in &guess.scalars {
        let value = match scalar.dtype.family() {
            Family::Float => "1.0",
            Family::Signed | Family::Unsigned => "1",
            Family::Boolean => "true",
        };
        line!(text, "        // guess: the value.");
        let (name, dtype) = (quoted(&scalar.name), scalar.dtype.name());
        line!(text, "        (name: {name}, dtype: {dtype}, value: {value}),");
    }
    line!(text, "    ],");
}

fn tensors(text: &mut String, guess: &Guess) {
    line!(text, "    tensors: [");
    if guess.axes.len() > guess.shape_axes().len() {
        line!(
            text,
            "        // guess: {} sizes, of which every shape has the first two.",
            guess.axes.len()
        );
    } else if guess.tensors.iter().any(|tensor| tensor.only_axis.is_some()) {
        line!(text, "        // guess: every shape without another comment has all sizes.");
    } else {
        line!(text, "        // guess: every shape has all sizes.");
    }
    for tensor in &guess.tensors {
        line!(text, "        // guess: {} ({}).", tensor.role.word(), tensor.why);
        if let Some(axis) = &tensor.only_axis {
            line!(text, "        // guess: it is indexed by `{axis}` alone.");
        }
        if tensor.role.is_input() && tensor.pointee.dtype.is_integer() {
            line!(
                text,
                "        // guess: any integers; indices need `domain: index_below(\"…\")`."
            );
        }
        let compare = match (tensor.role.is_input(), compares_by_value(tensor)) {
            (true, _) => "",
            (false, true) => ", compare: elementwise(terms: \"1\", factor: 4)",
            (false, false) => ", compare: integer_exact",
        };
        if compares_by_value(tensor) && !tensor.role.is_input() {
            line!(text, "        // guess: one term an element; for a sum, `terms` is its length.");
        }
        let (name, dtype) = (quoted(&tensor.name), tensor.pointee.dtype.name());
        let (shape, role) = (list(&guess.shape(tensor)), tensor.role.word());
        line!(
            text,
            "        (name: {name}, dtype: {dtype}, shape: {shape}, role: {role}{compare}),"
        );
    }
    line!(text, "    ],");
}

/// Floating point has a tolerance; everything else is exact.
pub(super) fn compares_by_value(tensor: &Tensor) -> bool {
    tensor.pointee.dtype.is_float()
}

fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Tensor(name) => name.clone(),
        Argument::Value(name, dtype) => format!("{name}: {}", dtype.name()),
    }
}

fn accuracy(guess: &Guess) -> &'static str {
    let floats = || guess.written().filter(|tensor| compares_by_value(tensor));
    if floats().next().is_none() {
        "exact"
    } else if floats().all(|tensor| tensor.pointee.dtype == Dtype::F64) {
        "f64"
    } else {
        "f32"
    }
}

fn work(text: &mut String, guess: &Guess) {
    let Some(output) = guess.written().next() else { return };
    let kind = if compares_by_value(output) { "arithmetic" } else { "integer" };
    line!(text, "    // guess: one operation for each element of `{}`.", output.name);
    let count = quoted(&guess.count(output));
    line!(text, "    work: (operations: [(kind: {kind}, count: {count})]),");
}

/// The kernel file: launch block, list of omitted items, device code.
pub(super) fn kernel(
    subject: &Subject,
    guess: &Guess,
    device_code: &str,
    left_out: &[OmittedItem],
) -> String {
    let mut text = String::new();
    line!(text, "/*@ lightbench(");
    line!(text, "    title: {},", quoted(&format!("As in {}", subject.origin)));
    parameters(&mut text, guess);
    structs(&mut text, guess);
    for name in &subject.unfilled {
        line!(
            text,
            "    // guess: nothing fills `{name}`; give it a tensor and name both in `constant_memory`."
        );
    }
    requirements(&mut text, guess);
    line!(text, "    steps: [");
    launch(&mut text, subject, guess);
    line!(text, "    ],");
    line!(text, ") @*/");
    if !left_out.is_empty() {
        line!(text, "\n// Left out of {}:", subject.origin);
        for part in left_out {
            let (line, why) = (part.place.line, part.why.words());
            let file = part.header.as_ref().map(|name| format!("{}, ", brief(name, 60)));
            line!(text, "//   {}line {line}: {} ({why})", file.unwrap_or_default(), part.what);
        }
    }
    text.push('\n');
    text.push_str(device_code);
    text
}

fn parameters(text: &mut String, guess: &Guess) {
    for written in &guess.templates.guessed_types {
        line!(text, "    // guess: `{written}` is float.");
    }
    if guess.templates.tuned.is_empty() {
        return;
    }
    let mut entries = Vec::new();
    for tuned in &guess.templates.tuned {
        let origin =
            if tuned.guessed { "guess: nothing in the source gives" } else { "the source gives" };
        line!(text, "    // {origin} the value of {}; add more to tune.", tuned.name);
        entries.push(format!("{}: [{}]", quoted(&tuned.name), tuned.value));
    }
    line!(text, "    params: {{ {} }},", entries.join(", "));
}

/// A kernel whose sizes are narrow usually computes indices in the same type.
fn requirements(text: &mut String, guess: &Guess) {
    let mut all: Vec<String> = Vec::new();
    for tensor in &guess.tensors {
        let shape = guess.shape(tensor);
        let limit = |size: &String| guess.axes.iter().find(|axis| axis.name == *size)?.limit;
        let limits: Option<Vec<u64>> = shape.iter().map(limit).collect();
        let Some(limit) =
            limits.filter(|limits| limits.len() > 1).and_then(|all| all.into_iter().max())
        else {
            continue;
        };
        let required = quoted(&format!("{} <= {limit}", guess.count(tensor)));
        if !all.contains(&required) {
            all.push(required);
        }
    }
    if !all.is_empty() {
        line!(text, "    // guess: indices have the type of the sizes.");
        line!(text, "    require: [{}],", all.join(", "));
    }
}

fn structs(text: &mut String, guess: &Guess) {
    if guess.structs.is_empty() {
        return;
    }
    line!(text, "    structs: [");
    for entry in &guess.structs {
        let fields = entry.fields.iter().map(|(name, dtype)| format!("{name}: {}", dtype.name()));
        let fields: Vec<String> = fields.collect();
        line!(text, "        (name: {}, fields: {}),", quoted(&entry.name), list(&fields));
    }
    line!(text, "    ],");
}

fn launch(text: &mut String, subject: &Subject, guess: &Guess) {
    let launch = &guess.launch;
    line!(text, "        // guess: the grid, from how the kernel uses blockIdx.");
    line!(
        text,
        "        // {}.",
        match launch.block.origin {
            Origin::HostLaunch => "The block is that of the launch in the source",
            Origin::LaunchBounds => "guess: the block is that of __launch_bounds__",
            Origin::Nothing => "guess: the block; the source has no launch that could be read",
        }
    );
    if let Some(shared) = &launch.shared {
        line!(
            text,
            "        // {}.",
            match shared.origin {
                Origin::HostLaunch => "Shared memory is that of the launch in the source",
                Origin::LaunchBounds | Origin::Nothing =>
                    "guess: 8 bytes of shared memory a thread",
            }
        );
    }
    let template = match guess.templates.arguments.as_slice() {
        [] => String::new(),
        arguments => format!("<{}>", arguments.join(", ")),
    };
    line!(text, "        launch(");
    line!(text, "            kernel: {},", quoted(&format!("{}{template}", subject.path)));
    if !guess.structs.is_empty() {
        line!(text, "            args: {},", list(&guess.kernel_arguments));
    }
    line!(text, "            grid: {},", expressions(&launch.grid));
    line!(text, "            block: {},", expressions(&launch.block.extents));
    if let Some(shared) = &launch.shared {
        line!(text, "            shared: {},", quoted(&shared.bytes));
    }
    if launch.cooperative {
        line!(text, "            cooperative: true,");
    }
    line!(text, "        ),");
}

/// A list of texts in RON.
pub(super) fn list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A list of expressions in RON: plain integers as such, all else as texts.
fn expressions(items: &[String]) -> String {
    let plain = |item: &String| item.bytes().all(|byte| byte.is_ascii_digit());
    let written = items.iter().map(|item| if plain(item) { item.clone() } else { quoted(item) });
    format!("[{}]", written.collect::<Vec<_>>().join(", "))
}

/// A text in RON.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
