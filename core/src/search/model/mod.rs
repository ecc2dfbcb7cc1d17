//! Operator that asks a language model: the prompt describes a kernel, and the reply contains a changed one.
//!
//! ```text
//!  Action ──► Task ──► prompt ──► (judge or planner ──►) coder ──► reply::parse ──► DraftCheck ──► Draft
//!                                      ▲   │  ▲      correction, at most three times    │
//!                               results│   ▼  └─────────────────────────────────────────┘
//!                                      tools
//! ```
//!
//! A proposed kernel passes the same checks as any other candidate.

mod answer;
mod dialogue;
mod judgement;
mod recorded;
mod tools;
mod trial;
mod wait_reporter;

use std::cell::RefCell;
use std::ops::ControlFlow;

use self::dialogue::{Exchange, NoAnswer};
pub use self::recorded::{RECORDED, from_entries};
pub use self::trial::{Trial, TrialProblem};
use self::wait_reporter::WaitReporter;
use super::prompt::{self, ModelRole, PromptContext, Task};
use crate::device::DeviceSheet;
use crate::history::record::Origin;
use crate::models::{AnswerEvent, Model, Prices, Redactor, StopSignal, ToolCall};
use crate::search::budget::Cost;
use crate::search::operators::{
    Draft, DraftCheck, MODEL_PREFIX, NoProposal, Operator, ParentVariant, WaitControl,
};
use crate::search::roles::Roles;
use crate::speed_of_light::playbook::{Technique, playbook};
use crate::strategies::Action;

/// Most techniques that are actions for one variant.
const MOST_TECHNIQUES: usize = 6;

/// Expected speedup of an action that leaves the technique to the model.
const FREE_GAIN: f64 = 1.1;

/// After this many requests in a row without a reply, the model is not asked again in this search.
const MAX_UNANSWERED: usize = 3;

/// Last part of the key of the action that leaves the technique to the model.
const FREE: &str = "free";

/// Receives the reply of a model in pieces; `Break` cancels the request.
pub type ReplyListener = Box<dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()> + Send>;

/// A model and the settings of its operator.
pub struct ModelSetup {
    /// The model.
    pub model: Box<dyn Model>,
    /// Prices of its tokens, if known.
    pub prices: Option<Prices>,
    /// Redacts secrets in requests and stored replies.
    pub redactor: Redactor,
    /// Data sheet of the device that kernels are written for.
    pub sheet: &'static DeviceSheet,
    /// Roles of the model.
    pub roles: Roles,
    /// Most other variants in a prompt.
    pub contrast: usize,
    /// Ends every wait.
    pub stop: StopSignal,
}

/// Operator that asks one model.
pub struct ModelOperator {
    name: String,
    asked: ModelSetup,
    listening: Option<ReplyListener>,
    attention: Option<WaitControl>,
    /// Requests in a row without a reply, and the last reason.
    unanswered: usize,
    last: String,
}

impl ModelOperator {
    /// An operator that is named `model:` and the name of the model in the settings.
    #[must_use]
    pub fn new(asked: ModelSetup) -> Self {
        let name = format!("{MODEL_PREFIX}{}", asked.model.name());
        Self { name, asked, listening: None, attention: None, unanswered: 0, last: String::new() }
    }

    /// Sends replies to a listener while they arrive.
    #[must_use]
    pub fn with_listener(mut self, listening: ReplyListener) -> Self {
        self.listening = Some(listening);
        self
    }

