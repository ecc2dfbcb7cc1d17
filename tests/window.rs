//! Sessions in a real window on a virtual display, with keys and the mouse: a newcomer, an expert and a
//! teacher. Pictures of their steps are in `target/pictures/sessions`.
//!
//! They need Xvfb, xdotool and software OpenGL; where they are missing a session says so and passes, unless
//! `LIGHTBENCH_REQUIRE_DISPLAY` is set.

pub(crate) mod screen;

use std::fs;
use std::path::{Path, PathBuf};

use self::screen::{Session, until};
use crate::compiler;
use crate::program::{copy_folder, repository};

/// Copies a project without its history.
fn copy_project(from: &str, to: &Path) -> PathBuf {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    copy_folder(&repository().join(from), to);
    fs::remove_dir_all(to.join(".lightbench")).ok();
    to.to_owned()
}

const OWN_KERNEL: &str = "__global__ void shift(const float* x, float* y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + by;
}
";

#[test]
fn a_newcomer_gets_from_an_own_kernel_to_a_verdict() {
    let Some(_) = compiler::required() else { return };
    let session = Session::open("newcomer", 0, |folder| {
        fs::write(folder.join("shift.cu"), OWN_KERNEL).unwrap();
        None
    });
    let Some(mut session) = session else { return };
    session.picture("start");
    session.keys(&["ctrl+n"]);
    session.write(&session.path("shift.cu").display().to_string());
    // Past the button and the fields of kernel and reference, to the folder.
    session.keys(&["Tab", "Tab", "Tab", "Tab", "ctrl+a"]);
    session.write(&session.path("shift").display().to_string());
    session.picture("new-project");
    session.keys(&["Return"]);
    let project = session.path("shift");
    until("the project", || project.join("project.ron").is_file().then_some(()));
    session.picture("guesses");
    session.keys(&["ctrl+p"]);
    session.write("reference");
    session.keys(&["Return", "ctrl+End", "Up", "Up", "Home", "shift+End"]);
    session.write("    y[i] = (double)x[i] + by; y_magnitude[i] = fabs((double)x[i]) + fabs(by);");
    session.keys(&["ctrl+s"]);
    session.picture("reference");
    session.keys(&["ctrl+p"]);
    session.write("shift");
    session.keys(&["Return", "F5"]);
    session.expect_verdict("shift", 1, ("shift", "passed"));
    session.picture("verdict");
    session.quit();
}

#[test]
fn an_expert_gets_from_a_fault_to_a_comparison() {
    let Some(_) = compiler::required() else { return };
    let session = Session::open("expert", 1, |folder| {
        let project = copy_project("tests/data/scale", &folder.join("scale"));
        let kernel = project.join("kernels/naive.cu");
        let text = fs::read_to_string(&kernel).unwrap();
        fs::write(&kernel, text.replace("if (i < count) {", "if (i <= count) {")).unwrap();
        Some(kernel)
    });
    let Some(mut session) = session else { return };
    // The button at the left end of the second bar.
    session.click(32, 44);
    session.expect_verdict("scale", 1, ("naive", "failed"));
    session.picture("fault");
    // From the access outside of the buffer to the condition above it.
    session.keys(&["F8", "Up", "Home", "shift+End"]);
    session.write("  if (i < count) {");
    session.keys(&["ctrl+s"]);
    session.expect_verdict("scale", 2, ("naive", "passed"));
    let fixed = fs::read_to_string(session.path("scale/kernels/naive.cu")).unwrap();
    assert!(fixed.contains("\n  if (i < count) {\n"), "{fixed}");
    session.picture("fix");
    session.keys(&["ctrl+p"]);
    session.write("tuned");
    session.keys(&["Return", "F5"]);
    session.expect_verdict("scale", 3, ("tuned", "passed"));
    session.picture("faster");
    session.wheel((1000, 250), 3);
    session.picture("zoomed-roofline");
    session.keys(&["ctrl+5"]);
    session.picture("machine-code");
    session.keys(&["ctrl+d"]);
    session.picture("comparison");
    let layouts = fs::read_to_string(session.path("state/layouts.ron")).unwrap();
    assert!(layouts.contains("current: compare"), "{layouts}");
    session.quit();
}

#[test]
fn a_teacher_walks_through_a_lesson() {
    let Some(_) = compiler::required() else { return };
    let session = Session::open("teacher", 2, |folder| {
        let lesson = "sample-projects/lessons/coalescing";
        Some(copy_project(lesson, &folder.join("coalescing")))
    });
    let Some(mut session) = session else { return };
    session.picture("lesson");
    // The slider of the question, and the button beside it.
    session.click(150, 432);
    session.click(382, 432);
    session.picture("guess");
    session.keys(&["F6"]);
    session.expect_verdict("coalescing", 1, ("start", "passed"));
    session.picture("measured");
    session.keys(&["F7"]);
    session.picture("next-step");
    let progress = session.path("state/lessons");
    until("the stored progress", || {
        fs::read_dir(&progress).ok()?.next().map(|entry| drop(entry.unwrap()))
    });
    session.quit();
}
