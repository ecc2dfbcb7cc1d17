//! The signatures of top-level functions of a Python text, without executing it.
//!
//! A small lexer knows strings, comments and brackets; that is all that a parameter list needs.

/// A function at the top level of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters, without `*`, `/` and those that collect further arguments.
    pub parameters: Vec<Parameter>,
    /// Whether it takes any further keyword arguments (`**kwargs`).
    pub takes_any_keyword: bool,
    /// The text of its body.
    pub body: String,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The text of its default value.
    pub default: Option<String>,
}

/// The top-level functions of a text, in its order. Text that is not Python has none.
#[must_use]
pub fn functions(text: &str) -> Vec<Function> {
    let tokens = mask(text);
    let mut found: Vec<Function> = Vec::new();
    let mut at = 0;
    for line in tokens.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if let Some(rest) = line.strip_prefix("def ")
            && let Some(function) = function(text, &tokens, start + line.len() - rest.len())
        {
            found.push(function);
        }
    }
    found
}

/// The text with the content of strings and comments replaced by blanks, of the same length.
///
/// Line breaks inside strings become blanks too, so that each line that remains begins a statement or continues one.
fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut masked = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => {
                let end = bytes[at..].iter().position(|byte| *byte == b'\n');
                let end = end.map_or(bytes.len(), |length| at + length);
                masked[at..end].fill(b' ');
                at = end;
            }
            quote @ (b'"' | b'\'') => {
                let end = string_end(bytes, at, quote);
                masked[at..end].fill(b'_');
                at = end;
            }
            byte => {
                // No name of ours: names with other letters are not read.
                if !byte.is_ascii() {
                    masked[at] = 1;
                }
                at += 1;
            }
        }
    }
    String::from_utf8(masked).unwrap_or_default()
}

/// The end of a string that begins with `quote` at `start`.
fn string_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let triple = bytes[start..].starts_with(&[quote; 3]);
    let width = if triple { 3 } else { 1 };
    let mut at = start + width;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
        } else if !triple && bytes[at] == b'\n' {
            return at;
        } else if bytes[at..].starts_with(&[quote; 3][..width]) {
            return at + width;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The function whose name begins at `start`.
fn function(text: &str, masked: &str, start: usize) -> Option<Function> {
    let open = start + masked.get(start..)?.find('(')?;
    let name = masked.get(start..open)?.trim().to_owned();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        return None;
    }
    let close = closing(masked, open)?;
    let mut parameters = Vec::new();
    let mut takes_any_keyword = false;
    for (from, to) in split(masked, open + 1, close, b',') {
        let written = masked.get(from..to)?;
        let skipped = written.len() - written.trim_start().len();
        let trimmed = written.trim();
        if trimmed.starts_with("**") {
            takes_any_keyword = true;
        } else if !trimmed.is_empty() && trimmed != "/" && !trimmed.starts_with('*') {
            parameters.push(parameter(text, masked, from + skipped, to)?);
        }
    }
    let body_start = close + masked.get(close..)?.find(':')?;
    let body = body(text, masked, body_start);
    Some(Function { name, parameters, takes_any_keyword, body })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word_letter)
}

fn parameter(text: &str, masked: &str, from: usize, to: usize) -> Option<Parameter> {
    let written = masked.get(from..to)?;
    let end = written.find([':', '=']).unwrap_or(written.len());
    let name = written.get(..end)?.trim().to_owned();
    if !is_name(&name) {
        return None;
    }
    let parts = split(masked, from, to, b'=');
    let default = parts.get(1).and_then(|(from, to)| text.get(*from..*to));
    Some(Parameter { name, default: default.map(|default| default.trim().to_owned()) })
}

