//! What can be done with a variant, and doing it: rules and models. Tuning needs the laboratory, and is the explorer's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;

use super::budget::Cost;
use super::entry::Talk;
use super::story::Story;
use crate::history::record::Origin;
use crate::project::{Kernel, Project};
use crate::strategies::Action;
use crate::suggest::knowledge::Knowledge;
use crate::suggest::rewrite::{Rewrite, Rule, Subject, rules};
use crate::units::Bytes;

/// The key of tuning.
pub const TUNE: &str = "tune";

/// The name of the operator that applies rewrite rules.
pub const RULES: &str = "rules";

/// Prefix of the names of operators that ask a model; the name of the model in the settings follows.
pub const MODEL_PREFIX: &str = "model:";

/// Gains that are expected of numbers: what is declared is worth a look.
const TUNING_GAIN: f64 = 1.15;

/// Places of one rule that are offered.
const MOST_PLACES: usize = 8;

/// A variant that something could be done with.
pub struct Subjected<'a> {
    /// The project.
    pub project: &'a Arc<Project>,
    /// The kernel.
    pub kernel: &'a Arc<Kernel>,
    /// What holds it back, as far as is known.
    pub bottleneck: Option<&'a str>,
    /// What the playbook advises, and times as fast that it expects.
    pub advised: &'a [(String, f64)],
    /// What was learnt.
    pub knowledge: &'a Knowledge,
    /// All that happened so far.
    pub story: &'a Story,
    /// Which of the story's variants it is.
    pub variant: usize,
}

/// Something that makes variants of others.
pub trait Operator: Send {
    /// What it is called on the command line and in records.
    fn name(&self) -> &str;

    /// What it could do.
    fn actions(&self, subject: &Subjected<'_>) -> Vec<Action>;

    /// Does it.
    fn propose(&mut self, subject: &Subjected<'_>, action: &Action) -> Result<Draft, Nothing>;

    /// Is told before the search begins what ends its waits and who hears of them; what never waits ignores it.
    fn attend(&mut self, _attention: &Attention) {}
}

/// What an operator needs that waits for answers from elsewhere.
#[derive(Clone)]
pub struct Attention {
    /// Looked at in every wait.
    pub cancellation: Cancellation,
    /// Hears about once a second that an operator still waits.
    pub hear: Arc<dyn Fn(&Waiting) + Send + Sync>,
}

/// An operator that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The operator's name.
    pub operator: String,
    /// Since it asked, pauses between attempts included.
    pub waited: Duration,
    /// Bytes of the answer that have come.
    pub received: usize,
    /// What all questions of the search before this one cost.
    pub cost: Cost,
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, waited, received, cost: Cost { tokens, money } } = self;
        let (seconds, received) = (waited.as_secs(), Bytes(*received as u64));
        write!(formatter, "{operator}: waiting for {seconds} s, {received} received")?;
        write!(formatter, "; {tokens} tokens and {money:.4} of money so far")
    }
}

/// A variant that an operator made.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The whole kernel file.
    pub source: String,
    /// What was done, in a sentence.
    pub what: String,
    /// The technique of the playbook that it carries out.
    pub technique: Option<String>,
    /// Who made it.
    pub origin: Origin,
    /// What a model was told and said.
    pub talk: Option<Talk>,
    /// What it cost.
    pub cost: Cost,
}

/// Why an operator made nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Nothing {
    /// Why, in a sentence.
    pub why: String,
    /// What it cost all the same.
    pub cost: Cost,
    /// What a model was told and said, where one was asked.
    pub talk: Option<Box<Talk>>,
}

/// The rewrite rules.
#[derive(Debug, Default)]
pub struct Rules;

impl Operator for Rules {
    fn name(&self) -> &'static str {
        RULES
    }

    fn actions(&self, subject: &Subjected<'_>) -> Vec<Action> {
        let Ok(read) = Subject::of(subject.project, subject.kernel) else { return Vec::new() };
        let each = rules().iter().filter_map(|rule| Some((rule, rule.rewrites(&read).ok()?)));
        each.flat_map(|(rule, rewrites)| {
            let gain = expected(rule, subject);
            let places = rewrites.into_iter().take(MOST_PLACES).enumerate();
            places.map(move |(place, _)| Action {
                key: key(rule, place),
                operator: RULES.to_owned(),
                expected_gain: gain.ln(),
                repeatable: false,
                tried: 0,
            })
        })
        .collect()
    }

    fn propose(&mut self, subject: &Subjected<'_>, action: &Action) -> Result<Draft, Nothing> {
        let nothing = |why: String| Nothing { why, cost: Cost::default(), talk: None };
        let read = Subject::of(subject.project, subject.kernel)
            .map_err(|reason| nothing(reason.to_string()))?;
        for rule in rules() {
            let Ok(rewrites) = rule.rewrites(&read) else { continue };
            let wanted = |(place, _): &(usize, &Rewrite)| key(rule, *place) == action.key;
            if let Some((_, rewrite)) = rewrites.iter().enumerate().find(wanted) {
                return Ok(Draft {
                    source: rewrite.apply(&subject.kernel.source),
                    what: rewrite.what.clone(),
                    technique: Some(rule.technique.to_owned()),
                    origin: Origin::Rule { name: rule.id.to_owned() },
                    talk: None,
                    cost: Cost::default(),
                });
            }
        }
        Err(nothing(format!("`{}` does not apply", action.key)))
    }
}

fn key(rule: &Rule, place: usize) -> String {
    format!("rule:{}#{place}", rule.id)
}

/// Times as fast that is expected of a rule.
fn expected(rule: &Rule, subject: &Subjected<'_>) -> f64 {
    let advised = subject.advised.iter().find(|(technique, _)| technique == rule.technique);
    let advised = advised.map(|(_, gain)| *gain);
    subject.knowledge.forecast(rule.technique, subject.bottleneck, advised).gain
}

/// Tuning, where a kernel declares more than one configuration.
#[must_use]
pub fn tuning(kernel: &Kernel, knowledge: &Knowledge, bottleneck: Option<&str>) -> Option<Action> {
    let choices = kernel.launch.parameters.iter().map(|parameter| parameter.values.len());
    if !choices.into_iter().any(|count| count > 1) {
        return None;
    }
    let gain = knowledge.forecast("larger-blocks", bottleneck, Some(TUNING_GAIN)).gain;
    Some(Action {
        key: TUNE.to_owned(),
        operator: "tuner".to_owned(),
        expected_gain: gain.ln(),
        repeatable: false,
        tried: 0,
    })
}
