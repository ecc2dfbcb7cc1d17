//! Reasons why a rule does not apply: the missing requirement and its place.

use std::fmt;

use super::Rewrite;

/// Why a rule changes nothing in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotApplicable {
    /// The file is not CUDA C++.
    Language,
    /// The parser reports a syntax error.
    Unreadable {
        /// Line of the error, from 1.
        line: usize,
    },
    /// Several kernels of the file have the same name.
    Several {
        /// The name.
        name: String,
    },
    /// The file has no place for the rule.
    Nothing {
        /// The construct that the rule changes.
        wanted: &'static str,
    },
    /// Each place lacks a requirement.
    Places(Vec<Refusal>),
}

/// A place at which a rule does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line of the place, from 1.
    pub line: usize,
    /// The missing requirement.
    pub missing: Missing,
}

/// A requirement of a rule that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The change is present already.
    Already {
        /// The changed item.
        what: String,
        /// The change.
        has: &'static str,
    },
    /// A value may be too large.
    TooLarge {
        /// The expression.
        what: String,
        /// Its largest value.
        most: i128,
        /// The largest permitted value.
        limit: i128,
    },
    /// The limits of the axes do not bound a value.
    Unbounded {
        /// The expression.
        what: String,
    },
    /// A name is also used in a way that the rule does not handle.
    OtherUse {
        /// The name.
        name: String,
        /// The other use.
        used: String,
    },
    /// An expression has another form than the rule needs.
    Form {
        /// The expression.
        found: String,
        /// The form that the rule needs.
        expected: &'static str,
    },
    /// Two names may refer to the same memory.
    SameMemory {
        /// The first name.
        name: String,
        /// The second name.
        other: String,
    },
    /// The place contains a construct that the rule excludes.
    Contains {
        /// The construct.
        what: String,
        /// Why the rule excludes it.
        why: &'static str,
    },
}

impl fmt::Display for NotApplicable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language => write!(out, "the rules read CUDA C++ only"),
            Self::Unreadable { line } => {
                write!(out, "line {line}: syntax error")
            }
            Self::Several { name } => write!(out, "several kernels are called `{name}`"),
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
                write!(out, "`{what}` may be {most}; the rule needs at most {limit}")
            }
            Self::Unbounded { what } => {
                write!(out, "the limits of the axes do not bound `{what}`")
            }
            Self::OtherUse { name, used } => write!(out, "`{name}` is also used as `{used}`"),
            Self::Form { found, expected } => write!(out, "found `{found}`; expected {expected}"),
            Self::SameMemory { name, other } => {
                write!(out, "`{name}` and `{other}` may be the same memory")
            }
            Self::Contains { what, why } => write!(out, "`{what}` prevents the change: {why}"),
        }
    }
}

/// Rewrites and refusals of a rule, over all places.
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

    /// Adds the result of one place.
    pub(super) fn add(&mut self, line: usize, found: Result<Rewrite, Missing>) {
        match found {
            Ok(rewrite) => self.offer(rewrite),
            Err(missing) => self.refuse(line, missing),
        }
    }

    /// All rewrites; without any, the missing requirements.
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
