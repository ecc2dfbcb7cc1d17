//! Descriptions: derived from recorded attributes as vendors publish them, and no card is taken for another.

use lightbench_units::BytesPerSecond;

use super::*;
use crate::attributes::{BoardReadings, LimitAttributes, MemoryPlace};
use crate::cards::{Card, CardOrigin};
use crate::facts::Evidence;

/// Vendors round to two or three digits, and boards of other makers run some percent above the reference clock.
const PUBLISHED: f64 = 0.035;

fn card(name: &str) -> DriverAttributes {
    Card::find(name).unwrap().unwrap().attributes.clone()
}

fn board(pci_device_id: u32, max_sm_clock_mhz: u32) -> BoardReadings {
    BoardReadings {
        pci_device_id: Some(pci_device_id),
        power_limit_milliwatts: Some(700_000),
        default_power_limit_milliwatts: Some(700_000),
        max_sm_clock_mhz: Some(max_sm_clock_mhz),
        max_memory_clock_mhz: None,
    }
}

#[track_caller]
fn close_to(found: Option<f64>, published: Option<f64>, what: &str) {
    let Some(published) = published else { return };
    let found = found.unwrap_or_else(|| panic!("{what}: nothing derived, {published} published"));
    let ratio = found / published;
    assert!((ratio - 1.0).abs() <= PUBLISHED, "{what}: {found} derived, {published} published");
}

#[test]
fn peaks_derived_from_attributes_are_those_that_vendors_publish() {
    let cards = Card::all().unwrap();
    let recorded = |card: &&Card| matches!(card.origin, CardOrigin::Recorded(_));
    assert!(cards.iter().filter(recorded).count() >= 25);
    for card in cards {
        let (CardOrigin::Recorded(origin) | CardOrigin::Specified(origin)) = &card.origin;
        assert!(!origin.is_empty(), "{}", card.name);
        let sheet = card.attributes.derived(&card.name).unwrap();
        let bandwidth = sheet.dram_bandwidth.get().map(|rate| rate.0 * 1e-9);
        close_to(bandwidth, card.published.gb_per_s, &format!("{}, bandwidth", card.name));
        let peak = |pipe| sheet.peaks.get(pipe).map(|peak| peak.0 * 1e-12);
        close_to(peak(Pipe::Fp32), card.published.fp32_tflops, &format!("{}, fp32", card.name));
        let tensor = peak(Pipe::TensorBf16).or(peak(Pipe::TensorFp16AccumulateFp32));
        close_to(tensor, card.published.tensor_tflops, &format!("{}, tensor", card.name));
    }
}

#[test]
fn every_derived_number_names_the_driver_and_every_document_is_cited() {
    for card in Card::all().unwrap() {
        let sheet = card.attributes.derived(&card.name).unwrap();
        assert_eq!(crate::sheet_check::sheet(&sheet), [], "{}", card.name);
        let facts = sheet.facts();
        for name in ["sms", "dram"] {
            let fact = facts.iter().find(|fact| fact.name == name).unwrap();
            assert_eq!(fact.evidence, Evidence::Document("driver".to_owned()), "{}", card.name);
        }
        let document = &sheet.sources["driver"];
        assert!(document.starts_with("derived from the driver's attributes of "), "{document}");
    }
}

/// The rates of the capabilities are those that make the documented peaks of the sheets.
#[test]
fn derived_peaks_agree_with_the_peaks_of_the_sheets() {
    for sheet in DeviceSheet::all().unwrap() {
        let mut attributes = card(&sheet.name);
        for (pipe, stated) in sheet.peaks.iter() {
            let quoted = if pipe.is_tensor() { sheet.tensor_clock.get() } else { None };
            let Some(clock) = quoted.or(sheet.boost_clock.get()) else { continue };
            attributes.clock_khz = Some((clock.0 / 1e3) as u32);
            let derived = attributes.derived("test").unwrap();
            let Some((stated, own)) = stated.get().zip(derived.peaks.get(pipe)) else { continue };
            // The h200 sheet does not say at which clock its tensor rates hold; GH100 quotes them at 1830 MHz.
            let slower = if pipe.is_tensor() && quoted.is_none() { 0.92 } else { 0.965 };
            // The fp64 tensor rate of GH100 is quoted at the higher clock.
            let faster = if pipe == Pipe::TensorFp64 { 1.09 } else { 1.03 };
            let ratio = stated.0 / own.0;
            assert!((slower..=faster).contains(&ratio), "{}, {pipe}: {ratio}", sheet.name);
        }
    }
}

