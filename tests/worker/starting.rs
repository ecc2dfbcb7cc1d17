//! How workers start, and what a start that fails says.

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
    assert_eq!(ready.compiler, None);
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
    let mut handle = WorkerHandle::new(command(), Configuration::default());
    let request = DisassembleRequest { cubin: Vec::new(), functions: Vec::new() };
    let error = handle.disassemble(request, LIMIT, &never()).unwrap_err();
    assert_eq!(error.to_string(), "this worker has no nvdisasm: configure its path");
}

#[test]
fn another_build_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let theirs = Hello { protocol: Hello::ours().protocol, build: "another".to_owned() };
    Frame::new(&theirs, Vec::new()).unwrap().write_to(&mut file.as_file()).unwrap();
    let command = WorkerCommand::new("/bin/cat", [file.path()]);
    let error = start(&command).unwrap_err();
    assert!(matches!(error, WorkerError::VersionMismatch { theirs: found, .. } if found == theirs));
}

#[test]
fn a_program_that_says_something_else_is_refused() {
    let error = start(&shell("echo all is well, trust me; sleep 60")).unwrap_err();
    assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
}

#[test]
fn a_program_that_ends_is_quoted() {
    let error = start(&shell("printf 'no\\033[31m compiler\\n' >&2; exit 7")).unwrap_err();
    let WorkerError::Died { during, death, last_words, .. } = error else { panic!("{error}") };
    assert_eq!((during, death), (Stage::Start, Death::Exited { code: 7 }));
    assert_eq!(last_words, ["no\u{fffd}[31m compiler"]);
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
    let WorkerError::Died { last_words, .. } = error else { panic!("{error}") };
    // The shell itself adds PWD, and some shells OLDPWD, SHLVL and `_`.
    let names: Vec<&str> = last_words
        .iter()
        .flat_map(|line| line.split_whitespace())
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    assert_eq!(names, ["LANG", "TMPDIR"]);
}

fn check_compiler(library: &Path) {
    let nvrtc = Some(NvrtcPaths { library: library.to_owned(), builtins: None });
    let tools = Tools { nvrtc, ..Tools::default() };
    let configuration = Configuration { tools, ..Configuration::default() };
    let error = Worker::start(&command(), &configuration, &never()).unwrap_err();
    let names_the_library = matches!(
        &error,
        WorkerError::Setup(SetupFailure::Compiler(NvrtcError::Load { path, .. })) if path == library
    );
    // Loading a library that was cut short may well end the process that tries.
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
    let tools = Tools { nvrtc: Some(NvrtcPaths { library, builtins: None }), ..Tools::default() };
    let configuration = Configuration { tools, ..Configuration::default() };
    let error = Worker::start(&command(), &configuration, &never()).unwrap_err();
    assert!(
        matches!(&error, WorkerError::Setup(SetupFailure::Compiler(NvrtcError::Symbol { .. }))),
        "{error}"
    );
}
