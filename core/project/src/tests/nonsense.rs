//! Whatever a file says, loading ends with a project or with problems inside the file.

use proptest::prelude::*;

use super::fixture::{KERNEL, MANIFEST, REFERENCE};
use crate::launch::{KernelRole, LaunchContext};
use crate::manifest::Manifest;
use crate::problem::{Findings, Problem};
use crate::{block, definition, kernel, ron_text};

/// Pieces that change what a file means more often than random letters do.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "-",
    "0",
    "9999999999999999999999",
    "rows",
    "2 ** 127",
    "-1",
    "/*@",
    "@*/",
    "é",
    "\u{202e}",
    "inf",
    "NaN",
    "Some(",
    "r#\"",
    "\\",
    "\n",
    "true",
    "PARAM_",
    "<",
    "1e400",
    "none",
    "::",
];

/// A sound text with a few pieces inserted or removed.
fn broken(text: &'static str) -> impl Strategy<Value = String> {
    let edit = (0..text.len(), 0..12_usize, prop::sample::select(PIECES));
    prop::collection::vec(edit, 1..4).prop_map(move |edits| {
        let mut text = text.to_owned();
        for (at, removed, piece) in edits {
            let at = text.floor_char_boundary(at);
            let end = text.ceil_char_boundary((at + removed).min(text.len()));
            text.replace_range(at..end, piece);
        }
        text
    })
}

fn check_places(text: &str, problems: &[Problem]) -> Result<(), TestCaseError> {
    for problem in problems {
        prop_assert!(text.get(problem.span.clone()).is_some(), "{:?}", problem);
        prop_assert!(problem.line <= text.matches('\n').count() + 1, "{:?}", problem);
        prop_assert!(!problem.to_string().contains(['\u{1b}', '\u{202e}', '\n']), "{:?}", problem);
    }
    Ok(())
}

proptest! {
    #[test]
    fn broken_manifests_have_problems_with_places(text in broken(MANIFEST)) {
        match ron_text::read::<Manifest>("project.ron".as_ref(), &text, 0..text.len()) {
            Err(problem) => check_places(&text, &[*problem])?,
            Ok((manifest, source)) => {
                let mut findings = Findings::new(&source);
                drop(definition::check(&mut findings, &source.tree, &manifest, &["naive".to_owned()]));
                check_places(&text, &findings.into_problems())?;
            }
        }
    }

    #[test]
    fn broken_kernels_have_problems_with_places(text in prop_oneof![broken(KERNEL), broken(REFERENCE)]) {
        let (manifest, source) =
            ron_text::read::<Manifest>("project.ron".as_ref(), MANIFEST, 0..MANIFEST.len()).unwrap();
        let mut findings = Findings::new(&source);
        let (definition, workloads) =
            definition::check(&mut findings, &source.tree, &manifest, &["naive".to_owned()]);
        for role in [KernelRole::Variant, KernelRole::Reference, KernelRole::Standalone] {
            let project = (role != KernelRole::Standalone).then_some((&definition, workloads.as_slice()));
            if let Err(problems) = kernel::check("k.cu".as_ref(), text.clone(), LaunchContext { role, project }) {
                check_places(&text, &problems)?;
            }
        }
    }

    #[test]
    fn blocks_are_looked_for_in_any_text(text in "[/*@lightbench()\"'R\\\\é\n ]{0,80}") {
        if let Ok(Some(range)) = block::find("k.cu".as_ref(), &text) {
            prop_assert!(text.get(range).is_some());
        }
    }
}
