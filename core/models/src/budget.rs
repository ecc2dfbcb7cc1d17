//! Charges requests to a budget, and refuses those that it does not cover.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::conversation::estimated_tokens;
use crate::error::{ModelError, ModelErrorKind};
use crate::model::{AnswerEvent, Model, Reply, Request};
use crate::spending::{Budget, BudgetRefusal, Money, Prices, Spent};
use crate::usage::{Count, Usage};

/// A budget with the amounts spent. Clones share it, so that several models can use one budget.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<Account>>);

#[derive(Debug, Default)]
struct Account {
    budget: Budget,
    spent: Spent,
    /// Amounts reserved for requests in flight.
    reserved: Reserved,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    tokens: u64,
    money: f64,
}

impl Ledger {
    /// An unused budget.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self::continued(budget, Spent::default())
    }

    /// The ledger of a resumed session.
    #[must_use]
    pub fn continued(budget: Budget, spent: Spent) -> Self {
        let reserved = Reserved::default();
        Self(Arc::new(Mutex::new(Account { budget, spent, reserved })))
    }

    /// The amounts spent so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.account().spent
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves what a request may need, so that concurrent requests do not exceed the budget.
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

/// The reservation of one request; dropping it releases the part that was not charged.
struct Reservation<'a> {
    ledger: &'a Ledger,
    reserved: Reserved,
    prices: Option<Prices>,
}

impl Reservation<'_> {
    fn charge(&self, usage: Usage) {
        let mut account = self.ledger.account();
        for count in [usage.input, usage.output] {
            // Saturating, because servers may report any number.
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

/// A model whose requests are charged to a ledger; requests beyond the budget are not sent.
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

    fn calls_tools(&self) -> bool {
        self.model.calls_tools()
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        let most = Usage {
            input: Count::Estimated(request.estimated_tokens()),
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

/// Estimated usage for a server that does not report it. The answer counts for at most the requested `most_tokens`,
/// which is also the reserved amount: reading stops before an answer can be longer.
pub(crate) fn guessed(request: &Request<'_>, output_bytes: usize, most_tokens: u64) -> Usage {
    Usage {
        input: Count::Estimated(request.estimated_tokens()),
        output: Count::Estimated(estimated_tokens(output_bytes).min(most_tokens)),
    }
}
