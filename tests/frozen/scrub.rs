//! What an output has that differs from run to run or from machine to machine, and the one place where it is replaced.
//!
//! A rule names the text on both sides of what it replaces, so that it cannot reach another value. Modelled times,
//! hashes of kernels and definitions, seeds and counts are the same on every machine: no rule may match them.

use crate::compiler;
use crate::program::Bench;

/// Whether an output was made from stored files or by work of this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// From stored files: every time stamp and every measured second is a value under test; [`PAGES`] apply.
    Stored,
    /// By work of this run: [`RULES`] apply too.
    Fresh,
    /// What this machine has: [`RULES`] and [`MACHINE`] apply.
    OfThisMachine,
}

/// Which characters a replaced value consists of.
#[derive(Clone, Copy, Debug)]
enum Token {
    /// A decimal number.
    Number,
    /// A time stamp, or the digits and dashes that a search's name begins with.
    Moment,
    /// Letters, digits and dashes.
    Name,
    /// A JSON string with its quotes, or `null`, `true`, `false`.
    Scalar,
    /// A JSON array of strings that hold no brackets.
    Array,
}

/// One kind of text that is replaced.
struct Rule {
    name: &'static str,
    /// What stands right before the value.
    before: &'static str,
    value: Token,
    /// What stands behind it, each part after any white space.
    after: &'static [&'static str],
    /// Why the value differs.
    reason: &'static str,
    /// A text that the rule changes.
    specimen: &'static str,
    /// A similar text that it leaves alone.
    twin: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        name: "wall-seconds",
        before: "\"elapsed_seconds\": ",
        value: Token::Number,
        after: &[","],
        reason: "the time that this process needed, by the clock of the machine",
        specimen: "\"elapsed_seconds\": 1.17,",
        twin: "\"seconds\": 1.17,",
    },
    Rule {
        name: "wall-seconds",
        before: "\"seconds\": ",
        value: Token::Number,
        after: &[",", "\"step\""],
        reason: "the time that one step of the verification needed, by the clock of the machine",
        specimen: "\"seconds\": 0.19,\n  \"step\": \"compile\"",
        twin: "\"seconds\": 0.19,\n  \"workload\": \"large\"",
    },
    Rule {
        name: "wall-seconds",
        before: "\"elapsed_seconds\":",
        value: Token::Number,
        after: &[","],
        reason: "the time that an evaluation in a stream needed, by the clock of the machine",
        specimen: "\"elapsed_seconds\":1.17,",
        twin: "\"seconds\":1.17,",
    },
    Rule {
        name: "wall-seconds",
        before: "\"seconds\":",
        value: Token::Number,
        after: &[",", "\"step\""],
        reason: "the time that one step of an evaluation in a stream needed, by the clock of the machine",
        specimen: "\"seconds\":0.19,\"step\":\"compile\"",
        twin: "\"seconds\":0.19,\"workload\":\"large\"",
    },
    Rule {
        name: "wall-seconds",
        before: " verdict in ",
        value: Token::Number,
        after: &["s on"],
        reason: "the time that a stream needed, by the clock of the machine",
        specimen: "1 verdict in 1.2 s on virtual NVIDIA H200",
        twin: "1 verdict in 2 shards",
    },
    Rule {
        name: "rate",
        before: ", ",
        value: Token::Number,
        after: &["verdicts a minute"],
        reason: "the verdicts of a stream in the time that it needed, by the clock of the machine",
        specimen: "1 passed, 0 failed, 50.3 verdicts a minute",
        twin: "1 passed, 2 verdicts of a minute",
    },
    Rule {
        name: "wall-seconds",
        before: "\n  \"seconds\": ",
        value: Token::Number,
        after: &[",", "\"workload\": {"],
        reason: "the time that `check` needed, by the clock of the machine",
        specimen: "{\n  \"seconds\": 0.19,\n  \"workload\": {",
        twin: "{\n    \"seconds\": 0.19,\n    \"workload\": {",
    },
    Rule {
        name: "wall-seconds",
        before: " (",
        value: Token::Number,
        after: &["s)\n"],
        reason: "the time that a verdict needed, by the clock of the machine",
        specimen: "is correct: 38 runs (1.1 s)\n",
        twin: "is correct: (35.2 µs)\n",
    },
    Rule {
        name: "wall-seconds",
        before: " · ",
        value: Token::Number,
        after: &["s\n"],
        reason: "the time that a command needed, by the clock of the machine",
        specimen: "all 3 compile · 0.18 s\n",
        twin: "all 3 compile · 12 spills\n",
    },
    Rule {
        name: "wall-seconds",
        before: " · ",
        value: Token::Number,
        after: &["s, from the cache\n"],
        reason: "the time that a command needed, by the clock of the machine",
        specimen: "all 3 compile · 0.00 s, from the cache\n",
        twin: "all 3 compile · 0.00 sectors\n",
    },
    Rule {
        name: "wall-seconds",
        before: " evaluations in ",
        value: Token::Number,
        after: &["s:"],
        reason: "the time that a search needed, by the clock of the machine",
        specimen: "4 evaluations in 1 s: 4 variants",
        twin: "4 evaluations in 1 sweep",
    },
    Rule {
        name: "wall-milliseconds",
        before: "\"compile_ms\": ",
        value: Token::Number,
        after: &[","],
        reason: "the time that the compiler needed, by the clock of the machine",
        specimen: "\"compile_ms\": 179.017397,\n  \"kind\": \"compiler\"",
        twin: "\"compile_ms\": null,",
    },
    Rule {
        name: "moment",
        before: ", journal ",
        value: Token::Moment,
        after: &[],
        reason: "a search is named after the moment at which it began",
        specimen: "seed 1, journal 20261123-061651-762-naive-0001",
        twin: "seed 1, journal naive-0001",
    },
    Rule {
        name: "moment",
        before: "{\"began\":{\"schema\":\"lightbench.search/1\",\"id\":\"",
        value: Token::Moment,
        after: &[],
        reason: "a search is named after the moment at which it began",
        specimen: "{\"began\":{\"schema\":\"lightbench.search/1\",\"id\":\"20261123-061651-762-naive-0001\"",
        twin: "{\"began\":{\"schema\":\"lightbench.search/1\",\"id\":\"naive-0001\"",
    },
    Rule {
        name: "moment",
        before: "\"began_at\":\"",
        value: Token::Moment,
        after: &["\""],
        reason: "the moment at which the search began",
        specimen: "\"began_at\":\"2026-11-23T06:16:54.1Z\"",
        twin: "\"began_at\":\"long ago\"",
    },
    Rule {
        name: "scratch",
        before: "/temporary/lightbench-worker-",
        value: Token::Name,
        after: &["/"],
        reason: "the scratch folder of a worker has the number of its process and a random word",
        specimen: "/temporary/lightbench-worker-24686-HAhKZ0/index.cuh",
        twin: "/temporary/lightbench/index.cuh",
    },
];

