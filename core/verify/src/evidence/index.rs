//! A module's names, looked up in one step each: a hostile text may have very many of everything.

use std::collections::{BTreeSet, HashMap, HashSet};

use lightbench_ptx::tree::{Function, Tree};

/// What is looked up while functions are searched.
pub(super) struct Index<'a, 't> {
    defined: HashSet<&'t str>,
    files: HashMap<u32, &'t str>,
    /// Names of inlined functions, by label.
    strings: HashMap<&'t str, &'a str>,
    /// The lines at which functions begin.
    begins: BTreeSet<u32>,
}

impl<'a, 't> Index<'a, 't> {
    pub(super) fn from_tree(tree: &'a Tree<'t>) -> Self {
        let defined = tree.functions.iter().filter(|function| function.body.is_some());
        Self {
            defined: defined.map(|function| function.name).collect(),
            files: tree.files.iter().map(|file| (file.index, file.path)).collect(),
            strings: tree.strings.iter().map(|(label, name)| (*label, name.as_str())).collect(),
            begins: tree.functions.iter().map(|function| function.place.line).collect(),
        }
    }

    /// Whether a function has its body in this module.
    pub(super) fn defines(&self, function: &str) -> bool {
        self.defined.contains(function)
    }

    /// The path of a file by its number; empty for a number that no file has.
    pub(super) fn file(&self, number: u32) -> &'t str {
        self.files.get(&number).copied().unwrap_or_default()
    }

    /// The name behind a label, or the label itself.
    pub(super) fn string<'s>(&'s self, label: &'s str) -> &'s str {
        self.strings.get(label).copied().unwrap_or(label)
    }

    /// The line at which the function behind this one begins.
    pub(super) fn end(&self, function: &Function<'_>) -> u32 {
        let behind = function.place.line.saturating_add(1);
        self.begins.range(behind..).next().copied().unwrap_or(u32::MAX)
    }
}
