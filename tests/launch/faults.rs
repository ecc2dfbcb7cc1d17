//! Faults end with status 1 and say where.

use super::*;

#[test]
fn an_access_beyond_the_end_is_shown_at_its_line() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let line = "add.cu --grid 2 --block 32 --arg in:f32[64]=iota --arg buf:f32[40] --arg i32:64";
    launch(&bench, line).expect(
        1,
        &[
            "error[out_of_bounds]",
            "--> add.cu:4:",
            "`y`",
            "block (1, 0, 0), thread (8, 0, 0)",
            "1 fault",
        ],
    );
    let said = launch(&bench, &format!("{line} --json"));
    assert_eq!(said.status, 1);
    let document = said.json();
    assert_eq!(document["schema"], "lightbench.launch/1");
    let fault = &document["faults"][0];
    assert_eq!(fault["kind"], "out_of_bounds");
    assert_eq!(fault["kernel"], "add");
    assert_eq!(fault["block"], serde_json::json!([1, 0, 0]));
    assert_eq!(fault["thread"], serde_json::json!([8, 0, 0]));
    assert_eq!(fault["file"], "add.cu");
    assert_eq!(fault["line"], 4);
    assert_eq!(fault["buffer"], "y");
    assert!(fault["ptx_line"].as_u64().unwrap() > 0);
    assert!(fault["address"].as_str().unwrap().starts_with("0x"));
    assert!(fault["other"].is_null());
}

/// Arguments behind `add.cu --grid 1 --block 4`, and the kind of the fault.
const KINDS: &[(&str, &str)] = &[
    ("--arg buf:f32[4] --arg buf:f32[4] --arg i32:4", "uninitialized_read"),
    ("--arg in:f32[4]=ones --arg in:f32[4]=ones --arg i32:4", "read_only_write"),
    ("--arg in:f32[4]=ones --arg buf:f32[4] --arg i32:4 --max-steps 2", "step_limit"),
];

#[test]
fn each_rule_has_its_word() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    for (line, kind) in KINDS {
        let said = launch(&bench, &format!("add.cu --grid 1 --block 4 {line} --json"));
        assert_eq!(said.status, 1, "{line}\n{}", said.everything());
        assert_eq!(said.json()["faults"][0]["kind"], *kind, "{line}");
    }
}

#[test]
fn without_checks_only_bounds_and_rights_are_looked_at() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let line = "add.cu --grid 1 --block 4 --arg buf:f32[4] --arg buf:f32[4] --arg i32:4";
    launch(&bench, &format!("{line} --checks none")).expect(0, &["no fault"]);
    launch(&bench, &format!("{line} --checks memory")).expect(1, &["uninitialized_read"]);
    let beyond = "add.cu --grid 1 --block 4 --arg in:f32[2]=ones --arg buf:f32[4] --arg i32:4";
    launch(&bench, &format!("{beyond} --checks none")).expect(1, &["out_of_bounds"]);
}

#[test]
fn a_fault_of_ptx_is_shown_in_the_ptx() {
    let bench = bench();
    let line = "copy.ptx --grid 1 --block 8 --arg in:u32[4]=iota --arg buf:u32[8]";
    launch(&bench, line).expect(1, &["error[out_of_bounds]", "--> copy.ptx:13", "ld.global.u32"]);
}
