//! The catch matrix: an audit of the checker for one project.
//!
//! Every cheat that can be generated from the definition must be caught, every kernel in `wrong/` must fail as declared,
//! and every honest kernel must pass. The matrix also states the smallest error that is still caught.

pub mod attack;
mod cheat;
mod gap;
mod generate;

use serde::Serialize;

use crate::evaluate::{EvaluateError, PolicyUse, Run};
use crate::project::{Kernel, Part, Project, Reference};
use crate::verify::not_judged::NotPassed;
use crate::verify::sentence;
use crate::verify::verdict::Failure;

pub use cheat::Cheat;
pub use gap::{Gap, GapKind, of_definition as gaps_of_definition};
pub use generate::{Unsuitable, generate};

/// The range of exponents for the search of the smallest caught error.
const EXPONENTS: (u32, u32) = (1, 48);

const NOT_GENERATED: &str =
    "none: cheats are generated from the code of reference.cu, and this project has reference.py";

/// Gives verdicts to an audit; kernels are not timed.
pub trait VerdictSource {
    /// The verdict of a kernel; `name` is its name for display.
    ///
    /// # Errors
    /// No verdict is possible.
    fn verdict(
        &mut self,
        name: &str,
        kernel: &Kernel,
        policy: PolicyUse,
    ) -> Result<Run, EvaluateError>;
}

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// The generated cheats.
    pub cheats: Vec<Cell<Cheat>>,
    /// Why no cheats were generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_generated: Option<String>,
    /// The project's own wrong kernels, by name.
    pub wrong: Vec<Cell<String>>,
    /// Honest kernels: the reference rounded once, and the project's own.
    pub honest: Vec<Cell<String>>,
    /// The smallest error that is caught.
    pub sensitivity: Vec<Sensitivity>,
    /// The gaps of the definition.
    pub gaps: Vec<Gap>,
}

/// A kernel of an audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell<Name> {
    /// The name.
    pub name: Name,
    /// Whether the checker gave the required verdict.
    pub outcome: Outcome,
    /// The verdict in a sentence.
    pub sentence: String,
}

/// Whether the checker gave the required verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The checker gave the required verdict.
    Good,
    /// A cheat or a wrong kernel passed, or failed in another way than declared; an honest kernel failed; or a kernel could
    /// not be parsed and did not run.
    Hole,
    /// The kernel was not judged: its device, or the machine, ended the evaluation without a finding.
    NotJudged,
    /// Every output of the cheat is bitwise equal to the correct one, so the cheat does not apply.
    NotApplicable,
}

/// The smallest caught error of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sensitivity {
    /// The output.
    pub output: String,
    /// The data type.
    pub dtype: lightbench_primitives::dtype::Dtype,
    /// The largest exponent `e` for which a relative error of 2^-e in every element is caught; `None` if no error is
    /// caught.
    pub exponent: Option<u32>,
}

impl Matrix {
    /// The number of holes.
    #[must_use]
    pub fn holes(&self) -> usize {
        self.count(Outcome::Hole)
    }

    /// The number of kernels that were not judged.
    #[must_use]
    pub fn not_judged(&self) -> usize {
        self.count(Outcome::NotJudged)
    }

    fn count(&self, wanted: Outcome) -> usize {
        let outcomes = self.cheats.iter().map(|cell| cell.outcome);
        let outcomes = outcomes.chain(self.wrong.iter().map(|cell| cell.outcome));
        let outcomes = outcomes.chain(self.honest.iter().map(|cell| cell.outcome));
        outcomes.filter(|outcome| *outcome == wanted).count()
    }
}

