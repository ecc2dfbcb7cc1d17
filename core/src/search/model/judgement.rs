//! Replies of a judge and of a planner, parsed for the question to the coder that follows.

use serde::Deserialize;

use crate::search::prompt::one_line;

/// Characters of each text of a judge.
const JUDGED: usize = 600;

/// What a judge says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Judgement {
    bottleneck: String,
    method: String,
    plan: String,
}

impl Judgement {
    /// As the coder is told.
    pub(super) fn in_words(&self) -> String {
        let Self { bottleneck, method, plan } = self;
        format!("Bottleneck: {bottleneck}\nMethod: {method}\nPlan: {plan}")
    }
}

/// The last judgement in a reply, each text bounded.
pub(super) fn judged(reply: &str) -> Result<Judgement, String> {
    let begins = reply.match_indices('{').filter_map(|(begin, _)| reply.get(begin..));
    let mut objects = begins.filter_map(|text| {
        serde_json::Deserializer::from_str(text).into_iter::<Judgement>().next()?.ok()
    });
    let missing = "There is no JSON object with the texts `bottleneck`, `method` and `plan` in it.";
    let Judgement { bottleneck, method, plan } =
        objects.next_back().ok_or_else(|| missing.to_owned())?;
    let [bottleneck, method, plan] = [bottleneck, method, plan].map(|text| one_line(&text, JUDGED));
    if [&bottleneck, &method, &plan].iter().any(|text| text.is_empty()) {
        return Err("One of `bottleneck`, `method` and `plan` is empty.".to_owned());
    }
    Ok(Judgement { bottleneck, method, plan })
}

/// A plan: any text.
pub(super) fn planned(reply: &str) -> Result<String, String> {
    match reply.trim() {
        "" => Err("Your reply was empty.".to_owned()),
        plan => Ok(plan.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &str, expected: Result<&str, &str>) {
        let found = judged(reply).map(|judgement| judgement.in_words());
        match expected {
            Ok(words) => assert_eq!(found.as_deref(), Ok(words), "{reply}"),
            Err(part) => assert!(found.unwrap_err().contains(part), "{reply}"),
        }
    }

    #[test]
    fn the_last_judgement_counts() {
        let words = "Bottleneck: b\nMethod: m\nPlan: p";
        check(r#"{"bottleneck": "b", "method": "m", "plan": "p"}"#, Ok(words));
        check(
            "{ draft } ```json\n{\"bottleneck\": \"a\", \"method\": \"a\", \"plan\": \"a\"}\n```\nNo: ```json\n{\"bottleneck\": \"b\", \"method\": \"m\", \"plan\": \"p\"}\n``` {",
            Ok(words),
        );
        check("", Err("no JSON object"));
        check(r#"{"bottleneck": "b", "method": "m"}"#, Err("no JSON object"));
        check(r#"{"bottleneck": "b", "method": " ", "plan": "p"}"#, Err("empty"));
        check(r#"{"bottleneck": ["b", "c"], "method": "m", "plan": "p"}"#, Err("no JSON object"));
    }
}
