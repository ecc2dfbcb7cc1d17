//! Budgets of requests, tokens and money, and the amounts spent.

use serde::{Deserialize, Serialize};

use crate::usage::{Count, Usage};

/// An amount in the currency of the prices in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub f64);

/// Prices per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Tokens sent to the model.
    pub input: f64,
    /// Tokens of its answer.
    pub output: f64,
}

impl Prices {
    /// The cost of an exchange.
    #[must_use]
    pub fn cost(self, usage: Usage) -> Money {
        let millions = |count: Count| count.tokens() as f64 / 1e6;
        Money(millions(usage.input) * self.input + millions(usage.output) * self.output)
    }
}

/// Limits on spending; `None`: unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Tokens, sent and received.
    pub tokens: Option<u64>,
    /// Money.
    pub money: Option<Money>,
    /// Questions, each attempt counted.
    pub requests: Option<u64>,
}

/// The amounts spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Questions, each attempt counted.
    pub requests: u64,
    /// Tokens, sent and received.
    pub tokens: u64,
    /// The part of `tokens` that was estimated from the length of texts.
    pub estimated_tokens: u64,
    /// Money, for models with known prices.
    pub money: Money,
}

/// Why a request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BudgetRefusal {
    /// It may need more tokens than remain.
    #[error(
        "the budget has {left} tokens left, and this question may need {needed} with the longest answer that `max_tokens` allows: raise the budget or lower `max_tokens`"
    )]
    Tokens {
        /// Remaining tokens.
        left: u64,
        /// Tokens that the request may need.
        needed: u64,
    },
    /// It may cost more than remains.
    #[error(
        "the budget has {:.4} left, and this question may cost {:.4} with the longest answer that `max_tokens` allows: raise the budget or lower `max_tokens`",
        left.0, needed.0
    )]
    Money {
        /// Remaining money.
        left: Money,
        /// Money that the request may cost.
        needed: Money,
    },
    /// The limit on requests is reached.
    #[error("the budget is {limit} requests, and all of them are used")]
    Requests { limit: u64 },
    /// The budget limits money, and the prices of this model are unknown.
    #[error(
        "the budget limits money, but the settings have no prices for this model; for a free model, set the prices to 0"
    )]
    NoPrices,
}
