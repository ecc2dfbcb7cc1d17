//! Sizes and conditions of launches: any text is read, checked and evaluated, or refused in words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::project::expression::{
    DeviceNames, Expression, ExpressionError, Kind, Openness, Scope, Values,
};

struct Known;

impl Values for Known {
    fn integer(&self, name: &str) -> Option<i128> {
        (name.len() < 8)
            .then(|| i128::from(name.bytes().fold(0_u64, |sum, byte| sum << 8 | u64::from(byte))))
    }

    fn real(&self, name: &str) -> Option<f64> {
        self.integer(name).map(|value| value as f64)
    }

    fn max_active_blocks(&self, _kernel: &str) -> Option<i128> {
        Some(264)
    }
}

fn shown(error: &ExpressionError, text: &str) {
    assert!(text.get(error.span.clone()).is_some(), "{:?} is no part of {text:?}", error.span);
    assert!(!error.to_string().is_empty());
    let _ = (error.reason.expected(), error.reason.help());
}

fuzz_target!(|text: &str| {
    let expression = match Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return shown(&error, text),
    };
    assert_eq!(expression.text(), text);
    let _ = (
        expression.names(),
        expression.needs_device(),
        expression.as_name(),
        expression.as_integer(),
    );
    let scope = Scope {
        integers: vec!["rows".to_owned()],
        reals: vec!["eps".to_owned()],
        device: DeviceNames::FactsAndOccupancy(vec!["k".to_owned()]),
        open: Openness::Open,
    };
    for kind in [Kind::Integer, Kind::Condition, Kind::Real] {
        if let Err(error) = expression.check(&scope, kind) {
            shown(&error, text);
        }
    }
    for error in [
        expression.integer(&Known).err(),
        expression.condition(&Known).err(),
        expression.real(&Known).err(),
    ] {
        error.iter().for_each(|error| shown(error, text));
    }
});
