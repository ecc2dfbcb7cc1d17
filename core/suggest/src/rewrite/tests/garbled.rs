//! Texts that make no sense: rules say something or nothing, and never panic.

use std::sync::LazyLock;

use lightbench_project::Project;
use proptest::prelude::*;

use super::sample;
use crate::rewrite::{KernelSource, rules};

static PROJECTS: LazyLock<Vec<Project>> =
    LazyLock::new(|| ["rmsnorm", "vector-sum", "transpose", "rotary"].map(sample).to_vec());

/// What is put somewhere: brackets, words that rules look for, letters of several bytes.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    "=",
    "/",
    "%",
    "*",
    "&",
    "\"",
    "\n",
    "\\",
    "é",
    "/*",
    "*/",
    "for (",
    "if (",
    "__shared__ ",
    "float ",
    "threadIdx.x",
    "blockIdx.x",
    "return;",
    "static_cast<",
    "#pragma unroll ",
    "0.5",
    "256",
    "params: {",
    "@*/",
    "long long ",
    "const ",
    "<",
    ">",
    ",",
    "//",
    "\r\n",
    "\0",
];

/// Every rule on the text, as if it were the kernel's, and every rewrite applied.
fn survive(project: &Project, kernel: usize, text: String) {
    let mut kernel = project.kernels[kernel % project.kernels.len()].clone();
    kernel.source = text;
    let Ok(subject) = KernelSource::from_kernel(project, &kernel) else { return };
    for rule in rules() {
        match rule.rewrites(&subject) {
            Ok(rewrites) => {
                for rewrite in rewrites {
                    assert!(!rewrite.apply(&kernel.source).is_empty());
                }
            }
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn rules_survive_kernels_with_pieces_cut_out_and_put_in(
        project in 0_usize..4,
        kernel in 0_usize..8,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, 0..PIECES.len()), 1..5),
    ) {
        let project = &PROJECTS[project];
        let mut text = project.kernels[kernel % project.kernels.len()].source.clone();
        for (at, length, piece) in cuts {
            let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
            let start = *at.get(&places);
            let end = places.iter().copied().find(|place| *place >= start + length).unwrap_or(text.len());
            text.replace_range(start..end, PIECES[piece]);
        }
        survive(project, kernel, text);
    }

    #[test]
    fn rules_survive_any_text(text in "\\PC{0,200}") {
        survive(&PROJECTS[0], 0, text);
    }
}

#[test]
fn rules_survive_what_is_nested_deeply() {
    let project = &PROJECTS[0];
    let source = &project.kernels[0].source;
    for piece in ["(", "{", "[", "a[", "-", "1 + ", "1 / ", "f("] {
        let at = source.rfind('}').unwrap();
        let deep = piece.repeat(3000);
        survive(project, 0, format!("{}{deep}{}", &source[..at], &source[at..]));
    }
}
