//! The steps of a launch, in order: launches, fills, and repetitions of both.

use lightbench_primitives::scalar_value::ScalarValue;

use super::{
    Argument, Buffer, KernelName,
    arguments::Names,
    triton::{self, TritonOptions},
    written::{FillStepWritten, LaunchWritten, RepeatWritten, StepWritten, TritonLaunchWritten},
};
use crate::expression::{Expression, Kind, Scope};
use crate::language::Language;
use crate::locate::Located;
use crate::problem::Findings;
use crate::scalar::scalar_value;
use crate::tensor::formulas;
use crate::written::ExpressionWritten;

/// Maximum number of steps, including nested ones.
const MAX_STEPS: usize = 256;

/// The deepest repetition inside repetitions.
const MAX_REPEATS: usize = 4;

/// One step. All steps run on one stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A kernel runs.
    Launch(LaunchStep),
    /// A buffer is set to one value.
    Fill {
        /// Which.
        buffer: Buffer,
        value: ScalarValue,
    },
    /// Steps run again and again.
    Repeat {
        /// Number of iterations.
        count: Expression,
        /// Buffers that change places after each turn.
        swap: Vec<(Buffer, Buffer)>,
        /// Steps of each iteration.
        steps: Vec<Self>,
    },
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchStep {
    /// The kernel.
    pub kernel: KernelName,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Blocks along one to three dimensions.
    pub grid: Vec<Expression>,
    /// Threads of a block along one to three dimensions.
    pub block: Vec<Expression>,
    /// Bytes of dynamic shared memory.
    pub shared: Expression,
    /// Blocks of a cluster along one to three dimensions.
    pub cluster: Option<Vec<Expression>>,
    /// Whether all blocks are resident together.
    pub cooperative: bool,
    /// Preferred share of shared memory, in percent.
    pub carveout: Option<Expression>,
    /// Whether it may start before the previous kernel has ended.
    pub programmatic: bool,
    /// What only a launch of a Triton kernel has. The compiler decides shared memory then, and may add warps.
    pub triton: Option<Box<TritonOptions>>,
}

/// Calls `each` with every launch, nested ones included, in order.
pub(super) fn each_launch<'a>(steps: &'a [Step], each: &mut impl FnMut(&'a LaunchStep)) {
    for step in steps {
        match step {
            Step::Launch(launch) => each(launch),
            Step::Repeat { steps, .. } => each_launch(steps, each),
            Step::Fill { .. } => {}
        }
    }
}

pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &[StepWritten],
    names: Names<'_>,
    early: &Scope,
) -> Vec<Step> {
    let mut checker = Checker { findings, names, early, count: 0, launches: 0 };
    let steps = checker.steps(at, written, 0);
    let (count, launches) = (checker.count, checker.launches);
    findings.at_most(at, "steps", count, MAX_STEPS);
    if launches == 0 {
        findings.add_with_help(
            at,
            "nothing is launched",
            "at least one launch",
            "add `launch(kernel: …, grid: […], block: […])`",
        );
    }
    steps
}

struct Checker<'f, 'a, 'n> {
    findings: &'f mut Findings<'a>,
    names: Names<'n>,
    early: &'n Scope,
    count: usize,
    launches: usize,
}

