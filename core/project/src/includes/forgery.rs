//! Detects constructs in a kernel's own text that make the compiler's line tables unreliable.
//!
//! Static evidence ignores code of the toolkit's headers, and identifies it by line tables. If a text can forge these
//! tables, its line tables are ignored. False positives are acceptable: the text only loses an exemption that few
//! kernels need.

use super::lexer::{Kind, Lexer};

/// The construct that makes line tables unreliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTableHazard {
    /// `#line 7 "cuda_fp16.h"`, `# 7 "cuda_fp16.h"`, or `#line` with a macro as its operand.
    RenamedFile,
    /// `asm`: its text is copied into the PTX, and may hold `.loc`, `.section` or the end of a comment pair.
    Assembly,
    /// `##` makes words that no reader of the text sees, `asm` among them.
    PastedTokens,
    /// A macro defined before a header that may use it: its expansion has the header's line numbers.
    MacroInHeader,
    /// A macro of the toolkit, which may contain token pasting or assembly.
    ToolkitMacro,
    /// The text cannot be split into tokens with certainty.
    Doubtful,
}

/// Prefixes of the toolkit's macros, without leading underscores. CUDA 13.5: all function-like macros with `#`, `##` or
/// `asm` in their bodies are in capitals and have one of these prefixes.
const TOOLKIT_MACROS: [&str; 11] = [
    "CCCL",
    "CCCP",
    "CG_",
    "CUB",
    "CUDA_",
    "DEFINE_",
    "LIBCUDACXX",
    "LOAD_ENVREG",
    "NV",
    "THRUST",
    "WS_",
];

/// Macros of the compiler that share a prefix with those of the toolkit and are numbers.
const NUMBERS: [&str; 4] =
    ["__CUDA_ARCH__", "__CUDACC_VER_MAJOR__", "__CUDACC_VER_MINOR__", "__NVCC__"];

/// The first construct that makes line tables unreliable. `headers` states whether a header is included after this
/// text.
#[must_use]
pub fn forgery(text: &str, headers: HeaderPolicy) -> Option<LineTableHazard> {
    let mut lexer = Lexer::new(text);
    let mut before = PrecedingToken::Other;
    let mut defined = false;
    loop {
        let Ok(token) = lexer.next() else { return Some(LineTableHazard::Doubtful) };
        before = match (before, token.kind) {
            (_, Kind::End) => break,
            (before, Kind::Comment) => before,
            (PrecedingToken::Hash, Kind::Hash { .. }) => {
                return Some(LineTableHazard::PastedTokens);
            }
            (_, Kind::Hash { .. }) => PrecedingToken::Hash,
            (PrecedingToken::Hash, Kind::Number) => return Some(LineTableHazard::RenamedFile),
            (PrecedingToken::Hash, Kind::Identifier(word)) if word == "line" => {
                PrecedingToken::Line
            }
            (PrecedingToken::Line, Kind::Number) => PrecedingToken::LineNumber,
            // `#line 7` changes numbers only.
            (PrecedingToken::LineNumber, Kind::Newline) => PrecedingToken::Other,
            (PrecedingToken::Line | PrecedingToken::LineNumber, _) => {
                return Some(LineTableHazard::RenamedFile);
            }
            (PrecedingToken::Hash, Kind::Identifier(word)) if word == "define" => {
                PrecedingToken::Define
            }
            (PrecedingToken::Hash, Kind::Identifier(word)) if word == "include" && defined => {
                return Some(LineTableHazard::MacroInHeader);
            }
            // An empty macro, as in an include guard, adds no code.
            (PrecedingToken::Macro, Kind::Newline) => PrecedingToken::Other,
            (before, Kind::Identifier(word)) => match named(&word) {
                Some(forgery) => return Some(forgery),
                None => {
                    defined |= matches!(before, PrecedingToken::Macro);
                    if matches!(before, PrecedingToken::Define) {
                        PrecedingToken::Macro
                    } else {
                        PrecedingToken::Other
                    }
                }
            },
            (before, Kind::Number | Kind::Text | Kind::Newline | Kind::Other(_)) => {
                defined |= matches!(before, PrecedingToken::Macro);
                PrecedingToken::Other
            }
        };
    }
    (defined && headers == HeaderPolicy::Some).then_some(LineTableHazard::MacroInHeader)
}

