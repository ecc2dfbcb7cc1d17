//! Normalisation of machine code: replaces what the compiler names anew in each build.

/// The normalised instruction. Constants and offsets are kept.
pub(super) fn instruction(line: &str) -> String {
    let mut text = line.trim();
    let mut normal = String::with_capacity(text.len());
    // Jump targets are addresses of one build.
    let jumps = is_jump(text);
    while let Some(first) = text.chars().next() {
        if text.starts_with("/*") {
            text = text.find("*/").map_or("", |end| &text[end + 2..]);
            continue;
        }
        if text.starts_with("//") {
            break;
        }
        let length = if is_part(first) {
            text.find(|each| !is_part(each)).unwrap_or(text.len())
        } else {
            first.len_utf8()
        };
        let (piece, rest) = text.split_at(length);
        text = rest;
        if first.is_whitespace() {
            if !normal.is_empty() && !normal.ends_with(' ') {
                normal.push(' ');
            }
        } else if jumps && piece.starts_with("0x") {
            normal.push_str("address");
        } else {
            normal.push_str(&word(piece));
        }
    }
    normal.truncate(normal.trim_end().len());
    normal
}

fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '$')
}

fn is_jump(line: &str) -> bool {
    const JUMPS: [&str; 8] = ["BRA", "BRX", "JMP", "JMX", "CALL", "BSSY", "WARPSYNC", "RET"];
    let opcodes = line
        .split(|each: char| !is_part(each))
        .map(|word| word.split('.').next().unwrap_or_default());
    opcodes.into_iter().any(|opcode| JUMPS.contains(&opcode))
}

/// A word, with a placeholder for registers and addresses.
fn word(piece: &str) -> String {
    if piece.starts_with(".L") || piece.starts_with("$L") {
        return "label".to_owned();
    }
    let (name, modifiers) = piece.split_at(piece.find('.').unwrap_or(piece.len()));
    let modifiers = modifiers.replace(".reuse", "");
    let prefix = name.trim_end_matches(|each: char| each.is_ascii_digit());
    let is_numbered = prefix.len() < name.len();
    if is_numbered && matches!(prefix, "R" | "UR" | "P" | "UP" | "B" | "SB") {
        return format!("{prefix}#{modifiers}");
    }
    format!("{name}{modifiers}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_away_and_nothing_else() {
        let check = |line: &str, expected: &str| assert_eq!(instruction(line), expected, "{line}");
        check(
            "        /*0010*/                   MOV R1, c[0x0][0x28] ;",
            "MOV R#, c[0x0][0x28] ;",
        );
        check("@!P0 FFMA R4, R2.reuse, R3, RZ ;", "@!P# FFMA R#, R#, R#, RZ ;");
        check("LDG.E.128 R4, desc[UR4][R2.64+0x10] ;", "LDG.E.128 R#, desc[UR#][R#.64+0x10] ;");
        check("@P1 BRA `(.L_x_3) ;", "@P# BRA `(label) ;");
        check("BRA 0x1f0 ;", "BRA address ;");
        check("BSSY B0, `(.L_x_3) ;", "BSSY B#, `(label) ;");
        check("S2R R0, SR_TID.X ;  // why", "S2R R#, SR_TID.X ;");
        check(".L_x_3:", "label:");
        check("ISETP.GE.AND P0, PT, R0, 0x40, PT ;", "ISETP.GE.AND P#, PT, R#, 0x40, PT ;");
        check("", "");
    }
}
