//! Requests and replies for one proposal: an unusable reply is returned with a correction, a bounded number of times.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ModelSetup;
use super::tools::offered;
use super::wait_reporter::WaitReporter;
use crate::models::{
    AnswerEvent, Conversation, Limits, ModelError, ModelErrorKind, Reply, Request, Stop, Tool,
    ToolCall, ToolResult, Usage,
};
use crate::search::budget::Cost;
use crate::search::entry::ModelExchange;
use crate::search::prompt::{ModelRole, PromptError, correction};

/// Most corrections of one reply.
const MAX_CORRECTIONS: usize = 3;

/// Most replies for one proposal whose calls of tools are carried out, and most calls of one of them.
const MAX_ROUNDS: usize = 8;
const MAX_CALLS: usize = 8;

/// Why the model proposed nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// The request failed.
    #[error("no reply: {0}")]
    Failed(ModelErrorKind),
    /// No reply could be used.
    #[error("none of {answers} replies could be used; the last one: {problem}")]
    Unusable {
        /// Number of replies.
        answers: usize,
        /// Problem of the last reply.
        problem: String,
    },
    /// The prompt could not be made.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// All messages for one proposal, and their cost.
#[derive(Debug)]
pub(super) struct Exchange {
    model: String,
    said: String,
    reply: Option<String>,
    cost: Cost,
}

impl Exchange {
    pub(super) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), said: String::new(), reply: None, cost: Cost::default() }
    }

    /// The messages to store: all before the last reply, and that reply. None if the model was not asked.
    pub(super) fn ended(self) -> (Option<ModelExchange>, Cost) {
        let Self { model, said: prompt, reply, cost } = self;
        let talk = (!prompt.is_empty()).then(|| {
            let reply = reply.unwrap_or_default();
            ModelExchange { model, prompt, reply }
        });
        (talk, cost)
    }

    /// Adds a request; the reply before it becomes a part of the stored prompt.
    fn asks(&mut self, text: &str) {
        if let Some(reply) = self.reply.take() {
            self.said += &format!("\n\n# It answered\n\n{}\n\n# It was told\n\n", reply.trim_end());
        }
        self.said += text;
    }

    /// Adds calls of tools, the text before them and their results.
    fn called(&mut self, text: &str, calls: &[ToolCall], results: &[ToolResult]) {
        self.said += &format!("\n\n# It called\n\n{}", text.trim_end());
        for (call, result) in calls.iter().zip(results) {
            let ToolCall { name, arguments, .. } = call;
            self.said += &format!("\n{name} {arguments}\n\n# It was told\n\n{}\n", result.text);
        }
    }

    fn pays(&mut self, usages: impl Iterator<Item = Usage>, asked: &ModelSetup) {
        for usage in usages {
            let tokens = usage.input.tokens().saturating_add(usage.output.tokens());
            self.cost.tokens = self.cost.tokens.saturating_add(tokens);
            self.cost.money += asked.prices.map_or(0.0, |prices| prices.cost(usage).0);
        }
    }
}

/// A conversation with the model.
pub(super) struct Dialogue<'a> {
    pub(super) asked: &'a mut ModelSetup,
    pub(super) hear: &'a mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    pub(super) exchange: &'a mut Exchange,
    /// Reports waits, in a search.
    pub(super) watch: Option<WaitReporter>,
    /// Carries out a call of a tool.
    pub(super) call: &'a mut dyn FnMut(&ToolCall) -> String,
}

impl Dialogue<'_> {
    /// Asks until a reply is understood, with at most [`MAX_CORRECTIONS`] corrections.
    pub(super) fn ask<T>(
        &mut self,
        voice: ModelRole,
        question: &Conversation,
        understand: &mut dyn FnMut(&str) -> Result<T, String>,
    ) -> Result<T, NoAnswer> {
        let mut conversation = question.redacted(&self.asked.redactor);
        self.exchange.asks(&conversation.to_prompt());
        let (mut answers, mut rounds) = (0, 0);
        let calls_tools = self.asked.model.calls_tools();
        let tools = if calls_tools { offered() } else { Vec::new() };
        loop {
            let reply = self.answer(&conversation, &tools)?;
            let text = self.asked.redactor.redact(&reply.text);
            if !reply.calls.is_empty() && reply.stop != Stop::Listener {
                rounds += 1;
                if rounds > MAX_ROUNDS + 1 {
                    let problem = "it calls tools and does not answer".to_owned();
                    return Err(NoAnswer::Unusable { answers: answers + rounds, problem });
                }
                let results = self.results(&reply.calls, rounds);
                self.exchange.called(&text, &reply.calls, &results);
                conversation = conversation.called(text, reply.calls, results);
                continue;
            }
            answers += 1;
            self.exchange.reply = Some(text.clone());
            let problem = match (&reply.stop, understand(&text)) {
                (Stop::Listener, _) => return Err(NoAnswer::Failed(ModelErrorKind::Cancelled)),
                (_, Ok(understood)) => return Ok(understood),
                (_, Err(problem)) => problem,
            };
            if answers > MAX_CORRECTIONS {
                return Err(NoAnswer::Unusable { answers, problem });
            }
            let next = self.asked.redactor.redact(&correction(&problem, voice)?);
            self.exchange.asks(&next);
            conversation = conversation.answered(text, next);
        }
    }

    /// Carries out the calls of a reply; beyond the limits, their results say so.
    fn results(&mut self, calls: &[ToolCall], round: usize) -> Vec<ToolResult> {
        let each = calls.iter().enumerate().map(|(index, call)| {
            let text = match (round > MAX_ROUNDS, index >= MAX_CALLS) {
                (true, _) => {
                    "Not carried out: no further calls are answered. Answer now.".to_owned()
                }
                (false, true) => format!("Not carried out: at most {MAX_CALLS} calls at once."),
                (false, false) => self.asked.redactor.redact(&(self.call)(call)),
            };
            ToolResult { id: call.id.clone(), text }
        });
        each.collect()
    }

    fn answer(&mut self, conversation: &Conversation, tools: &[Tool]) -> Result<Reply, NoAnswer> {
        let received = Arc::new(AtomicUsize::new(0));
        let stop = match &self.watch {
            Some(watch) => watch.over(self.asked.stop.clone(), &received, self.exchange.cost),
            None => self.asked.stop.clone(),
        };
        let request = Request { conversation, tools, limits: Limits::default(), stop: &stop };
        let hear = &mut *self.hear;
        let answer = self.asked.model.ask(&request, &mut |heard| {
            match heard {
                AnswerEvent::Text(piece) => received.fetch_add(piece.len(), Ordering::Relaxed),
                AnswerEvent::Again { .. } => received.swap(0, Ordering::Relaxed),
            };
            hear(heard)
        });
        let (usage, attempts) = match &answer {
            Ok(Reply { usage, attempts, .. }) | Err(ModelError { usage, attempts, .. }) => {
                (*usage, attempts)
            }
        };
        let usages = attempts.iter().map(|attempt| attempt.usage).chain([usage]);
        self.exchange.pays(usages, self.asked);
        answer.map_err(|error| NoAnswer::Failed(error.trouble))
    }
}
