//! Evidence that confirms or refutes a peak, and the cause reported for a time below its bound.

use lightbench_device::{BoardReadings, Card, DescribedGpu, DriverAttributes};

use super::*;
use crate::bound::Assumption;
use crate::bound::Limit;
use crate::bound_comparison::{Bounds, NoBoundComparison, compare_with_bounds};
use crate::ceilings::Quantity;
use crate::confirmation::Confirmation;

fn card(name: &str) -> DriverAttributes {
    Card::find(name).unwrap().unwrap().attributes.clone()
}

/// With NVML, where the card's highest clock is known.
fn with_clock(name: &str, max_sm_clock_mhz: u32) -> DriverAttributes {
    let board = BoardReadings {
        pci_device_id: None,
        power_limit_milliwatts: None,
        default_power_limit_milliwatts: None,
        max_sm_clock_mhz: Some(max_sm_clock_mhz),
        max_memory_clock_mhz: None,
    };
    DriverAttributes { board: Some(board), ..card(name) }
}

/// Reads 1 GiB.
fn gigabyte() -> MinimalWork {
    work(1 << 30, 0, &[])
}

fn at_rate(rate: f64) -> Seconds {
    Seconds(f64::from(1 << 30) / rate)
}

fn described(attributes: &DriverAttributes) -> DeviceSheet {
    DescribedGpu::from_attributes(attributes).unwrap().sheet
}

fn stands(
    sheet: &DeviceSheet,
    own: Option<&Calibration>,
    time: Seconds,
) -> Result<(), NoBoundComparison> {
    let bounds: Vec<PhysicalBound> = [Some(Basis::Sheet), own.map(|_| Basis::Measured)]
        .into_iter()
        .flatten()
        .filter_map(|basis| {
            let ceilings = Ceilings::new(sheet, own, basis);
            PhysicalBound::new(&gigabyte(), &ceilings, CacheState::Cold).ok()
        })
        .collect();
    let bounds: Vec<Bounds<'_>> =
        bounds.iter().map(|physical| Bounds { physical, method: None }).collect();
    compare_with_bounds(time, &bounds).map(drop)
}

#[test]
fn a_correct_kernel_on_an_h100_sxm_is_not_accused() {
    let sheet = described(&card("h100-sxm"));
    assert_eq!(sheet.dram_bandwidth.to_string(), "3.35 TB/s");
    assert_eq!(sheet.sms.get(), Some(132));
    assert_eq!(stands(&sheet, None, at_rate(3.1e12)), Ok(()));
    // One that skips a third of its work is.
    let skipping = stands(&sheet, None, at_rate(4.6e12)).unwrap_err();
    assert!(matches!(skipping, NoBoundComparison::BelowBound(_)), "{skipping}");
}

#[test]
fn a_correct_kernel_is_accused_on_no_card() {
    for card in Card::all().unwrap() {
        let sheet = described(&card.attributes);
        let Some(published) = card.published.gb_per_s else { continue };
        let found = stands(&sheet, None, at_rate(published * 1e9 * 0.95));
        assert_eq!(found, Ok(()), "{}", card.name);
    }
}

#[test]
fn a_peak_that_nothing_confirms_accuses_the_description() {
    // Nothing says that the bus of a MIG slice is all that the slice reaches.
    let sheet = described(&card("a100-80gb-mig-1g"));
    let found = stands(&sheet, None, at_rate(300e9)).unwrap_err();
    assert!(matches!(found, NoBoundComparison::UnconfirmedPeak(_)), "{found}");
    let words = found.to_string();
    assert!(words.contains("the description of the device is most likely wrong"), "{words}");
    assert!(words.contains("lightbench calibrate") && !words.contains("the kernel"), "{words}");
}

fn measured(dram: f64) -> Calibration {
    let mut own = calibration();
    for (path, rate) in [
        (MemoryPath::DramRead, dram),
        (MemoryPath::DramWrite, dram * 0.9),
        (MemoryPath::DramCopy, dram * 0.95),
    ] {
        let rate = BytesPerSecond(rate);
        let entry = own.memory.get_mut(&path).unwrap();
        (entry.median, entry.low, entry.high) = (rate, rate, rate);
    }
    own
}

#[test]
fn a_calibration_beyond_a_peak_makes_it_suspect_and_accuses_no_kernel() {
    // What happened: an H100 SXM with the numbers of the PCIe card.
    let mut attributes = card("h100-pcie");
    attributes.title = "NVIDIA H100 80GB HBM3".to_owned();
    let sheet = described(&attributes);
    let own = measured(3.14e12);
    let ceilings = Ceilings::new(&sheet, Some(&own), Basis::Sheet);
    let suspect = &ceilings.evidence.suspect[0];
    assert_eq!(suspect.quantity, Quantity::Dram);
    let words = suspect.to_string();
    assert!(words.contains("2.04 TB/s are stated"), "{words}");
    assert!(words.contains("3.14 TB/s, 154 % of it"), "{words}");
    assert_eq!(ceilings.dram, None);
    let bound = PhysicalBound::new(&gigabyte(), &ceilings, CacheState::Cold).unwrap();
    assert_eq!(bound.bound().limit, Limit::Launch);
    assert!(bound.bound().assumptions.contains(&Assumption::SuspectPeak(Limit::Dram)));
    assert_eq!(stands(&sheet, Some(&own), at_rate(3.1e12)), Ok(()));
    // The measured ceiling stays one.
    let ceilings = Ceilings::new(&sheet, Some(&own), Basis::Measured);
    assert_eq!(ceilings.dram.unwrap().value, BytesPerSecond(3.14e12));
}

#[test]
fn a_calibration_confirms_a_peak_that_it_comes_near() {
    let check = |dram: f64, expected: Option<Confirmation>| {
        let sheet = described(&card("a100-80gb-mig-1g"));
        let ceilings = Ceilings::new(&sheet, Some(&measured(dram)), Basis::Sheet);
        let evidence = &ceilings.evidence;
        let found =
            (!evidence.is_suspect(Quantity::Dram)).then(|| evidence.confirmation(Quantity::Dram));
        assert_eq!(found, expected, "{dram}");
    };
    // Of 242 GB/s.
    check(100e9, Some(Confirmation::Missing));
    check(220e9, Some(Confirmation::Calibration));
    check(248e9, Some(Confirmation::Calibration));
    check(252e9, None);
}

#[test]
fn a_suspect_pipe_takes_its_kind_of_work_out_of_the_bound() {
    let sheet = described(&with_clock("rtx4090", 3105));
    let mut own = calibration();
    let rate = own.pipes.get_mut(&Pipe::Fp32).unwrap();
    (rate.median, rate.low, rate.high) =
        (FlopsPerSecond(88e12), FlopsPerSecond(88e12), FlopsPerSecond(88e12));
    let ceilings = Ceilings::new(&sheet, Some(&own), Basis::Sheet);
    assert!(ceilings.evidence.is_suspect(Quantity::Pipe(Pipe::Fp32)));
    let work = work(1 << 20, 0, &[(OperationKind::Arithmetic, 1e13)]);
    let bound = PhysicalBound::new(&work, &ceilings, CacheState::Cold).unwrap();
    assert!(bound.bound().parts.iter().all(|part| part.limit != Limit::Pipe(Pipe::Fp32)));
}

#[test]
fn a_virtual_device_has_its_peaks_by_definition() {
    let ceilings = sheet_ceilings();
    assert_eq!(ceilings.evidence.confirmation(Quantity::Dram), Confirmation::Definition);
    assert_eq!(Ceilings::new(h200(), Some(&measured(9e12)), Basis::Sheet).evidence.suspect, []);
}
