//! Files of `tests/ptx/facts`: kernels for several architectures, compiled by NVRTC 13.5 or written by hand.
//!
//! The lines `//= …` of a file are its declarations. `//^ …` at the end of a line is the source of that line, the
//! innermost function first.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::{PtxEntry, PtxModule, SourceLine, parse, read};

#[test]
fn declarations_and_lines_are_read_beside_instructions_of_any_architecture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/facts");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let module = read(&text);
        assert_eq!(described(&module, &text), lines_after(&text, "//= "), "{}", path.display());
        let mut marks = 0;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((_, expected)) = line.split_once("//^ ") {
                assert_eq!(source(&module, number), expected, "{}:{number}", path.display());
                marks += 1;
            }
        }
        assert!(marks > 1, "{}", path.display());
        count += 1;
    }
    assert!(count > 3);
}

/// The rest of each line that begins with `mark`.
fn lines_after(text: &str, mark: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix(mark));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn described(module: &PtxModule, text: &str) -> String {
    let (tree, errors) = parse(text);
    assert_eq!(errors, []);
    let (major, minor) = module.version.unwrap();
    let mut lines = format!("version {major}.{minor} for {}\n", module.target.join(" "));
    if module.constant_bytes() > 0 {
        writeln!(lines, "{} bytes of constants", module.constant_bytes()).unwrap();
    }
    for entry in &module.entries {
        describe_entry(entry, &mut lines);
    }
    for statement in tree.unsupported() {
        let line = statement.place.line;
        writeln!(lines, "unreadable in line {line}: {}", statement.text).unwrap();
    }
    lines
}

fn describe_entry(entry: &PtxEntry, lines: &mut String) {
    let (first, last) = entry.lines;
    let shared = entry.static_shared_bytes();
    write!(lines, "{} in lines {first} to {last}: {shared} bytes of shared memory", entry.name)
        .unwrap();
    lines.push_str(if entry.uses_dynamic_shared() { " and dynamic" } else { "" });
    for (extent, before, behind) in [
        (entry.required_threads, "", " threads"),
        (entry.max_threads, "at most ", " threads"),
        (entry.required_cluster, "clusters of ", ""),
    ] {
        if let Some([x, y, z]) = extent {
            write!(lines, ", {before}{x}x{y}x{z}{behind}").unwrap();
        }
    }
    lines.push('\n');
    for parameter in &entry.parameters {
        let (name, kind) = (&parameter.name, parameter.kind);
        let (size, alignment) = (parameter.size, parameter.alignment);
        write!(lines, "  {name}: {kind:?} of {size} bytes at multiples of {alignment}").unwrap();
        if let Some(pointer) = &parameter.pointer {
            let space = pointer.space.as_deref().unwrap_or("?");
            write!(lines, ", pointer to {space} aligned to {}", pointer.align.unwrap_or(0))
                .unwrap();
        }
        lines.push('\n');
    }
}

fn source(module: &PtxModule, ptx_line: u32) -> String {
    let shown = |each: &SourceLine| {
        let function = each.function.as_ref().map_or_else(String::new, |name| format!(" {name}"));
        format!("{}:{}:{}{function}", each.file, each.line, each.column)
    };
    module.line_map.at(ptx_line).iter().map(shown).collect::<Vec<_>>().join(" < ")
}
