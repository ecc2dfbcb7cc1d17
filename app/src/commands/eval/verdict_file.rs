//! The file of an interrupted stream's verdicts: what it already has, and where the next verdict goes.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use lightbench_core::report::document::EvalReport;
use lightbench_core::report::document::eval::{CandidateId, EvalWord};

/// The verdicts that a file has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownVerdicts {
    /// Candidates that passed or failed.
    judged: BTreeSet<CandidateId>,
    /// Lines without an identifier whose error is reported.
    reported: BTreeSet<u64>,
}

impl KnownVerdicts {
    /// Whether the candidate passed or failed.
    pub(super) fn has(&self, id: &CandidateId) -> bool {
        self.judged.contains(id)
    }

    /// Whether the error of this line, which has no identifier, is reported.
    pub(super) fn has_error_of_line(&self, line: u64) -> bool {
        self.reported.contains(&line)
    }

    /// The verdicts of a file, and its length up to the end of the last whole line.
    ///
    /// # Errors
    /// The number of a line that is no verdict, and why. A last line without an end may be cut off, and is none.
    fn read(text: &[u8]) -> Result<(Self, usize), (usize, serde_json::Error)> {
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut known = Self::default();
        for (number, line) in (1..).zip(text[..whole].split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let report: EvalReport =
                serde_json::from_slice(line).map_err(|error| (number, error))?;
            match (report.outcome.word(), report.id) {
                (EvalWord::Passed | EvalWord::Failed, Some(id)) => {
                    known.judged.insert(id);
                }
                (_, Some(_)) => {}
                (_, None) => {
                    known.reported.insert(report.line);
                }
            }
        }
        Ok((known, whole))
    }
}

/// A file of verdicts, open at its end.
#[derive(Debug)]
pub(super) struct VerdictFile {
    file: File,
    pub(super) known: KnownVerdicts,
}

/// Why a file of verdicts cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum VerdictFileError {
    #[error("cannot open {file}: {error}")]
    Unreadable { file: String, error: io::Error },
    #[error(
        "line {line} of {file} is no verdict of `lightbench eval`: {error}; name another file, or remove this one"
    )]
    Foreign { file: String, line: usize, error: serde_json::Error },
}

impl VerdictFile {
    /// Opens or creates the file. A cut-off last line is removed.
    #[expect(clippy::verbose_file_reads, reason = "the file is read, cut and appended to")]
    pub(super) fn open(path: &Path) -> Result<Self, VerdictFileError> {
        let name = || path.display().to_string();
        let unreadable = |error| VerdictFileError::Unreadable { file: name(), error };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(unreadable)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(unreadable)?;
        let (known, whole) = KnownVerdicts::read(&text)
            .map_err(|(line, error)| VerdictFileError::Foreign { file: name(), line, error })?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(unreadable)?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(unreadable)?;
        Ok(Self { file, known })
    }

    /// Appends a line.
    pub(super) fn write(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};
    use lightbench_core::report::document::eval::{EvalEvidence, EvalOutcome};
    use proptest::prelude::*;

    use super::*;

    fn line(number: u64, id: Option<&str>, word: EvalWord) -> String {
        let error = ErrorDetails::new(ErrorKind::Kernel, "why".to_owned());
        let outcome = match word {
            EvalWord::Passed | EvalWord::Failed => {
                EvalOutcome::Failed(EvalEvidence::Error { error })
            }
            EvalWord::NotJudged => EvalOutcome::NotJudged(EvalEvidence::Error { error }),
            EvalWord::Error => EvalOutcome::Error { error },
        };
        let id = id.map(|id| CandidateId::Text(id.to_owned()));
        let report = EvalReport::without_run(number, id, outcome);
        serde_json::to_string(&report).unwrap() + "\n"
    }

    fn three() -> String {
        line(1, Some("a"), EvalWord::Failed)
            + &line(2, Some("b"), EvalWord::NotJudged)
            + &line(3, None, EvalWord::Error)
    }

    #[test]
    fn only_verdicts_are_skipped() {
        let (known, whole) = KnownVerdicts::read(three().as_bytes()).unwrap();
        let is_known = |id: &str| known.has(&CandidateId::Text(id.to_owned()));
        assert!(is_known("a") && !is_known("b"), "{known:?}");
        assert!(known.has_error_of_line(3) && !known.has_error_of_line(1));
        assert_eq!(whole, three().len());
    }

    #[test]
    fn a_file_that_has_other_lines_is_refused() {
        let check = |text: &str, number: usize| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.jsonl");
            std::fs::write(&path, text).unwrap();
            let error = VerdictFile::open(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("line {number} of ")), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        };
        check("notes\n", 1);
        check(&(three() + "{}\n"), 4);
        check(&(three() + &three().replace("eval/1", "eval/2")), 4);
    }

    proptest! {
        #[test]
        fn a_file_cut_anywhere_goes_on_after_its_last_whole_line(cut in 0_usize..600) {
            let text = three();
            let cut = cut.min(text.len());
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.jsonl");
            std::fs::write(&path, &text[..cut]).unwrap();
            VerdictFile::open(&path).unwrap().write(&line(9, Some("c"), EvalWord::Failed)).unwrap();
            let found = std::fs::read_to_string(&path).unwrap();
            let whole = text[..cut].rfind('\n').map_or(0, |end| end + 1);
            prop_assert!(found.starts_with(&text[..whole]));
            prop_assert_eq!(found.lines().count(), text[..whole].lines().count() + 1);
            prop_assert!(KnownVerdicts::read(found.as_bytes()).is_ok());
        }
    }
}