/// The one moment in a page made from stored runs.
const PAGES: &[Rule] = &[Rule {
    name: "moment",
    before: " runs, as of ",
    value: Token::Moment,
    after: &["UTC"],
    reason: "the moment at which the page was made",
    specimen: "12 runs, as of 2026-11-23 07:25 UTC",
    twin: "12 runs, as of yesterday",
}];

/// Rules for `doctor --json` alone: which topics it reports, in which order and with which fields, is what is frozen.
const MACHINE: &[Rule] = &[
    machine("\"system\": ", Token::Scalar, "the operating system and the processor"),
    machine("\"can_compile\": ", Token::Scalar, "whether this machine has a compiler"),
    machine("\"state\": ", Token::Scalar, "whether this machine has the tool"),
    machine("\"summary\": ", Token::Scalar, "versions and sizes of what is installed"),
    machine("\"at\": ", Token::Scalar, "where it is installed"),
    machine("\"fix\": ", Token::Scalar, "what this machine lacks"),
    machine("\"notes\": ", Token::Array, "details of what is installed"),
];

const fn machine(before: &'static str, value: Token, reason: &'static str) -> Rule {
    let (specimen, twin) = ("", "");
    Rule { name: "of-this-machine", before, value, after: &[], reason, specimen, twin }
}

