//! Import cycles: strongly connected components of the references between sibling modules of a crate.
//!
//! A reference from one module to another counts as an edge between the two siblings that contain them below their nearest
//! common ancestor. References between a module and what contains it do not count. A path that leads through a re-export
//! counts for the module that declares the item. References among crates have no cycles: Cargo refuses them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::sources::{CrateRoot, Files, ModuleIndex, Sources, Target, workspace};

/// Components up to this many lines are printed and not counted.
const MAX_LINES: usize = 500;

/// A component: sibling modules that refer to each other, directly or through others of them.
#[derive(Debug, PartialEq, Eq)]
struct Cycle {
    /// The module that contains them, by its crate.
    parent: String,
    /// Their names, sorted.
    modules: Vec<String>,
    /// Lines of these modules and all below them, without tests.
    lines: usize,
}

/// Components that exist: the module that contains them, and their names. The list may only shrink.
const KNOWN: &[(&str, &str)] = &[
    ("lightbench", "background_worker commands window"),
    ("lightbench_virtual_gpu", "error lower module"),
    (
        "lightbench_virtual_gpu::machine",
        "access atomic barrier cluster_barrier cooperative copies grid launch layout limit load mbarrier parallel peers race recording resident run schedule special step tensor trace traffic unfinished_warps watch",
    ),
    (
        "lightbench_project",
        "argument compare definition extent fill launch library policy tensor work workload",
    ),
    ("lightbench_verify", "compiled_candidate device_session fault_report not_judged verdict"),
    (
        "lightbench::workbench",
        "audit background_task command evaluations lesson profiling search settings",
    ),
    ("lightbench::commands", "check run"),
    ("lightbench_history", "damage error label machine record sidecar store timing"),
    (
        "lightbench_device",
        "error execution library modelled_launch tensor_map timing virtual_device",
    ),
    ("lightbench_device", "capability cards described_gpu facts sheet sheet_check"),
    ("lightbench_virtual_gpu::machine::race", "conflict happens_before location page shadow"),
    ("lightbench_virtual_gpu::machine", "lane_offsets lanes local register_init_mask stall warp"),
    ("lightbench_virtual_gpu::module", "arguments constants initial module_scope operand operands"),
    ("lightbench_verify::device_session", "sample sampler session"),
    ("lightbench_tensors::inputs", "domain integers sparse"),
    ("lightbench_speed_of_light", "extrapolated_counters full_warps performance_data"),
    ("lightbench::panels", "history history_head history_row"),
    ("lightbench_history", "open salvage"),
    ("lightbench_core::launcher", "function names steps"),
    ("lightbench_verify", "checkers device_workers"),
    ("lightbench::workbench", "comparison matrix"),
    ("lightbench_verify::device_session", "measure sampling"),
    ("lightbench_verify::device_session", "bound harness_kernels"),
    ("lightbench::commands::check", "json project text"),
    ("lightbench_project::launch", "arguments objects plan planned steps tensor_maps triton"),
    ("lightbench_tensors::inputs", "probe reals"),
    ("lightbench_virtual_gpu::isa", "integer video"),
];

#[test]
fn import_cycles_only_become_fewer_and_smaller() {
    let cycles = cycles(workspace());
    println!("{}", listing(&cycles));
    let counted: Vec<Cycle> = cycles.into_iter().filter(|cycle| cycle.lines > MAX_LINES).collect();
    assert_eq!(changes(&counted, KNOWN), Vec::<String>::new());
}

/// What differs between the components and the list of those known.
fn changes(cycles: &[Cycle], known: &[(&str, &str)]) -> Vec<String> {
    let is_known = |cycle: &&Cycle| {
        known.iter().any(|(parent, modules)| {
            let modules: Vec<&str> = modules.split(' ').collect();
            *parent == cycle.parent
                && cycle.modules.iter().all(|module| modules.contains(&module.as_str()))
        })
    };
    let more = cycles.iter().filter(|cycle| !is_known(cycle)).map(|cycle| {
        let Cycle { parent, modules, lines } = cycle;
        format!(
            "new or larger cycle in {parent} ({lines} lines): {}; remove a reference",
            modules.join(" ")
        )
    });
    let exists = |(parent, modules): &&(&str, &str)| {
        cycles.iter().any(|cycle| cycle.parent == *parent && cycle.modules.join(" ") == *modules)
    };
    let fewer = known.iter().filter(|entry| !exists(entry)).map(|(parent, modules)| {
        format!("the cycle in {parent} of {modules} is gone or smaller; shorten KNOWN")
    });
    more.chain(fewer).collect()
}

