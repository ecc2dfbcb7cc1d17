//! Each row is a text and what becomes of it. Rows marked NVRTC were compiled with NVRTC 13.5,
//! a header `t.cuh` at hand that reports its own inclusion.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// `expected` is the names included, or the first refusal's variant after `!`.
fn check(text: &str, expected: &str) {
    let seen = match scan("kernels/k.cu", text) {
        Ok(found) => found.iter().map(|each| &*each.name).collect::<Vec<_>>().join(" "),
        Err(refusals) => format!("!{}", variant(&refusals[0].reason)),
    };
    assert_eq!(seen, expected, "for {text:?}");
}

fn variant(reason: &Reason) -> String {
    let text = format!("{reason:?}");
    text.split([' ', '{', '(']).next().unwrap().to_owned()
}

#[test]
fn the_time_of_the_compile_is_refused() {
    for (text, expected) in [
        ("const char *t = __TIME__;", "!Clock"),
        ("const char *t = __DATE__ \" \" __TIMESTAMP__;", "!Clock"),
        ("#define WHEN __TI\\\nME__\n", "!Clock"),
        ("#if defined(__DATE__)\n#endif\n", "!Clock"),
        // NVRTC: pasted tokens are expanded.
        ("#define P(a, b) a##b\nconst char *t = P(__TI, ME__);", "!Clock"),
        ("#define P(a) __ ## a ## __\nconst char *t = P(DATE);", "!Clock"),
        // The names in comments, texts and longer names, and pasting of other names.
        ("// __TIME__\nconst char *t = \"__DATE__\"; int __TIME__x;", ""),
        ("#define CAT(a, b) a##_##b\ntemplate <class T, int D, int M, int E> void f(T A);", ""),
        ("const char *t = __FILE__; int TIME = 1, DATE = 2;", ""),
    ] {
        check(text, expected);
    }
}

#[test]
fn plain_directives_are_read_wherever_the_compiler_reads_them() {
    for (text, expected) in [
        ("#include \"t.cuh\"\n", "t.cuh"),
        ("#include <t.cuh>", "t.cuh"),
        ("#include\"t.cuh\"\r\n#include<a/b-c+d.h>\r\n", "t.cuh a/b-c+d.h"),
        ("\u{feff}#include \"t.cuh\"\n", "t.cuh"),
        (" \t#\tinclude  \"t.cuh\"  // why\n", "t.cuh"),
        ("#include \"t.cuh\" /* a\n b */\n#include <b.h>", "t.cuh b.h"),
        // NVRTC: form feed and vertical tab are blanks; a comment before `#` does not hide it.
        ("\x0c#include \"t.cuh\"\n", "t.cuh"),
        ("\x0b#\x0binclude \"t.cuh\"\n", "t.cuh"),
        ("/* a */ #include \"t.cuh\"\n", "t.cuh"),
        ("/* a\n b */ #include \"t.cuh\"\n", "t.cuh"),
        // NVRTC: after a comment over lines, `#` begins a line even if something preceded it.
        ("x /* a\n b */ #include \"t.cuh\"\n", "t.cuh"),
        ("#define X /* a\n b */ #include \"t.cuh\"\n", "t.cuh"),
        ("#pragma once /* a\n b */ #include \"t.cuh\"\n", "t.cuh"),
        // Conditional inclusion: both branches are compiled by somebody.
        ("#if 0\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n", "a.h b.h"),
        // NVRTC: a directive inside the arguments of a macro is one.
        ("int a = f(\n#include \"t.cuh\"\n1);\n", "t.cuh"),
        // NVRTC: a backslash followed by blanks and a newline joins nothing.
        ("// x \\ \n#include \"t.cuh\"\n", "t.cuh"),
        ("#pragma once\n#pragma unroll 4\n_Pragma(\"unroll\") for(;;);", ""),
        ("#define P(x) _Pragma(#x)\n#define I #include \"t.cuh\"\n", ""),
        ("# 3 \"../t.cuh\" 1\n#line 7 \"/etc/x.cu\"\n##include \"t.cuh\"\n", ""),
        // NVRTC: an error, no directive.
        ("int x; #include \"t.cuh\"\n", ""),
        ("int x;\x0c#include \"t.cuh\"\n", ""),
        ("// x\u{2028}#include \"t.cuh\"\n", ""),
        ("\u{a0}#include \"t.cuh\"\n", ""),
        ("#\\u0069nclude \"t.cuh\"\n", ""),
        ("#INCLUDE \"t.cuh\"\n", ""),
    ] {
        check(text, expected);
    }
}

