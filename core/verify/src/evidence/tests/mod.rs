//! Specimens: for each kind of evidence something that has it, and a harmless twin.

mod attribution;
mod globals;
mod instructions;
mod reach;

use lightbench_project::manifest::Evidence;

use super::provenance::from_files;
use super::{Found, find};

/// A module with what `items` declares and a kernel `k` whose body is `body`.
fn module(items: &str, body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n{items}\n\
         .visible .entry k(.param .u64 k_param_0)\n{{\n\
         .reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .b64 %rd<99>;\n{body}\nret;\n}}\n"
    )
}

fn found(items: &str, body: &str) -> Vec<Found> {
    let text = module(items, body);
    find(&text, &["k"], &from_files("k.cu", &[], None))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Looks through kernel `k`; `expected` has the kind and the words of each finding.
fn check(items: &str, body: &str, expected: &[(Evidence, &str)]) {
    let found = found(items, body);
    let found: Vec<_> = found.iter().map(|each| (each.evidence, each.what.as_str())).collect();
    assert_eq!(found, expected, "{items}\n{body}");
}
