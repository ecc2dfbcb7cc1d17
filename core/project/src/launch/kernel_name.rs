//! The name of a kernel in a step: `ops::scale`, `rmsnorm<PARAM_BLOCK, float>`, restricted to a safe syntax.

use std::{fmt, ops::Range};

/// The longest name, in bytes.
const MAX_BYTES: usize = 512;

/// A name with template arguments if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelName {
    text: String,
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Identifier(String),
    Integer(String),
    Scope,
    Open,
    Close,
    Comma,
}

/// A defect of a name, with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameError {
    pub(super) span: Range<usize>,
    pub(super) found: String,
    pub(super) expected: &'static str,
}

impl KernelName {
    pub(super) fn parse(text: &str) -> Result<Self, NameError> {
        if text.len() > MAX_BYTES {
            let found = format!("a name of {} bytes", text.len());
            return Err(NameError { span: 0..text.len(), found, expected: "at most 512 bytes" });
        }
        let words = words(text)?;
        check_order(text, &words)?;
        Ok(Self {
            text: text.trim().to_owned(),
            words: words.into_iter().map(|(_, word)| word).collect(),
        })
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name without template arguments, such as `ops::scale`.
    pub fn base(&self) -> &str {
        self.text.split('<').next().unwrap_or_default().trim()
    }

    /// Whether template arguments are written.
    pub fn is_template(&self) -> bool {
        self.words.contains(&Word::Open)
    }

    /// The macros that the name uses: `PARAM_…` and `AXIS_…`.
    pub fn macros(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|word| match word {
            Word::Identifier(name) if name.starts_with("PARAM_") || name.starts_with("AXIS_") => {
                Some(name.as_str())
            }
            Word::Identifier(_)
            | Word::Integer(_)
            | Word::Scope
            | Word::Open
            | Word::Close
            | Word::Comma => None,
        })
    }

    /// The name with every macro replaced by its value: the compiler's name expression.
    pub fn expression(&self, value: impl Fn(&str) -> Option<i128>) -> String {
        let mut expression = String::new();
        for word in &self.words {
            // Two words in a row, as in `unsigned int`, need a space between them.
            let separate =
                expression.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_');
            match word {
                Word::Identifier(name) | Word::Integer(name) => {
                    if separate {
                        expression.push(' ');
                    }
                    match value(name) {
                        Some(value) => expression.push_str(&value.to_string()),
                        None => expression.push_str(name),
                    }
                }
                Word::Scope => expression.push_str("::"),
                Word::Open => expression.push('<'),
                Word::Close => expression.push('>'),
                Word::Comma => expression.push_str(", "),
            }
        }
        expression
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn words(text: &str) -> Result<Vec<(Range<usize>, Word)>, NameError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let run = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (length, word) = match first {
            ' ' => (1, None),
            '<' => (1, Some(Word::Open)),
            '>' => (1, Some(Word::Close)),
            ',' => (1, Some(Word::Comma)),
            ':' if rest.starts_with("::") => (2, Some(Word::Scope)),
            '0'..='9' if rest[..run].bytes().all(|byte| byte.is_ascii_digit()) => {
                (run, Some(Word::Integer(rest[..run].to_owned())))
            }
            'a'..='z' | 'A'..='Z' | '_' => (run, Some(Word::Identifier(rest[..run].to_owned()))),
            _ => {
                let span = at..at + first.len_utf8();
                let expected = "identifiers, `::`, `<`, `>`, commas, integers and spaces";
                return Err(NameError {
                    span,
                    found: format!("{first:?} in the name of a kernel"),
                    expected,
                });
            }
        };
        words.extend(word.map(|word| (at..at + length, word)));
        at += length;
    }
    Ok(words)
}

/// A qualified name first; then brackets that match and close at the end.
fn check_order(text: &str, words: &[(Range<usize>, Word)]) -> Result<(), NameError> {
    let fail = |span: Range<usize>, found: &str, expected: &'static str| {
        Err(NameError { span, found: found.to_owned(), expected })
    };
    let end = text.len()..text.len();
    let open = words.iter().position(|(_, word)| *word == Word::Open).unwrap_or(words.len());
    for (index, (span, word)) in words[..open].iter().enumerate() {
        let fits = match word {
            Word::Identifier(_) => index % 2 == 0,
            Word::Scope => index % 2 == 1,
            Word::Integer(_) | Word::Open | Word::Close | Word::Comma => false,
        };
        if !fits {
            return fail(
                span.clone(),
                "this is not the name of a kernel",
                "names joined by `::`, then `<…>` if any",
            );
        }
    }
    if open % 2 == 0 {
        return fail(
            words.get(open).map_or(end, |(span, _)| span.clone()),
            "the name is missing",
            "a name",
        );
    }
    let mut depth = 0_usize;
    for (index, (span, word)) in words.iter().enumerate().skip(open) {
        match word {
            Word::Open => depth += 1,
            Word::Close if depth == 0 => {
                return fail(span.clone(), "`>` without `<`", "matching brackets");
            }
            Word::Close => depth -= 1,
            Word::Identifier(_) | Word::Integer(_) | Word::Scope | Word::Comma => {}
        }
        if depth == 0 && index + 1 < words.len() {
            return fail(
                words[index + 1].0.clone(),
                "something follows the template arguments",
                "the end of the name",
            );
        }
    }
    if depth > 0 { fail(end, "`<` is not closed", "`>`") } else { Ok(()) }
}
