//! Which functions count.

use lightbench_project::manifest::Evidence::{InlineAssembly, Sleeps};

use super::{check, module};
use crate::evidence::provenance::from_files;
use crate::evidence::{Disbelief, Unreadable, find};

const SLEEPER: &str = ".func sleeper () { nanosleep.u32 20;\nret; }\n";
const SLEEPS: [(lightbench_project::manifest::Evidence, &str); 1] = [(Sleeps, "has `nanosleep`")];

#[test]
fn a_function_that_nothing_mentions_does_not_count() {
    check(SLEEPER, "", &[]);
    check(&format!("{SLEEPER}.func caller () {{ call sleeper, ();\nret; }}"), "", &[]);
    check(&format!("{SLEEPER}.entry other () {{ call sleeper, ();\nret; }}"), "", &[]);
}

#[test]
fn calls_are_followed() {
    check(SLEEPER, "call.uni sleeper, ();", &SLEEPS);
    let through =
        format!("{SLEEPER}.func caller () {{ call sleeper, ();\ncall caller, ();\nret; }}");
    check(&through, "call caller, ();", &SLEEPS);
    let declared_first = format!(".func sleeper ();\n{SLEEPER}");
    check(&declared_first, "call sleeper, ();", &SLEEPS);
    let alias = format!(".func doze ();\n{SLEEPER}.alias doze, sleeper;");
    check(&alias, "call doze, ();", &SLEEPS);
}

#[test]
fn an_address_that_is_taken_counts_as_called() {
    check(SLEEPER, "mov.u64 %rd1, sleeper;\nst.global.u64 [%rd2], %rd1;", &SLEEPS);
    let targets = "list: .calltargets sleeper;\ncall %rd1, (), list;";
    check(SLEEPER, targets, &SLEEPS);
    let table = format!("{SLEEPER}.global .u64 table[2] = {{0, sleeper}};");
    check(&table, "ld.global.u64 %rd1, [table+8];", &SLEEPS);
    check(&table, "", &[]);
    let table_of_tables = format!("{table}\n.const .u64 tables = generic(table);");
    check(&table_of_tables, "ld.const.u64 %rd1, [tables];", &SLEEPS);
}

#[test]
fn the_first_entry_that_reaches_something_is_told() {
    let items = format!("{SLEEPER}.entry second () {{ call sleeper, ();\nret; }}");
    let text = module(&items, "call sleeper, ();");
    let provenance = from_files("k.cu", &[], None);
    for (entries, expected) in [(&["k", "second"], "k"), (&["second", "k"], "second")] {
        let found = find(&text, entries, &provenance).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].entry, expected);
    }
}

#[test]
fn assembly_that_leaves_its_function_is_read_as_it_is_assembled() {
    let body = "// begin inline asm\nret;\n}\n.func hidden () {\nnanosleep.u32 20;\nret;\n}\n\
                .entry other () {\n// end inline asm";
    let found = super::found("", body);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].evidence, InlineAssembly);
    let text = module("", &format!("call hidden, ();\n{body}"));
    let found = find(&text, &["k"], &from_files("k.cu", &[], None)).unwrap();
    assert_eq!(found[1].evidence, Sleeps);
}

#[test]
fn a_kernel_in_ptx_is_assembly() {
    let provenance = from_files("k.ptx", &[], Some(Disbelief::Ptx));
    let found = find(&module("", ""), &["k"], &provenance).unwrap();
    assert_eq!(found[0].what, "is written in PTX");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let find =
        |text: &str, entry: &str| find(text, &[entry], &from_files("k.cu", &[], None)).unwrap_err();
    assert!(matches!(find("nonsense", "k"), Unreadable::Syntax(_)));
    assert!(matches!(find(&module("", "mov.u32 %r1"), "k"), Unreadable::Syntax(_)));
    assert_eq!(find(&module(SLEEPER, ""), "other"), Unreadable::NoEntry("other".to_owned()));
    assert_eq!(find(&module(SLEEPER, ""), "sleeper"), Unreadable::NoEntry("sleeper".to_owned()));
    let deep = format!("{}{}", "{\n".repeat(1000), "}\n".repeat(1000));
    assert!(matches!(find(&module("", &deep), "k"), Unreadable::TooDeep { .. }));
}
