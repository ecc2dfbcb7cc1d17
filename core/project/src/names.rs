//! Rules for names: identifiers, names of files and workloads, and reserved words.

use super::{
    expression::{Expression, Kind, Scope},
    locate::Located,
    problem::Findings,
};

/// The longest name, in bytes.
pub const MAX_NAME: usize = 64;

/// Words of the expression language, of argument lists (`null`) and of C++: a name becomes `axis::name` in a kernel's code.
///
/// Source: ISO C++20, tables 5 and 6 [lex.key], [lex.digraph].
pub const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "ceil_div",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "device",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "log2",
    "log2_floor",
    "long",
    "max",
    "max_active_blocks",
    "min",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "null",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "sqrt",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Whether the text is a letter or `_`, then letters, digits or `_`.
pub fn is_identifier(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.len() <= MAX_NAME
}

/// Whether the text may name a workload or a kernel: an identifier that may also contain `-` and `.`.
pub fn is_file_name(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|first| first.is_ascii_alphanumeric() || first == b'_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && text.len() <= MAX_NAME
}

impl Findings<'_> {
    /// Reports a name that is no identifier or is a reserved word.
    pub(super) fn identifier(&mut self, at: &Located, name: &str) {
        if RESERVED.contains(&name) {
            let help = format!("write `{name}_`, or a longer word");
            self.add_with_help(
                at,
                format!("`{name}` is a reserved word"),
                "a name of your own",
                help,
            );
        } else if !is_identifier(name) {
            let expected = format!(
                "a letter or `_`, then letters, digits or `_`, at most {MAX_NAME} characters"
            );
            self.add(at, format!("`{name}` is not an identifier"), expected);
        }
    }

    /// Reports a name that no workload or kernel can have.
    pub(super) fn file_name(&mut self, at: &Located, name: &str) {
        if !is_file_name(name) {
            let expected =
                format!("letters, digits, `_`, `-` and `.`, at most {MAX_NAME} characters");
            self.add(at, format!("`{name}` cannot be a name"), expected);
        }
    }

    /// Reports a text that has no words, or more than one line.
    pub(super) fn line(&mut self, at: &Located, text: &str) {
        if text.trim().is_empty() {
            self.add(at, "the text is empty", "a few words");
        } else if text.contains(['\n', '\r']) {
            self.add(at, "the text has more than one line", "one line");
        }
    }

    /// Reports the second of two equal names in one list.
    pub(super) fn unique<'n>(
        &mut self,
        what: &str,
        names: impl IntoIterator<Item = (&'n Located, &'n str)>,
    ) {
        let mut seen: Vec<&str> = Vec::new();
        for (at, name) in names {
            if seen.contains(&name) {
                self.add(at, format!("a second {what} `{name}`"), "each name once");
            } else {
                seen.push(name);
            }
        }
    }

    /// Reports a list that exceeds its limit.
    pub(super) fn at_most(&mut self, at: &Located, what: &str, count: usize, most: usize) -> bool {
        if count > most {
            self.add(at, format!("{count} {what}"), format!("at most {most}"));
        }
        count <= most
    }

    /// Reports an integer outside its limits; returns it clamped, so that validation can continue.
    pub(super) fn within(&mut self, at: &Located, value: i64, low: i64, high: i64) -> u64 {
        if !(low..=high).contains(&value) {
            self.add(at, format!("{value}"), format!("an integer from {low} to {high}"));
        }
        value.clamp(low, high).unsigned_abs()
    }

    /// Parses an expression; reports a problem and returns the number 1 if it is invalid.
    pub(super) fn formula(
        &mut self,
        at: &Located,
        text: &str,
        scope: &Scope,
        kind: Kind,
    ) -> Expression {
        self.formula_within(at, 0, text, scope, kind)
    }

    /// The same for an expression at an offset within a string value.
    pub(super) fn formula_within(
        &mut self,
        at: &Located,
        skipped: usize,
        text: &str,
        scope: &Scope,
        kind: Kind,
    ) -> Expression {
        let checked = Expression::parse(text)
            .and_then(|formula| formula.check(scope, kind).map(|()| formula));
        checked.unwrap_or_else(|error| {
            self.expression(at, skipped, &error);
            Expression::from(1)
        })
    }
}
