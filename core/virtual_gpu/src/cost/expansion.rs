//! How many machine instructions PTX stands for: a table for each architecture, fitted to what the compiler makes of
//! real kernels, with how well it fits.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::super::lower;
use super::super::module::{FunctionId, FunctionKind, Module};
use super::{Kind, kind};

/// The table; `tests/expansion.rs` makes it.
const TEXT: &str = include_str!("../../../../assets/expansion.ron");

/// Machine instructions for each kind of PTX instruction, on one architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expansion {
    /// Its compute capability: 9.0.
    pub compute_capability: (u32, u32),
    /// Machine instructions for one of PTX, by [`Kind::key`]. Kinds that kernels use together are not told apart, so
    /// that only the sum over a kernel means something.
    pub factors: BTreeMap<String, f64>,
    /// Kernels that it was fitted to.
    pub kernels: usize,
    /// The median over those kernels of how far the fit is off, left out of the fit that judges it: 0.1 is a tenth.
    pub median_error: f64,
    /// What the compiler makes divided by what the table says: nine in ten kernels lie between.
    pub band: (f64, f64),
}

impl Expansion {
    /// All that are known.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the table is a part of the program; a test reads it")]
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Expansion>> =
            LazyLock::new(|| ron::from_str(TEXT).expect("assets/expansion.ron is a table"));
        &ALL
    }

    /// The one of an architecture: of the same first number, as the assembler is the same.
    #[must_use]
    pub fn of(compute_capability: (u32, u32)) -> Option<&'static Self> {
        let same = |one: &&Self| one.compute_capability.0 == compute_capability.0;
        Self::all()
            .iter()
            .filter(same)
            .min_by_key(|one| one.compute_capability.1.abs_diff(compute_capability.1))
    }

    /// Machine instructions that so many PTX instructions stand for.
    #[must_use]
    pub fn machine_instructions(&self, kinds: &BTreeMap<Kind, u64>) -> f64 {
        let factor = |kind: &Kind| self.factors.get(kind.key()).copied().unwrap_or(1.0);
        kinds.iter().map(|(kind, count)| factor(kind) * *count as f64).sum()
    }
}

/// The PTX instructions of a kernel with all that it calls, by kind; none if it cannot be executed.
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
