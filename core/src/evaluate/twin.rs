//! The f32 twin of a reference: the same source with `float` in the place of `double`.
//!
//! Pointers keep `double`, so that the twin takes the same buffers as the reference and leaves its results in the same
//! format. Comments and text are left alone, and so is what a project's headers say.

use crate::project::{Kernel, Language};

/// The twin of a reference; none where the reference computes nothing in f64.
pub(super) fn of(reference: &Kernel) -> Option<Kernel> {
    if reference.language != Language::Cuda {
        return None;
    }
    let source = narrowed(&reference.source)?;
    Some(Kernel { source, ..reference.clone() })
}

/// The source with every `double` that is no pointer's as `float`; none where there is none.
fn narrowed(source: &str) -> Option<String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = source.as_bytes();
    let mut narrowed = String::with_capacity(source.len());
    let (mut at, mut copied, mut any) = (0, 0, false);
    while at < bytes.len() {
        if let Some(length) = skipped(&source[at..]) {
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

/// The length of a comment or a quoted text that the source begins with.
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
        check("double sum = 0.0;", Some("float sum = 0.0;"));
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
