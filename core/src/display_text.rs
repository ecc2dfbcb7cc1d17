//! Text from files made safe to show: nothing in it moves a cursor, changes a colour or turns the reading direction.

use std::borrow::Cow;

/// The text with control, formatting and other invisible characters written as escapes such as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The same for a cell that no spreadsheet takes for a formula: those begin with `=`, `+`, `-`, `@` or a control character
/// (<https://owasp.org/www-community/attacks/CSV_Injection>), and get an apostrophe.
pub(crate) fn in_spreadsheet(text: &str) -> String {
    let shown = visible(text);
    match shown.chars().next() {
        Some('=' | '+' | '-' | '@' | '\'') => format!("'{shown}"),
        Some(_) | None => shown.into_owned(),
    }
}

/// The same for a text of several lines, whose line breaks are ours and stay.
pub fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// Control characters (C0, C1, delete), line and paragraph separators, and the characters of Unicode's general
/// category `Cf` that hide or reorder what stands beside them.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_hides_is_written_out() {
        for (text, shown) in [
            ("plain, größer, 日本", "plain, größer, 日本"),
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("two\nlines\t.", "two\\nlines\\t."),
            ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
