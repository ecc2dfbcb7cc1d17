//! The syntax definitions in `assets/syntaxes`, and the tokens for their scopes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use syntect::parsing::{
    ParseState, Scope, ScopeStack, SyntaxDefinition, SyntaxReference, SyntaxSet, SyntaxSetBuilder,
};

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// CUDA C++ with a launch block.
    Cuda,
    /// PTX.
    Ptx,
    /// Machine code.
    Sass,
    /// Project files.
    Ron,
    /// Plain text, such as logs.
    Plain,
}

/// The class of a piece of text, as themes name it (`tokens.syntax`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Token {
    /// Plain text.
    Plain,
    /// A keyword, or an instruction.
    Keyword,
    /// A type.
    Kind,
    /// A function, or a jump target.
    Function,
    Number,
    String,
    Comment,
    /// A preprocessor or assembler directive; a field of a launch block.
    Directive,
    /// A name built into CUDA.
    Builtin,
    /// A register or predicate.
    Register,
    Punctuation,
}

/// A token of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Byte range in the line.
    pub bytes: Range<usize>,
    pub token: Token,
}

/// The parser state before a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    parse: Option<ParseState>,
    stack: ScopeStack,
}

impl Entry {
    /// The state before the first line.
    pub(super) fn first(language: Language) -> Self {
        let parse = definition(language).map(ParseState::new);
        Self { parse, stack: ScopeStack::new() }
    }
}

/// Parses one line (without its line end), and returns the state after it.
pub(super) fn read_line(before: &Entry, line: &str) -> (Vec<Span>, Entry) {
    let mut after = before.clone();
    let Some(parse) = &mut after.parse else { return (Vec::new(), after) };
    let text = format!("{line}\n");
    // Tests reject a definition that fails here; the line is then plain text.
    let Ok(operations) = parse.parse_line(&text, &SET) else { return (Vec::new(), before.clone()) };
    let mut spans = Vec::new();
    let mut from = 0;
    for (at, operation) in operations {
        let to = at.min(line.len());
        push(&mut spans, from..to, &after.stack);
        from = from.max(to);
        if after.stack.apply(&operation).is_err() {
            return (Vec::new(), before.clone());
        }
    }
    push(&mut spans, from..line.len(), &after.stack);
    (spans, after)
}

/// Parses a single line.
#[must_use]
pub fn spans_of_line(language: Language, line: &str) -> Vec<Span> {
    read_line(&Entry::first(language), line).0
}

fn push(spans: &mut Vec<Span>, bytes: Range<usize>, stack: &ScopeStack) {
    if bytes.is_empty() {
        return;
    }
    let token = stack.as_slice().iter().rev().find_map(|scope| token(*scope));
    let token = token.unwrap_or(Token::Plain);
    match spans.last_mut() {
        Some(last) if last.token == token && last.bytes.end == bytes.start => {
            last.bytes.end = bytes.end;
        }
        _ => spans.push(Span { bytes, token }),
    }
}

/// The first matching scope prefix decides.
const MEANINGS: &[(&str, Token)] = &[
    ("comment", Token::Comment),
    ("string", Token::String),
    ("constant.numeric", Token::Number),
    ("keyword.directive", Token::Directive),
    ("keyword", Token::Keyword),
    ("storage.type", Token::Kind),
    ("entity.name.function", Token::Function),
    ("support", Token::Builtin),
    ("variable.register", Token::Register),
    ("variable.other", Token::Plain),
    ("punctuation", Token::Punctuation),
];

fn token(scope: Scope) -> Option<Token> {
    thread_local! {
        static KNOWN: RefCell<HashMap<Scope, Option<Token>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        *known.entry(scope).or_insert_with(|| {
            let name = scope.build_string();
            let found = MEANINGS.iter().find(|(prefix, _)| name.starts_with(prefix));
            found.map(|(_, token)| *token)
        })
    })
}

fn definition(language: Language) -> Option<&'static SyntaxReference> {
    let name = match language {
        Language::Cuda => "CUDA",
        Language::Ptx => "PTX",
        Language::Sass => "SASS",
        Language::Ron => "RON",
        Language::Plain => return None,
    };
    SET.find_syntax_by_name(name)
}

