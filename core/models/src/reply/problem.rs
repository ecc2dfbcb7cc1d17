//! Defects of a reply, as sentences for the model.

/// Why a reply contains no proposal. The sentence can be sent back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyProblem {
    #[error("Your reply was empty. Send the whole kernel file in one fenced block.")]
    Empty,
    /// It is longer than anything useful.
    #[error("Your reply has more than {limit} bytes. Send the kernel file alone.")]
    TooLong { limit: usize },
    #[error("Your reply has no fenced block. Put the whole kernel file between ```cuda and ```.")]
    NoBlock,
    /// A block is not closed.
    #[error(
        "Your reply ended inside a fenced block, so the file is incomplete. Send it whole, with less around it, and close the block with ```."
    )]
    Cut,
    /// The block is empty.
    #[error("The last fenced block of your reply is empty. Send the whole kernel file in it.")]
    EmptyBlock,
    /// A search/replace block is not complete.
    #[error(
        "Search/replace block {number} is not complete. It needs the three lines `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, in this order."
    )]
    UnfinishedEdit {
        /// Counted from 1.
        number: usize,
    },
    /// The last block is a unified diff.
    #[error(
        "Unified diffs are not supported, because their line numbers are so often wrong. Send the whole file, or search/replace blocks."
    )]
    UnifiedDiff,
    /// A file's name leads elsewhere.
    #[error(
        "`{name}` is not a usable file name. Use letters, digits, `_`, `-` and `.`, relative and without `..`."
    )]
    Name {
        /// The name.
        name: String,
    },
    /// More items than the limit.
    #[error("Your reply has more than {most} {what}. Send fewer.")]
    TooMany {
        /// The kind of item.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The JSON is invalid.
    #[error(
        "The JSON block cannot be read: {reason}. Send one object with a value for each parameter."
    )]
    Json {
        /// The parser's error.
        reason: String,
    },
    /// A parameter's value is neither number, word nor flag.
    #[error("The parameter `{name}` must be a number, a word, true or false.")]
    Parameter {
        /// Which.
        name: String,
    },
}

/// Why an edit does not apply. The sentence can be sent back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Search/replace block {number}: {trouble}")]
pub struct EditProblem {
    /// Which one, counted from 1.
    pub number: usize,
    pub trouble: EditProblemKind,
}

/// A defect of an edit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditProblemKind {
    /// The SEARCH part is empty.
    #[error("the SEARCH part is empty. Copy the lines to replace from the file.")]
    NothingToSearch,
    /// Both parts are equal.
    #[error("both parts are the same, so nothing would change.")]
    NothingToChange,
    /// The text occurs more than once.
    #[error("the SEARCH part occurs in the file {} times, at lines {}. Add lines around it until it is unique.", lines.len(), list(lines))]
    Several {
        /// Where, counted from 1.
        lines: Vec<usize>,
    },
    /// The text occurs with different white space.
    #[error(
        "the SEARCH part occurs at line {line}, but with other spaces or tabs. Copy it exactly."
    )]
    OtherSpace {
        /// Where, counted from 1.
        line: usize,
    },
    /// The text does not occur.
    #[error("the SEARCH part is not in the file: `{wanted}`{}. Copy the lines exactly as they are now.", near(nearest.as_ref()))]
    Missing {
        /// Its longest line.
        wanted: String,
        /// The nearest line, with its number.
        nearest: Option<(usize, String)>,
    },
}

fn list(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

fn near(nearest: Option<&(usize, String)>) -> String {
    nearest.map_or_else(String::new, |(line, text)| format!(" (nearest: line {line}, `{text}`)"))
}
