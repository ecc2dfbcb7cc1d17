//! One specimen for each rule, and texts that are no definitions.

use std::fs;

use proptest::prelude::*;

use super::example;
use crate::{Json, import, relative_path, write};

const SOUND: &str = include_str!("../../../../tests/import/residual_norm_h96.json");

/// The error of importing a text.
fn refused(text: &str) -> String {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("task.json");
    fs::write(&file, text).unwrap();
    import(&file).unwrap_err().to_string()
}

#[test]
fn definitions_are_refused_with_the_place() {
    let check = |from: &str, to: &str, expected: &str| {
        assert!(SOUND.contains(from), "{from}");
        let error = refused(&SOUND.replacen(from, to, 1));
        assert!(error.contains(expected), "{error}\nexpected {expected}");
        assert!(error.contains("task.json: "), "{error}");
    };
    check("\"op_type\"", "\"name\"", "line 4, column 8: the key `name` appears twice");
    check(
        "\"bfloat16\"",
        "\"bfloat61\"",
        "inputs.hidden_states.dtype: the text `bfloat61`; expected one of",
    );
    check("\"bfloat16\"", "\"bfloat61\"", "did you mean `bfloat16`?");
    check(
        "[\"batch_size\", \"hidden_size\"]",
        "[\"rows\"]",
        "inputs.hidden_states.shape: the unknown axis `rows`",
    );
    check(
        "\"var\"",
        "\"variable\"",
        "axes.batch_size.type: the text `variable`; expected `const`, `var` or `expr`",
    );
    check("96}", "0}", "axes.hidden_size.value: 0; expected an integer of at least 1");
    check("96}", "9.5}", "axes.hidden_size.value: 9.5");
    check("\"reference\"", "\"code\"", "reference: no reference");
    check("def _residual", "class _residual", "reference: no function");
    check("def _residual", "func _residual", "reference: line ");
    check("{\"shape\": [\"hidden_size\"]", "{\"shape\": [true]", "inputs.weight.shape[0]: true");
    check("{\"shape\": [\"hidden_size\"]", "{\"shape\": 5", "inputs.weight.shape: 5");
    check("\"name\": \"residual_norm_h96\"", "\"name\": 5", "name: 5; expected a text");
    check("\"axes\": {", "\"axes\": [], \"_\": {", "axes: a list of 0; expected an object");
    check("\"outputs\": {", "\"outputs\": {}, \"_\": {", "outputs: no output");
}

#[test]
fn other_content_is_named() {
    let check = |text: &str, expected: &str| {
        let error = refused(text);
        assert!(error.contains(expected), "{error}\nexpected {expected}");
    };
    check("", "line 1, column 0: EOF");
    check("{", "line 1, column 1");
    check("[1]", "a list of 1; expected a definition of FlashInfer-Bench");
    check("{\"a\": 1}", "JSON with the keys `a`");
    check(
        "{\"definition\": \"d\", \"spec\": {}, \"sources\": []}",
        "a solution without its definition",
    );
    check(
        &format!("{}1{}", "[".repeat(65), "]".repeat(65)),
        "values nested more than 64 levels deep",
    );
    check("{\"a\": NaN}", "line 1");
    check("{\"a\": 1} {}", "trailing characters");
}

