//! Statements, functions, classes and calls.

use crate::{
    BinaryOperator, ExpressionKind, Module, ParameterKind, SourceError, Statement, StatementKind,
};

const TASK: &str = "\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline, load as loaded

source = '''
__global__ void k() {}
'''

module = load_inline(name='k', cuda_sources=[source], functions=['run'], verbose=True)

class Model(nn.Module):
    \"\"\"A layer.\"\"\"
    def __init__(self, rows: int, cols=4, *rest, bias: bool = False, **others):
        super().__init__()
        self.linear = nn.Linear(rows, cols, bias=bias)

    @torch.no_grad()
    def forward(self, x):
        for _ in range(2):
            x = F.relu(self.linear(x))[:, 1:, ...]
        if x.dim() > 2:
            x += 1
        elif x.dim() == 1:
            pass
        else:
            with torch.no_grad():
                x = x @ x.T
        return x
";

#[test]
fn imports_bind_names() {
    let module = Module::parse(TASK).unwrap();
    assert_eq!(module.full_name("F.relu"), "torch.nn.functional.relu");
    assert_eq!(module.full_name("nn.Linear"), "torch.nn.Linear");
    assert_eq!(module.full_name("torch.nn.Linear"), "torch.nn.Linear");
    assert_eq!(module.full_name("loaded"), "torch.utils.cpp_extension.load");
    assert_eq!(module.full_name("other.name"), "other.name");
}

#[test]
fn calls_have_keyword_arguments_and_lines() {
    let module = Module::parse(TASK).unwrap();
    let calls: Vec<_> = module.calls_of("load_inline").collect();
    let [(expression, call)] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(expression.line, 10);
    assert!(call.keyword("verbose").is_some());
    let ExpressionKind::List(sources) = &call.keyword("cuda_sources").unwrap().kind else {
        panic!("{call:?}")
    };
    assert_eq!(sources[0].kind, ExpressionKind::Name("source".to_owned()));
    assert_eq!(module.calls_of("Linear").count(), 1);
}

#[test]
fn strings_know_the_line_of_their_content() {
    let module = Module::parse(TASK).unwrap();
    let StatementKind::Assign { value: Some(value), .. } = &module.statements[4].kind else {
        panic!("{module:?}")
    };
    let ExpressionKind::Text { text, first_line } = &value.kind else { panic!("{value:?}") };
    assert_eq!((text.as_str(), *first_line), ("\n__global__ void k() {}\n", 6));
}

#[test]
fn methods_have_parameters_and_decorators() {
    let module = Module::parse(TASK).unwrap();
    let model = module.classes().next().unwrap();
    assert_eq!(model.bases[0].dotted_name().unwrap(), "nn.Module");
    let init = model.method("__init__").unwrap();
    let described: Vec<_> = init
        .parameters
        .iter()
        .map(|each| (each.name.as_str(), each.kind, each.default.is_some()))
        .collect();
    assert_eq!(
        described,
        [
            ("self", ParameterKind::Plain, false),
            ("rows", ParameterKind::Plain, false),
            ("cols", ParameterKind::Plain, true),
            ("rest", ParameterKind::Rest, false),
            ("bias", ParameterKind::KeywordOnly, true),
            ("others", ParameterKind::Keywords, false),
        ]
    );
    assert_eq!(init.parameters[1].annotation.as_deref(), Some("int"));
    let forward = model.method("forward").unwrap();
    assert_eq!(forward.decorators.len(), 1);
    assert!(model.method("backward").is_none());
}

#[test]
fn statements_nest() {
    let module = Module::parse(TASK).unwrap();
    let forward = module.classes().next().unwrap().method("forward").unwrap();
    let [repeated, branch, returned] = forward.body.as_slice() else { panic!("{forward:?}") };
    assert!(matches!(repeated.kind, StatementKind::For { .. }));
    assert!(matches!(returned.kind, StatementKind::Return(Some(_))));
    let StatementKind::If { then, otherwise, .. } = &branch.kind else { panic!("{branch:?}") };
    assert!(matches!(
        then[0].kind,
        StatementKind::AugmentedAssign { operator: Some(BinaryOperator::Add), .. }
    ));
    let StatementKind::If { then, otherwise, .. } = &otherwise[0].kind else {
        panic!("{branch:?}")
    };
    assert_eq!(then[0].kind, StatementKind::Pass);
    assert!(matches!(otherwise[0].kind, StatementKind::With { .. }));
}

#[test]
fn other_statements_and_expressions_keep_their_parts() {
    let check = |text: &str, expected: &[&str]| {
        let module = Module::parse(text).unwrap();
        let statements = module.all_statements();
        let expressions = statements.into_iter().flat_map(Statement::all_expressions);
        let names = expressions.filter_map(|expression| {
            let ExpressionKind::Name(name) = &expression.kind else { return None };
            Some(name.as_str())
        });
        assert_eq!(names.collect::<Vec<_>>(), expected, "{text}");
    };
    check("while a:\n    b()\nelse:\n    c", &["a", "b", "c"]);
    check("for a in b:\n    c\nelse:\n    d", &["a", "b", "c", "d"]);
    check("try:\n    a\nexcept b as c:\n    d\nfinally:\n    e", &["b", "c", "a", "d", "e"]);
    check("match a:\n    case b.c(d):\n        e", &["a", "b", "c", "d", "e"]);
    check("with a as b, c as (d, e), f: g", &["a", "c", "f", "b", "d", "e", "g"]);
    check("[a for b, c in d if e]", &["a", "b", "c", "d", "e"]);
    check("lambda a, b=c: d", &["a", "b", "c", "d"]);
    check("(a := b)\nf'{c:>{d}}'\n{**e, f: g}", &["a", "b", "c", "d", "e", "f", "g"]);
    check("del a, b\nraise c from d", &["a", "b", "c", "d"]);
    check("global a", &["a"]);
    check("async def f():\n    await a", &["a"]);
}

fn check_refused(text: &str, expected: &str) {
    let error = Module::parse(text).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_have_a_line() {
    check_refused("a = 1\nb = (\nc = 3", "line 2: syntax error at `= (`; expected Python 3");
    check_refused("a\0", "line 1: a NUL character; expected a text");
    assert!(matches!(Module::parse(&"#\n".repeat(3 << 20)), Err(SourceError::TooLarge { .. })));
}
