//! Workloads of random sizes in place of the held-out ones.
//!
//! An agent may request many verdicts and must not learn the held-out sizes from them: a kernel that fails
//! when bit k of `rows` is set would read one bit with each verdict. What is drawn here depends on the definition, the
//! `verify` workloads and the seed, and on nothing else.

use lightbench_primitives::random::{Stream, whole};

use super::manifest::Purpose;
use super::workload::Workload;
use super::{HeldOutSource, Project};

/// Workloads that are drawn for one verification.
pub const DRAWN_WORKLOADS: usize = 3;

/// Attempts to draw sizes that the definition permits, before a `verify` workload is repeated as it is.
const ATTEMPTS: u64 = 64;

/// Random numbers for one attempt: one for the template, the others for the axes.
const NUMBERS_PER_ATTEMPT: u64 = 64;

/// Elements of a drawn workload, relative to the largest `verify` workload.
const LARGEST_GROWTH: u64 = 4;

/// The stream of the random numbers, apart from those of a project's arguments.
const STREAM: u32 = u32::MAX;

impl Project {
    /// This project with [`DRAWN_WORKLOADS`] workloads of random sizes in place of its held-out ones. They are held out
    /// too, so that a verdict reveals one bit about all of them.
    #[must_use]
    pub fn with_drawn_workloads(&self, seed: u64) -> Self {
        let mut project = self.clone();
        project.workloads.retain(|workload| workload.purpose != Purpose::HeldOut);
        let drawn: Vec<Workload> =
            (0..DRAWN_WORKLOADS).filter_map(|index| project.drawn(index, seed)).collect();
        project.workloads.extend(drawn);
        project.held_out = HeldOutSource::Drawn;
        project
    }

    /// One workload of random sizes; `None` if the project has no `verify` workload.
    fn drawn(&self, index: usize, seed: u64) -> Option<Workload> {
        let templates: Vec<&Workload> =
            self.workloads.iter().filter(|each| each.purpose == Purpose::Verify).collect();
        let sizes = || templates.iter().map(|each| elements(each));
        // A smaller one would cost more for each unit of work than any visible one, which counts against a kernel.
        let (smallest, largest) = (sizes().min()?, sizes().max()?);
        let permitted = smallest..=largest.saturating_mul(LARGEST_GROWTH);
        let stream = Stream::new(seed, STREAM);
        let first = index as u64 * ATTEMPTS;
        let resized = (first..first + ATTEMPTS).find_map(|attempt| {
            let number = attempt * NUMBERS_PER_ATTEMPT;
            let template = templates.get(choice(templates.len(), stream.bits(number)))?;
            let axes = self.axes(&templates, stream, number + 1);
            let resized = template.with_axes(&self.definition, axes)?;
            permitted.contains(&elements(&resized)).then_some(resized)
        });
        let unchanged = || templates.get(index % templates.len()).map(|each| (*each).clone());
        let workload = resized.or_else(unchanged)?;
        Some(Workload { name: self.unused_name(index), purpose: Purpose::HeldOut, ..workload })
    }

    /// A value for each axis: evenly distributed on a logarithmic scale, from the axis' minimum to twice the largest
    /// value of a `verify` workload.
    fn axes(&self, templates: &[&Workload], stream: Stream, first: u64) -> Vec<u64> {
        let axes = self.definition.axes.iter().enumerate().map(|(index, axis)| {
            let used = templates.iter().filter_map(|each| each.axes.get(index)).max();
            let high = used.map_or(axis.min, |used| used.saturating_mul(2).min(axis.max));
            let (low, high) = (axis.min as f64, high.max(axis.min) as f64);
            let drawn = low * (high / low).powf(stream.unit(first + index as u64));
            let multiple = axis.multiple_of.max(1);
            let smallest = axis.min.next_multiple_of(multiple);
            ((drawn.round() as u64) / multiple * multiple).max(smallest)
        });
        axes.collect()
    }