#[test]
fn comments_and_literals_hide_exactly_what_they_hide_from_the_compiler() {
    for (text, expected) in [
        // NVRTC, each row.
        ("const char*a=R\"(\n#include \"t.cuh\"\n)\";\n", ""),
        ("const char*a=R\"(\" /* )\";\n#include \"t.cuh\"\n// */\n", "t.cuh"),
        ("const char*a=R\"(/*)\"; /*\n#include \"t.cuh\"\n*/", ""),
        ("u8R\"(\n#include \"t.cuh\"\n)\" uR\"x(\n)\"\n#include \"t.cuh\"\n)x\"", ""),
        ("const void*a=xR\"(\n#include \"t.cuh\"\n)\";\n", "t.cuh"),
        ("#define A R\"(\n#include \"t.cuh\"\n)\"\nint x;\n", ""),
        ("#if 0\nR\"(\n#endif\n#include \"t.cuh\"\n)\"\n#endif\n", ""),
        ("// R\"(\n#include \"t.cuh\"\n)\"\n", "t.cuh"),
        ("const char*a=\"abc\n#include \"t.cuh\"\n", "t.cuh"),
        ("int a='\n#include \"t.cuh\"\n", "t.cuh"),
        ("'\\'/*'\n#include \"t.cuh\"\n//*/", "t.cuh"),
        ("L'/*'\n#include \"t.cuh\"\n//*/", "t.cuh"),
        ("int a=1'000; /*'*/\n#include \"t.cuh\"\n//'\n", "t.cuh"),
        ("int a=1'0/*'0;*/;\n#include \"t.cuh\"\n//'\n", "t.cuh"),
        ("1'_/*'\n#include \"t.cuh\"\n//*/", ""),
        ("1R\"(\n#include \"t.cuh\"\n)\"", "t.cuh"),
        ("0x1.pLR\"(\n#include \"t.cuh\"\n)\"", "t.cuh"),
        ("1e+R\"(\n#include \"t.cuh\"\n)\"", "t.cuh"),
        (".R\"(\n#include \"t.cuh\"\n)\"", ""),
        ("#if 0\ndon't /* \n#endif\n#include \"t.cuh\"\n// */\n#endif\n", "t.cuh"),
        ("#if 0\n\"/*\n#endif\n#include \"t.cuh\"\n#endif//*/", "t.cuh"),
        ("#pragma foo \"/*\n#include \"t.cuh\"\n//*/\n", "t.cuh"),
        ("#warning /*\n#include \"t.cuh\"\n*/\n", ""),
        ("#define A <x/*y>\n#include \"t.cuh\"\n//*/", ""),
        ("/\\\n/ x\n#include \"t.cuh\"\n", "t.cuh"),
        ("// x \\\n#include \"t.cuh\"\n", ""),
        ("// x \\\r\n#include \"t.cuh\"\n", ""),
        ("/* *\\\n/\n#include \"t.cuh\"\n// */\n", "t.cuh"),
        ("const char*a=\"x\\\n#include \\\"t.cuh\\\"\n\";\n", ""),
        ("const char*a=\"x\\ \n#include \"t.cuh\"\n;\n", "t.cuh"),
        ("// __has_include #include_next\n\"__has_include\"", ""),
    ] {
        check(text, expected);
    }
}

