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
use crate::suggest::rewrite::{KernelSource, Rule, rule, rules};
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

/// Most places of one rule that become actions.
const MAX_PLACES: usize = 8;

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

/// Checks the text of a kernel file before it becomes a variant; the error is a sentence for its author.
pub type DraftCheck<'a> = &'a mut dyn FnMut(&str) -> Result<(), String>;

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

/// The operator that applies rewrite rules.
#[derive(Debug, Default)]
pub struct Rules;

impl Operator for Rules {
    fn name(&self) -> &'static str {
        RULES
    }

    fn actions(&self, subject: &ParentVariant<'_>) -> Vec<Action> {
        let Ok(read) = KernelSource::from_kernel(subject.project, subject.kernel) else {
            return Vec::new();
        };
        let each = rules().iter().filter_map(|rule| Some((rule, rule.rewrites(&read).ok()?)));
        each.flat_map(|(rule, rewrites)| {
            let gain = expected_gain(rule, subject);
            let places = rewrites.into_iter().take(MAX_PLACES).enumerate();
            places.map(move |(place, _)| Action {
                key: key(rule, place),
                operator: RULES.to_owned(),
                expected_gain: gain.ln(),
                repeatable: false,
                evaluations: 1,
                tried: 0,
            })
        })
        .collect()
    }

    fn propose(
        &mut self,
        subject: &ParentVariant<'_>,
        action: &Action,
        _check: DraftCheck<'_>,
    ) -> Result<Draft, NoProposal> {
        let nothing = |why: String| NoProposal { why, cost: Cost::default(), talk: None };
        let read = KernelSource::from_kernel(subject.project, subject.kernel)
            .map_err(|reason| nothing(reason.to_string()))?;
        let found = rule_and_place(&action.key).and_then(|(rule, place)| {
            let rewrite = rule.rewrites(&read).ok()?.into_iter().nth(place)?;
            Some((rule, rewrite))
        });
        let does_not_apply = || nothing(format!("`{}` does not apply to this variant", action.key));
        let (rule, rewrite) = found.ok_or_else(does_not_apply)?;
        Ok(Draft {
            source: rewrite.apply(&subject.kernel.source),
            what: rewrite.what,
            technique: Some(rule.technique.to_owned()),
            origin: Origin::Rule { name: rule.id.to_owned() },
            talk: None,
            cost: Cost::default(),
        })
    }
}

fn key(rule: &Rule, place: usize) -> String {
    format!("rule:{}#{place}", rule.id)
}

fn rule_and_place(key: &str) -> Option<(&'static Rule, usize)> {
    let (id, place) = key.strip_prefix("rule:")?.split_once('#')?;
    Some((rule(id)?, place.parse().ok()?))
}

/// Expected speedup of a rule.
fn expected_gain(rule: &Rule, subject: &ParentVariant<'_>) -> f64 {
    let advised = subject.advised.iter().find(|(technique, _)| technique == rule.technique);
    let advised = advised.map(|(_, gain)| *gain);
    subject.knowledge.forecast(rule.technique, subject.bottleneck, advised).gain
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
