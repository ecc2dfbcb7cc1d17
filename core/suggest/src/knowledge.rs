//! Knowledge base: observed speedups of techniques by bottleneck, collected from all searches.
//!
//! Users may edit its file. The expected speedup has the weight of two observations, so that observations prevail as their
//! number grows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lightbench_speed_of_light::playbook::{Gain, Relief, Technique, playbook};
use serde::{Deserialize, Serialize};

const SEED: &str = include_str!("../../../assets/knowledge.ron");

/// Weight of an expected speedup, in observations.
const EXPECTATION_WEIGHT: f64 = 2.0;

/// Expected speedup of a technique for another bottleneck: small, as the bottleneck may be wrong.
const BESIDE_THE_POINT: f64 = 1.005;

/// Expected speedup where it depends on counters that are missing.
const UNCOUNTED: f64 = 1.2;

/// Observed speedups of techniques.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    /// One record for each pair of technique and bottleneck.
    pub seen: Vec<TechniqueRecord>,
}

/// Observations of one technique for one bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TechniqueRecord {
    /// Identifier of the technique in the playbook.
    pub technique: String,
    /// Bottleneck of the kernels, see [`bottleneck_name`]; `unknown` if it was not determined.
    pub bottleneck: String,
    /// Number of variants that passed.
    pub uses: u32,
    /// Number of variants that failed or did not compile.
    pub failures: u32,
    /// Geometric mean of the speedups.
    pub gain: f64,
    /// Standard deviation of the logarithms of the speedups.
    #[serde(default)]
    pub spread: f64,
}

/// Expected speedup of a technique.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Expected speedup.
    pub gain: f64,
    /// Weight of observations in it: 0 without any, towards 1 with many.
    pub confidence: f64,
}

impl Knowledge {
    /// The knowledge base that the program contains.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the file is a part of the program; a test reads it")]
    pub fn seed() -> Self {
        ron::from_str(SEED).expect("assets/knowledge.ron is a knowledge base")
    }

    /// Parses a file.
    ///
    /// # Errors
    /// The syntax error, with line and column.
    pub fn parse(text: &str) -> Result<Self, ron::error::SpannedError> {
        ron::from_str(text)
    }

    /// Expected speedup of a technique for a bottleneck; `advised` replaces the expectation of the playbook.
    #[must_use]
    pub fn forecast(
        &self,
        technique: &str,
        bottleneck: Option<&str>,
        advised: Option<f64>,
    ) -> Forecast {
        let expected = advised.unwrap_or_else(|| expected(technique, bottleneck)).max(1e-3).ln();
        let Some(seen) = self.of(technique, bottleneck) else {
            return Forecast { gain: expected.exp(), confidence: 0.0 };
        };
        // A failed variant counts as a speedup of 1.
        let (uses, tries) = (f64::from(seen.uses), f64::from(seen.uses + seen.failures));
        let sum = expected * EXPECTATION_WEIGHT + seen.gain.max(1e-3).ln() * uses;
        let gain = (sum / (EXPECTATION_WEIGHT + tries)).exp();
        Forecast { gain, confidence: tries / (EXPECTATION_WEIGHT + tries) }
    }

    /// Adds an observation: a speedup, or none for a variant that failed.
    pub fn learn(&mut self, technique: &str, bottleneck: Option<&str>, gain: Option<f64>) {
        let gain = gain.filter(|gain| *gain > 0.0 && gain.is_finite());
        let bottleneck = bottleneck.unwrap_or("unknown");
        let known = |seen: &&mut TechniqueRecord| {
            seen.technique == technique && seen.bottleneck == bottleneck
        };
        let seen = match self.seen.iter_mut().find(known) {
            Some(seen) => seen,
            None => {
                self.seen.push(TechniqueRecord {
                    technique: technique.to_owned(),
                    bottleneck: bottleneck.to_owned(),
                    uses: 0,
                    failures: 0,
                    gain: 1.0,
                    spread: 0.0,
                });
                match self.seen.last_mut() {
                    Some(seen) => seen,
                    None => return,
                }
            }
        };
        match gain {
            Some(gain) => seen.use_once(gain.ln()),
            None => seen.failures += 1,
        }
    }

    /// Adds all observations of another knowledge base.
    pub fn merge(&mut self, other: &Self) {
        for more in &other.seen {
            match self
                .seen
                .iter_mut()
                .find(|seen| seen.technique == more.technique && seen.bottleneck == more.bottleneck)
            {
                Some(seen) => seen.merge(more),
                None => self.seen.push(more.clone()),
            }
        }
    }

    fn of(&self, technique: &str, bottleneck: Option<&str>) -> Option<&TechniqueRecord> {
        let bottleneck = bottleneck.unwrap_or("unknown");
        self.seen.iter().find(|seen| seen.technique == technique && seen.bottleneck == bottleneck)
    }

