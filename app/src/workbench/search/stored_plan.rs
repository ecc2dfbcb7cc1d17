//! The stored form of a search plan, with the command line's names.

use lightbench_core::search::operators::MODEL_PREFIX;
use lightbench_core::search::{Budget, Pace};
use serde::{Deserialize, Serialize};

use super::plan::{Participation, RULES, SearchPlan, TUNING};

/// The stored fields of a plan; missing fields take their defaults.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WrittenPlan {
    strategy: String,
    tuner: String,
    operators: Vec<String>,
    roles: String,
    contrast: usize,
    pace: Pace,
    evaluations: Option<usize>,
    minutes: Option<f64>,
    tokens: Option<u64>,
    money: Option<f64>,
}

impl Default for WrittenPlan {
    fn default() -> Self {
        SearchPlan::default().into()
    }
}

impl From<SearchPlan> for WrittenPlan {
    fn from(plan: SearchPlan) -> Self {
        let Budget { evaluations, seconds, tokens, money } = plan.budget;
        Self {
            strategy: plan.strategy.to_string(),
            tuner: plan.tuner.to_string(),
            operators: plan.operators(),
            roles: plan.roles.to_string(),
            contrast: plan.contrast,
            pace: plan.pace,
            evaluations,
            minutes: seconds.map(|seconds| seconds / 60.0),
            tokens,
            money,
        }
    }
}

impl TryFrom<WrittenPlan> for SearchPlan {
    type Error = String;

    fn try_from(written: WrittenPlan) -> Result<Self, String> {
        let told = |error: &dyn std::fmt::Display| format!("the plan of a search: {error}");
        if written.evaluations == Some(0) {
            return Err(told(&"no evaluations"));
        }
        let mut plan = Self {
            strategy: written.strategy.parse().map_err(|error| told(&error))?,
            tuner: written.tuner.parse().map_err(|error| told(&error))?,
            rules: Participation::Excluded,
            tuning: Participation::Excluded,
            models: std::collections::BTreeSet::new(),
            roles: written.roles.parse().map_err(|error| told(&error))?,
            contrast: written.contrast,
            budget: Budget {
                evaluations: written.evaluations,
                seconds: limit(written.minutes)
                    .map_err(|error| told(&error))?
                    .map(|min| min * 60.0),
                tokens: written.tokens,
                money: limit(written.money).map_err(|error| told(&error))?,
            },
            pace: written.pace,
        };
        for operator in written.operators {
            match (operator.as_str(), operator.strip_prefix(MODEL_PREFIX)) {
                (RULES, _) => plan.rules = Participation::Included,
                (TUNING, _) => plan.tuning = Participation::Included,
                (_, Some(model)) => plan.models.extend([model.to_owned()]),
                (other, None) => return Err(told(&format!("unknown operator `{other}`"))),
            }
        }
        Ok(plan)
    }
}

/// A finite limit above zero.
fn limit(written: Option<f64>) -> Result<Option<f64>, String> {
    match written {
        Some(limit) if limit.is_finite() && limit > 0.0 => Ok(Some(limit)),
        Some(limit) => Err(format!("{limit} is not a valid limit: expected a number above 0")),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written_and_refused_where_it_makes_no_sense() {
        let plan = SearchPlan {
            strategy: "best-of-3".parse().unwrap(),
            tuner: "genetic".parse().unwrap(),
            rules: Participation::Excluded,
            models: ["qwen-coder".to_owned()].into(),
            roles: "coder-and-judge".parse().unwrap(),
            contrast: 4,
            budget: Budget {
                evaluations: None,
                seconds: Some(90.0),
                tokens: Some(5000),
                money: Some(0.5),
            },
            pace: Pace::Gentle,
            ..SearchPlan::default()
        };
        let text = ron::to_string(&plan).unwrap();
        assert_eq!(ron::from_str(&text), Ok(plan), "{text}");
        let check = |text: &str, expected: Result<SearchPlan, &str>| {
            let read = ron::from_str::<SearchPlan>(text).map_err(|error| error.to_string());
            match (read, expected) {
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{text}"),
                (Err(error), Err(part)) => assert!(error.contains(part), "{text}: {error}"),
                (read, expected) => panic!("{text}: {read:?}, expected {expected:?}"),
            }
        };
        check("()", Ok(SearchPlan::default()));
        // Earlier versions wrote fields that no longer exist.
        check("(forecast: off)", Ok(SearchPlan::default()));
        let rules = SearchPlan { tuning: Participation::Excluded, ..SearchPlan::default() };
        check("(operators: [\"rules\"])", Ok(rules));
        check("(strategy: \"luck\")", Err("luck"));
        check("(tuner: \"luck\")", Err("luck"));
        check("(operators: [\"luck\"])", Err("unknown operator `luck`"));
        check("(evaluations: Some(0))", Err("no evaluations"));
        check("(minutes: Some(NaN))", Err("NaN is not a valid limit"));
        check("(money: Some(-1.0))", Err("-1 is not a valid limit"));
        check("(pace: furious)", Err("furious"));
    }
}
