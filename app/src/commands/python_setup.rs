//! The Python interpreter of this machine: from the user's settings, else from `PATH`.

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::Compiler;
use lightbench_core::python::{
    Interpreter, InterpreterSearch, Packages, PythonAccess, PythonError, WorkerConfiguration,
};
use lightbench_core::toolchain::doctor::{Finding, State, Topic};
use lightbench_core::worker::error::WorkerError;
use lightbench_core::worker::protocol::SetupFailure;

use super::user_settings::settings;
use crate::session::{CompilerError, Session};
use crate::workbench::settings::PythonSettings;

/// Why there is no interpreter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PythonSetupError {
    /// The settings cannot be read.
    #[error("{0}")]
    Settings(String),
    /// The system does not report the program's path.
    #[error("a worker cannot be started, because the path of this program is unknown: {0}")]
    Program(std::io::Error),
    /// No interpreter was found, or it cannot be used.
    #[error(transparent)]
    Python(#[from] PythonError),
}

/// Finds the interpreter, and how its workers start.
pub(crate) fn find(
    session: &Session,
    cancellation: &Cancellation,
) -> Result<(Interpreter, WorkerConfiguration), PythonSetupError> {
    let settings = settings(session).map_err(PythonSetupError::Settings)?;
    let access = access_with(session, settings.python);
    let command = session.worker_command().map_err(PythonSetupError::Program)?;
    let configuration = access.configuration(command);
    let interpreter = Interpreter::find(&access.search, &configuration, cancellation)?;
    Ok((interpreter, configuration))
}

/// Where the interpreter is looked for: `LIGHTBENCH_PYTHON`, the settings, `PATH`. Settings that cannot be read, which the
/// doctor reports, count as the defaults: `PATH`, and no worker without a sandbox.
pub(crate) fn access(session: &Session) -> PythonAccess {
    let settings = settings(session).map(|settings| settings.python).unwrap_or_default();
    access_with(session, settings)
}

/// The compiler of this session, which also compiles Triton kernels.
///
/// # Errors
/// None was found and none could be fetched.
pub(crate) fn compiler(session: &Session) -> Result<Compiler, CompilerError> {
    Ok(session.compiler()?.with_python(access(session)))
}

fn access_with(session: &Session, settings: PythonSettings) -> PythonAccess {
    let PythonSettings { interpreter, without_sandbox } = settings;
    let explicit = session.python.clone().or(interpreter);
    let search = InterpreterSearch { explicit, path: session.host.path.clone() };
    PythonAccess { search, without_sandbox }
}

/// What the doctor reports.
pub(crate) fn finding(session: &Session) -> Finding {
    match find(session, &session.cancellation) {
        Ok((interpreter, _)) => found(&interpreter),
        Err(error) => missing(&error),
    }
}

fn found(interpreter: &Interpreter) -> Finding {
    let (major, minor, micro) = interpreter.version;
    let summary = format!("Python {major}.{minor}.{micro}");
    let finding = Finding::new(Topic::Python, State::Ok, summary).at(&interpreter.program);
    let Packages { numpy, torch, triton } = &interpreter.packages;
    let package = |name: &str, version: &Option<String>, without: &str| match version {
        Some(version) => format!("{name} {version}"),
        None => format!("{name} is not installed{without}"),
    };
    finding
        .note(package("numpy", numpy, ""))
        .note(package("torch", torch, ""))
        .note(package("triton", triton, ": Triton kernels cannot be compiled"))
        .note("optional: CUDA C++ and PTX kernels need no Python")
}

fn missing(error: &PythonSetupError) -> Finding {
    let optional = "optional: CUDA C++ and PTX kernels need no Python";
    let problem = || Finding::new(Topic::Python, State::Problem, error.to_string());
    match error {
        PythonSetupError::Python(PythonError::NotFound { tried }) if tried.is_empty() => {
            Finding::new(Topic::Python, State::Info, error.to_string()).note(optional)
        }
        PythonSetupError::Python(PythonError::Worker(WorkerError::Setup(
            SetupFailure::NotConfined { .. },
        ))) => problem().note(optional).advice(
            "a Linux kernel with landlock and seccomp, or `python: (without_sandbox: permitted)` in settings.ron",
        ),
        PythonSetupError::Python(_) | PythonSetupError::Settings(_) | PythonSetupError::Program(_) => {
            problem().note(optional)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(finding: &Finding, state: State, parts: &[&str]) {
        assert_eq!(finding.state, state, "{finding:?}");
        let text = format!("{finding:?}");
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn packages_are_named_with_what_their_absence_means() {
        let numpy = Some("2.1.0".to_owned());
        let interpreter = Interpreter {
            program: "/usr/bin/python3.11".into(),
            version: (3, 11, 2),
            prefixes: vec!["/usr".into()],
            packages: Packages { numpy, ..Packages::default() },
        };
        let parts = [
            "Python 3.11.2",
            "/usr/bin/python3.11",
            "numpy 2.1.0",
            "torch is not",
            "Triton kernels cannot",
        ];
        check(&found(&interpreter), State::Ok, &parts);
    }

    #[test]
    fn a_machine_without_python_needs_none() {
        let session = Session::new(lightbench_core::toolchain::HostEnvironment::default());
        check(
            &finding(&session),
            State::Info,
            &["no `python3` in the folders of PATH", "need no Python"],
        );
    }

    #[test]
    fn a_refused_interpreter_and_a_missing_sandbox_are_problems() {
        let tried = vec!["`/a/python3`: it is a script".to_owned()];
        let error = PythonSetupError::Python(PythonError::NotFound { tried });
        check(&missing(&error), State::Problem, &["it is a script"]);
        let gaps = vec!["files: this kernel has no landlock".to_owned()];
        let error = WorkerError::Setup(SetupFailure::NotConfined { gaps });
        let error = PythonSetupError::Python(PythonError::Worker(error));
        check(&missing(&error), State::Problem, &["no landlock", "without_sandbox: permitted"]);
    }
}