/// Whether headers may be included after a text, directly or by the including file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderPolicy {
    /// The text is the last.
    None,
    /// The text is included, and the including file continues after it.
    Some,
}

/// The kind of the preceding token.
enum PrecedingToken {
    Hash,
    Line,
    LineNumber,
    Define,
    /// `#define NAME`.
    Macro,
    Other,
}

fn named(word: &str) -> Option<LineTableHazard> {
    if matches!(word, "asm" | "__asm" | "__asm__") {
        return Some(LineTableHazard::Assembly);
    }
    let bare = word.trim_start_matches('_');
    let toolkit = !word.bytes().any(|byte| byte.is_ascii_lowercase())
        && TOOLKIT_MACROS.iter().any(|prefix| bare.starts_with(prefix))
        && !NUMBERS.contains(&word);
    toolkit.then_some(LineTableHazard::ToolkitMacro)
}

#[cfg(test)]
mod tests {
    use super::LineTableHazard::{
        Assembly, Doubtful, MacroInHeader, PastedTokens, RenamedFile, ToolkitMacro,
    };
    use super::*;

    #[test]
    fn a_text_that_can_write_line_tables_is_known() {
        let check = |text: &str, expected| {
            assert_eq!(forgery(text, HeaderPolicy::None), expected, "{text}");
        };
        check("__global__ void f() { g(1, 'a', \"asm\"); } // asm", None);
        check("#if __CUDA_ARCH__ >= 900\n#define TILE(n) (n)\n#endif\nint nv = INFINITY;", None);
        check("#line 7\nint x;", None);
        check("#line 7 // why\nint x;", None);
        check("#line 7 \"cuda_fp16.h\"", Some(RenamedFile));
        check("# line 7 /* a */ \"cuda_fp16.h\"", Some(RenamedFile));
        check("#li\\\nne 7 \"cuda_fp16.h\"", Some(RenamedFile));
        check("#line HERE", Some(RenamedFile));
        check("#line 7 FILE", Some(RenamedFile));
        check("# 7 \"cuda_fp16.h\"", Some(RenamedFile));
        check("asm(\"trap;\");", Some(Assembly));
        check("__asm__ volatile(\"trap;\");", Some(Assembly));
        check("as\\\nm(\"trap;\");", Some(Assembly));
        check("#define M asm", Some(Assembly));
        check("#define C(a, b) a##b\n", Some(PastedTokens));
        check("#define C(a, b) a%:%:b\n", Some(PastedTokens));
        check("_CCCL_PP_CAT(as, m)(\"trap;\");", Some(ToolkitMacro));
        check("M(_CUB_LOAD_1, a)", Some(ToolkitMacro));
        check("u8R\"x(\\\n)x\"", Some(Doubtful));
    }
    #[test]
    fn a_macro_may_not_reach_a_header() {
        let check = |text: &str, last, included| {
            assert_eq!(forgery(text, HeaderPolicy::None), last, "{text}");
            assert_eq!(forgery(text, HeaderPolicy::Some), included, "{text}");
        };
        let found = Some(MacroInHeader);
        check("#define __step clock64()\n#include <cuda/atomic>\n", found, found);
        check("#define now() 7\n#include <cuda/atomic>\n", found, found);
        check("#include <cuda/atomic>\n#define TILE 16\n", None, found);
        check("#ifndef A_H\n#define A_H // guard\n#include <cuda/atomic>\n#endif\n", None, None);
        check("#pragma once\nint define(int include);\n", None, None);
    }
}
