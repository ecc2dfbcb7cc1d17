//! What expressions mean, by table and against an independent oracle.

use lightbench_primitives::scalar_value::ScalarValue;
use proptest::prelude::*;

use super::*;
use crate::environment::{DeviceFacts, Environment};

fn environment() -> Environment<'static> {
    let mut environment = Environment::default();
    environment.set("rows", 7);
    environment.set("cols", 264);
    environment.set_scalar("eps", ScalarValue::Real(0.5));
    environment.on_device(&DeviceFacts { sms: Some(132), ..DeviceFacts::default() })
}

fn scope() -> Scope {
    Scope {
        integers: vec!["rows".to_owned(), "cols".to_owned()],
        reals: vec!["eps".to_owned()],
        device: DeviceNames::FactsAndOccupancy(vec!["persist".to_owned()]),
        open: Openness::Closed,
    }
}

fn check_integer(text: &str, expected: i128) {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    expression.check(&scope(), Kind::Integer).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(expression.integer(&environment()), Ok(expected), "{text}");
}

#[test]
fn integers_follow_the_written_rules() {
    for (text, expected) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 ** 3 ** 2", 512),
        ("-2 ** 2", -4),
        ("10 - 3 - 2", 5),
        ("rows * cols", 1848),
        ("cols / 8", 33),
        ("cols // 100", 2),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 % -3", -2),
        ("ceil_div(cols, 100)", 3),
        ("ceil_div(-7, 2)", -3),
        ("min(rows, cols, 3)", 3),
        ("max(rows, cols)", 264),
        ("log2_floor(cols)", 8),
        ("device.sms * 2", 264),
        ("1_000", 1000),
        ("- - 3", 3),
    ] {
        check_integer(text, expected);
    }
}

#[test]
fn conditions_follow_the_written_rules() {
    for (text, expected) in [
        ("rows < cols", true),
        ("rows == 7 and not cols == 7", true),
        ("rows != 7 or cols >= 264", true),
        ("not rows == 7 or cols == 1", false),
        ("rows == 7 or 1 / 0 == 1", true),
        ("cols % 8 == 0", true),
    ] {
        let expression = Expression::parse(text).unwrap();
        expression
            .check(&scope(), Kind::Condition)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expression.condition(&environment()), Ok(expected), "{text}");
    }
}

#[test]
fn work_formulas_are_real() {
    for (text, expected) in [
        ("rows / 2", 3.5),
        ("0.5 * cols", 132.0),
        ("sqrt(16)", 4.0),
        ("log2(8) + eps", 3.5),
        ("1e3", 1000.0),
    ] {
        let expression = Expression::parse(text).unwrap();
        expression.check(&scope(), Kind::Real).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expression.real(&environment()), Ok(expected), "{text}");
    }
}

/// The whole way: parse, check, evaluate; the first error with its columns, counted from 1.
fn first_error(text: &str, kind: Kind) -> Option<(usize, usize, String, Option<String>)> {
    let outcome = Expression::parse(text).and_then(|expression| {
        expression.check(&scope(), kind)?;
        match kind {
            Kind::Integer => expression.integer(&environment()).map(drop),
            Kind::Condition => expression.condition(&environment()).map(drop),
            Kind::Real => expression.real(&environment()).map(drop),
        }
    });
    let error = outcome.err()?;
    Some((error.span.start + 1, error.span.end + 1, error.reason.to_string(), error.reason.help()))
}

