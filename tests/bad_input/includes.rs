//! Includes of what is not the kernel's: refused before compiling, and the text of the file never appears.

use super::*;

/// Puts these lines in place of the kernel's only include.
fn include(bench: &Bench, lines: &str) {
    bench.edit("kernels/naive.cu", "#include \"index.cuh\"", lines);
}

/// A case that is refused on the line of the include, in the column given.
macro_rules! refused {
    ($name:literal, $lines:literal, $place:literal, $says:literal) => {
        Case {
            name: $name,
            change: |bench| include(bench, $lines),
            arguments: NAIVE,
            status: 1,
            says: &["failed: refused", concat!("--> scale/kernels/naive.cu:", $place), $says],
        }
    };
}

const REFUSED: &[Case] = &[
    refused!("an absolute path", "#include \"/etc/passwd\"", "5:1", "absolute path `/etc/passwd`"),
    refused!("an absolute path in angles", "#include </etc/passwd>", "5:1", "absolute path"),
    refused!("a path through ..", "#include \"../project.ron\"", "5:1", "leaves its folder"),
    refused!(
        "a path through .. below",
        "#include \"x/../../secret.txt\"",
        "5:1",
        "leaves its folder"
    ),
    refused!(
        "a macro operand",
        "#define NAME \"/etc/passwd\"\n#include NAME",
        "6:1",
        "not a plain name"
    ),
    refused!(
        "__has_include",
        "#if __has_include(\"secret.txt\")\n#endif",
        "5:5",
        "tests which files exist"
    ),
    refused!("#embed", "#embed \"secret.txt\"", "5:1", "`#embed` is not available"),
    refused!(
        "#include_next",
        "#include_next \"index.cuh\"",
        "5:1",
        "`#include_next` is not available"
    ),
    refused!("a digraph", "%:include \"index.cuh\"", "5:1", "digraph `%:`"),
    refused!("a trigraph", "??=include \"index.cuh\"", "5:1", "trigraph"),
    refused!("a split line", "#inc\\\nlude \"index.cuh\"", "5:1", "split over lines"),
    refused!("a comment inside", "#/**/include \"index.cuh\"", "5:1", "comment stands inside"),
    refused!(
        "the project file",
        "#include \"project.ron\"",
        "5:1",
        "`project.ron` must not be included"
    ),
    refused!(
        "the reference",
        "#include \"reference.cu\"",
        "5:1",
        "`reference.cu` must not be included"
    ),
    refused!(
        "the reference by another case",
        "#include \"Reference.CU\"",
        "5:1",
        "must not be included"
    ),
    refused!("another kernel", "#include \"tuned.cu\"", "5:1", "`tuned.cu` must not be included"),
    refused!("a Windows path", "#include \"C:\\\\secret.txt\"", "5:1", "secret.txt"),
    refused!("an include after a NUL", "\0#include \"index.cuh\"", "5:1", "NUL character"),
    refused!(
        "an include in a raw string's shadow",
        "auto a = R\"x\n#include \"/etc/passwd\"\n\"x\";",
        "5:10",
        "raw string"
    ),
];

#[test]
fn forbidden_includes_are_refused_before_compiling() {
    check_all(Needs::Compiler, REFUSED);
}

const OTHER: &[Case] = &[
    Case {
        name: "a forbidden include in an include",
        change: |bench| {
            bench.edit("include/index.cuh", "#pragma once", "#include \"../secret.txt\"");
        },
        arguments: NAIVE,
        status: 1,
        says: &["failed: refused", "--> scale/include/index.cuh:1:1", "leaves its folder"],
    },
    Case {
        name: "a file of the project that is not below include",
        change: |bench| include(bench, "#include \"secret.txt\""),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:5:", "secret.txt"],
    },
    Case {
        name: "a file that does not exist",
        change: |bench| include(bench, "#include \"missing.cuh\""),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:5:", "cannot open source file \"missing.cuh\""],
    },
    Case {
        name: "an include of itself",
        change: |bench| bench.write("include/index.cuh", "#include \"index.cuh\"\n"),
        arguments: NAIVE,
        status: 1,
        says: &["index.cuh"],
    },
    Case {
        name: "a pragma that names files",
        change: |bench| include(bench, "#pragma include_alias(\"index.cuh\", \"/etc/passwd\")"),
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:5:", "include_alias"],
    },
    Case {
        name: "an include by inline assembly",
        change: |bench| {
            include(
                bench,
                "__device__ void f() { asm(\".include \\\"/etc/passwd\\\";\"); }\n__device__ auto g = f;\n#include \"index.cuh\"",
            );
        },
        arguments: NAIVE,
        status: 1,
        says: &["failed: compile"],
    },
];

#[test]
fn includes_find_nothing_that_is_not_theirs() {
    check_all(Needs::Compiler, OTHER);
}
