//! The order of a tour's kernels: each follows the kernel it was derived from.
//!
//! Kernel files of the sample projects begin their comment with the change: "Against `vector16`: x is read once."

use std::collections::BTreeSet;

use lightbench_core::project::Kernel;

/// The beginning of such a sentence, before the kernel's name.
const AGAINST: &str = "Against `";

/// A kernel and its predecessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct TourStep<'a> {
    pub(super) kernel: &'a Kernel,
    /// The named predecessor, else the previous kernel; `None` for the first.
    pub(super) against: Option<&'a Kernel>,
}

/// All kernels: those without a named predecessor first, each followed by its descendants.
pub(super) fn ordered(kernels: &[Kernel]) -> Vec<TourStep<'_>> {
    let mut told: Vec<TourStep<'_>> = Vec::new();
    let mut seen = BTreeSet::new();
    let named = |kernel| named(kernel, kernels);
    for kernel in kernels.iter().filter(|kernel| named(kernel).is_none()) {
        tell(kernel, kernels, &mut seen, &mut told);
    }
    // Kernels that name each other in a cycle.
    for kernel in kernels {
        tell(kernel, kernels, &mut seen, &mut told);
    }
    told
}

fn tell<'a>(
    kernel: &'a Kernel,
    kernels: &'a [Kernel],
    seen: &mut BTreeSet<&'a str>,
    told: &mut Vec<TourStep<'a>>,
) {
    if !seen.insert(&kernel.name) {
        return;
    }
    let before = told.last().map(|step| step.kernel);
    let own = named(kernel, kernels)
        .filter(|named| told.iter().any(|step| step.kernel.name == named.name));
    told.push(TourStep { kernel, against: own.or(before) });
    let is_made_from =
        |other: &&Kernel| named(other, kernels).is_some_and(|named| named.name == kernel.name);
    for other in kernels.iter().filter(is_made_from) {
        tell(other, kernels, seen, told);
    }
}

/// The first other kernel that a kernel names.
fn named<'a>(kernel: &Kernel, kernels: &'a [Kernel]) -> Option<&'a Kernel> {
    let (_, rest) = kernel.source.split_once(AGAINST)?;
    let (name, _) = rest.split_once('`')?;
    kernels.iter().find(|other| other.name == name && other.name != kernel.name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lightbench_core::project::Project;

    use super::*;

    /// Checks the order for kernels with these names and sentences.
    fn check(written: &[(&str, &str)], expected: &[(&str, Option<&str>)]) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/rmsnorm");
        let model = Project::load(&root).unwrap().kernels.remove(0);
        let kernels: Vec<Kernel> = written
            .iter()
            .map(|(name, source)| {
                let mut kernel = model.clone();
                (kernel.name, kernel.source) = ((*name).to_owned(), (*source).to_owned());
                kernel
            })
            .collect();
        let found = ordered(&kernels);
        let found: Vec<(&str, Option<&str>)> = found
            .iter()
            .map(|step| (step.kernel.name.as_str(), step.against.map(|each| each.name.as_str())))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_kernel_follows_the_one_that_it_names() {
        check(&[], &[]);
        check(
            &[("c", "// Against `a`: …"), ("a", ""), ("b", "// Against `c`: … Against `a`")],
            &[("a", None), ("c", Some("a")), ("b", Some("c"))],
        );
        // Two derived from one; one without a predecessor.
        check(
            &[("a", ""), ("b", "Against `a`"), ("c", "Against `a`"), ("d", "")],
            &[("a", None), ("b", Some("a")), ("c", Some("a")), ("d", Some("c"))],
        );
        // A cycle, a self reference, and an unknown name.
        check(&[("a", "Against `b`"), ("b", "Against `a`")], &[("a", None), ("b", Some("a"))]);
        check(&[("a", "Against `a`"), ("b", "Against `x`")], &[("a", None), ("b", Some("a"))]);
    }

    #[test]
    fn the_sample_is_told_from_naive_to_best() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/rmsnorm");
        let project = Project::load(&root).unwrap();
        let names: Vec<&str> =
            ordered(&project.kernels).iter().map(|step| step.kernel.name.as_str()).collect();
        assert_eq!(names, ["naive", "shared-tree", "warp-shuffle", "vector16", "registers"]);
    }
}