#[test]
fn errors_point_at_the_place_and_say_what_to_write() {
    for (text, kind, start, end, message, help) in [
        ("", Kind::Integer, 1, 1, "the expression is empty", None),
        ("rows +", Kind::Integer, 7, 7, "the expression ends too early", None),
        ("rows * colz", Kind::Integer, 8, 12, "unknown name `colz`", Some("write `cols`")),
        (
            "ceildiv(rows, 2)",
            Kind::Integer,
            1,
            8,
            "unknown function `ceildiv`",
            Some("write `ceil_div`"),
        ),
        ("ceil_div(rows)", Kind::Integer, 1, 15, "`ceil_div` is given 1 arguments", None),
        ("rows && cols", Kind::Integer, 6, 8, "`&&` is not an operator here", Some("write `and`")),
        ("rows << 2", Kind::Integer, 6, 8, "`<<` is not an operator here", Some("write `* 2 **`")),
        ("rows = 2", Kind::Condition, 6, 7, "`=` is not an operator here", Some("write `==`")),
        (
            "1 < rows < 9",
            Kind::Condition,
            10,
            11,
            "comparisons cannot be chained",
            Some("write `a < b and b < c`"),
        ),
        ("rows < 3", Kind::Integer, 1, 9, "this is a condition", None),
        ("rows + 1", Kind::Condition, 1, 9, "this is a number", None),
        (
            "rows / 2",
            Kind::Integer,
            1,
            9,
            "7 / 2 is not an integer",
            Some("write `//` or `ceil_div(a, b)`"),
        ),
        ("1 + rows // (7 - rows)", Kind::Integer, 5, 23, "division by zero: 7 // 0", None),
        ("rows % 0", Kind::Integer, 1, 9, "division by zero: 7 % 0", None),
        ("2 ** 127", Kind::Integer, 1, 9, "2 ** 127 overflows", None),
        ("2 ** 128", Kind::Integer, 1, 9, "the exponent 128 is out of range", None),
        ("2 ** -1", Kind::Integer, 1, 8, "the exponent -1 is out of range", None),
        ("1.5 * rows", Kind::Integer, 1, 4, "decimal numbers are for work formulas only", None),
        ("sqrt(rows)", Kind::Integer, 1, 11, "`sqrt` is for work formulas only", None),
        ("eps * 2", Kind::Integer, 1, 4, "`eps` is not an integer", None),
        ("log2_floor(0)", Kind::Integer, 1, 14, "`log2_floor` of 0", None),
        ("64kb", Kind::Integer, 1, 5, "a number ends in letters", None),
        ("rows cols", Kind::Integer, 6, 10, "unexpected `cols`", None),
        ("rows\u{202e}", Kind::Integer, 5, 8, "unexpected character '\\u{202e}'", None),
        ("device.l2_bytes", Kind::Integer, 1, 16, "`device.l2_bytes` has no value here", None),
        ("max_active_blocks('other')", Kind::Integer, 1, 27, "no step launches `other`", None),
        ("max_active_blocks(rows)", Kind::Integer, 19, 23, "unexpected `rows`", None),
    ] {
        let expected = Some((start, end, message.to_owned(), help.map(str::to_owned)));
        assert_eq!(first_error(text, kind), expected, "{text}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let deep = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    assert_eq!(Expression::parse(&deep).unwrap_err().reason, Reason::TooDeep);
    let signs = format!("{}1", "-".repeat(900));
    assert_eq!(Expression::parse(&signs).unwrap_err().reason, Reason::TooDeep);
    let powers = format!("1{}", "**1".repeat(300));
    assert_eq!(Expression::parse(&powers).unwrap_err().reason, Reason::TooDeep);
    let long = format!("1{}", "+1".repeat(600));
    assert_eq!(Expression::parse(&long).unwrap_err().reason, Reason::TooLong { bytes: 1201 });
    check_integer(&format!("1{}", "+1".repeat(500)), 501);
    check_integer(&format!("{}1{}", "(".repeat(50), ")".repeat(50)), 1);
}

/// An independent picture of an expression: printed with every parenthesis, or with none that is redundant.
#[derive(Clone, Debug)]
enum Tree {
    Number(i64),
    Rows,
    Negate(Box<Self>),
    Pair(&'static str, Box<Self>, Box<Self>),
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0_i64..50).prop_map(Tree::Number), Just(Tree::Rows)];
    leaf.prop_recursive(5, 40, 2, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "//", "%", "**"]);
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Negate(Box::new(tree))),
            (operator, inner.clone(), inner).prop_map(|(operator, left, right)| Tree::Pair(
                operator,
                Box::new(left),
                Box::new(right)
            )),
        ]
    })
}

