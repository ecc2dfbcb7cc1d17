//! The raw page of Nsight Compute as comma-separated values: a row of names, a row of units, and a row for each launch.
//!
//! Messages that begin with `==` may precede or follow the table. Numbers may have thousands separators.

use std::collections::BTreeMap;

/// The start of the header row.
const FIRST_NAME: &str = "ID";

/// The prefix of messages.
const MESSAGE: &str = "==";

/// One profiled launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The kernel, by its readable name.
    pub kernel: String,
    /// Blocks, as the profiler writes it.
    pub grid: String,
    /// Threads of a block, as the profiler writes it.
    pub block: String,
    /// The metrics by name; a metric that is not available has no value.
    pub cells: BTreeMap<String, Cell>,
}

/// One number with its unit, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The number.
    pub value: f64,
    /// `ns`, `byte`, `%` and their like; empty for a plain number.
    pub unit: String,
}

/// Why a text has no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The output has no header row.
    #[error("Nsight Compute wrote no table")]
    Missing,
    /// There are names and nothing else.
    #[error("Nsight Compute wrote a table without a launch")]
    Empty,
    /// The rows after the header are malformed.
    #[error("the table of Nsight Compute cannot be read: {0}")]
    Damaged(String),
}

/// Reads the table in the profiler's output.
///
/// # Errors
/// The output has no table with at least one launch.
pub fn read(text: &str) -> Result<Vec<Row>, TableError> {
    let lines = text.lines().skip_while(|line| !is_names(line));
    let mut table = String::new();
    for line in lines.filter(|line| !line.starts_with(MESSAGE)) {
        table.push_str(line);
        table.push('\n');
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table.as_bytes());
    let mut records = reader.records();
    let names = records.next().ok_or(TableError::Missing)?.map_err(damaged)?;
    let mut units = csv::StringRecord::new();
    let mut rows = Vec::new();
    for record in records {
        let record = record.map_err(damaged)?;
        match record.get(0).map(str::trim) {
            // The row of units, which is empty in the first columns.
            Some("") | None => units = record,
            Some(number) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
                rows.push(row(&names, &units, &record));
            }
            Some(other) => return Err(TableError::Damaged(format!("a launch called `{other}`"))),
        }
    }
    if rows.is_empty() { Err(TableError::Empty) } else { Ok(rows) }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn damaged(error: csv::Error) -> TableError {
    TableError::Damaged(error.to_string())
}

fn is_names(line: &str) -> bool {
    let rest = line.strip_prefix('"').and_then(|line| line.strip_prefix(FIRST_NAME));
    rest.is_some_and(|rest| rest.starts_with("\","))
}

fn row(names: &csv::StringRecord, units: &csv::StringRecord, record: &csv::StringRecord) -> Row {
    let text = |name: &str| {
        let column = names.iter().position(|own| own == name);
        column.and_then(|column| record.get(column)).unwrap_or_default().trim().to_owned()
    };
    let cell = |(column, name): (usize, &str)| {
        let value = number(record.get(column)?)?;
        let unit = units.get(column).unwrap_or_default().trim().to_owned();
        Some((name.to_owned(), Cell { value, unit }))
    };
    Row {
        kernel: text("Kernel Name"),
        grid: text("Grid Size"),
        block: text("Block Size"),
        // Only metrics have two underscores in a row in their names.
        cells: names
            .iter()
            .enumerate()
            .filter(|(_, name)| name.contains("__"))
            .filter_map(cell)
            .collect(),
    }
}

