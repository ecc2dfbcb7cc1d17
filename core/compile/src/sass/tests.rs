//! `inlined.sass` and `inlined.json` are the two forms in which nvdisasm 13.5 writes one cubin
//! (sm_90); `switch.sass` has indirect jumps; `scale.sass` and `scale.live` are the two listings of
//! `tests/data/cubins/scale.sm_90.cubin`.

use proptest::prelude::*;

use super::*;

const INLINED: &str = include_str!("inlined.sass");
const SWITCH: &str = include_str!("switch.sass");
const SCALE: &str = include_str!("scale.sass");
const LIVE: &str = include_str!("scale.live");

#[derive(Debug, PartialEq)]
struct Plain {
    address: u64,
    predicate: Option<String>,
    opcode: String,
    line: Option<u64>,
}

/// Instructions of the JSON form, which states a source line only where it changes.
fn from_json() -> Vec<(String, Vec<Plain>)> {
    let whole: serde_json::Value = serde_json::from_str(include_str!("inlined.json")).unwrap();
    let plain = |function: &serde_json::Value| {
        let mut line = None;
        let mut address = function["start"].as_u64().unwrap();
        let mut instructions = Vec::new();
        for each in function["sass-instructions"].as_array().unwrap() {
            line = each["source-line"].as_u64().or(line);
            let predicate =
                each["predicate"].as_str().map(|text| text.trim_start_matches('@').to_owned());
            let opcode = each["opcode"].as_str().unwrap().to_owned();
            instructions.push(Plain { address, predicate, opcode, line });
            address += 16;
        }
        (function["function-name"].as_str().unwrap().to_owned(), instructions)
    };
    whole[1].as_array().unwrap().iter().map(plain).collect()
}

#[test]
fn text_and_json_agree_on_addresses_opcodes_predicates_and_lines() {
    let plain = |function: &SassFunction| {
        let instructions = function.instructions.iter().map(|each| Plain {
            address: each.address,
            predicate: each.predicate.clone(),
            opcode: each.opcode.clone(),
            line: each.source.first().map(|line| u64::from(line.line)),
        });
        (function.name.clone(), instructions.collect())
    };
    let text: Vec<(String, Vec<Plain>)> = read(INLINED, "").iter().map(plain).collect();
    assert_eq!(text, from_json());
    assert!(text[0].1.len() > 60);
}

fn at(functions: &[SassFunction], address: u64) -> &SassInstruction {
    functions[0].instructions.iter().find(|each| each.address == address).unwrap()
}

fn lines(instruction: &SassInstruction) -> Vec<String> {
    instruction.source.iter().map(|each| format!("{}:{}", each.file, each.line)).collect()
}

#[test]
fn source_lines_hold_until_the_next_and_keep_their_chain_of_inlining() {
    let functions = read(INLINED, "");
    assert_eq!(functions.len(), 1);
    assert_eq!(lines(at(&functions, 0)), ["/build/kernels/k.cu:9"]);
    assert_eq!(lines(at(&functions, 0x20)), ["/build/kernels/k.cu:11"]);
    let chain = ["/build/h.cuh:3", "/build/kernels/k.cu:6", "/build/kernels/k.cu:11"];
    assert_eq!(lines(at(&functions, 0x150)), chain);
    assert_eq!(lines(at(&functions, 0x190)), ["/build/kernels/k.cu:11"]);
}

#[test]
fn instructions_have_predicate_operands_and_targets() {
    let functions = read(INLINED, "");
    let load = at(&functions, 0xc0);
    assert_eq!(
        (&*load.opcode, &load.operands[..]),
        ("LDG.E", &["R0", "desc[UR8][R24.64]"].map(str::to_owned)[..])
    );
    let branch = at(&functions, 0x1e0);
    assert_eq!(
        (branch.predicate.as_deref(), &*branch.opcode, &branch.targets[..]),
        (Some("P0"), "BRA", &[0x270][..])
    );
    let call = at(&functions, 0x240);
    assert_eq!(call.targets, [0x330]);
    assert_eq!(at(&functions, 0x320).opcode, "EXIT");
    let labels: Vec<&str> = functions[0].labels.iter().map(|(label, _)| &**label).collect();
    assert_eq!(
        labels[..4],
        [".L_x_0", ".L_x_1", ".L_x_3", "$_Z3onePfPK13__nv_bfloat161P$_Z8far_awayfPf"]
    );
}

#[test]
fn indirect_jumps_have_all_their_targets() {
    let functions = read(SWITCH, "");
    let jumps: Vec<&SassInstruction> =
        functions[0].instructions.iter().filter(|each| each.opcode == "BRX").collect();
    assert_eq!(jumps.len(), 3);
    for jump in jumps {
        assert!(jump.targets.len() >= 3, "{jump:?}");
        assert!(jump.operands[0].starts_with("R2 -0x"), "{jump:?}");
    }
}

#[test]
fn instructions_have_scheduling_bits_and_live_registers() {
    let functions = read(SCALE, LIVE);
    let copy = functions.iter().find(|function| function.name == "_Z4copyIdEvPT_PKS0_").unwrap();
    let check = |address: u64, control: &str, live: u32| {
        let found = copy.instructions.iter().find(|each| each.address == address).unwrap();
        let text = found.control.map(|control| control.to_string());
        assert_eq!(
            (text.as_deref(), found.live_registers),
            (Some(control), Some(live)),
            "{found:?}"
        );
    };
    check(0x00, "B------:R-:W-:-:S01", 1);
    // The thread index arrives later: scoreboard 0, for which its use waits.
    check(0x10, "B------:R-:W0:-:S07", 2);
    check(0x50, "B0-----:R-:W-:Y:S06", 6);
    check(0x60, "B------:R-:W2:-:S01", 6);
    check(0x80, "B--2---:R-:W-:-:S01", 5);
    let all = functions.iter().flat_map(|function| &function.instructions);
    assert!(all.clone().all(|each| each.control.is_some()));
    // Padding after the end has no count.
    assert!(all.clone().all(|each| each.live_registers.is_some() || each.opcode == "NOP"));
    assert!(all.count() > 40);
    assert!(read(INLINED, "")[0].instructions.iter().all(|each| each.control.is_none()));
}

#[test]
fn a_label_behind_the_last_address_is_read() {
    let text = "\t.section\t.text.f\n/*ffffffffffffffff*/ EXIT ;\n.L_x_1:\n";
    assert_eq!(read(text, "")[0].labels, [(".L_x_1".to_owned(), u64::MAX)]);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(\t\\.section\t\\.text\\.|/\\*00[0-9a-f]{2,18}\\*/ |@P0 |`\\(|\\)|\\.L_x_1|:|\n|\t//## File \"|\", line 7| inlined at |\\(\\*|;|,|é|.){0,60}") {
        drop(read(&text, &text));
    }

    #[test]
    fn any_cut_of_a_real_text_is_read_without_panic(from in 0..SCALE.len(), to in 0..SCALE.len()) {
        let part = SCALE.get(from.min(to)..from.max(to)).unwrap_or_default();
        drop(read(part, LIVE.get(from.min(to)..).unwrap_or_default()));
    }
}
