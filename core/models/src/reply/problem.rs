//! What is wrong with a reply, in sentences that a model understands.

/// Why a reply proposes nothing. The sentence can be sent back as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyProblem {
    /// There is nothing in it.
    #[error("Your reply was empty. Send the whole kernel file in one fenced block.")]
    Empty,
    /// It is longer than anything useful.
    #[error("Your reply has more than {limit} bytes. Send the kernel file alone.")]
    TooLong {
        /// The most that is looked at.
        limit: usize,
    },
    /// There is no block in it.
    #[error("Your reply has no fenced block. Put the whole kernel file between ```cuda and ```.")]
    NoBlock,
    /// A block begins and never ends.
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
        "Unified diffs are not read, because their line numbers are so often wrong. Send the whole file, or search/replace blocks."
    )]
    UnifiedDiff,
    /// A file's name leads elsewhere.
    #[error(
        "`{name}` is no file name that can be used. Use letters, digits, `_`, `-` and `.`, relative and without `..`."
    )]
    Name {
        /// The name.
        name: String,
    },
    /// More than anybody needs.
    #[error("Your reply has more than {most} {what}. Send fewer.")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most.
        most: usize,
    },
    /// The JSON is none.
    #[error(
        "The JSON block cannot be read: {reason}. Send one object with a value for each parameter."
    )]
    Json {
        /// What is wrong.
        reason: String,
    },
    /// A parameter's value is neither number, word nor flag.
    #[error("The parameter `{name}` must be a number, a word, true or false.")]
    Parameter {
        /// Which.
        name: String,
    },
}

/// Why an edit cannot be carried out. The sentence can be sent back as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Search/replace block {number}: {trouble}")]
pub struct EditProblem {
    /// Which one, counted from 1.
    pub number: usize,
    /// What is wrong with it.
    pub trouble: EditProblemKind,
}

/// What is wrong with an edit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditProblemKind {
    /// There is nothing to search for.
    #[error("the SEARCH part is empty. Copy the lines to replace from the file.")]
    NothingToSearch,
    /// It changes nothing.
    #[error("both parts are the same, so nothing would change.")]
    NothingToChange,
    /// It stands there more than once.
    #[error("the SEARCH part stands in the file {} times, at lines {}. Add lines around it until it is unique.", lines.len(), list(lines))]
    Several {
        /// Where, counted from 1.
        lines: Vec<usize>,
    },
    /// It stands there with other space.
    #[error(
        "the SEARCH part stands at line {line}, but with other spaces or tabs. Copy it exactly."
    )]
    OtherSpace {
        /// Where, counted from 1.
        line: usize,
    },
    /// It does not stand there.
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
