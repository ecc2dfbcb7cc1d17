//! `lightbench devices`: the virtual devices, or one of them with its sources; `--local`: the GPUs of this machine.

mod local;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lightbench_core::device::{DeviceSheet, Evidence, Fact, Pipe, SheetError};
use serde_json::json;

use crate::args::Devices;
use crate::outcome::{Outcome, Status, document};
use crate::session::Session;
use crate::table::Table;

/// Shows all virtual devices, one of them, or the GPUs of this machine.
pub fn run(session: &Session, arguments: &Devices) -> Outcome {
    if arguments.local {
        return local::run(session, arguments.json);
    }
    let shown = match &arguments.sheet {
        None => all(arguments.json),
        Some(name) => DeviceSheet::named(name).map(|sheet| sheet_text(sheet, arguments.json)),
    };
    match shown {
        Ok(text) => Outcome::passed(text),
        Err(error) => Outcome::failed(Status::BadRequest, error),
    }
}

fn all(json: bool) -> Result<String, SheetError> {
    let mut sheets = DeviceSheet::all()?;
    sheets.extend(DeviceSheet::derived()?);
    if json {
        return Ok(document(&json!({ "schema": "lightbench.devices/1", "devices": sheets })));
    }
    let mut table = Table::new(&[
        "sheet",
        "device",
        "arch",
        ">SMs",
        ">DRAM",
        ">bandwidth",
        ">L2",
        ">fp32",
        ">tensor bf16",
    ]);
    for sheet in sheets {
        table.row([
            sheet.name.clone(),
            sheet.title.clone(),
            sheet.architecture(),
            sheet.sms.to_string(),
            sheet.memory_size().unwrap_or_else(|| sheet.dram.to_string()),
            sheet.dram_bandwidth.to_string(),
            sheet.l2.to_string(),
            peak(sheet, Pipe::Fp32),
            peak(sheet, Pipe::TensorBf16),
        ]);
    }
    let mut text = table.to_string();
    text.push_str(
        "\nPeaks are dense, in operations per second. `lightbench devices SHEET` lists every field with its source, \
         `lightbench devices --local` the GPUs of this machine.\n",
    );
    Ok(text)
}

fn peak(sheet: &DeviceSheet, pipe: Pipe) -> String {
    let found = sheet.peaks.iter().find(|(known, _)| *known == pipe);
    found.map_or_else(|| "unknown".to_owned(), |(_, peak)| peak.to_string())
}

fn sheet_text(sheet: &DeviceSheet, json: bool) -> String {
    if json {
        return document(&json!({ "schema": "lightbench.device/1", "device": sheet }));
    }
    let title = format!("{} · {} · {}\n\n", sheet.title, sheet.name, sheet.architecture());
    title + &fields(sheet)
}

/// Every field of a description with its source.
fn fields(sheet: &DeviceSheet) -> String {
    let mut table = Table::new(&["field", ">value", "source"]);
    let mut cited = BTreeMap::new();
    for (facts, sources) in
        [(sheet.facts(), &sheet.sources), (sheet.capability.facts(), &sheet.capability.sources)]
    {
        for fact in facts {
            if let Evidence::Document(key) = &fact.evidence {
                cited.extend(sources.get_key_value(key));
            }
            table.row(cells(fact));
        }
    }
    let mut text = table.to_string();
    text.push_str("\nsources\n");
    for (key, document) in cited {
        // Writing to a String cannot fail.
        writeln!(text, "  {key}: {document}").ok();
    }
    text
}

fn cells(fact: Fact) -> [String; 3] {
    let evidence = match fact.evidence {
        Evidence::Document(key) => key,
        Evidence::Reason(reason) => reason,
    };
    [fact.name.replace('_', " "), fact.value, evidence]
}
