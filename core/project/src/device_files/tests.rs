//! Local headers of a file outside any project: where they are found, and what must not be read.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DeviceFiles, local_headers};
use crate::{Candidate, Kernel, Selection, launch::Architecture};

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn names(folder: &Path, text: &str, folders: &[PathBuf]) -> Vec<String> {
    let headers = local_headers(&folder.join("main.cu"), text, folders);
    headers.into_iter().map(|header| header.name).collect()
}

#[test]
fn headers_are_found_beside_the_file_and_in_named_folders() {
    let folder = folder(&[
        ("a.h", "#include \"b.h\"\n#include \"more.h\"\n"),
        ("b.h", "#include \"a.h\"\n"),
        ("vector", ""),
        ("secret.txt", ""),
        ("lib/more.h", "beside\n"),
        ("lib/b.h", "hidden by the first\n"),
        ("lib/cudnn.h", ""),
    ]);
    let check = |text: &str, folders: &[&str], expected: &[&str]| {
        let folders: Vec<PathBuf> = folders.iter().map(|name| folder.path().join(name)).collect();
        assert_eq!(names(folder.path(), text, &folders), expected, "{text}");
    };
    check("#include \"a.h\"\n", &[], &["a.h", "b.h"]);
    check("#include <a.h>\n", &["lib"], &["a.h", "b.h", "more.h"]);
    check("#include \"lib/more.h\"\n", &["missing"], &["lib/more.h"]);
    check("#include <vector>\n#include \"secret.txt\"\n", &[], &[]);
    check("#include <cudnn.h>\n", &["lib"], &[]);
    check("#include \"../a.h\"\n#include \"/etc/a.h\"\n#include MACRO\n", &["lib"], &[]);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let outside = folder(&[("secret.h", "int secret;\n")]);
    let folder = folder(&[("main.cu", "#include \"secret.h\"\n__global__ void k() {}\n")]);
    std::os::unix::fs::symlink(outside.path().join("secret.h"), folder.path().join("secret.h"))
        .unwrap();
    assert!(names(folder.path(), "#include \"secret.h\"\n", &[]).is_empty());
    let refusals = candidate(&folder.path().join("main.cu")).unwrap_err();
    assert!(refusals[0].contains("`secret.h` is not included"), "{refusals:?}");
}

fn candidate(path: &Path) -> Result<Candidate, Vec<String>> {
    let kernel = Kernel::load_standalone(path).unwrap();
    let selection = Selection {
        triton: Vec::new(),
        parameters: Vec::new(),
        constants: Vec::new(),
        options: Vec::new(),
        architecture: Architecture::Portable,
        name_expressions: Vec::new(),
    };
    Candidate::standalone(&kernel, selection)
        .map_err(|refusals| refusals.iter().map(ToString::to_string).collect())
}

#[test]
fn a_candidate_has_the_device_part_of_every_file() {
    let folder = folder(&[
        (
            "main.cu",
            "#include <vector>\n#include \"own.h\"\n__global__ void k(real* x) {}\nint main() { __DATE__; }\n",
        ),
        ("own.h", "typedef float real;\nvoid host() { malloc(1); }\n"),
    ]);
    let found = candidate(&folder.path().join("main.cu")).unwrap();
    assert!(found.text.contains("__global__ void k(real* x) {}"), "{}", found.text);
    assert!(!found.text.contains("main") && !found.text.contains("vector"), "{}", found.text);
    assert_eq!(found.includes.len(), 1);
    assert_eq!(found.includes[0].text.trim_end(), "typedef float real;");
}

#[test]
fn a_file_with_device_code_only_is_passed_on_as_it_is() {
    let source = "#include \"own.h\"\nint unused;\n__global__ void k() {}\n";
    let folder = folder(&[("own.h", "struct S { int a; };\n")]);
    let files = DeviceFiles::read(&folder.path().join("main.cu"), source, &[]);
    assert_eq!(files.text, source);
    assert_eq!(files.headers[0].text, files.headers[0].source);
    assert!(files.left_out.is_empty());
    let ptx = "// #include \"own.h\"\n.version 8.0\n";
    assert_eq!(DeviceFiles::read(&folder.path().join("main.ptx"), ptx, &[]).text, ptx);
}