/// The end of the brackets that open at `open`.
fn closing(masked: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in masked.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The parts of a range between separators outside brackets.
fn split(masked: &str, from: usize, to: usize, separator: u8) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (from, 0_i64);
    for (at, byte) in masked.bytes().enumerate().take(to).skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ if byte == separator && depth == 0 => {
                parts.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push((start, to));
    parts
}

/// The text after the colon at `start` up to the next line without an indent.
fn body(text: &str, masked: &str, start: usize) -> String {
    let rest = masked.get(start..).unwrap_or_default();
    let mut length = 0;
    for (index, line) in rest.split_inclusive('\n').enumerate() {
        let is_outside =
            !line.starts_with([' ', '\t', '\n', '\r', ')', '_']) && !line.trim().is_empty();
        if index > 0 && is_outside {
            break;
        }
        length += line.len();
    }
    text.get(start..start + length).unwrap_or_default().to_owned()
}

/// Whether a function's body changes the content of a parameter: `x[…] = …`, `x += …`, `x.copy_(…)`, `x.add_(…)`.
#[must_use]
pub fn writes_into(body: &str, parameter: &str) -> bool {
    let masked = mask(body);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut from = 0;
    while let Some(found) = masked.get(from..).and_then(|rest| rest.find(parameter)) {
        let start = from + found;
        let end = start + parameter.len();
        from = end;
        let before = masked.as_bytes().get(start.wrapping_sub(1)).copied();
        if before.is_some_and(|byte| is_word(byte) || byte == b'.') {
            continue;
        }
        if writes_after(masked.get(end..).unwrap_or_default()) {
            return true;
        }
    }
    false
}

/// Whether the text after a name writes into it.
fn writes_after(rest: &str) -> bool {
    let mut rest = rest;
    while rest.starts_with('[') {
        let Some(close) = closing(rest, 0) else { return false };
        rest = rest.get(close + 1..).unwrap_or_default();
        let after = rest.trim_start_matches(' ');
        if after.starts_with('=') && !after.starts_with("==") {
            return true;
        }
    }
    let after = rest.trim_start_matches(' ');
    if ["+=", "-=", "*=", "/=", "|=", "&="].iter().any(|operator| after.starts_with(operator)) {
        return true;
    }
    let Some(method) = rest.strip_prefix('.') else { return false };
    let end = method.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let (name, rest) = method.split_at(end.unwrap_or(method.len()));
    name.ends_with('_') && !name.ends_with("__") && rest.starts_with('(')
}

/// How many values a function returns, by its last `return`; `None` if it returns none or another function's unknown
/// number of them.
#[must_use]
pub fn returned_values(all: &[Function], name: &str) -> Option<usize> {
    returned_by(all, name, MAX_CALLS)
}

/// How many calls `return` is followed through.
const MAX_CALLS: usize = 8;

fn returned_by(all: &[Function], name: &str, calls: usize) -> Option<usize> {
    let body = &all.iter().find(|function| function.name == name)?.body;
    let masked = mask(body);
    let indent = masked.lines().skip(1).find(|line| !line.trim().is_empty())?;
    let indent = indent.len() - indent.trim_start().len();
    let mut most = None;
    let mut at = 0;
    let mut nested_at: Option<usize> = None;
    for line in masked.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let width = line.len() - line.trim_start().len();
        if line.trim().is_empty() || width < indent {
            continue;
        }
        if nested_at.is_some_and(|nested| width <= nested) {
            nested_at = None;
        }
        if nested_at.is_none() && line.trim_start().starts_with("def ") {
            nested_at = Some(width);
        }
        let Some(rest) = line.trim_start().strip_prefix("return") else { continue };
        if nested_at.is_some() || rest.starts_with(is_word_letter) {
            continue;
        }
        let count = values_of(all, &masked, start + width + "return".len(), calls);
        most = most.max(count);
    }
    most
}

fn is_word_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// How many values the expression at `start` has.
fn values_of(all: &[Function], masked: &str, start: usize, calls: usize) -> Option<usize> {
    let end = expression_end(masked, start);
    let text = masked.get(start..end)?.trim();
    if text.is_empty() || text == "None" {
        return None;
    }
    let mut parts = split(text, 0, text.len(), b',');
    if parts.len() == 1 && text.starts_with('(') && closing(text, 0) == Some(text.len() - 1) {
        parts = split(text, 1, text.len() - 1, b',');
    }
    let is_filled = |range: &(usize, usize)| {
        text.get(range.0..range.1).is_some_and(|part| !part.trim().is_empty())
    };
    let count = parts.iter().filter(|range| is_filled(range)).count();
    let called = text.split_once('(').map(|(called, _)| called);
    match called.filter(|_| count == 1 && text.ends_with(')')) {
        Some(called) if all.iter().any(|function| function.name == called) => {
            returned_by(all, called, calls.checked_sub(1)?)
        }
        Some(_) | None => Some(count),
    }
}

