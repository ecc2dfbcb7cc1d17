//! Where the candidates of a stream come from: JSON lines, or the kernel files of a folder.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lightbench_core::project::Language;
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};
use lightbench_core::report::document::eval::CandidateId;

use super::bounded_lines::{LineReader, MAX_LINE, NextLine, NumberedLine};
use super::candidate_line::CandidateLine;

/// The most files of a folder.
const MAX_FILES: usize = 100_000;

/// The most folders inside each other.
const MAX_DEPTH: usize = 16;

/// What a source has at the moment.
#[derive(Debug)]
pub(super) enum Arrival {
    /// A candidate with the number of its line or file.
    Candidate(u64, CandidateLine),
    /// A line or file that is no candidate.
    Wrong(u64, Option<CandidateId>, ErrorDetails),
    /// Nothing yet.
    Pending,
    End,
}

/// Gives candidates one after the other.
pub(super) trait CandidateSource {
    /// The next candidate; waits for it at most `patience`.
    fn next(&mut self, patience: Duration) -> Arrival;
}

/// One JSON object a line.
pub(super) struct JsonLines {
    lines: LineReader,
    project: PathBuf,
}

impl JsonLines {
    /// Opens a file, or standard input for `-`; `project` is that of lines that name none.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(super) fn open(path: &Path, project: &Path) -> io::Result<Self> {
        let lines = if path == Path::new("-") {
            LineReader::start(BufReader::new(io::stdin()))?
        } else {
            LineReader::start(BufReader::new(fs::File::open(path)?))?
        };
        Ok(Self { lines, project: project.to_owned() })
    }
}

impl CandidateSource for JsonLines {
    fn next(&mut self, patience: Duration) -> Arrival {
        let NumberedLine { number, content } = match self.lines.next(patience) {
            NextLine::Line(line) => line,
            NextLine::Pending => return Arrival::Pending,
            NextLine::End => return Arrival::End,
        };
        let wrong = |id, message: String| {
            let message = format!("line {number}: {message}");
            Arrival::Wrong(number, id, ErrorDetails::new(ErrorKind::Request, message))
        };
        match content {
            Err(error) => wrong(None, error.to_string()),
            Ok(text) => match CandidateLine::parse(&text, &self.project) {
                Ok(line) => Arrival::Candidate(number, line),
                Err((id, error)) => wrong(id, error.to_string()),
            },
        }
    }
}

/// The kernel files below a folder, sorted by path.
pub(super) struct KernelFiles {
    folder: PathBuf,
    files: std::vec::IntoIter<PathBuf>,
    read: u64,
    project: PathBuf,
}

impl KernelFiles {
    /// Lists a folder and the folders in it. Links are not followed.
    ///
    /// # Errors
    /// A folder cannot be listed, or there are too many files.
    pub(super) fn list(folder: &Path, project: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        list_into(folder, 0, &mut files)?;
        files.sort();
        let (folder, project) = (folder.to_owned(), project.to_owned());
        Ok(Self { folder, files: files.into_iter(), read: 0, project })
    }
}

impl CandidateSource for KernelFiles {
    fn next(&mut self, _patience: Duration) -> Arrival {
        let Some(file) = self.files.next() else { return Arrival::End };
        self.read += 1;
        let name = file.strip_prefix(&self.folder).unwrap_or(&file).display().to_string();
        let id = CandidateId::Text(name);
        match read_kernel(&file) {
            Ok(kernel) => {
                let language = Some(Language::from_path(&file));
                let (project, workload) = (self.project.clone(), None);
                Arrival::Candidate(
                    self.read,
                    CandidateLine { id, project, kernel, language, workload },
                )
            }
            Err(error) => {
                let message = format!("{}: {error}", file.display());
                let error = ErrorDetails::new(ErrorKind::Request, message);
                Arrival::Wrong(self.read, Some(id), error)
            }
        }
    }
}

fn read_kernel(file: &Path) -> io::Result<String> {
    let bytes = fs::metadata(file)?.len();
    if bytes > MAX_LINE as u64 {
        return Err(io::Error::other(format!("{bytes} bytes; at most {MAX_LINE}")));
    }
    fs::read_to_string(file)
}

fn list_into(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() && depth < MAX_DEPTH {
            list_into(&path, depth + 1, files)?;
        }
        let is_kernel = path
            .extension()
            .is_some_and(|extension| ["cu", "ptx", "py"].iter().any(|known| extension == *known));
        if kind.is_file() && is_kernel {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(io::Error::other(format!("more than {MAX_FILES} kernel files")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_kernel_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("more")).unwrap();
        for name in ["b.cu", "a.ptx", "notes.md", "more/c.py"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let mut source = KernelFiles::list(folder.path(), Path::new("p")).unwrap();
        let mut found = Vec::new();
        while let Arrival::Candidate(number, line) = source.next(Duration::ZERO) {
            found.push(format!("{number} {} {:?} {}", line.id, line.language, line.kernel));
        }
        let expected = [
            "1 a.ptx Some(Ptx) a.ptx",
            "2 b.cu Some(Cuda) b.cu",
            "3 more/c.py Some(Triton) more/c.py",
        ];
        assert_eq!(found, expected);
    }
}
