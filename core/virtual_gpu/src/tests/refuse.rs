//! Faulty modules: each faulty line states its error in a comment, and no other line has an error.

use super::{Module, texts};

/// (line, message) of every `// error: …` comment; several of a line are separated by ` & `.
fn expected(text: &str) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((_, messages)) = line.split_once("// error: ") {
            for message in messages.split(" & ") {
                all.push((index as u32 + 1, message.trim().to_owned()));
            }
        }
    }
    all
}

#[test]
fn each_error_is_found_on_its_line_and_no_other() {
    let files = texts("refuse");
    assert!(!files.is_empty());
    for (name, text) in files {
        let errors = Module::load(&text).expect_err(&name);
        let expected = expected(&text);
        let found: Vec<_> =
            errors.iter().map(|error| (error.place.line, error.problem.to_string())).collect();
        assert_eq!(found.len(), expected.len(), "{name}: {found:#?}");
        for ((line, message), (wanted_line, wanted)) in found.iter().zip(&expected) {
            assert_eq!(line, wanted_line, "{name}: {message}");
            assert!(
                message.contains(wanted.as_str()),
                "{name}:{line}: `{message}` lacks `{wanted}`"
            );
        }
    }
}
