//! Modules compiled by NVRTC load, and match the numbers that are stored beside them.

use super::{folder, loaded, texts};

/// `name.ptx functions instructions registers`, one line a module.
#[test]
fn modules_load_with_the_expected_numbers() {
    let expected = std::fs::read_to_string(folder("modules").join("numbers.txt")).unwrap();
    let mut found = String::new();
    for (name, text) in texts("modules") {
        let module = loaded(&text);
        let bodies: Vec<_> = module.functions.iter().filter_map(|f| f.body.as_ref()).collect();
        let instructions: usize = bodies.iter().map(|body| body.instructions.len()).sum();
        let registers: usize = bodies.iter().map(|body| body.registers.len()).sum();
        let functions = module.functions.len();
        found += &format!("{name} {functions} {instructions} {registers}\n");
    }
    assert_eq!(found, expected);
}

/// Counted by hand in another way: lines that end an instruction.
#[test]
fn every_instruction_of_the_text_is_in_the_module() {
    for (name, text) in texts("modules") {
        let module = loaded(&text);
        let lines: std::collections::BTreeSet<u32> = module
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref())
            .flat_map(|body| body.instructions.iter().map(|instruction| instruction.place.line))
            .collect();
        let mut depth = 0;
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default().trim();
            depth += code.matches('{').count() as i32;
            let starts = code.trim_start_matches(['{', '@', '!']).trim_start();
            let simple = ["add.", "ld.", "st.", "mov.", "bra", "setp.", "mul.", "cvt.", "ret;"];
            if depth > 0 && simple.iter().any(|opcode| starts.starts_with(opcode)) {
                assert!(lines.contains(&(index as u32 + 1)), "{name}:{}: {line}", index + 1);
            }
            depth -= code.matches('}').count() as i32;
        }
    }
}