impl Checker<'_, '_, '_> {
    fn steps(&mut self, at: &Located, written: &[StepWritten], depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, step) in written.iter().enumerate() {
            self.count += 1;
            let place = at.item(index);
            steps.extend(match step {
                StepWritten::Launch(launch) => self.launch(place, launch).map(Step::Launch),
                StepWritten::Triton(launch) => self.triton(place, launch).map(Step::Launch),
                StepWritten::Fill(fill) => self.fill(place, fill),
                StepWritten::Repeat(repeat) => self.repeat(place, repeat, depth),
            });
        }
        steps
    }

    fn launch(&mut self, at: &Located, written: &LaunchWritten) -> Option<LaunchStep> {
        self.launches += 1;
        if self.names.language == Language::Triton {
            let expected =
                "`triton(kernel: …, args: […], constexprs: {…}, grid: […], num_warps: …)`";
            self.findings.add(at, "`launch(…)` in a Python file", expected);
            return None;
        }
        let kernel = self.kernel_name(at.field("kernel"), &written.kernel);
        let late = self.names.late;
        let arguments = self.arguments(at, written.args.as_deref());
        let grid = self.dimensions(at.field("grid"), &written.grid, late);
        let block = self.dimensions(at.field("block"), &written.block, self.early);
        let shared = match &written.shared {
            Some(shared) => {
                self.findings.formula(at.field("shared"), &shared.0, self.early, Kind::Integer)
            }
            None => Expression::from(0),
        };
        let cluster = written
            .cluster
            .as_ref()
            .map(|cluster| self.dimensions(at.field("cluster"), cluster, self.early));
        let carveout = written.carveout.as_ref();
        let carveout = carveout.map(|carveout| {
            self.findings.formula(at.field("carveout"), &carveout.0, self.early, Kind::Integer)
        });
        Some(LaunchStep {
            kernel: kernel?,
            arguments,
            grid,
            block,
            shared,
            cluster,
            cooperative: written.cooperative,
            carveout,
            programmatic: written.programmatic,
            triton: None,
        })
    }

    fn triton(&mut self, at: &Located, written: &TritonLaunchWritten) -> Option<LaunchStep> {
        self.launches += 1;
        if self.names.language != Language::Triton {
            let expected = "`launch(…)`; Triton kernels are files with the extension `.py`";
            self.findings.add(at, "`triton(…)` in a file that is not Python", expected);
            return None;
        }
        let arguments = self.arguments(at, written.args.as_deref());
        let grid = self.dimensions(at.field("grid"), &written.grid, self.names.late);
        let before = self.findings.count();
        let names = self.names;
        let ordinal = self.launches - 1;
        let subject = (&*arguments, self.early);
        let options = triton::check(self.findings, at, (written, names), subject, ordinal);
        if self.findings.count() > before {
            return None;
        }
        let threads = format!("32 * ({})", written.num_warps.0);
        let place = at.field("num_warps");
        let block = self.findings.formula(place, &threads, self.early, Kind::Integer);
        Some(LaunchStep {
            kernel: self.kernel_name(at.field("kernel"), &written.kernel)?,
            arguments,
            grid,
            block: vec![block],
            shared: Expression::from(0),
            cluster: None,
            cooperative: false,
            carveout: None,
            programmatic: false,
            triton: Some(Box::new(options)),
        })
    }

    fn dimensions(
        &mut self,
        at: &Located,
        written: &[ExpressionWritten],
        scope: &Scope,
    ) -> Vec<Expression> {
        if !(1..=3).contains(&written.len()) {
            self.findings.add(at, format!("{} dimensions", written.len()), "one to three");
        }
        formulas(self.findings, at, written.iter().map(|text| &text.0), scope)
    }

    fn kernel_name(&mut self, at: &Located, written: &str) -> Option<KernelName> {
        let name = match KernelName::parse(written) {
            Ok(name) => name,
            Err(error) => {
                self.findings.add_inside(at, error.span, error.found, error.expected);
                return None;
            }
        };
        let parameters = self.names.block.params.0.iter().map(|(name, _)| format!("PARAM_{name}"));
        let axes = self.names.block.constants.iter().map(|name| format!("AXIS_{name}"));
        let known: Vec<String> = parameters.chain(axes).collect();
        for used in name.macros() {
            if !known.iter().any(|known| known == used) {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                self.findings.unknown(at, "macro", used, &known);
            }
        }
        Some(name)
    }

    fn arguments(&mut self, at: &Located, written: Option<&[String]>) -> Vec<Argument> {
        let Some(args) = written else {
            let defaults = self.names.default_arguments();
            return defaults.unwrap_or_default();
        };
        let place = at.field("args");
        self.findings.at_most(place, "arguments", args.len(), 256);
        let mut arguments = Vec::new();
        for (index, text) in args.iter().enumerate() {
            arguments.extend(self.names.argument(self.findings, place.item(index), text));
        }
        arguments
    }

    fn fill(&mut self, at: &Located, written: &FillStepWritten) -> Option<Step> {
        let place = at.field("buffer");
        let buffer = self.names.buffer(self.findings, place, &written.buffer)?;
        let facts = self.names.facts(buffer)?;
        if !facts.writable {
            self.findings.add(
                place,
                format!("`{}` is an input", written.buffer),
                "scratch, an output or an inout",
            );
        }
        let value = scalar_value(self.findings, at.field("value"), written.value, facts.dtype);
        if facts.dtype.is_packed() && value.as_real() != 0.0 {
            self.findings.add(
                at.field("value"),
                format!("a value of packed {}", facts.dtype.name()),
                "0",
            );
        }
        Some(Step::Fill { buffer, value })
    }

    fn repeat(&mut self, at: &Located, written: &RepeatWritten, depth: usize) -> Option<Step> {
        if depth >= MAX_REPEATS {
            self.findings.add(
                at,
                "repetitions are nested too deeply",
                format!("at most {MAX_REPEATS} levels"),
            );
            return None;
        }
        let count = self.findings.formula(
            at.field("count"),
            &written.count.0,
            self.names.late,
            Kind::Integer,
        );
        let mut swap = Vec::new();
        for (index, (left, right)) in written.swap.iter().enumerate() {
            let place = at.field("swap").item(index);
            let first = self.names.buffer(self.findings, place.item(0), left);
            let second = self.names.buffer(self.findings, place.item(1), right);
            if let (Some(first), Some(second)) = (first, second) {
                self.swappable(place, (left, first), (right, second));
                swap.push((first, second));
            }
        }
        if written.steps.is_empty() {
            self.findings.add(at.field("steps"), "nothing is repeated", "at least one step");
        }
        let steps = self.steps(at.field("steps"), &written.steps, depth + 1);
        Some(Step::Repeat { count, swap, steps })
    }

    fn swappable(&mut self, at: &Located, left: (&str, Buffer), right: (&str, Buffer)) {
        if left.1 == right.1 {
            self.findings.add(at, format!("`{}` with itself", left.0), "two buffers");
        }
        let (Some(first), Some(second)) = (self.names.facts(left.1), self.names.facts(right.1))
        else {
            return;
        };
        for ((name, _), facts) in [(left, first), (right, second)] {
            if !facts.writable {
                self.findings.add(
                    at,
                    format!("`{name}` is an input"),
                    "scratch, outputs or inouts",
                );
            }
        }
        if first.dtype != second.dtype {
            let found = format!(
                "`{}` is {} and `{}` {}",
                left.0,
                first.dtype.name(),
                right.0,
                second.dtype.name()
            );
            self.findings.add(at, found, "the same dtype");
        }
    }
}
