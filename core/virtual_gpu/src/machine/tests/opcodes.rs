//! Every opcode of the instruction set occurs in a file of `tests/ptx/pass`.

use std::collections::BTreeSet;

use super::files::texts;
use crate::isa;

/// The base opcodes of a text: the first word of a statement, after a guard and before the first dot.
fn opcodes(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let statements = lines.flat_map(|line| line.split([';', '{', '}', ':']));
    let words = statements.filter_map(|statement| {
        let mut words = statement.split_whitespace();
        let first = words.next()?;
        if first.starts_with('@') { words.next() } else { Some(first) }
    });
    words.filter_map(|word| word.split('.').next()).collect()
}

#[test]
fn every_opcode_that_is_executed_has_a_passing_file() {
    let files = texts("pass");
    let found: BTreeSet<&str> = files.iter().flat_map(|(_, text)| opcodes(text)).collect();
    let all = isa::opcodes();
    let missing: Vec<&str> = all.iter().copied().filter(|name| !found.contains(name)).collect();
    assert!(missing.is_empty(), "a new instruction needs a file: {missing:?}");
}

#[test]
fn opcodes_are_found_behind_guards_labels_and_other_statements() {
    let found = opcodes("A: @!%p1 bra A; { add.s32 %r1, %r2, 1; } // mul.lo\n\tret;");
    assert_eq!(found, BTreeSet::from(["A", "bra", "add", "ret"]));
}
