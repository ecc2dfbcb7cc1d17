//! The tree of a module as it is written; it borrows every name from the text and knows nothing of meaning.
//!
//! Bodies are flat: a scope is an `Open` and a `Close` among the statements, so that no input can make
//! anything here recursive.

use super::token::Place;

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    /// `.version`, as (major, minor).
    pub(crate) version: Option<(u32, u32)>,
    /// `.target`, all of its words: `sm_90a`, `debug`.
    pub(crate) targets: Vec<&'a str>,
    /// `.address_size`.
    pub(crate) address_size: Option<u64>,
    pub(crate) variables: Vec<Declaration<'a>>,
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) aliases: Vec<Alias<'a>>,
    pub(crate) files: Vec<File<'a>>,
    /// Zero-terminated strings of `.debug_str`, by label: names of inlined functions.
    pub(crate) strings: Vec<(&'a str, String)>,
}

/// `.file 1 "kernel.cu"`.
#[derive(Debug)]
pub(crate) struct File<'a> {
    pub(crate) index: u32,
    pub(crate) path: &'a str,
}

/// `.alias a, b;`: `a` is another name of `b`.
#[derive(Debug)]
pub(crate) struct Alias<'a> {
    pub(crate) place: Place,
    pub(crate) name: &'a str,
    pub(crate) target: &'a str,
}

/// `.visible`, `.extern`, `.weak`, `.common`, or none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Seen in this module only.
    #[default]
    Internal,
    /// Defined here, seen by others.
    Visible,
    /// Defined elsewhere; for shared memory: sized by the launch.
    Extern,
    /// Defined here unless somebody else does.
    Weak,
    /// Defined by everybody, once.
    Common,
}

/// One declared name: a register, a variable or a parameter.
#[derive(Debug)]
pub(crate) struct Declaration<'a> {
    pub(crate) place: Place,
    pub(crate) linkage: Linkage,
    /// The state space: `global`, `reg` …
    pub(crate) space: &'a str,
    pub(crate) align: Option<u64>,
    /// `.v2`, `.v4`, `.v8`: components of each element.
    pub(crate) vector: u32,
    /// The element's type: `b8`, `f32` …
    pub(crate) element: &'a str,
    pub(crate) name: &'a str,
    /// `%r<17>`: how many registers share the name.
    pub(crate) range: Option<u64>,
    /// Array dimensions; zero stands for `[]`.
    pub(crate) dimensions: Vec<u64>,
    pub(crate) initial: Vec<Initial<'a>>,
    /// `.ptr` and the alignment of what a pointer parameter points to.
    pub(crate) pointer: Option<PointerHint<'a>>,
}

/// `.ptr .global .align 16` of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointerHint<'a> {
    pub(crate) space: Option<&'a str>,
    pub(crate) align: Option<u64>,
}

/// One element of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Initial<'a> {
    pub(crate) place: Place,
    /// The element that it sets; elements that nothing sets are zero.
    pub(crate) index: u64,
    pub(crate) value: InitialValue<'a>,
}

/// What an initialiser's element is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InitialValue<'a> {
    Literal(Literal),
    /// `symbol+offset`, `generic(symbol)+offset`, `0xFF00(symbol)+offset`.
    Symbol {
        name: &'a str,
        offset: i64,
        generic: bool,
        mask: Option<u64>,
    },
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Integer(i64),
    Single(u32),
    Double(u64),
}

/// `.entry` or `.func`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    /// A device function.
    Device,
}

/// An entry or a function, with or without a body.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) place: Place,
    pub(crate) linkage: Linkage,
    pub(crate) kind: FunctionKind,
    pub(crate) name: &'a str,
    pub(crate) signature: Signature<'a>,
    /// `.maxntid 128, 1, 1` → ("maxntid", [128, 1, 1]).
    pub(crate) directives: Vec<(&'a str, Vec<u64>)>,
    pub(crate) body: Option<Body<'a>>,
}

/// What a function takes and returns.
#[derive(Debug, Default)]
pub(crate) struct Signature<'a> {
    pub(crate) returns: Vec<Declaration<'a>>,
    pub(crate) parameters: Vec<Declaration<'a>>,
    pub(crate) never_returns: bool,
}

/// The statements between a function's braces.
#[derive(Debug, Default)]
pub(crate) struct Body<'a> {
    pub(crate) statements: Vec<Statement<'a>>,
    /// The modifiers of all instructions, one after the other.
    pub(crate) modifiers: Vec<&'a str>,
}

/// One statement.
#[derive(Debug)]
pub(crate) enum Statement<'a> {
    Open(Place),
    Close,
    Declaration(Box<Declaration<'a>>),
    Label(&'a str, Place),
    Instruction(Instruction<'a>),
    Location(Location<'a>),
    /// `name: .callprototype (…) _ (…);`
    Prototype {
        name: &'a str,
        place: Place,
        signature: Box<Signature<'a>>,
    },
    /// `name: .branchtargets a, b;`
    BranchTargets {
        name: &'a str,
        place: Place,
        labels: Vec<&'a str>,
    },
    /// `name: .calltargets f, g;`
    CallTargets {
        name: &'a str,
        place: Place,
        functions: Vec<&'a str>,
    },
}

/// `.loc 1 16 25, function_name $L__info_string0, inlined_at 1 18 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Location<'a> {
    pub(crate) position: Position,
    /// The label of the inlined function's name, and where it was inlined.
    pub(crate) inlined: Option<(&'a str, Position)>,
}

/// File, line and column of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// An instruction as it is written.
#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    pub(crate) place: Place,
    pub(crate) guard: Option<Guard<'a>>,
    pub(crate) opcode: &'a str,
    /// Its modifiers: a range of `Body::modifiers`.
    pub(crate) modifiers: (u32, u32),
    pub(crate) operands: Vec<(Operand<'a>, Place)>,
}

/// `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard<'a> {
    pub(crate) place: Place,
    pub(crate) predicate: &'a str,
    pub(crate) negated: bool,
}

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'a> {
    /// A register, variable, label, function, or the sink `_`; `offset` for `symbol+4`.
    Name {
        name: &'a str,
        offset: i64,
    },
    /// `%tid.x`.
    Component {
        name: &'a str,
        component: &'a str,
    },
    Literal(Literal),
    /// `[base+offset]`.
    Address(Address<'a>),
    /// `{a, b}`.
    Vector(Vec<Self>),
    /// `p|q`.
    Pair(&'a str, &'a str),
    /// `!p`.
    Not(&'a str),
    /// `(a, b)` of a call.
    Group(Vec<Self>),
}

/// What stands between brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Address<'a> {
    /// A register or symbol; none for `[16]`.
    pub(crate) base: Option<&'a str>,
    pub(crate) offset: i64,
    /// `[tensor, {x, y}]`: only textures and tensor copies have it.
    pub(crate) coordinates: bool,
}
