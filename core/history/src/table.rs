//! Runs as a table for spreadsheets.

use lightbench_primitives::display_text::in_spreadsheet;

use super::label::Label;
use super::record::{Outcome, RunRecord};
use super::store::{Provenance, StoredRun};
use super::timing::{Clock, Mode};

const HEADINGS: [&str; 18] = [
    "run",
    "provenance",
    "made_at",
    "project",
    "kernel",
    "parameters",
    "candidate",
    "parent",
    "origin",
    "device",
    "verdict",
    "cold_median_seconds",
    "clock",
    "workloads",
    "seed",
    "sentence",
    "label",
    "sol_score",
];

/// The runs as comma-separated values with a header line.
///
/// Texts from files are escaped so that spreadsheets do not evaluate them as formulas.
///
/// # Errors
/// The table cannot be written, which does not happen in memory.
pub fn csv<'a>(runs: impl IntoIterator<Item = &'a StoredRun>) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADINGS)?;
    for run in runs {
        writer.write_record(cells(run))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn cells(run: &StoredRun) -> [String; HEADINGS.len()] {
    let record = &run.record;
    let provenance = match run.provenance {
        Provenance::Own => "own",
        Provenance::Recorded => "recorded",
    };
    let parameters =
        record.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    let sentence = match &record.outcome {
        Outcome::Passed { .. } => "",
        Outcome::Failed { sentence, .. } => sentence,
    };
    [
        run.number.to_string(),
        provenance.to_owned(),
        record.made_at.to_string(),
        in_spreadsheet(&record.project),
        in_spreadsheet(&record.kernel),
        in_spreadsheet(&parameters.join(" ")),
        in_spreadsheet(record.candidate.as_deref().unwrap_or_default()),
        in_spreadsheet(record.parent.as_deref().unwrap_or_default()),
        in_spreadsheet(&record.origin.to_string()),
        in_spreadsheet(&record.device.name),
        record.verdict().to_owned(),
        record.score().map_or_else(String::new, |score| format!("{:e}", score.seconds.0)),
        in_spreadsheet(&clock(record)),
        record.workloads.len().to_string(),
        record.seed.map_or_else(String::new, |seed| seed.to_string()),
        in_spreadsheet(sentence),
        in_spreadsheet(run.label.as_ref().map_or("", Label::as_str)),
        record.sol_score().map_or_else(String::new, |score| format!("{score:.4}")),
    ]
}

fn clock(record: &RunRecord) -> String {
    let cold = record.timings().iter().find(|timing| timing.mode == Mode::Cold);
    match cold.map(|timing| &timing.clock) {
        Some(Clock::Measured { method }) => format!("measured {method}"),
        Some(Clock::Modelled) => "modelled".to_owned(),
        Some(Clock::Unstated) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunNumber;
    use crate::fixture::{failed, passed};

    #[test]
    fn no_cell_is_a_formula() {
        for (text, cell) in [
            ("plain", "plain"),
            ("", ""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\\t=1"),
            ("\r=1", "\\r=1"),
            ("a\n=1", "a\\n=1"),
        ] {
            assert_eq!(in_spreadsheet(text), cell, "{text:?}");
        }
    }

    #[test]
    fn a_table_has_a_line_for_each_run() {
        let stored = |number, record| StoredRun {
            number: RunNumber(number),
            provenance: Provenance::Own,
            label: Label::typed("=label").unwrap(),
            record,
        };
        let runs = [
            stored(2, passed("naive", "a", Some(1.25e-5)).0),
            stored(1, failed("=cmd|'/c calc'!A1", "b,\"c\"").0),
        ];
        let table = csv(&runs).unwrap();
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("run,provenance,made_at,project,kernel,"));
        assert!(
            lines[1].contains(",passed,1.25e-5,measured cupti,1,18446744073709551615,"),
            "{}",
            lines[1]
        );
        assert!(lines[2].contains(",'=cmd|'/c calc'!A1,"), "{}", lines[2]);
        let labels = lines.iter().skip(1).filter(|line| line.contains(",'=label"));
        assert_eq!(labels.count(), 2, "{table}");
        assert!(lines[2].contains(",\"b,\"\"c\"\"\","), "{}", lines[2]);
        let read: Vec<_> = csv::Reader::from_reader(table.as_bytes())
            .records()
            .map(|line| line.unwrap()[6].to_owned())
            .collect();
        assert_eq!(read, ["a", "b,\"c\""]);
    }
}
