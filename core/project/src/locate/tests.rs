//! Places agree with the reader on valid text, and no text panics.

use proptest::prelude::*;

use super::*;

fn check(text: &str, find: impl Fn(&Located) -> Range<usize>, expected: &str, path: &str) {
    let tree = locate(text, 0..text.len()).unwrap_or_else(|| panic!("{text}"));
    let span = find(&tree);
    assert_eq!(&text[span.clone()], expected, "{text}");
    assert_eq!(tree.path_of(&span), path, "{text}");
}

#[test]
fn every_sort_of_value_has_its_place() {
    let text = r##"#![enable(implicit_some)]
    // comment (with: brackets]
    project(
        name: "x \" y", /* nested /* ( */ */ size: Some(12),
        tensors: [(shape: ["a", r#"b "q" + c"#, 4],), (fill: normal(mean: -1.5e3, std: 'x'))],
        axes: {"ro\u{77}s": 7, 'c': (1, 2)}, kind: library(cublas), unit: (), r#type: none,
    )"##;
    check(text, |t| t.field("name").span.clone(), r#""x \" y""#, "name");
    check(text, |t| t.field("size").span.clone(), "12", "size");
    check(
        text,
        |t| t.field("tensors").item(0).field("shape").item(2).span.clone(),
        "4",
        "tensors[0].shape[2]",
    );
    check(
        text,
        |t| t.field("tensors").item(1).field("fill").field("mean").span.clone(),
        "-1.5e3",
        "tensors[1].fill.mean",
    );
    check(text, |t| t.field("axes").value(0).span.clone(), "7", "axes[\"rows\"]");
    check(text, |t| t.field("axes").value(1).item(1).span.clone(), "2", "axes[\"'c'\"][1]");
    check(text, |t| t.field("kind").item(0).span.clone(), "cublas", "kind[0]");
    check(text, |t| t.field("unit").span.clone(), "()", "unit");
    check(text, |t| t.field("type").span.clone(), "none", "type");
    check(
        text,
        |t| t.field("tensors").item(0).field("shape").item(1).text_span(text, 8..9),
        "c",
        "tensors[0].shape[1]",
    );
    check(text, |t| t.field("name").text_span(text, 2..3), r#"\""#, "name");
    check(text, |t| t.field("name").text_span(text, 4..5), "y", "name");
    check(text, |t| t.field("absent").span.clone(), &text[text.find("project").unwrap()..], "");
}

#[test]
fn escapes_are_counted_as_written() {
    for (literal, decoded, inner, offset) in [
        (r#""abc""#, "abc", 1, 2),
        (r#""a\nb""#, "a\nb", 2, 4),
        (r#""\u{e9}b""#, "éb", 2, 7),
        (r#""\xc3\xa9b""#, "éb", 2, 9),
        ("\"a\\\n   b\"", "ab", 1, 7),
        (r##"r#"a"b"#"##, "a\"b", 2, 5),
        (r#""ab""#, "ab", 2, 3),
    ] {
        let read = Literal::read(literal).unwrap();
        assert_eq!(read.decoded(), decoded, "{literal}");
        assert_eq!(read.offset_of(inner), offset, "{literal}");
        assert_eq!(ron::from_str::<String>(literal).unwrap(), decoded, "{literal}");
    }
}

/// A RON text together with the values that the reader must find in it.
fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        "\\PC{0,6}".prop_map(|text| format!("{text:?}")),
        "[a-z]{1,4}".prop_map(|text| format!("r#\"{text}\"#")),
        Just("true".to_owned()),
        Just("/* c */ 1.5 // d\n".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|items| format!("({},)", items.join(","))),
            prop::collection::vec(inner, 0..4).prop_map(|items| {
                let entries: Vec<String> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| format!("\"k{at}\": {item}"))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

/// Every leaf and branch, read again from its own bytes, is the value that the reader saw in the whole.
fn agrees(text: &str, located: &Located, value: &ron::Value) -> bool {
    let own: Result<ron::Value, _> = ron::from_str(&text[located.span.clone()]);
    let same = own.as_ref() == Ok(value);
    let parts = match (&located.content, value) {
        (Content::List(items), ron::Value::Seq(values)) => {
            items.len() == values.len()
                && items.iter().zip(values).all(|(item, value)| agrees(text, item, value))
        }
        (Content::Entries(entries), ron::Value::Map(map)) => {
            entries.len() == map.len()
                && entries.iter().all(|(_, name, item)| {
                    map.iter()
                        .find(|(key, _)| **key == ron::Value::String(name.clone()))
                        .is_some_and(|(_, value)| agrees(text, item, value))
                })
        }
        _ => true,
    };
    same && parts
}

proptest! {
    #[test]
    fn places_agree_with_the_reader(text in documents()) {
        let value: ron::Value = ron::from_str(&text).unwrap();
        let tree = locate(&text, 0..text.len());
        prop_assert!(tree.is_some(), "{}", text);
        prop_assert!(agrees(&text, &tree.unwrap(), &value), "{}", text);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", ron in "[\\[\\](){}:,\"'\\\\/*#rb!a-c0-2 .é\n-]{0,40}") {
        for text in [text, ron] {
            if let Some(tree) = locate(&text, 0..text.len()) {
                prop_assert!(text.get(tree.span.clone()).is_some());
                let inner = tree.text_span(&text, 0..3);
                prop_assert!(inner.start <= inner.end && inner.end <= text.len());
                drop(tree.path_of(&inner));
            }
        }
    }

    #[test]
    fn valid_text_is_always_located(text in "[\\[\\](){}:,\"a-c0-2 ]{0,12}") {
        let read: Result<ron::Value, _> = ron::from_str(&text);
        if read.is_ok() {
            prop_assert!(locate(&text, 0..text.len()).is_some(), "{}", text);
        }
    }
}