static SET: LazyLock<SyntaxSet> = LazyLock::new(|| {
    let mut set = SyntaxSetBuilder::new();
    for text in [
        include_str!("../../../../assets/syntaxes/ron.sublime-syntax"),
        include_str!("../../../../assets/syntaxes/cuda.sublime-syntax"),
        include_str!("../../../../assets/syntaxes/ptx.sublime-syntax"),
        include_str!("../../../../assets/syntaxes/sass.sublime-syntax"),
    ] {
        // The files are embedded, and a test reads each; an unreadable one would leave its text plain.
        if let Ok(definition) = SyntaxDefinition::load_from_str(text, true, None) {
            set.add(definition);
        }
    }
    set.build()
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the tokens of a line, written as `text:Token`.
    fn check(language: Language, line: &str, expected: &[(&str, Token)]) {
        let spans = spans_of_line(language, line);
        let found: Vec<(&str, Token)> = spans
            .iter()
            .map(|span| (line[span.bytes.clone()].trim(), span.token))
            .filter(|(text, _)| !text.is_empty())
            .collect();
        for wanted in expected {
            assert!(found.contains(wanted), "{line}: no {wanted:?} in {found:?}");
        }
    }

    #[test]
    fn every_definition_is_read() {
        for language in [Language::Cuda, Language::Ptx, Language::Sass, Language::Ron] {
            assert!(definition(language).is_some(), "{language:?}");
        }
    }

    #[test]
    fn cuda_is_told_apart() {
        use Token as T;
        check(
            Language::Cuda,
            "__global__ void __launch_bounds__(BLOCK) softmax(const float4* x) {",
            &[
                ("__global__", T::Keyword),
                ("void", T::Kind),
                ("softmax", T::Function),
                ("const", T::Keyword),
                ("float4", T::Kind),
                ("x", T::Plain),
            ],
        );
        check(
            Language::Cuda,
            "    sum += __shfl_xor_sync(0xffffffffu, 1.5e-3f, threadIdx.x); // why",
            &[
                ("__shfl_xor_sync", T::Builtin),
                ("0xffffffffu", T::Number),
                ("1.5e-3f", T::Number),
                ("threadIdx", T::Builtin),
                ("// why", T::Comment),
            ],
        );
        check(
            Language::Cuda,
            "#include <cuda_fp16.h> // halves",
            &[("#include", T::Directive), ("<cuda_fp16.h>", T::String), ("// halves", T::Comment)],
        );
        check(Language::Cuda, "#pragma unroll 4", &[("#pragma unroll 4", T::Directive)]);
        check(
            Language::Cuda,
            "/*@ lightbench(title: \"a\", params: { \"B\": [64] }) @*/ int x;",
            &[
                ("/*@", T::Comment),
                ("lightbench", T::Builtin),
                ("title", T::Directive),
                ("\"a\"", T::String),
                ("64", T::Number),
                ("@*/", T::Comment),
                ("int", T::Kind),
            ],
        );
    }

    #[test]
    fn assembly_and_data_are_told_apart() {
        use Token as T;
        check(
            Language::Ptx,
            "\t@%p1 ld.global.v4.f32 \t{%f1, %f2}, [%rd4+16]; // load",
            &[
                ("@%p1", T::Register),
                ("ld", T::Keyword),
                (".global.v4.f32", T::Kind),
                ("%rd4", T::Register),
                ("16", T::Number),
                ("// load", T::Comment),
            ],
        );
        check(
            Language::Ptx,
            "mov.u32 %r1, %tid.x;",
            &[("mov", T::Keyword), ("%tid.x", T::Builtin)],
        );
        check(Language::Ptx, ".visible .entry f(", &[(".visible", T::Directive)]);
        check(Language::Ptx, "$L__BB0_2:", &[("$L__BB0_2:", T::Function)]);
        check(
            Language::Sass,
            "@!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10] ;",
            &[
                ("@!P0", T::Register),
                ("LDG", T::Keyword),
                (".E.128.CONSTANT", T::Kind),
                ("R4", T::Register),
                ("desc", T::Builtin),
                ("+0x10", T::Number),
            ],
        );
        check(
            Language::Sass,
            "S2R R0, SR_CTAID.X ;",
            &[("S2R", T::Keyword), ("SR_CTAID.X", T::Builtin)],
        );
        check(
            Language::Ron,
            "(size: Some(4), name: \"x\", kind: Copy(true)) // end",
            &[
                ("size", T::Directive),
                ("Some", T::Keyword),
                ("4", T::Number),
                ("Copy", T::Kind),
                ("// end", T::Comment),
            ],
        );
    }
}
