//! The evidence of a run: what panels show beyond its record. A new verdict and a run of the history show the same
//! document.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::Error as _;
use serde::{Deserialize, Serialize, ser};
use serde_json::{Value, json};

use super::document::{PassedReport, RunOutcome};
use crate::evaluate::Run;
use crate::history::record::{Outcome, RunRecord};
use crate::speed_of_light::performance_data::Profile;
use crate::verify::evidence;
use crate::verify::sentence;

/// The largest accepted evidence, decompressed: a history can come from another machine.
const LARGEST: u64 = 64 << 20;

/// The evidence of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvidence {
    /// The verdict in a sentence.
    pub sentence: String,
    /// Checks and times, or the failure.
    pub outcome: RunOutcome,
    /// Findings in the code that the project's policy permits, one text for each kind.
    pub permitted_findings: Vec<String>,
    /// The counters of the virtual GPU by timed workload, or why there are none.
    pub counters: BTreeMap<String, Result<Profile, String>>,
}

impl RunEvidence {
    /// The evidence of an evaluation of a kernel.
    #[must_use]
    pub fn new(kernel: &str, run: &Run) -> Self {
        let (mut permitted_findings, mut counters) = (Vec::new(), BTreeMap::new());
        let outcome = match &run.verdict {
            Ok(passed) => {
                permitted_findings = evidence::summarize(&passed.checks.evidence);
                for timed in &passed.timings {
                    let profile = timed.profile.as_ref().map_err(ToString::to_string).cloned();
                    counters.insert(timed.workload.clone(), profile);
                }
                RunOutcome::Passed { passed: passed.into() }
            }
            Err(reason) => RunOutcome::NotPassed(reason.into()),
        };
        let sentence = sentence::verdict(kernel, &run.verdict);
        Self { sentence, outcome, permitted_findings, counters }
    }

    /// The evidence of a failure, which its record holds; `None` for a run that passed or whose evidence is in a format of
    /// another version.
    #[must_use]
    pub fn from_failed(record: &RunRecord) -> Option<Self> {
        let Outcome::Failed { word, sentence, evidence } = &record.outcome else { return None };
        let details: Value = json!({ word.as_str(): evidence });
        Some(Self {
            sentence: sentence.clone(),
            outcome: RunOutcome::NotPassed(serde_json::from_value(details).ok()?),
            permitted_findings: Vec::new(),
            counters: BTreeMap::new(),
        })
    }

    /// Checks and times, if the run passed.
    #[must_use]
    pub const fn passed(&self) -> Option<&PassedReport> {
        match &self.outcome {
            RunOutcome::Passed { passed } => Some(passed),
            RunOutcome::NotPassed(_) => None,
        }
    }

    /// The compressed form, which a history stores.
    ///
    /// # Errors
    /// A value has no JSON form.
    pub fn compressed(&self) -> serde_json::Result<Vec<u8>> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(&mut encoder, self)?;
        encoder.finish().map_err(ser::Error::custom)
    }

    /// Reads the compressed form.
    ///
    /// # Errors
    /// It is damaged, too large or of another version.
    pub fn from_compressed(bytes: &[u8]) -> serde_json::Result<Self> {
        let mut text = Vec::new();
        let mut decoder = ZlibDecoder::new(bytes).take(LARGEST);
        decoder.read_to_end(&mut text).map_err(serde_json::Error::custom)?;
        serde_json::from_slice(&text)
    }
}
