//! What a path stands for: through `use`, aliases, globs, re-exports and private imports of the modules above.

use super::{ModuleIndex, Segments, Sources};

/// What a path stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// A module of the workspace; what remains of the path are items of it.
    Module(ModuleIndex),
    /// A path that begins with a crate from elsewhere, with `std` in place of `core` and `alloc`.
    Foreign(Segments),
}

/// More steps than any chain of re-exports takes; ends a cycle of `use` items.
const MAX_STEPS: usize = 24;

impl Sources {
    /// All that a path may stand for, seen from a module. Imports within functions count for the whole module.
    pub(crate) fn resolve(&self, from: ModuleIndex, path: &[String]) -> Vec<Target> {
        self.look_up(from, path, MAX_STEPS)
    }

    fn look_up(&self, from: ModuleIndex, path: &[String], steps: usize) -> Vec<Target> {
        let Some(steps) = steps.checked_sub(1) else { return Vec::new() };
        let [first, rest @ ..] = path else { return vec![Target::Module(from)] };
        match first.as_str() {
            "::" => self.outside(rest, steps),
            "crate" => self.walk(self.modules[from].root, rest, steps).unwrap_or_default(),
            "self" => self.walk(from, rest, steps).unwrap_or_default(),
            "super" => {
                let mut at = self.modules[from].parent;
                let mut rest = rest;
                while let [name, more @ ..] = rest
                    && name == "super"
                {
                    at = at.and_then(|at| self.modules[at].parent);
                    rest = more;
                }
                at.and_then(|at| self.walk(at, rest, steps)).unwrap_or_default()
            }
            _ => self.walk_named(from, path, steps).unwrap_or_else(|| self.outside(path, steps)),
        }
    }

    /// A path that begins with the name of a crate.
    fn outside(&self, path: &[String], steps: usize) -> Vec<Target> {
        let [first, rest @ ..] = path else { return Vec::new() };
        let is_library = |file: &str| file.ends_with("lib.rs");
        let own =
            self.crates.iter().find(|(root, _)| root.name == *first && is_library(&root.file));
        if let Some(&(_, root)) = own {
            return self.walk(root, rest, steps).unwrap_or_default();
        }
        let mut path = path.to_vec();
        if ["core", "alloc"].contains(&first.as_str()) {
            "std".clone_into(&mut path[0]);
        }
        vec![Target::Foreign(path)]
    }

    /// A path from within a module; an unknown name is an item of it.
    fn walk(&self, module: ModuleIndex, path: &[String], steps: usize) -> Option<Vec<Target>> {
        self.walk_named(module, path, steps).or_else(|| Some(vec![Target::Module(module)]))
    }

    /// A path whose first name the module declares or imports.
    fn walk_named(&self, at: ModuleIndex, path: &[String], steps: usize) -> Option<Vec<Target>> {
        let steps = steps.checked_sub(1)?;
        let [first, rest @ ..] = path else { return Some(vec![Target::Module(at)]) };
        let module = &self.modules[at];
        if let Some(&child) = module.children.get(first) {
            return self.walk(child, rest, steps);
        }
        if let Some(bound) = module.syntax.bindings.get(first) {
            let paths = bound.iter().map(|path| [path.as_slice(), rest].concat());
            let targets = paths.flat_map(|path| {
                // `use egui;` and `use log::log` name a crate, not themselves.
                if path[0] == *first {
                    self.outside(&path, steps)
                } else {
                    self.look_up(at, &path, steps)
                }
            });
            return Some(targets.collect());
        }
        let mut found =
            module.syntax.globs.iter().filter(|glob| glob.first() != Some(first)).filter_map(
                |glob| {
                    let from = self.look_up(at, glob, steps).into_iter();
                    let modules = from.filter_map(|target| match target {
                        Target::Module(module) if module != at => Some(module),
                        Target::Module(_) | Target::Foreign(_) => None,
                    });
                    modules.into_iter().find_map(|module| self.walk_named(module, path, steps))
                },
            );
        found.next()
    }
}