#[test]
fn spellings_that_reach_other_files_are_refused() {
    for (text, expected) in [
        ("#include \"/etc/passwd\"\n", "!AbsolutePath"),
        ("#include \"C:\\\\x.h\"\n", "!AbsolutePath"),
        ("#include <c:x.h>\n", "!AbsolutePath"),
        ("#include \"\\\\host\\x\"\n", "!AbsolutePath"),
        ("#include \"~/x\"\n", "!AbsolutePath"),
        ("#include \"../x.h\"\n", "!ParentFolder"),
        ("#include <a/../../x.h>\n", "!ParentFolder"),
        ("#include \"a\\x.h\"\n", "!Backslash"),
        ("#include \"\\x74.cuh\"\n", "!AbsolutePath"),
        ("#include \"\"\n", "!EmptyName"),
        ("#include <>\n", "!EmptyName"),
        ("#include \"./t.cuh\"\n", "!EmptyComponent"),
        ("#include \"a//t.cuh\"\n", "!EmptyComponent"),
        ("#include \"a\x1b[31m.h\"\n", "!NameCharacter"),
        ("#include \"a\u{202e}.h\"\n", "!NameCharacter"),
        ("#include <a\"b>\n", "!NameCharacter"),
        ("#include <t.cuh/*>\n", "!NameCharacter"),
        ("#include \"http:x\"\n", "!NameCharacter"),
        ("#include \"t.cuh\n", "!UnterminatedName"),
        ("#include <t.cuh\n>", "!UnterminatedName"),
        ("#include \"project.ron\"\n", "!Reserved"),
        ("#include <sub/Project.RON>\n", "!Reserved"),
        ("#include \"reference.cu\"\n", "!Reserved"),
        ("#include \"kernels/other.cuh\"\n", "!Reserved"),
        ("#include \"other.cu\"\n", "!Reserved"),
        ("#include \"other.PTX\"\n", "!Reserved"),
        ("#include \"wrong/x.cuh\"\n", "!Reserved"),
        ("#include \".lightbench/history.db\"\n", "!Reserved"),
        ("#define H \"t.cuh\"\n#include H\n", "!MacroOperand"),
        ("#include u8\"t.cuh\"\n", "!MacroOperand"),
        ("#include R\"(t.cuh)\"\n", "!MacroOperand"),
        ("#include\n", "!MacroOperand"),
        ("#include e \"t.cuh\"\n", "!MacroOperand"),
        ("#include \"t.cuh\" foo\n", "!ExtraText"),
        ("#include \"t\" \".cuh\"\n", "!ExtraText"),
        ("#include_next \"t.cuh\"\n", "!Directive"),
        ("#import <t.cuh>\n", "!Directive"),
        ("#embed \"t.cuh\"\n", "!Directive"),
        // NVRTC with C++20 looks for a header unit.
        ("import \"t.cuh\";\n", "!Directive"),
        ("export import <t.cuh>;\n", "!Directive"),
        ("#if __has_include(\"t.cuh\")\n#endif\n", "!Probe"),
        ("#define X __has_include_next(<t.cuh>)\n", "!Probe"),
        ("#if __has_\\\ninclude(<x>)\n", "!Probe"),
        ("int x = __has_embed(\"x\");\n", "!Probe"),
        ("#pragma X __has_embed\n", "!Probe"),
        ("#pragma GCC dependency \"t.cuh\"\n", "!Pragma"),
        ("#pragma include_alias(\"q.cuh\",\"t.cuh\")\n", "!Pragma"),
        ("_Pragma(\"GCC dependency \\\"t.cuh\\\"\")\n", "!Pragma"),
        ("_Pragma ( R\"(hdrstop)\" )\n", "!Pragma"),
    ] {
        check(text, expected);
    }
}

