//! Evaluates integer expressions of host code: `32 * sizeof(float)`, `(1 << 8)`.

use std::cell::Cell;

use lightbench_primitives::dtype::Dtype;

/// Maximum nesting of parentheses and names.
const DEEPEST: usize = 24;

/// The longest expression worth evaluating.
const LONGEST: usize = 256;

/// Maximum number of evaluated tokens: macros can double at every level.
const MOST_STEPS: u32 = 1000;

/// The value of `text`, names taken from `lookup`; `None` for anything but plain integers.
pub(super) fn evaluate<'text>(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<&'text str>,
) -> Option<u64> {
    expression(text, lookup, 0, &Cell::new(MOST_STEPS))
}

fn expression<'text>(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<&'text str>,
    depth: usize,
    steps: &Cell<u32>,
) -> Option<u64> {
    if depth > DEEPEST || text.len() > LONGEST {
        return None;
    }
    let mut reader = Reader { rest: text.trim(), lookup, depth, steps };
    let value = reader.binary(0)?;
    reader.rest.is_empty().then_some(value)
}

/// Operators by rising precedence.
const LEVELS: [&[&str]; 3] = [&["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

struct Reader<'reader, 'text> {
    rest: &'reader str,
    lookup: &'reader dyn Fn(&str) -> Option<&'text str>,
    depth: usize,
    steps: &'reader Cell<u32>,
}

impl<'reader> Reader<'reader, '_> {
    fn binary(&mut self, level: usize) -> Option<u64> {
        let Some(operators) = LEVELS.get(level) else { return self.primary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) =
            operators.iter().find(|operator| self.rest.starts_with(**operator))
        {
            self.skip(operator.len());
            let right = self.binary(level + 1)?;
            left = match *operator {
                "<<" => left.checked_mul(2_u64.checked_pow(u32::try_from(right).ok()?)?)?,
                ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn primary(&mut self) -> Option<u64> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        if self.rest.starts_with('(') {
            let inside = self.parenthesis()?;
            return expression(inside, self.lookup, self.depth + 1, self.steps);
        }
        let end = self
            .rest
            .find(|letter: char| letter != '_' && letter != '\'' && !letter.is_ascii_alphanumeric())
            .unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.skip(end);
        if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            return literal(word);
        }
        if word == "sizeof" {
            return Some(Dtype::from_c_name(self.parenthesis()?.trim())?.address_bytes());
        }
        expression((self.lookup)(word)?, self.lookup, self.depth + 1, self.steps)
    }

    /// Consumes a parenthesis and returns its content.
    fn parenthesis(&mut self) -> Option<&'reader str> {
        let text = self.rest;
        let mut depth = 0;
        for (at, letter) in text.char_indices() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.skip(at + 1);
                return text.get(1..at);
            }
        }
        None
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default().trim_start();
    }
}

fn literal(word: &str) -> Option<u64> {
    let word = word.replace('\'', "").to_ascii_lowercase();
    let digits = word.trim_end_matches(['u', 'l']);
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}
