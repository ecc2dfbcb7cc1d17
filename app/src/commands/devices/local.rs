//! `lightbench devices --local`: the GPUs of this machine as the driver describes them, and contradictions to it.

use std::fmt::Write as _;

use lightbench_core::device::{DescribedGpu, DriverAttributes, cuda};
use lightbench_core::speed_of_light::confirmation::PeakEvidence;
use serde_json::{Value, json};

use super::fields;
use crate::commands::evaluation_setup::load_calibration;
use crate::outcome::{Outcome, document};
use crate::report;
use crate::session::Session;

/// One GPU of this machine.
struct Local {
    name: String,
    attributes: DriverAttributes,
    described: DescribedGpu,
    /// Stated peaks that its calibration exceeds, and why a calibration is not used.
    evidence: PeakEvidence,
    notice: Option<String>,
}

/// Describes every GPU that the driver lists; runs no kernel.
pub(super) fn run(session: &Session, as_json: bool) -> Outcome {
    let all = match cuda::local_gpus() {
        Ok(all) => all,
        Err(error) => return report::environment(&error, as_json),
    };
    let mut found = Vec::new();
    for (ordinal, (attributes, uuid)) in all.into_iter().enumerate() {
        let described = match DescribedGpu::from_attributes(&attributes) {
            Ok(described) => described,
            Err(error) => return report::environment(&error, as_json),
        };
        let (calibration, notice) = load_calibration(session.state.as_deref(), &uuid);
        let evidence = PeakEvidence::new(&described.sheet, calibration.as_deref());
        found.push(Local {
            name: format!("cuda:{ordinal}"),
            attributes,
            described,
            evidence,
            notice,
        });
    }
    Outcome::passed(if as_json {
        let devices: Vec<Value> = found.iter().map(Local::json).collect();
        document(&json!({ "schema": "lightbench.devices.local/1", "devices": devices }))
    } else {
        found.iter().map(Local::text).collect::<Vec<_>>().join("\n")
    })
}

impl Local {
    fn json(&self) -> Value {
        let Self { name, attributes, described, evidence, notice } = self;
        let disagreements: Vec<String> =
            described.disagreements.iter().map(ToString::to_string).collect();
        let suspect: Vec<Value> = evidence
            .suspect
            .iter()
            .map(|one| json!({ "quantity": one.quantity.to_string(), "ratio": one.ratio, "message": one.to_string() }))
            .collect();
        json!({
            "device": name,
            "attributes": attributes,
            "sheet": described.applied,
            "description": described.sheet,
            "notes": described.notes,
            "disagreements": disagreements,
            "suspect_peaks": suspect,
            "calibration_notice": notice,
        })
    }

    fn text(&self) -> String {
        let Self { name, described, evidence, notice, .. } = self;
        let sheet = &described.sheet;
        let mut text = format!("{} · {name} · {}\n", sheet.title, sheet.architecture());
        let applied = match &described.applied {
            Some(applied) => {
                format!("the sheet `{applied}` describes this card and adds documented values")
            }
            None => {
                "no sheet describes this card: all values are derived from the driver's attributes"
                    .to_owned()
            }
        };
        let disagreements = described.disagreements.iter().map(ToString::to_string);
        let suspect = evidence.suspect.iter().map(ToString::to_string);
        let remarks = described.notes.iter().cloned().chain(disagreements).chain(suspect);
        for line in [applied].into_iter().chain(remarks).chain(notice.clone()) {
            // Writing to a String cannot fail.
            writeln!(text, "  {line}").ok();
        }
        text.push('\n');
        text += &fields(sheet);
        text
    }
}
