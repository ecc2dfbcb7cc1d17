//! Values of module-level names.

use crate::{Constants, Module, Value};

fn check(text: &str, expected: &[(&str, Option<Value>)]) {
    let module = Module::parse(text).unwrap();
    let constants = Constants::new(&module);
    for (name, value) in expected {
        assert_eq!(constants.get(name), value.as_ref(), "{name} in {text}");
    }
}

fn integer(value: i128) -> Option<Value> {
    Some(Value::Integer(value))
}

fn text(value: &str) -> Option<Value> {
    Some(Value::Text(value.to_owned()))
}

#[test]
fn numbers_and_their_arithmetic() {
    check(
        "rows = 2048 * 2\nhalf = rows // 3 % 100\nmask = 0xff << 4\neps = 1e-5\nneg = -7 // 2\nr = -7 % 4\n",
        &[
            ("rows", integer(4096)),
            ("half", integer(65)),
            ("mask", integer(4080)),
            ("eps", Some(Value::Float(1e-5))),
            ("neg", integer(-4)),
            ("r", integer(1)),
        ],
    );
    check(
        "a = 1 / 4\nb = 2 ** 10\nc = 10_000\nd = 1j\ne = 1 // 0",
        &[
            ("a", Some(Value::Float(0.25))),
            ("b", integer(1024)),
            ("c", integer(10000)),
            ("d", None),
            ("e", None),
        ],
    );
}

#[test]
fn chained_and_unpacked_assignments() {
    check(
        "height = width = 32\na, b = 1, 2\n(c, d) = (a + b, 5)\nx: int = 4",
        &[
            ("height", integer(32)),
            ("width", integer(32)),
            ("b", integer(2)),
            ("c", integer(3)),
            ("x", integer(4)),
        ],
    );
}

#[test]
fn tuples_and_lists() {
    check(
        "n = 4\nshape = (n, 1, 1)\nlast = shape[-1]\nlong = [0] * 3\ncount = len(shape)\n",
        &[
            (
                "shape",
                Some(Value::Tuple(vec![Value::Integer(4), Value::Integer(1), Value::Integer(1)])),
            ),
            ("last", integer(1)),
            ("long", Some(Value::List(vec![Value::Integer(0); 3]))),
            ("count", integer(3)),
        ],
    );
}

#[test]
fn strings_of_all_kinds() {
    check(
        "a = 'x\\n'\nb = r'\\n'\nc = \"\"\"one\ntwo\"\"\"\nd = ('p' \"q\"\n  'r')\ne = a + b\nf = f'{a}'\ng = b'1'\nh = '''\n z '''.strip()\nu = '\\x41\\u00e9\\101'",
        &[
            ("a", text("x\n")),
            ("b", text("\\n")),
            ("c", text("one\ntwo")),
            ("d", text("pqr")),
            ("e", text("x\n\\n")),
            ("f", None),
            ("g", None),
            ("h", text("z")),
            ("u", text("AéA")),
        ],
    );
}

#[test]
fn what_is_not_known_has_no_value() {
    check(
        "n = 4\nn = torch.rand(3)\nm = 5\nif x:\n    m = 6\nfor k in range(3):\n    j = k\n",
        &[("n", None), ("m", None), ("k", None), ("j", None)],
    );
    check(
        "n = 2 ** 200\nt = ('a' * 3)\nl = [0] * 100000000\n",
        &[("n", None), ("t", None), ("l", None)],
    );
    check(
        "n = 4\nm = 5\nk = 6\nwhile x:\n    n = 5\ntry:\n    m = 6\nfinally: pass\nwith x as k: pass\n",
        &[("n", None), ("m", None), ("k", None)],
    );
}
