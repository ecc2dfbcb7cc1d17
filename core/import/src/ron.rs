//! Values of the project format as RON text. Texts are escaped, so that no text of a stranger ends a string.

use std::fmt::Write as _;

use lightbench_project::manifest::{
    Accuracy, ComparatorWritten, Distribution, DomainWritten, Evidence, FillWritten, Init,
    LayoutWritten, LibraryWritten, OperationKind, Purpose, RoleWritten, ScalarDomainWritten,
};
use lightbench_project::written::{ExpressionWritten, NumberWritten};

/// A text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for letter in text.chars() {
        match letter {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            letter if letter.is_control() || is_invisible(letter) => {
                write!(written, "\\u{{{:x}}}", u32::from(letter)).ok();
            }
            letter => written.push(letter),
        }
    }
    written.push('"');
    written
}

/// Characters that change the direction or the visibility of the text around them.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A list of texts.
pub(crate) fn texts(items: &[String]) -> String {
    list(items.iter().map(|item| quoted(item)))
}

/// A list of values that are RON already.
pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A plain integer as such, all else as text.
pub(crate) fn expression(value: &ExpressionWritten) -> String {
    let text = value.0.as_str();
    let plain =
        !text.is_empty() && text.len() < 19 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.to_owned() } else { quoted(text) }
}

pub(crate) fn expressions(values: &[ExpressionWritten]) -> String {
    list(values.iter().map(expression))
}

pub(crate) fn number(value: NumberWritten) -> String {
    value.to_string()
}

fn real(value: f64) -> String {
    NumberWritten::Real(value).to_string()
}

pub(crate) fn role(role: RoleWritten) -> &'static str {
    match role {
        RoleWritten::Input => "input",
        RoleWritten::Output => "output",
        RoleWritten::Inout => "inout",
    }
}

pub(crate) fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Verify => "verify",
        Purpose::Measure => "measure",
        Purpose::HeldOut => "held_out",
    }
}

pub(crate) fn accuracy(accuracy: Accuracy) -> &'static str {
    match accuracy {
        Accuracy::F64 => "f64",
        Accuracy::F32 => "f32",
        Accuracy::Tf32 => "tf32",
        Accuracy::F16 => "f16",
        Accuracy::Bf16 => "bf16",
        Accuracy::F8 => "f8",
        Accuracy::Exact => "exact",
    }
}

pub(crate) fn operation(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Arithmetic => "arithmetic",
        OperationKind::Contraction => "contraction",
        OperationKind::Special => "special",
        OperationKind::Integer => "integer",
        OperationKind::Compare => "compare",
    }
}

pub(crate) fn init(init: Init) -> &'static str {
    match init {
        Init::Undefined => "undefined",
        Init::ZeroEachLaunch => "zero_each_launch",
        Init::ZeroOnce => "zero_once",
    }
}

pub(crate) fn distribution(distribution: Distribution) -> &'static str {
    match distribution {
        Distribution::AsDeclared => "as_declared",
        Distribution::Scaled => "scaled",
        Distribution::Shifted => "shifted",
        Distribution::HeavyTail => "heavy_tail",
        Distribution::Exact => "exact",
    }
}

pub(crate) fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::DeviceGlobals => "device_globals",
        Evidence::Clocks => "clocks",
        Evidence::Sleeps => "sleeps",
        Evidence::CachePersistence => "cache_persistence",
        Evidence::DeviceLaunch => "device_launch",
        Evidence::Heap => "heap",
        Evidence::Printf => "printf",
        Evidence::Trap => "trap",
        Evidence::InlineAssembly => "inline_assembly",
    }
}

pub(crate) fn scalar_domain(domain: ScalarDomainWritten) -> String {
    match domain {
        ScalarDomainWritten::Any => "any".to_owned(),
        ScalarDomainWritten::Fixed => "fixed".to_owned(),
        ScalarDomainWritten::NonZero => "non_zero".to_owned(),
        ScalarDomainWritten::Positive => "positive".to_owned(),
        ScalarDomainWritten::NonNegative => "non_negative".to_owned(),
        ScalarDomainWritten::Between { low, high } => between(low, high),
    }
}

