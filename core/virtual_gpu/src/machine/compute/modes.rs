//! Conversion of the modifiers of `isa` to the modes of `semantics`.

use super::super::super::isa;
use super::super::super::semantics as s;

pub(crate) fn rounding(rounding: isa::float::Rounding) -> s::Rounding {
    match rounding {
        isa::float::Rounding::NearestEven => s::Rounding::NearestEven,
        isa::float::Rounding::TowardZero => s::Rounding::TowardZero,
        isa::float::Rounding::Down => s::Rounding::Down,
        isa::float::Rounding::Up => s::Rounding::Up,
    }
}

pub(crate) fn subnormals(subnormals: isa::float::Subnormals) -> s::Subnormals {
    match subnormals {
        isa::float::Subnormals::Keep => s::Subnormals::Keep,
        isa::float::Subnormals::Flush => s::Subnormals::Flush,
    }
}

pub(crate) fn clamp(clamp: isa::float::Clamp) -> s::Clamp {
    match clamp {
        isa::float::Clamp::None => s::Clamp::None,
        isa::float::Clamp::Unit => s::Clamp::Unit,
    }
}

pub(crate) fn negative(negative: isa::integer::Negative) -> s::Negative {
    match negative {
        isa::integer::Negative::Keep => s::Negative::Keep,
        isa::integer::Negative::Zero => s::Negative::Zero,
    }
}

pub(crate) fn overflow(overflow: isa::integer::Overflow) -> s::Overflow {
    match overflow {
        isa::integer::Overflow::Wrap => s::Overflow::Wrap,
        isa::integer::Overflow::Saturate => s::Overflow::Saturate,
    }
}

pub(crate) fn part(part: isa::integer::Part) -> s::integer::Part {
    match part {
        isa::integer::Part::Low => s::integer::Part::Low,
        isa::integer::Part::High => s::integer::Part::High,
    }
}

pub(crate) fn signedness(ty: isa::integer::WordType) -> s::integer::Signedness {
    match ty {
        isa::integer::WordType::U32 => s::integer::Signedness::Unsigned,
        isa::integer::WordType::S32 => s::integer::Signedness::Signed,
    }
}

pub(crate) fn choice(extreme: s::Extreme, choice: isa::float::Choice) -> s::float::Choice {
    let nan = nan(choice.nan);
    let sign = match choice.sign {
        isa::float::SignRule::Winner => s::SignRule::Winner,
        isa::float::SignRule::Product => s::SignRule::Product,
        isa::float::SignRule::Absolute => s::SignRule::Absolute,
    };
    s::float::Choice { extreme, nan, sign }
}

pub(crate) fn nan(rule: isa::float::NanRule) -> s::NanRule {
    match rule {
        isa::float::NanRule::Number => s::NanRule::Number,
        isa::float::NanRule::Propagate => s::NanRule::Propagate,
    }
}

pub(crate) fn beyond(beyond: isa::convert::Beyond) -> s::exact::Beyond {
    match beyond {
        isa::convert::Beyond::Infinity => s::exact::Beyond::Infinity,
        isa::convert::Beyond::LargestFinite => s::exact::Beyond::LargestFinite,
    }
}

pub(crate) fn excess(excess: isa::logic::Excess) -> s::bits::Excess {
    match excess {
        isa::logic::Excess::Clamp => s::bits::Excess::Clamp,
        isa::logic::Excess::Wrap => s::bits::Excess::Wrap,
    }
}

pub(crate) fn order(order: isa::compare::IntegerComparison) -> s::compare::Order {
    use isa::compare::IntegerComparison as From;
    match order {
        From::Equal => s::compare::Order::Equal,
        From::NotEqual => s::compare::Order::NotEqual,
        From::Less | From::Lower => s::compare::Order::Less,
        From::LessEqual | From::LowerSame => s::compare::Order::LessEqual,
        From::Greater | From::Higher => s::compare::Order::Greater,
        From::GreaterEqual | From::HigherSame => s::compare::Order::GreaterEqual,
    }
}

pub(crate) fn float_order(order: isa::compare::FloatComparison) -> s::compare::FloatOrder {
    use isa::compare::FloatComparison as From;
    use s::compare::{FloatOrder, Order};
    match order {
        From::Equal => FloatOrder::Ordered(Order::Equal),
        From::NotEqual => FloatOrder::Ordered(Order::NotEqual),
        From::Less => FloatOrder::Ordered(Order::Less),
        From::LessEqual => FloatOrder::Ordered(Order::LessEqual),
        From::Greater => FloatOrder::Ordered(Order::Greater),
        From::GreaterEqual => FloatOrder::Ordered(Order::GreaterEqual),
        From::EqualUnordered => FloatOrder::Unordered(Order::Equal),
        From::NotEqualUnordered => FloatOrder::Unordered(Order::NotEqual),
        From::LessUnordered => FloatOrder::Unordered(Order::Less),
        From::LessEqualUnordered => FloatOrder::Unordered(Order::LessEqual),
        From::GreaterUnordered => FloatOrder::Unordered(Order::Greater),
        From::GreaterEqualUnordered => FloatOrder::Unordered(Order::GreaterEqual),
        From::BothNumbers => FloatOrder::BothNumbers,
        From::AnyNan => FloatOrder::AnyNan,
    }
}