/// All components of all crates, the longest first.
fn cycles(sources: &Sources) -> Vec<Cycle> {
    let mut found = Vec::new();
    for (parent, edges) in sibling_edges(sources) {
        for component in components(&edges) {
            let name = |index: &ModuleIndex| {
                sources.modules[*index].path.last().cloned().unwrap_or_default()
            };
            let mut modules: Vec<String> = component.iter().map(name).collect();
            modules.sort();
            let lines = component.iter().map(|&module| lines_within(sources, module)).sum();
            found.push(Cycle { parent: full_name(sources, parent), modules, lines });
        }
    }
    found.sort_by(|left, right| {
        right.lines.cmp(&left.lines).then_with(|| left.parent.cmp(&right.parent))
    });
    found
}

/// The strongly connected components of more than one module: those that reach each other.
fn components(edges: &BTreeSet<(ModuleIndex, ModuleIndex)>) -> BTreeSet<BTreeSet<ModuleIndex>> {
    let starts: BTreeSet<ModuleIndex> = edges.iter().map(|&(from, _)| from).collect();
    let reached: BTreeMap<_, _> =
        starts.into_iter().map(|start| (start, reachable(edges, start))).collect();
    let mutual = reached.iter().map(|(start, ends)| {
        let back = |end: &&ModuleIndex| reached.get(*end).is_some_and(|ends| ends.contains(start));
        ends.iter().filter(back).copied().collect::<BTreeSet<ModuleIndex>>()
    });
    mutual.filter(|component| component.len() > 1).collect()
}

/// The modules at the ends of all paths from one.
fn reachable(
    edges: &BTreeSet<(ModuleIndex, ModuleIndex)>,
    start: ModuleIndex,
) -> BTreeSet<ModuleIndex> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        let next = edges.range((at, 0)..=(at, ModuleIndex::MAX)).map(|&(_, to)| to);
        open.extend(next.filter(|&to| found.insert(to)));
    }
    found
}

/// For each module, the references between the modules in it.
fn sibling_edges(sources: &Sources) -> BTreeMap<ModuleIndex, BTreeSet<(ModuleIndex, ModuleIndex)>> {
    let mut edges: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (from, module) in sources.modules.iter().enumerate().filter(|(_, module)| !module.is_test) {
        for path in module.syntax.references.keys() {
            for target in sources.resolve(from, path) {
                if let Target::Module(to) = target
                    && let Some((parent, edge)) = between_siblings(sources, from, to)
                {
                    edges.entry(parent).or_default().insert(edge);
                }
            }
        }
    }
    edges
}

/// The nearest common ancestor of two modules and the two below it that contain them, unless one contains the other.
fn between_siblings(
    sources: &Sources,
    from: ModuleIndex,
    to: ModuleIndex,
) -> Option<(ModuleIndex, (ModuleIndex, ModuleIndex))> {
    let ancestors = |module: ModuleIndex| {
        let mut chain: Vec<_> =
            std::iter::successors(Some(module), |&at| sources.modules[at].parent).collect();
        chain.reverse();
        chain
    };
    let (from, to) = (ancestors(from), ancestors(to));
    let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let parent = *from.get(shared.checked_sub(1)?)?;
    Some((parent, (*from.get(shared)?, *to.get(shared)?)))
}

fn lines_within(sources: &Sources, module: ModuleIndex) -> usize {
    let Some(at) = sources.modules.get(module).filter(|at| !at.is_test) else { return 0 };
    at.lines + at.children.values().map(|&child| lines_within(sources, child)).sum::<usize>()
}

/// The crate and path of a module.
fn full_name(sources: &Sources, module: ModuleIndex) -> String {
    let at = &sources.modules[module];
    let found = sources.crates.iter().find(|(_, root)| *root == at.root);
    let name = found.map(|(root, _)| root.name.as_str()).expect("each module belongs to a crate");
    [name].into_iter().chain(at.path.iter().map(String::as_str)).collect::<Vec<_>>().join("::")
}

