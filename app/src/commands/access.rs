//! `lightbench access`: the addresses, sectors or banks that the threads of a warp access.

use lightbench_core::access::{
    AccessError, AccessPicture, Recording, Site, Units, record, usual_workload,
};
use lightbench_core::report::document::access::{
    AccessReport, AccessSchema, AccessesReport, AccessesSchema, WarpAccessReport,
};
use lightbench_core::virtual_gpu::machine::WarpId;

use super::virtual_target::{Selection, VirtualTarget, not_run};
use crate::args;
use crate::commands::python_setup;
use crate::outcome::{Outcome, report_document};
use crate::report;
use crate::session::Session;
use crate::table::Table;

/// Runs the kernel on the virtual GPU and prints the accesses of one warp.
pub fn run(session: &Session, arguments: &args::Access) -> Outcome {
    trace(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn trace(session: &Session, arguments: &args::Access) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let selection = Selection {
        path: &arguments.target,
        kernel: arguments.kernel.clone(),
        workload: arguments.workload.as_deref(),
        device: &arguments.device,
        seed: arguments.seed,
        as_json,
    };
    let target = VirtualTarget::resolve(selection, usual_workload)?;
    let mut compiler =
        python_setup::compiler(session).map_err(|failure| failure.outcome(as_json))?;
    let warp = WarpId { block: arguments.block, warp: arguments.warp };
    let recording = record(&mut compiler, &target.request(), warp, &session.cancellation);
    let recording = recording.map_err(|error| match &error {
        AccessError::NoSuchWarp(_) => refuse(&error),
        AccessError::Program(why) => not_run(why, as_json),
    })?;
    let kernel = &target.kernel;
    let Some(line) = arguments.line else {
        return Ok(Outcome::passed(match as_json {
            true => report_document(&AccessesReport {
                schema: AccessesSchema::V1,
                kernel: kernel.name.clone(),
                workload: recording.workload.clone(),
                sites: recording.sites.iter().map(Into::into).collect(),
            }),
            false => list(&recording, &kernel.source),
        }));
    };
    let sites: Vec<&Site> = recording.of_line(line).collect();
    if sites.is_empty() {
        let lines: Vec<String> = recording.lines().iter().map(ToString::to_string).collect();
        return Err(refuse(&format!(
            "line {line} accesses no memory in this warp; lines with accesses: {}",
            lines.join(", ")
        )));
    }
    let pictures: Vec<(&Site, AccessPicture)> = sites
        .iter()
        .filter_map(|site| {
            let access = site.executions.get(arguments.execution.checked_sub(1)?)?;
            Some((*site, AccessPicture::from_access(access)))
        })
        .collect();
    if pictures.is_empty() {
        let most = sites.iter().map(|site| site.executions.len()).max().unwrap_or(0);
        return Err(refuse(&format!("the warp executes line {line} {most} times")));
    }
    Ok(Outcome::passed(match as_json {
        true => report_document(&AccessReport {
            schema: AccessSchema::V1,
            kernel: kernel.name.clone(),
            workload: recording.workload.clone(),
            line,
            execution: arguments.execution,
            accesses: pictures
                .iter()
                .map(|(site, picture)| WarpAccessReport::new(site, picture))
                .collect(),
        }),
        false => pictures.iter().map(|(site, picture)| picture_text(site, picture)).collect(),
    }))
}

fn list(recording: &Recording, source: &str) -> String {
    let mut table = Table::new(&[">line", "access", ">times", "first one"]);
    for site in &recording.sites {
        let line = site.line.map_or_else(String::new, |line| line.to_string());
        let picture = site.executions.first().map(AccessPicture::from_access);
        let sentence = picture.map(|picture| picture.sentence()).unwrap_or_default();
        table.row([line, site.title.clone(), site.executions.len().to_string(), sentence]);
    }
    let mut text = table.to_string();
    for line in recording.lines() {
        let own = source.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        text.push_str(&format!("{line:>6}  {}\n", own.trim()));
    }
    if recording.left_out > 0 {
        text.push_str(&format!("{} more accesses were not recorded\n", recording.left_out));
    }
    text
}

fn unit_name(picture: &AccessPicture) -> &'static str {
    match picture.units {
        Units::Sectors(_) => "sector",
        Units::Banks(_) => "bank",
    }
}

fn picture_text(site: &Site, picture: &AccessPicture) -> String {
    let mut text = format!(
        "{}, {} bytes per thread, {} threads: {}\n",
        site.title,
        picture.bytes,
        picture.active(),
        picture.sentence()
    );
    let mut table = Table::new(&[">lane", ">byte", &format!(">{}", unit_name(picture))]);
    for (lane, address) in picture.lanes.iter().enumerate() {
        let address = address.map_or_else(|| "idle".to_owned(), |address| address.to_string());
        table.row([lane.to_string(), address, picture.units_of(lane)]);
    }
    text.push_str(&table.to_string());
    text.push('\n');
    text
}
