//! Rules on small kernels, on the sample projects, and on texts that make no sense.

mod counts;
mod edits;
mod elements;
mod garbled;
mod kept;
mod places;
mod products;
mod refusals;
mod rows;
mod samples;
mod shapes;
mod tiles;
mod warpgroups;

use std::path::{Path, PathBuf};

use lightbench_project::{Kernel, Project};

use super::{KernelSource, NotApplicable, Rewrite, rewritten, rule};

fn sample(name: &str) -> Project {
    Project::load(&folder().join(name)).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-projects")
}

/// A kernel of a sample project that is in no file.
fn kernel(project: &Project, text: &str) -> Kernel {
    project
        .draft("drafted", text.to_owned())
        .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

fn rewrites(project: &Project, kernel: &Kernel, id: &str) -> Result<Vec<Rewrite>, NotApplicable> {
    rule(id).unwrap().rewrites(&KernelSource::from_kernel(project, kernel)?)
}

/// The text that the n-th place of a rule makes, which is a kernel again.
fn applied(project: &Project, text: &str, id: &str, place: usize) -> String {
    let kernel = kernel(project, text);
    let all = rewrites(project, &kernel, id).unwrap_or_else(|why| panic!("{id}: {why}\n{text}"));
    let chosen = all.get(place).unwrap_or_else(|| panic!("{id} has {} places", all.len()));
    rewritten(project, &kernel, chosen, "rewritten")
        .unwrap_or_else(|problems| panic!("{problems:?}\n{}", chosen.apply(text)))
        .source
}

/// `body` in a kernel of the project `vector-add` that has one launch.
fn vectors(block: &str, signature: &str, body: &str) -> String {
    format!(
        "/*@ lightbench(\n    title: \"a test\",\n    {block}\n) @*/\n\n__global__ void {signature} {{\n{body}}}\n"
    )
}
