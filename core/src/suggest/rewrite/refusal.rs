//! Why a rule does not apply: what is missing, and where.

use std::fmt;

use super::Rewrite;

/// Why a rule changes nothing in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotApplicable {
    /// The file is no CUDA C++.
    Language,
    /// The grammar did not understand the text.
    Unreadable {
        /// Where it stopped, counted from 1.
        line: usize,
    },
    /// There is nothing of the kind.
    Nothing {
        /// What the rule looks for.
        wanted: &'static str,
    },
    /// There are places, and each lacks something.
    Places(Vec<Refusal>),
}

/// A place that a rule looked at and left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line, counted from 1.
    pub line: usize,
    /// What is missing there.
    pub missing: Missing,
}

/// What a rule needs and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It is done already.
    Already {
        /// What has it.
        what: String,
        /// What it has.
        has: &'static str,
    },
    /// A value may be too large.
    TooLarge {
        /// The expression.
        what: String,
        /// Its largest value.
        most: i128,
        /// The largest that would do.
        limit: i128,
    },
    /// The limits of the axes do not say how large a value is.
    Unbounded {
        /// The expression.
        what: String,
    },
    /// A name is used in another way, too.
    OtherUse {
        /// The name.
        name: String,
        /// How.
        used: String,
    },
    /// Something is written in another form.
    Form {
        /// What stands there.
        found: String,
        /// What the rule can read.
        expected: &'static str,
    },
    /// Two names may mean the same memory.
    SameMemory {
        /// One.
        name: String,
        /// The other one.
        other: String,
    },
    /// Something that must not happen there happens.
    Contains {
        /// What.
        what: String,
        /// Why that matters.
        why: &'static str,
    },
}

impl fmt::Display for NotApplicable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language => write!(out, "the rules read CUDA C++ only"),
            Self::Unreadable { line } => {
                write!(out, "line {line}: the syntax is not understood")
            }
            Self::Nothing { wanted } => write!(out, "there is no {wanted}"),
            Self::Places(places) => {
                for (index, place) in places.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(out, "{separator}{place}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.missing)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Already { what, has } => write!(out, "`{what}` already has {has}"),
            Self::TooLarge { what, most, limit } => {
                write!(out, "`{what}` may be {most}; at most {limit} would do")
            }
            Self::Unbounded { what } => {
                write!(out, "the limits of the axes do not say how large `{what}` may be")
            }
            Self::OtherUse { name, used } => write!(out, "`{name}` is also used as `{used}`"),
            Self::Form { found, expected } => write!(out, "found `{found}`; expected {expected}"),
            Self::SameMemory { name, other } => {
                write!(out, "`{name}` and `{other}` may be the same memory")
            }
            Self::Contains { what, why } => write!(out, "`{what}` stands there: {why}"),
        }
    }
}

/// What a rule found so far.
#[derive(Default)]
pub(super) struct Findings {
    rewrites: Vec<Rewrite>,
    refusals: Vec<Refusal>,
}

impl Findings {
    pub(super) fn offer(&mut self, rewrite: Rewrite) {
        if !self.rewrites.contains(&rewrite) {
            self.rewrites.push(rewrite);
        }
    }

    pub(super) fn refuse(&mut self, line: usize, missing: Missing) {
        let refusal = Refusal { line, missing };
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// Takes in what became of one place.
    pub(super) fn add(&mut self, line: usize, found: Result<Rewrite, Missing>) {
        match found {
            Ok(rewrite) => self.offer(rewrite),
            Err(missing) => self.refuse(line, missing),
        }
    }

    /// All rewrites; without any, what was missing.
    pub(super) fn finish(self, wanted: &'static str) -> Result<Vec<Rewrite>, NotApplicable> {
        if !self.rewrites.is_empty() {
            Ok(self.rewrites)
        } else if self.refusals.is_empty() {
            Err(NotApplicable::Nothing { wanted })
        } else {
            Err(NotApplicable::Places(self.refusals))
        }
    }
}
