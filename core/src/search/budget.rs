//! What a search may use up.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::counted;

/// What a search may use up; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Candidates and configurations that are looked at.
    pub evaluations: Option<usize>,
    /// Seconds that it runs, pauses not counted.
    pub seconds: Option<f64>,
    /// Tokens of language models.
    pub tokens: Option<u64>,
    /// Money for language models, in the currency of the user's prices.
    pub money: Option<f64>,
}

/// Tokens and money spent on language models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Tokens of questions and answers together.
    pub tokens: u64,
    /// In the currency of the user's prices.
    pub money: f64,
}

/// What was used up so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Candidates and configurations that were looked at.
    pub evaluations: usize,
    /// Seconds.
    pub seconds: f64,
    /// Tokens and money.
    pub cost: Cost,
}

impl Spent {
    /// How many were looked at, in words.
    #[must_use]
    pub fn looked(&self) -> String {
        evaluations(self.evaluations)
    }
}

fn evaluations(count: usize) -> String {
    counted(count as u64, "evaluation", "evaluations")
}

/// A part of a budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UsedUp {
    /// Looks.
    Evaluations(usize),
    /// Time, in seconds.
    Seconds(f64),
    /// Tokens.
    Tokens(u64),
    /// Money.
    Money(f64),
}

impl Budget {
    /// The first part that is used up, if one is.
    #[must_use]
    pub fn used_up(&self, spent: &Spent) -> Option<UsedUp> {
        let evaluations = self.evaluations.filter(|most| spent.evaluations >= *most);
        let seconds = self.seconds.filter(|most| spent.seconds >= *most);
        let tokens = self.tokens.filter(|most| spent.cost.tokens >= *most);
        let money = self.money.filter(|most| spent.cost.money >= *most);
        evaluations
            .map(UsedUp::Evaluations)
            .or(seconds.map(UsedUp::Seconds))
            .or(tokens.map(UsedUp::Tokens))
            .or(money.map(UsedUp::Money))
    }

    /// How many more evaluations there may be.
    #[must_use]
    pub fn evaluations_left(&self, spent: &Spent) -> usize {
        self.evaluations.map_or(usize::MAX, |most| most.saturating_sub(spent.evaluations))
    }
}

impl fmt::Display for UsedUp {
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
            self.evaluations.map(UsedUp::Evaluations),
            self.seconds.map(UsedUp::Seconds),
            self.tokens.map(UsedUp::Tokens),
            self.money.map(UsedUp::Money),
        ];
        let parts: Vec<String> = parts.iter().flatten().map(ToString::to_string).collect();
        match parts.as_slice() {
            [] => formatter.write_str("no limit"),
            parts => formatter.write_str(&parts.join(", ")),
        }
    }
}
