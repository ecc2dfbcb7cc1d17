//! The definition of the computation, and its construction from the parsed manifest.

use serde::{Deserialize, Serialize};

use super::{
    argument::{ValueArgument, parse_value},
    environment::Environment,
    expression::Scope,
    locate::Located,
    manifest::{
        Accuracy, BlockOrder, LARGEST_AXIS, Manifest, Purpose, SubnormalsWritten, SummationWritten,
    },
    policy::{self, Baseline, Limits, Policy},
    problem::Findings,
    scalar::{self, Axis, Scalar},
    tensor::{self, Tensor, TensorContext},
    work::{self, Work},
    workload::{self, Workload},
};

/// The schema that this program reads.
pub const SCHEMA: i64 = 1;

/// The computation of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The project's name in reports.
    pub name: String,
    /// One line.
    pub title: String,
    /// Free text.
    pub summary: String,
    /// The sizes of the problem.
    pub axes: Vec<Axis>,
    /// Values passed by value that are not sizes.
    pub scalars: Vec<Scalar>,
    /// Inputs and outputs.
    pub tensors: Vec<Tensor>,
    /// Order and C type of the kernels' arguments.
    pub arguments: Vec<Argument>,
    /// The precision in which the task may be computed.
    pub accuracy: Accuracy,
    /// The orders in which the blocks of a kernel may start.
    pub block_order: BlockOrder,
    /// In which order a correct kernel may add.
    pub summation: Summation,
    /// Whether kernels must keep subnormal numbers of f32 and bf16.
    pub subnormals: Subnormals,
    /// The least that any correct kernel does.
    pub work: Work,
    pub baselines: Vec<Baseline>,
    /// Which static evidence refuses a kernel.
    pub policy: Policy,
    /// Time, memory and steps.
    pub limits: Limits,
}

/// Whether kernels must keep subnormal numbers of f32 and bf16. Those of f16 and of 8-bit floats are always kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subnormals {
    /// A kernel may replace them by zeros, as `ftz` and `fast_math` do.
    #[default]
    MayFlush,
    /// Inputs have them, and kernels that flush them are refused.
    Keep,
}

/// The order in which a correct kernel may add; it determines the rounding error for equal or monotone terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summation {
    /// In any order: one chain of additions, too.
    Any,
    /// In blocks of at most this many terms, whose sums are added as a tree.
    Blocked(u64),
}

impl Summation {
    /// The number of terms whose square root is the bound of a chain of additions: each of `n` additions may lose the
    /// same half ulp of the sum (N. Higham, 'Accuracy and Stability of Numerical Algorithms', 2002, section 4.2), where
    /// random errors cost the square root of that.
    #[must_use]
    pub const fn chain_terms(self, terms: u64) -> u64 {
        let longest = match self {
            Self::Any => terms,
            Self::Blocked(block) => {
                let blocks = terms.div_ceil(block);
                let levels = (u64::BITS - blocks.leading_zeros()) as u64;
                let chain = block + levels;
                if chain < terms { chain } else { terms }
            }
        };
        let squared = longest.saturating_mul(longest);
        if squared > terms { squared } else { terms }
    }
}

/// One argument of every kernel, unless its launch lists its own arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The address of a tensor, by its index.
    Tensor(usize),
    /// A value.
    Value(ValueArgument),
}

/// Axes and scalars, which expressions may use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inputs<'a> {
    pub(super) axes: &'a [Axis],
    pub(super) scalars: &'a [Scalar],
}

impl Inputs<'_> {
    pub(super) fn scope(&self) -> Scope {
        let mut scope = Scope::default();
        scope.integers.extend(self.axes.iter().map(|axis| axis.name.clone()));
        for scalar in self.scalars {
            let names =
                if scalar.dtype.is_integer() { &mut scope.integers } else { &mut scope.reals };
            names.push(scalar.name.clone());
        }
        scope
    }
}

impl Definition {
    /// The values of axes and scalars in a workload of this definition.
    pub fn environment(&self, workload: &Workload) -> Environment<'_> {
        let mut environment = Environment::default();
        for (axis, value) in self.axes.iter().zip(&workload.axes) {
            environment.set(&axis.name, i128::from(*value));
        }
        for (scalar, value) in self.scalars.iter().zip(&workload.scalars) {
            environment.set_scalar(&scalar.name, *value);
        }
        environment
    }

    /// The index of the tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<usize> {
        self.tensors.iter().position(|tensor| tensor.name == name)
    }

    /// Whether the sizes of tensors, their fills, their domains or how they are compared depend on a scalar.
    pub fn decides_sizes(&self, scalar: &Scalar) -> bool {
        self.tensors.iter().any(|tensor| tensor.depends_on(&scalar.name))
    }

    pub(super) fn inputs(&self) -> Inputs<'_> {
        Inputs { axes: &self.axes, scalars: &self.scalars }
    }
}

