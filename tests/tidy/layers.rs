//! What each part of the program may use, by the paths that its code refers to, whichever way they were imported.

use crate::sources::{
    CrateRoot, Files, Module, ModuleIndex, Segments, Sources, Target, files, workspace,
};

use crate::places::{EFFECTS, IMPURE, PURE, RESTRICTIONS, Restriction, UNSAFE_PLACES, is_in};

#[test]
fn names_are_used_only_where_they_may_be() {
    for restriction in RESTRICTIONS {
        assert_eq!(
            misuses(workspace(), restriction),
            Vec::<String>::new(),
            "{}",
            restriction.reason
        );
    }
}

#[test]
fn unsafe_code_is_allowed_only_where_foreign_libraries_are_called() {
    assert_eq!(silenced_elsewhere(workspace(), "unsafe_code", UNSAFE_PLACES), Vec::<String>::new());
}

#[test]
fn modules_that_compute_do_nothing_else() {
    assert_eq!(effects(workspace(), PURE, IMPURE, EFFECTS), Vec::<String>::new());
}

#[test]
fn every_listed_place_exists() {
    let places = RESTRICTIONS.iter().flat_map(|restriction| restriction.places);
    let places: Vec<&str> =
        places.chain(UNSAFE_PLACES).chain(PURE).chain(IMPURE).copied().collect();
    assert_eq!(absent(files(), &places), Vec::<&str>::new());
    let stray = IMPURE.iter().filter(|file| !PURE.iter().any(|place| is_in(file, place)));
    assert_eq!(stray.count(), 0, "each exception is within a module that computes");
}

#[test]
fn every_file_of_the_program_belongs_to_a_crate() {
    assert_eq!(unreached(workspace(), files()), Vec::<&str>::new());
}

/// References to restricted names outside their places.
fn misuses(sources: &Sources, restriction: &Restriction) -> Vec<String> {
    let mut found = Vec::new();
    for (index, module) in program(sources) {
        if !restriction.places.iter().any(|place| is_in(&module.file, place)) {
            found.extend(uses(sources, index, restriction.names));
        }
    }
    found
}

/// References of modules that compute to what has an effect.
fn effects(sources: &Sources, pure: &[&str], exceptions: &[&str], names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (index, module) in program(sources) {
        let computes = pure.iter().any(|place| is_in(&module.file, place));
        if computes && !exceptions.contains(&module.file.as_str()) {
            found.extend(uses(sources, index, names));
        }
    }
    found
}

/// Attributes that silence a lint outside the places where they may.
fn silenced_elsewhere(sources: &Sources, lint: &str, places: &[&str]) -> Vec<String> {
    let outside = program(sources)
        .filter(|(_, module)| !places.iter().any(|place| is_in(&module.file, place)));
    let lines =
        outside.filter_map(|(_, module)| Some((&module.file, module.syntax.silenced.get(lint)?)));
    lines.map(|(file, line)| format!("{file}:{line}: silences `{lint}`")).collect()
}

/// The modules of a program, without its tests.
fn program(sources: &Sources) -> impl Iterator<Item = (ModuleIndex, &Module)> {
    let is_program = |module: &Module| !module.is_test && module.file.contains("/src/");
    sources.modules.iter().enumerate().filter(move |(_, module)| is_program(module))
}

/// References of a module to what is in `names`, as messages.
fn uses(sources: &Sources, index: ModuleIndex, names: &[&str]) -> Vec<String> {
    let module = &sources.modules[index];
    let mut found = Vec::new();
    for (path, line) in &module.syntax.references {
        let targets = sources.resolve(index, path);
        let name =
            names.iter().find(|name| targets.iter().any(|target| refers(target, path, name)));
        if let Some(name) = name {
            found.push(format!("{}:{line}: `{}` uses `{name}`", module.file, path.join("::")));
        }
    }
    found
}

/// Whether a reference reaches a name: it is the name, is within it, or imports everything around it.
fn refers(target: &Target, written: &[String], name: &str) -> bool {
    let Target::Foreign(path) = target else { return false };
    let name: Segments = name.split("::").map(str::to_owned).collect();
    // One word that nothing declares is a variable or an item of the prelude, unless an import says otherwise.
    let is_item = path.len() > 1 || name.len() > 1 || written.len() > 1 || written[0] == "::";
    match path.split_last() {
        Some((last, around)) if last == "*" => {
            name.starts_with(around) || around.starts_with(&name)
        }
        Some(_) => is_item && path.starts_with(&name),
        None => false,
    }
}