    fn unused_name(&self, index: usize) -> String {
        let is_used = |name: &String| self.workloads.iter().any(|each| each.name == *name);
        let names = (index + 1..).map(|number| format!("drawn-{number}"));
        names.step_by(DRAWN_WORKLOADS).find(|name| !is_used(name)).unwrap_or_default()
    }
}

fn choice(count: usize, bits: u64) -> usize {
    let last = count.saturating_sub(1);
    usize::try_from(whole(0, last as i128, bits)).unwrap_or(last)
}

/// Elements of all tensors.
fn elements(workload: &Workload) -> u64 {
    workload.extents.iter().fold(0, |sum, extent| sum.saturating_add(extent.elements))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn sample(name: &str) -> Project {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-projects").join(name);
        Project::load(&root).unwrap()
    }

    fn drawn(project: &Project) -> Vec<&Workload> {
        project.workloads.iter().filter(|each| each.purpose == Purpose::HeldOut).collect()
    }

    #[test]
    fn drawn_sizes_are_permitted_and_small() {
        for name in ["softmax", "rmsnorm", "sgemm"] {
            let project = sample(name);
            let verify = project.workloads.iter().filter(|each| each.purpose == Purpose::Verify);
            let sizes: Vec<u64> = verify.map(elements).collect();
            let (smallest, largest) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
            for seed in 0..50 {
                let other = project.with_drawn_workloads(seed);
                let drawn = drawn(&other);
                assert_eq!(drawn.len(), DRAWN_WORKLOADS, "{name} {seed}");
                for workload in drawn {
                    let permitted = smallest..=largest * LARGEST_GROWTH;
                    assert!(permitted.contains(&elements(workload)), "{workload:?}");
                    for (axis, value) in project.definition.axes.iter().zip(&workload.axes) {
                        assert!((axis.min..=axis.max).contains(value), "{name} {workload:?}");
                        assert!(value.is_multiple_of(axis.multiple_of), "{name} {workload:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn each_seed_draws_other_sizes() {
        let project = sample("softmax");
        let axes = |seed| -> Vec<Vec<u64>> {
            let project = project.with_drawn_workloads(seed);
            drawn(&project).iter().map(|each| each.axes.clone()).collect()
        };
        assert_eq!(axes(1), axes(1));
        let different = (0..100).map(axes).collect::<std::collections::BTreeSet<_>>();
        assert!(different.len() > 90, "{}", different.len());
    }

    /// Without this, an agent that asks often enough would read the held-out sizes bit by bit.
    #[test]
    fn drawn_sizes_do_not_depend_on_the_held_out_ones() {
        let project = sample("softmax");
        let mut other = project.clone();
        other.workloads.retain(|each| each.purpose != Purpose::HeldOut);
        let held_out = Workload { purpose: Purpose::HeldOut, ..other.workloads[0].clone() };
        other.workloads.push(held_out);
        for seed in 0..20 {
            let drawn = [&project, &other].map(|each| each.with_drawn_workloads(seed).workloads);
            assert_eq!(drawn[0], drawn[1]);
        }
        let held_out: Vec<_> = drawn(&project).iter().map(|each| each.name.clone()).collect();
        let rest = project.with_drawn_workloads(7);
        assert!(rest.workloads.iter().all(|each| !held_out.contains(&each.name)));
    }

    /// An agent tests one bit of `rows` with each candidate and takes the verdicts for the bits of the held-out size.
    #[test]
    fn an_agent_that_probes_bits_reads_nothing() {
        let project = sample("softmax");
        let held_out = drawn(&project)[0].axes[0];
        let read = |first_seed: u64| -> u64 {
            let bit = |bit: u64| {
                let seen = project.with_drawn_workloads(first_seed + bit);
                let set = drawn(&seen).iter().any(|each| each.axes[0] >> bit & 1 == 1);
                u64::from(set) << bit
            };
            (0..16).map(bit).sum()
        };
        let readings: Vec<u64> = (0..20).map(|attempt| read(attempt * 100)).collect();
        assert!(readings.iter().filter(|read| **read == held_out).count() <= 2, "{readings:?}");
        assert!(readings.windows(2).any(|pair| pair[0] != pair[1]), "{readings:?}");
    }
}
