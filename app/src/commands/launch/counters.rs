//! Counters of the virtual GPU: totals, and values per source line.
//!
//! A line has one row for each kind of memory access, so that the cost of a request appears next to its purpose.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lightbench_core::display_text::visible;
use lightbench_core::units::grouped;
use lightbench_core::virtual_gpu::cost::{Counters, Counts};
use unicode_width::UnicodeWidthStr as _;

use super::code::CompiledCode;
use crate::style::{DIM, STRONG};
use crate::table::Table;

/// Width of the table, in columns.
const WIDTH: usize = 118;

/// Gaps of up to this many lines without counts are still shown.
const GAP: u32 = 3;

/// Column titles.
const HEADINGS: [&str; 8] =
    [">instructions", ">lanes", "access", ">requests", ">each costs", ">useful", ">line", "source"];

/// Bytes of a sector, the unit of memory transfer.
const SECTOR: u64 = 32;

pub(super) fn counters_text(counters: &Counters, code: &CompiledCode) -> String {
    let mut text =
        format!("{STRONG}counted by the virtual GPU{STRONG:#}{DIM}, at PTX level{DIM:#}\n");
    text.push_str(&total(counters));
    text.push('\n');
    text + &lines(&by_line(counters, code), code)
}

/// Counts per line of the launched file; counts without a line are under 0.
pub(super) fn by_line(counters: &Counters, code: &CompiledCode) -> BTreeMap<u32, Counts> {
    let mut lines: BTreeMap<u32, Counts> = BTreeMap::new();
    for (ptx_line, counts) in &counters.ptx_lines {
        let line = code.source_line(*ptx_line).map_or(0, |own| own.line);
        lines.entry(line).or_default().add(counts);
    }
    lines
}

fn total(counters: &Counters) -> String {
    let counts = &counters.total;
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        writeln!(text, "  {name:<16}{value}").ok();
    };
    let lanes = counts.active_lanes().unwrap_or(0.0);
    row(
        "instructions",
        format!(
            "{} by warps, {} by threads: {lanes:.1} of 32 threads active",
            grouped(counts.warp_instructions),
            grouped(counts.thread_instructions)
        ),
    );
    for access in accesses(counts) {
        row(access.total_name, access.sentence());
    }
    if counters.compulsory_read_bytes + counters.compulsory_written_bytes > 0 {
        row(
            "distinct bytes",
            format!(
                "{} read, {} written: compulsory traffic with any cache",
                grouped(counters.compulsory_read_bytes),
                grouped(counters.compulsory_written_bytes)
            ),
        );
    }
    if counts.barriers > 0 {
        row("barriers", format!("{} arrivals of warps", grouped(counts.barriers)));
    }
    if counts.divergent_branches > 0 {
        let times = grouped(counts.divergent_branches);
        row("divergence", format!("{times} divergent branches"));
    }
    let flops = [
        ("f16/bf16", counters.flops.half),
        ("f32", counters.flops.single),
        ("f64", counters.flops.double),
    ];
    let flops: Vec<String> = flops
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{} {name}", grouped(*count)))
        .collect();
    if !flops.is_empty() {
        row("FLOP", flops.join(", "));
    }
    text
}

/// One kind of access: number of requests, cost per request, and the used fraction.
struct Access {
    name: &'static str,
    total_name: &'static str,
    requests: u64,
    /// The cost and its unit.
    paid: Option<(u64, &'static str)>,
    /// Used and transferred bytes.
    useful: Option<(u64, u64)>,
}

/// The kinds of access that occurred.
fn accesses(counts: &Counts) -> Vec<Access> {
    let global = |name, total_name, requests, sectors, bytes| Access {
        name,
        total_name,
        requests,
        paid: Some((sectors, "sectors")),
        useful: Some((bytes, SECTOR * sectors)),
    };
    let all = [
        global(
            "load",
            "global loads",
            counts.global_load_requests,
            counts.global_load_sectors,
            counts.global_load_distinct_bytes,
        ),
        global(
            "store",
            "global stores",
            counts.global_store_requests,
            counts.global_store_sectors,
            counts.global_store_distinct_bytes,
        ),
        Access {
            name: "shared",
            total_name: "shared memory",
            requests: counts.shared_requests,
            paid: Some((counts.shared_wavefronts, "passes")),
            useful: Some((
                counts.shared_wavefronts.saturating_sub(counts.shared_bank_conflicts),
                counts.shared_wavefronts,
            )),
        },
        Access {
            name: "atomic",
            total_name: "atomics",
            requests: counts.atomics,
            paid: None,
            useful: None,
        },
    ];
    all.into_iter().filter(|access| access.requests > 0).collect()
}

impl Access {
    fn each(&self) -> String {
        self.paid.map_or_else(String::new, |(paid, unit)| {
            format!("{:.1} {unit}", paid as f64 / self.requests as f64)
        })
    }