    /// The action for a technique; without one, the model chooses.
    #[must_use]
    pub fn action(&self, subject: &ParentVariant<'_>, technique: Option<&str>) -> Action {
        let gain = match technique {
            Some(technique) => expected(subject, technique),
            None => FREE_GAIN,
        };
        Action {
            key: format!("{}:{}", self.name, technique.unwrap_or(FREE)),
            operator: self.name.clone(),
            expected_gain: gain.ln(),
            repeatable: true,
            evaluations: 1,
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

    /// Asks for one proposal; returns the kernel file and a description of the change.
    fn drafted(
        &mut self,
        subject: &ParentVariant<'_>,
        task: Task<'_>,
        check: DraftCheck<'_>,
        exchange: &mut Exchange,
    ) -> Result<(String, String), NoAnswer> {
        let setting =
            PromptContext { subject, sheet: self.asked.sheet, contrast: self.asked.contrast };
        let mut no_one = |_: AnswerEvent<'_>| ControlFlow::Continue(());
        let hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()> = match &mut self.listening {
            Some(listening) => listening.as_mut(),
            None => &mut no_one,
        };
        let watch = self.attention.clone().map(|attention| WaitReporter {
            attention,
            operator: self.name.clone(),
            before: subject.story.spent.cost,
        });
        // Called by tools and for the answer, never at the same time.
        let check = RefCell::new(check);
        let mut tool = |call: &ToolCall| tools::result(call, subject, &mut **check.borrow_mut());
        let call = &mut tool;
        let mut line = dialogue::Dialogue { asked: &mut self.asked, hear, exchange, watch, call };
        let plan = match line.asked.roles {
            Roles::Proposer => None,
            Roles::CoderAndJudge => {
                let question = prompt::conversation(&setting, task, ModelRole::Judge, None)?;
                let judged = line.ask(ModelRole::Judge, &question, &mut judgement::judged)?;
                Some(judged.in_words())
            }
            Roles::PlannerThenCoder => {
                let question = prompt::conversation(&setting, task, ModelRole::Planner, None)?;
                Some(line.ask(ModelRole::Planner, &question, &mut judgement::planned)?)
            }
        };
        let question = prompt::conversation(&setting, task, ModelRole::Coder, plan.as_deref())?;
        let proposed = line.ask(ModelRole::Coder, &question, &mut |reply| {
            let answer = answer::source(subject.kernel, reply)?;
            (check.borrow_mut())(&answer.source)?;
            Ok(answer)
        })?;
        let done = proposed.idea.or(plan.map(|plan| prompt::one_line(&plan, IDEA)));
        let done = done.unwrap_or_else(|| task_title(task));
        Ok((proposed.source, done))
    }
}

/// Most characters of a description that is taken from a plan.
const IDEA: usize = 300;

impl Operator for ModelOperator {
    fn name(&self) -> &str {
        &self.name
    }

    fn attend(&mut self, attention: &WaitControl) {
        self.attention = Some(attention.clone());
    }

    fn actions(&self, subject: &ParentVariant<'_>) -> Vec<Action> {
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

    fn propose(
        &mut self,
        subject: &ParentVariant<'_>,
        action: &Action,
        check: DraftCheck<'_>,
    ) -> Result<Draft, NoProposal> {
        let nothing = |why: String| NoProposal { why, cost: Cost::default(), talk: None };
        let Some(task) = self.task(action) else {
            return Err(nothing(format!("`{}` is not an action of a model", action.key)));
        };
        if self.unanswered >= MAX_UNANSWERED {
            let last = &self.last;
            return Err(nothing(format!(
                "not asked again after {MAX_UNANSWERED} requests without a reply; last error: {last}"
            )));
        }
        let mut exchange = Exchange::new(self.asked.model.name());
        let drafted = self.drafted(subject, task, check, &mut exchange);
        let (talk, cost) = exchange.ended();
        match drafted {
            Ok((source, what)) => {
                self.unanswered = 0;
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
                    NoAnswer::Unusable { .. } => self.unanswered = 0,
                    NoAnswer::Failed(_) | NoAnswer::Prompt(_) => self.unanswered += 1,
                }
                self.last.clone_from(&why);
                Err(NoProposal { why, cost, talk: talk.map(Box::new) })
            }
        }
    }
}

fn technique(id: &str) -> Option<&'static Technique> {
    playbook().techniques.iter().find(|technique| technique.id == id)
}

fn task_title(task: Task<'_>) -> String {
    match task {
        Task::Technique(technique) => technique.title.clone(),
        Task::Free => "a change of its own choice".to_owned(),
    }
}

/// Expected speedup of a technique.
fn expected(subject: &ParentVariant<'_>, technique: &str) -> f64 {
    let advised = subject.advised.iter().find(|(known, _)| known == technique);
    let advised = advised.map(|(_, gain)| *gain);
    subject.knowledge.forecast(technique, subject.bottleneck, advised).gain
}

#[cfg(test)]
mod tests;