fn between(low: f64, high: f64) -> String {
    format!("between(low: {}, high: {})", real(low), real(high))
}

pub(crate) fn domain(domain: &DomainWritten) -> String {
    match domain {
        DomainWritten::Any => "any".to_owned(),
        DomainWritten::Finite => "finite".to_owned(),
        DomainWritten::NonZero => "non_zero".to_owned(),
        DomainWritten::Positive => "positive".to_owned(),
        DomainWritten::NonNegative => "non_negative".to_owned(),
        DomainWritten::UnitInterval => "unit_interval".to_owned(),
        DomainWritten::Probability => "probability".to_owned(),
        DomainWritten::Between { low, high } => between(*low, *high),
        DomainWritten::IndexBelow(limit) => format!("index_below({})", expression(limit)),
    }
}

pub(crate) fn fill(fill: &FillWritten) -> String {
    match fill {
        FillWritten::Normal { mean, std } => {
            format!("normal(mean: {}, std: {})", real(*mean), real(*std))
        }
        FillWritten::Uniform { low, high } => {
            format!("uniform(low: {}, high: {})", real(*low), real(*high))
        }
        FillWritten::Integers { low, high } => format!("integers(low: {low}, high: {high})"),
        FillWritten::Ones => "ones".to_owned(),
        FillWritten::Zeros => "zeros".to_owned(),
        FillWritten::Constant(value) => format!("constant({})", number(*value)),
        FillWritten::Permutation => "permutation".to_owned(),
        FillWritten::SortedOffsets { total } => {
            format!("sorted_offsets(total: {})", expression(total))
        }
        FillWritten::SortedIndices { offsets, below } => {
            format!("sorted_indices(offsets: {}, below: {})", quoted(offsets), expression(below))
        }
        FillWritten::Mask { density } => format!("mask(density: {})", real(*density)),
        FillWritten::CausalMask => "causal_mask".to_owned(),
        FillWritten::HeavyTail { scale } => format!("heavy_tail(scale: {})", real(*scale)),
        FillWritten::Labels { below } => format!("labels(below: {})", expression(below)),
        FillWritten::PackedWeights => "packed_weights".to_owned(),
    }
}

pub(crate) fn layout(layout: &LayoutWritten) -> String {
    match layout {
        LayoutWritten::RowMajor => "row_major".to_owned(),
        LayoutWritten::Strides(strides) => format!("strides({})", expressions(strides)),
        LayoutWritten::LeadingDimension(size) => {
            format!("leading_dimension({})", expression(size))
        }
    }
}

pub(crate) fn comparator(comparator: &ComparatorWritten) -> String {
    match comparator {
        ComparatorWritten::Elementwise { terms, factor, rms } => {
            let rms = if *rms { "" } else { ", rms: false" };
            format!("elementwise(terms: {}, factor: {}{rms})", quoted(&terms.0), real(*factor))
        }
        ComparatorWritten::IntegerExact => "integer_exact".to_owned(),
        ComparatorWritten::IndexByValue { of, axis } => {
            format!("index_by_value(of: {}, axis: {axis})", quoted(of))
        }
        ComparatorWritten::Permutation { of } => format!("permutation(of: {})", quoted(of)),
        ComparatorWritten::Set => "set".to_owned(),
        ComparatorWritten::Sampling { probabilities, draws } => {
            format!(
                "sampling(probabilities: {}, draws: {})",
                quoted(probabilities),
                expression(draws)
            )
        }
    }
}

pub(crate) fn library(library: &LibraryWritten) -> String {
    let LibraryWritten::CublasGemm { a, b, c, transposed } = library;
    let (a, b, c) = (quoted(a), quoted(b), quoted(c));
    let transposed = if transposed.is_empty() {
        String::new()
    } else {
        format!(", transposed: {}", texts(transposed))
    };
    format!("cublas_gemm(a: {a}, b: {b}, c: {c}{transposed})")
}
