//! The text report of a calibration: each ceiling next to the sheet's value.

use std::fmt::{Display, Write as _};
use std::ops::Div;
use std::path::Path;

use lightbench_core::calibrate::Calibrated;
use lightbench_core::device::DeviceSheet;
use lightbench_core::speed_of_light::calibration::{ClockControl, Measured, MemoryPath};
use lightbench_core::units::{BytesPerSecond, Fraction};

use crate::style::{DIM, STRONG};
use crate::table::Table;

/// Column titles.
const HEADINGS: [&str; 7] =
    ["ceiling", ">measured", ">lowest", ">highest", ">sheet", ">share", "how"];

/// The whole report.
pub(super) fn report_text(calibrated: &Calibrated, sheet: &DeviceSheet, file: &Path) -> String {
    let calibration = &calibrated.calibration;
    let clocks = &calibration.clocks;
    let control = match clocks.control {
        ClockControl::Free => "set by the driver",
        ClockControl::Locked => "locked",
    };
    let mut text = format!(
        "{STRONG}{}{STRONG:#} · driver {} · clock {}, {control}\n\n",
        calibration.device.title, calibration.driver, clocks.multiprocessors
    );
    text += &table(calibrated, sheet).to_string();
    if let Some(Measured { median, low, high, .. }) = &calibration.retained_writes {
        let _infallible = writeln!(
            text,
            "\nL2 retains {median} of written data at the end of a kernel ({low} to {high})"
        );
    }
    if let Some(offset) = &calibration.event_offset {
        let Measured { median, low, high, samples, .. } = offset;
        let _infallible = writeln!(
            text,
            "\nan event pair adds {median} to a cold time ({low} to {high}, the device opened {samples} times)"
        );
    }
    if let Some(Measured { median, low, high, .. }) = &calibration.launch_floor {
        let _infallible = writeln!(
            text,
            "\nan empty kernel takes {median} in a sequence of launches ({low} to {high}): the launch floor of bounds"
        );
    }
    if !calibrated.left_out.is_empty() {
        text += "\nnot measured; the sheet's values apply\n";
    }
    for (what, why) in &calibrated.left_out {
        let _infallible = writeln!(text, "  {what}: {why}");
    }
    let file = file.display();
    let _infallible = writeln!(
        text,
        "\nstored in {file}\n{DIM}`lightbench run` and `compare` use these ceilings for this GPU from now on{DIM:#}"
    );
    text
}

fn table(calibrated: &Calibrated, sheet: &DeviceSheet) -> Table {
    let calibration = &calibrated.calibration;
    let mut table = Table::new(&HEADINGS).spare(&["highest", "lowest", "sheet"]);
    for (path, measured) in &calibration.memory {
        table.row(cells(&path.to_string(), measured, stated(*path, sheet)));
    }
    for (pipe, measured) in &calibration.pipes {
        table.row(cells(&pipe.to_string(), measured, sheet.peaks.get(*pipe)));
    }
    if let Some(measured) = &calibration.special {
        table.row(cells("special functions", measured, None));
    }
    table
}

/// The sheet's bandwidth for a memory path.
fn stated(path: MemoryPath, sheet: &DeviceSheet) -> Option<BytesPerSecond> {
    match path {
        MemoryPath::DramRead | MemoryPath::DramWrite | MemoryPath::DramCopy => {
            sheet.dram_bandwidth.get()
        }
        MemoryPath::L2Read | MemoryPath::SharedRead => None,
    }
}

fn cells<Rate: Copy + Display + Div<Output = Fraction>>(
    ceiling: &str,
    measured: &Measured<Rate>,
    sheet: Option<Rate>,
) -> [String; 7] {
    let Measured { median, low, high, method, .. } = measured;
    let share = sheet.map(|sheet| (*median / sheet).to_string());
    [
        ceiling.to_owned(),
        median.to_string(),
        low.to_string(),
        high.to_string(),
        sheet.map_or_else(|| "not stated".to_owned(), |sheet| sheet.to_string()),
        share.unwrap_or_default(),
        method.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use lightbench_core::calibrate::Quantity;
    use lightbench_core::device::Pipe;
    use lightbench_core::explain::card;

    use super::super::fixture::calibration;
    use super::*;

    #[test]
    fn every_number_is_explained() {
        for heading in HEADINGS.iter().filter(|heading| **heading != "how") {
            assert!(card(heading.trim_start_matches('>')).is_ok(), "{heading}");
        }
    }

    #[test]
    fn every_ceiling_stands_beside_the_sheet() {
        let left_out = vec![(Quantity::Pipe(Pipe::TensorTf32), "it is too old".to_owned())];
        let calibrated = Calibrated { calibration: calibration(), left_out };
        let sheet = DeviceSheet::named("h200").unwrap();
        let text = report_text(&calibrated, sheet, Path::new("state/calibrations/00.json"));
        for expected in [
            "driver 580.159.04, CUDA 13.0",
            "clock 1.98 GHz, set by the driver",
            "DRAM, read     4.40 TB/s     4.30 TB/s     4.45 TB/s     4.81 TB/s  91.4 %",
            "L2, read       9.00 TB/s     8.80 TB/s     9.10 TB/s    not stated",
            "an event pair adds 1.20 µs",
            "TF32 tensor: it is too old",
            "stored in state/calibrations/00.json",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
    }
}
