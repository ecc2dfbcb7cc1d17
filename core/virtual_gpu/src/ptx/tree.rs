//! The tree of a module as it is written; it borrows every name from the text and knows nothing of meaning.
//!
//! Bodies are flat: a scope is an `Open` and a `Close` among the statements, so that no input can make
//! anything here recursive.

use super::token::Place;

/// A whole text.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// `.version`, as (major, minor).
    pub version: Option<(u32, u32)>,
    /// `.target`, all of its words: `sm_90a`, `debug`.
    pub targets: Vec<&'a str>,
    /// `.address_size`.
    pub address_size: Option<u64>,
    /// Variables of the module, in order.
    pub variables: Vec<Declaration<'a>>,
    /// Entries and functions, declared or defined.
    pub functions: Vec<Function<'a>>,
    /// Other names of functions.
    pub aliases: Vec<Alias<'a>>,
    /// The source files that `.loc` names by number.
    pub files: Vec<File<'a>>,
    /// Zero-terminated strings of `.debug_str`, by label: names of inlined functions.
    pub strings: Vec<(&'a str, String)>,
}

/// `.file 1 "kernel.cu"`.
#[derive(Debug)]
pub struct File<'a> {
    /// The number by which `.loc` names it.
    pub index: u32,
    /// As the compiler wrote it.
    pub path: &'a str,
}

/// `.alias a, b;`: `a` is another name of `b`.
#[derive(Debug)]
pub struct Alias<'a> {
    /// Where it is written.
    pub place: Place,
    /// As it is written.
    pub name: &'a str,
    /// What it is another name of.
    pub target: &'a str,
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
pub struct Declaration<'a> {
    /// Where it is written.
    pub place: Place,
    /// Who else sees it.
    pub linkage: Linkage,
    /// The state space: `global`, `reg` …
    pub space: &'a str,
    /// In bytes, where it is given.
    pub align: Option<u64>,
    /// `.v2`, `.v4`, `.v8`: components of each element.
    pub vector: u32,
    /// The element's type: `b8`, `f32` …
    pub element: &'a str,
    /// As it is written.
    pub name: &'a str,
    /// `%r<17>`: how many registers share the name.
    pub range: Option<u64>,
    /// Array dimensions; zero stands for `[]`.
    pub dimensions: Vec<u64>,
    /// Elements that are set; the others are zero.
    pub initial: Vec<Initial<'a>>,
    /// `.ptr` and the alignment of what a pointer parameter points to.
    pub pointer: Option<PointerHint<'a>>,
}

/// `.ptr .global .align 16` of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct PointerHint<'a> {
    /// The state space that it points into.
    pub space: Option<&'a str>,
    /// In bytes.
    pub align: Option<u64>,
}

/// One element of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Initial<'a> {
    /// Where it is written.
    pub place: Place,
    /// The element that it sets; elements that nothing sets are zero.
    pub index: u64,
    /// What it is set to.
    pub value: InitialValue<'a>,
}

/// What an initialiser's element is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialValue<'a> {
    /// A number.
    Literal(Literal),
    /// `symbol+offset`, `generic(symbol)+offset`, `0xFF00(symbol)+offset`.
    Symbol {
        /// As it is written.
        name: &'a str,
        /// Bytes added to its address.
        offset: i64,
        /// Whether its generic address is meant.
        generic: bool,
        /// The byte of the address that is meant.
        mask: Option<u64>,
    },
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A whole number.
    Integer(i64),
    /// `0f3f800000`, as bits.
    Single(u32),
    /// `0d3ff0000000000000`, as bits.
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
pub struct Function<'a> {
    /// Where it is written.
    pub place: Place,
    /// Who else sees it.
    pub linkage: Linkage,
    /// Whether the host can launch it.
    pub kind: FunctionKind,
    /// As it is written.
    pub name: &'a str,
    /// What it takes and returns.
    pub signature: Signature<'a>,
    /// `.maxntid 128, 1, 1` → ("maxntid", [128, 1, 1]).
    pub directives: Vec<(&'a str, Vec<u64>)>,
    /// None for a declaration.
    pub body: Option<Body<'a>>,
}