/// Why there is no matrix.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Something could not be evaluated.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// No cheats can be made.
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
    /// A generated kernel is not a sound one: the generator is at fault.
    #[error("the generated cheat `{cheat}` is not a valid kernel: {problem}")]
    Generated {
        /// The name.
        cheat: Cheat,
        /// The problem.
        problem: String,
    },
    /// A kernel on which the rest depends was not judged.
    #[error("{0}")]
    NotJudged(String),
    /// A result cannot be kept.
    #[error("cannot keep the result of a mutant: {0}")]
    Record(String),
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Tries everything that a project can be tried with. Cheats are generated from `reference.cu` only.
///
/// # Errors
/// Something could not be tried at all.
pub fn audit(project: &Project, verdicts: &mut dyn VerdictSource) -> Result<Matrix, AuditError> {
    let mut auditor = Auditor { project, verdicts };
    let mut matrix = Matrix { gaps: gap::of_definition(project), ..Matrix::default() };
    match &project.reference {
        Reference::Kernel(_) => {
            let honest = auditor.cheat(Cheat::Honest)?;
            matrix.honest.push(honest_cell("reference, rounded once".to_owned(), &honest));
            auditor.try_own_kernels(&mut matrix)?;
            auditor.try_cheats(&honest, &mut matrix)?;
            auditor.find_smallest_errors(&mut matrix)?;
            auditor.find_ignored_inputs(&mut matrix)?;
        }
        Reference::Python(_) => {
            matrix.not_generated = Some(NOT_GENERATED.to_owned());
            auditor.try_own_kernels(&mut matrix)?;
        }
    }
    let accuracy = project.definition.accuracy;
    let loose = matrix.sensitivity.iter().filter_map(|each| gap::of_tolerance(each, accuracy));
    matrix.gaps.extend(loose);
    Ok(matrix)
}

struct Auditor<'a> {
    project: &'a Project,
    verdicts: &'a mut dyn VerdictSource,
}