#[test]
fn disguised_directives_are_refused() {
    for (text, expected) in [
        // NVRTC reads each of these as an include.
        ("%:include \"t.cuh\"\n", "!Digraph"),
        ("#/**/include \"t.cuh\"\n", "!SplicedComment"),
        ("#include/**/\"t.cuh\"\n", "!SplicedComment"),
        ("#include /*\n*/ \"t.cuh\"\n", "!SplicedComment"),
        ("# /*\n*/ include \"t.cuh\"\n", "!SplicedComment"),
        ("#inc\\\nlude \"t.cuh\"\n", "!SplitDirective"),
        ("# /*\n*/ # include \"t.cuh\"\n", "!SplicedComment"),
        ("# \\\n include \"t.cuh\"\n", "!SplitDirective"),
        ("#inc\\\r\nlude \"t.cuh\"\n", "!SplitDirective"),
        ("#inc\\\r\r\nlude \"t.cuh\"\n", "!SplitDirective"),
        ("#include \"t.cuh\" \\\n\n", "!SplitDirective"),
        ("#include \"t\\\n.cuh\"\n", "!UnterminatedName"),
        // NVRTC reads trigraphs with C++14 and not with C++17.
        ("??=include \"t.cuh\"\n", "!Trigraph"),
        ("// x ??/\n#include \"t.cuh\"\n", "!Trigraph"),
        ("'??'' /*'\n#include \"t.cuh\"\n//*/", "!Trigraph"),
        ("%:define x\n", "!Digraph"),
        ("\"what??!\"", ""),
    ] {
        check(text, expected);
    }
}

#[test]
fn literals_that_compilers_end_in_different_places_are_refused() {
    for (text, expected) in [
        // NVRTC joins this splice, the standard does not: the include is read.
        ("R\"(a)\\\n\"\n#include \"t.cuh\"\n//)\"", "!RawString"),
        ("R\"x(\\\r\n)x\"", "!RawString"),
        // NVRTC takes longer delimiters for ordinary strings, odd characters for raw ones.
        ("R\"0123456789abcdefg(\n#include \"t.cuh\"\n)0123456789abcdefg\"", "!RawString"),
        ("R\"0123456789abcdef(\n#include \"t.cuh\"\n)0123456789abcdef\"", ""),
        ("R\"a b(\n#include \"t.cuh\"\n)a b\"", "!RawString"),
        ("R\"@(\n)@\"", "!RawString"),
        ("R\"\n(\n)\n\"", "!RawString"),
        ("R\\\n\"(\n)\"", "!RawString"),
        ("u\\\n8R\"(\n)\"", "!RawString"),
        ("R\"(\n#include \"t.cuh\"\n", "!RawString"),
        // NVRTC takes `$` and letters beyond ASCII for no part of a name; others do.
        ("$R\"(\n)\"", "!RawString"),
        ("éR\"(\n)\"", "!RawString"),
        // NVRTC: the word after a literal is its suffix.
        ("\"a\"R\"(\n#include \"t.cuh\"\n)\"", "!RawString"),
        ("R\"(a)\"R\"(\n)\"", "!RawString"),
        ("'a'R\"(\n)\"", "!RawString"),
        ("\"a\" R\"(\n#include \"t.cuh\"\n)\"", ""),
        ("\\u00e9R\"(\n#include \"t.cuh\"\n)\"", "t.cuh"),
        ("/* \n#include \"t.cuh\"\n", "!UnterminatedComment"),
        ("1'\"/*\"\n#include \"t.cuh\"\n//*/", "!DigitSeparator"),
        ("1'(/*'\n", "!DigitSeparator"),
        ("int x;\r#include \"t.cuh\"\n", "!LoneCarriageReturn"),
        ("//\0\n#include \"t.cuh\"\n", "!NulCharacter"),
    ] {
        check(text, expected);
    }
}