/// What a function takes and returns.
#[derive(Debug, Default)]
pub struct Signature<'a> {
    /// What it returns, as parameters.
    pub returns: Vec<Declaration<'a>>,
    /// What it takes.
    pub parameters: Vec<Declaration<'a>>,
    /// `.noreturn`.
    pub never_returns: bool,
}

/// The statements between a function's braces.
#[derive(Debug, Default)]
pub struct Body<'a> {
    /// In order; scopes are pairs of `Open` and `Close`.
    pub statements: Vec<Statement<'a>>,
    /// The modifiers of all instructions, one after the other.
    pub modifiers: Vec<&'a str>,
}

/// One statement.
#[derive(Debug)]
pub enum Statement<'a> {
    /// `{`.
    Open(Place),
    /// `}`.
    Close,
    /// Registers or a variable of this scope.
    Declaration(Box<Declaration<'a>>),
    /// `$L__BB0_1:`.
    Label(&'a str, Place),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `.loc`: where the code that follows comes from.
    Location(Location<'a>),
    /// `name: .callprototype (…) _ (…);`
    Prototype {
        /// As it is written.
        name: &'a str,
        /// Where it is written.
        place: Place,
        /// What is called takes and returns this.
        signature: Box<Signature<'a>>,
    },
    /// `name: .branchtargets a, b;`
    BranchTargets {
        /// As it is written.
        name: &'a str,
        /// Where it is written.
        place: Place,
        /// Where the branch may go.
        labels: Vec<&'a str>,
    },
    /// `name: .calltargets f, g;`
    CallTargets {
        /// As it is written.
        name: &'a str,
        /// Where it is written.
        place: Place,
        /// What the call may reach.
        functions: Vec<&'a str>,
    },
}

/// `.loc 1 16 25, function_name $L__info_string0, inlined_at 1 18 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location<'a> {
    /// Where the code that follows comes from.
    pub position: Position,
    /// The label of the inlined function's name, and where it was inlined.
    pub inlined: Option<(&'a str, Position)>,
}

/// File, line and column of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The number of a `.file`.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// An instruction as it is written.
#[derive(Debug)]
pub struct Instruction<'a> {
    /// Where it is written.
    pub place: Place,
    /// The predicate that it depends on.
    pub guard: Option<Guard<'a>>,
    /// The part before the first dot.
    pub opcode: &'a str,
    /// Its modifiers: a range of `Body::modifiers`.
    pub modifiers: (u32, u32),
    /// Each with its place.
    pub operands: Vec<(Operand<'a>, Place)>,
}

/// `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    /// Where it is written.
    pub place: Place,
    /// The predicate register.
    pub predicate: &'a str,
    /// Whether it is executed where the predicate is false.
    pub negated: bool,
}

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, variable, label, function, or the sink `_`; `offset` for `symbol+4`.
    Name {
        /// As it is written.
        name: &'a str,
        /// Bytes added to its address.
        offset: i64,
    },
    /// `%tid.x`.
    Component {
        /// As it is written.
        name: &'a str,
        /// `x`, `y`, `z` or `w`.
        component: &'a str,
    },
    /// A number.
    Literal(Literal),
    /// `[base+offset]`.
    Address(Address<'a>),
    /// `{a, b}`.
    Vector(Vec<Self>),
    /// `p|q`.
    Pair(&'a str, &'a str),
    /// `!p`.
    Not(&'a str),
    /// `-%r3` or `-%r3.h1`: only `vmad` has it.
    Negative {
        /// As it is written.
        name: &'a str,
        /// What stands behind the dot.
        component: Option<&'a str>,
    },
    /// `(a, b)` of a call.
    Group(Vec<Self>),
}

/// What stands between brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address<'a> {
    /// A register or symbol; none for `[16]`.
    pub base: Option<&'a str>,
    /// Bytes added to the base.
    pub offset: i64,
    /// `[tensor, {x, y}]`: only textures and tensor copies have it.
    pub coordinates: bool,
}