impl Tree {
    fn level(&self) -> u8 {
        match self {
            Self::Number(_) | Self::Rows => 9,
            Self::Negate(_) => 3,
            Self::Pair("+" | "-", ..) => 1,
            Self::Pair("**", ..) => 4,
            Self::Pair(..) => 2,
        }
    }

    fn full(&self) -> String {
        match self {
            Self::Number(value) => value.to_string(),
            Self::Rows => "rows".to_owned(),
            Self::Negate(inner) => format!("(-{})", inner.full()),
            Self::Pair(operator, left, right) => {
                format!("({} {operator} {})", left.full(), right.full())
            }
        }
    }

    fn sparse(&self) -> String {
        let wrapped = |tree: &Self, least: u8| {
            if tree.level() < least { format!("({})", tree.sparse()) } else { tree.sparse() }
        };
        match self {
            Self::Number(value) => value.to_string(),
            Self::Rows => "rows".to_owned(),
            Self::Negate(inner) => format!("-{}", wrapped(inner, 3)),
            Self::Pair("**", left, right) => {
                format!("{} ** {}", wrapped(left, 5), wrapped(right, 3))
            }
            Self::Pair(operator, left, right) => {
                format!(
                    "{} {operator} {}",
                    wrapped(left, self.level()),
                    wrapped(right, self.level() + 1)
                )
            }
        }
    }

    /// Written from the format's page, by other means than the evaluator: Euclidean division.
    fn value(&self) -> Option<i128> {
        match self {
            Self::Number(value) => Some(i128::from(*value)),
            Self::Rows => Some(7),
            Self::Negate(inner) => inner.value()?.checked_neg(),
            Self::Pair(operator, left, right) => {
                let (left, right) = (left.value()?, right.value()?);
                let floor = || {
                    let rest = left.checked_rem_euclid(right)?;
                    let down = if right < 0 && rest > 0 { rest.checked_add(right)? } else { rest };
                    left.checked_sub(down)?.checked_div(right)
                };
                match *operator {
                    "+" => left.checked_add(right),
                    "-" => left.checked_sub(right),
                    "*" => left.checked_mul(right),
                    "/" => floor().filter(|quotient| quotient.checked_mul(right) == Some(left)),
                    "//" => floor(),
                    "%" => left.checked_sub(floor()?.checked_mul(right)?),
                    _ => {
                        let exponent =
                            u32::try_from(right).ok().filter(|exponent| *exponent <= 127)?;
                        (0..exponent).try_fold(1_i128, |product, _| product.checked_mul(left))
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn values_agree_with_an_independent_oracle(tree in trees()) {
        for text in [tree.full(), tree.sparse()] {
            if let Ok(expression) = Expression::parse(&text) {
                prop_assert_eq!(expression.integer(&environment()).ok(), tree.value(), "{}", text);
            } else {
                prop_assert!(text.len() > MAX_BYTES || text.matches(['(', '-', '*']).count() > 20, "{}", text);
            }
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", words in "[0-9a-z_.()+*/%<>=!, '\"-]{0,60}") {
        for text in [text, words] {
            if let Ok(expression) = Expression::parse(&text) {
                for kind in [Kind::Integer, Kind::Condition, Kind::Real] {
                    if expression.check(&scope(), kind).is_ok() {
                        drop(expression.integer(&environment()));
                        drop(expression.condition(&environment()));
                        drop(expression.real(&environment()));
                    }
                }
            }
        }
    }

    #[test]
    fn spans_lie_inside_the_text(text in "[0-9a-z_.()+*/%<>=!, é-]{0,40}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(error.span.start <= error.span.end && error.span.end <= text.len());
            prop_assert!(text.is_char_boundary(error.span.start) && text.is_char_boundary(error.span.end));
        }
    }
}