impl Auditor<'_> {
    /// The kernels of the project, correct and wrong.
    fn try_own_kernels(&mut self, matrix: &mut Matrix) -> Result<(), AuditError> {
        for kernel in &self.project.kernels {
            let run = self.evaluated(&kernel.name, kernel, PolicyUse::Refuse)?;
            matrix.honest.push(honest_cell(kernel.name.clone(), &run));
        }
        for broken in &self.project.broken {
            let name = broken.name();
            let sentence = format!("{name} cannot be parsed: {}", broken.problem_list());
            let cell = Cell { name, outcome: Outcome::Hole, sentence };
            match broken.part {
                Part::Kernel => matrix.honest.push(cell),
                Part::Wrong => matrix.wrong.push(cell),
                // The kernels that include it are rejected.
                Part::Include => {}
            }
        }
        for kernel in &self.project.wrong {
            let run = self.evaluated(&kernel.name, kernel, PolicyUse::Refuse)?;
            matrix.wrong.push(wrong_cell(kernel, &run));
        }
        Ok(())
    }

    /// Every generated cheat; `honest` is the run of the kernel that does not cheat.
    fn try_cheats(&mut self, honest: &Run, matrix: &mut Matrix) -> Result<(), AuditError> {
        for cheat in Cheat::ALL {
            let run = self.cheat(cheat)?;
            let same = digests(honest).is_some_and(|correct| digests(&run) == Some(correct));
            let outcome = match run.verdict {
                Err(NotPassed::Failed(_)) => Outcome::Good,
                Err(NotPassed::NotJudged(_)) => Outcome::NotJudged,
                Ok(_) if same => Outcome::NotApplicable,
                Ok(_) => Outcome::Hole,
            };
            let sentence = sentence::verdict(&cheat.to_string(), &run.verdict);
            matrix.cheats.push(Cell { name: cheat, outcome, sentence });
        }
        Ok(())
    }

    fn find_smallest_errors(&mut self, matrix: &mut Matrix) -> Result<(), AuditError> {
        for (index, tensor) in self.project.definition.tensors.iter().enumerate() {
            if tensor.role.compare().is_some() && tensor.dtype.is_float() {
                let exponent = self.smallest_caught(index)?;
                let (output, dtype) = (tensor.name.clone(), tensor.dtype);
                matrix.sensitivity.push(Sensitivity { output, dtype, exponent });
            }
        }
        Ok(())
    }

    /// Inputs on which no output depends in any workload.
    fn find_ignored_inputs(&mut self, matrix: &mut Matrix) -> Result<(), AuditError> {
        for (index, tensor) in self.project.definition.tensors.iter().enumerate() {
            if cheat::is_replaceable(tensor)
                && !self.is_caught(Cheat::IgnoresInput { tensor: index })?
            {
                matrix.gaps.push(gap::ignored(&tensor.name));
            }
        }
        Ok(())
    }

    /// A generated kernel; static evidence does not refuse it, so that it must be caught while it runs.
    fn cheat(&mut self, cheat: Cheat) -> Result<Run, AuditError> {
        let source = generate(self.project, cheat)?;
        let kernel = self.project.draft("cheat", source).map_err(|problems| {
            let problem = problems.first().map(ToString::to_string).unwrap_or_default();
            AuditError::Generated { cheat, problem }
        })?;
        let run = self.evaluated(&cheat.to_string(), &kernel, PolicyUse::Show)?;
        match &run.verdict {
            Err(NotPassed::Failed(Failure::Compile(error))) => {
                Err(AuditError::Generated { cheat, problem: error.to_string() })
            }
            Err(_) | Ok(_) => Ok(run),
        }
    }

    fn evaluated(
        &mut self,
        name: &str,
        kernel: &Kernel,
        policy: PolicyUse,
    ) -> Result<Run, AuditError> {
        let run = self.verdicts.verdict(name, kernel, policy)?;
        match run.verdict {
            Err(ref reason) if reason.is_cancelled() => Err(AuditError::Cancelled),
            Ok(_) | Err(_) => Ok(run),
        }
    }

    /// Whether a generated kernel fails.
    fn is_caught(&mut self, cheat: Cheat) -> Result<bool, AuditError> {
        match self.cheat(cheat)?.verdict {
            Ok(_) => Ok(false),
            Err(NotPassed::Failed(_)) => Ok(true),
            Err(NotPassed::NotJudged(reason)) => {
                Err(AuditError::NotJudged(sentence::not_judged(&cheat.to_string(), &reason)))
            }
        }
    }

    /// The largest power whose error is caught, by halving the range.
    fn smallest_caught(&mut self, tensor: usize) -> Result<Option<u32>, AuditError> {
        let (mut low, mut high) = EXPONENTS;
        let mut caught = |exponent| self.is_caught(Cheat::OffBy { tensor, exponent });
        if !caught(low)? {
            return Ok(None);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if caught(middle)? { low = middle } else { high = middle }
        }
        Ok(Some(low))
    }
}

fn digests(run: &Run) -> Option<&Vec<String>> {
    run.verdict.as_ref().ok().map(|passed| &passed.checks.digests)
}

fn honest_cell(name: String, run: &Run) -> Cell<String> {
    let outcome = match &run.verdict {
        Ok(_) => Outcome::Good,
        Err(NotPassed::Failed(_)) => Outcome::Hole,
        Err(NotPassed::NotJudged(_)) => Outcome::NotJudged,
    };
    let sentence = sentence::verdict(&name, &run.verdict);
    Cell { name, outcome, sentence }
}

fn wrong_cell(kernel: &Kernel, run: &Run) -> Cell<String> {
    let expected = kernel.launch.expect;
    let outcome = match (&run.verdict, expected) {
        (Err(NotPassed::NotJudged(_)), _) => Outcome::NotJudged,
        (Err(NotPassed::Failed(failure)), Some(expected)) if failure.is_expected(expected) => {
            Outcome::Good
        }
        (Ok(_) | Err(NotPassed::Failed(_)), _) => Outcome::Hole,
    };
    let sentence = sentence::verdict(&kernel.name, &run.verdict);
    Cell { name: kernel.name.clone(), outcome, sentence }
}
