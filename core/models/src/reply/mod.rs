//! Parses a reply into a proposal: a whole file, several named files, edits, or values of parameters. Pure functions.
//!
//! Models surround the proposal with drafts, examples and corrections. The last complete block counts, together with
//! related blocks of its kind: files of other names, or consecutive edits. A reply that cannot be parsed yields a
//! [`ReplyProblem`], whose sentence can be sent back to the model unchanged.

mod edits;
mod fences;
mod problem;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::edits::{Edit, apply};
use self::fences::{Fence, Part, parts};
pub use self::problem::{EditProblem, EditProblemKind, ReplyProblem};

/// A reply, understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// The model's description of its idea: its `idea:` line.
    pub idea: Option<String>,
    pub proposal: Proposal,
    /// A further block began after it and was cut off: this may be a draft.
    pub is_cut: bool,
}

/// A proposal of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal {
    /// A whole file.
    File(String),
    /// Several files by their names, in the order in which they first came.
    Files(Vec<NamedFile>),
    /// Edits of a file, to be carried out in their order.
    Edits(Vec<Edit>),
    /// Values of parameters.
    Parameters(BTreeMap<String, ParameterValue>),
}

/// A file with its name, which is relative and stays below its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFile {
    /// The name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The value of a parameter, as the reply has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParameterValue {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number that is not whole.
    Number(f64),
    /// A word.
    Word(String),
}

/// Maximum length of a reply.
pub const MOST_BYTES: usize = 4 << 20;
const MOST_FILES: usize = 32;
const MOST_EDITS: usize = 128;
const MOST_PARAMETERS: usize = 256;
/// The longest idea and name.
const IDEA_CHARACTERS: usize = 300;
const NAME_BYTES: usize = 120;

/// Parses a reply.
///
/// # Errors
/// The missing or invalid part, as a sentence for the model.
pub fn parse(text: &str) -> Result<Parsed, ReplyProblem> {
    if text.len() > MOST_BYTES {
        return Err(ReplyProblem::TooLong { limit: MOST_BYTES });
    }
    if text.trim().is_empty() {
        return Err(ReplyProblem::Empty);
    }
    let mut idea = None;
    let mut found = None;
    let mut is_cut = false;
    for part in parts(text) {
        match part {
            Part::Prose(prose) => {
                idea = idea_of(prose).or(idea);
                let edits = edits::read(prose, None)?;
                if !edits.is_empty() {
                    found = Some(Found::Edits(edits).after(found)?);
                }
            }
            Part::Complete(fence) => {
                if let Some(next) = Found::from_fence(&fence, &mut idea)? {
                    found = Some(next.after(found)?);
                    is_cut = false;
                }
            }
            Part::Unfinished(fence) => is_cut |= fence.may_be_meant(),
        }
    }
    let found = match found {
        Some(found) => found,
        None if is_cut => return Err(ReplyProblem::Cut),
        None => Found::Parameters(bare_parameters(text, &mut idea)?),
    };
    Ok(Parsed { idea, proposal: found.into_proposal(), is_cut })
}

/// The proposal so far.
enum Found {
    File(String),
    Files(Vec<NamedFile>),
    Edits(Vec<Edit>),
    Parameters(BTreeMap<String, ParameterValue>),
}

impl Found {
    /// The kind of a block; `None` for an example or output.
    fn from_fence(
        fence: &Fence<'_>,
        idea: &mut Option<String>,
    ) -> Result<Option<Self>, ReplyProblem> {
        if !fence.may_be_meant() {
            return Ok(None);
        }
        let name = fence.name().map(checked_name).transpose()?;
        let edits = edits::read(fence.body, name.as_deref())?;
        if !edits.is_empty() {
            return Ok(Some(Self::Edits(edits)));
        }
        match fence.language().as_str() {
            "json" => parameters(fence.body, idea).map(Self::Parameters).map(Some),
            "diff" | "patch" => Err(ReplyProblem::UnifiedDiff),
            _ if fence.body.trim().is_empty() => Err(ReplyProblem::EmptyBlock),
            _ => {
                let text = fence.body.to_owned();
                Ok(Some(match name {
                    Some(name) => Self::Files(vec![NamedFile { name, text }]),
                    None => Self::File(text),
                }))
            }
        }
    }

