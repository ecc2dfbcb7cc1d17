//! Folders and files that are no project: one clear error each, and nothing waits.

use std::collections::BTreeMap;
use std::path::Path;

use super::fixture::{KERNEL, files, folder, load, problems};
use crate::read::MAX_FILE_BYTES;
use crate::{Candidate, DeviceFacts, KernelUnavailable, Part, Project, ProjectError, ReadError};

/// The kernel of the project of three files.
const KERNEL_FILE: &str = "kernels/naive.cu";

#[test]
fn missing_files_are_named() {
    assert!(matches!(
        Project::load(Path::new("no/such/folder")),
        Err(ProjectError::UnreadableFolder { .. })
    ));
    for (index, name) in ["project.ron", "reference.cu"].into_iter().enumerate() {
        let mut files = files();
        files.remove(index);
        let error = load(&files).unwrap_err();
        assert!(
            matches!(&error, ProjectError::Missing { file } if file.ends_with(name)),
            "{error}"
        );
    }
    let (_keep, root) = folder(&files());
    assert!(matches!(
        Project::load(&root.join("project.ron")),
        Err(ProjectError::NotAFolder { .. })
    ));
}

/// What is wrong with the only kernel; the project is one all the same.
fn broken(root: &Path) -> String {
    let project = Project::load(root).unwrap();
    assert_eq!((project.kernels.len(), project.broken.len()), (0, 1));
    let broken = &project.broken[0];
    assert_eq!((broken.file.as_path(), broken.part), (Path::new(KERNEL_FILE), Part::Kernel));
    assert_eq!(broken.source, None);
    broken.problem_list()
}

#[test]
fn files_that_are_no_text_are_kept_apart() {
    let (_keep, root) = folder(&files());
    let kernel = root.join(KERNEL_FILE);
    let check = |says: &str| {
        let found = broken(&root);
        assert!(found.starts_with(says), "{found}, expected {says}");
    };
    std::fs::write(&kernel, vec![b' '; usize::try_from(MAX_FILE_BYTES).unwrap() + 1]).unwrap();
    check("kernels/naive.cu:1:1: the file has 1048577 bytes");
    std::fs::write(&kernel, b"ab\ncd\xff").unwrap();
    check("kernels/naive.cu:2:1: byte 5 (line 2) is not UTF-8");
    std::fs::remove_file(&kernel).unwrap();
    std::fs::create_dir(&kernel).unwrap();
    check("kernels/naive.cu:1:1: this is not a regular file");
}

