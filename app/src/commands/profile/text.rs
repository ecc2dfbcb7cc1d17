//! A profile as text: the metrics of each launch in groups, with a sentence each.

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::display_text::visible;
use lightbench_core::nsight::{Hardware, MOST_LAUNCHES, Measured, Profile, ProfiledLaunch};
use lightbench_core::verify::sentence;

use super::{CONDITIONS, ProfileReport, stalled_lines};
use crate::table::Table;

pub(super) fn report_text(report: &ProfileReport<'_>) -> String {
    let ProfileReport { request, chosen, run, hardware, written } = report;
    let Hardware { profile, stalls } = hardware;
    let title = &request.project.definition.title;
    let verdict = sentence::verdict(&request.kernel().name, &run.verdict);
    let mut text = format!("{title} · {}\n\n", chosen.title);
    text.push_str(&format!("{}\n", with_readable_names(&verdict)));
    let (set, workload) = (&request.set, &request.workload().name);
    text.push_str(&format!("set `{}`: {}; workload `{workload}`\n", set.name, set.what));
    text.push_str(&format!("{CONDITIONS}; compare times from `lightbench run` instead\n"));
    for (index, launch) in profile.launches.iter().enumerate() {
        text.push('\n');
        text.push_str(&launch_text(index, profile, launch));
    }
    if let Ok(stalls) = stalls {
        text.push('\n');
        text.push_str(&stalled_lines::text(stalls, request.kernel()));
    }
    if let Some((file, viewer)) = written {
        let file = file.display();
        text.push_str(&format!("\nreport: {file}; `ncu-ui {file}` opens it"));
        text.push_str(&format!(", `ncu --import {file} --page details` prints it\n"));
        text.extend(viewer.line().map(|line| format!("{line}\n")));
    }
    text
}

/// Notices about the profile.
pub(super) fn notices(Hardware { profile, stalls }: &Hardware) -> Vec<String> {
    let mut all = Vec::new();
    if let Err(why) = stalls {
        all.push(format!("warp stalls by line are unavailable: {why}"));
    }
    if !profile.unknown.is_empty() {
        let names = profile.unknown.join(", ");
        all.push(format!(
            "Nsight Compute has no metric {names} for this GPU; the others were measured"
        ));
    }
    if profile.in_all > MOST_LAUNCHES {
        let in_all = profile.in_all;
        all.push(format!("of {in_all} launches only the first {MOST_LAUNCHES} were profiled"));
    }
    all
}

fn launch_text(index: usize, profile: &Profile, launch: &ProfiledLaunch) -> String {
    let ProfiledLaunch { kernel, grid, block, measured } = launch;
    let (number, in_all) = (index + 1, profile.in_all);
    let mut text = format!(
        "launch {number} of {in_all}: {}, grid {}, block {}\n",
        visible(kernel),
        visible(grid),
        visible(block)
    );
    let mut table = Table::new(&["", "", ">", ""]);
    let mut group = None;
    for Measured { metric, quantity } in grouped(measured) {
        let is_new = group.replace(metric.group) != Some(metric.group);
        let heading = if is_new { metric.group.to_string() } else { String::new() };
        let value =
            quantity.as_ref().map_or_else(|| "not available".to_owned(), ToString::to_string);
        table.row([heading, metric.title.clone(), value, metric.what.clone()]);
    }
    // Skips the empty line of titles.
    let lines = table.to_string();
    text.extend(lines.lines().skip(1).map(|line| format!("  {line}\n")));
    text
}

/// Metrics by group, with groups in order of their first metric.
fn grouped(measured: &[Measured]) -> Vec<&Measured> {
    let mut groups = Vec::new();
    for each in measured {
        if !groups.contains(&each.metric.group) {
            groups.push(each.metric.group);
        }
    }
    let of = |group| measured.iter().filter(move |each| each.metric.group == group);
    groups.into_iter().flat_map(of).collect()
}
