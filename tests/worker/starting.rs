//! Starts of workers, and the errors of those that fail.

use lightbench_core::worker::protocol::{Hello, Protocol, Readiness, VERSION};

use super::*;

fn start(command: &WorkerCommand) -> Result<Worker, WorkerError> {
    Worker::start(command, &Configuration::default(), &never())
}

fn shell(script: &str) -> WorkerCommand {
    WorkerCommand::new("/bin/sh", ["-c", script])
}

#[test]
fn a_worker_says_what_is_in_force() {
    let worker = start(&command()).unwrap();
    let ready = worker.ready();
    assert_eq!(ready.facts, None);
    for restriction in [&ready.sandbox.filesystem, &ready.sandbox.network] {
        match restriction {
            Enforcement::Enforced { .. } => {}
            Enforcement::Partial { .. } | Enforcement::Unavailable { .. } => {
                println!("not in force here: {restriction:?}");
            }
        }
    }
}

#[test]
fn open_files_are_not_inherited() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let worker = start(&command()).unwrap();
    // Descriptors that this very process inherited without close-on-exec may well be there.
    let inherited = &worker.ready().sandbox.inherited_descriptors;
    assert!(!inherited.contains(&file.path().display().to_string()), "{inherited:?}");
}

#[test]
fn what_is_printed_in_a_worker_cannot_forge_a_reply() {
    let worker = start(&command()).unwrap();
    let descriptor = |number: u32| fs::read_link(format!("/proc/{}/fd/{number}", worker.id()));
    let (Ok(input), Ok(output), Ok(error)) = (descriptor(0), descriptor(1), descriptor(2)) else {
        println!("skipped: the worker's descriptors cannot be read here");
        return;
    };
    assert_eq!(output, error);
    assert_eq!(input, Path::new("/dev/null"));
}

#[test]
fn a_worker_that_is_not_configured_for_it_refuses() {
    let mut worker = CompileWorker::new(command(), Configuration::default());
    let error = disassemble(&mut worker, Vec::new(), LIMIT).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "this worker has no nvdisasm: configure its path");
}

/// Starts a worker that sends these messages.
fn start_recorded(messages: &[Frame]) -> WorkerError {
    let file = tempfile::NamedTempFile::new().unwrap();
    for message in messages {
        message.write_to(&mut file.as_file()).unwrap();
    }
    start(&shell(&format!("cat {}; sleep 60", file.path().display()))).unwrap_err()
}

#[test]
fn another_version_of_the_exchange_is_refused() {
    let error = start_recorded(&[Frame::new(&Hello { version: VERSION + 1 }).unwrap()]);
    let WorkerError::OtherVersion { ours, theirs } = error else { panic!("{error}") };
    assert_eq!((ours, theirs), (VERSION, VERSION + 1));
}

#[test]
fn another_build_is_refused() {
    let readiness: Readiness<()> = Readiness::OtherBuild { build: "0.1.0\u{1b}[31m".to_owned() };
    let hello = Frame::new(&Hello { version: VERSION }).unwrap();
    let error = start_recorded(&[hello, Frame::new(&readiness).unwrap()]);
    let WorkerError::OtherBuild { service, ours, theirs } = error else { panic!("{error}") };
    assert_eq!((service, ours), (CompileProtocol::SERVICE, CompileProtocol::BUILD));
    assert_eq!(theirs, "0.1.0\u{fffd}[31m");
}

/// A service that the program does not offer, and one that it offers in another build.
#[derive(Debug)]
struct Foreign<const OFFERED: bool>;

impl<const OFFERED: bool> Protocol for Foreign<OFFERED> {
    const SERVICE: &'static str = if OFFERED { CompileProtocol::SERVICE } else { "brew tea" };
    const BUILD: &'static str = "another";
    type Options = ();
    type Facts = ();
    type Request = ();
}

