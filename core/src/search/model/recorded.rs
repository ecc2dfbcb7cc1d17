//! Replies of models in the journal of a search, as a model that gives them again.

use crate::models::{RecordedModel, RecordedReply};
use crate::search::entry::{Entry, ModelExchange};

/// Name of a model that gives recorded replies.
pub const RECORDED: &str = "recorded";

/// A model of the last replies that these entries store, in their order. Replies that were sent back for a correction are a
/// part of the stored prompts and are left out.
#[must_use]
pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> RecordedModel {
    let replies = entries.into_iter().filter_map(talk).filter(|talk| !talk.reply.is_empty());
    let replies =
        replies.map(|talk| RecordedReply { reply: talk.reply.clone(), ..RecordedReply::default() });
    RecordedModel::new(RECORDED, replies)
}

fn talk(entry: &Entry) -> Option<&ModelExchange> {
    match entry {
        Entry::Proposed(proposal) => proposal.talk.as_ref(),
        Entry::Nothing { talk, .. } => talk.as_deref(),
        Entry::Began(_)
        | Entry::Tried { .. }
        | Entry::Looked { .. }
        | Entry::Judged { .. }
        | Entry::Decided { .. }
        | Entry::TurnedDown { .. }
        | Entry::Ended { .. } => None,
    }
}
