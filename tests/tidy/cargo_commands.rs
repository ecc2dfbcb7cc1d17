//! Cargo's commands that the documentation quotes: packages, targets, aliases and tests that exist.

use std::fs;

use crate::page::{is_placeholder, pages, words};
use crate::sources::{CrateRoot, ModuleIndex, Sources, root, workspace};

/// Commands of Cargo and of extensions that need no further check here; `tests/docs` parses what follows `cargo run --`.
const COMMANDS: &[&str] = &[
    "build", "check", "clippy", "deny", "doc", "fetch", "fmt", "fuzz", "install", "metadata", "run",
];
/// Options whose value is the next word.
const VALUED: &[&str] = &[
    "--package",
    "-p",
    "--test",
    "--bench",
    "--bin",
    "--features",
    "--profile",
    "--skip",
    "--test-threads",
    "--timings",
];

/// A `cargo test` as its words say.
#[derive(Debug, Default)]
struct TestRun {
    package: Option<String>,
    target: Option<Target>,
    /// Parts of the names of tests.
    filters: Vec<String>,
}

#[derive(Debug)]
enum Target {
    Library,
    Test(String),
}

impl TestRun {
    fn new(words: &[String]) -> Self {
        let mut run = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned();
            match word.as_str() {
                "-p" | "--package" => run.package = value(),
                "--lib" => run.target = Some(Target::Library),
                "--test" => run.target = value().map(Target::Test),
                option if VALUED.contains(&option) => drop(value()),
                option if option.starts_with('-') => {}
                filter if is_placeholder(filter) || filter == "…" => {}
                filter => run.filters.push(filter.to_owned()),
            }
        }
        run
    }

    fn includes(&self, root: &CrateRoot) -> bool {
        let package = self.package.as_ref().is_none_or(|package| root.package == *package);
        package
            && match &self.target {
                None => true,
                Some(Target::Library) => root.file.ends_with("lib.rs"),
                Some(Target::Test(name)) => root.name == *name,
            }
    }

    /// What the command names that does not exist.
    fn missing(&self, sources: &Sources) -> Vec<String> {
        let roots: Vec<ModuleIndex> = sources
            .crates
            .iter()
            .filter(|(root, _)| self.includes(root))
            .map(|&(_, index)| index)
            .collect();
        if roots.is_empty() {
            return vec![format!("no crate {:?} {:?}", self.package, self.target)];
        }
        let tests: Vec<String> = roots.into_iter().flat_map(|root| sources.tests(root)).collect();
        let unmatched = self
            .filters
            .iter()
            .filter(|filter| !tests.iter().any(|test| test.contains(filter.as_str())));
        unmatched.map(|filter| format!("no test `{filter}`")).collect()
    }
}

/// What a Cargo command, without the word `cargo`, names that does not exist.
fn missing(
    words: &[String],
    sources: &Sources,
    benches: &[String],
    aliases: &[(String, Vec<String>)],
) -> Vec<String> {
    let [command, rest @ ..] = words else { return vec![] };
    if let Some((_, longer)) = aliases.iter().find(|(alias, _)| alias == command) {
        return missing(&[longer, rest].concat(), sources, benches, aliases);
    }
    match command.as_str() {
        "test" if rest.iter().any(|word| word == "--manifest-path") => missing_manifest(rest),
        "test" => TestRun::new(rest).missing(sources),
        "bench" => {
            let named = rest.iter().skip_while(|word| *word != "--bench").nth(1);
            named
                .filter(|name| !benches.contains(name))
                .map(|name| format!("no bench `{name}`"))
                .into_iter()
                .collect()
        }
        known if COMMANDS.contains(&known) => vec![],
        unknown => vec![format!("no command or alias `{unknown}`")],
    }
}