    fn percent(&self) -> String {
        match self.useful {
            Some((part, whole)) if whole > 0 => {
                format!("{:.0} %", part as f64 / whole as f64 * 100.0)
            }
            Some(_) | None => String::new(),
        }
    }

    fn sentence(&self) -> String {
        let requests = grouped(self.requests);
        match self.paid {
            None => format!("{requests} by threads"),
            Some((paid, unit)) => format!(
                "{requests} requests × {} = {} {unit}, {} useful",
                self.each(),
                grouped(paid),
                self.percent()
            ),
        }
    }
}

fn lines(lines: &BTreeMap<u32, Counts>, code: &CompiledCode) -> String {
    let mut table = Table::new(&HEADINGS).spare(&["lanes", "each costs", "requests"]);
    let source: Vec<&str> = code.file.source.lines().collect();
    let text_of = |line: u32| {
        let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        index.and_then(|index| source.get(index).copied()).unwrap_or_default()
    };
    let indent = common_indent(lines.keys().filter(|line| **line > 0).map(|line| text_of(*line)));
    let shown = |line: u32| {
        let text = text_of(line).replace('\t', "    ");
        let start = text.len() - text.trim_start().len();
        visible(text.get(start.min(indent)..).unwrap_or_default()).into_owned()
    };
    let mut last = None;
    for (line, counts) in lines.iter().filter(|(line, _)| **line > 0) {
        let skipped = last.map_or(0, |last: u32| line - last - 1);
        if skipped > GAP {
            table.row(["", "", "", "", "", "", "⋮", ""].map(str::to_owned));
        } else {
            for between in line - skipped..*line {
                let cells = ["", "", "", "", "", "", &between.to_string(), &shown(between)];
                table.row(cells.map(str::to_owned));
            }
        }
        last = Some(*line);
        add_line(&mut table, &line.to_string(), &shown(*line), counts);
    }
    if let Some(counts) = lines.get(&0) {
        add_line(&mut table, "", "(without a line in this file)", counts);
    }
    cut(&table.to_string())
}

fn add_line(table: &mut Table, line: &str, source: &str, counts: &Counts) {
    let accesses = accesses(counts);
    let lanes = counts.active_lanes().map_or_else(String::new, |lanes| format!("{lanes:.1}"));
    let first = accesses.first().map_or_else(<[String; 4]>::default, access_cells);
    let [kind, requests, each, useful] = first;
    let instructions = compact(counts.thread_instructions);
    let (line, source) = (line.to_owned(), source.to_owned());
    table.row([instructions, lanes, kind, requests, each, useful, line, source]);
    for access in accesses.iter().skip(1) {
        let [kind, requests, each, useful] = access_cells(access);
        let empty = String::new;
        table.row([empty(), empty(), kind, requests, each, useful, empty(), empty()]);
    }
}

fn access_cells(access: &Access) -> [String; 4] {
    [access.name.to_owned(), compact(access.requests), access.each(), access.percent()]
}

/// The common indentation of all nonblank lines.
fn common_indent<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let line = line.replace('\t', "    ");
            line.len() - line.trim_start().len()
        })
        .min()
        .unwrap_or(0)
}

/// The table with lines cut to the width.
fn cut(table: &str) -> String {
    let mut text = String::new();
    for line in table.lines() {
        if line.width() <= WIDTH {
            text.push_str(line);
        } else {
            text.extend(line.chars().take(WIDTH - 1));
            text.push('…');
        }
        text.push('\n');
    }
    text
}

/// At most five digits, or three and a unit: `98304`, `1.05 M`.
fn compact(number: u64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    if number < 100_000 {
        return number.to_string();
    }
    let value = number as f64;
    let (scale, unit) = units.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    let scaled = value / scale;
    let digits = if scaled >= 100.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use lightbench_core::explain::card;

    use super::*;

    #[test]
    fn every_number_is_explained() {
        let totals =
            ["global loads", "global stores", "shared memory", "atomics", "distinct bytes"];
        let others = ["barriers", "divergence", "FLOP"];
        for name in HEADINGS[..6].iter().chain(&totals).chain(&others) {
            assert!(card(name.trim_start_matches('>')).is_ok(), "{name}");
        }
    }

    #[test]
    fn large_numbers_stay_short() {
        let check = |number, expected: &str| assert_eq!(compact(number), expected);
        check(0, "0");
        check(99_999, "99999");
        check(100_000, "100 k");
        check(1_048_576, "1.05 M");
        check(12_345_678_901, "12.3 G");
    }
}
