//! Place of a candidate in the archive of a search: four levels, computed from the instructions of its PTX.
//!
//! The dimensions are those of KernelFoundry (memory, compute, parallelism, tensor; levels 0 to 3), which computes them from
//! patterns in the source. The PTX gives the same levels, independent of comments and names.

use lightbench_speed_of_light::code_mix::CodeMix;
use lightbench_strategies::archive::Cell;
use serde::{Deserialize, Serialize};

/// Place of a candidate in the archive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Levels of memory, compute, parallelism and tensor work.
    pub cell: Cell,
    /// Logarithms of the instruction counts; similar code has a small Euclidean distance.
    pub fingerprint: Vec<f64>,
}

impl Descriptor {
    /// The place of code with these instruction counts.
    #[must_use]
    pub fn from_code_mix(mix: &CodeMix) -> Self {
        let counts = [
            mix.products,
            mix.global_loads,
            mix.global_stores,
            mix.widest_load,
            mix.widest_store,
            mix.local,
            mix.global_atomics,
            mix.shared,
            mix.tensor,
            mix.warp_group,
            mix.async_copies,
            mix.bulk_copies,
            mix.shuffles,
            mix.barriers,
            mix.streaming,
            mix.prefetches,
        ];
        let cell = [memory(mix), compute(mix), parallelism(mix), tensor(mix)];
        Self { cell, fingerprint: counts.iter().map(|count| (1.0 + *count as f64).ln()).collect() }
    }

    /// Name of a level of a dimension.
    #[must_use]
    pub const fn level_name(dimension: usize, level: u8) -> &'static str {
        match (dimension, level) {
            (0, 0) => "plain global access",
            (0, 1) => "wide or streaming access",
            (0, 2) => "staged in shared memory",
            (0, _) => "fetched ahead",
            (1, 0) => "less than a product a load",
            (1, 1) => "some products a load",
            (1, 2) => "four products a load",
            (1, _) => "sixteen products a load",
            (2, 0) => "threads alone",
            (2, 1) => "blocks meet",
            (2, 2) => "warps exchange",
            (2, _) => "blocks and warps",
            (_, 0) => "no tensor cores",
            (_, 1) => "tensor cores",
            (_, 2) => "tensor cores fed ahead",
            (_, _) => "warp groups",
        }
    }
}

fn memory(mix: &CodeMix) -> u8 {
    let ahead = mix.async_copies + mix.bulk_copies + mix.prefetches > 0;
    let wide = mix.widest_load >= 8 || mix.widest_store >= 8 || mix.streaming > 0;
    match (ahead, mix.shared > 0 && mix.barriers > 0, wide) {
        (true, _, _) => 3,
        (false, true, _) => 2,
        (false, false, true) => 1,
        (false, false, false) => 0,
    }
}

/// Level by products per load instruction of global memory: the reuse from registers and shared memory.
fn compute(mix: &CodeMix) -> u8 {
    let products = mix.products + 64 * mix.tensor;
    let each = products as f64 / mix.global_loads.max(1) as f64;
    u8::from(each >= 1.0) + u8::from(each >= 4.0) + u8::from(each >= 16.0)
}

fn parallelism(mix: &CodeMix) -> u8 {
    match (mix.shuffles > 0, mix.barriers > 0) {
        (true, true) => 3,
        (true, false) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}

fn tensor(mix: &CodeMix) -> u8 {
    match (mix.warp_group > 0, mix.tensor > 0, mix.async_copies + mix.bulk_copies > 0) {
        (true, _, _) => 3,
        (false, true, true) => 2,
        (false, true, false) => 1,
        (false, false, _) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mix: CodeMix, expected: Cell) {
        assert_eq!(Descriptor::from_code_mix(&mix).cell, expected, "{mix:?}");
    }

    #[test]
    fn levels_follow_what_the_code_has() {
        let plain =
            CodeMix { global_loads: 4, global_stores: 1, widest_load: 4, ..CodeMix::default() };
        check(CodeMix::default(), [0, 0, 0, 0]);
        check(plain, [0, 0, 0, 0]);
        check(CodeMix { widest_load: 16, products: 4, ..plain }, [1, 1, 0, 0]);
        check(CodeMix { streaming: 1, shuffles: 5, ..plain }, [1, 0, 2, 0]);
        check(CodeMix { shared: 8, barriers: 2, products: 16, ..plain }, [2, 2, 1, 0]);
        // Shared memory without a barrier stages nothing.
        check(CodeMix { shared: 8, ..plain }, [0, 0, 0, 0]);
        check(
            CodeMix { shared: 8, barriers: 2, shuffles: 1, prefetches: 1, ..plain },
            [3, 0, 3, 0],
        );
        check(CodeMix { tensor: 1, ..plain }, [0, 3, 0, 1]);
        check(CodeMix { tensor: 1, async_copies: 2, ..plain }, [3, 3, 0, 2]);
        check(CodeMix { tensor: 4, warp_group: 4, bulk_copies: 1, ..plain }, [3, 3, 0, 3]);
    }

    #[test]
    fn like_code_has_near_fingerprints() {
        let a = CodeMix { global_loads: 40, products: 100, ..CodeMix::default() };
        let (b, c) = (CodeMix { global_loads: 41, ..a }, CodeMix { tensor: 16, ..a });
        let distance = |x: &CodeMix, y: &CodeMix| {
            let (x, y) = (
                Descriptor::from_code_mix(x).fingerprint,
                Descriptor::from_code_mix(y).fingerprint,
            );
            x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()
        };
        assert!(distance(&a, &b) < distance(&a, &c) / 100.0);
    }
}
