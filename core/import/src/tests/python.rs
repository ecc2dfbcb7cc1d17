//! What is asked about functions in Python.

use std::path::Path;

use lightbench_project::written::NumberWritten;
use lightbench_python_source::{Function, Module};
use proptest::prelude::*;

use crate::python::{number, parameters, read, returned_values, takes_any_keyword, writes_into};

fn parsed(text: &str) -> Module {
    read(Path::new("task.json"), "reference", text)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Parameters with their defaults.
fn described(text: &str, function: &Function) -> String {
    let all = parameters(function).map(|parameter| {
        let default = parameter.default.as_ref().map(|default| &text[default.span.clone()]);
        default.map_or(parameter.name.clone(), |text| format!("{}={text}", parameter.name))
    });
    let all = all.chain(takes_any_keyword(function).then(|| "**".to_owned()));
    all.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_functions(text: &str, expected: &[(&str, &str)]) {
    let module = parsed(text);
    let found = module.functions();
    let found: Vec<(&str, String)> =
        found.iter().map(|each| (each.name.as_str(), described(text, each))).collect();
    let expected: Vec<_> = expected.iter().map(|(name, all)| (*name, (*all).to_owned())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn parameters_are_read_with_their_defaults() {
    let check = check_functions;
    check("def f(a, b: int = 3, *, c=(1, 2), **rest): return a", &[("f", "a b=3 c=(1, 2) **")]);
    check(
        "@no_grad()\ndef f(\n    a,  # one, two\n    b='x,y',\n):\n    pass\n",
        &[("f", "a b='x,y'")],
    );
    check("def f(a: Dict[str, int] = None) -> int:\n    def g(x): pass\n", &[("f", "a=None")]);
    check("'''\ndef no(x):\n'''\ndef f(): pass\ndef g(x): pass", &[("f", ""), ("g", "x")]);
    check("class A:\n    def f(self): pass\n", &[]);
    check(
        "def f(a, /, b, *rest, c: int, d=lambda x, y=1: x): pass",
        &[("f", "a b c d=lambda x, y=1: x")],
    );
    check("def ä(x): pass", &[("ä", "x")]);
}

#[test]
fn a_text_that_is_not_python_is_refused_with_its_line() {
    let check = |text: &str, expected: &str| {
        let error = read(Path::new("task.json"), "reference", text).unwrap_err().to_string();
        assert_eq!(error, format!("task.json: reference: {expected}"), "{text}");
    };
    check("def f(", "line 1: syntax error at `def f(`; expected a text in Python 3");
    check(
        "import torch\n\ndef f(x):\n    return {x\n",
        "line 4: syntax error at `return {x`; expected a text in Python 3",
    );
    check(
        "x = 1\nfunction f(x) { return x; }\n",
        "line 2: syntax error at `function f(x) { return x; }`; expected a text in Python 3",
    );
}

#[test]
fn returned_values_are_counted() {
    let check = |text: &str, expected| {
        assert_eq!(returned_values(&parsed(text), "f"), expected, "{text}");
    };
    check("def f(x):\n    return x\n", Some(1));
    check("def f(x):\n    return x, y(1, 2)\n", Some(2));
    check("def f(x):\n    return (\n        x,\n        y,\n    )\n", Some(2));
    check("def f(x):\n    if x:\n        return x, y, z\n    return x, y\n", Some(3));
    check("def f(x):\n    def g(): return 1, 2, 3\n    return x\n", Some(1));
    check("def g(x):\n    return x, x\n\n\ndef f(x):\n    return g(x)\n", Some(2));
    check("def f(x):\n    return f(x)\n", None);
    check("def f(x):\n    x[0] = 1\n", None);
    check("def f(x):\n    return (x, y)[0]\n", Some(1));
    check("def f(x):\n    return None\n", None);
    check("def g(x):\n    return x, x\n\n\ndef f(x):\n    return g(x)[0] + g(x)\n", Some(1));
    check("def f(x):\n    try:\n        return x, x\n    finally:\n        pass\n", Some(2));
    check(
        "def f(x):\n    while x:\n        return x, x\n    else:\n        return x, x, x\n",
        Some(3),
    );
    check("def f(x):\n    match x:\n        case 1:\n            return x, x\n", Some(2));
}

#[test]
fn writes_into_a_parameter_are_found() {
    let check = |body: &str, expected| {
        let text = format!("def f(x, y):\n    {body}\n");
        assert_eq!(writes_into(parsed(&text).function("f").unwrap(), "x"), expected, "{body}");
    };
    check("x[0, 1] = 2", true);
    check("x[i][j] = 2", true);
    check("x += 1", true);
    check("x.copy_(y)", true);
    check("x[:n].add_(y)", true);
    check("y = x[0] == 2", false);
    check("y = x + 1", false);
    check("ax[0] = 1", false);
    check("y.x[0] = 1", false);
    check("x.size()", false);
    check("'x[0] = 1'", false);
    check("x.__len__()", false);
    check("y, x[0] = x[0], y", true);
    check("x = y", false);
    check("y[x] = 1", false);
    check("while y: x[0] = 1", true);
    check("[x.copy_(z) for z in y]", true);
}

#[test]
fn defaults_are_numbers() {
    let check = |default: &str, expected| {
        let module = parsed(&format!("def f(x={default}): pass"));
        let function = module.function("f").unwrap();
        assert_eq!(function.parameters[0].default.as_ref().and_then(number), expected, "{default}");
    };
    check("-1", Some(NumberWritten::Integer(-1)));
    check("10_000", Some(NumberWritten::Integer(10_000)));
    check("1e-5", Some(NumberWritten::Real(1e-5)));
    check("True", Some(NumberWritten::Boolean(true)));
    check("None", None);
    check("'NHD'", None);
    check("float('inf')", None);
    check("1 << 70", None);
}

proptest! {
    #[test]
    fn no_text_makes_the_python_reader_panic(text in "(def f\\(|return |\\)|:|\n|    |\"|'|#|,|=|\\*\\*|é|x){0,40}") {
        let Ok(module) = read(Path::new("x"), "", &text) else { return Ok(()) };
        for function in module.functions() {
            let _any = returned_values(&module, &function.name);
            let _other = writes_into(function, "x");
        }
    }
}
