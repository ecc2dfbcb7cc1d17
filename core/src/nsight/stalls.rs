//! Stall samples for each source line, from the source page of Nsight Compute.
//!
//! The profiler samples each multiprocessor periodically while the kernel runs, and records the location of a warp and its
//! stall reason. The page (`--page source --csv --print-source cuda,sass`) has a table for each source file: a row for a
//! line with the sums of its instructions, and below it a row for each instruction; only instruction rows have an address.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::metric::{Reason, reason};
use crate::compile::source_names::SourceNames;

/// The first columns of header rows, and the names of the file and address columns.
const LINE: &str = "Line No";
const FILE: &str = "File Path";
const ADDRESS: &str = "Address";

/// The prefix of sample columns; columns in brackets count samples in which no other warp was issued either.
const STALL: &str = "stall_";

/// Not a stall: the warp was issued.
const ISSUED: &str = "selected";

/// The prefix of messages.
const MESSAGE: &str = "==";

/// The warp stalls of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// All samples of stalled warps.
    pub samples: u64,
    /// Lines at which some did, those with the most first.
    pub lines: Vec<StalledLine>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalledLine {
    /// The file name.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// Samples of stalled warps at this line.
    pub samples: u64,
    /// The stall reasons, most frequent first.
    pub reasons: Vec<(Reason, u64)>,
    /// The machine instruction with the most samples.
    pub instruction: String,
}

impl Stalls {
    /// Whether inlined code belongs to several lines, so that the fractions of all lines exceed the whole.
    #[must_use]
    pub fn overlap(&self) -> bool {
        self.lines.iter().map(|line| line.samples).sum::<u64>() > self.samples
    }

    /// The fraction of all samples.
    #[must_use]
    pub fn share(&self, samples: u64) -> f64 {
        if self.samples == 0 { 0.0 } else { samples as f64 / self.samples as f64 }
    }
}

/// The reason why a text has no stall samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StallsError {
    /// The text has no table with stall reasons.
    #[error("Nsight Compute wrote no table of source lines")]
    Missing,
    /// No warp was seen waiting: the launch was too short for a sample.
    #[error("the launch was too short for Nsight Compute to see a warp waiting")]
    Short,
}

/// Reads the tables in the profiler's output.
///
/// # Errors
/// The output has no table, or only empty tables.
pub fn read(text: &str) -> Result<Stalls, StallsError> {
    let mut reading = Reading::default();
    for line in text.lines().filter(|line| !line.starts_with(MESSAGE)) {
        reading.row(&cells(line));
    }
    let columns = reading.columns.filter(|columns| !columns.reasons.is_empty());
    columns.ok_or(StallsError::Missing)?;
    let mut lines: Vec<StalledLine> =
        reading.sums.into_iter().filter_map(|((file, line), sum)| sum.line(&file, line)).collect();
    lines.sort_by_key(|line| Reverse(line.samples));
    match reading.samples {
        0 => Err(StallsError::Short),
        samples => Ok(Stalls { samples, lines }),
    }
}

/// The cells of one line. Lines are read one by one, so that an unclosed quote does not affect other lines.
fn cells(line: &str) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The meaning of the columns.
#[derive(Debug)]
struct Columns {
    line: usize,
    address: usize,
    /// By the name that the profiler has for the reason.
    reasons: Vec<(usize, String)>,
}

impl Columns {
    fn from_names(names: &[String]) -> Option<Self> {
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        let sampled = |(column, name): (usize, &String)| {
            let reason = name.strip_prefix(STALL)?;
            (!reason.ends_with(')') && reason != ISSUED).then(|| (column, reason.to_owned()))
        };
        let reasons = names.iter().enumerate().filter_map(sampled).collect();
        Some(Self { line: at(LINE)?, address: at(ADDRESS)?, reasons })
    }
}

/// The state of reading.
#[derive(Debug, Default)]
struct Reading {
    columns: Option<Columns>,
    file: String,
    line: Option<u32>,
    sums: BTreeMap<(String, u32), Sum>,
    samples: u64,
    /// The instructions of the current launch: an inlined instruction appears below several lines and counts once. An
    /// instruction that repeats at the same line belongs to the next launch.
    rows: BTreeSet<(String, u32, String)>,
    addresses: BTreeSet<String>,
}

