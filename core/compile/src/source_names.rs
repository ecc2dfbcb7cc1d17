//! Names of the source files of a compilation: the names that the compiler receives, and the names for the user.
//!
//! The compiler receives the main file under an absolute name in a folder that does not exist. Line tables then do not
//! depend on the working directory, and no header is found next to the main file. (`--no-source-include` also prevents the
//! latter, but then the toolkit's headers do not find each other.) Headers in memory are matched by the name in the
//! `#include` directive; line tables put the worker's folder before that name.

use std::path::Path;

use lightbench_worker::SCRATCH_PREFIX;

use super::line_directives::{LineDirectives, PhysicalLine};

/// Folder of main files in the names for the compiler.
pub const FOLDER: &str = "/lightbench/";

/// The main file's name for the compiler.
#[must_use]
pub fn compiler_name(name: &str) -> String {
    format!("{FOLDER}{name}")
}

/// The names of one compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceNames {
    main: String,
    headers: Vec<String>,
    lines: LineDirectives,
}

impl SourceNames {
    /// Names from the main file's name and the headers' names in `#include` directives.
    #[must_use]
    pub fn new(main: &str, headers: impl IntoIterator<Item = String>) -> Self {
        let (main, headers) = (main.to_owned(), headers.into_iter().collect());
        Self { main, headers, lines: LineDirectives::default() }
    }

    /// Adds the `#line` directives of the main file's text.
    #[must_use]
    pub fn with_lines_of(self, text: &str) -> Self {
        Self { lines: LineDirectives::new(text), ..self }
    }

    /// Whether a path in a message or line table is the main file.
    #[must_use]
    pub fn is_main(&self, path: &str) -> bool {
        self.display_name(path) == self.main
    }

    /// Whether a path in a message or line table is a file of the kernel's author, not one of the toolkit.
    #[must_use]
    pub fn is_given(&self, path: &str) -> bool {
        let name = self.display_name(path);
        name == self.main || self.headers.iter().any(|header| header == name)
    }

    /// The physical line in the main file for a line of a message or line table.
    #[must_use]
    pub fn physical_line(&self, path: &str, line: u32) -> PhysicalLine {
        let known = self.display_name(path);
        self.lines.physical_line(known, self.is_main(path), line)
    }

    /// Label for a line number that comes from a `#line` directive and has no physical line in the main file.
    #[must_use]
    pub fn presumed_name(&self, path: &str) -> String {
        format!("{} (as `#line` counts)", self.display_name(path))
    }

    /// The names of all files in the compiler's messages.
    #[must_use]
    pub fn compiler_names(&self) -> Vec<String> {
        [compiler_name(&self.main)].into_iter().chain(self.headers.iter().cloned()).collect()
    }

    /// A message with the compiler's names replaced by names for the user.
    #[must_use]
    pub fn with_display_names(&self, text: &str) -> String {
        text.replace(FOLDER, "")
    }

    /// The file name for the user, for a path in a message or line table.
    #[must_use]
    pub fn display_name<'a>(&'a self, path: &'a str) -> &'a str {
        if let Some(name) = path.strip_prefix(FOLDER) {
            return name;
        }
        let path_of = Path::new(path);
        self.headers
            .iter()
            .map(String::as_str)
            .filter(|name| path_of.ends_with(name))
            .max_by_key(|name| name.len())
            .unwrap_or_else(|| without_scratch(path))
    }
}

/// Removes the worker's folder, which the compiler puts before relative names from `#line` directives.
fn without_scratch(path: &str) -> &str {
    let inside = path.split_once(SCRATCH_PREFIX).and_then(|(_, rest)| rest.split_once('/'));
    inside.map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_under_the_name_for_the_user() {
        let headers = ["index.cuh", "deep/index.cuh"].map(str::to_owned);
        let names = SourceNames::new("kernels/naive.cu", headers);
        let check = |path, expected: &str| assert_eq!(names.display_name(path), expected);
        check("/lightbench/kernels/naive.cu", "kernels/naive.cu");
        check("/tmp/worker-1/index.cuh", "index.cuh");
        check("/tmp/worker-1/deep/index.cuh", "deep/index.cuh");
        check("/tmp/worker-1/other_index.cuh", "/tmp/worker-1/other_index.cuh");
        check("/tmp/lightbench-worker-Xy1/made-up.cu", "made-up.cu");
        check("/cache/headers/cuda_fp16.hpp", "/cache/headers/cuda_fp16.hpp");
        assert_eq!(names.compiler_names()[0], "/lightbench/kernels/naive.cu");
    }
}