/// Validates the definition and the workloads; the result is valid only if no problem was reported.
pub(super) fn check(
    findings: &mut Findings<'_>,
    root: &Located,
    manifest: &Manifest,
    kernels: &[String],
) -> (Definition, Vec<Workload>) {
    check_head(findings, root, manifest);
    check_names(findings, root, manifest);
    let axes: Vec<Axis> =
        each(root.field("axes"), &manifest.axes, |at, axis| scalar::check_axis(findings, at, axis));
    let scalars: Vec<Scalar> = each(root.field("scalars"), &manifest.scalars, |at, written| {
        scalar::check_scalar(findings, at, written)
    });
    let scope = Inputs { axes: &axes, scalars: &scalars }.scope();
    let around = TensorContext { tensors: &manifest.tensors, scope: &scope };
    let tensors = each(root.field("tensors"), &manifest.tensors, |at, written| {
        tensor::check(findings, at, written, around)
    });
    let arguments = check_arguments(
        findings,
        root.field("arguments"),
        manifest,
        &scope,
        Inputs { axes: &axes, scalars: &scalars },
    );
    let work = work::check(findings, root.field("work"), &manifest.work, &scope);
    let baselines = policy::check_baselines(
        findings,
        root.field("baselines"),
        &manifest.baselines,
        &manifest.workloads,
        (kernels, &tensors),
    );
    let summation = match manifest.summation {
        SummationWritten::Any => Summation::Any,
        SummationWritten::Blocked(terms) => Summation::Blocked(findings.within(
            root.field("summation").item(0),
            terms,
            1,
            LARGEST_AXIS,
        )),
    };
    let definition = Definition {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        summary: manifest.summary.clone(),
        axes,
        scalars,
        tensors,
        arguments,
        accuracy: manifest.accuracy,
        block_order: manifest.block_order,
        summation,
        subnormals: match manifest.subnormals {
            SubnormalsWritten::MayFlush => Subnormals::MayFlush,
            SubnormalsWritten::Keep => Subnormals::Keep,
        },
        work,
        baselines,
        policy: policy::check_policy(findings, root.field("policy"), &manifest.policy),
        limits: policy::check_limits(findings, root.field("limits"), &manifest.limits),
    };
    let workloads = check_workloads(findings, root, manifest, &definition, &scope);
    (definition, workloads)
}

fn each<W, M>(at: &Located, written: &[W], mut check: impl FnMut(&Located, &W) -> M) -> Vec<M> {
    written.iter().enumerate().map(|(index, written)| check(at.item(index), written)).collect()
}

fn check_head(findings: &mut Findings<'_>, root: &Located, manifest: &Manifest) {
    if manifest.schema != SCHEMA {
        findings.add(
            root.field("schema"),
            format!("schema {}", manifest.schema),
            format!("{SCHEMA}"),
        );
    }
    findings.file_name(root.field("name"), &manifest.name);
    findings.line(root.field("title"), &manifest.title);
    for (field, count, most) in [
        ("axes", manifest.axes.len(), 32),
        ("scalars", manifest.scalars.len(), 64),
        ("tensors", manifest.tensors.len(), 64),
        ("arguments", manifest.arguments.len(), 256),
        ("workloads", manifest.workloads.len(), 256),
        ("baselines", manifest.baselines.len(), 64),
    ] {
        findings.at_most(root.field(field), field, count, most);
    }
    if manifest.axes.is_empty() {
        findings.add(root.field("axes"), "no axis", "at least one");
    }
    if !manifest.tensors.iter().any(|tensor| tensor.role != super::manifest::RoleWritten::Input) {
        findings.add(root.field("tensors"), "nothing is written", "at least one output or inout");
    }
    if !manifest.workloads.iter().any(|workload| workload.purpose == Purpose::Verify) {
        findings.add_with_help(
            root.field("workloads"),
            "no workload to verify with",
            "at least one `verify` workload",
            "add a small workload with `purpose: verify`",
        );
    }
}

