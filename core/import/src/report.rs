//! What an import carried over, what it left out, and what the user must answer.

use crate::format::Format;

/// What the user must know about an imported project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The format of the input.
    pub format: Format,
    /// The parts that were carried over, a phrase each: `3 axes`, `the reference (PyTorch)`.
    pub carried: Vec<String>,
    /// The parts that were left out.
    pub left_out: Vec<LeftOut>,
    /// What the importer proposes and the user must confirm or change.
    pub questions: Vec<Question>,
    /// Sentences about the code that the first run executes.
    pub first_run: Vec<String>,
}

/// A part that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The part, as the input names it.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// Something that the input does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// A short name, such as `kv_indices.domain`.
    pub name: String,
    /// Where the answer goes.
    pub place: Place,
    /// One sentence: what was proposed, from what, and what to write if it is wrong.
    pub text: String,
    /// Whether the project computes the right thing only with an answer, or works with the proposal.
    pub need: Need,
}

/// How much depends on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The proposal may be right; a run shows what it does with it.
    Confirm,
    /// Without an answer no run can judge a kernel.
    Answer,
}

/// The part of the project that an answer changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An axis of `project.ron`.
    Axis(String),
    /// A scalar of `project.ron`.
    Scalar(String),
    /// A tensor of `project.ron`.
    Tensor(String),
    /// The field `accuracy` of `project.ron`.
    Accuracy,
    /// The field `work` of `project.ron`.
    Work,
    /// The field `workloads` of `project.ron`.
    Workloads,
    /// The file of the reference.
    Reference,
    /// A file of `kernels/`, by its name.
    Kernel(String),
}

/// A question with the place of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedQuestion {
    /// The question.
    pub question: Question,
    /// The file, below the project's folder.
    pub file: String,
    /// The line of the question in it; the answer goes below.
    pub line: usize,
}

impl Report {
    /// A report about an input of this format, with nothing in it.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let (carried, left_out, questions) = (Vec::new(), Vec::new(), Vec::new());
        Self { format, carried, left_out, questions, first_run: Vec::new() }
    }

    /// Adds a part that was left out.
    pub fn leave_out(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        self.left_out.push(LeftOut { what: what.into(), reason: reason.into() });
    }

    /// Adds a proposal that the user should confirm.
    pub fn confirm(&mut self, name: impl Into<String>, place: Place, text: impl Into<String>) {
        let (name, text) = (name.into(), text.into());
        self.questions.push(Question { name, place, text, need: Need::Confirm });
    }

    /// Adds the question how many terms the longest sum of an output has, unless it is none.
    pub(crate) fn confirm_terms(&mut self, output: &str, terms: &str) {
        if terms != "1" {
            let text = format!(
                "`terms: \"{terms}\"` is the longest sum of an element of `{output}`, a guess from the shapes; fewer terms make the comparison stricter"
            );
            self.confirm(format!("{output}.compare"), Place::Tensor(output.to_owned()), text);
        }
    }

    /// Adds a question without whose answer no kernel can be judged.
    pub fn ask(&mut self, name: impl Into<String>, place: Place, text: impl Into<String>) {
        let (name, text) = (name.into(), text.into());
        self.questions.push(Question { name, place, text, need: Need::Answer });
    }
}

impl Place {
    /// The folder and the name of the file, or `None` for the reference, whose name depends on its language.
    pub(crate) fn kernel(&self) -> Option<&str> {
        match self {
            Self::Kernel(name) => Some(name),
            Self::Axis(_)
            | Self::Scalar(_)
            | Self::Tensor(_)
            | Self::Accuracy
            | Self::Work
            | Self::Workloads
            | Self::Reference => None,
        }
    }
}
