//! First workloads for axes of unknown meaning: small odd sizes for verification, large ones for timing.

use super::guess::Axis;
use super::render::{line, quoted};

/// A workload's sizes: one for a lone axis; for several, of the first, the second and all others.
struct Sizes {
    name: &'static str,
    purpose: &'static str,
    alone: u64,
    first: u64,
    second: u64,
    others: u64,
}

/// Odd sizes, so that no block divides them; large ones that leave every cache.
const WORKLOADS: [Sizes; 3] = [
    Sizes { name: "odd", purpose: "verify", alone: 1000, first: 33, second: 130, others: 17 },
    Sizes {
        name: "large",
        purpose: "measure",
        alone: 1 << 24,
        first: 4096,
        second: 4096,
        others: 64,
    },
    Sizes {
        name: "hidden",
        purpose: "held_out",
        alone: 100_003,
        first: 129,
        second: 515,
        others: 31,
    },
];

pub(super) fn workloads(text: &mut String, axes: &[Axis]) {
    line!(text, "    workloads: [");
    line!(text, "        // guess: all sizes.");
    for workload in &WORKLOADS {
        let sizes: Vec<String> = axes
            .iter()
            .enumerate()
            .map(|(position, axis)| {
                let size = match (axes.len(), position) {
                    (1, _) => workload.alone,
                    (_, 0) => workload.first,
                    (_, 1) => workload.second,
                    _ => workload.others,
                };
                let size = size.min(axis.limit.unwrap_or(u64::MAX));
                format!("{}: {size}", quoted(&axis.name))
            })
            .collect();
        let (name, purpose) = (quoted(workload.name), workload.purpose);
        line!(text, "        (name: {name}, purpose: {purpose}, axes: {{{}}}),", sizes.join(", "));
    }
    line!(text, "    ],");
}
