//! Lessons: accepted and refused files with the location of each problem, and the texts for goals and predictions.

use std::path::{Path, PathBuf};

use super::locked::{self, Locked};
use super::{FILE, Lesson, Nearness, Prediction};
use crate::project::Project;
use crate::speed_of_light::minimal_work::MinimalWork;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/lessons").join(name)
}

#[test]
fn every_lesson_of_ours_is_sound_and_has_its_place() {
    let mut places = Vec::new();
    for entry in std::fs::read_dir(folder("")).unwrap() {
        let path = entry.unwrap().path();
        let project = Project::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let lesson = Lesson::read(&project).expect("a lesson.ron");
        let lesson = lesson.unwrap_or_else(|problems| panic!("{problems:#?}"));
        let has_goals = lesson.steps.iter().any(|step| !step.goals.is_empty());
        let has_guess = lesson.steps.iter().any(|step| step.prediction.is_some());
        assert!(has_goals || has_guess, "{}: there is nothing to do", lesson.title);
        // A kernel in Python has no locked lines.
        let file = &project.kernel(&lesson.kernel).unwrap().file;
        let can_lock = file.extension().is_some_and(|extension| extension == "cu");
        assert!(!has_goals || !can_lock || !lesson.locked.is_empty(), "{}", lesson.title);
        places.push(lesson.order);
    }
    places.sort_unstable();
    assert_eq!(places, (1..=12).collect::<Vec<_>>());
}

#[test]
fn a_project_without_the_file_is_no_lesson() {
    let project = Project::load(&folder("../vector-add")).unwrap();
    assert!(Lesson::read(&project).is_none());
}

/// A change of a good file, and what is said about it: line, column and a part of the sentence.
#[test]
fn each_problem_has_its_place() {
    let project = Project::load(&folder("coalescing")).unwrap();
    let good = std::fs::read_to_string(folder("coalescing").join(FILE)).unwrap();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let problems = Lesson::from_text(&project, &text).expect_err(expected);
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|said| said.contains(expected)), "{expected}: {said:?}");
        let line =
            text.lines().zip(1..).find(|(line, _)| line.contains(to.lines().next().unwrap()));
        let named = format!("{FILE}:{}:", line.unwrap().1);
        assert!(said.iter().any(|said| said.starts_with(&named)), "{named} {said:?}");
    };
    check(r#"kernel: "start""#, r#"kernel: "stat""#, "unknown kernel `stat`");
    check(r#"workload: "stream""#, r#"workload: "odd""#, "unknown workload for measuring `odd`");
    check("order: 1", "order: 0", "a number of at least 1");
    check("schema: 1", "schema: 7", "schema 1");
    check(r#"solution: "side-by-side""#, r#"solution: "start""#, "the kernel `start` itself");
    check("steps/2-side-by-side.md", "steps/2.md", "the file does not exist");
    check(r#"unit: "GB/s""#, r#"unit: "horses""#, "`GB/s` or `TB/s`");
    check("from: 1, to: 32", "from: 1, to: 1", "the first below the second");
    check("at_most(load_sectors, 5)", "at_most(load_sector, 5)", "load_sector");
    check(r#"title: "Coalescing""#, r#"title: " ""#, "no text");
    let both = good.replace("order: 1", "order: 0").replace("schema: 1", "schema: 7");
    assert_eq!(Lesson::from_text(&project, &both).expect_err("two").len(), 2);
}

#[test]
fn a_solution_has_the_same_task() {
    let mut project = Project::load(&folder("coalescing")).unwrap();
    let solution = project.kernels.iter_mut().find(|kernel| kernel.name == "vectors").unwrap();
    solution.source = solution.source.replace("per_thread = 32;", "per_thread = 64;");
    let problems = Lesson::read(&project).unwrap().expect_err("another task");
    assert!(problems[0].to_string().contains("`vectors` has other locked lines"), "{problems:?}");
}

#[test]
fn locked_lines_are_between_their_marks() {
    let check = |text: &str, expected: &[(usize, usize, &str)], wrong: &[usize]| {
        let (found, misplaced) = locked::locked(text);
        let found: Vec<(usize, usize, &str)> = found
            .iter()
            .map(|Locked { lines, why }| (lines.start, lines.end, why.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
        let lines: Vec<usize> = misplaced.iter().map(|wrong| wrong.line).collect();
        assert_eq!(lines, wrong, "{text}");
    };
    check("a\nb\n", &[], &[]);
    check("a\n// lesson: locked, a task\nb\n  // lesson: open\nc\n", &[(2, 5, "a task")], &[]);
    check("a\n// lesson: locked\nb\n", &[(2, 4, "")], &[]);
    check("// lesson: open\n", &[], &[1]);
    check("// lesson: locked\n// lesson: locked\n// lesson: open\n", &[(1, 4, "")], &[2]);
    check("// lesson: closed\n", &[], &[1]);
}

#[test]
fn a_guess_is_near_or_not() {
    let check = |guess: f64, result: f64, words: &str| {
        assert_eq!(Nearness::from_guess(guess, result).words(), words, "{guess} {result}");
    };
    check(32.0, 32.0, "close");
    check(30.0, 32.0, "close");
    check(20.0, 32.0, "the right size");
    check(4.0, 32.0, "8.0 times too little");
    check(3200.0, 32.0, "100 times too much");
    check(0.0, 0.0, "close");
    check(0.5, 0.0, "too much");
    check(0.0, 2.0, "too little");
}

#[test]
fn a_guess_of_a_rate_has_a_place_in_the_roofline() {
    let project = Project::load(&folder("coalescing")).unwrap();
    let lesson = Lesson::read(&project).unwrap().unwrap();
    let guess = |step: usize| -> &Prediction { lesson.steps[step].prediction.as_ref().unwrap() };
    let work = MinimalWork::new(&project.definition, project.workload("stream").unwrap());
    let time = guess(1).time(1000.0, &work).unwrap();
    assert!((time.0 - 134_217_728.0 / 1e12).abs() < 1e-9, "{time}");
    assert_eq!(guess(0).time(4.0, &work), None);
    assert_eq!(guess(1).time(0.0, &work), None);
}