/// One line for each component, as `KNOWN` has them.
fn listing(cycles: &[Cycle]) -> String {
    let counted = cycles.iter().filter(|cycle| cycle.lines > MAX_LINES).count();
    let mut text =
        format!("{} import cycles, {counted} of more than {MAX_LINES} lines\n", cycles.len());
    for Cycle { parent, modules, lines } in cycles {
        let modules = modules.join(" ");
        writeln!(text, "    (\"{parent}\", \"{modules}\"), // {lines} lines")
            .expect("a String takes all");
    }
    text
}

/// The components of a crate `specimen` with these files.
fn cycles_of(files: &[(&str, &str)]) -> Vec<(String, Vec<String>, usize)> {
    let named =
        files.iter().map(|(file, text)| (format!("specimen/src/{file}"), (*text).to_owned()));
    let files: Files = named.collect();
    let sources = Sources::read(&[CrateRoot::new("specimen", "specimen/src/lib.rs")], &files);
    cycles(&sources).into_iter().map(|cycle| (cycle.parent, cycle.modules, cycle.lines)).collect()
}

/// The components of a crate with the modules `a` and `b` and the file `a/inner.rs`.
#[track_caller]
fn check(lib: &str, a: &str, inner: &str, b: &str, expected: &[(&str, &[&str])]) {
    let found = cycles_of(&[("lib.rs", lib), ("a.rs", a), ("a/inner.rs", inner), ("b.rs", b)]);
    let found: Vec<(String, Vec<String>)> =
        found.into_iter().map(|(parent, modules, _)| (parent, modules)).collect();
    let own = |(parent, modules): &(&str, &[&str])| {
        ((*parent).to_owned(), modules.iter().map(|name| (*name).to_owned()).collect())
    };
    assert_eq!(found, expected.iter().map(own).collect::<Vec<_>>());
}

#[test]
fn cycles_are_found() {
    let lib = "mod a; mod b;";
    let both: &[(&str, &[&str])] = &[("specimen", &["a", "b"])];
    check(lib, "mod inner; use crate::b::B;", "", "use crate::a::A;", both);
    check(lib, "mod inner; fn f(b: super::b::B) {}", "", "use super::a::A as _;", both);
    check(
        lib,
        "mod inner;",
        "use crate::{b::{B as Other}};",
        "fn f() { vec![crate::a::A]; }",
        both,
    );
    // Through a re-export at the root, which is declared in `a`.
    check("mod a; mod b; pub use a::A;", "mod inner; use crate::b::B;", "", "use crate::A;", both);
    check(
        "mod a; mod b; pub use a::*;",
        "pub mod inner; use crate::b::B;",
        "",
        "use crate::inner::I;",
        both,
    );
    let nested = "mod inner; mod second { use super::inner::I; } use inner::I;";
    check(lib, nested, "use super::second::S;", "", &[("specimen::a", &["inner", "second"])]);
}

#[test]
fn references_that_make_no_cycle_are_accepted() {
    let lib = "mod a; mod b;";
    check(lib, "mod inner; use crate::b::B;", "", "", &[]);
    check(lib, "mod inner; use inner::I;", "use super::A;", "", &[]);
    check("mod a; mod b; use a::A;", "mod inner;", "use crate::Root;", "use crate::a::A;", &[]);
    check(lib, "mod inner; use crate::b::B;", "", "// use crate::a::A;", &[]);
    check(
        lib,
        "mod inner; use crate::b::B;",
        "",
        "#[cfg(test)] mod tests { use crate::a::A; }",
        &[],
    );
}

#[test]
fn the_list_follows_what_is_there() {
    let cycle = |modules: &[&str]| Cycle {
        parent: "specimen".to_owned(),
        modules: modules.iter().map(|name| (*name).to_owned()).collect(),
        lines: MAX_LINES + 1,
    };
    let known = &[("specimen", "a b c")];
    assert_eq!(changes(&[cycle(&["a", "b", "c"])], known), Vec::<String>::new());
    for (found, expected) in [
        (vec![cycle(&["a", "b"])], &["is gone or smaller"][..]),
        (vec![], &["is gone or smaller"]),
        (vec![cycle(&["a", "b", "c", "d"])], &["new or larger cycle", "is gone or smaller"]),
        (vec![cycle(&["a", "b", "c"]), cycle(&["e", "f"])], &["new or larger cycle"]),
    ] {
        let messages = changes(&found, known);
        assert_eq!(messages.len(), expected.len(), "{messages:?}");
        for (message, part) in messages.iter().zip(expected) {
            assert!(message.contains(part), "{message}");
        }
    }
}