#[test]
fn what_all_kernels_need_must_be_text() {
    for file in ["project.ron", "reference.cu"] {
        let (_keep, root) = folder(&files());
        std::fs::write(root.join(file), b"\xff").unwrap();
        let error = Project::load(&root).unwrap_err();
        assert!(
            matches!(error, ProjectError::Unreadable { reason: ReadError::NotUtf8 { .. }, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let (_keep, root) = folder(&files());
    let plain = Project::load(&root).unwrap();
    for file in ["project.ron", "reference.cu"] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        std::fs::write(root.join(file), format!("\u{feff}{text}")).unwrap();
    }
    assert_eq!(Project::load(&root).unwrap(), plain);
}

#[cfg(unix)]
#[test]
fn links_out_and_pipes_are_refused() {
    let (_keep, root) = folder(&files());
    let kernel = root.join(KERNEL_FILE);
    std::fs::remove_file(&kernel).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &kernel).unwrap();
    assert!(broken(&root).contains("outside the project folder"));
    std::fs::remove_file(&kernel).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &kernel,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(broken(&root).contains("not a regular file"));
    std::fs::remove_file(&kernel).unwrap();
    std::fs::write(root.join("inside.cu"), KERNEL).unwrap();
    std::os::unix::fs::symlink("../inside.cu", &kernel).unwrap();
    assert_eq!(Project::load(&root).unwrap().kernels.len(), 1);
}

#[test]
fn kernels_have_names_of_their_own() {
    for second in
        ["wrong/naive.cu", "kernels/naive.ptx", "kernels/Naive.cu", "kernels/Reference.cu"]
    {
        let mut files = files();
        files.push((second.to_owned(), KERNEL.replace("flags:", "expect: compile, flags:")));
        assert!(
            problems(&files).iter().any(|problem| problem.found.contains("a second kernel")),
            "{second}"
        );
    }
}

#[test]
fn what_came_with_the_folder_is_not_read() {
    let mut files = files();
    files.push((".lightbench/history.db".to_owned(), "nonsense".to_owned()));
    files.push(("kernels/.hidden.cu".to_owned(), "nonsense".to_owned()));
    files.push(("kernels/notes.txt".to_owned(), "nonsense".to_owned()));
    assert!(load(&files).is_ok());
}

#[test]
fn one_bad_file_stops_no_other() {
    let check = |file: &str, text: &str, part: Part, says: &str| {
        let mut files = files();
        files.push((file.to_owned(), text.to_owned()));
        let project = load(&files).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((project.kernels.len(), project.wrong.len()), (1, 0), "{file}");
        let [broken] = project.broken.as_slice() else { panic!("{:?}", project.broken) };
        assert_eq!((broken.file.to_str(), broken.part), (Some(file), part));
        assert_eq!(broken.source.as_deref(), Some(text));
        assert!(broken.problem_list().contains(says), "{}", broken.problem_list());
        match project.kernel(&broken.name()) {
            Err(KernelUnavailable::Broken(found)) => assert_eq!(&found, broken),
            other => panic!("{other:?}"),
        }
    };
    check("kernels/draft.cu", "half", Part::Kernel, "kernels/draft.cu:1:1: the file has no launch");
    check("kernels/open.cu", "\n/*@ lightbench(", Part::Kernel, "kernels/open.cu:2:1: ");
    check("kernels/bad name.cu", KERNEL, Part::Kernel, "cannot be called `bad name`");
    check("wrong/unnamed.cu", KERNEL, Part::Wrong, "expect");
    check("wrong/draft.cu", "", Part::Wrong, "no launch block");
}

#[test]
fn a_broken_kernel_mends_no_broken_definition() {
    let mut files = files();
    files[0].1 = files[0].1.replace("schema: 1", "schema: 2");
    files.push(("kernels/draft.cu".to_owned(), "half".to_owned()));
    let found: Vec<_> = problems(&files).into_iter().map(|problem| problem.file).collect();
    assert!(found.contains(&"project.ron".into()) && found.contains(&"kernels/draft.cu".into()));
}

#[test]
fn an_include_that_is_no_text_fails_what_includes_it() {
    let mut files = files();
    files.push(("kernels/other.cu".to_owned(), format!("#include \"odd.cuh\"\n{KERNEL}")));
    let (_keep, root) = folder(&files);
    std::fs::create_dir(root.join("include")).unwrap();
    std::fs::write(root.join("include/odd.cuh"), b"\xff").unwrap();
    let project = Project::load(&root).unwrap();
    assert_eq!((project.kernels.len(), project.broken[0].part), (2, Part::Include));
    let candidate = |name: &str| {
        let environment = project.environment(&project.workloads[0]);
        let kernel = project.kernel(name).unwrap();
        let device = DeviceFacts::default();
        let selection = kernel.launch.select(&environment, &BTreeMap::new(), &device).unwrap();
        Candidate::new(&project, kernel, selection)
    };
    assert!(candidate("naive").is_ok());
    let refusals = candidate("other").unwrap_err();
    assert!(refusals[0].to_string().contains("include/odd.cuh:1:1: byte 0"), "{}", refusals[0]);
}

#[test]
fn escapes_in_files_never_reach_the_terminal() {
    let mut files = files();
    files[0].1 = files[0].1.replace("name: \"eps\"", "name: \"\\u{1b}[2J\\u{202e}\"");
    let shown = load(&files).unwrap_err().to_string();
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let mut files = files();
    files[0].1 = format!("({}", "axes: [(".repeat(20_000));
    assert_eq!(problems(&files).len(), 1);
    files[0].1 = "[".repeat(100_000);
    assert_eq!(problems(&files).len(), 1);
}

#[test]
fn the_page_shows_a_project_that_loads() {
    let page = include_str!("../../../../docs/project-format.md");
    let example = |language: &str| {
        let (_, after) = page.split_once(&format!("```{language}\n")).unwrap();
        after.split_once("```").unwrap().0.to_owned()
    };
    let mut files = files();
    files[0].1 = example("ron");
    files[2].1 = example("cuda");
    let project = load(&files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(project.broken, []);
}

#[test]
fn kernels_may_be_ptx_and_share_includes() {
    let mut files = files();
    files.push(("kernels/assembled.ptx".to_owned(), KERNEL.to_owned()));
    files.push(("include/warp.cuh".to_owned(), "// shared".to_owned()));
    let project = load(&files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(project.kernel("assembled").unwrap().language, crate::Language::Ptx);
    assert_eq!(project.includes[0].file, Path::new("include/warp.cuh"));
}

#[cfg(unix)]
#[test]
fn a_folder_of_kernels_that_leads_out_is_refused() {
    let (_keep, root) = folder(&files());
    let (_outside, other) = folder(&files());
    std::fs::remove_dir_all(root.join("kernels")).unwrap();
    std::os::unix::fs::symlink(other.join("kernels"), root.join("kernels")).unwrap();
    assert!(broken(&root).contains("outside the project folder"));
}
