//! The submissions to a lesson: files and folders of students.

use std::io;
use std::path::{Path, PathBuf};

use lightbench_core::project::Kernel;
use lightbench_core::project::read::read_project_file;

/// A submitted kernel.
pub(super) struct Submission {
    /// The name of the file or folder, without the extension.
    pub(super) name: String,
    /// The text, or the reason why it cannot be read.
    pub(super) text: Result<String, String>,
}

/// The submissions in a folder by name: a file like that of the lesson's kernel, or a folder with such a file, which may
/// be a copy of the lesson. Links, hidden files and those of other types are ignored.
pub(super) fn submissions(folder: &Path, kernel: &Kernel) -> io::Result<Vec<Submission>> {
    let mut found = Vec::new();
    for (entry, is_folder) in visible_entries(folder)? {
        let path = folder.join(&entry);
        let (root, file) = match is_folder {
            true => (path.as_path(), submitted_file(&path, kernel)),
            false if entry.extension() == kernel.file.extension() => (folder, Ok(entry.clone())),
            false => continue,
        };
        let text = file.and_then(|file| {
            read_project_file(root, &file).map_err(|error| format!("{}: {error}", file.display()))
        });
        let name = if is_folder { entry.file_name() } else { entry.file_stem() };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        found.push(Submission { name, text });
    }
    Ok(found)
}

/// The names in a folder, sorted, each with whether it is a folder.
fn visible_entries(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut entries = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let file_type = entry.file_type()?;
        if !file_type.is_symlink() && !entry.file_name().to_string_lossy().starts_with('.') {
            entries.push((entry.file_name().into(), file_type.is_dir()));
        }
    }
    entries.sort();
    Ok(entries)
}

/// The kernel of a copy of the lesson, or the only file of its type, below the folder of a submission.
fn submitted_file(folder: &Path, kernel: &Kernel) -> Result<PathBuf, String> {
    if folder.join(&kernel.file).is_file() {
        return Ok(kernel.file.clone());
    }
    let entries = visible_entries(folder).map_err(|error| error.to_string())?;
    let mut files = entries
        .into_iter()
        .filter(|(entry, is_folder)| !is_folder && entry.extension() == kernel.file.extension());
    match (files.next(), files.next()) {
        (Some((file, _)), None) => Ok(file),
        (None, _) | (Some(_), Some(_)) => {
            let extension = kernel.file.extension().unwrap_or_default().to_string_lossy();
            Err(format!("neither {} nor exactly one .{extension} file", kernel.file.display()))
        }
    }
}