#[test]
fn a_refusal_names_its_place_and_what_to_write() {
    let text = "\n  /* é */ #include \"../x\"\n";
    let refusals = scan("kernels/k.cu", text).unwrap_err();
    assert_eq!(
        refusals[0].to_string(),
        "kernels/k.cu:2:11: `../x` leaves its folder through `..`: write the name below the project's `include/`"
    );
    let several = scan("k.cu", "#include A\n__has_include\n#embed \"x\"\n").unwrap_err();
    let lines: Vec<u32> = several.iter().map(|each| each.place.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}

fn folder(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn look(files: &BTreeMap<String, String>) -> impl FnMut(&str) -> Lookup {
    |name| files.get(name).map_or(Lookup::Absent, |text| Lookup::Found(text.clone()))
}

#[test]
fn the_closure_holds_each_file_once_and_names_what_is_left_to_the_toolkit() {
    let files = folder(&[
        ("a.cuh", "#pragma once\n#include \"sub/b.cuh\"\n#include <cuda_fp16.h>\n"),
        ("sub/b.cuh", "#include \"a.cuh\"\n#include \"c.cuh\"\n"),
        ("sub/c.cuh", "never: names are not relative to the file that asks"),
    ]);
    let closure =
        closure("kernels/k.cu", "#include <a.cuh>\n#include \"a.cuh\"\n", look(&files)).unwrap();
    let names: Vec<&str> = closure.files.iter().map(|each| &*each.name).collect();
    assert_eq!(names, ["a.cuh", "sub/b.cuh"]);
    let system: Vec<String> =
        closure.system.iter().map(|(name, place)| format!("{name} from {place}")).collect();
    assert_eq!(system, ["c.cuh from sub/b.cuh:2:1", "cuda_fp16.h from a.cuh:3:1"]);
}

#[test]
fn refusals_inside_included_files_name_those_files() {
    let files = folder(&[("a.cuh", "\n#include \"/etc/hostname\"\n")]);
    let refusals = closure("k.cu", "#include \"a.cuh\"\n", look(&files)).unwrap_err();
    assert_eq!(refusals[0].place, SourceLocation { file: "a.cuh".to_owned(), line: 2, column: 1 });
    let linked = |_: &str| Lookup::Refused("it is a link out of the project".to_owned());
    let refusals = closure("k.cu", "#include \"a.cuh\"\n", linked).unwrap_err();
    assert_eq!(
        refusals[0].to_string(),
        "k.cu:1:1: `a.cuh` is not included: it is a link out of the project"
    );
}

#[test]
fn depth_count_and_size_are_limited() {
    let chain = |name: &str| {
        let number: usize = name.parse().unwrap();
        Lookup::Found(format!("#include \"{}\"\n", number + 1))
    };
    let refusals = closure("k.cu", "#include \"1\"\n", chain).unwrap_err();
    assert_eq!(refusals[0].reason, Reason::Depth { limit: MAX_DEPTH });
    assert_eq!(refusals[0].place.file, "64");

    let many: String = (0..256).map(|number| format!("#include \"{number}\"\n")).collect();
    let found = |_: &str| Lookup::Found(String::new());
    let refusals = closure("k.cu", &many, found).unwrap_err();
    assert_eq!(refusals[0].reason, Reason::TooManyFiles { limit: MAX_FILES });
    assert_eq!(refusals[0].place.line, 256);

    let large = |_: &str| Lookup::Found(" ".repeat(3 << 20));
    let refusals = closure("k.cu", "#include \"a\"\n#include \"b\"\n", large).unwrap_err();
    assert_eq!(refusals[0].reason, Reason::TotalSize { limit: MAX_BYTES });
    let refusals = closure("k.cu", &" ".repeat(MAX_BYTES + 1), found).unwrap_err();
    assert_eq!(variant(&refusals[0].reason), "TotalSize");
}

#[test]
fn reading_takes_linear_time() {
    for piece in ["\\\n", "\\\r", "\r", "'", "R\"(", "/*", "1'", "#include \"a\"\n", "?", "%:", "R"]
    {
        let text = piece.repeat((2 << 20) / piece.len());
        let begun = std::time::Instant::now();
        drop(scan("k.cu", &text));
        assert!(begun.elapsed().as_secs_f64() < 2.0, "{piece:?}: {:?}", begun.elapsed());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        drop(scan("k.cu", &text));
    }

    #[test]
    fn any_mixture_of_tricky_pieces_is_read_without_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)
    ) {
        let text = pieces.concat();
        if let Ok(found) = scan("k.cu", &text) {
            for directive in found {
                prop_assert!(text.contains(&directive.name) && !directive.name.contains(".."));
            }
        }
    }
}

const PIECES: [&str; 34] = [
    "#",
    "include",
    "\"t.cuh\"",
    "<t.cuh>",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\\\n",
    " ",
    "\t",
    "R",
    "R\"(",
    ")\"",
    "(",
    "x",
    "1",
    "'0",
    "e+",
    ".",
    "/*",
    "*/",
    "//",
    "/",
    "*",
    "%:",
    "??=",
    "é",
    "u8",
    "define A",
    "import",
    "_Pragma(",
    "\u{feff}",
];
