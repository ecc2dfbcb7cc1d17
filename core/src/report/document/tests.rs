//! The documents against their schemas in `docs/schema/`, and against documents that the program has written.

mod forms;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::access::{AccessReport, AccessesReport};
use super::explanation::{ExplanationReport, ExplanationsReport};
use super::grades::GradesReport;
use super::lesson::LessonReport;
use super::number::ReportedNumber;
use super::suggest::SuggestReport;
use super::timeline::TimelineReport;
use super::timing::{ReportedStanding, ReportedTiming};
use super::{
    CheckReport, CompareReport, ErrorReport, EvalReport, LaunchReport, RunReport, RunReports,
    ScreeningReport, ScreeningReports,
};
use crate::explain::card;
use crate::measure::{Clock, Mode, Stopped, Timing};
use crate::scalar_value::ScalarValue;
use crate::speed_of_light::advice::Advice;
use crate::speed_of_light::limiter::{Bottleneck, Limiter};
use crate::units::Seconds;
use crate::verify::verdict::WorkloadStanding;

/// Set to `write`, this environment variable makes the test replace the schemas.
const SWITCH: &str = "LIGHTBENCH_SCHEMA";

/// A document type: the file of its schema, the value of the field `schema`, and a parser that also writes.
struct Document {
    file: &'static str,
    schema: &'static str,
    generate: fn() -> schemars::Schema,
    reparse: fn(&Value) -> serde_json::Result<Value>,
}

const fn document<T: JsonSchema + Serialize + DeserializeOwned>(
    file: &'static str,
    schema: &'static str,
) -> Document {
    Document {
        file,
        schema,
        generate: || schema_for!(T),
        reparse: |value| serde_json::to_value(serde_json::from_value::<T>(value.clone())?),
    }
}

const DOCUMENTS: &[Document] = &[
    document::<RunReport>("run.json", "lightbench.run/1"),
    document::<RunReports>("runs.json", "lightbench.runs/1"),
    document::<ScreeningReport>("screening.json", "lightbench.screening/1"),
    document::<ScreeningReports>("screenings.json", "lightbench.screenings/1"),
    document::<CheckReport>("check.json", "lightbench.check/1"),
    document::<CompareReport>("compare.json", "lightbench.compare/3"),
    document::<LaunchReport>("launch.json", "lightbench.launch/1"),
    document::<SuggestReport>("suggest.json", "lightbench.suggest/1"),
    document::<AccessesReport>("accesses.json", "lightbench.accesses/1"),
    document::<AccessReport>("access.json", "lightbench.access/1"),
    document::<TimelineReport>("timeline.json", "lightbench.timeline/1"),
    document::<ExplanationReport>("explain.json", "lightbench.explain/1"),
    document::<ExplanationsReport>("explanations.json", "lightbench.explanations/1"),
    document::<LessonReport>("lesson.json", "lightbench.lesson/1"),
    document::<GradesReport>("grades.json", "lightbench.grades/1"),
    document::<EvalReport>("eval.json", "lightbench.eval/1"),
    document::<ErrorReport>("error.json", "lightbench.error/1"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn schemas_in_the_documentation_are_those_of_the_types() {
    let folder = repository().join("docs/schema");
    for Document { file, generate, .. } in DOCUMENTS {
        let schema = serde_json::to_string_pretty(&generate()).unwrap() + "\n";
        let path = folder.join(file);
        if std::env::var_os(SWITCH).is_some_and(|value| value == "write") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(path, schema).unwrap();
            continue;
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            stored, schema,
            "docs/schema/{file} is not the schema of the type; `{SWITCH}=write cargo test -p lightbench-core schemas_in` replaces it"
        );
    }
}

/// Documents that the program wrote, from the frozen outputs.
fn frozen_documents() -> Vec<(String, Value)> {
    let folder = repository().join("tests/data/frozen/expected");
    let mut documents = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let Some((_, output)) = text.split_once("--- standard output\n") else { continue };
        let (output, _) = output.split_once("\n--- standard error").unwrap();
        // A measured time, which differs from run to run, is stored as a placeholder.
        let output = output.replace("<wall-seconds>", "0.5").replace("<wall-milliseconds>", "0.5");
        let Ok(value) = serde_json::from_str::<Value>(&output) else { continue };
        documents.push((path.file_name().unwrap().to_string_lossy().into_owned(), value));
    }
    documents.sort_by(|one, other| one.0.cmp(&other.0));
    documents
}

