//! Warnings about bidirectional control characters in sources.
//!
//! These characters in comments and literals make an editor show a line in another order than it is compiled
//! (<https://trojansource.codes>). The compiler does not report them.

use lightbench_primitives::display_text::{turns_direction, visible};

use super::{Diagnostic, Place, Severity, SourcePlace};

/// Maximum number of warnings for one file.
const MOST: usize = 20;

/// A warning for each line of a file that has such characters, at the first of them.
pub(crate) fn warnings(file: &str, text: &str) -> Vec<Diagnostic> {
    let found = text.lines().zip(1_u32..).filter_map(|(line, number)| {
        let (column, character) = line
            .chars()
            .zip(1_u32..)
            .find(|(each, _)| turns_direction(*each))
            .map(|(a, b)| (b, a))?;
        Some(warning(file, (number, column), (line, character)))
    });
    found.take(MOST).collect()
}

fn warning(
    file: &str,
    (number, column): (u32, u32),
    (line, character): (&str, char),
) -> Diagnostic {
    let code = u32::from(character);
    Diagnostic {
        place: Place::Source(SourcePlace {
            file: file.to_owned(),
            line: number,
            column: Some(column),
            excerpt: Some(visible(line).into_owned()),
            foreign: false,
        }),
        severity: Severity::Warning,
        code: None,
        message: format!(
            "the bidirectional control character U+{code:04X} makes editors show this line in another order than it is compiled: \
             remove it, or write `\\u{code:04x}` in a literal"
        ),
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_directional_character_is_warned_about_and_shown() {
        let check = |text: &str, expected: &[(u32, u32)]| {
            let warnings = warnings("kernels/k.cu", text);
            let places: Vec<_> = warnings
                .iter()
                .map(|each| {
                    let Place::Source(place) = &each.place else { panic!("{each:?}") };
                    (place.line, place.column.unwrap())
                })
                .collect();
            assert_eq!(places, expected, "{text:?}");
            for warning in warnings {
                assert!(warning.message.contains("U+"), "{warning:?}");
                let Place::Source(place) = warning.place else { panic!("{text:?}") };
                let excerpt = place.excerpt.unwrap();
                assert!(
                    excerpt.contains("\\u{") && !excerpt.chars().any(turns_direction),
                    "{excerpt}"
                );
            }
        };
        check("int a; // größer, 日本, עברית\n", &[]);
        check("int a;\n/* \u{202e} } \u{2066} if (a) */\n", &[(2, 4)]);
        check("x\u{200f}\ny\u{2069}", &[(1, 2), (2, 2)]);
    }
}