/// Places with no file.
fn absent<'place>(files: &Files, places: &[&'place str]) -> Vec<&'place str> {
    places.iter().copied().filter(|place| !files.keys().any(|file| is_in(file, place))).collect()
}

/// Files of the program that no `mod` item leads to.
fn unreached<'file>(sources: &Sources, files: &'file Files) -> Vec<&'file str> {
    let reached: Vec<&str> = sources.modules.iter().map(|module| module.file.as_str()).collect();
    let program = files.keys().filter(|file| file.contains("/src/"));
    program.map(String::as_str).filter(|file| !reached.contains(file)).collect()
}

/// A crate `specimen` with these files below `src/`, beside a crate `reexports` that hands on what it loads.
fn specimen(files: &[(&str, &str)]) -> Sources {
    let named =
        files.iter().map(|(file, text)| (format!("specimen/src/{file}"), (*text).to_owned()));
    let reexports = "pub use libloading as loading;".to_owned();
    let files: Files = named.chain([("reexports/src/lib.rs".to_owned(), reexports)]).collect();
    let root = |package: &str| CrateRoot::new(package, &format!("{package}/src/lib.rs"));
    Sources::read(&[root("reexports"), root("specimen")], &files)
}

/// Of one module `m.rs` below `above`, how many references to `name` the rule finds.
#[track_caller]
fn check(name: &'static str, above: &str, text: &str, expected: usize) {
    let sources = specimen(&[
        ("lib.rs", &format!("mod m;\nmod kept;\n{above}")),
        ("kept.rs", text),
        ("m.rs", text),
    ]);
    // The same text is accepted where the name may be used, so each finding is one of `m.rs` or `lib.rs`.
    let names: &'static [&'static str] = Box::leak(Box::new([name]));
    let places = &["specimen/src/kept.rs", "specimen/src/lib.rs", "reexports/"];
    let found = misuses(&sources, &Restriction { names, places, reason: "" });
    assert_eq!(found.len(), expected, "{text}\n{found:#?}");
}

#[test]
fn a_restricted_name_is_found_however_it_is_imported() {
    for text in [
        "use std::thread::Builder;",
        "use std::thread::{Builder, JoinHandle};",
        "use std::{fmt, thread::{self as t, Builder as B}};",
        "use std::thread::*;",
        "use std::*;",
        "use ::std::thread::Builder;",
        "fn f() { std::thread::Builder::new(); }",
        "fn f() { assert!(std::thread::Builder::new().spawn(g).is_ok()); }",
        "fn f() { println!(\"{}\", { use std::thread::Builder; 1 }); }",
        "fn f() { fn g() { use std::thread::Builder as _; } }",
        "fn f(builder: std::thread::Builder) {}",
        "mod inner { pub fn f() -> std::thread::Builder { todo!() } }",
        "pub type Threads = std::thread::Builder;",
        "macro_rules! start { () => { ::std::thread::Builder::new() } }",
        "use super::threads::Builder;",
        "use super::*; fn f() { threads::Builder::new(); }",
        "fn f() { super::threads::Builder::new(); }",
        "fn f() { crate::threads::Builder::new(); }",
    ] {
        check("std::thread::Builder", "use std::thread as threads;", text, 1);
    }
    check("std::thread::Builder", "", "use std::thread; fn f() { thread::Builder::new(); }", 1);
    check(
        "std::thread::Builder",
        "",
        "use std as s; use s::thread as t; fn f() { t::Builder::new(); }",
        1,
    );
    check("std::sync::mpsc", "", "use std::sync::mpsc::sync_channel;", 1);
    check("std::sync::Condvar", "", "use std::sync::{Arc, Condvar, Mutex};", 1);
}

#[test]
fn what_looks_like_a_restricted_name_is_accepted() {
    for text in [
        "use std::thread;",
        "use std::thread::{self, JoinHandle, available_parallelism};",
        "use std::{fmt, thread::sleep};",
        "/// See `std::thread::Builder`.\nfn f() {}",
        "// std::thread::Builder",
        "const NAME: &str = \"std::thread::Builder\";",
        "struct Builder; fn f() -> Builder { Builder }",
        "use super::thread::Builder;",
        "use crate::thread::*; fn f() { Builder::new(); }",
        "mod thread { pub struct Builder; } fn f() -> thread::Builder { thread::Builder }",
        "#[cfg(test)] mod tests { use std::thread::Builder; }",
        "#[cfg(test)] fn f() { std::thread::Builder::new(); }",
        "#[cfg(all(test, unix))] use std::thread::Builder;",
    ] {
        check("std::thread::Builder", "mod thread { pub struct Builder; }", text, 0);
    }
}

