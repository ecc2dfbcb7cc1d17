//! The report as Markdown, for a pull request: the kernels, the times and the environment.

use lightbench_primitives::display_text::visible;

use super::Page;

/// The page as tables.
#[must_use]
pub fn markdown(page: &Page) -> String {
    let mut text = format!("### {}\n", cell(&page.title));
    let kernels = page.kernels.iter().map(|line| {
        let newest = &line.newest;
        [&line.kernel, &newest.verdict, &newest.time, &line.best, &newest.device, &newest.remark]
            .map(String::as_str)
    });
    text += &table(["kernel", "verdict", "time", "best", "device", "remark"], kernels);
    text += "\nCold times; over several workloads their geometric mean.\n";
    if !page.times.is_empty() {
        let times = page.times.iter().map(|line| {
            [
                &line.kernel,
                &line.workload,
                &line.mode,
                &line.clock,
                &line.median,
                &line.interval,
                &line.standing,
                &line.limiter,
                &line.baselines,
            ]
            .map(String::as_str)
        });
        let headings = [
            "kernel",
            "workload",
            "mode",
            "clock",
            "median",
            "95 % interval, or range of the model",
            "of the speed of light",
            "limited by",
            "baselines",
        ];
        text += &table(headings, times);
    }
    let environments = page
        .environments
        .iter()
        .map(|line| [&line.device, &line.versions, &line.runs].map(String::as_str));
    text += &table(["device", "versions", "runs"], environments);
    text
}

fn table<'a, const N: usize>(
    headings: [&str; N],
    rows: impl Iterator<Item = [&'a str; N]>,
) -> String {
    let line = |cells: [String; N]| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("\n{}", line(headings.map(str::to_owned)));
    text += &line(headings.map(|_| "---".to_owned()));
    for row in rows {
        text += &line(row.map(cell));
    }
    text
}

/// A text that stays in its cell and means nothing but itself: every character that Markdown or HTML could take for its
/// own is written as an entity, `@` too, so that nobody is notified, and the colon, so that no address of any scheme is
/// made a link. Control and directional characters are written out.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let line = text.replace(['\n', '\r'], " ");
    for character in visible(&line).chars() {
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '&'
            | '~' | '@' | '$' | ':' => cell.push_str(&format!("&#{};", u32::from(character))),
            _ => cell.push(character),
        }
    }
    cell
}
