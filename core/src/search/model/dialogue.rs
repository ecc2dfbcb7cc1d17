//! Requests and replies for one proposal: an unusable reply is returned with a correction, a bounded number of times.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ModelSetup;
use super::wait_reporter::WaitReporter;
use crate::models::{
    AnswerEvent, Conversation, Limits, ModelError, ModelErrorKind, Reply, Request, Stop, Usage,
};
use crate::search::budget::Cost;
use crate::search::entry::ModelExchange;
use crate::search::prompt::{ModelRole, PromptError, correction};

/// Most corrections of one reply.
const MAX_CORRECTIONS: usize = 3;

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
        let mut answers = 0;
        loop {
            let reply = self.answer(&conversation)?;
            answers += 1;
            let text = self.asked.redactor.redact(&reply.text);
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

    fn answer(&mut self, conversation: &Conversation) -> Result<Reply, NoAnswer> {
        let received = Arc::new(AtomicUsize::new(0));
        let stop = match &self.watch {
            Some(watch) => watch.over(self.asked.stop.clone(), &received, self.exchange.cost),
            None => self.asked.stop.clone(),
        };
        let request = Request { conversation, limits: Limits::default(), stop: &stop };
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
