//! Makes text from files safe to display: removes characters that move the cursor, change colours or reverse the
//! reading direction.

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

/// Whether a character changes the display direction of the following text (Unicode Standard Annex #9, "Directional
/// Formatting Characters"). With such a character, source code is displayed in another order than it is compiled.
#[must_use]
pub const fn turns_direction(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Visible text for a spreadsheet cell: text that a spreadsheet would read as a formula, because it begins with `=`,
/// `+`, `-`, `@` or a control character (<https://owasp.org/www-community/attacks/CSV_Injection>), gets an apostrophe.
pub fn in_spreadsheet(text: &str) -> String {
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

/// Control characters (C0, C1, delete), line and paragraph separators, and the characters of Unicode's general category
/// `Cf` that hide or reorder neighbouring characters.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{turns_direction, visible};

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

    #[test]
    fn every_control_that_moves_or_turns_is_written_out() {
        let controls = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}');
        let turning = ('\0'..=char::MAX).filter(|each| turns_direction(*each));
        assert_eq!(turning.clone().count(), 12);
        for character in controls.chain(turning) {
            let shown = visible(&character.to_string()).into_owned();
            assert!(shown.starts_with('\\'), "{:?}: {shown}", character);
        }
    }
}
