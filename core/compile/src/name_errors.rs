//! The compiler's complaints about the names in a launch block, in words that lead back to it.
//!
//! Kernels are asked for by expressions (`scale<128, 4>`), which NVRTC puts into a text of its own. What it says about
//! that text helps nobody who has not read its source.

use super::diagnostics::{Diagnostic, Place, Severity};

/// The text that NVRTC makes of name expressions.
const NAME_MAP: &str = "__nv_name_map";
/// How a line of it begins.
const PRAGMA: &str = "#pragma nv_mangled_name ";

/// Replaces complaints about names by one for each name.
pub(super) fn explain(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut explained: Vec<Diagnostic> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for diagnostic in diagnostics {
        let Some(name) = name_in_question(&diagnostic) else {
            explained.push(diagnostic);
            continue;
        };
        // The first message about a name says what is wrong, those after it that something was.
        if !names.contains(&name) {
            explained.push(Diagnostic {
                place: Place::Nowhere,
                severity: Severity::Error,
                code: None,
                message: explanation(&name, &diagnostic.message),
                notes: Vec::new(),
            });
            names.push(name);
        }
    }
    explained
}

fn name_in_question(diagnostic: &Diagnostic) -> Option<String> {
    let Place::Source(place) = &diagnostic.place else { return None };
    let excerpt = place.excerpt.as_deref().unwrap_or("");
    let name = excerpt.trim().strip_prefix(PRAGMA)?;
    (place.file == NAME_MAP).then(|| name.trim().to_owned())
}

fn explanation(name: &str, message: &str) -> String {
    if message.contains("non-__global__") {
        format!(
            "the launch block names `{name}`, which is not a `__global__` function: write `__global__ void` before it"
        )
    } else if message.contains("which instance of function template") && name.contains('<') {
        format!(
            "the launch block names `{name}`, which leaves a template parameter open: write an argument for each"
        )
    } else if message.contains("which instance of function template") {
        format!(
            "the launch block names `{name}`, which is a template: write its arguments, as in `kernel: \"{name}<256>\"` \
             or `\"{name}<PARAM_BLOCK>\"`"
        )
    } else if message.contains("no instance of function template") {
        format!(
            "the launch block names `{name}`, and no template has parameters that these arguments fit"
        )
    } else if message.contains("is undefined") || message.contains("has no member") {
        format!("the launch block names `{name}`, which this file does not define")
    } else {
        format!("the launch block names `{name}`: {message}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::read;

    fn check(log: &str, expected: &[&str]) {
        let messages: Vec<_> = explain(read(log, &["k.cu"]).diagnostics)
            .into_iter()
            .map(|each| each.message)
            .collect();
        assert_eq!(messages.len(), expected.len(), "{messages:?}");
        for (message, expected) in messages.iter().zip(expected) {
            assert!(message.contains(expected), "{message}");
        }
    }

    /// Logs of NVRTC 13.5.
    #[test]
    fn a_name_that_is_no_kernel_is_said_once_and_in_our_words() {
        let place = "  #pragma nv_mangled_name scale\n                          ^\n\n";
        let of = |message: &str| format!("__nv_name_map(2): error: {message}\n{place}");
        let parsing = of(
            "Error in parsing name expression for lowered name lookup. Input name expression was: \" scale\"",
        );
        check(
            &(of("cannot determine which instance of function template \"scale\" is intended")
                + &parsing),
            &["which is a template"],
        );
        check(
            &of(
                "Name expression cannot form address of a non-__global__/__tile_global__ function. Input name expression was: \" scale\"",
            ),
            &["not a `__global__` function"],
        );
        check(&(of("identifier \"scale\" is undefined") + &parsing), &["does not define"]);
    }

    #[test]
    fn other_messages_stay() {
        check(
            "k.cu(1): error: identifier \"z\" is undefined\n  z;\n  ^\n\n",
            &["identifier \"z\""],
        );
    }
}