/// A number with or without thousands separators; `None` if the cell has no number.
fn number(text: &str) -> Option<f64> {
    let digits: String = text.trim().chars().filter(|letter| *letter != ',').collect();
    let begins = digits.strip_prefix('-').unwrap_or(&digits);
    if !begins.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return None;
    }
    digits.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","dram__bytes_read.sum","lts__t_sector_hit_rate.pct""#;
    const UNITS: &str = r#""","","","","","","","","","","","ns","byte","%""#;

    fn launch(kernel: &str, cells: &str) -> String {
        let place = r#""4242","lightbench","127.0.0.1""#;
        format!(
            "\"0\",{place},\"{kernel}\",\"1\",\"7\",\"(256, 1, 1)\",\"(16384, 1, 1)\",\"0\",\"9.0\",{cells}"
        )
    }

    /// A kernel and its three values.
    type Launched<'a> = (&'a str, &'a [Option<f64>]);

    fn check(lines: &[&str], expected: Result<&[Launched<'_>], TableError>) {
        let read = read(&lines.join("\n"));
        let names =
            ["gpu__time_duration.sum", "dram__bytes_read.sum", "lts__t_sector_hit_rate.pct"];
        let found = read.map(|rows| {
            let values = |row: &Row| {
                names.iter().map(|name| row.cells.get(*name).map(|cell| cell.value)).collect()
            };
            rows.iter().map(|row| (row.kernel.clone(), values(row))).collect::<Vec<_>>()
        });
        let expected = expected.map(|rows| {
            rows.iter().map(|(kernel, values)| ((*kernel).to_owned(), values.to_vec())).collect()
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_are_launches_and_messages_are_none() {
        let kernel = "void softmax<256, 1>(const float *, float *, long)";
        let row = launch(kernel, r#""128,352","1,073,741,824","49.97""#);
        let second = launch("scale", r#""5472","12",".5""#);
        check(
            &[
                "==PROF== Connected to process 4242 (/usr/bin/lightbench)",
                "==PROF== Profiling \"softmax\" - 0: 0%....50%....100% - 8 passes",
                "==PROF== Disconnected from process 4242",
                NAMES,
                UNITS,
                &row,
                "==WARNING== a message in between",
                &second,
            ],
            Ok(&[
                (kernel, &[Some(128_352.0), Some(1_073_741_824.0), Some(49.97)]),
                ("scale", &[Some(5472.0), Some(12.0), Some(0.5)]),
            ]),
        );
    }

    #[test]
    fn a_metric_that_is_not_available_has_no_value() {
        for nothing in ["", "n/a", "N/A", "nan", "-nan", "inf", "(!) nan", "-"] {
            let row = launch("scale", &format!("\"5472\",\"{nothing}\",\"3\""));
            check(&[NAMES, UNITS, &row], Ok(&[("scale", &[Some(5472.0), None, Some(3.0)])]));
        }
        // A row that was cut off.
        let row = launch("scale", "\"5472\"");
        check(&[NAMES, UNITS, &row], Ok(&[("scale", &[Some(5472.0), None, None])]));
    }

    #[test]
    fn quotes_in_names_of_kernels_are_part_of_them() {
        let row = launch(r#"void f<(char)""x"", 2>()"#, r#""1","2","3""#);
        let expected = [Some(1.0), Some(2.0), Some(3.0)];
        check(&[NAMES, UNITS, &row], Ok(&[(r#"void f<(char)"x", 2>()"#, &expected)]));
    }

    #[test]
    fn units_and_sizes_are_kept_as_they_are_written() {
        let text = [NAMES, UNITS, &launch("scale", r#""1","2","3""#)].join("\n");
        let rows = read(&text).unwrap();
        assert_eq!(rows[0].cells["gpu__time_duration.sum"].unit, "ns");
        assert_eq!(
            (rows[0].grid.as_str(), rows[0].block.as_str()),
            ("(16384, 1, 1)", "(256, 1, 1)")
        );
        assert!(!rows[0].cells.contains_key("Process ID"));
    }

    #[test]
    fn a_text_without_launches_is_no_table() {
        check(&[], Err(TableError::Missing));
        check(&["==ERROR== ERR_NVGPUCTRPERM", "no table"], Err(TableError::Missing));
        check(&[NAMES], Err(TableError::Empty));
        check(&[NAMES, UNITS, "==WARNING== No kernels were profiled."], Err(TableError::Empty));
        let error = TableError::Damaged("a launch called `printed`".to_owned());
        check(
            &[NAMES, UNITS, "printed by somebody"],
            Err(TableError::Damaged("a launch called `printed by somebody`".to_owned())),
        );
        check(&[NAMES, UNITS, "printed,1"], Err(error));
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in any::<String>(), cells in r#"[ -~"\n,=]{0,80}"#) {
            let _any = read(&text);
            let _any = read(&format!("{NAMES}\n{UNITS}\n{cells}\n{text}"));
        }
    }
}