impl Token {
    /// How many bytes of `text` are such a value; 0 where there is none.
    fn length(self, text: &str) -> usize {
        let run = |belongs: fn(char) -> bool| text.find(|it| !belongs(it)).unwrap_or(text.len());
        match self {
            Self::Number => run(|it| it.is_ascii_digit() || matches!(it, '.' | 'e' | '-')),
            Self::Moment => {
                run(|it| it.is_ascii_digit() || matches!(it, '-' | ':' | '.' | ' ' | 'T' | 'Z'))
            }
            Self::Name => run(|it| it.is_ascii_alphanumeric() || it == '-'),
            Self::Scalar => match text.strip_prefix('"') {
                Some(inner) => string_length(inner) + 2,
                None => run(|it| it.is_ascii_lowercase()),
            },
            Self::Array => text.find(']').map_or(0, |end| end + 1),
        }
    }
}

/// The bytes before the quotation mark that ends a JSON string.
fn string_length(inner: &str) -> usize {
    let mut is_escaped = false;
    let end = inner.find(|it| {
        let ends = it == '"' && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        ends
    });
    end.expect("JSON strings end")
}

impl Rule {
    /// The text with every value of this rule replaced by `<name>`.
    fn apply(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(self.before) {
            let (head, tail) = rest.split_at(start + self.before.len());
            result.push_str(head);
            let length = self.value.length(tail);
            let is_value = length > 0 && self.is_followed(&tail[length..]);
            if is_value {
                result.push('<');
                result.push_str(self.name);
                result.push('>');
            }
            rest = if is_value { &tail[length..] } else { tail };
        }
        result + rest
    }

    fn is_followed(&self, rest: &str) -> bool {
        let mut rest = rest;
        self.after.iter().all(|part| {
            let found = rest.trim_start().strip_prefix(part);
            rest = found.unwrap_or_default();
            found.is_some()
        })
    }
}

/// The rules for one group of cases, and the folders of this run.
pub(super) struct Scrub {
    values: Values,
    /// A text that is a place or a version of this build, and what stands for it.
    literals: Vec<(String, &'static str)>,
}

impl Scrub {
    pub(super) fn new(bench: &Bench, values: Values) -> Self {
        let mut literals = vec![
            // Each run has a temporary folder of its own.
            (bench.path().display().to_string(), "<bench>"),
            // The version of the program changes with each release.
            (format!("ightbench {}", env!("CARGO_PKG_VERSION")), "ightbench <version>"),
        ];
        if let Some(found) = compiler::found() {
            // The compiler is wherever the user has put it.
            let library = found.toolchain.nvrtc.library.display().to_string();
            literals.push((library, "<compiler>"));
        }
        Self { values, literals }
    }

    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (literal, name) in &self.literals {
            text = text.replace(literal, name);
        }
        let rules: &[&[Rule]] = match self.values {
            Values::Stored => &[PAGES],
            Values::Fresh => &[PAGES, RULES],
            Values::OfThisMachine => &[PAGES, RULES, MACHINE],
        };
        rules.iter().copied().flatten().fold(text, |text, rule| rule.apply(&text))
    }
}

#[test]
fn each_rule_replaces_its_specimen_and_leaves_the_twin() {
    for rule in RULES.iter().chain(PAGES) {
        let changed = rule.apply(rule.specimen);
        assert_ne!(changed, rule.specimen, "{} ({})", rule.before, rule.reason);
        assert!(changed.contains(rule.before), "{changed}");
        assert_eq!(rule.apply(rule.twin), rule.twin, "{} ({})", rule.before, rule.reason);
    }
}

#[test]
fn the_names_and_the_order_of_the_findings_are_kept() {
    let document = "{ \"topic\": \"pip\", \"state\": \"ok\", \"summary\": \"a \\\"b\\\"\", \"at\": null, \"notes\": [ \"c\" ] }";
    let shown = MACHINE.iter().fold(document.to_owned(), |text, rule| rule.apply(&text));
    let expected = "{ \"topic\": \"pip\", \"state\": <of-this-machine>, \"summary\": <of-this-machine>, \
        \"at\": <of-this-machine>, \"notes\": <of-this-machine> }";
    assert_eq!(shown, expected);
}