#[test]
fn a_sheet_applies_to_its_own_card() {
    #[track_caller]
    fn check(attributes: &DriverAttributes, expected: Option<&str>, bandwidth: &str) {
        let found = DescribedGpu::from_attributes(attributes).unwrap();
        assert_eq!(found.applied.as_deref(), expected, "{:?}", found.disagreements);
        assert_eq!(found.sheet.dram_bandwidth.to_string(), bandwidth);
        assert_eq!(found.sheet.sms.get(), Some(attributes.sms));
        assert_eq!(crate::sheet_check::sheet(&found.sheet), []);
    }
    check(&card("t4"), Some("t4"), "320 GB/s");
    check(&card("rtx3090"), Some("rtx3090"), "936 GB/s");
    check(&card("rtx4090"), Some("rtx4090"), "1.01 TB/s");
    check(&card("l4"), Some("l4"), "300 GB/s");
    check(&card("l40s"), Some("l40s"), "864 GB/s");
    check(&card("a100-80gb"), Some("a100-80gb"), "2.04 TB/s");
    check(&card("a100-40gb-pcie"), Some("a100-40gb"), "1.56 TB/s");
    check(&card("h100-pcie"), Some("h100-pcie"), "2.04 TB/s");
    check(&card("h200"), Some("h200"), "4.81 TB/s");
    check(&card("b200"), Some("b200"), "7.67 TB/s");
    check(&card("rtx5090"), Some("rtx5090"), "1.79 TB/s");
    // The card of the issue, which was taken for the PCIe one.
    check(&card("h100-sxm"), Some("h100-sxm"), "3.35 TB/s");
    check(
        &DriverAttributes { board: Some(board(0x2330, 1980)), ..card("h100-sxm") },
        Some("h100-sxm"),
        "3.35 TB/s",
    );
    // The same readings with the id of another board.
    check(
        &DriverAttributes { board: Some(board(0x2331, 1980)), ..card("h100-sxm") },
        None,
        "3.35 TB/s",
    );
}

#[test]
fn no_card_is_taken_for_one_of_a_similar_name() {
    #[track_caller]
    fn check(name: &str, similar: &str, sms: u32, bandwidth: &str) {
        let found = DescribedGpu::from_attributes(&card(name)).unwrap();
        assert_eq!(found.applied, None, "{name}");
        assert_eq!(found.sheet.sms.get(), Some(sms));
        assert_eq!(found.sheet.dram_bandwidth.to_string(), bandwidth);
        // The sheet that its name or size suggests is not its own.
        let sheet = DeviceSheet::named(similar).unwrap();
        assert!(!differences(&card(name), sheet).is_empty(), "{name} and {similar}");
    }
    check("a6000", "rtx3090", 84, "768 GB/s");
    check("rtx4060-laptop", "rtx4090", 24, "256 GB/s");
    check("rtx3060-laptop", "rtx3090", 30, "336 GB/s");
    check("a30", "a100-40gb", 56, "933 GB/s");
    check("gh200", "h100-sxm", 132, "4.02 TB/s");
    check("h100-nvl", "h100-sxm", 132, "3.94 TB/s");
    check("h100-nvl", "h100-pcie", 132, "3.94 TB/s");
    check("a100-80gb-pcie", "a100-80gb", 108, "1.94 TB/s");
    check("rtx6000-ada", "l40s", 142, "960 GB/s");
}

#[test]
fn a_similar_sheet_that_does_not_agree_is_shown() {
    let found = DescribedGpu::from_attributes(&card("gh200")).unwrap();
    let shown: Vec<String> = found.disagreements.iter().map(ToString::to_string).collect();
    let bus = "memory bus: the driver reports 6144 bit, the sheet `h100-sxm` states 5120 bit";
    assert!(shown.iter().any(|one| one == bus), "{shown:?}");
    // Those of similar cards are settled by the sheet of the card itself.
    assert_eq!(DescribedGpu::from_attributes(&card("h200")).unwrap().disagreements, []);
}

#[test]
fn a_mig_slice_is_described_as_the_slice() {
    let found = DescribedGpu::from_attributes(&card("a100-80gb-mig-1g")).unwrap();
    assert_eq!(found.applied, None);
    assert_eq!(found.sheet.sms.get(), Some(14));
    assert_eq!(found.sheet.dram_bandwidth.to_string(), "242 GB/s");
    assert!(found.notes[0].starts_with("a MIG slice"), "{:?}", found.notes);
    assert!(!found.sheet.confirms_bandwidth());
}

