//! The f32 variant of a reference: its source with `float` instead of `double`, and with literals of type `float`.
//!
//! Pointers keep `double`, so that the variant takes the same buffers as the reference and writes its results in the same
//! format. Comments, strings and headers of the project stay unchanged.
//!
//! If kernels may flush subnormal numbers to zero, the variant does so too: inputs on which flushing changes results beyond
//! the tolerance are then not admissible.

use crate::cuda_source::lexer::{Token, TokenKind, tokens};
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
    let mut narrowed = String::with_capacity(source.len());
    let mut any = false;
    for Token { kind, range } in tokens(source) {
        let text = &source[range.clone()];
        match kind {
            TokenKind::Word if text == "double" && !is_before_star(&source[range.end..]) => {
                narrowed.push_str("float");
                any = true;
            }
            TokenKind::Number if is_double_literal(text) => {
                narrowed.push_str(text);
                narrowed.push('f');
            }
            TokenKind::Word
            | TokenKind::Number
            | TokenKind::Literal
            | TokenKind::Comment
            | TokenKind::Space
            | TokenKind::Other => narrowed.push_str(text),
        }
    }
    any.then_some(narrowed)
}

fn is_before_star(rest: &str) -> bool {
    rest.trim_start().starts_with('*')
}

/// Whether a number is a decimal literal of type `double`: with a point or an exponent, and without a suffix.
fn is_double_literal(number: &str) -> bool {
    let is_hexadecimal = number.starts_with("0x") || number.starts_with("0X");
    let ends_as_double = number.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    !is_hexadecimal && ends_as_double && number.contains(['.', 'e', 'E'])
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
