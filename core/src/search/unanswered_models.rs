//! Models that answered no request of a search, which the user is warned about.

use super::operators::MODEL_PREFIX;
use super::state::{ActionOutcome, Attempt, SearchState};

/// A model that answered none of the requests of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnansweredModel {
    /// Name of the model in the settings.
    pub model: String,
    /// Number of proposals that were requested.
    pub asked: usize,
    /// Why the last request failed, in a sentence.
    pub why: String,
}

impl SearchState {
    /// The models that answered no request. A reply that could not be used counts as an answer.
    #[must_use]
    pub fn unanswered_models(&self) -> Vec<UnansweredModel> {
        let models = self.models();
        models.filter_map(|model| self.silence(model)).collect()
    }

    /// Whether models were asked and none of them answered.
    #[must_use]
    pub fn no_model_answered(&self) -> bool {
        let silent = self.unanswered_models();
        let asked = self.models().filter(|model| self.questions(model).next().is_some());
        !silent.is_empty() && asked.count() == silent.len()
    }

    fn models(&self) -> impl Iterator<Item = &str> {
        self.header.operators.iter().filter_map(|operator| operator.strip_prefix(MODEL_PREFIX))
    }

    /// The attempts that asked this model.
    fn questions(&self, model: &str) -> impl Iterator<Item = &Attempt> {
        let is_of = move |attempt: &&Attempt| {
            let rest = attempt.action.strip_prefix(MODEL_PREFIX);
            rest.and_then(|rest| rest.strip_prefix(model)).is_some_and(|rest| rest.starts_with(':'))
        };
        self.attempts.iter().filter(is_of)
    }

    fn silence(&self, model: &str) -> Option<UnansweredModel> {
        let (mut asked, mut last) = (0, None);
        for attempt in self.questions(model) {
            asked += 1;
            match &attempt.came {
                ActionOutcome::Variant(_) => return None,
                ActionOutcome::Nothing { talk: Some(talk), .. } if !talk.reply.is_empty() => {
                    return None;
                }
                ActionOutcome::Nothing { why, .. } => last = Some(why),
            }
        }
        last.map(|why| UnansweredModel { model: model.to_owned(), asked, why: why.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use crate::search::budget::Cost;
    use crate::search::entry::{Entry, ModelExchange};
    use crate::search::prompt;

    /// A search by these operators in which these attempts came to nothing: the action, and the reply if one came.
    fn story(operators: &[&str], nothings: &[(&str, Option<&str>)]) -> SearchState {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample-projects/vector-add");
        let project = Project::load(folder.as_ref()).unwrap();
        let kernel = project.kernel("naive").unwrap();
        let mut story = prompt::single_kernel_state(&project, kernel, "virtual:h200", "H200");
        story.header.operators = operators.iter().map(|&name| name.to_owned()).collect();
        for (action, reply) in nothings {
            let talk = reply.map(|reply| {
                let (model, prompt, reply) = ("a".to_owned(), "?".to_owned(), reply.to_owned());
                Box::new(ModelExchange { model, prompt, reply })
            });
            let (action, why) = ((*action).to_owned(), "no reply: busy".to_owned());
            let cost = Cost::default();
            story.add(&Entry::Nothing { parent: 0, action, why, cost, talk }).unwrap();
        }
        story
    }

    #[test]
    fn a_model_that_never_answered_is_named() {
        let check = |operators: &[&str], nothings: &[_], silent: &[&str], none_answered: bool| {
            let story = story(operators, nothings);
            let found: Vec<String> =
                story.unanswered_models().into_iter().map(|each| each.model).collect();
            assert_eq!(found, silent, "{operators:?} {nothings:?}");
            assert_eq!(story.no_model_answered(), none_answered, "{operators:?} {nothings:?}");
        };
        let (one, other) = ("model:a", "model:ab");
        check(&["rules"], &[("rule:x#0", None)], &[], false);
        check(&[one], &[], &[], false);
        check(&[one], &[("model:a:free", None)], &["a"], true);
        // An empty reply is what is kept of a question without an answer.
        check(&[one], &[("model:a:free", Some(""))], &["a"], true);
        check(&[one], &[("model:a:free", Some("I cannot"))], &[], false);
        check(&[one], &[("model:a:free", None), ("model:a:pad-shared", Some("x"))], &[], false);
        check(&["rules", one], &[("rule:x#0", None), ("model:a:free", None)], &["a"], true);
        check(&[one, other], &[("model:a:free", None)], &["a"], true);
        check(
            &[one, other],
            &[("model:a:free", None), ("model:ab:free", Some("x"))],
            &["a"],
            false,
        );
        check(&[one, other], &[("model:ab:free", None)], &["ab"], true);
    }
}