/// The manifest that a command names, where it does not exist.
fn missing_manifest(words: &[String]) -> Vec<String> {
    let named = words.iter().skip_while(|word| *word != "--manifest-path").nth(1);
    named
        .filter(|path| !root().join(path).exists())
        .map(|path| format!("no manifest {path}"))
        .into_iter()
        .collect()
}

/// The aliases of `.cargo/config.toml`.
fn aliases() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(" = "));
    let pairs = lines.map(|(name, value)| {
        (name.to_owned(), value.trim_matches('"').split(' ').map(str::to_owned).collect())
    });
    pairs.collect()
}

/// The names of the benches of the app's package.
fn benches() -> Vec<String> {
    let text = fs::read_to_string(root().join("app/Cargo.toml")).unwrap();
    let tables = text.split("[[bench]]\n").skip(1);
    let names = tables.filter_map(|table| table.lines().next()?.strip_prefix("name = "));
    names.map(|name| name.trim_matches('"').to_owned()).collect()
}

#[test]
fn every_cargo_command_in_the_documentation_names_what_exists() {
    let (benches, aliases) = (benches(), aliases());
    let mut problems = Vec::new();
    let mut checked = 0;
    for page in pages(&root()) {
        for line in page.commands.iter().chain(&page.spans) {
            let Some(words) = words(line).filter(|words| words.len() > 1 && words[0] == "cargo")
            else {
                continue;
            };
            checked += 1;
            let missing = missing(&words[1..], workspace(), &benches, &aliases);
            problems
                .extend(missing.into_iter().map(|what| format!("{}: {line}: {what}", page.file)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(checked > 30, "only {checked} commands were found");
}

#[test]
fn every_alias_names_what_exists() {
    let aliases = aliases();
    assert!(!aliases.is_empty(), "the aliases were found");
    for (name, words) in &aliases {
        assert_eq!(
            missing(words, workspace(), &benches(), &aliases),
            Vec::<String>::new(),
            "{name}"
        );
    }
}

#[track_caller]
fn check(line: &str, expected: bool) {
    let aliases = [("tidy".to_owned(), vec!["test".to_owned(), "beta".to_owned()])];
    let files = [
        (
            "a/src/lib.rs",
            "#[cfg(test)] mod tests { #[test] fn alpha() {} proptest! { #[test] fn gamma(x in 0..1) {} } }",
        ),
        ("a/tests/it.rs", "mod many { #[test] fn beta() {} }"),
    ];
    let files = files.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
    let library = CrateRoot::new("a", "a/src/lib.rs");
    let tests =
        CrateRoot { name: "it".to_owned(), file: "a/tests/it.rs".to_owned(), ..library.clone() };
    let sources = Sources::read(&[library, tests], &files);
    let missing = missing(&words(line).unwrap()[1..], &sources, &["machine".to_owned()], &aliases);
    assert_eq!(missing.is_empty(), expected, "{line}: {missing:?}");
}

#[test]
fn a_cargo_command_that_names_nothing_is_found() {
    for line in [
        "cargo test -p a --lib -- tests::beta",
        "cargo test -p a --lib -- virtual_gpu",
        "cargo test -p b",
        "cargo test --test nowhere",
        "cargo test --test it -- --ignored alpha",
        "cargo test -p a alpha delta",
        "cargo bench --bench nowhere",
        "cargo tidi",
        "cargo test --manifest-path tests/nowhere/Cargo.toml",
    ] {
        check(line, false);
    }
    for line in [
        "cargo test --workspace # all",
        "cargo test -p a --lib -- tests::alpha",
        "cargo test -p a gamma",
        "cargo test -p a --test it -- --ignored --nocapture many::beta",
        "cargo test -p a --test it NAME",
        "LIGHTBENCH_TOOLCHAIN=… cargo test -p a alpha",
        "cargo bench --bench machine -- part",
        "cargo run --release -- check sample-projects/rmsnorm",
        "cargo tidy",
        "cargo build --release",
    ] {
        check(line, true);
    }
}