/// Axes, scalars and tensors share one space of names: argument lists name any of them.
fn check_names(findings: &mut Findings<'_>, root: &Located, manifest: &Manifest) {
    let axes = manifest.axes.iter().map(|axis| axis.name.as_str()).enumerate();
    let scalars = manifest.scalars.iter().map(|scalar| scalar.name.as_str()).enumerate();
    let tensors = manifest.tensors.iter().map(|tensor| tensor.name.as_str()).enumerate();
    let place = |list: &'static str| {
        move |(index, name)| (root.field(list).item(index).field("name"), name)
    };
    let names: Vec<(&Located, &str)> = axes
        .map(place("axes"))
        .chain(scalars.map(place("scalars")))
        .chain(tensors.map(place("tensors")))
        .collect();
    findings.unique("axis, scalar or tensor", names);
    let workloads = manifest.workloads.iter().map(|workload| workload.name.as_str()).enumerate();
    findings.unique("workload", workloads.map(place("workloads")).collect::<Vec<_>>());
}

fn check_arguments(
    findings: &mut Findings<'_>,
    at: &Located,
    manifest: &Manifest,
    scope: &Scope,
    inputs: Inputs<'_>,
) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = Vec::new();
    for (index, written) in manifest.arguments.iter().enumerate() {
        let place = at.item(index);
        let argument = if written.contains(':') {
            parse_value(findings, place, written, scope, inputs).map(Argument::Value)
        } else {
            tensor_argument(findings, place, written, manifest, inputs)
        };
        let Some(argument) = argument else { continue };
        let again = arguments.iter().any(|known| match (known, &argument) {
            (Argument::Tensor(left), Argument::Tensor(right)) => left == right,
            (Argument::Value(left), Argument::Value(right)) => left.name == right.name,
            (Argument::Tensor(_), Argument::Value(_))
            | (Argument::Value(_), Argument::Tensor(_)) => false,
        });
        if again {
            findings.add(place, format!("a second argument `{written}`"), "each argument once");
        }
        arguments.push(argument);
    }
    for tensor in &manifest.tensors {
        let named = manifest.arguments.iter().any(|argument| argument.trim() == tensor.name);
        if !named {
            let found = format!("the tensor `{}` is not an argument", tensor.name);
            findings.add_with_help(
                at,
                found,
                "every tensor once",
                format!("add `\"{}\"`", tensor.name),
            );
        }
    }
    arguments
}

fn tensor_argument(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &str,
    manifest: &Manifest,
    inputs: Inputs<'_>,
) -> Option<Argument> {
    let name = written.trim();
    if let Some(tensor) = manifest.tensors.iter().position(|tensor| tensor.name == name) {
        return Some(Argument::Tensor(tensor));
    }
    let scalar =
        inputs.scalars.iter().find(|scalar| scalar.name == name).map(|scalar| scalar.dtype.name());
    let axis = inputs.axes.iter().any(|axis| axis.name == name).then_some("i64");
    if let Some(c_type) = scalar.or(axis) {
        let help = format!("write `{name}: {c_type}`");
        findings.add_with_help(at, format!("`{name}` has no C type"), "`name: type`", help);
        return None;
    }
    let tensors = manifest.tensors.iter().map(|tensor| tensor.name.as_str());
    let inputs = inputs
        .axes
        .iter()
        .map(|axis| axis.name.as_str())
        .chain(inputs.scalars.iter().map(|scalar| scalar.name.as_str()));
    let known: Vec<&str> = tensors.chain(inputs).collect();
    findings.unknown(at, "tensor", name, &known);
    None
}

fn check_workloads(
    findings: &mut Findings<'_>,
    root: &Located,
    manifest: &Manifest,
    definition: &Definition,
    scope: &Scope,
) -> Vec<Workload> {
    // Sizes are computed only from a valid definition and valid values, so that one mistake yields one problem.
    let sound = findings.count() == 0;
    let mut workloads = Vec::new();
    for (index, written) in manifest.workloads.iter().enumerate() {
        let at = root.field("workloads").item(index);
        let before = findings.count();
        let mut workload =
            workload::check_values(findings, at, written, definition, (manifest, scope));
        if sound && findings.count() == before {
            workload::complete(findings, root, (index, written), definition, &mut workload);
        }
        workloads.push(workload);
    }
    workloads
}
