//! `inlined.sass` and `inlined.json` are the two forms in which nvdisasm 13.5 writes one cubin
//! (sm_90); `switch.sass` has indirect jumps.

use proptest::prelude::*;

use super::*;

const INLINED: &str = include_str!("inlined.sass");
const SWITCH: &str = include_str!("switch.sass");

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
    let text: Vec<(String, Vec<Plain>)> = read(INLINED).iter().map(plain).collect();
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
    let functions = read(INLINED);
    assert_eq!(functions.len(), 1);
    assert_eq!(lines(at(&functions, 0)), ["/build/kernels/k.cu:9"]);
    assert_eq!(lines(at(&functions, 0x20)), ["/build/kernels/k.cu:11"]);
    let chain = ["/build/h.cuh:3", "/build/kernels/k.cu:6", "/build/kernels/k.cu:11"];
    assert_eq!(lines(at(&functions, 0x150)), chain);
    assert_eq!(lines(at(&functions, 0x190)), ["/build/kernels/k.cu:11"]);
}

#[test]
fn instructions_have_predicate_operands_and_targets() {
    let functions = read(INLINED);
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
    let functions = read(SWITCH);
    let jumps: Vec<&SassInstruction> =
        functions[0].instructions.iter().filter(|each| each.opcode == "BRX").collect();
    assert_eq!(jumps.len(), 3);
    for jump in jumps {
        assert!(jump.targets.len() >= 3, "{jump:?}");
        assert!(jump.operands[0].starts_with("R2 -0x"), "{jump:?}");
    }
}

#[test]
fn a_label_behind_the_last_address_is_read() {
    let text = "\t.section\t.text.f\n/*ffffffffffffffff*/ EXIT ;\n.L_x_1:\n";
    assert_eq!(read(text)[0].labels, [(".L_x_1".to_owned(), u64::MAX)]);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(\t\\.section\t\\.text\\.|/\\*00[0-9a-f]{2,18}\\*/ |@P0 |`\\(|\\)|\\.L_x_1|:|\n|\t//## File \"|\", line 7| inlined at |\\(\\*|;|,|é|.){0,60}") {
        drop(read(&text));
    }

    #[test]
    fn any_cut_of_a_real_text_is_read_without_panic(from in 0..INLINED.len(), to in 0..INLINED.len()) {
        drop(read(INLINED.get(from.min(to)..from.max(to)).unwrap_or_default()));
    }
}
