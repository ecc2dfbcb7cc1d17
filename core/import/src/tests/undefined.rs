//! References without the functions that they call.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::example;
use crate::python::read;
use crate::undefined::undefined;
use crate::{Need, Place, Question, import, write};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let module = read(Path::new("reference.py"), "", text);
    let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(undefined(&module).into_iter().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn calls_of_nothing_are_found() {
    check("def run(x):\n    return _freqs(x, _rope(x))\n", &["_freqs", "_rope"]);
    check("@no_grad()\ndef run(x):\n    return x\n", &["no_grad"]);
    check("def run(x, y=_scale()):\n    return [_row(each) for each in x]\n", &["_row", "_scale"]);
    check("def run(x):\n    while x:\n        x = f'{_shown(x)}'\n", &["_shown"]);
    check("def run(x):\n    f = lambda y: _inner(y)\n    return f(x)\n", &["_inner"]);
    check("def run(x):\n    return g(_helper)[0] + _helper(x)\n", &["_helper", "g"]);
    check("def run(x):\n    return math.sqrt(x) + x.sum()\n", &[]);
}

#[test]
fn what_the_text_may_bind_is_defined() {
    check(
        "import torch as t, f\nfrom a.b import g, h as i\ndef run(x): return t(f(g(i(x))))\n",
        &[],
    );
    check("def run(x):\n    from a import b\n    return b(x)\n", &[]);
    check("from a import *\ndef run(x): return b(x)\n", &[]);
    check("def run(f, *g, h=None, **i): return f(g(h(i())))\n", &[]);
    check("def run(x):\n    def f(y): return f(y)\n    class C: pass\n    return f(C())\n", &[]);
    check("a = b = c\n(d, [e, *f]) = c\ng: int = 1\ng += a(b(d(e(f()))))\ng()\n", &[]);
    check("for f, (g, h) in x: f(g(h()))\nelse: f()\n", &[]);
    check("for f in x: pass\nelse: f()\n", &[]);
    check("[f(g) for f, g in x if g()]\n{h(i) for h in x for i in h()}\n", &[]);
    check("x = {k(): v() for k, v in y}\nsum(w() for w in x)\n", &[]);
    check("with x as f, y as (g, h): f(g(h()))\n", &[]);
    check("with (x as f, y as g): f(g())\n", &[]);
    check("try: pass\nexcept E as error: error()\nelse: pass\n", &[]);
    check("if (f := x): f()\nf = lambda g, *h, i=1: g(h(i()))\n", &[]);
    check("def run(x):\n    global f\n    f()\n", &[]);
    check(
        "match x:\n    case [f, *g]: f(g())\n    case {'k': h, **i}: h(i())\n    case C(y=j) as k: j(k())\n",
        &[],
    );
    check("async def run(x):\n    async with x as f: f()\n    async for g in x: g()\n", &[]);
    check("globals()['f'] = 1\nf()\n", &[]);
    check("exec('def f(): pass')\nf()\n", &[]);
}

#[test]
fn what_python_defines_is_defined() {
    check("raise NotImplementedError(str(max(range(len(sorted(zip(x)))))))\n", &[]);
    check("__import__('torch')\nsuper().__init__()\n", &[]);
}

#[test]
fn a_reference_without_its_functions_is_a_question() {
    let text = fs::read_to_string(example("paged_sum_d16.json")).unwrap();
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("task.json");
    let imported = |text: &str| {
        fs::write(&file, text).unwrap();
        import(&file).unwrap()
    };
    let is_asked =
        |questions: &[Question]| questions.iter().any(|each| each.name == "reference.calls");
    assert!(!is_asked(&imported(&text).report.questions));
    let cut = text.replacen("return sums", "return _rounded(_scaled(sums))", 1);
    let written = write(&base.path().join("new"), imported(&cut)).unwrap();
    let placed =
        written.questions.iter().find(|each| each.question.name == "reference.calls").unwrap();
    let question = Question {
        name: "reference.calls".to_owned(),
        place: Place::Reference,
        text: "the reference calls `_rounded`, `_scaled`, which its text does not define; add each definition to reference.py".to_owned(),
        need: Need::Answer,
    };
    assert_eq!(placed.question, question);
    let reference = fs::read_to_string(written.folder.join(&placed.file)).unwrap();
    let line = reference.lines().nth(placed.line - 1).unwrap();
    assert!(line.contains("question reference.calls: "), "{line}");
}

proptest! {
    #[test]
    fn no_sequence_of_tokens_panics(text in "(def f\\(|f\\(|\\)|:|\n|    |for |in |x|=|,|\\*|lambda |\\[|\\]|with |as |import ){0,40}") {
        if let Ok(module) = read(Path::new("x"), "", &text) {
            drop(undefined(&module));
        }
    }
}
