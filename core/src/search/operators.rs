//! Operators: they list actions for a variant and carry them out. Tuning runs kernels, so [`super::Explorer`] does it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;

use super::budget::Cost;
use super::entry::ModelExchange;
use super::state::SearchState;
use crate::history::record::Origin;
use crate::project::{Kernel, Project};
use crate::strategies::Action;
use crate::suggest::knowledge::Knowledge;
use crate::units::Bytes;

/// Key of the action that tunes parameters.
pub const TUNE: &str = "tune";

/// The name of the operator that applies rewrite rules.
pub const RULES: &str = "rules";

/// Prefix of the names of operators that ask a model; the name of the model in the settings follows.
pub const MODEL_PREFIX: &str = "model:";

/// Expected speedup of tuning, where the knowledge base has none.
const TUNING_GAIN: f64 = 1.15;

/// Most configurations that one tuning screens within a search.
pub(super) const MAX_TUNED_CONFIGURATIONS: usize = 32;

/// A variant that an operator may change, with what is known about it.
pub struct ParentVariant<'a> {
    /// The project.
    pub project: &'a Arc<Project>,
    /// The kernel.
    pub kernel: &'a Arc<Kernel>,
    /// Its bottleneck, if known.
    pub bottleneck: Option<&'a str>,
    /// Techniques that the playbook advises, each with its expected speedup.
    pub advised: &'a [(String, f64)],
    /// Gains of techniques that were observed.
    pub knowledge: &'a Knowledge,
    /// State of the search.
    pub story: &'a SearchState,
    /// Number of the variant.
    pub variant: usize,
}

/// Checks the text of a kernel file before it becomes a variant. Returns what the compiler says of its resources; the error
/// is a sentence for its author.
pub type DraftCheck<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Makes variants from others.
pub trait Operator: Send {
    /// Name on the command line and in journals.
    fn name(&self) -> &str;

    /// Actions that apply to a variant.
    fn actions(&self, subject: &ParentVariant<'_>) -> Vec<Action>;

    /// Carries an action out. `check` says what is wrong with the text of a draft; an operator that can correct it calls it
    /// before it answers.
    ///
    /// # Errors
    /// The operator proposes nothing.
    fn propose(
        &mut self,
        subject: &ParentVariant<'_>,
        action: &Action,
        check: DraftCheck<'_>,
    ) -> Result<Draft, NoProposal>;

    /// Sets, before the search begins, what ends and reports waits. Operators that never wait ignore it.
    fn attend(&mut self, _attention: &WaitControl) {}
}

/// Cancellation and progress reports of an operator that waits for replies.
#[derive(Clone)]
pub struct WaitControl {
    /// Ends every wait.
    pub cancellation: Cancellation,
    /// Called about once a second while an operator waits.
    pub hear: Arc<dyn Fn(&OperatorWait) + Send + Sync>,
}

/// Progress of an operator that waits for a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorWait {
    /// Name of the operator.
    pub operator: String,
    /// Time since the request, including pauses between attempts.
    pub waited: Duration,
    /// Bytes of the reply received.
    pub received: usize,
    /// Cost of all earlier requests of the search.
    pub cost: Cost,
}

impl fmt::Display for OperatorWait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, waited, received, cost: Cost { tokens, money } } = self;
        let (seconds, received) = (waited.as_secs(), Bytes(*received as u64));
        write!(formatter, "{operator}: waiting for {seconds} s, {received} received")?;
        write!(formatter, "; {tokens} tokens and {money:.4} of money so far")
    }
}

/// A variant that an operator has made and the search has not numbered.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Text of the kernel file.
    pub source: String,
    /// The change, in a sentence.
    pub what: String,
    /// Identifier of the technique of the playbook, if the change applies one.
    pub technique: Option<String>,
    /// The author.
    pub origin: Origin,
    /// The questions to a model and its last reply, if a model made it.
    pub talk: Option<ModelExchange>,
    /// Tokens and money that it cost.
    pub cost: Cost,
}

impl Draft {
    /// A variant that the tuner made.
    pub(super) fn of_tuner(source: String, what: String) -> Self {
        let (origin, cost) = (Origin::Tuner, Cost::default());
        Self { source, what, technique: None, origin, talk: None, cost }
    }
}

/// Why an operator proposed nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct NoProposal {
    /// The reason, in a sentence.
    pub why: String,
    /// Tokens and money that the attempt cost.
    pub cost: Cost,
    /// The questions to a model and its last reply, if one was asked.
    pub talk: Option<Box<ModelExchange>>,
}

/// The action that tunes parameters; none for a kernel with a single configuration.
#[must_use]
pub fn tuning_action(
    kernel: &Kernel,
    knowledge: &Knowledge,
    bottleneck: Option<&str>,
) -> Option<Action> {
    let choices = kernel.launch.parameters.iter().map(|parameter| parameter.values.len());
    let evaluations = choices.fold(1, usize::saturating_mul).min(MAX_TUNED_CONFIGURATIONS);
    if evaluations < 2 {
        return None;
    }
    let gain = knowledge.forecast("larger-blocks", bottleneck, Some(TUNING_GAIN)).gain;
    Some(Action {
        key: TUNE.to_owned(),
        operator: "tuner".to_owned(),
        expected_gain: gain.ln(),
        repeatable: false,
        evaluations,
        tried: 0,
    })
}
