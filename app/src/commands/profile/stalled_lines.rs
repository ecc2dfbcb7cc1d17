//! Source lines with warp stalls, as text and JSON.

use lightbench_core::display_text::visible;
use lightbench_core::nsight::stalls::{StalledLine, Stalls};
use lightbench_core::project::Kernel;
use serde_json::{Map, Value, json};

use crate::table::Table;

/// Maximum number of lines in the text form; JSON has all.
const MOST_LINES: usize = 10;
/// Maximum number of stall reasons per line.
const MOST_REASONS: usize = 3;
/// Maximum number of shown characters of a source line.
const MOST_LETTERS: usize = 48;

/// The lines with the most samples, with their text and stall reasons.
pub(super) fn text(stalls: &Stalls, kernel: &Kernel) -> String {
    let inlined = if stalls.overlap() { "; inlined code counts at each of its lines" } else { "" };
    let mut text = format!("warp stalls by line, of {} samples{inlined}:\n", stalls.samples);
    let mut table = Table::new(&[">", "", "", ""]);
    for line in stalls.lines.iter().take(MOST_LINES) {
        let share = percent(stalls.share(line.samples));
        let place = format!("{}:{}", visible(&line.file), line.line);
        table.row([share, place, source(line, kernel), reasons(line)]);
    }
    // Skips the empty line of titles.
    text.extend(table.to_string().lines().skip(1).map(|line| format!("  {line}\n")));
    let more = stalls.lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        text += &format!("  and {more} more; `--json` has all\n");
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The source line of the kernel file, or the machine instruction if the line is elsewhere.
fn source(line: &StalledLine, kernel: &Kernel) -> String {
    let own = std::path::Path::new(&line.file) == kernel.file;
    let at = (line.line as usize).checked_sub(1).filter(|_| own);
    let known = at.and_then(|at| kernel.source.lines().nth(at)).map(str::trim);
    let text = visible(known.unwrap_or(&line.instruction));
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.into_owned(),
    }
}

fn reasons(line: &StalledLine) -> String {
    let part = |count: u64| count as f64 / line.samples.max(1) as f64;
    let named = line.reasons.iter().take(MOST_REASONS);
    let named =
        named.map(|(reason, count)| format!("{} {:.0} %", reason.title, part(*count) * 100.0));
    named.collect::<Vec<_>>().join(", ")
}

/// Every line with every number.
pub(super) fn json(stalls: &Result<Stalls, String>) -> Value {
    match stalls {
        Ok(stalls) => json!({
            "samples": stalls.samples,
            "lines": stalls.lines.iter().map(|line| line_json(stalls, line)).collect::<Vec<_>>(),
        }),
        Err(why) => json!({ "none_because": why }),
    }
}

fn line_json(stalls: &Stalls, line: &StalledLine) -> Value {
    let reasons: Map<String, Value> = line
        .reasons
        .iter()
        .map(|(reason, count)| (reason.column.clone(), (*count).into()))
        .collect();
    json!({
        "file": line.file,
        "line": line.line,
        "samples": line.samples,
        "share": stalls.share(line.samples),
        "reasons": reasons,
        "instruction": line.instruction,
    })
}
