//! A language model that proposes: told what is known of a kernel, it answers with another one.
//!
//! ```text
//!  Action ──► Task ──► prompt ──► (judge or planner ──►) coder ──► reply::parse ──► Draft
//!                                        ▲  what is wrong with the answer  │
//!                                        └──────────── at most twice ◄─────┘
//! ```
//!
//! What it proposes is text like anybody's: nothing is believed, and every check follows.

mod answer;
mod judgement;
mod talk;
mod trial;
mod watch;

use std::ops::ControlFlow;

use self::talk::{Exchange, Unanswered};
pub use self::trial::{Trial, TrialProblem};
use self::watch::Watch;
use super::prompt::{self, Setting, Task, Voice};
use crate::device::DeviceSheet;
use crate::history::record::Origin;
use crate::models::{AnswerEvent, Model, Prices, Redactor, StopSignal};
use crate::search::budget::Cost;
use crate::search::operators::{Attention, Draft, MODEL_PREFIX, Nothing, Operator, Subjected};
use crate::search::roles::Roles;
use crate::speed_of_light::playbook::{Technique, playbook};
use crate::strategies::Action;

/// Techniques that are offered at once.
const MOST_TECHNIQUES: usize = 6;

/// Times as fast that is expected of whatever a model chooses to do.
const FREE_GAIN: f64 = 1.1;

/// After so many questions in a row without any answer it is not asked again in this search.
const MOST_SILENCES: usize = 3;

/// The last part of the key of the action that leaves the choice to the model.
const FREE: &str = "free";

/// Hears what a model says while it says it, and whether anybody still wants to.
pub type Listening = Box<dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()> + Send>;

/// What a model operator needs.
pub struct Asked {
    /// The model.
    pub model: Box<dyn Model>,
    /// What its tokens cost, where that is known.
    pub prices: Option<Prices>,
    /// Takes keys out of all that is said and kept.
    pub redactor: Redactor,
    /// The device that kernels are for.
    pub sheet: &'static DeviceSheet,
    /// Who does what.
    pub roles: Roles,
    /// Other variants that are shown with their numbers, at most.
    pub contrast: usize,
    /// Looked at in every wait.
    pub stop: StopSignal,
}

/// A model among the operators of a search.
pub struct ModelOperator {
    name: String,
    asked: Asked,
    listening: Option<Listening>,
    attention: Option<Attention>,
    /// Questions in a row that got no answer, and the last reason.
    silences: usize,
    last: String,
}

impl ModelOperator {
    /// One that is called `model:` and what the settings call the model.
    #[must_use]
    pub fn new(asked: Asked) -> Self {
        let name = format!("{MODEL_PREFIX}{}", asked.model.name());
        Self { name, asked, listening: None, attention: None, silences: 0, last: String::new() }
    }

    /// With somebody who hears the answers as they come.
    #[must_use]
    pub fn heard_by(mut self, listening: Listening) -> Self {
        self.listening = Some(listening);
        self
    }

    /// The action of this technique; without one the choice is the model's.
    #[must_use]
    pub fn action(&self, subject: &Subjected<'_>, technique: Option<&str>) -> Action {
        let gain = match technique {
            Some(technique) => expected(subject, technique),
            None => FREE_GAIN,
        };
        Action {
            key: format!("{}:{}", self.name, technique.unwrap_or(FREE)),
            operator: self.name.clone(),
            expected_gain: gain.ln(),
            repeatable: true,
            tried: 0,
        }
    }

