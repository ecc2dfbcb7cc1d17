//! The number of machine instructions per PTX instruction: one table per architecture, fitted to the machine code
//! that the compiler generates for real kernels, with the error of the fit.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::super::lower;
use super::super::module::{FunctionId, FunctionKind, Module};
use super::{Kind, kind};

/// The table; `tests/expansion.rs` generates it.
const TEXT: &str = include_str!("../../../../assets/expansion.ron");

/// Machine instructions per PTX instruction of each kind, on one architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expansion {
    /// Compute capability: (9, 0).
    pub compute_capability: (u32, u32),
    /// Machine instructions per PTX instruction, by [`Kind::key`]. Kinds that kernels use together are not separated
    /// by the fit, so that only the sum over a kernel is meaningful.
    pub factors: BTreeMap<String, f64>,
    /// The number of kernels of the fit.
    pub kernels: usize,
    /// The median relative error over those kernels, each left out of the fit that predicts it: 0.1 is 10 %.
    pub median_error: f64,
    /// The actual number of instructions divided by the predicted one: the range of nine in ten kernels.
    pub band: (f64, f64),
}

impl Expansion {
    /// The tables of all architectures.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the table is a part of the program; a test reads it")]
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Expansion>> =
            LazyLock::new(|| ron::from_str(TEXT).expect("assets/expansion.ron is a table"));
        &ALL
    }

    /// The table of an architecture: of the same major number, which has the same assembler.
    #[must_use]
    pub fn from_compute_capability(compute_capability: (u32, u32)) -> Option<&'static Self> {
        let same = |one: &&Self| one.compute_capability.0 == compute_capability.0;
        Self::all()
            .iter()
            .filter(same)
            .min_by_key(|one| one.compute_capability.1.abs_diff(compute_capability.1))
    }

    /// The predicted number of machine instructions.
    #[must_use]
    pub fn machine_instructions(&self, kinds: &BTreeMap<Kind, u64>) -> f64 {
        let factor = |kind: &Kind| self.factors.get(kind.key()).copied().unwrap_or(1.0);
        kinds.iter().map(|(kind, count)| factor(kind) * *count as f64).sum()
    }
}

/// The PTX instructions of a kernel with all functions that it calls, by kind; none if it is not supported.
#[must_use]
pub fn kinds_of(module: &Module, kernel: &str) -> Option<BTreeMap<Kind, u64>> {
    let mut functions = module.functions.iter().enumerate();
    let (index, _) = functions.find(|(_, function)| {
        function.kind == FunctionKind::Entry && function.body.is_some() && function.name == kernel
    })?;
    let program = lower::lower(module, FunctionId(index as u32)).ok()?;
    let mut kinds = BTreeMap::new();
    for op in &program.ops {
        *kinds.entry(kind(op.code)).or_default() += 1;
    }
    Some(kinds)
}

#[cfg(test)]
mod tests {
    use super::Expansion;

    #[test]
    fn the_embedded_table_knows_the_architectures_it_was_fitted_for() {
        let known: Vec<_> = Expansion::all().iter().map(|one| one.compute_capability).collect();
        assert_eq!(known, [(8, 0), (9, 0), (10, 0)]);
    }
}
