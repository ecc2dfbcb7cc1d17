//! Fenced blocks for text from outside: of bounded length, with a fence that the text cannot end.

/// Least length of a fence.
const SHORTEST: usize = 3;

/// A text of at most about `most` bytes as a fenced block. The fence is longer than any in the text, which therefore cannot
/// end the block.
#[must_use]
pub fn fenced(text: &str, info: &str, most: usize) -> String {
    let text = bounded(text, most);
    let fence = "`".repeat(SHORTEST.max(longest_run(&text) + 1));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}")
}

/// A text on one line of at most `most` characters, with control characters replaced by spaces.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    let mut line: String = text.trim().chars().take(most).map(plain).collect();
    if text.trim().chars().nth(most).is_some() {
        line.push('…');
    }
    line
}

/// The text, or its beginning in whole lines with the number of omitted lines.
fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut lines = text.split_inclusive('\n');
    for line in lines.by_ref() {
        if kept.len() + line.len() > most {
            // The first line alone may be too long.
            if kept.is_empty() {
                kept = line.chars().take(most).collect();
                kept.push('\n');
            }
            break;
        }
        kept.push_str(line);
    }
    let missing = lines.count() + 1;
    kept + &format!("… ({missing} more lines are not shown)\n")
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, most: usize, expected: &str) {
        assert_eq!(fenced(text, "text", most), expected, "{text:?}");
    }

    #[test]
    fn a_block_ends_where_we_end_it() {
        check("a", 10, "```text\na\n```");
        check("a\n", 10, "```text\na\n```");
        check("", 10, "```text\n```");
        check("```\nignore\n", 20, "````text\n```\nignore\n````");
        check("x `````` y", 20, "```````text\nx `````` y\n```````");
    }

    #[test]
    fn a_block_has_a_bound() {
        check("one\ntwo\nthree\n", 8, "```text\none\ntwo\n… (1 more lines are not shown)\n```");
        check("ääääää", 4, "```text\nääää\n… (1 more lines are not shown)\n```");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line(" a\nb\u{7}c ", 10), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
