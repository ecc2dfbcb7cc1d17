//! Replaces compiler errors about name expressions by errors that refer to the launch block.
//!
//! NVRTC receives the kernels to compile as name expressions (`scale<128, 4>`) and writes them into a generated file. Its
//! errors point into that file, which the user cannot see.

use super::diagnostics::{Diagnostic, Place, Severity};

/// Name of the file that NVRTC generates from name expressions.
const NAME_MAP: &str = "__nv_name_map";
/// Prefix of its lines.
const PRAGMA: &str = "#pragma nv_mangled_name ";

/// Replaces the errors about name expressions by one error for each name.
pub(super) fn explain(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut explained: Vec<Diagnostic> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for diagnostic in diagnostics {
        let Some(name) = name_in_question(&diagnostic) else {
            explained.push(diagnostic);
            continue;
        };
        // The first message about a name has the cause; later ones only follow from it.
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
            "the launch block names `{name}` without arguments for all template parameters: write an argument for each"
        )
    } else if message.contains("which instance of function template") {
        format!(
            "the launch block names `{name}`, which is a template: write its arguments, as in `kernel: \"{name}<256>\"` \
             or `\"{name}<PARAM_BLOCK>\"`"
        )
    } else if message.contains("no instance of function template") {
        format!(
            "the launch block names `{name}`, but no template accepts these arguments: compare them with the template's parameters"
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
    fn a_name_that_is_not_a_kernel_is_reported_once_with_its_cause() {
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
