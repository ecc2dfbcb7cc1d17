//! Replies in all the forms in which models write them.

use proptest::prelude::*;

use crate::reply::{
    Edit, EditProblemKind, NamedFile, ParameterValue, Parsed, Proposal, ReplyProblem, apply, parse,
};

fn check_file(reply: &str, expected: &str) {
    let parsed = parse(reply).unwrap_or_else(|problem| panic!("{reply}: {problem}"));
    assert_eq!(parsed.proposal, Proposal::File(expected.to_owned()), "{reply}");
}

fn check_problem(reply: &str, expected: &ReplyProblem) {
    assert_eq!(parse(reply).as_ref(), Err(expected), "{reply}");
    assert!(expected.to_string().ends_with('.'), "{expected}");
}

#[test]
fn a_whole_file() {
    check_file("```cuda\nx\n```", "x\n");
    check_file("```\nx\n```\n", "x\n");
    check_file("~~~cpp\nx\n~~~", "x\n");
    check_file("Here:\n\n   ```CUDA\nx\n   ```\nDone.", "x\n");
    check_file("````cuda\n```\nx\n````", "```\nx\n");
    check_file("```cuda\r\nx\r\n```\r\n", "x\r\n");
    check_file("```{.cuda}\nx\n```".replace("{.cuda}", "cuda {line=1}").as_str(), "x\n");
}

#[test]
fn the_last_complete_block_counts() {
    check_file("```cuda\ndraft\n```\nNo, better:\n```cuda\nfinal\n```", "final\n");
    check_file("```cuda\nfinal\n```\nIt prints:\n```text\n42\n```\n```bash\nnvcc\n```", "final\n");
    check_file("```json\n{\"a\": 1}\n```\n```cuda\nfinal\n```", "final\n");
    check_file("```cuda\nnever closed\n```cuda\nfinal\n```", "final\n");
    let parsed = parse("```cuda\ndraft\n```\nBetter:\n```cuda\nfin").unwrap();
    assert_eq!((parsed.proposal, parsed.is_cut), (Proposal::File("draft\n".to_owned()), true));
    let parsed = parse("```cuda\ndraft\n```\n```text\nsome out").unwrap();
    assert!(!parsed.is_cut, "output that is cut matters to nobody");
}

#[test]
fn several_files() {
    let check = |reply: &str, expected: &[(&str, &str)]| {
        let file = |(name, text): &(&str, &str)| NamedFile {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
        };
        let files = expected.iter().map(file).collect();
        assert_eq!(
            parse(reply).map(|parsed| parsed.proposal),
            Ok(Proposal::Files(files)),
            "{reply}"
        );
    };
    check("```cuda fast.cu\nx\n```", &[("fast.cu", "x\n")]);
    check("```cuda:kernels/fast.cu\nx\n```", &[("kernels/fast.cu", "x\n")]);
    check("```cpp file=\"tile.cuh\"\nx\n```", &[("tile.cuh", "x\n")]);
    check("```fast.cu\nx\n```", &[("fast.cu", "x\n")]);
    check("**File: `fast.cu`**\n\n```cuda\nx\n```", &[("fast.cu", "x\n")]);
    check("### file: fast.cu\n```cuda\nx\n```", &[("fast.cu", "x\n")]);
    check(
        "```a.cu\n1\n```\n```b.cuh\n2\n```\n```a.cu\n3\n```",
        &[("a.cu", "3\n"), ("b.cuh", "2\n")],
    );
}

#[test]
fn names_stay_below_their_folder() {
    for name in [
        "../x.cu",
        "/etc/x.cu",
        "a/../x.cu",
        "a//x.cu",
        "C:\\x.cu",
        ".x.cu",
        "a/.git.cu",
        "x\u{202e}.cu",
    ] {
        let reply = format!("File: {name}\n```cuda\nx\n```");
        check_problem(&reply, &ReplyProblem::Name { name: name.to_owned() });
    }
}

#[test]
fn parameters() {
    let check = |reply: &str, idea: Option<&str>| {
        let values = [
            ("BLOCK".to_owned(), ParameterValue::Integer(256)),
            ("FAST".to_owned(), ParameterValue::Flag(true)),
            ("MODE".to_owned(), ParameterValue::Word("row".to_owned())),
            ("SCALE".to_owned(), ParameterValue::Number(0.5)),
        ];
        let parsed = parse(reply).unwrap_or_else(|problem| panic!("{reply}: {problem}"));
        assert_eq!(parsed.proposal, Proposal::Parameters(values.into()), "{reply}");
        assert_eq!(parsed.idea.as_deref(), idea, "{reply}");
    };
    let object = "{\"BLOCK\": 256, \"FAST\": true, \"MODE\": \"row\", \"SCALE\": 0.5}";
    check(&format!("```json\n{object}\n```"), None);
    check(
        &format!("Idea: larger blocks\n```json\n{{\"parameters\": {object}}}\n```"),
        Some("larger blocks"),
    );
    check(object, None);
    check(&format!("I suggest {object}."), None);
    check(&object.replace('{', "{\"idea\": \"wider\", "), Some("wider"));
    check_problem("```json\n{\"A\": [1]}\n```", &ReplyProblem::Parameter { name: "A".to_owned() });
    check_problem("```json\n{}\n```", &ReplyProblem::EmptyBlock);
    for text in ["{\"A\": 1", "[1]", "{'A': 1}"] {
        let problem = parse(&format!("```json\n{text}\n```")).unwrap_err();
        assert!(matches!(problem, ReplyProblem::Json { .. }), "{text}: {problem}");
    }
}

