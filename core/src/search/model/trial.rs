//! Test request with a known answer, in the form that searches need: checks the settings of a model.

use crate::models::reply::{Proposal, parse};
use crate::models::{Conversation, Reply, Stop};

const RULES: &str = "You write CUDA kernels. Your answer is read by a program, which accepts exactly the form that is asked for.";

/// A request with a random name that no earlier reply contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Name of the requested kernel.
    kernel: String,
}

/// Why a reply is not the requested one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialProblem {
    /// The reply is incomplete.
    #[error("the answer did not end by itself ({0}); raise `max_tokens` if that is what ended it")]
    Unfinished(String),
    /// The reply does not have the form that searches need.
    #[error("the answer is not in the form that searches need: {0}")]
    Form(String),
    /// The reply has a code block without the requested kernel.
    #[error(
        "the answer holds a code block, and no kernel `{expected}` in it, as the question asked for"
    )]
    OtherKernel {
        /// Name of the requested kernel.
        expected: String,
    },
}

impl Trial {
    /// A request whose kernel is named after this token.
    #[must_use]
    pub fn new(token: u64) -> Self {
        Self { kernel: format!("check_{token:016x}") }
    }

    /// The messages of the request. They contain no code block, so that a server that echoes them fails the check.
    #[must_use]
    pub fn question(&self) -> Conversation {
        let kernel = &self.kernel;
        let question = format!(
            "Write one whole CUDA file with a single `extern \"C\" __global__` kernel that is called {kernel}, takes one argument `float* out`, and stores 1.0f in `out[0]`.\n\nAnswer with that file in one fenced code block whose opening line is three backticks followed by `cuda`, and with nothing else."
        );
        Conversation::new(RULES, question)
    }

    /// Checks a reply.
    ///
    /// # Errors
    /// The problem of the reply.
    pub fn check(&self, reply: &Reply) -> Result<(), TrialProblem> {
        match &reply.stop {
            Stop::Finished => {}
            Stop::Length => return Err(TrialProblem::Unfinished("it was cut".to_owned())),
            Stop::Listener => return Err(TrialProblem::Unfinished("it was stopped".to_owned())),
            Stop::Declined => return Err(TrialProblem::Unfinished("it was declined".to_owned())),
            Stop::Other(reason) => return Err(TrialProblem::Unfinished(reason.clone())),
        }
        let parsed =
            parse(&reply.text).map_err(|problem| TrialProblem::Form(problem.to_string()))?;
        if parsed.is_cut {
            return Err(TrialProblem::Form("its last code block is not closed".to_owned()));
        }
        let file = match parsed.proposal {
            Proposal::File(text) => text,
            Proposal::Files(files) => files.into_iter().map(|file| file.text).collect(),
            Proposal::Edits(_) | Proposal::Parameters(_) => {
                let what = "a whole file was asked for, and it holds edits or values of parameters";
                return Err(TrialProblem::Form(what.to_owned()));
            }
        };
        let is_kernel = file.contains("__global__") && self.is_declared(&file);
        let other = || TrialProblem::OtherKernel { expected: self.kernel.clone() };
        is_kernel.then_some(()).ok_or_else(other)
    }

    /// Whether the file declares or calls the requested name.
    fn is_declared(&self, file: &str) -> bool {
        let mut uses = file.split(self.kernel.as_str()).skip(1);
        uses.any(|after| after.trim_start().starts_with('('))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::models::Usage;

    fn reply(text: &str, stop: Stop) -> Reply {
        Reply::of_text(text.to_owned(), Usage::default(), stop, Duration::ZERO)
    }

    #[test]
    fn only_the_kernel_that_was_asked_for_will_do() {
        let check = |text: &str, stop: Stop, problem: Option<&str>| {
            let found = Trial::new(0xabc).check(&reply(text, stop));
            match (found, problem) {
                (Ok(()), None) => {}
                (Err(found), Some(part)) => assert!(found.to_string().contains(part), "{found}"),
                (found, expected) => panic!("{text}: {found:?}, {expected:?}"),
            }
        };
        let kernel =
            "extern \"C\" __global__ void check_0000000000000abc(float* out) { out[0] = 1.0f; }";
        let fenced = format!("```cuda\n{kernel}\n```");
        check(&fenced, Stop::Finished, None);
        check(&format!("Here it is:\n\n{fenced}\n\nDone."), Stop::Finished, None);
        check(&fenced, Stop::Length, Some("raise `max_tokens`"));
        check(&fenced, Stop::Other("tool_calls".to_owned()), Some("tool_calls"));
        check(kernel, Stop::Finished, Some("form"));
        check("ready", Stop::Finished, Some("form"));
        check("", Stop::Finished, Some("form"));
        check(&format!("```cuda\n{kernel}"), Stop::Finished, Some("form"));
        check(
            &fenced.replace("abc", "abd"),
            Stop::Finished,
            Some("no kernel `check_0000000000000abc`"),
        );
        check(
            "```cuda\n// check_0000000000000abc\n__global__ void f() {}\n```",
            Stop::Finished,
            Some("no kernel"),
        );
        check("```json\n{\"BLOCK\": 1}\n```", Stop::Finished, Some("form"));
        // A program that repeats the question.
        check(&Trial::new(0xabc).question().to_prompt(), Stop::Finished, Some("form"));
    }
}
