//! The tokens of an expression.

use std::ops::Range;

use super::{Binary, ExpressionError, Reason};

/// One word with its bytes in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) span: Range<usize>,
    pub(super) word: Word,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Integer(i128),
    Decimal(f64),
    Name(String),
    Text(String),
    Operator(Binary),
    Not,
    Open,
    Close,
    Comma,
}

/// Splits the whole text into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let token = next(text, at, first)?;
        at = token.span.end;
        tokens.push(token);
    }
    Ok(tokens)
}

fn next(text: &str, at: usize, first: char) -> Result<Token, ExpressionError> {
    match first {
        '0'..='9' => number(text, at),
        'a'..='z' | 'A'..='Z' | '_' => Ok(name(text, at)),
        '"' | '\'' => quoted(text, at, first),
        _ => symbol(text, at, first),
    }
}

fn number(text: &str, at: usize) -> Result<Token, ExpressionError> {
    let rest = &text.as_bytes()[at..];
    let digits = |from: usize| {
        rest[from.min(rest.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit() || **b == b'_')
            .count()
    };
    let mut length = digits(0);
    let mut decimal = false;
    if rest.get(length) == Some(&b'.') && rest.get(length + 1).is_some_and(u8::is_ascii_digit) {
        decimal = true;
        length += 1 + digits(length + 1);
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        if rest.get(length + 1 + sign).is_some_and(u8::is_ascii_digit) {
            decimal = true;
            length += 1 + sign + digits(length + 1 + sign);
        }
    }
    let span = at..at + length;
    let plain = text[span.clone()].replace('_', "");
    let word = if decimal {
        let value = plain.parse::<f64>().ok().filter(|value| value.is_finite());
        value.map(Word::Decimal)
    } else {
        plain.parse().ok().map(Word::Integer)
    };
    let Some(word) = word else {
        return Err(ExpressionError::new(span, Reason::NumberTooLarge));
    };
    if rest.get(length).is_some_and(|byte| byte.is_ascii_alphabetic()) {
        let end =
            span.end + rest[length..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        return Err(ExpressionError::new(at..end, Reason::NumberWithLetters));
    }
    Ok(Token { span, word })
}

fn name(text: &str, at: usize) -> Token {
    let rest = &text.as_bytes()[at..];
    let part = |from: usize| {
        rest[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
    };
    let mut length = part(0);
    while rest.get(length) == Some(&b'.') && part(length + 1) > 0 {
        length += 1 + part(length + 1);
    }
    let span = at..at + length;
    let word = match &text[span.clone()] {
        "or" => Word::Operator(Binary::Or),
        "and" => Word::Operator(Binary::And),
        "not" => Word::Not,
        other => Word::Name(other.to_owned()),
    };
    Token { span, word }
}

fn quoted(text: &str, at: usize, quote: char) -> Result<Token, ExpressionError> {
    let inner = &text[at + 1..];
    match inner.find(quote) {
        Some(length) => {
            Ok(Token { span: at..at + length + 2, word: Word::Text(inner[..length].to_owned()) })
        }
        None => Err(ExpressionError::new(at..text.len(), Reason::UnclosedText)),
    }
}

/// The longest symbol is taken; C operators that the language lacks are reported with their replacement.
fn symbol(text: &str, at: usize, first: char) -> Result<Token, ExpressionError> {
    const SYMBOLS: [(&str, Word); 16] = [
        ("**", Word::Operator(Binary::Power)),
        ("//", Word::Operator(Binary::FloorDivide)),
        ("==", Word::Operator(Binary::Equal)),
        ("!=", Word::Operator(Binary::NotEqual)),
        ("<=", Word::Operator(Binary::LessOrEqual)),
        (">=", Word::Operator(Binary::GreaterOrEqual)),
        ("<", Word::Operator(Binary::Less)),
        (">", Word::Operator(Binary::Greater)),
        ("+", Word::Operator(Binary::Add)),
        ("-", Word::Operator(Binary::Subtract)),
        ("*", Word::Operator(Binary::Multiply)),
        ("/", Word::Operator(Binary::Divide)),
        ("%", Word::Operator(Binary::Remainder)),
        ("(", Word::Open),
        (")", Word::Close),
        (",", Word::Comma),
    ];
    const HABITS: [(&str, &str); 8] = [
        ("&&", "and"),
        ("||", "or"),
        ("<<", "* 2 **"),
        (">>", "// 2 **"),
        ("!", "not"),
        ("=", "=="),
        ("^", "**"),
        ("&", "and"),
    ];
    let rest = &text[at..];
    let shift = rest.starts_with("<<") || rest.starts_with(">>");
    if let Some((symbol, word)) =
        SYMBOLS.iter().find(|(symbol, _)| !shift && rest.starts_with(symbol))
    {
        return Ok(Token { span: at..at + symbol.len(), word: word.clone() });
    }
    if let Some((habit, instead)) = HABITS.iter().find(|(habit, _)| rest.starts_with(habit)) {
        let reason = Reason::ForeignOperator { found: habit, instead };
        return Err(ExpressionError::new(at..at + habit.len(), reason));
    }
    Err(ExpressionError::new(at..at + first.len_utf8(), Reason::UnexpectedCharacter(first)))
}

impl Word {
    /// The word as an error message shows it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Integer(value) => format!("`{value}`"),
            Self::Decimal(value) => format!("`{value}`"),
            Self::Name(name) => format!("`{name}`"),
            Self::Text(_) => "a text".to_owned(),
            Self::Operator(operator) => format!("`{}`", operator.symbol()),
            Self::Not => "`not`".to_owned(),
            Self::Open => "`(`".to_owned(),
            Self::Close => "`)`".to_owned(),
            Self::Comma => "`,`".to_owned(),
        }
    }
}
