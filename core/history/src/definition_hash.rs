//! The hash of a task definition, by which runs of the same task are recognised.

use lightbench_project::{IncludeFile, Project, Purpose, Reference};

/// The hash of a task definition: two runs are comparable only if it is equal.
///
/// Held-out workloads are not part of it, so that the hash reveals nothing about them.
#[must_use]
pub fn definition_hash(project: &Project) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    add("lightbench.definition/1");
    // The debug form names every field, so that a new field makes a new hash.
    add(&format!("{:?}", project.definition));
    for workload in project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut) {
        add(&format!("{workload:?}"));
    }
    add(project.reference.source());
    if let Reference::Python(python) = &project.reference {
        add(&format!("{:?}", python.intermediate_rounding));
    }
    for file in named_includes(project, project.reference.source()) {
        add(&file.source);
    }
    hasher.finalize().to_hex().to_string()
}

/// The shared files named in a text or in one of these files: at least all included files.
#[must_use]
pub fn named_includes<'a>(project: &'a Project, text: &'a str) -> Vec<&'a IncludeFile> {
    let mut named: Vec<&IncludeFile> = Vec::new();
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        for file in &project.includes {
            let name = file.file.file_name().unwrap_or_default().to_string_lossy();
            if text.contains(name.as_ref()) && !named.iter().any(|known| known.file == file.file) {
                named.push(file);
                texts.push(&file.source);
            }
        }
    }
    named
}
