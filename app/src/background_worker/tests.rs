//! Tests of the thread with real files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lightbench_core::toolchain::HostEnvironment;

use super::WorkerHandle;
use crate::session::Session;
use crate::workbench::background_task::{
    BackgroundTask, BackgroundWorker as _, FolderContent, HistoryPart, TaskResult,
};
use crate::workbench::new_project::{ProjectPlan, ProjectSource};
use crate::workbench::search::JournalOrigin;
use crate::workbench::settings::Settings;

/// Upper limit for any step on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a test waits for a result that must not come.
const QUIET: Duration = Duration::from_millis(800);

struct Fixture {
    folder: tempfile::TempDir,
    desk: WorkerHandle,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&crate::workbench::tests::folder(), &folder.path().join("project"));
        fs::remove_dir_all(folder.path().join("project/.lightbench")).ok();
        let surroundings = HostEnvironment::from_variables(&|_| None, None);
        let state = Some(folder.path().join("state"));
        let session = Session { state, ..Session::new(surroundings) };
        let desk = WorkerHandle::start(session, Arc::new(|| ())).unwrap();
        Self { folder, desk }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    fn next_within(&self, patience: Duration) -> Option<TaskResult> {
        let began = Instant::now();
        loop {
            if let Some(finding) = self.desk.next_result() {
                return Some(finding);
            }
            if began.elapsed() > patience {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the first result that `meant` accepts; skips the others.
    fn until<T>(&self, meant: impl Fn(TaskResult) -> Option<T>) -> T {
        loop {
            let finding = self.next_within(PATIENCE).expect("nothing more is found");
            if let Some(found) = meant(finding) {
                return found;
            }
        }
    }

    fn open(&self) {
        self.desk.submit(BackgroundTask::Open(self.project()));
        self.until(|finding| {
            matches!(finding, TaskResult::History(_, _, HistoryPart::Last)).then_some(())
        });
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn changes_are_noticed_and_reading_is_none() {
    let bench = Fixture::new();
    bench.open();
    bench.desk.submit(BackgroundTask::ReloadProject(bench.project()));
    bench.until(|finding| matches!(finding, TaskResult::Project(..)).then_some(()));
    let more = bench.next_within(QUIET);
    assert!(more.is_none(), "reading is no change: {more:?}");
    fs::write(bench.project().join("kernels/naive.cu"), "// by another editor").unwrap();
    bench.until(|finding| matches!(finding, TaskResult::Changed(_)).then_some(()));
    while bench.next_within(QUIET).is_some() {}
}

#[test]
fn what_is_saved_is_on_disk_and_what_cannot_be_is_said() {
    let bench = Fixture::new();
    bench.open();
    let check = |file: &str, is_saved: bool| {
        let (folder, text) = (bench.project(), "// saved\n".to_owned());
        bench.desk.submit(BackgroundTask::Save { folder, file: file.into(), text: text.clone() });
        let saved = bench.until(|finding| {
            if let TaskResult::Saved(_, _, saved) = finding { Some(saved) } else { None }
        });
        assert_eq!(saved.is_ok(), is_saved, "{file}: {saved:?}");
        if is_saved {
            assert_eq!(fs::read_to_string(bench.project().join(file)).unwrap(), text);
        }
    };
    check("kernels/naive.cu", true);
    check("kernels/new/deep.cu", true);
    check("project.ron/below-a-file.cu", false);
}

#[test]
fn what_was_not_saved_is_offered_again() {
    let bench = Fixture::new();
    let file = PathBuf::from("kernels/naive.cu");
    let keep =
        |text: &str| BackgroundTask::SaveJournal(bench.project(), file.clone(), text.to_owned());
    bench.desk.submit(keep("not saved"));
    bench.open();
    let text =
        bench.until(
            |finding| if let TaskResult::Journal(_, _, text) = finding { Some(text) } else { None },
        );
    assert_eq!(text, "not saved");
    bench.desk.submit(BackgroundTask::DeleteJournal(bench.project(), file.clone()));
    bench.open();
    while let Some(finding) = bench.next_within(QUIET) {
        assert!(!matches!(finding, TaskResult::Journal(..)), "{finding:?}");
    }
}

#[test]
fn what_was_handed_over_is_done_before_the_thread_ends() {
    let bench = Fixture::new();
    let settings = Settings { zoom: 2.0, ..Settings::default() };
    bench.desk.submit(BackgroundTask::SaveSettings(Box::new(settings.clone())));
    let state = bench.folder.path().join("state/settings.ron");
    drop(bench.desk);
    assert_eq!(Settings::from_ron(&fs::read_to_string(state).unwrap()), Ok(settings));
}

/// Writes a search journal sealed by the machine with this state folder.
fn searched(bench: &Fixture, name: &str, state: &str) {
    use lightbench_core::history::machine::Machine;
    use lightbench_core::search::Journal;

    let machine = Machine::open(&bench.folder.path().join(state)).unwrap();
    let folder = bench.project().join(".lightbench/searches");
    let mut journal = Journal::create(&folder.join(format!("{name}.jsonl")), machine).unwrap();
    for mut entry in crate::workbench::search::tests::entries() {
        if let lightbench_core::search::Entry::Began(header) = &mut entry {
            header.id = name.to_owned();
        }
        journal.append(1.5, &entry).unwrap();
    }
}

#[test]
fn searches_on_disk_are_listed_and_read_whoever_wrote_them() {
    let bench = Fixture::new();
    fs::create_dir_all(bench.folder.path().join("state")).unwrap();
    fs::create_dir_all(bench.folder.path().join("elsewhere")).unwrap();
    searched(&bench, "own", "state");
    searched(&bench, "foreign", "elsewhere");
    fs::write(bench.project().join(".lightbench/searches/none.jsonl"), "no journal\n").unwrap();
    let listed = |bench: &Fixture| {
        bench.desk.submit(BackgroundTask::ListSearches(bench.project()));
        bench.until(|finding| {
            if let TaskResult::SearchesListed(_, listed) = finding { Some(listed) } else { None }
        })
    };
    let mut names: Vec<String> = listed(&bench).into_iter().map(|header| header.id).collect();
    names.sort_unstable();
    assert_eq!(names, ["foreign", "own"]);
    let check =
        |name: &str, expected: Result<JournalOrigin, &str>| {
            bench.desk.submit(BackgroundTask::ReadSearch(bench.project(), name.to_owned()));
            let read = bench.until(|finding| {
                if let TaskResult::Search(_, read) = finding { Some(read) } else { None }
            });
            match (read, expected) {
                (Ok(read), Ok(writer)) => {
                    assert_eq!(read.writer, writer, "{name}");
                    assert_eq!(read.story.variants.len(), 8, "{name}");
                }
                (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
                (read, _) => panic!("{name}: {read:?}"),
            }
        };
    check("own", Ok(JournalOrigin::Own));
    check("foreign", Ok(JournalOrigin::Foreign));
    check("none", Err("line 1"));
    check("missing", Err("no search"));
}

#[test]
fn a_rejection_is_written_into_a_search_of_this_machine_alone() {
    let bench = Fixture::new();
    fs::create_dir_all(bench.folder.path().join("state")).unwrap();
    fs::create_dir_all(bench.folder.path().join("elsewhere")).unwrap();
    searched(&bench, "own", "state");
    searched(&bench, "foreign", "elsewhere");
    let turn_down = |search: &str, variant: usize| {
        let (search, why) = (search.to_owned(), "it spills".to_owned());
        bench.desk.submit(BackgroundTask::RejectVariant {
            folder: bench.project(),
            search,
            variant,
            why,
        });
    };
    turn_down("own", 5);
    let read = bench
        .until(|finding| if let TaskResult::Search(_, read) = finding { Some(read) } else { None });
    assert_eq!(read.unwrap().story.variants[5].turned_down.as_deref(), Some("it spills"));
    for search in ["foreign", "missing"] {
        turn_down(search, 5);
        let why =
            bench.until(
                |finding| if let TaskResult::Notice(_, why) = finding { Some(why) } else { None },
            );
        assert!(why.starts_with("the rejection cannot be stored"), "{why}");
    }
}

#[test]
fn a_new_file_never_replaces_another() {
    let bench = Fixture::new();
    bench.open();
    let check = |file: &str, is_created: bool| {
        let (folder, text) = (bench.project(), "// kept\n".to_owned());
        bench.desk.submit(BackgroundTask::Create { folder, file: file.into(), text });
        let created = bench.until(|finding| {
            if let TaskResult::Saved(_, _, created) = finding { Some(created) } else { None }
        });
        assert_eq!(created.is_ok(), is_created, "{file}: {created:?}");
    };
    check("kernels/naive-2.cu", true);
    check("kernels/naive-2.cu", false);
    check("kernels/naive.cu", false);
    let naive = fs::read_to_string(bench.project().join("kernels/naive.cu")).unwrap();
    assert_ne!(naive, "// kept\n");
}

#[test]
fn paths_that_are_typed_are_listed_opened_or_answered() {
    let bench = Fixture::new();
    let root = bench.project();
    let above = format!("{}/", root.parent().unwrap().display());
    let folders = |folder: &str| {
        bench.desk.submit(BackgroundTask::ListFolders(folder.to_owned()));
        bench.until(|finding| {
            if let TaskResult::Folders(listed) = finding { Some(listed.found) } else { None }
        })
    };
    let entries = folders(&above).unwrap();
    let project = entries.iter().find(|entry| entry.name == "project").unwrap();
    assert_eq!(project.kind, crate::workbench::path_browser::Kind::Project);
    assert!(folders(&format!("{above}none/")).unwrap_err().contains("There is no folder"));
    assert!(folders(&format!("{above}project/project.ron/")).unwrap_err().contains("is a file"));
    let open = |typed: String| {
        bench.desk.submit(BackgroundTask::OpenPath(typed));
        bench.until(|finding| {
            if let TaskResult::Folder(folder) = finding {
                Some(Ok(folder))
            } else if let TaskResult::PathRefused(refused) = finding {
                Some(Err(refused.why))
            } else {
                None
            }
        })
    };
    assert_eq!(open(format!("{above}project/")).as_ref(), Ok(&root));
    assert_eq!(open(format!("{above}project/kernels/naive.cu")).as_ref(), Ok(&root));
    assert!(open(above.clone()).unwrap_err().contains("is not a project"));
    assert!(open(format!("{above}none")).unwrap_err().contains("does not exist"));
}

#[test]
fn a_project_is_created_from_a_kernel_pasted_source_and_a_task() {
    const KERNEL: &str = "__global__ void twice(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2.0f * x[i];\n}\n";
    let bench = Fixture::new();
    let base = bench.folder.path();
    let kernel = base.join("twice.cu");
    fs::write(&kernel, KERNEL).unwrap();
    fs::create_dir(base.join("empty")).unwrap();
    let task = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/import/residual_norm_h96.json");
    let check = |source, path: &Path, pasted: &str, name: &str, expected: Result<&str, &str>| {
        let plan = ProjectPlan {
            source,
            path: path.display().to_string(),
            pasted: pasted.to_owned(),
            folder: base.join(name).display().to_string(),
            ..ProjectPlan::default()
        };
        bench.desk.submit(BackgroundTask::CreateProject(plan));
        let created = bench.until(|finding| {
            if let TaskResult::ProjectCreated(created) = finding { Some(created) } else { None }
        });
        match (created, expected) {
            (Ok(created), Ok(part)) => {
                assert!(created.report.contains(part), "{}", created.report);
                let project = lightbench_core::project::Project::load(&created.folder).unwrap();
                assert_eq!(project.guesses().is_empty(), source == ProjectSource::Example);
            }
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (created, expected) => panic!("{created:?}, expected {expected:?}"),
        }
    };
    let none = Path::new("");
    check(ProjectSource::Path, &kernel, "", "one", Ok("guesses"));
    check(ProjectSource::Path, &kernel, "", "empty", Ok("reference.cu"));
    check(ProjectSource::Path, &kernel, "", "one", Err("is not empty"));
    check(ProjectSource::Path, &base.join("gone.cu"), "", "two", Err("gone.cu"));
    check(ProjectSource::Path, &task, "", "three", Ok("carried over"));
    check(ProjectSource::Pasted, none, KERNEL, "four", Ok("guesses"));
    check(ProjectSource::Pasted, none, "int main() {}", "five", Err("the pasted source"));
    check(ProjectSource::Example, none, "", "six", Ok("wrote"));
}

#[test]
fn a_folder_without_a_readable_project_is_answered() {
    let bench = Fixture::new();
    let answer = |folder: &Path| {
        bench.desk.submit(BackgroundTask::Open(folder.to_owned()));
        bench.until(|finding| {
            if let TaskResult::NoProject(_, content) = finding {
                return Some(Ok(content));
            }
            if let TaskResult::Broken(broken) = finding { Some(Err(broken)) } else { None }
        })
    };
    let empty = bench.folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert_eq!(answer(&empty).ok(), Some(FolderContent::Empty));
    fs::write(empty.join("kernel.cu"), "").unwrap();
    assert_eq!(answer(&empty).ok(), Some(FolderContent::Files));
    let manifest = bench.project().join("project.ron");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("axes: [", "axes: [[")).unwrap();
    let broken = answer(&bench.project()).unwrap_err();
    assert_eq!(broken.problems[0].file, Path::new("project.ron"));
    let file = PathBuf::from("project.ron");
    assert!(broken.texts[&file].contains("axes: [["));
    for (typed, problems) in [(text.as_str(), 0), ("(", 1)] {
        let texts = [(file.clone(), typed.to_owned())].into();
        bench.desk.submit(BackgroundTask::CheckTexts(bench.project(), texts));
        let found = bench.until(|finding| {
            if let TaskResult::TextsChecked(_, found) = finding { Some(found) } else { None }
        });
        assert_eq!(found.len(), problems, "{found:?}");
    }
}