#[test]
fn replies_that_propose_nothing() {
    check_problem("", &ReplyProblem::Empty);
    check_problem(" \n ", &ReplyProblem::Empty);
    check_problem("I cannot help with that.", &ReplyProblem::NoBlock);
    check_problem("It prints\n```text\n42\n```", &ReplyProblem::NoBlock);
    check_problem("```cuda\n__global__ void k(", &ReplyProblem::Cut);
    check_problem("```cuda\n\n```", &ReplyProblem::EmptyBlock);
    check_problem("```diff\n-a\n+b\n```", &ReplyProblem::UnifiedDiff);
    let long = "x".repeat(crate::reply::MOST_BYTES + 1);
    check_problem(&long, &ReplyProblem::TooLong { limit: crate::reply::MOST_BYTES });
    let many: String = (0..40).map(|number| format!("```f{number}.cu\nx\n```\n")).collect();
    check_problem(&many, &ReplyProblem::TooMany { what: "files", most: 32 });
}

#[test]
fn ideas() {
    let check = |line: &str, expected: Option<&str>| {
        let parsed = parse(&format!("{line}\n```cuda\nidea: not this\n```")).unwrap();
        assert_eq!(parsed.idea.as_deref(), expected, "{line}");
    };
    check("idea: use shared memory", Some("use shared memory"));
    check("**Idea:** use *shared* memory", Some("use *shared* memory"));
    check("- IDEA : tiles", Some("tiles"));
    check("// idea: tiles", Some("tiles"));
    check("idea: first\nidea: second", Some("second"));
    check("The idea: none", None);
    check("idea:", None);
    check("", None);
    assert_eq!(
        parse(&format!("idea: {}\n```\nx\n```", "y".repeat(999))).unwrap().idea.unwrap().len(),
        300
    );
}

const FILE: &str = "int a;\nint b;\n  int c;\nint a;\nfloat value = 1.0f;\n";

fn edit(search: &str, replace: &str) -> Edit {
    Edit { file: None, search: search.to_owned(), replace: replace.to_owned() }
}

#[test]
fn edits_are_read() {
    let block = "<<<<<<< SEARCH\nint b;\n=======\nint d;\n>>>>>>> REPLACE\n";
    let other = block.replace("int b;", "  int c;");
    let check = |reply: &str, expected: &[Edit]| {
        let proposal = parse(reply).map(|parsed| parsed.proposal);
        assert_eq!(proposal, Ok(Proposal::Edits(expected.to_vec())), "{reply}");
    };
    let (one, two) = (edit("int b;\n", "int d;\n"), edit("  int c;\n", "int d;\n"));
    check(block, std::slice::from_ref(&one));
    check(&format!("```cuda\n{block}```"), std::slice::from_ref(&one));
    check(&format!("```diff\n{block}```"), std::slice::from_ref(&one));
    check(&format!("```cuda\n{block}{other}```"), &[one.clone(), two.clone()]);
    check(&format!("```cuda\n{block}```\nand\n```cuda\n{other}```"), &[one.clone(), two.clone()]);
    check(&format!("```cuda\nwhole draft\n```\n{block}"), std::slice::from_ref(&one));
    let changed = block.replace("int d;", "int e;");
    check(&format!("{block}{changed}"), &[edit("int b;\n", "int e;\n")]);
    let named = Edit { file: Some("a.cu".to_owned()), ..one };
    check(&format!("```cuda a.cu\n{block}```"), &[named]);
    check("<<<<<<< SEARCH\nint b;\n=======\n>>>>>>> REPLACE", &[edit("int b;\n", "")]);
    check_file(&format!("{block}```cuda\nwhole\n```"), "whole\n");
    check_problem("<<<<<<< SEARCH\nint b;\n=======\n", &ReplyProblem::UnfinishedEdit { number: 1 });
    check_problem(
        &format!("{block}<<<<<<< SEARCH\nint b;\n>>>>>>> REPLACE\n"),
        &ReplyProblem::UnfinishedEdit { number: 2 },
    );
}

