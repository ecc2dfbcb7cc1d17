//! Device sheets: all load, say where they are from, and refuse what contradicts itself.

use lightbench_units::Fraction;

use super::*;
use crate::facts::Evidence;

#[test]
fn every_sheet_in_the_folder_is_embedded_and_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/devices");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|stem| stem != "compute-capabilities")
        .collect();
    let mut embedded: Vec<String> =
        DeviceSheet::all().unwrap().iter().map(|sheet| sheet.name.clone()).collect();
    files.retain(|stem| stem != "cards");
    files.sort();
    embedded.sort();
    assert_eq!(files, embedded);
}

#[test]
fn the_sheets_state_what_the_cards_are() {
    #[track_caller]
    fn check(name: &str, architecture: &str, sms: u32, bandwidth: &str, bf16: Option<&str>) {
        let sheet = DeviceSheet::named(name).unwrap();
        assert_eq!(sheet.architecture(), architecture);
        assert_eq!(sheet.sms.get(), Some(sms));
        assert_eq!(sheet.dram_bandwidth.to_string(), bandwidth);
        let peak = sheet.peaks.get(Pipe::TensorBf16).map(|peak| peak.to_string());
        assert_eq!(peak.as_deref(), bf16);
    }
    check("t4", "sm_75", 40, "320 GB/s", None);
    check("a100-40gb", "sm_80", 108, "1.55 TB/s", Some("312 TFLOP/s"));
    check("a100-80gb", "sm_80", 108, "2.04 TB/s", Some("312 TFLOP/s"));
    check("rtx3090", "sm_86", 82, "936 GB/s", Some("71.0 TFLOP/s"));
    check("rtx4090", "sm_89", 128, "1.01 TB/s", Some("165 TFLOP/s"));
    check("l4", "sm_89", 58, "300 GB/s", Some("121 TFLOP/s"));
    check("l40s", "sm_89", 142, "864 GB/s", Some("362 TFLOP/s"));
    check("h100-sxm", "sm_90", 132, "3.35 TB/s", Some("989 TFLOP/s"));
    check("h100-pcie", "sm_90", 114, "2.04 TB/s", Some("756 TFLOP/s"));
    check("virtual:h200", "sm_90", 132, "4.81 TB/s", Some("990 TFLOP/s"));
    check("b200", "sm_100", 148, "7.67 TB/s", Some("2.25 PFLOP/s"));
    check("rtx5090", "sm_120", 170, "1.79 TB/s", Some("210 TFLOP/s"));
}

/// Operations a tensor core does in one clock are powers of two: a peak that was printed with
/// sparsity, or as multiply-adds, is off by a factor of two from what the ordinary lanes give.
#[test]
fn tensor_peaks_are_dense() {
    #[track_caller]
    fn check(name: &str, operations_per_clock: f64) {
        let sheet = DeviceSheet::named(name).unwrap();
        let clock = sheet.tensor_clock.get().or(sheet.boost_clock.get()).unwrap();
        let sms = f64::from(sheet.sms.get().unwrap());
        let computed = FlopsPerSecond(operations_per_clock * sms * clock.0);
        let Fraction(ratio) = sheet.peaks.get(Pipe::TensorFp16).unwrap() / computed;
        assert!((0.9..=1.03).contains(&ratio), "{name}: {ratio}");
    }
    check("t4", 1024.0);
    check("a100-40gb", 2048.0);
    check("a100-80gb", 2048.0);
    check("rtx3090", 1024.0);
    check("rtx4090", 1024.0);
    check("l4", 1024.0);
    check("l40s", 1024.0);
    check("h100-sxm", 4096.0);
    check("h100-pcie", 4096.0);
    check("h200", 4096.0);
    check("rtx5090", 1024.0);
}

#[test]
fn what_is_not_known_says_why_and_drops_out() {
    let sheet = DeviceSheet::named("l40s").unwrap();
    assert_eq!(sheet.l2.to_string(), "unknown");
    assert_eq!(sheet.l2.get(), None);
    assert!(matches!(&sheet.l2, Sourced::Unknown { reason } if reason.contains("contradict")));
    let sheet = DeviceSheet::named("t4").unwrap();
    assert!(sheet.peaks.get(Pipe::TensorFp8).is_none());
    let facts = sheet.facts();
    let fp8 = facts.iter().find(|fact| fact.name == "tensor_fp8").unwrap();
    assert_eq!(fp8.value, "none");
    assert_eq!(fp8.evidence, Evidence::Document("ptx-isa".to_owned()));
}

