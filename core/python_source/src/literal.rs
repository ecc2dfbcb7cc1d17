//! Numbers and strings as Python reads them.

/// The value of an integer; none beyond 127 bits, or with a suffix of another kind (`1j`).
pub(crate) fn integer(written: &str) -> Option<i128> {
    let digits = written.replace('_', "").to_ascii_lowercase();
    let radix = |prefix: &str| digits.strip_prefix(prefix).map(str::to_owned);
    if let Some(digits) = radix("0x") {
        return i128::from_str_radix(&digits, 16).ok();
    }
    if let Some(digits) = radix("0o") {
        return i128::from_str_radix(&digits, 8).ok();
    }
    match radix("0b") {
        Some(digits) => i128::from_str_radix(&digits, 2).ok(),
        None => digits.parse().ok(),
    }
}

/// The value of a floating-point number; none for an imaginary one.
pub(crate) fn float(written: &str) -> Option<f64> {
    written.replace('_', "").parse().ok()
}

/// What the letters before the quotes permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringKind {
    /// Escapes are replaced.
    Plain,
    /// `r"…"`: backslashes stay.
    Raw,
    /// `b"…"` or `f"…"`: no text that is known here.
    Unknown,
}

/// The kind of a string whose opening, `rb"""`, is given.
pub(crate) fn string_kind(opening: &str) -> StringKind {
    let letters = opening.trim_end_matches(['"', '\'']).to_ascii_lowercase();
    match letters.as_str() {
        "" | "u" => StringKind::Plain,
        "r" => StringKind::Raw,
        _ => StringKind::Unknown,
    }
}

/// The content of a plain string with its escapes replaced; none for an escape that Python refuses, and for characters
/// by name.
pub(crate) fn unescape(content: &str) -> Option<String> {
    let mut text = String::with_capacity(content.len());
    let mut letters = content.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next()? {
            '\n' => {}
            '\r' => {
                letters.next_if_eq(&'\n');
            }
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            quoted @ ('\\' | '\'' | '"') => text.push(quoted),
            'x' => text.push(hexadecimal(&mut letters, 2)?),
            'u' => text.push(hexadecimal(&mut letters, 4)?),
            'U' => text.push(hexadecimal(&mut letters, 8)?),
            first @ '0'..='7' => {
                let mut value = first.to_digit(8)?;
                for _ in 0..2 {
                    let next = letters.next_if(|letter| letter.is_digit(8));
                    let Some(digit) = next.and_then(|letter| letter.to_digit(8)) else { break };
                    value = value * 8 + digit;
                }
                text.push(char::from_u32(value)?);
            }
            'N' => return None,
            // Python keeps the backslash of an unknown escape.
            unknown => text.extend(['\\', unknown]),
        }
    }
    Some(text)
}

fn hexadecimal(letters: &mut impl Iterator<Item = char>, digits: usize) -> Option<char> {
    let mut value = 0_u32;
    for _ in 0..digits {
        value = value.checked_mul(16)?.checked_add(letters.next()?.to_digit(16)?)?;
    }
    char::from_u32(value)
}
