//! Folders and files that are no project: one clear error each, and nothing waits.

use std::path::Path;

use super::fixture::{files, folder, load, problems};
use crate::project::{Project, ProjectError, ReadError, read::MAX_FILE_BYTES};

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

#[test]
fn files_that_are_no_text_are_refused() {
    let (_keep, root) = folder(&files());
    let kernel = root.join("kernels/naive.cu");
    let reason = || match Project::load(&root).unwrap_err() {
        ProjectError::Unreadable { reason, .. } => reason,
        other @ (ProjectError::UnreadableFolder { .. }
        | ProjectError::NotAFolder { .. }
        | ProjectError::Missing { .. }
        | ProjectError::Problems { .. }) => panic!("{other}"),
    };
    std::fs::write(&kernel, vec![b' '; usize::try_from(MAX_FILE_BYTES).unwrap() + 1]).unwrap();
    assert!(matches!(reason(), ReadError::TooLarge { bytes, .. } if bytes == MAX_FILE_BYTES + 1));
    std::fs::write(&kernel, b"ab\ncd\xff").unwrap();
    assert!(matches!(reason(), ReadError::NotUtf8 { offset: 5, line: 2 }));
    std::fs::remove_file(&kernel).unwrap();
    std::fs::create_dir(&kernel).unwrap();
    assert!(matches!(reason(), ReadError::NotAFile));
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
    let kernel = root.join("kernels/naive.cu");
    let reason = || match Project::load(&root).unwrap_err() {
        ProjectError::Unreadable { reason, .. } => reason,
        other @ (ProjectError::UnreadableFolder { .. }
        | ProjectError::NotAFolder { .. }
        | ProjectError::Missing { .. }
        | ProjectError::Problems { .. }) => panic!("{other}"),
    };
    std::fs::remove_file(&kernel).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &kernel).unwrap();
    assert!(matches!(reason(), ReadError::OutsideProject));
    std::fs::remove_file(&kernel).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &kernel,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(matches!(reason(), ReadError::NotAFile));
    std::fs::remove_file(&kernel).unwrap();
    std::fs::write(root.join("inside.cu"), super::fixture::KERNEL).unwrap();
    std::os::unix::fs::symlink("../inside.cu", &kernel).unwrap();
    assert!(Project::load(&root).is_ok());
}

#[test]
fn kernels_have_names_of_their_own() {
    for second in
        ["wrong/naive.cu", "kernels/naive.ptx", "kernels/Naive.cu", "kernels/Reference.cu"]
    {
        let mut files = files();
        files.push((
            second.to_owned(),
            super::fixture::KERNEL.replace("flags:", "expect: compile, flags:"),
        ));
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
fn broken_kernels_leave_the_others_usable() {
    let mut files = files();
    files.push(("kernels/draft.cu".to_owned(), "half".to_owned()));
    let (_keep, root) = folder(&files);
    let survey = Project::survey(&root).unwrap();
    assert_eq!((survey.project.kernels.len(), survey.problems.len()), (1, 1));
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
fn loading_takes_two_milliseconds_at_most() {
    let (_keep, root) = folder(&files());
    let fastest = (0..20)
        .map(|_| {
            let start = std::time::Instant::now();
            drop(Project::load(&root));
            start.elapsed()
        })
        .min()
        .unwrap();
    assert!(fastest.as_micros() <= 2000, "{fastest:?}");
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
    load(&files).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn kernels_may_be_ptx_and_share_includes() {
    let mut files = files();
    files.push(("kernels/assembled.ptx".to_owned(), super::fixture::KERNEL.to_owned()));
    files.push(("include/warp.cuh".to_owned(), "// shared".to_owned()));
    let project = load(&files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(project.kernel("assembled").unwrap().language, crate::project::Language::Ptx);
    assert_eq!(project.includes[0].file, Path::new("include/warp.cuh"));
}

#[cfg(unix)]
#[test]
fn a_folder_of_kernels_that_leads_out_is_refused() {
    let (_keep, root) = folder(&files());
    let (_outside, other) = folder(&files());
    std::fs::remove_dir_all(root.join("kernels")).unwrap();
    std::os::unix::fs::symlink(other.join("kernels"), root.join("kernels")).unwrap();
    let error = Project::load(&root).unwrap_err();
    assert!(
        matches!(error, ProjectError::Unreadable { reason: ReadError::OutsideProject, .. }),
        "{error}"
    );
}
