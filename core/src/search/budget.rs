//! Limits of a search, and what it has spent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::counted;

/// Limits of a search; none: unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Most candidates and configurations that are evaluated.
    pub evaluations: Option<usize>,
    /// Most seconds that it runs, without pauses.
    pub seconds: Option<f64>,
    /// Most tokens of language models.
    pub tokens: Option<u64>,
    /// Most money for language models, in the currency of the prices in the settings.
    pub money: Option<f64>,
}

/// Tokens and money spent on language models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Tokens of questions and answers together.
    pub tokens: u64,
    /// In the currency of the prices in the settings.
    pub money: f64,
}

/// What a search has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Candidates and configurations that were evaluated.
    pub evaluations: usize,
    /// Run time in seconds.
    pub seconds: f64,
    /// Tokens and money.
    pub cost: Cost,
}

impl Spent {
    /// Number of evaluations with its noun: `1 evaluation`.
    #[must_use]
    pub fn evaluation_count(&self) -> String {
        evaluations(self.evaluations)
    }
}

fn evaluations(count: usize) -> String {
    counted(count as u64, "evaluation", "evaluations")
}

/// A limit that is reached, with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExhaustedLimit {
    /// Evaluations.
    Evaluations(usize),
    /// Time, in seconds.
    Seconds(f64),
    /// Tokens.
    Tokens(u64),
    /// Money.
    Money(f64),
}

impl Budget {
    /// The first limit that is reached, if any.
    #[must_use]
    pub fn used_up(&self, spent: &Spent) -> Option<ExhaustedLimit> {
        let evaluations = self.evaluations.filter(|most| spent.evaluations >= *most);
        let seconds = self.seconds.filter(|most| spent.seconds >= *most);
        let tokens = self.tokens.filter(|most| spent.cost.tokens >= *most);
        let money = self.money.filter(|most| spent.cost.money >= *most);
        evaluations
            .map(ExhaustedLimit::Evaluations)
            .or(seconds.map(ExhaustedLimit::Seconds))
            .or(tokens.map(ExhaustedLimit::Tokens))
            .or(money.map(ExhaustedLimit::Money))
    }

    /// Evaluations that remain.
    #[must_use]
    pub fn evaluations_left(&self, spent: &Spent) -> usize {
        self.evaluations.map_or(usize::MAX, |most| most.saturating_sub(spent.evaluations))
    }
}

impl fmt::Display for ExhaustedLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluations(most) => formatter.write_str(&evaluations(*most)),
            Self::Seconds(most) => write!(formatter, "{most:.0} s"),
            Self::Tokens(most) => write!(formatter, "{most} tokens"),
            Self::Money(most) => write!(formatter, "{most:.2} of money"),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.evaluations.map(ExhaustedLimit::Evaluations),
            self.seconds.map(ExhaustedLimit::Seconds),
            self.tokens.map(ExhaustedLimit::Tokens),
            self.money.map(ExhaustedLimit::Money),
        ];
        let parts: Vec<String> = parts.iter().flatten().map(ToString::to_string).collect();
        match parts.as_slice() {
            [] => formatter.write_str("no limit"),
            parts => formatter.write_str(&parts.join(", ")),
        }
    }
}