#[test]
fn a_crate_is_found_by_its_own_name_and_through_others() {
    for text in [
        "use libloading::Library;",
        "use libloading;",
        "extern crate libloading as l;",
        "use libloading as l;",
        "use reexports::loading::Library;",
        "fn f() { reexports::loading::Library::new(); }",
        "#[derive(libloading::Load)] struct S;",
    ] {
        check("libloading", "", text, 1);
    }
    for text in [
        "fn f(libloading: u32) -> u32 { libloading }",
        "use crate::kept as other;",
        "use reexports;",
        "fn f() { let libloading_path = 1; }",
    ] {
        check("libloading", "", text, 0);
    }
}

/// How many effects the rule finds in a module that computes.
#[track_caller]
fn check_effects(text: &str, expected: usize) {
    let sources = specimen(&[
        ("lib.rs", "mod m; mod other;"),
        ("m.rs", text),
        ("other.rs", "use std::fs::File;"),
    ]);
    let found = effects(&sources, &["specimen/src/m"], &[], EFFECTS);
    assert_eq!(found.len(), expected, "{text}\n{found:#?}");
    assert_eq!(
        effects(&sources, &["specimen/src/m"], &["specimen/src/m.rs"], EFFECTS),
        Vec::<String>::new()
    );
}

#[test]
fn effects_in_a_module_that_computes_are_found() {
    for text in [
        "use std::fs;",
        "use std::{fs::{self}, fmt};",
        "use std::net::TcpStream as Stream;",
        "use std::time::{Duration, Instant};",
        "fn f() -> bool { std::path::Path::new(\"x\").exists() && std::fs::exists(\"x\").is_ok() }",
        "use std::time; fn f() { time::SystemTime::now(); }",
        "fn f() { jiff::Timestamp::now(); }",
        "use super::other::File;",
    ] {
        check_effects(text, 1);
    }
    for text in [
        "use std::time::Duration; fn f() -> Duration { Duration::ZERO }",
        "use std::io::{self, Read}; fn f() -> io::Result<()> { Ok(()) }",
        "use jiff::Timestamp; fn f(time: Timestamp) {}",
        "mod fs { pub fn read() {} } fn f() { fs::read(); }",
        "fn f(fs: u32, net: u32) -> u32 { fs + net }",
        "#[cfg(test)] mod tests { use std::fs; }",
    ] {
        check_effects(text, 0);
    }
}

#[test]
fn a_silenced_lint_is_found_where_it_may_not_be() {
    let check = |text: &str, expected: usize| {
        let sources =
            specimen(&[("lib.rs", "mod m; mod cuda;"), ("m.rs", text), ("cuda.rs", text)]);
        let found = silenced_elsewhere(&sources, "unsafe_code", &["specimen/src/cuda.rs"]);
        assert_eq!(found.len(), expected, "{text}");
    };
    check("#![allow(unsafe_code, reason = \"foreign functions\")]", 1);
    check("#[expect(dead_code, unsafe_code)] fn f() {}", 1);
    check("#[cfg_attr(unix, allow(unsafe_code))] fn f() {}", 1);
    check("#![deny(unsafe_code)]", 0);
    check("// #![allow(unsafe_code)]", 0);
    check("#[allow(dead_code, reason = \"unsafe_code is denied\")] fn f() {}", 0);
}

#[test]
fn a_place_or_a_file_that_belongs_nowhere_is_found() {
    let files: Files =
        [("a/src/lib.rs", "mod m;"), ("a/src/m.rs", ""), ("a/src/left_behind.rs", "")]
            .map(|(file, text)| (file.to_owned(), text.to_owned()))
            .into();
    let places = ["a/src/", "a/src/m", "a/src/m.rs", "a/src/n.rs", "a/src/le", "a/s/"];
    assert_eq!(absent(&files, &places), ["a/src/n.rs", "a/src/le", "a/s/"]);
    let sources = Sources::read(&[CrateRoot::new("a", "a/src/lib.rs")], &files);
    assert_eq!(unreached(&sources, &files), ["a/src/left_behind.rs"]);
}