#[test]
fn files_are_read_within_limits() {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("task.json");
    let error = |expected: &str| {
        let error = import(&file).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    error("cannot read it");
    fs::write(&file, b"{\"a\": \"\xff\"}").unwrap();
    error("byte 7: not UTF-8");
    fs::write(&file, format!("\n\"{}\"", "a".repeat(16 << 20))).unwrap();
    error("line 2: 16777218 bytes; expected at most 16777216");
    let large = fs::File::create(&file).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    error("67108865 bytes; expected at most 67108864");
}

#[test]
fn an_occupied_target_is_refused_and_nothing_is_left() {
    let base = tempfile::tempdir().unwrap();
    fs::create_dir_all(base.path().join("full/inner")).unwrap();
    fs::write(base.path().join("file"), "mine").unwrap();
    for (name, expected) in
        [("full", "is not empty"), ("file", "a file"), ("no/new", "there is no folder")]
    {
        let imported = import(&example("residual_norm_h96.json")).unwrap();
        let error = write(&base.path().join(name), imported).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 2);
}

#[test]
fn several_definitions_need_a_choice() {
    let error = import(&example("")).unwrap_err().to_string();
    assert!(error.contains("2 definitions: paged_sum_d16.json, residual_norm_h96.json"), "{error}");
}

#[test]
fn workloads_are_refused_with_their_line() {
    let check = |from: &str, to: &str, expected: &str| {
        let base = tempfile::tempdir().unwrap();
        for name in ["definition.json", "workload.jsonl"] {
            let text = fs::read_to_string(example("scale_rows").join(name)).unwrap();
            let text = if name.ends_with('l') { text.replacen(from, to, 1) } else { text };
            fs::write(base.path().join(name), text).unwrap();
        }
        let error = import(base.path()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(
        "{\"rows\": 64}",
        "{\"lines\": 64}",
        "line 2, axes.lines: 64; expected an axis of the definition",
    );
    check(
        "{\"rows\": 64}",
        "{\"rows\": 0}",
        "line 2, axes.rows: 0; expected an integer of at least 1",
    );
    check("{\"rows\": 64}", "5", "line 2, axes: 5; expected an object");
    check("\"uuid\": \"c\"", "\"axes\": 1", "line 3, column");
}

#[test]
fn solutions_are_refused_with_their_place() {
    let check = |from: &str, to: &str, expected: &str| {
        let base = tempfile::tempdir().unwrap();
        for name in ["definition.json", "solution.json"] {
            let text = fs::read_to_string(example("scale_rows").join(name)).unwrap();
            let text = if name.starts_with('s') { text.replacen(from, to, 1) } else { text };
            fs::write(base.path().join(name), text).unwrap();
        }
        let error = import(base.path()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(
        "kernels/scale.cu",
        "../scale.cu",
        "sources[1].path: the path `../scale.cu` contains `..`",
    );
    check("kernels/scale.cu", "MAIN.cpp", "sources[1].path: a second file `MAIN.cpp`");
    check("\"content\"", "\"contents\"", "sources[0].content: nothing; expected a text");
    check(
        "scale_rows_h4_d48",
        "other",
        "definition: `other`; expected a solution of `scale_rows_h4_d48`",
    );
}

#[test]
fn paths_stay_below_their_folder() {
    let check = |written: &str, expected: Option<&str>| {
        assert_eq!(relative_path(written).ok().as_deref(), expected, "{written:?}");
    };
    check("a/b.cu", Some("a/b.cu"));
    check("./a//b.cu", Some("a/b.cu"));
    check("../a", None);
    check("a/../b", None);
    check("/a", None);
    check("C:/a", None);
    check("a\\b", None);
    check("a\0b", None);
    check("a\nb", None);
    check("", None);
    check("./", None);
}

/// Pieces that change what a definition means more often than random letters do.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "-1",
    "0",
    "99999999999999999999",
    "null",
    "true",
    "batch_size",
    "\\n",
    "def ",
    "(",
    ")",
    "return ",
    "'''",
    "#",
    "é",
    "\\u0000",
    "1e400",
    "const",
    "expr",
    "expression",
    "==",
    "//",
    "**",
    "residual[",
    "+=",
    ".add_(",
];

proptest! {
    #[test]
    fn no_text_makes_an_import_panic(edits in prop::collection::vec((0..SOUND.len(), 0..12_usize, prop::sample::select(PIECES)), 1..5)) {
        let mut text = SOUND.to_owned();
        for (at, removed, piece) in edits {
            let at = text.floor_char_boundary(at);
            let end = text.ceil_char_boundary((at + removed).min(text.len()));
            text.replace_range(at..end, piece);
        }
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("task.json");
        fs::write(&file, text).unwrap();
        if let Ok(imported) = import(&file) {
            // What was imported either loads or is refused; both leave no half of a project.
            if write(&base.path().join("new"), imported).is_err() {
                prop_assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
            }
        }
    }

    #[test]
    fn no_text_makes_the_json_reader_panic(text in "[\\[\\]{}\",:0-9a-z \\\\]{0,80}") {
        let _any = Json::read(std::path::Path::new("x"), &text);
    }
}
