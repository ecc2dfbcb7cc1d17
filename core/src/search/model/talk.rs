//! Questions and answers for one proposal: what cannot be used goes back a bounded number of times, and all of it is kept.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Asked;
use super::watch::Watch;
use crate::models::{
    AnswerEvent, Conversation, Limits, ModelError, ModelErrorKind, Reply, Request, Stop, Usage,
};
use crate::search::budget::Cost;
use crate::search::entry::Talk;
use crate::search::prompt::{PromptError, Voice, again};

/// How often an answer that cannot be used goes back.
const MOST_CORRECTIONS: usize = 2;

/// Why there is no proposal.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    /// No answer came.
    #[error("no answer: {0}")]
    Silent(ModelErrorKind),
    /// Answers came, and none could be used.
    #[error("{answers} answers, and none could be used: {problem}")]
    Unusable {
        /// How many.
        answers: usize,
        /// What is wrong with the last.
        problem: String,
    },
    /// There is no question.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// All that was said for one proposal, and what it cost.
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

    /// What is kept of it: everything before the last reply, and the last reply. None where nothing was asked.
    pub(super) fn ended(self) -> (Option<Talk>, Cost) {
        let Self { model, said: prompt, reply, cost } = self;
        let talk = (!prompt.is_empty()).then(|| {
            let reply = reply.unwrap_or_default();
            Talk { model, prompt, reply }
        });
        (talk, cost)
    }

    /// A question; what was answered before it is a part of what was said.
    fn asks(&mut self, text: &str) {
        if let Some(reply) = self.reply.take() {
            self.said += &format!("\n\n# It answered\n\n{}\n\n# It was told\n\n", reply.trim_end());
        }
        self.said += text;
    }

    fn pays(&mut self, usages: impl Iterator<Item = Usage>, asked: &Asked) {
        for usage in usages {
            let tokens = usage.input.tokens().saturating_add(usage.output.tokens());
            self.cost.tokens = self.cost.tokens.saturating_add(tokens);
            self.cost.money += asked.prices.map_or(0.0, |prices| prices.cost(usage).0);
        }
    }
}

/// A model at the other end, and what is kept.
pub(super) struct Line<'a> {
    pub(super) asked: &'a mut Asked,
    pub(super) hear: &'a mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    pub(super) exchange: &'a mut Exchange,
    /// Hears of waits, where a search asks.
    pub(super) watch: Option<Watch>,
}

impl Line<'_> {
    /// Asks until an answer is understood, or as often as an answer may go back.
    pub(super) fn ask<T>(
        &mut self,
        voice: Voice,
        question: &Conversation,
        understand: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<T, Unanswered> {
        let mut conversation = question.redacted(&self.asked.redactor);
        self.exchange.asks(&conversation.to_prompt());
        let mut answers = 0;
        loop {
            let reply = self.answer(&conversation)?;
            answers += 1;
            let text = self.asked.redactor.redact(&reply.text);
            self.exchange.reply = Some(text.clone());
            let problem = match (&reply.stop, understand(&text)) {
                (Stop::Listener, _) => return Err(Unanswered::Silent(ModelErrorKind::Cancelled)),
                (_, Ok(understood)) => return Ok(understood),
                (_, Err(problem)) => problem,
            };
            if answers > MOST_CORRECTIONS {
                return Err(Unanswered::Unusable { answers, problem });
            }
            let next = self.asked.redactor.redact(&again(&problem, voice)?);
            self.exchange.asks(&next);
            conversation = conversation.answered(text, next);
        }
    }

    fn answer(&mut self, conversation: &Conversation) -> Result<Reply, Unanswered> {
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
        answer.map_err(|error| Unanswered::Silent(error.trouble))
    }
}
