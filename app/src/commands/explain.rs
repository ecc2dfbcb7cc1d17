//! `lightbench explain`: the meaning of a number.

use std::fmt::Write as _;

use lightbench_core::explain::{Card, UnknownNumber, card, cards};
use lightbench_core::report::document::explanation::{
    ExplanationReport, ExplanationSchema, ExplanationsReport, ExplanationsSchema,
};

use crate::args;
use crate::outcome::{Outcome, report_document};
use crate::report;
use crate::style::{DIM, STRONG};
use crate::table::Table;

/// Line width of sentences, in columns.
const WIDTH: usize = 96;

/// Indentation of a card's sentences, in columns.
const INDENT: usize = 10;

/// Explains a number, or lists all of them.
pub fn run(arguments: &args::Explain) -> Outcome {
    let Some(name) = &arguments.metric else {
        return Outcome::passed(if arguments.json { documents() } else { list() });
    };
    match card(name) {
        Ok(card) if arguments.json => {
            let number = (&card).into();
            let report = ExplanationReport { schema: ExplanationSchema::V1, number };
            Outcome::passed(report_document(&report))
        }
        Ok(card) => Outcome::passed(text(&card)),
        Err(unknown) => report::request(&refusal(name, unknown), arguments.json),
    }
}

fn refusal(name: &str, unknown: UnknownNumber) -> String {
    let nearest = unknown.nearest.map(|nearest| format!("; did you mean `{nearest}`?"));
    let rest = nearest.unwrap_or_else(|| "; `lightbench explain` lists all".to_owned());
    format!("unknown number `{name}`{rest}")
}

fn text(card: &Card) -> String {
    let mut text = format!(
        "{STRONG}{}{STRONG:#} {DIM}· {} · shown by {}{DIM:#}\n\n",
        card.name,
        unit(card),
        card.shown
    );
    let mut row = |name: &str, words: &str| {
        for (index, line) in broken(words, WIDTH - INDENT).iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let _infallible = writeln!(text, "{name:<INDENT$}{line}");
        }
    };
    row("is", card.what);
    row("formula", card.formula);
    row("good", card.good);
    if let Some(nsight) = card.nsight {
        row("Nsight", nsight);
    }
    if !card.also.is_empty() {
        row("also", &card.also.join(", "));
    }
    for (index, technique) in card.techniques().enumerate() {
        let name = if index == 0 { "playbook" } else { "" };
        row(name, &format!("{}. {}", capital(&technique.title), technique.how));
    }
    text
}

fn unit(card: &Card) -> &str {
    if card.unit == "1" { "a ratio" } else { card.unit }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Wraps a text at word boundaries.
fn broken(words: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn list() -> String {
    let mut table = Table::new(&["name", "unit", "shown by"]);
    for card in cards() {
        table.row([card.name, unit(&card), card.shown].map(str::to_owned));
    }
    format!("{table}\n`lightbench explain NAME` explains one, with advice\n")
}

fn documents() -> String {
    let numbers = cards().map(|card| (&card).into()).collect();
    report_document(&ExplanationsReport { schema: ExplanationsSchema::V1, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Status;

    #[test]
    fn lines_are_broken_between_words() {
        let check = |words: &str, expected: &[&str]| assert_eq!(broken(words, 9), expected);
        check("", &[]);
        check("one two three", &["one two", "three"]);
        check("incomprehensible as it is", &["incomprehensible", "as it is"]);
        check("± and × count once", &["± and ×", "count", "once"]);
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest() {
        let explained =
            |name: &str| run(&args::Explain { metric: Some(name.to_owned()), json: false });
        let outcome = explained("ocupancy");
        assert_eq!(outcome.status, Status::BadRequest);
        assert!(outcome.errors.contains("did you mean `occupancy`?"), "{}", outcome.errors);
        assert!(explained("☃").errors.contains("`lightbench explain` lists all"));
        let outcome = explained("shared_bank_conflicts");
        assert!(outcome.output.contains("playbook  Pad "), "{}", outcome.output);
    }
}
