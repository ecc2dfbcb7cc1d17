//! What may be spent is never overdrawn, and what was spent is known.

use super::ask;
use crate::budget::BudgetedModel;
use crate::{
    Budget, BudgetRefusal, Count, Ledger, ModelErrorKind, Money, Prices, RecordedModel,
    RecordedReply, RecordingProblem, Spent, StopSignal,
};

fn model(ledger: &Ledger, prices: Option<Prices>, replies: usize) -> BudgetedModel<RecordedModel> {
    let reply = RecordedReply {
        reply: "done".to_owned(),
        input_tokens: Some(10),
        output_tokens: Some(500),
        expects: None,
    };
    let model = RecordedModel::new("r", std::iter::repeat_n(reply, replies));
    BudgetedModel { model, ledger: ledger.clone(), prices }
}

const PRICES: Prices = Prices { input: 3.0, output: 15.0 };

/// Asks until it is refused: how often it was answered, and why no more.
fn check(
    budget: Budget,
    prices: Option<Prices>,
    answered: usize,
    refused: fn(&BudgetRefusal) -> bool,
) {
    let ledger = Ledger::new(budget);
    let mut model = model(&ledger, prices, 10);
    for number in 0.. {
        match ask(&mut model, &StopSignal::never()).result {
            Ok(_) => {}
            Err(error) => {
                let ModelErrorKind::Budget(refusal) = error.trouble else { panic!("{error:?}") };
                assert!(refused(&refusal), "{refusal:?}");
                assert_eq!(number, answered, "{budget:?}: {refusal}");
                assert_eq!(ledger.spent().requests, u64::try_from(answered).unwrap());
                return;
            }
        }
    }
}

#[test]
fn budgets_hold() {
    let none = Budget::default();
    check(Budget { requests: Some(3), ..none }, None, 3, |refusal| {
        matches!(refusal, BudgetRefusal::Requests { limit: 3 })
    });
    check(Budget { requests: Some(0), ..none }, None, 0, |refusal| {
        matches!(refusal, BudgetRefusal::Requests { .. })
    });
    check(Budget { tokens: Some(1600), ..none }, None, 3, |refusal| {
        matches!(refusal, BudgetRefusal::Tokens { .. })
    });
    // Each answer costs 0.00753.
    let money = |amount| Budget { money: Some(Money(amount)), ..none };
    check(money(0.023), Some(PRICES), 3, |refusal| matches!(refusal, BudgetRefusal::Money { .. }));
    check(money(0.0), Some(PRICES), 0, |refusal| matches!(refusal, BudgetRefusal::Money { .. }));
    check(money(1.0), None, 0, |refusal| matches!(refusal, BudgetRefusal::NoPrices));
    check(money(f64::NAN), Some(PRICES), 0, |refusal| {
        matches!(refusal, BudgetRefusal::Money { .. })
    });
}

#[test]
fn what_is_free_is_free() {
    let ledger = Ledger::new(Budget { money: Some(Money(0.0)), ..Budget::default() });
    let mut model = model(&ledger, Some(Prices { input: 0.0, output: 0.0 }), 1);
    assert!(ask(&mut model, &StopSignal::never()).result.is_ok());
}

#[test]
fn models_may_share_a_budget_and_go_on_with_it() {
    let spent = Spent { requests: 4, tokens: 10, estimated_tokens: 1, money: Money(2.0) };
    let ledger = Ledger::continued(Budget { requests: Some(6), ..Budget::default() }, spent);
    let (mut one, mut other) = (model(&ledger, Some(PRICES), 5), model(&ledger, Some(PRICES), 5));
    assert!(ask(&mut one, &StopSignal::never()).result.is_ok());
    assert!(ask(&mut other, &StopSignal::never()).result.is_ok());
    assert!(ask(&mut one, &StopSignal::never()).result.is_err());
    let spent = ledger.spent();
    assert_eq!((spent.requests, spent.tokens, spent.estimated_tokens), (6, 1030, 1));
    assert!((spent.money.0 - 2.01506).abs() < 1e-12, "{spent:?}");
}

#[test]
fn guesses_are_labelled() {
    let ledger = Ledger::default();
    let reply = RecordedReply { reply: "a".repeat(300), ..RecordedReply::default() };
    let model = RecordedModel::new("r", [reply]);
    let mut model = BudgetedModel { model, ledger: ledger.clone(), prices: Some(PRICES) };
    let reply = ask(&mut model, &StopSignal::never()).result.unwrap();
    assert_eq!(reply.usage.output, Count::Estimated(100));
    let spent = ledger.spent();
    assert!(spent.tokens > 100 && spent.tokens == spent.estimated_tokens, "{spent:?}");
}

#[test]
fn recorded_replies_come_in_their_order() {
    let lines = "{\"reply\": \"one\"}\n\n{\"reply\": \"two\", \"expects\": \"faster\"}\n{\"reply\": \"three\", \"expects\": \"slower\"}";
    let mut model = RecordedModel::read("r", lines).unwrap();
    let mut next = || ask(&mut model, &StopSignal::never()).result;
    assert_eq!(next().unwrap().text, "one");
    assert_eq!(next().unwrap().text, "two");
    let unexpected = RecordingProblem::Unexpected { number: 3, expected: "slower".to_owned() };
    assert_eq!(next().unwrap_err().trouble, ModelErrorKind::Recording(unexpected));

    let mut model = RecordedModel::new("r", []);
    let exhausted = ModelErrorKind::Recording(RecordingProblem::Exhausted { replies: 0 });
    assert_eq!(ask(&mut model, &StopSignal::never()).result.unwrap_err().trouble, exhausted);
    let unreadable = RecordedModel::read("r", "{\"reply\": \"one\"}\n{\"repl\": 1}").unwrap_err();
    assert!(matches!(unreadable, RecordingProblem::Unreadable { line: 2, .. }), "{unreadable}");
}