#[test]
fn a_sheet_in_json_keeps_values_and_sources_together() {
    let json = serde_json::to_value(DeviceSheet::named("l40s").unwrap()).unwrap();
    assert_eq!(json["sms"]["known"]["value"], 142);
    assert_eq!(json["sms"]["known"]["source"], "l40s-datasheet");
    assert_eq!(json["peaks"]["tensor_fp4"]["absent"]["source"], "ptx-isa");
    assert!(json["l2"]["unknown"]["reason"].is_string());
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    #[track_caller]
    fn check(name: &str, expected: &str) {
        let message = DeviceSheet::named(name).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
        let sheets = "known: t4, a100-40gb, a100-80gb, rtx3090, rtx4090, l4, l40s, h100-sxm, h100-pcie, h200, b200, rtx5090, ";
        assert!(message.contains(sheets) && message.contains(", a6000, "), "{message}");
    }
    check("rtx4061", "no device sheet is named `rtx4061`, did you mean `rtx4060`?; known");
    check("h20", "no device sheet is named `h20`, did you mean `h200`?; known");
    check("virtual:H200", "no device sheet is named `virtual:H200`, did you mean `h200`?; known");
    check("a100", "no device sheet is named `a100`, did you mean `a100-40gb`?; known");
    check("mi300x", "no device sheet is named `mi300x`; known");
    check("", "no device sheet is named ``; known");
}

/// The h200 sheet with one text replaced.
fn altered(from: &str, to: &str) -> Result<DeviceSheet, SheetError> {
    let (_, text) = SHEETS.iter().find(|(name, _)| *name == "h200").unwrap();
    assert!(text.contains(from), "{from}");
    DeviceSheet::from_ron("altered", &text.replacen(from, to, 1))
}

#[test]
fn an_unsound_sheet_is_refused_with_all_that_is_wrong() {
    #[track_caller]
    fn check(from: &str, to: &str, expected: &[&str]) {
        let message = altered(from, to).unwrap_err().to_string();
        for part in expected {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
    check("value: 66.9", "value: 33.5", &["the fp32 peak is 33.5 TFLOP/s", "give 66.9 TFLOP/s"]);
    check("value: 4814,", "value: 8000,", &["the memory bandwidth is 8.00 TB/s", "give 4.81 TB/s"]);
    check("value: 132", "value: 0", &["`sms` must be a positive number", "fp32"]);
    check(
        "\"h200-query\": ",
        "\"renamed\": ",
        &[
            "`sms` cites `h200-query`",
            "`boost_clock` cites",
            "lists `renamed`, which nothing cites",
        ],
    );
    check(
        "known(value: 61440, source: \"h200-query\")",
        "unknown(reason: \" \")",
        &["`l2` is unknown: write the reason"],
    );
    check("tensor_fp4: absent(source: \"ptx-isa\"),", "", &["lacks `tensor_fp4`"]);
    check(
        "known(value: (9, 0), source: \"cuda-gpus\")",
        "unknown(reason: \"\")",
        &["must be known"],
    );
    check("(9, 0)", "(9, 9)", &["compute capability 9.9 is not in the table; known: 7.5, 8.0"]);
    check("value: 989.5, source: \"gh100", "value: 1979, source: \"gh100", &["exceeds"]);
}

#[test]
fn a_syntax_error_has_its_place() {
    #[track_caller]
    fn check(from: &str, to: &str, line: usize) {
        let error = altered(from, to).unwrap_err();
        assert!(
            matches!(error, SheetError::Syntax { line: found, .. } if found == line),
            "{error}"
        );
    }
    check("(\n    title", "(\n    titel", 2);
    check("sms: known(value: 132", "sms: known(value: many", 13);
    check("sms: known(", "sms: guessed(", 13);
}
