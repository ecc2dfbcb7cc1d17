//! Texts that nest deeply, are long, or are no Python at all.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::{Constants, Module, Statement};

/// Far above what a linear reader takes in a test build, far below what a quadratic one takes.
const LIMIT: Duration = Duration::from_secs(20);

fn read_all(text: &str) {
    let Ok(module) = Module::parse(text) else { return };
    drop(Constants::new(&module));
    drop(module.calls());
    drop(module.all_statements());
    drop(module.statements.iter().map(Statement::all_expressions).collect::<Vec<_>>());
    drop(module.full_name("a.b"));
}

#[test]
fn deep_and_long_texts_are_read_in_linear_time() {
    let many = 20_000;
    let indented: String = (0..500).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    let texts = [
        format!("x = {}1{}", "(".repeat(many), ")".repeat(many)),
        format!("x = {}1{}", "[".repeat(many), "]".repeat(many)),
        format!("x = {}", "1 + ".repeat(many) + "1"),
        format!("x = {}1", "not ".repeat(many)),
        format!("x = {}1", "-".repeat(many)),
        format!("x = a{}", ".b".repeat(many)),
        format!("x = a{}", "()".repeat(many)),
        format!("x = {}1", "1 if 2 else ".repeat(many)),
        format!("{}1", "x = ".repeat(many)),
        format!("if a: pass\n{}", "elif b: pass\n".repeat(many)),
        format!("{indented}{}pass", " ".repeat(500)),
        format!("x = {}", "'a' ".repeat(many)),
        format!("x = {}1{}", "{1: ".repeat(90), ", **y}".repeat(90)),
        format!("x = {}1{}", "(".repeat(40), " <> 2)".repeat(40)),
        format!("x = {}1{}", "[".repeat(40), " for y in z]".repeat(40)),
        format!("x = {}1", "lambda y: ".repeat(90)),
        (0..40).map(|depth| format!("{}while x:\n", " ".repeat(depth))).collect::<String>()
            + &" ".repeat(40)
            + "pass\n",
        "x = ('a' + 'b')\n".repeat(many),
        "y = y + y\n".repeat(many),
        "x<".repeat(many),
        "((((".repeat(many),
    ];
    for text in texts {
        let start = Instant::now();
        read_all(&text);
        let taken = start.elapsed();
        assert!(taken < LIMIT, "{taken:?} for {:.60}", text);
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        read_all(&text);
    }

    #[test]
    fn no_sequence_of_tokens_panics(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "x", "1", "1e9", "'s'", "\"\"\"", "(", ")", "[", "]", "{", "}", ",", ":", "=", "+", "**", "//",
                "\n", "    ", "def ", "class ", "if ", "elif ", "else", "return ", "import ", "from ", "as ", "*",
                "lambda ", "@", ".", "not ", " is ", " in ", "for ", "with ", "f'{", "\\", "r'", "#", "-", "...",
            ]),
            0..60,
        )
    ) {
        read_all(&tokens.concat());
    }
}
