//! What may be spent, and what was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::conversation::estimated_tokens;
use crate::error::{ModelError, ModelErrorKind};
use crate::model::{AnswerEvent, Count, Model, Reply, Request, Usage};
use std::ops::ControlFlow;

/// An amount in the currency of the prices in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub f64);

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Of what is said to the model.
    pub input: f64,
    /// Of what it says.
    pub output: f64,
}

impl Prices {
    /// What an exchange costs.
    #[must_use]
    pub fn cost(self, usage: Usage) -> Money {
        let millions = |count: Count| count.tokens() as f64 / 1e6;
        Money(millions(usage.input) * self.input + millions(usage.output) * self.output)
    }
}

/// The most that may be spent; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Tokens, said and heard.
    pub tokens: Option<u64>,
    /// Money.
    pub money: Option<Money>,
    /// Questions, each attempt counted.
    pub requests: Option<u64>,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Questions, each attempt counted.
    pub requests: u64,
    /// Tokens, said and heard.
    pub tokens: u64,
    /// How many of these were guessed from the length of texts.
    pub estimated_tokens: u64,
    /// Money, where prices are known.
    pub money: Money,
}

/// Why a question was not asked.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BudgetRefusal {
    /// It may need more tokens than are left.
    #[error(
        "the budget has {left} tokens left, and this question may need {needed} with the longest answer that `max_tokens` allows: raise the budget or lower `max_tokens`"
    )]
    Tokens {
        /// What is left.
        left: u64,
        /// What it needs at most.
        needed: u64,
    },
    /// It may cost more than is left.
    #[error(
        "the budget has {:.4} left, and this question may cost {:.4} with the longest answer that `max_tokens` allows: raise the budget or lower `max_tokens`",
        left.0, needed.0
    )]
    Money {
        /// What is left.
        left: Money,
        /// What it costs at most.
        needed: Money,
    },
    /// All questions were asked.
    #[error("the budget is {limit} requests, and all were made")]
    Requests {
        /// The most.
        limit: u64,
    },
    /// There is a budget of money, and nobody knows what this model costs.
    #[error(
        "there is a budget of money, but the settings have no prices for this model; a free one has the prices 0"
    )]
    NoPrices,
}

/// A budget and what was spent of it. Clones share it, so that several models live on one budget.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<Account>>);

#[derive(Debug, Default)]
struct Account {
    budget: Budget,
    spent: Spent,
    /// What questions that are being answered may still cost.
    reserved: Reserved,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    tokens: u64,
    money: f64,
}

impl Ledger {
    /// A ledger from which nothing was spent yet.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self::continued(budget, Spent::default())
    }

    /// A ledger of work that goes on.
    #[must_use]
    pub fn continued(budget: Budget, spent: Spent) -> Self {
        let reserved = Reserved::default();
        Self(Arc::new(Mutex::new(Account { budget, spent, reserved })))
    }

    /// What was spent until now.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.account().spent
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets aside what a question may need, so that several at once do not overdraw.
    fn reserve(
        &self,
        most: Usage,
        prices: Option<Prices>,
    ) -> Result<Reservation<'_>, BudgetRefusal> {
        let mut account = self.account();
        let reserved = account.admit(most, prices)?;
        account.reserved.tokens = account.reserved.tokens.saturating_add(reserved.tokens);
        account.reserved.money += reserved.money;
        account.spent.requests += 1;
        drop(account);
        Ok(Reservation { ledger: self, reserved, prices })
    }
}

impl Account {
    fn admit(&self, most: Usage, prices: Option<Prices>) -> Result<Reserved, BudgetRefusal> {
        if let Some(limit) = self.budget.requests
            && self.spent.requests >= limit
        {
            return Err(BudgetRefusal::Requests { limit });
        }
        let needed = most.input.tokens().saturating_add(most.output.tokens());
        if let Some(limit) = self.budget.tokens {
            let used = self.spent.tokens.saturating_add(self.reserved.tokens);
            let left = limit.saturating_sub(used);
            if needed > left {
                return Err(BudgetRefusal::Tokens { left, needed });
            }
        }
        let cost = prices.map_or(0.0, |prices| prices.cost(most).0);
        if let Some(Money(limit)) = self.budget.money {
            if prices.is_none() {
                return Err(BudgetRefusal::NoPrices);
            }
            let left = limit - self.spent.money.0 - self.reserved.money;
            // Written so that a cost that is not a number is refused.
            let fits = cost <= left;
            if !fits {
                return Err(BudgetRefusal::Money {
                    left: Money(left.max(0.0)),
                    needed: Money(cost),
                });
            }
        }
        Ok(Reserved { tokens: needed, money: cost })
    }
}

/// What was set aside for one question; dropping it gives back what is not charged.
struct Reservation<'a> {
    ledger: &'a Ledger,
    reserved: Reserved,
    prices: Option<Prices>,
}

impl Reservation<'_> {
    fn charge(&self, usage: Usage) {
        let mut account = self.ledger.account();
        for count in [usage.input, usage.output] {
            // Saturating, because servers report what they like.
            account.spent.tokens = account.spent.tokens.saturating_add(count.tokens());
            if let Count::Estimated(tokens) = count {
                let estimated = account.spent.estimated_tokens.saturating_add(tokens);
                account.spent.estimated_tokens = estimated;
            }
        }
        if let Some(prices) = self.prices {
            account.spent.money.0 += prices.cost(usage).0;
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut account = self.ledger.account();
        account.reserved.tokens = account.reserved.tokens.saturating_sub(self.reserved.tokens);
        account.reserved.money -= self.reserved.money;
    }
}

/// A model whose questions are paid from a ledger; what the ledger does not allow is not asked.
#[derive(Debug)]
pub(crate) struct BudgetedModel<M> {
    pub(crate) model: M,
    pub(crate) ledger: Ledger,
    pub(crate) prices: Option<Prices>,
}

impl<M: Model> Model for BudgetedModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn most_output(&self) -> u64 {
        self.model.most_output()
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        let most = Usage {
            input: Count::Estimated(request.conversation.estimated_tokens()),
            output: Count::Estimated(request.limits.tokens_within(self.model.most_output())),
        };
        let reservation = self.ledger.reserve(most, self.prices).map_err(ModelErrorKind::Budget)?;
        let answer = self.model.ask(request, hear);
        match &answer {
            Ok(reply) => reservation.charge(reply.usage),
            Err(error) => reservation.charge(error.usage),
        }
        answer
    }
}

/// What an exchange used up where the server does not report it. The answer counts for at most the `most_tokens` that
/// were asked for, which is also what was reserved: reading ends before an answer can be longer.
pub(crate) fn guessed(request: &Request<'_>, output_bytes: usize, most_tokens: u64) -> Usage {
    Usage {
        input: Count::Estimated(request.conversation.estimated_tokens()),
        output: Count::Estimated(estimated_tokens(output_bytes).min(most_tokens)),
    }
}