#[test]
fn a_worker_names_what_it_does_not_offer() {
    let started =
        client::Worker::<Foreign<false>>::start(&command(), &Configuration::default(), &never());
    let error = started.unwrap_err().to_string();
    assert!(error.contains("no service `brew tea`"), "{error}");
    let started =
        client::Worker::<Foreign<true>>::start(&command(), &Configuration::default(), &never());
    let Err(WorkerError::OtherBuild { ours, theirs, .. }) = started else { panic!("{started:?}") };
    assert_eq!((ours, theirs.as_str()), ("another", CompileProtocol::BUILD));
}

#[test]
fn a_program_that_says_something_else_is_refused() {
    let error = start(&shell("echo all is well, trust me; sleep 60")).unwrap_err();
    assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
}

#[test]
fn a_program_that_ends_is_quoted() {
    let error = start(&shell("printf 'no\\033[31m compiler\\n' >&2; exit 7")).unwrap_err();
    let WorkerError::Died { during, death, stderr_tail, .. } = error else { panic!("{error}") };
    assert_eq!((during, death), (Stage::Start, Death::Exited { code: 7 }));
    assert_eq!(stderr_tail, ["no\u{fffd}[31m compiler"]);
}

#[test]
fn a_program_that_says_nothing_is_killed_at_the_limit() {
    let mut configuration = Configuration::default();
    configuration.limits.start = Duration::from_millis(200);
    let start = Instant::now();
    let error = Worker::start(&shell("sleep 60"), &configuration, &never()).unwrap_err();
    assert!(matches!(error, WorkerError::TimedOut { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_missing_program_is_named() {
    let error = start(&WorkerCommand::new("/no/such/program", ["worker"])).unwrap_err();
    assert!(matches!(error, WorkerError::Start { .. }));
    assert!(error.to_string().contains("/no/such/program"), "{error}");
}

#[test]
fn the_environment_is_not_passed_on() {
    let script = "env | cut -d= -f1 | sort | tr '\\n' ' ' >&2; exit 1";
    let error = start(&shell(script)).unwrap_err();
    let WorkerError::Died { stderr_tail, .. } = error else { panic!("{error}") };
    // The shell itself adds PWD, and some shells OLDPWD, SHLVL and `_`.
    let names: Vec<&str> = stderr_tail
        .iter()
        .flat_map(|line| line.split_whitespace())
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    assert_eq!(names, ["LANG", "TMPDIR"]);
}

/// The error of a worker whose compiler library is `library`.
fn start_with(library: &Path) -> WorkerError {
    let nvrtc = Some(NvrtcPaths { library: library.to_owned(), builtins: None });
    let options = Tools { nvrtc, ..Tools::default() };
    let configuration = Configuration { options, ..Configuration::default() };
    Worker::start(&command(), &configuration, &never()).unwrap_err()
}

fn check_compiler(library: &Path) {
    let error = start_with(library);
    let expected = format!("cannot load the compiler library `{}`", library.display());
    let names_the_library =
        matches!(&error, WorkerError::Setup(failure) if failure.to_string().contains(&expected));
    // Loading a truncated library may end the process.
    let died = matches!(&error, WorkerError::Died { death: Death::Signal { .. }, .. });
    assert!(names_the_library || died, "{error}");
}

#[test]
fn a_missing_compiler_is_named() {
    check_compiler(Path::new("/no/such/libnvrtc.so.13"));
}

#[test]
fn a_truncated_compiler_is_an_error() {
    let Some(toolchain) = Toolchain::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let truncated = folder.path().join("libnvrtc.so.13");
    let whole = fs::read(&toolchain.nvrtc.library).unwrap();
    fs::write(&truncated, &whole[..whole.len() / 10]).unwrap();
    check_compiler(&truncated);
}

#[test]
fn a_library_that_is_no_compiler_is_an_error() {
    let Some(toolchain) = Toolchain::find() else { return };
    let library = toolchain.nvrtc.builtins.clone().unwrap();
    let WorkerError::Setup(failure) = start_with(&library) else { panic!("not a setup failure") };
    assert!(failure.to_string().contains("has no function"), "{failure}");
}
