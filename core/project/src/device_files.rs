//! The texts of a file outside any project that reach the compiler: its device part and that of its local headers.
//!
//! Local headers are files in the folder of the including file or in folders that the user names, by the extensions of
//! device code. Files with device code only are passed on as they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lightbench_cuda_source::{
    HeaderText, OmittedItem, device_part, included_names, is_host_header,
};

use super::ReadError;
use super::includes::{Lookup, MAX_BYTES, MAX_FILES};
use super::language::Language;
use super::read::read_project_file;

/// Extensions of files that can be included from outside a project.
const CODE: [&str; 6] = ["cuh", "h", "hpp", "cu", "inl", "inc"];

/// The device part of a file and of the local headers that it includes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceFiles {
    /// The file: the lines and columns are those of the original.
    pub text: String,
    /// Its local headers, in the order in which they are first met.
    pub headers: Vec<LocalHeader>,
    /// Host code and headers of the host that were left out, of the file first; empty for device code only.
    pub left_out: Vec<OmittedItem>,
    /// The folders in which local headers are looked up.
    folders: Vec<PathBuf>,
}

/// A header beside a file, or in a folder that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalHeader {
    /// The name in the directive.
    pub name: String,
    /// Where it was found.
    pub path: PathBuf,
    /// The text as it is.
    pub source: String,
    /// Its device part, with the lines and columns of `source`.
    pub text: String,
}

impl DeviceFiles {
    /// The device part of `source`, the text of `file`; `folders` are looked up after the folder of the file.
    ///
    /// A text that cannot be parsed stays as it is: the compiler reports what is wrong with it.
    pub fn read(file: &Path, source: &str, folders: &[PathBuf]) -> Self {
        let folders = searched(file, folders);
        let mut files = Self { text: source.to_owned(), folders, ..Self::default() };
        if Language::from_path(file) != Language::Cuda {
            return files;
        }
        files.headers = headers_in(source, &files.folders);
        let headers: Vec<HeaderText<'_>> = files
            .headers
            .iter()
            .map(|header| HeaderText { name: &header.name, text: &header.source })
            .collect();
        if let Ok(Some(part)) = device_part(source, &headers) {
            files.text = part.text;
            files.left_out = part.left_out;
            for (header, text) in files.headers.iter_mut().zip(part.headers) {
                header.text = text;
            }
        }
        files
    }

    /// A kernel of a project: its text is device code, and its project has the headers.
    pub fn of_project(source: &str) -> Self {
        Self { text: source.to_owned(), ..Self::default() }
    }

    /// The device part of a header by its name in the directive.
    pub(super) fn lookup(&self, name: &str) -> Lookup {
        match self.headers.iter().find(|header| header.name == name) {
            Some(header) => Lookup::Found(header.text.clone()),
            None => find(&self.folders, name).1,
        }
    }
}

/// The local headers of `file` with the text `source`, looked up in its folder and then in `folders`; each with its whole
/// text.
pub fn local_headers(file: &Path, source: &str, folders: &[PathBuf]) -> Vec<LocalHeader> {
    headers_in(source, &searched(file, folders))
}

/// The folder of a file, then the folders that the user named.
fn searched(file: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let beside = file.parent().unwrap_or(Path::new("")).to_owned();
    std::iter::once(beside).chain(folders.iter().cloned()).collect()
}

/// The local headers that a text includes, directly or not.
///
/// Headers that must not be read are left to the check of the include directives, which reports the reason.
fn headers_in(source: &str, folders: &[PathBuf]) -> Vec<LocalHeader> {
    let mut found: Vec<LocalHeader> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut pending = names(source);
    let mut bytes = source.len();
    while !pending.is_empty() {
        let mut next = Vec::new();
        for name in pending.into_iter().filter(|name| !is_host_header(name)) {
            if found.len() >= MAX_FILES || bytes > MAX_BYTES || !seen.insert(name.clone()) {
                continue;
            }
            let (path, Lookup::Found(text)) = find(folders, &name) else { continue };
            bytes = bytes.saturating_add(text.len());
            next.extend(names(&text));
            found.push(LocalHeader { name, path, source: text.clone(), text });
        }
        pending = next;
    }
    found
}

fn names(text: &str) -> Vec<String> {
    included_names(text).into_iter().map(str::to_owned).collect()
}

/// Looks up an include in the folders, in their order; the first folder that has the file decides.
fn find(folders: &[PathBuf], name: &str) -> (PathBuf, Lookup) {
    let is_code = Path::new(name)
        .extension()
        .is_some_and(|extension| CODE.iter().any(|known| extension == *known));
    for folder in folders.iter().filter(|_| is_code) {
        let path = folder.join(name);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match read_project_file(folder, Path::new(name)) {
            Ok(text) => return (path, Lookup::Found(text)),
            Err(ReadError::Missing) => {}
            Err(why) => return (path, Lookup::Refused(why.to_string())),
        }
    }
    (PathBuf::new(), Lookup::Absent)
}

#[cfg(test)]
mod tests;