#[test]
fn the_bandwidth_of_shared_memory_is_unknown() {
    let found = DescribedGpu::from_attributes(&card("orin-nx")).unwrap();
    assert_eq!(found.sheet.dram_bandwidth.get(), None);
    assert!(found.notes[0].contains("shares the memory of the host"), "{:?}", found.notes);
    let silent = DriverAttributes { memory_clock_khz: Some(0), ..card("a40") };
    assert_eq!(
        silent.bandwidth().map(|rate: BytesPerSecond| rate.0),
        Err(crate::attributes::NoBandwidth::NotReported)
    );
    assert_eq!(silent.memory, MemoryPlace::Board);
}

#[test]
fn what_is_particular_of_a_board_is_said() {
    let lowered = BoardReadings { power_limit_milliwatts: Some(450_000), ..board(0x2330, 1980) };
    let attributes = DriverAttributes { board: Some(lowered), ..card("h100-sxm") };
    let found = DescribedGpu::from_attributes(&attributes).unwrap();
    assert!(found.notes[0].contains("450 W, below the 700 W"), "{:?}", found.notes);
    assert_eq!(found.sheet.power_limit.to_string(), "450 W");
    let limits = LimitAttributes {
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_sm: 2048,
        max_blocks_per_sm: 32,
        registers_per_sm: 65_536,
        max_registers_per_block: 65_536,
        shared_per_sm: 233_472,
        max_shared_per_block: 232_448,
        reserved_shared_per_block: 1024,
    };
    let own = DriverAttributes { limits: Some(limits), ..card("h100-sxm") };
    assert_eq!(DescribedGpu::from_attributes(&own).unwrap().disagreements, []);
    let fewer = LimitAttributes { max_blocks_per_sm: 16, ..limits };
    let other = DriverAttributes { limits: Some(fewer), ..card("h100-sxm") };
    let shown = DescribedGpu::from_attributes(&other).unwrap().disagreements[0].to_string();
    let expected = "blocks per multiprocessor: the driver reports 16, the table of compute capability 9.0 states 32";
    assert_eq!(shown, expected);
}

#[test]
fn attributes_confirm_peaks_that_are_as_high_as_the_highest_clock_allows() {
    let at = |name: &str, id, clock| {
        DescribedGpu::from_attributes(&DriverAttributes {
            board: Some(board(id, clock)),
            ..card(name)
        })
        .unwrap()
        .sheet
    };
    let h100 = at("h100-sxm", 0x2330, 1980);
    assert!(h100.confirms_bandwidth() && h100.confirms_peak(Pipe::Fp32));
    // Published at 1830 MHz.
    assert!(!h100.confirms_peak(Pipe::TensorBf16));
    // Boards of GeForce exceed the clock at which their peaks are quoted.
    let rtx = at("rtx4090", 0x2684, 3105);
    assert!(rtx.confirms_bandwidth() && !rtx.confirms_peak(Pipe::Fp32));
    // Without NVML the highest clock is unknown.
    assert!(
        !DescribedGpu::from_attributes(&card("h100-sxm")).unwrap().sheet.confirms_peak(Pipe::Fp32)
    );
}

#[test]
fn every_card_is_a_virtual_device_and_has_a_twin() {
    for name in ["rtx4060", "a6000", "rtx2080ti", "orin-nano", "gh200", "virtual:rtx4060-laptop"] {
        let sheet = DeviceSheet::named(name).unwrap();
        assert!(sheet.described_by == DescribedBy::Documents);
        let device = crate::VirtualDevice::new(sheet, crate::Watch::ALL);
        assert!(device.is_ok(), "{name}");
    }
    let twin = |name: &str| {
        let twin = DescribedGpu::from_attributes(&card(name)).unwrap().virtual_twin().unwrap();
        twin.map(|sheet| sheet.name.as_str())
    };
    assert_eq!(twin("h100-sxm"), Some("h100-sxm"));
    assert_eq!(twin("a100-80gb-mig-1g"), Some("a100-80gb-mig-1g"));
    let unknown =
        DriverAttributes { compute_capability: crate::ComputeCapability(12, 1), ..card("rtx5090") };
    assert_eq!(DescribedGpu::from_attributes(&unknown).unwrap().virtual_twin(), Ok(None));
}