    /// Text of the file, with a comment for its reader.
    #[must_use]
    pub fn text(&self) -> String {
        let mut sorted: BTreeMap<(&str, &str), &TechniqueRecord> = BTreeMap::new();
        for seen in &self.seen {
            sorted.insert((&seen.technique, &seen.bottleneck), seen);
        }
        let mut text = String::from(
            "// Observed speedups of techniques by bottleneck. Every search adds to this file; you can edit it.\n\
             // `gain`: geometric mean of the speedups; `spread`: standard deviation of their logarithms.\n\
             (\n    seen: [\n",
        );
        for TechniqueRecord { technique, bottleneck, uses, failures, gain, spread } in
            sorted.values()
        {
            writeln!(
                text,
                "        (technique: {technique:?}, bottleneck: {bottleneck:?}, uses: {uses}, failures: {failures}, gain: {gain:.4}, spread: {spread:.4}),"
            )
            .unwrap_or_default();
        }
        text + "    ],\n)\n"
    }
}

impl TechniqueRecord {
    /// Welford's update of mean and variance, on logarithms.
    fn use_once(&mut self, gain: f64) {
        let before = f64::from(self.uses);
        let mean = self.gain.ln();
        let step = gain - mean;
        let next = mean + step / (before + 1.0);
        let squares = self.spread * self.spread * before + step * (gain - next);
        self.uses += 1;
        self.gain = next.exp();
        self.spread = (squares / (before + 1.0)).sqrt();
    }

    fn merge(&mut self, more: &Self) {
        let (a, b) = (f64::from(self.uses), f64::from(more.uses));
        self.failures += more.failures;
        if b == 0.0 {
            return;
        }
        let (mean, other) = (self.gain.ln(), more.gain.ln());
        let all = a + b;
        let next = (mean * a + other * b) / all;
        let squares = a * (self.spread.powi(2) + (mean - next).powi(2))
            + b * (more.spread.powi(2) + (other - next).powi(2));
        self.uses += more.uses;
        self.gain = next.exp();
        self.spread = (squares / all).sqrt();
    }
}

/// Expected speedup that the playbook reports.
fn expected(technique: &str, bottleneck: Option<&str>) -> f64 {
    let Some(technique) = playbook().techniques.iter().find(|known| known.id == technique) else {
        return BESIDE_THE_POINT;
    };
    let helps = bottleneck.is_none_or(|bottleneck| relieves(technique, bottleneck));
    match (helps, &technique.gain) {
        (false, _) => BESIDE_THE_POINT,
        (true, Gain::Reported { from, to, .. }) => (from * to).sqrt(),
        (true, Gain::UpTo { .. }) => UNCOUNTED,
    }
}

fn relieves(technique: &Technique, bottleneck: &str) -> bool {
    technique.relieves.iter().any(|relief| bottleneck_name(*relief) == bottleneck)
}

/// Name of a bottleneck in the knowledge base.
#[must_use]
pub fn bottleneck_name(relief: Relief) -> &'static str {
    match relief {
        Relief::Launch => "launch",
        Relief::Memory => "memory",
        Relief::Shared => "shared",
        Relief::Issue => "issue",
        Relief::Compute => "compute",
        Relief::Atomics => "atomics",
        Relief::Waiting => "waiting",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_outweighs_what_was_expected() {
        let mut knowledge = Knowledge::default();
        let expected = knowledge.forecast("larger-blocks", Some("memory"), None);
        assert!(expected.gain > 1.1 && expected.confidence == 0.0, "{expected:?}");
        for _ in 0..20 {
            knowledge.learn("larger-blocks", Some("memory"), Some(2.0));
        }
        let seen = knowledge.forecast("larger-blocks", Some("memory"), None);
        assert!(seen.gain > 1.8 && seen.confidence > 0.9, "{seen:?}");
        let elsewhere = knowledge.forecast("larger-blocks", Some("atomics"), None);
        assert!(elsewhere.gain < 1.01, "{elsewhere:?}");
        for _ in 0..80 {
            knowledge.learn("larger-blocks", Some("memory"), None);
        }
        let failed = knowledge.forecast("larger-blocks", Some("memory"), None);
        assert!(failed.gain < 1.2, "{failed:?}");
    }

    #[test]
    fn means_and_spreads_are_those_of_all_uses() {
        let gains = [1.0_f64, 1.5, 2.0, 0.8];
        let (mut all, mut half, mut other) =
            (Knowledge::default(), Knowledge::default(), Knowledge::default());
        for (index, gain) in gains.iter().enumerate() {
            all.learn("x", None, Some(*gain));
            if index < 2 { &mut half } else { &mut other }.learn("x", None, Some(*gain));
        }
        half.merge(&other);
        let (a, b) = (&all.seen[0], &half.seen[0]);
        let mean = gains.iter().map(|gain| gain.ln()).sum::<f64>() / 4.0;
        assert!((a.gain.ln() - mean).abs() < 1e-12 && (b.gain / a.gain - 1.0).abs() < 1e-12);
        assert!((a.spread - b.spread).abs() < 1e-12 && a.uses == 4 && b.uses == 4);
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_the_seed_is_one() {
        let mut knowledge = Knowledge::seed();
        knowledge.learn("pad-shared", Some("shared"), Some(1.25));
        let again = Knowledge::parse(&knowledge.text()).unwrap();
        assert_eq!(again.seen.len(), knowledge.seen.len());
        assert_eq!(again.text(), knowledge.text());
        assert!(Knowledge::parse("(seen: [(technique: 3)])").is_err());
        for seen in &Knowledge::seed().seen {
            let known = playbook().techniques.iter().any(|known| known.id == seen.technique);
            assert!(known, "{} is no technique", seen.technique);
        }
    }
}
