//! Which interpreters are found, and what they read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lightbench_core::python::{Interpreter, InterpreterSearch, PythonError, Worker};
use serde_json::json;

use super::{check_works, configuration, find, never, run, system_interpreter};

/// A virtual environment of the system's interpreter in `folder`, with its folder for packages.
fn environment(folder: &Path, interpreter: &Interpreter) -> std::path::PathBuf {
    let (major, minor, _) = interpreter.version;
    let packages = folder.join(format!("lib/python{major}.{minor}/site-packages"));
    fs::create_dir_all(&packages).unwrap();
    fs::create_dir_all(folder.join("bin")).unwrap();
    symlink("/usr/bin/python3", folder.join("bin/python3")).unwrap();
    fs::write(folder.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    packages
}

#[test]
fn the_first_usable_interpreter_of_the_path_is_taken() {
    let Some(interpreter) = system_interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("python3"), "not a program").unwrap();
    let find = |path| {
        let search = InterpreterSearch { explicit: None, path };
        Interpreter::find(&search, &configuration(), &never())
    };
    let found = find(vec!["relative".into(), folder.path().into(), "/usr/bin".into()]).unwrap();
    assert_eq!(found, *interpreter);
    let (major, minor, _) = found.version;
    assert!((major, minor) >= (3, 8), "{found:?}");
    assert_eq!(found.prefixes, [Path::new("/usr")]);
    let error = find(vec![folder.path().into()]).unwrap_err().to_string();
    for part in ["no Python interpreter", "not a 64-bit ELF program", "settings"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn versions_of_packages_are_read_without_importing_them() {
    let Some(interpreter) = system_interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    let packages = environment(folder.path(), interpreter);
    for (name, version) in [("numpy", "9.8.7"), ("triton", "1.2.3")] {
        let information = packages.join(format!("{name}-{version}.dist-info"));
        fs::create_dir(&information).unwrap();
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        fs::write(information.join("METADATA"), text).unwrap();
        fs::write(packages.join(format!("{name}.py")), "raise SystemExit('imported')").unwrap();
    }
    let found = find(folder.path()).unwrap();
    assert_eq!(found.packages.numpy.as_deref(), Some("9.8.7"));
    assert_eq!(found.packages.triton.as_deref(), Some("1.2.3"));
    assert_eq!(found.packages.torch, interpreter.packages.torch, "as the system has it");
    assert_eq!(found.prefixes.len(), 2, "{found:?}");
    check_works(&mut Worker::new(found, configuration()));
}

#[test]
fn packages_outside_the_environment_are_named() {
    let Some(interpreter) = system_interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let place = fs::canonicalize(elsewhere.path()).unwrap();
    fs::create_dir(place.join("editable_one")).unwrap();
    fs::write(place.join("editable_one/__init__.py"), "value = 1\n").unwrap();
    fs::write(place.join("editable_two.py"), "value = 2\n").unwrap();
    let packages = environment(folder.path(), interpreter);
    fs::write(packages.join("one.pth"), format!("{}\n", place.display())).unwrap();
    // As setuptools installs a project in editable mode.
    let finder = format!(
        "import sys, importlib.util
MAPPING = {{'editable_two': '{0}/editable_two.py'}}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return importlib.util.spec_from_file_location(name, MAPPING[name])
sys.meta_path.append(Finder)
",
        place.display()
    );
    fs::write(packages.join("two_finder.py"), finder).unwrap();
    fs::write(packages.join("two.pth"), "import two_finder\n").unwrap();
    let found = find(folder.path()).unwrap();
    let mut worker = Worker::new(found.clone(), configuration());
    for package in ["editable_one", "editable_two"] {
        let error = run(&mut worker, &format!("import {package}\n"), &json!(null)).unwrap_err();
        let PythonError::Exception { exception, .. } = &error else { panic!("{error}") };
        assert!(exception.outside.contains(&place), "{package}: {error}");
        assert!(error.to_string().contains("--editable"), "{error}");
    }
    // Granted by the caller, the same packages are found.
    let granted = configuration();
    let mut worker = Worker::new(
        found,
        lightbench_core::python::WorkerConfiguration { read: vec![place], ..granted },
    );
    let source = "import editable_one, editable_two
def f(argument, blobs):
    return editable_one.value + editable_two.value
";
    assert_eq!(run(&mut worker, source, &json!(null)).unwrap().value, json!(3));
}
