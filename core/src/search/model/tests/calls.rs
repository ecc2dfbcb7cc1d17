//! A model that calls tools before it answers.

use std::sync::Mutex;

use super::*;
use crate::models::{Limits, ModelError, Reply, Request, Stop, Tool, ToolCall, Turn, Usage};

/// The last turn and the tools of each request.
type Asked = Vec<(Turn, Vec<Tool>)>;

/// Gives one reply after the other, and keeps the last turn and the tools of each request.
struct Calling {
    replies: VecDeque<Reply>,
    asked: Arc<Mutex<Asked>>,
    calls_tools: bool,
}

impl Model for Calling {
    fn name(&self) -> &str {
        "calling"
    }

    fn most_output(&self) -> u64 {
        Limits::default().output_tokens.unwrap_or(1000)
    }

    fn calls_tools(&self) -> bool {
        self.calls_tools
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        _hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        let last = request.conversation.turns.last().unwrap().clone();
        self.asked.lock().unwrap().push((last, request.tools.to_vec()));
        Ok(self.replies.pop_front().unwrap())
    }
}

fn reply(text: &str, calls: &[(&str, &str)]) -> Reply {
    let call = |(name, arguments): &(&str, &str)| ToolCall {
        id: format!("id of {name}"),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    let alone = Reply::of_text(text.to_owned(), Usage::default(), Stop::Finished, Duration::ZERO);
    Reply { calls: calls.iter().map(call).collect(), ..alone }
}

/// What a proposal by these replies comes to, and the requests.
fn proposed(replies: Vec<Reply>, calls_tools: bool) -> (Result<Draft, NoProposal>, Asked) {
    let asked = Arc::default();
    let model = Calling { replies: replies.into(), asked: Arc::clone(&asked), calls_tools };
    let mut operator = ModelOperator::new(ModelSetup {
        model: Box::new(model),
        prices: None,
        redactor: Redactor::new([Secret::new(KEY.to_owned())]),
        sheet: DeviceSheet::named("h200").unwrap(),
        roles: Roles::Proposer,
        contrast: 0,
        stop: StopSignal::never(),
    });
    let project = project();
    let kernel = Arc::new(project.kernel("naive").unwrap().clone());
    let mute = super::operator(RecordedModel::new("mute", []), Roles::Proposer);
    let (_, story) = search(mute, Some(1));
    let subject = ParentVariant {
        project: &project,
        kernel: &kernel,
        bottleneck: None,
        advised: &[],
        knowledge: &Knowledge::default(),
        story: &story,
        variant: 0,
    };
    let action = operator.action(&subject, None);
    let mut check = |text: &str| match text.contains("wrong") {
        true => Err(format!("{KEY} is undefined")),
        false => Ok(RESOURCES.to_owned()),
    };
    let draft = operator.propose(&subject, &action, &mut check);
    let asked = asked.lock().unwrap().clone();
    (draft, asked)
}

const ANSWER: &str = "idea: larger blocks\n```json\n{\"BLOCK\": 512}\n```";

#[test]
fn calls_are_answered_before_the_kernel() {
    let first =
        reply("Let me see.", &[("list_variants", ""), ("check_kernel", r#"{"source": "wrong"}"#)]);
    let second = reply(
        "",
        &[
            ("check_kernel", r#"{"source": "fine"}"#),
            ("show_variant", r#"{"number": 0}"#),
            ("show_variant", r#"{"number": 7}"#),
            ("show_variant", "{}"),
            ("explain_number", r#"{"name": "occupancy"}"#),
            ("explain_number", r#"{"name": "ocupancy"}"#),
            ("delete_files", "{}"),
        ],
    );
    let (draft, asked) = proposed(vec![first, second, reply(ANSWER, &[])], true);
    let draft = draft.unwrap();
    assert_eq!(draft.what, "larger blocks");
    assert_eq!(asked.len(), 3);
    let expected: [&[&str]; 2] = [
        &["variant | made of", "[redacted] is undefined"],
        &[
            RESOURCES,
            "__global__",
            "There is no variant 7; the last one is 0.",
            "The arguments are not as declared: missing field `number`",
            "Formula: ",
            "the most similar one is `occupancy`",
            "There is no tool `delete_files`.",
        ],
    ];
    for ((turn, tools), expected) in asked[1..].iter().zip(expected) {
        assert_eq!(tools.len(), 4);
        let texts = turn.results.iter().map(|result| result.text.as_str());
        assert_eq!(turn.results.len(), expected.len(), "{turn:?}");
        for (text, part) in texts.zip(expected) {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
    assert_eq!(asked[1].0.results[1].id, "id of check_kernel");
    // All of it is stored.
    let talk = draft.talk.unwrap();
    for part in ["Let me see.", "check_kernel {\"source\": \"wrong\"}", "# It was told", RESOURCES]
    {
        assert!(talk.prompt.contains(part), "{part}\n{}", talk.prompt);
    }
    assert!(!talk.prompt.contains(KEY));
}

#[test]
fn calls_do_not_count_as_answers_to_correct() {
    let call = || reply("", &[("list_variants", "{}")]);
    let wrong = || reply("no", &[]);
    let replies = [call(), call(), call(), call(), wrong(), wrong(), call(), wrong()];
    let (draft, asked) = proposed(replies.into_iter().chain([reply(ANSWER, &[])]).collect(), true);
    assert_eq!((draft.unwrap().what.as_str(), asked.len()), ("larger blocks", 9));
}

#[test]
fn a_model_that_only_calls_tools_proposes_nothing() {
    let again = || reply("", &[("list_variants", "{}")]);
    let (draft, asked) = proposed(std::iter::repeat_with(again).take(20).collect(), true);
    let nothing = draft.unwrap_err();
    assert!(nothing.why.contains("it calls tools and does not answer"), "{}", nothing.why);
    assert_eq!(asked.len(), 10);
    let last = &asked.last().unwrap().0.results[0].text;
    assert!(last.contains("Answer now"), "{last}");
    let many = vec![("list_variants", "{}"); 9];
    let (_, asked) = proposed(vec![reply("", &many), reply(ANSWER, &[])], true);
    let results = &asked[1].0.results;
    assert!(results[7].text.contains("made of") && results[8].text.contains("at most 8 calls"));
}

#[test]
fn tools_are_offered_only_to_models_that_call_them() {
    let (draft, asked) = proposed(vec![reply(ANSWER, &[])], false);
    assert!(draft.is_ok() && asked[0].1.is_empty());
}