    /// Combines this block with the earlier ones: the last block counts, and related blocks are added.
    fn after(self, before: Option<Self>) -> Result<Self, ReplyProblem> {
        match (self, before) {
            (Self::Files(new), Some(Self::Files(mut files))) => {
                for file in new {
                    match files.iter_mut().find(|known| known.name == file.name) {
                        Some(known) => *known = file,
                        None => files.push(file),
                    }
                }
                at_most("files", files.len(), MOST_FILES)?;
                Ok(Self::Files(files))
            }
            (Self::Edits(new), before) => {
                let mut edits = match before {
                    Some(Self::Edits(edits)) => edits,
                    Some(Self::File(_) | Self::Files(_) | Self::Parameters(_)) | None => Vec::new(),
                };
                for edit in new {
                    edits.retain(|known: &Edit| !known.is_same_place(&edit));
                    edits.push(edit);
                }
                at_most("edits", edits.len(), MOST_EDITS)?;
                Ok(Self::Edits(edits))
            }
            (last, _) => Ok(last),
        }
    }

    fn into_proposal(self) -> Proposal {
        match self {
            Self::File(text) => Proposal::File(text),
            Self::Files(files) => Proposal::Files(files),
            Self::Edits(edits) => Proposal::Edits(edits),
            Self::Parameters(parameters) => Proposal::Parameters(parameters),
        }
    }
}

fn at_most(what: &'static str, count: usize, most: usize) -> Result<(), ReplyProblem> {
    if count > most { Err(ReplyProblem::TooMany { what, most }) } else { Ok(()) }
}

/// A name that stays below its folder on every system.
fn checked_name(name: &str) -> Result<String, ReplyProblem> {
    let fits = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '/' | '+')
    };
    let stays = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.');
    let is_good = name.len() <= NAME_BYTES && name.chars().all(fits) && name.split('/').all(stays);
    if is_good {
        return Ok(name.to_owned());
    }
    Err(ReplyProblem::Name { name: name.chars().take(NAME_BYTES).collect() })
}

/// The last `idea:` line, whatever it is decorated with.
fn idea_of(prose: &str) -> Option<String> {
    prose.lines().rev().find_map(|line| {
        let bare = line.trim_start_matches([' ', '\t', '*', '_', '#', '-', '>', '/', '`']);
        let (word, rest) = bare.split_once(':')?;
        let word = word.trim_matches(['*', '_', ' ', '`']);
        let idea = rest.trim_matches([' ', '\t', '*', '_', '`', '\r']);
        let is_idea = word.eq_ignore_ascii_case("idea") && !idea.is_empty();
        is_idea.then(|| shortened(idea))
    })
}

fn shortened(idea: &str) -> String {
    let printable = idea.chars().map(|one| if one.is_control() { ' ' } else { one });
    printable.take(IDEA_CHARACTERS).collect()
}

/// Parses a reply that consists of parameter values only.
fn bare_parameters(
    text: &str,
    idea: &mut Option<String>,
) -> Result<BTreeMap<String, ParameterValue>, ReplyProblem> {
    let object = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let is_object = |object: &&str| serde_json::from_str::<serde_json::Value>(object).is_ok();
    let object = object.filter(is_object).ok_or(ReplyProblem::NoBlock)?;
    parameters(object, idea)
}

fn parameters(
    body: &str,
    idea: &mut Option<String>,
) -> Result<BTreeMap<String, ParameterValue>, ReplyProblem> {
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(body)
        .map_err(|error| ReplyProblem::Json { reason: error.to_string() })?;
    if let Some(serde_json::Value::String(said)) = object.remove("idea") {
        *idea = Some(shortened(&said));
    }
    if let (1, Some(serde_json::Value::Object(inner))) = (object.len(), object.get("parameters")) {
        object = inner.clone();
    }
    if object.is_empty() {
        return Err(ReplyProblem::EmptyBlock);
    }
    at_most("parameters", object.len(), MOST_PARAMETERS)?;
    let value = |(name, value): (String, serde_json::Value)| {
        let short: String = name.chars().take(NAME_BYTES).collect();
        match serde_json::from_value(value) {
            Ok(value) => Ok((name, value)),
            Err(_nested) => Err(ReplyProblem::Parameter { name: short }),
        }
    };
    object.into_iter().map(value).collect()
}