#[test]
fn frozen_documents_keep_every_field_through_their_types() {
    let frozen = frozen_documents();
    for Document { schema, reparse, file, .. } in DOCUMENTS {
        let own = frozen.iter().filter(|(_, value)| value["schema"] == **schema);
        let mut count = 0;
        for (name, value) in own {
            let reparsed = reparse(value).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(reparsed, *value, "{name}");
            count += 1;
        }
        // These two are frozen only inside the documents of several kernels and several numbers.
        let is_only_inside = ["screening.json", "explain.json"].contains(file);
        assert!(count > 0 || is_only_inside, "no frozen document has schema {schema}");
    }
}

#[test]
fn a_document_of_another_schema_is_not_a_run() {
    let frozen = frozen_documents();
    let of = |schema: &str| {
        let mut all = frozen.iter().map(|(_, value)| value.clone());
        all.find(|value| value["schema"] == schema).unwrap()
    };
    let run = of("lightbench.run/1");
    assert!(serde_json::from_value::<RunReport>(run.clone()).is_ok());
    let screening = of("lightbench.screenings/1")["screenings"][0].clone();
    assert!(serde_json::from_value::<ScreeningReport>(screening.clone()).is_ok());
    for (key, value) in [("schema", json!("lightbench.run/2")), ("seed", json!("1"))] {
        let mut changed = run.clone();
        changed[key] = value;
        assert!(serde_json::from_value::<RunReport>(changed).is_err(), "{key}");
    }
    assert!(serde_json::from_value::<RunReport>(screening).is_err());
}

#[test]
fn numbers_are_written_as_json_can_represent_them() {
    let written = |value: ScalarValue| serde_json::to_value(ReportedNumber::from(value)).unwrap();
    let cases = [
        (ScalarValue::Boolean(true), json!(true)),
        (ScalarValue::Integer(-7), json!(-7)),
        (ScalarValue::Integer(1 << 53), json!(9_007_199_254_740_992_i64)),
        (ScalarValue::Integer((1 << 53) + 1), json!("9007199254740993")),
        (ScalarValue::Integer(u64::MAX.into()), json!("18446744073709551615")),
        (ScalarValue::Real(0.1), json!(0.1)),
        (
            ScalarValue::Real(f64::NEG_INFINITY),
            json!({ "value": "-inf", "bits": "0xfff0000000000000" }),
        ),
        (ScalarValue::Real(f64::NAN), json!({ "value": "nan", "bits": "0x7ff8000000000000" })),
    ];
    for (value, expected) in cases {
        assert_eq!(written(value), expected, "{value:?}");
        let read: ReportedNumber = serde_json::from_value(expected.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), expected);
    }
}

#[test]
fn every_number_of_a_time_is_explained() {
    let clock = Clock::Events { offset: Seconds(1e-6), floor: Seconds(1e-6), without: None };
    let rounds = vec![vec![Seconds(1e-4); 5]; 10];
    let measured = Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Budget), &[]).unwrap();
    let modelled = Timing::modelled(Seconds(1e-4), (1.2, 2.5), "DRAM".to_owned(), Vec::new());
    let limiter = Limiter {
        bottleneck: Bottleneck::Unknown,
        busy: None,
        counted_at: None,
        evidence: Vec::new(),
    };
    let standing = WorkloadStanding {
        bound: None,
        achieved: None,
        standing: None,
        limiter,
        advice: Advice::Nothing,
        facts: BTreeMap::new(),
        launch: None,
        line: String::new(),
    };
    let documents = [
        serde_json::to_value(ReportedTiming::from(&measured)),
        serde_json::to_value(ReportedTiming::from(&modelled)),
        serde_json::to_value(ReportedStanding::from(&standing)),
    ];
    for document in documents {
        for key in document.unwrap().as_object().unwrap().keys() {
            assert!(card(key.trim_end_matches("_seconds")).is_ok(), "{key}");
        }
    }
}