    fn task(&self, action: &Action) -> Option<Task<'static>> {
        let rest = action.key.strip_prefix(&self.name)?.strip_prefix(':')?;
        match rest {
            FREE => Some(Task::Free),
            id => technique(id).map(Task::Technique),
        }
    }

    /// All that is said for one proposal.
    fn drafted(
        &mut self,
        subject: &Subjected<'_>,
        task: Task<'_>,
        exchange: &mut Exchange,
    ) -> Result<(String, String), Unanswered> {
        let setting = Setting { subject, sheet: self.asked.sheet, contrast: self.asked.contrast };
        let mut no_one = |_: AnswerEvent<'_>| ControlFlow::Continue(());
        let hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()> = match &mut self.listening {
            Some(listening) => listening.as_mut(),
            None => &mut no_one,
        };
        let watch = self.attention.clone().map(|attention| Watch {
            attention,
            operator: self.name.clone(),
            before: subject.story.spent.cost,
        });
        let mut line = talk::Line { asked: &mut self.asked, hear, exchange, watch };
        let plan = match line.asked.roles {
            Roles::Proposer => None,
            Roles::CoderAndJudge => {
                let question = prompt::conversation(&setting, task, Voice::Judge, None)?;
                let judged = line.ask(Voice::Judge, &question, &judgement::judged)?;
                Some(judged.in_words())
            }
            Roles::PlannerThenCoder => {
                let question = prompt::conversation(&setting, task, Voice::Planner, None)?;
                Some(line.ask(Voice::Planner, &question, &judgement::planned)?)
            }
        };
        let question = prompt::conversation(&setting, task, Voice::Coder, plan.as_deref())?;
        let proposed =
            line.ask(Voice::Coder, &question, &|reply| answer::source(subject.kernel, reply))?;
        let done = proposed.idea.or(plan.map(|plan| prompt::one_line(&plan, IDEA)));
        let done = done.unwrap_or_else(|| in_words(task));
        Ok((proposed.source, done))
    }
}

/// Characters of what was done, where it comes from a plan.
const IDEA: usize = 300;

impl Operator for ModelOperator {
    fn name(&self) -> &str {
        &self.name
    }

    fn attend(&mut self, attention: &Attention) {
        self.attention = Some(attention.clone());
    }

    fn actions(&self, subject: &Subjected<'_>) -> Vec<Action> {
        let mut known: Vec<&str> =
            subject.advised.iter().map(|(technique, _)| technique.as_str()).collect();
        let bottleneck = subject.bottleneck.unwrap_or("unknown");
        let seen = subject.knowledge.seen.iter().filter(|seen| seen.bottleneck == bottleneck);
        known.extend(seen.map(|seen| seen.technique.as_str()));
        let mut actions: Vec<Action> = Vec::new();
        for id in known {
            let action = self.action(subject, Some(id));
            if technique(id).is_some() && actions.iter().all(|other| other.key != action.key) {
                actions.push(action);
            }
        }
        actions.sort_by(|a, b| b.expected().total_cmp(&a.expected()).then(a.key.cmp(&b.key)));
        actions.truncate(MOST_TECHNIQUES);
        actions.push(self.action(subject, None));
        actions
    }

    fn propose(&mut self, subject: &Subjected<'_>, action: &Action) -> Result<Draft, Nothing> {
        let nothing = |why: String| Nothing { why, cost: Cost::default(), talk: None };
        let Some(task) = self.task(action) else {
            return Err(nothing(format!("`{}` is nothing that a model is asked", action.key)));
        };
        if self.silences >= MOST_SILENCES {
            let last = &self.last;
            return Err(nothing(format!("not asked again after {MOST_SILENCES} times: {last}")));
        }
        let mut exchange = Exchange::new(self.asked.model.name());
        let drafted = self.drafted(subject, task, &mut exchange);
        let (talk, cost) = exchange.ended();
        match drafted {
            Ok((source, what)) => {
                self.silences = 0;
                let technique = match task {
                    Task::Technique(technique) => Some(technique.id.clone()),
                    Task::Free => None,
                };
                let origin = Origin::Model { name: self.asked.model.name().to_owned() };
                Ok(Draft { source, what, technique, origin, talk, cost })
            }
            Err(unanswered) => {
                let why = unanswered.to_string();
                match unanswered {
                    Unanswered::Unusable { .. } => self.silences = 0,
                    Unanswered::Silent(_) | Unanswered::Prompt(_) => self.silences += 1,
                }
                self.last.clone_from(&why);
                Err(Nothing { why, cost, talk: talk.map(Box::new) })
            }
        }
    }
}

fn technique(id: &str) -> Option<&'static Technique> {
    playbook().techniques.iter().find(|technique| technique.id == id)
}

fn in_words(task: Task<'_>) -> String {
    match task {
        Task::Technique(technique) => technique.title.clone(),
        Task::Free => "a change of its own choice".to_owned(),
    }
}

/// Times as fast that is expected of a technique.
fn expected(subject: &Subjected<'_>, technique: &str) -> f64 {
    let advised = subject.advised.iter().find(|(known, _)| known == technique);
    let advised = advised.map(|(_, gain)| *gain);
    subject.knowledge.forecast(technique, subject.bottleneck, advised).gain
}

#[cfg(test)]
mod tests;
