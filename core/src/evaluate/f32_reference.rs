//! The f32 variant of a reference: its source with `float` instead of `double`, and with literals of type `float`.
//!
//! Pointers keep `double`, so that the variant takes the same buffers as the reference and writes its results in the same
//! format. Comments, strings and headers of the project stay unchanged.
//!
//! If kernels may flush subnormal numbers to zero, the variant does so too: inputs on which flushing changes results beyond
//! the tolerance are then not admissible.

use crate::project::definition::Subnormals;
use crate::project::{Kernel, Language};

/// The f32 variant of a reference; `None` if the reference computes nothing in f64.
pub(super) fn narrowed_reference(reference: &Kernel, subnormals: Subnormals) -> Option<Kernel> {
    if reference.language != Language::Cuda {
        return None;
    }
    let source = narrowed(&reference.source)?;
    let mut twin = Kernel { source, ..reference.clone() };
    match subnormals {
        Subnormals::MayFlush => twin.launch.flags = twin.launch.flags.with_flushed_subnormals(),
        Subnormals::Keep => {}
    }
    Some(twin)
}

/// The source with every non-pointer `double` and every literal of that type as `float`; `None` if there is no such
/// `double`. A literal in f64 would make the surrounding arithmetic more accurate than f32.
fn narrowed(source: &str) -> Option<String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = source.as_bytes();
    let mut narrowed = String::with_capacity(source.len());
    let (mut at, mut copied, mut any) = (0, 0, false);
    while at < bytes.len() {
        // No token starts inside a multi-byte character.
        if let Some(length) = source.get(at..).and_then(skipped) {
            at += length;
            continue;
        }
        let is_fraction = bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if bytes[at].is_ascii_digit() || is_fraction {
            let length = number_length(&bytes[at..]);
            if is_double_literal(&source[at..at + length]) {
                narrowed.push_str(&source[copied..at + length]);
                narrowed.push('f');
                copied = at + length;
            }
            at += length;
            continue;
        }
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        let is_pointer = source[at + length..].trim_start().starts_with('*');
        if &source[at..at + length] == "double" && !is_pointer {
            narrowed.push_str(&source[copied..at]);
            narrowed.push_str("float");
            (copied, any) = (at + length, true);
        }
        at += length;
    }
    narrowed.push_str(&source[copied..]);
    any.then_some(narrowed)
}

/// The length of the number at the start of the source, which starts with a digit or a point; the sign of an exponent is
/// part of it.
fn number_length(bytes: &[u8]) -> usize {
    let mut before = b'0';
    let belongs = |byte: &&u8| {
        let is_sign = matches!(**byte, b'+' | b'-') && matches!(before, b'e' | b'E');
        let belongs = byte.is_ascii_alphanumeric() || **byte == b'.' || is_sign;
        before = **byte;
        belongs
    };
    bytes.iter().take_while(belongs).count()
}

/// Whether a number is a decimal literal of type `double`: with a point or an exponent, and without a suffix.
fn is_double_literal(number: &str) -> bool {
    let is_hexadecimal = number.starts_with("0x") || number.starts_with("0X");
    let ends_as_double = number.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    !is_hexadecimal && ends_as_double && number.contains(['.', 'e', 'E'])
}

/// The length of the comment or quoted text at the start of the source.
fn skipped(source: &str) -> Option<usize> {
    let until = |from: usize, end: &str| {
        source
            .get(from..)
            .and_then(|rest| rest.find(end))
            .map_or(source.len(), |at| from + at + end.len())
    };
    if source.starts_with("//") {
        Some(until(2, "\n"))
    } else if source.starts_with("/*") {
        Some(until(2, "*/"))
    } else if source.starts_with('"') {
        let mut escaped = false;
        let end = source.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        Some(end.map_or(source.len(), |at| at + 2))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::narrowed;

    #[test]
    fn locals_become_float_and_pointers_stay() {
        let check = |source: &str, expected: Option<&str>| {
            assert_eq!(narrowed(source).as_deref(), expected, "{source}");
        };
        check("double sum = 0.0;", Some("float sum = 0.0f;"));
        check("double x = 1e-5 - 2.+3;", Some("float x = 1e-5f - 2.f+3;"));
        check("double x1 = 0x1e + 7 + 1.5f + 3e2f;", Some("float x1 = 0x1e + 7 + 1.5f + 3e2f;"));
        check("double x = .5 * 2;", Some("float x = .5f * 2;"));
        check("float x = 0.5;", None);
        check("const double* y, double *z, double * w", None);
        check("f<double>(static_cast<double>(x) * y)", Some("f<float>(static_cast<float>(x) * y)"));
        check("double2 pair; my_double d; int doubles;", None);
        check(
            "// double\n/* double */ \"double \\\" double\" double",
            Some("// double\n/* double */ \"double \\\" double\" float"),
        );
        check("int sum = 0;", None);
        check("// größer\ndouble ä;", Some("// größer\nfloat ä;"));
    }
}