/// The samples of a line.
#[derive(Debug, Default)]
struct Sum {
    reasons: BTreeMap<String, u64>,
    instructions: BTreeMap<String, u64>,
}

impl Reading {
    fn row(&mut self, cells: &[String]) {
        match (cells.first().map(String::as_str), cells.get(1)) {
            (Some(FILE), Some(file)) => file.clone_into(&mut self.file),
            (Some(LINE), _) => {
                self.columns = Columns::from_names(cells);
                self.line = None;
            }
            (Some(_), _) => self.numbers(cells),
            (None, _) => {}
        }
    }

    fn numbers(&mut self, cells: &[String]) {
        let Some(columns) = &self.columns else { return };
        let cell = |column: usize| cells.get(column).map(String::as_str).unwrap_or_default();
        if let Ok(line) = cell(columns.line).parse() {
            self.line = Some(line);
        }
        let address = cell(columns.address);
        // Empty, a dash, or dots if instructions of other lines are in between.
        let is_address = address.starts_with(|letter: char| letter.is_ascii_hexdigit());
        let Some(line) = self.line.filter(|_| is_address) else { return };
        let samples = |(column, reason): &(usize, String)| {
            let count = number(cell(*column)).filter(|count| *count > 0)?;
            Some((reason.clone(), count))
        };
        let samples: Vec<(String, u64)> = columns.reasons.iter().filter_map(samples).collect();
        let all: u64 = samples.iter().map(|(_, count)| count).sum();
        let row = (self.file.clone(), line, address.to_owned());
        if !self.rows.insert(row.clone()) {
            self.rows = BTreeSet::from([row]);
            self.addresses.clear();
        }
        if self.addresses.insert(address.to_owned()) {
            self.samples += all;
        }
        let sum = self.sums.entry((self.file.clone(), line)).or_default();
        for (reason, count) in samples {
            *sum.reasons.entry(reason).or_default() += count;
        }
        *sum.instructions.entry(cell(columns.address + 1).to_owned()).or_default() += all;
    }
}

impl Sum {
    fn line(self, file: &str, line: u32) -> Option<StalledLine> {
        let samples = self.reasons.values().sum();
        let file = SourceNames::default().display_name(file).to_owned();
        let mut reasons: Vec<(Reason, u64)> =
            self.reasons.into_iter().map(|(column, count)| (reason(&column), count)).collect();
        reasons.sort_by_key(|(_, count)| Reverse(*count));
        let most = self.instructions.into_iter().max_by_key(|(_, count)| *count);
        let instruction = most.map(|(text, _)| text).unwrap_or_default();
        (samples > 0).then_some(StalledLine { file, line, samples, reasons, instruction })
    }
}