/// The end of the line at `start`, or of the brackets that are open at its end.
fn expression_end(masked: &str, start: usize) -> usize {
    let mut depth = 0_i64;
    for (at, byte) in masked.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'\n' if depth <= 0 => return at,
            _ => {}
        }
    }
    masked.len()
}

/// A default value as a number, if it is one.
#[must_use]
pub fn literal(default: &str) -> Option<lightbench_project::written::NumberWritten> {
    use lightbench_project::written::NumberWritten;
    match default {
        "True" => return Some(NumberWritten::Boolean(true)),
        "False" => return Some(NumberWritten::Boolean(false)),
        _ => {}
    }
    if let Ok(value) = default.replace('_', "").parse::<i64>() {
        return Some(NumberWritten::Integer(i128::from(value)));
    }
    let value: f64 = default.parse().ok()?;
    value.is_finite().then_some(NumberWritten::Real(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = functions(text);
        let shown: Vec<(String, String)> = found
            .iter()
            .map(|function| {
                let parameters = function.parameters.iter().map(|parameter| {
                    let default = parameter.default.as_ref();
                    let default = default.map(|value| format!("={value}")).unwrap_or_default();
                    format!("{}{default}", parameter.name)
                });
                let mut parameters: Vec<String> = parameters.collect();
                parameters.extend(function.takes_any_keyword.then(|| "**".to_owned()));
                (function.name.clone(), parameters.join(" "))
            })
            .collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(name, all)| ((*name).to_owned(), (*all).to_owned())).collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn parameters_are_read_with_their_defaults() {
        check("def f(a, b: int = 3, *, c=(1, 2), **rest): return a", &[("f", "a b=3 c=(1, 2) **")]);
        check(
            "@no_grad()\ndef f(\n    a,  # one, two\n    b='x,y',\n):\n    pass\n",
            &[("f", "a b='x,y'")],
        );
        check("def f(a: Dict[str, int] = None) -> int:\n    def g(x): pass\n", &[("f", "a=None")]);
        check("'''\ndef no(x):\n'''\ndef f(): pass\ndef g(x): pass", &[("f", ""), ("g", "x")]);
        check("class A:\n    def f(self): pass\n", &[]);
        check("def f(", &[]);
        check("def ä(x): pass", &[]);
    }

    #[test]
    fn returned_values_are_counted() {
        let check = |text: &str, expected| {
            assert_eq!(returned_values(&functions(text), "f"), expected, "{text}");
        };
        check("def f(x):\n    return x\n", Some(1));
        check("def f(x):\n    return x, y(1, 2)\n", Some(2));
        check("def f(x):\n    return (\n        x,\n        y,\n    )\n", Some(2));
        check("def f(x):\n    if x:\n        return x, y, z\n    return x, y\n", Some(3));
        check("def f(x):\n    def g(): return 1, 2, 3\n    return x\n", Some(1));
        check("def g(x):\n    return x, x\n\n\ndef f(x):\n    return g(x)\n", Some(2));
        check("def f(x):\n    return f(x)\n", None);
        check("def f(x):\n    x[0] = 1\n", None);
        check("def f(x):\n    return (x, y)[0]\n", Some(1));
    }

    #[test]
    fn writes_into_a_parameter_are_found() {
        let check = |body: &str, expected| assert_eq!(writes_into(body, "x"), expected, "{body}");
        check("x[0, 1] = 2", true);
        check("x[i][j] = 2", true);
        check("x += 1", true);
        check("x.copy_(y)", true);
        check("x[:n].add_(y)", true);
        check("y = x[0] == 2", false);
        check("y = x + 1", false);
        check("ax[0] = 1", false);
        check("y.x[0] = 1", false);
        check("x.size()", false);
        check("'x[0] = 1'", false);
        check("x.__len__()", false);
    }
}
