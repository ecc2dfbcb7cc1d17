//! The names of a compile's texts: as the compiler is told them, and as people know them.
//!
//! The main file gets an absolute name in a folder that does not exist, so that line tables do not depend on where the
//! compile ran and nothing is found beside it (`--no-source-include` would say so too, but then the toolkit's headers no
//! longer find each other). Headers in memory are matched by the name in the directive; line tables
//! put the worker's folder in front of them.

use std::path::Path;

use lightbench_worker::SCRATCH_PREFIX;

use super::line_directives::{LineDirectives, PhysicalLine};

/// The folder of main files, as the compiler is told.
pub const FOLDER: &str = "/lightbench/";

/// What the compiler is told that the main file is called.
#[must_use]
pub fn compiler_name(name: &str) -> String {
    format!("{FOLDER}{name}")
}

/// The names of one compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceNames {
    main: String,
    headers: Vec<String>,
    lines: LineDirectives,
}

impl SourceNames {
    /// The main file's name, and the headers as directives name them.
    #[must_use]
    pub fn new(main: &str, headers: impl IntoIterator<Item = String>) -> Self {
        let (main, headers) = (main.to_owned(), headers.into_iter().collect());
        Self { main, headers, lines: LineDirectives::default() }
    }

    /// The same, where the main text counts its lines as it says in `#line`.
    #[must_use]
    pub fn with_lines_of(self, text: &str) -> Self {
        Self { lines: LineDirectives::new(text), ..self }
    }

    /// Whether a path in messages or line tables is the name of the main text.
    #[must_use]
    pub fn is_main(&self, path: &str) -> bool {
        self.display_name(path) == self.main
    }

    /// Where a line of a message or line table stands in the main text.
    #[must_use]
    pub fn physical_line(&self, path: &str, line: u32) -> PhysicalLine {
        let known = self.display_name(path);
        self.lines.physical_line(known, self.is_main(path), line)
    }

    /// A name for a place that is no line of the main text, although it is counted as one.
    #[must_use]
    pub fn presumed_name(&self, path: &str) -> String {
        format!("{} (as `#line` counts)", self.display_name(path))
    }

    /// As the compiler spells the texts in its messages.
    #[must_use]
    pub fn compiler_names(&self) -> Vec<String> {
        [compiler_name(&self.main)].into_iter().chain(self.headers.iter().cloned()).collect()
    }

    /// A sentence with the names that people know.
    #[must_use]
    pub fn with_display_names(&self, text: &str) -> String {
        text.replace(FOLDER, "")
    }

    /// The name that people know, for a path in messages or line tables.
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

/// A relative name from `#line` gets the worker's folder put in front, which nobody needs to see.
fn without_scratch(path: &str) -> &str {
    let inside = path.split_once(SCRATCH_PREFIX).and_then(|(_, rest)| rest.split_once('/'));
    inside.map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_under_the_name_that_people_know() {
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