#[test]
fn edits_are_carried_out() {
    let check = |edits: &[Edit], expected: &str| {
        assert_eq!(apply(edits, FILE).as_deref(), Ok(expected), "{edits:?}");
    };
    check(
        &[edit("int b;\n", "int d;\nint e;\n")],
        "int a;\nint d;\nint e;\n  int c;\nint a;\nfloat value = 1.0f;\n",
    );
    check(&[edit("int b;", "int d;")], "int a;\nint d;\n  int c;\nint a;\nfloat value = 1.0f;\n");
    check(&[edit("int b;\n", "")], "int a;\n  int c;\nint a;\nfloat value = 1.0f;\n");
    check(&[edit("int a;\nint b;\n", "")], "  int c;\nint a;\nfloat value = 1.0f;\n");
    check(
        &[edit("int b;\n", "int d;\n"), edit("int d;\n", "int e;\n")],
        "int a;\nint e;\n  int c;\nint a;\nfloat value = 1.0f;\n",
    );
    check(&[], FILE);
    let returns = FILE.replace('\n', "\r\n");
    assert_eq!(
        apply(&[edit("int b;\n", "int d;\n")], &returns),
        Ok(returns.replace("int b", "int d"))
    );
    assert_eq!(apply(&[edit("a\nb", "c")], "a\nb"), Ok("c".to_owned()));
}

#[test]
fn edits_that_do_not_fit_say_why() {
    let check = |edits: &[Edit], number: usize, trouble: EditProblemKind, words: &str| {
        let problem = apply(edits, FILE).unwrap_err();
        assert_eq!((problem.number, &problem.trouble), (number, &trouble), "{edits:?}");
        assert!(problem.to_string().contains(words), "{problem}");
    };
    check(
        &[edit("int a;\n", "x\n")],
        1,
        EditProblemKind::Several { lines: vec![1, 4] },
        "2 times, at lines 1, 4",
    );
    check(&[edit("int c;\n", "x\n")], 1, EditProblemKind::OtherSpace { line: 3 }, "line 3");
    let nearest = Some((5, "float value = 1.0f;".to_owned()));
    let missing = EditProblemKind::Missing { wanted: "float values = 1.0f;".to_owned(), nearest };
    check(
        &[edit("int b;\n", "x\n"), edit("float values = 1.0f;\n", "x\n")],
        2,
        missing,
        "nearest: line 5",
    );
    let missing = EditProblemKind::Missing { wanted: "#pragma unroll".to_owned(), nearest: None };
    check(&[edit("#pragma unroll\n", "x\n")], 1, missing, "not in the file");
    check(&[edit("\n", "x\n")], 1, EditProblemKind::NothingToSearch, "empty");
    check(
        &[edit("int b;\n", "int b;\n")],
        1,
        EditProblemKind::NothingToChange,
        "nothing would change",
    );
}

/// How much a proposal holds.
fn size(parsed: &Parsed) -> usize {
    match &parsed.proposal {
        Proposal::File(text) => text.len(),
        Proposal::Files(files) => files.iter().map(|file| file.text.len()).sum(),
        Proposal::Edits(edits) => {
            edits.iter().map(|edit| edit.search.len() + edit.replace.len()).sum()
        }
        Proposal::Parameters(parameters) => parameters.keys().map(String::len).sum(),
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "```",
        "```cuda\n",
        "```json\n",
        "````",
        "~~~",
        "\n",
        "\r\n",
        "<<<<<<< SEARCH\n",
        "=======\n",
        ">>>>>>> REPLACE\n",
        "{\"A\": 1}",
        "idea: x\n",
        "File: a.cu\n",
        "int a;\n",
        "```a.cu\n",
        "`",
        "é",
        "\u{202e}",
    ]);
    let part = prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,12}"];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_reply_is_read_without_a_panic_and_stays_small(reply in fragments()) {
        if let Ok(parsed) = parse(&reply) {
            prop_assert!(size(&parsed) <= reply.len());
        }
    }

    #[test]
    fn any_edit_is_carried_out_or_explained(search in fragments(), replace in fragments(), text in fragments()) {
        let edits = [edit(&search, &replace)];
        match apply(&edits, &text) {
            Ok(edited) => prop_assert!(edited.len() <= 2 * (text.len() + replace.len() + 2)),
            Err(problem) => prop_assert!(problem.to_string().len() < 2000),
        }
    }

    #[test]
    fn a_fenced_file_comes_out_as_it_was(text in "([a-zéß(){};=#/* .]{0,20}\n){1,8}", before in "[a-z .\n]{0,40}") {
        prop_assume!(!text.trim().is_empty());
        let parsed = parse(&format!("{before}\n```cuda\n{text}```\nThat is all.")).unwrap();
        prop_assert_eq!(parsed.proposal, Proposal::File(text));
    }
}
