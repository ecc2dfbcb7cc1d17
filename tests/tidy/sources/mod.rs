//! The repository's Rust sources, read with a parser: every crate as a tree of modules whose paths are resolved.

mod resolve;
mod syntax;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use self::resolve::Target;
pub(crate) use self::syntax::Segments;
use self::syntax::{ChildModule, ModuleSyntax, parse};

/// Texts of Rust files by their path relative to the repository, with `/` between folders.
pub(crate) type Files = BTreeMap<String, String>;

/// A crate by the file that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CrateRoot {
    /// As `cargo test -p` names it.
    pub(crate) package: String,
    /// As code names it.
    pub(crate) name: String,
    pub(crate) file: String,
}

impl CrateRoot {
    /// A crate of the package with this name.
    pub(crate) fn new(package: &str, file: &str) -> Self {
        Self { package: package.to_owned(), name: package.replace('-', "_"), file: file.to_owned() }
    }
}

/// Index of a module in `Sources::modules`.
pub(crate) type ModuleIndex = usize;

/// A module of a crate.
pub(crate) struct Module {
    /// From the crate's root; that one has an empty path.
    pub(crate) path: Segments,
    /// The file that it stands in.
    pub(crate) file: String,
    /// Lines of its file; an inline module has none of its own.
    pub(crate) lines: usize,
    /// Compiled for tests only.
    pub(crate) is_test: bool,
    pub(crate) root: ModuleIndex,
    pub(crate) parent: Option<ModuleIndex>,
    pub(crate) children: BTreeMap<String, ModuleIndex>,
    pub(crate) syntax: ModuleSyntax,
}

/// All crates of the workspace.
pub(crate) struct Sources {
    pub(crate) modules: Vec<Module>,
    /// Each crate with its root.
    pub(crate) crates: Vec<(CrateRoot, ModuleIndex)>,
}

impl Sources {
    /// Reads the crates from their roots, following `mod` items.
    ///
    /// # Panics
    /// A file is absent or is not Rust.
    pub(crate) fn read(crates: &[CrateRoot], files: &Files) -> Self {
        let mut sources = Self { modules: Vec::new(), crates: Vec::new() };
        for root in crates {
            let index = sources.modules.len();
            sources.add_file(
                files,
                &root.file,
                Above { root: index, parent: None, path: Vec::new(), is_test: false },
            );
            sources.crates.push((root.clone(), index));
        }
        sources
    }

    fn add_file(&mut self, files: &Files, file: &str, above: Above) -> ModuleIndex {
        let text = files
            .get(file)
            .unwrap_or_else(|| panic!("no file {file} for the module {:?}", above.path));
        let syntax = parse(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let own_name = file.ends_with("/mod.rs") || above.parent.is_none();
        let folder = if own_name { parent_folder(file) } else { file.trim_end_matches(".rs") };
        let folder = folder.to_owned();
        let index = self.add(files, file, &folder, syntax, above);
        self.modules[index].lines = text.lines().count();
        index
    }

    fn add(
        &mut self,
        files: &Files,
        file: &str,
        folder: &str,
        mut syntax: ModuleSyntax,
        above: Above,
    ) -> ModuleIndex {
        let index = self.modules.len();
        let declared = std::mem::take(&mut syntax.children);
        let Above { root, parent, path, is_test } = above;
        let file = file.to_owned();
        let children = BTreeMap::new();
        self.modules.push(Module { path, file, lines: 0, is_test, root, parent, children, syntax });
        for child in declared {
            let name = child.name.clone();
            let child = self.add_child(files, index, folder, child);
            self.modules[index].children.insert(name, child);
        }
        index
    }

    fn add_child(
        &mut self,
        files: &Files,
        parent: ModuleIndex,
        folder: &str,
        child: ChildModule,
    ) -> ModuleIndex {
        let module = &self.modules[parent];
        let above = Above {
            root: module.root,
            parent: Some(parent),
            path: [module.path.as_slice(), std::slice::from_ref(&child.name)].concat(),
            is_test: module.is_test || child.is_test,
        };
        let file = module.file.clone();
        let below = format!("{folder}/{}", child.name);
        if let Some(inline) = child.inline {
            return self.add(files, &file, &below, inline, above);
        }
        let named =
            child.file.map(|name| without_dots(&format!("{}/{name}", parent_folder(&file))));
        let flat = format!("{below}.rs");
        let own = named.unwrap_or_else(|| {
            if files.contains_key(&flat) { flat } else { format!("{below}/mod.rs") }
        });
        self.add_file(files, &own, above)
    }

    /// The names of all tests of a crate, as `cargo test` prints them.
    pub(crate) fn tests(&self, root: ModuleIndex) -> Vec<String> {
        let modules = self.modules.iter().filter(|module| module.root == root);
        let names = modules.flat_map(|module| {
            module.syntax.tests.iter().map(|test| {
                let path = module.path.iter().map(String::as_str);
                path.chain([test.as_str()]).collect::<Vec<_>>().join("::")
            })
        });
        names.collect()
    }
}

/// Where a module stands.
struct Above {
    root: ModuleIndex,
    parent: Option<ModuleIndex>,
    path: Segments,
    is_test: bool,
}

fn parent_folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The workspace's crates, and the crate of the integration tests, parsed once.
pub(crate) fn workspace() -> &'static Sources {
    static SOURCES: OnceLock<Sources> = OnceLock::new();
    SOURCES.get_or_init(|| Sources::read(&crates(), files()))
}

/// The Rust files of the repository.
pub(crate) fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Files::new();
        for folder in ["app", "core", "tests"] {
            collect(&root().join(folder), &mut |path, relative| {
                if relative.ends_with(".rs") {
                    files.insert(relative, fs::read_to_string(path).expect("UTF-8 source"));
                }
            });
        }
        assert!(files.len() > 10, "the repository's files were found");
        files
    })
}

/// Every package below `app` and `core`, by its manifest; the integration tests are a crate of the first.
fn crates() -> Vec<CrateRoot> {
    let mut crates = Vec::new();
    for folder in ["app", "core"] {
        collect(&root().join(folder), &mut |path, relative| {
            let Some(package) = relative.strip_suffix("/Cargo.toml") else { return };
            let manifest = fs::read_to_string(path).expect("UTF-8 manifest");
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = \""));
            let name = name.expect("a package has a name").trim_end_matches('"');
            let targets = ["lib.rs", "main.rs"].map(|file| format!("{package}/src/{file}"));
            let present = targets.iter().filter(|file| root().join(file).exists());
            crates.extend(present.map(|file| CrateRoot::new(name, file)));
        });
    }
    crates
        .push(CrateRoot { name: "it".to_owned(), ..CrateRoot::new("lightbench", "tests/main.rs") });
    crates.sort_by(|left, right| left.file.cmp(&right.file));
    crates
}

/// Calls `visit` with each file below a folder and its path relative to the repository.
fn collect(folder: &Path, visit: &mut impl FnMut(&Path, String)) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                collect(&path, visit);
            }
        } else {
            let relative = path
                .strip_prefix(root())
                .expect("below the root")
                .to_string_lossy()
                .replace('\\', "/");
            visit(&path, relative);
        }
    }
}

/// The repository's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository exists")
}
