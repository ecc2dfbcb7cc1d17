//! The C types of a kernel's parameters, from its mangled symbol.
//!
//! PTX declares every pointer as a 64-bit integer; only the mangled symbol has the type of the pointee.

mod matching;

#[cfg(test)]
mod tests;

pub use matching::{LaunchArgument, LaunchArgumentKind, Mismatch, match_arguments};

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, Symbol};
use lightbench_primitives::dtype::Dtype;

/// The declared type of a kernel's parameter, without its own qualifiers.
///
/// Not [`lightbench_primitives::dtype::CType`], which is the type of an argument that a project passes by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterType {
    /// A pointer or a reference.
    Pointer {
        /// What it points to.
        to: Box<Self>,
        /// It points to `const`.
        is_const: bool,
    },
    /// A scalar type, except plain `char`.
    Scalar(Dtype),
    /// Plain `char`: an `i8`, and behind a pointer also a raw byte.
    Char,
    /// Anything else, by name: `void`, vectors, structs, enums, functions.
    Other(String),
}

impl ParameterType {
    /// The dtype of a scalar.
    fn scalar(&self) -> Option<Dtype> {
        match self {
            Self::Scalar(dtype) => Some(*dtype),
            Self::Char => Some(Dtype::I8),
            Self::Pointer { .. } | Self::Other(_) => None,
        }
    }
}

impl fmt::Display for ParameterType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointer { to, is_const: true } => write!(out, "{to} const*"),
            Self::Pointer { to, is_const: false } => write!(out, "{to}*"),
            Self::Scalar(dtype) => out.write_str(dtype.name()),
            Self::Char => out.write_str(Dtype::I8.name()),
            Self::Other(name) => out.write_str(name),
        }
    }
}

/// The parameter types in a mangled symbol; `None` for `extern "C"` names and other symbols that are not mangled functions.
#[must_use]
pub fn parameters(symbol: &str) -> Option<Vec<ParameterType>> {
    let text = demangled(symbol, DemangleOptions::default())?;
    // The parameter list is the last group of parentheses that ends the text.
    let inside = text.strip_suffix(')')?;
    let mut depth = 1_usize;
    let open = inside.bytes().rposition(|byte| {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let list = &inside[open + 1..];
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    Some(split(list).map(parse_type).collect())
}

/// The function's name with its namespaces and template arguments; none for `extern "C"` names.
#[must_use]
pub fn function_name(symbol: &str) -> Option<String> {
    demangled(symbol, DemangleOptions::new().no_params().no_return_type())
}

/// The name of a function, or of a variable without the function that it is local to; none if it is not mangled.
fn readable_name(symbol: &str) -> Option<String> {
    let whole = function_name(symbol)?;
    // What is local to a function is `_ZZ`, the function, `E`, the name.
    let is_local = symbol.starts_with("_ZZ");
    whole.rsplit("::").next().filter(|_| is_local).map(str::to_owned).or(Some(whole))
}

/// The text with mangled names of functions and variables replaced by their source names.
#[must_use]
pub fn with_readable_names(text: &str) -> String {
    let is_name =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '.');
    let mut readable = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_Z") {
        let (before, symbol) = rest.split_at(start);
        let end = symbol.find(|letter| !is_name(letter)).unwrap_or(symbol.len());
        let (symbol, after) = symbol.split_at(end);
        readable.push_str(before);
        readable.push_str(&readable_name(symbol).unwrap_or_else(|| symbol.to_owned()));
        rest = after;
    }
    readable + rest
}

/// Longest demangled name that is read: substitutions can make short symbols explode.
const MAX_DEMANGLED: usize = 64 << 10;

struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_DEMANGLED {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn demangled(symbol: &str, options: DemangleOptions) -> Option<String> {
    if !symbol.starts_with("_Z") || symbol.len() > MAX_DEMANGLED {
        return None;
    }
    let parsed = Symbol::new(symbol).ok()?;
    let mut text = Bounded(String::new());
    parsed.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

/// At commas outside brackets of any kind.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    list.split(move |each| {
        match each {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        each == ',' && depth == 0
    })
}

/// `__nv_bfloat16 const*`, read from its end.
fn parse_type(text: &str) -> ParameterType {
    let mut base = text.trim();
    // For each pointer, outermost first: whether what it points to is const.
    let mut pointers: Vec<bool> = Vec::new();
    loop {
        if let Some(rest) = base.strip_suffix(['*', '&']) {
            pointers.push(false);
            base = rest.trim_end();
        } else if let Some(rest) = strip_word(base, " const") {
            if let Some(is_const) = pointers.last_mut() {
                *is_const = true;
            }
            base = rest;
        } else if let Some(rest) =
            strip_word(base, " volatile").or_else(|| strip_word(base, " restrict"))
        {
            base = rest;
        } else {
            break;
        }
        if pointers.len() > MAX_POINTERS {
            return ParameterType::Other(text.trim().to_owned());
        }
    }
    let wrap =
        |to: ParameterType, is_const: bool| ParameterType::Pointer { to: Box::new(to), is_const };
    pointers.into_iter().rev().fold(parse_base(base), wrap)
}

/// More stars than any kernel's parameter has.
const MAX_POINTERS: usize = 8;

fn parse_base(base: &str) -> ParameterType {
    if base == "char" {
        return ParameterType::Char;
    }
    if let Some(dtype) = Dtype::from_c_type(base) {
        return ParameterType::Scalar(dtype);
    }
    let other = ParameterType::Other(base.to_owned());
    // A pointer to an array; one to a function ends in a second pair of parentheses.
    let to_array = (base.contains("(*)") || base.contains("(&)")) && base.ends_with(']');
    if to_array {
        ParameterType::Pointer { to: Box::new(other), is_const: base.contains(" const") }
    } else {
        other
    }
}

fn strip_word<'text>(text: &'text str, word: &str) -> Option<&'text str> {
    text.strip_suffix(word).map(str::trim_end)
}
