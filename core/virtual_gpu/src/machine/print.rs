//! `vprintf`: formats arguments as text. CUDA C++ Programming Guide, "Formatted Output".

/// One conversion specification of a format.
struct Conversion {
    flags: String,
    width: usize,
    precision: Option<usize>,
    long: bool,
    letter: u8,
}

/// Formats; returns the text and the number of arguments used. `argument` takes the bytes of the next argument,
/// `text` reads a string of the kernel.
pub(super) fn format(
    format: &[u8],
    argument: &mut dyn FnMut(u64) -> u64,
    text: impl Fn(u64) -> Vec<u8>,
) -> (String, u64) {
    let mut out = String::new();
    let mut used = 0;
    let mut rest = format;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            out.push(char::from(*first));
            continue;
        }
        if rest.first() == Some(&b'%') {
            out.push('%');
            rest = &rest[1..];
            continue;
        }
        let Some(conversion) = conversion(&mut rest, argument) else { break };
        let body = match conversion.letter {
            b's' => String::from_utf8_lossy(&text(argument(8))).into_owned(),
            b'c' => char::from(argument(4) as u8).to_string(),
            b'p' => format!("{:#x}", argument(8)),
            b'd' | b'i' if conversion.long => (argument(8) as i64).to_string(),
            b'd' | b'i' => (argument(4) as i32).to_string(),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                float(f64::from_bits(argument(8)), &conversion)
            }
            letter => {
                let value = argument(if conversion.long { 8 } else { 4 });
                match letter {
                    b'x' => format!("{value:x}"),
                    b'X' => format!("{value:X}"),
                    b'o' => format!("{value:o}"),
                    _ => value.to_string(),
                }
            }
        };
        used += 1;
        out.push_str(&padded(&body, &conversion));
    }
    (out, used)
}

fn conversion(rest: &mut &[u8], argument: &mut dyn FnMut(u64) -> u64) -> Option<Conversion> {
    let mut conversion =
        Conversion { flags: String::new(), width: 0, precision: None, long: false, letter: b'd' };
    loop {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        match byte {
            b'-' | b'+' | b' ' | b'#' => conversion.flags.push(char::from(*byte)),
            b'0' if conversion.width == 0 && conversion.precision.is_none() => {
                conversion.flags.push('0');
            }
            b'0'..=b'9' => {
                let digit = usize::from(byte - b'0');
                match &mut conversion.precision {
                    Some(precision) => *precision = (*precision * 10 + digit).min(512),
                    None => conversion.width = (conversion.width * 10 + digit).min(512),
                }
            }
            b'*' => conversion.width = (argument(4) as usize).min(512),
            b'.' => conversion.precision = Some(0),
            b'l' | b'z' | b'j' | b't' => conversion.long = true,
            b'h' => {}
            letter => {
                conversion.letter = *letter;
                return Some(conversion);
            }
        }
    }
}

fn float(value: f64, conversion: &Conversion) -> String {
    let precision = conversion.precision.unwrap_or(6);
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_owned() } else { format!("{value}") };
    }
    match conversion.letter {
        b'e' | b'E' => scientific(value, precision),
        b'g' | b'G' => {
            let precision = precision.max(1);
            let exponent = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
            if exponent < -4 || exponent >= precision as i32 {
                scientific(value, precision - 1)
            } else {
                let digits = (precision as i32 - 1 - exponent).max(0) as usize;
                let text = format!("{value:.digits$}");
                if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.').to_owned()
                } else {
                    text
                }
            }
        }
        _ => format!("{value:.precision$}"),
    }
}

fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

fn padded(body: &str, conversion: &Conversion) -> String {
    let signed = matches!(conversion.letter, b'd' | b'i' | b'f' | b'e' | b'g');
    let body = if signed && conversion.flags.contains('+') && !body.starts_with('-') {
        format!("+{body}")
    } else {
        body.to_owned()
    };
    let missing = conversion.width.saturating_sub(body.len());
    if conversion.flags.contains('-') {
        format!("{body}{}", " ".repeat(missing))
    } else if conversion.flags.contains('0') {
        let (sign, digits) = match body.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", body.as_str()),
        };
        format!("{sign}{}{digits}", "0".repeat(missing))
    } else {
        format!("{}{body}", " ".repeat(missing))
    }
}