/// An integer with or without thousands separators.
fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|letter| *letter != ',').collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: &str = r##""Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","# Samples","stall_barrier","stall_long_sb","stall_selected","stall_long_sb (Not Issued)""##;

    fn file(name: &str) -> String {
        format!("\"File Path\",\"{name}\"\n\"Function Name\",\"scale(float *)\"\n{NAMES}")
    }

    /// A line with its sums, which are skipped: its instructions have the same samples.
    fn line(number: u32, samples: u64) -> String {
        format!(
            "\"{number}\",\"  x[i] = \"\"a\"\";\",\"-\",\"\",\"{samples}\",\"{samples}\",\"0\",\"{samples}\",\"0\",\"0\""
        )
    }

    fn instruction(address: &str, text: &str, [barrier, long, issued]: [u64; 3]) -> String {
        let all = barrier + long + issued;
        format!(
            "\"\",\"\",\"{address}\",\"  {text} \",\"{all}\",\"{all}\",\"{barrier}\",\"{long}\",\"{issued}\",\"{long}\""
        )
    }

    fn check(rows: &[String], samples: u64, expected: &[(&str, u32, u64, &str, &str)]) {
        let stalls = read(&rows.join("\n")).unwrap();
        let found: Vec<_> = stalls
            .lines
            .iter()
            .map(|each| {
                let (reason, _) = &each.reasons[0];
                let (file, title) = (each.file.as_str(), reason.title.as_str());
                (file, each.line, each.samples, title, each.instruction.as_str())
            })
            .collect();
        assert_eq!((stalls.samples, found.as_slice()), (samples, expected));
    }

    #[test]
    fn instructions_are_summed_by_line_and_what_was_issued_did_not_wait() {
        check(
            &[
                "==PROF== Connected to process 7".to_owned(),
                file("/lightbench/kernels/scale.cu"),
                line(12, 100),
                instruction("0x7f10", "LDG.E R2, [R2]", [0, 3, 5]),
                "\"\",\"\",\"...\",\"\",\"-\",\"-\",\"-\",\"-\",\"-\",\"-\"".to_owned(),
                instruction("0x7f20", "FMUL R2, R2, R4", [0, 1_097, 2]),
                line(14, 40),
                instruction("0x7f30", "BAR.SYNC", [40, 0, 1]),
                line(15, 0),
                instruction("0x7f40", "EXIT", [0, 0, 9]),
            ],
            1140,
            &[
                ("kernels/scale.cu", 12, 1100, "long scoreboard", "FMUL R2, R2, R4"),
                ("kernels/scale.cu", 14, 40, "barrier", "BAR.SYNC"),
            ],
        );
    }

    /// Some lines of softmax `naive` on an H200, by Nsight Compute 2025.3.1, with their first or busiest instructions.
    #[test]
    fn a_page_of_an_h200_is_read() {
        let page = include_str!("../../../tests/data/nsight/source-page.csv");
        let stalls = read(page).unwrap();
        let found: Vec<(u32, u64)> =
            stalls.lines.iter().map(|line| (line.line, line.samples)).collect();
        assert_eq!(found, [(39, 231_462), (24, 61_463), (14, 26), (16, 5), (15, 3)]);
        assert_eq!((stalls.samples, stalls.overlap()), (292_959, false));
        let first = &stalls.lines[0];
        assert_eq!(first.file, "kernels/naive.cu");
        assert_eq!(first.instruction, "FADD R11, R11, -R2");
        let (reason, count) = &first.reasons[0];
        assert_eq!((reason.title.as_str(), *count), ("long scoreboard", 231_455));
    }

    #[test]
    fn what_was_inlined_counts_once_in_all_and_launches_are_added() {
        let launch = [
            file("a.cu"),
            line(3, 8),
            instruction("7f10", "LDG", [0, 8, 0]),
            file("b.cuh"),
            line(9, 8),
            instruction("7f10", "LDG", [0, 8, 0]),
        ];
        let twice: Vec<String> = launch.iter().chain(&launch).cloned().collect();
        let of = |samples| {
            [
                ("a.cu", 3, samples, "long scoreboard", "LDG"),
                ("b.cuh", 9, samples, "long scoreboard", "LDG"),
            ]
        };
        assert!(read(&launch.join("\n")).unwrap().overlap());
        check(&launch, 8, &of(8));
        check(&twice, 16, &of(16));
    }

    #[test]
    fn numbers_may_have_separators_and_reasons_may_be_new() {
        let names = NAMES.replace("stall_barrier", "stall_warp_magic");
        let row = "\"\",\"\",\"0x10\",\"LDG\",\"1,002\",\"1,002\",\"1,002\",\"0\",\"0\",\"0\"";
        check(&[names, line(1, 0), row.to_owned()], 1002, &[("", 1, 1002, "warp magic", "LDG")]);
    }

    #[test]
    fn a_text_without_samples_is_no_table_of_them() {
        assert_eq!(read(""), Err(StallsError::Missing));
        assert_eq!(read("==ERROR== no report"), Err(StallsError::Missing));
        assert_eq!(
            read("\"Line No\",\"Source\",\"Address\",\"Source\""),
            Err(StallsError::Missing)
        );
        let idle = [file("a.cu"), line(1, 0), instruction("0x10", "EXIT", [0, 0, 4])];
        assert_eq!(read(&idle.join("\n")), Err(StallsError::Short));
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in any::<String>(), cells in r#"[ -~"\n,]{0,80}"#) {
            let _any = read(&text);
            let _any = read(&format!("{NAMES}\n{cells}\n{text}"));
        }
    }
}
