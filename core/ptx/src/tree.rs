//! The syntax tree of a module. It borrows every name from the text and has no semantic information.
//!
//! An outline is a tree without instructions, labels, scopes and initialisers: only declarations and line information.
//!
//! Bodies are flat: a scope is an `Open` and a `Close` among the statements, so that no input leads to recursion.

use super::error::SyntaxError;
use super::token::PtxLocation;

/// The syntax tree of a text.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// `.version`, as (major, minor).
    pub version: Option<(u32, u32)>,
    /// `.target`, all of its words: `sm_90a`, `debug`.
    pub targets: Vec<&'a str>,
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

impl<'a> Tree<'a> {
    /// The instructions of all functions whose operands the parser cannot read, in the order of the text.
    pub fn unsupported(&self) -> impl Iterator<Item = &Unsupported<'a>> {
        let bodies = self.functions.iter().filter_map(|function| function.body.as_ref());
        bodies.flat_map(|body| &body.statements).filter_map(|statement| match statement {
            Statement::Unsupported(unsupported) => Some(&**unsupported),
            Statement::Open(_)
            | Statement::Close
            | Statement::Declaration(_)
            | Statement::Label(..)
            | Statement::Instruction(_)
            | Statement::Location(..)
            | Statement::Prototype { .. }
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. } => None,
        })
    }
}

/// `.file 1 "kernel.cu"`.
#[derive(Debug)]
pub struct File<'a> {
    /// The number that `.loc` refers to.
    pub index: u32,
    /// The path in the line information of the compiler.
    pub path: &'a str,
}

/// `.alias a, b;`: `a` is another name of `b`.
#[derive(Debug)]
pub struct Alias<'a> {
    pub place: PtxLocation,
    pub name: &'a str,
    /// The function that it is an alias of.
    pub target: &'a str,
}

/// `.visible`, `.extern`, `.weak`, `.common`, or none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Visible in this module only.
    #[default]
    Internal,
    /// Defined here, visible to other modules.
    Visible,
    /// Defined elsewhere; for shared memory: sized by the launch.
    Extern,
    /// Defined here unless another module defines it.
    Weak,
    /// Defined by several modules, merged into one.
    Common,
}

/// A declared name: a register, a variable or a parameter.
#[derive(Debug)]
pub struct Declaration<'a> {
    pub place: PtxLocation,
    pub linkage: Linkage,
    /// The state space: `global`, `reg` …
    pub space: &'a str,
    /// Alignment in bytes, if it is given.
    pub align: Option<u64>,
    /// `.v2`, `.v4`, `.v8`: components of each element.
    pub vector: u32,
    /// The element type: `b8`, `f32` …
    pub element: &'a str,
    pub name: &'a str,
    /// `%r<17>`: the number of registers.
    pub range: Option<u64>,
    /// Array dimensions; zero stands for `[]`.
    pub dimensions: Vec<u64>,
    /// Initialised elements; the others are zero.
    pub initial: Vec<Initial<'a>>,
    /// `.ptr` with the alignment of the memory that a pointer parameter refers to.
    pub pointer: Option<PointerHint<'a>>,
}

/// `.ptr .global .align 16` of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct PointerHint<'a> {
    /// The state space of the memory.
    pub space: Option<&'a str>,
    /// Alignment in bytes.
    pub align: Option<u64>,
}

/// One element of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Initial<'a> {
    pub place: PtxLocation,
    /// The index of the element; elements without a value are zero.
    pub index: u64,
    pub value: InitialValue<'a>,
}

/// The value of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialValue<'a> {
    /// A number.
    Literal(Literal),
    /// `symbol+offset`, `generic(symbol)+offset`, `0xFF00(symbol)+offset`.
    Symbol {
        name: &'a str,
        /// Offset in bytes.
        offset: i64,
        /// Whether the address is generic.
        generic: bool,
        /// The mask that selects a byte of the address.
        mask: Option<u64>,
    },
}

/// A number in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
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
    pub place: PtxLocation,
    pub linkage: Linkage,
    pub kind: FunctionKind,
    pub name: &'a str,
    /// Parameters and results.
    pub signature: Signature<'a>,
    /// `.maxntid 128, 1, 1` → ("maxntid", [128, 1, 1]).
    pub directives: Vec<(&'a str, Vec<u64>)>,
    /// Location of the closing brace of the body, or of the `;` of a declaration.
    pub end: PtxLocation,
    /// None for a declaration.
    pub body: Option<Body<'a>>,
}

/// The signature of a function.
#[derive(Debug, Default)]
pub struct Signature<'a> {
    /// Results.
    pub returns: Vec<Declaration<'a>>,
    pub parameters: Vec<Declaration<'a>>,
    /// `.noreturn`.
    pub never_returns: bool,
}

/// The statements in the braces of a function.
#[derive(Debug, Default)]
pub struct Body<'a> {
    /// In order; scopes are pairs of `Open` and `Close`.
    pub statements: Vec<Statement<'a>>,
    /// The modifiers of all instructions, one after the other.
    pub modifiers: Vec<&'a str>,
    /// In an outline, the names that the skipped statements mention, except registers: variables, labels, functions.
    pub symbols: Vec<&'a str>,
}

impl<'a> Body<'a> {
    /// The modifiers of an instruction, by its range.
    #[must_use]
    pub fn modifiers_in(&self, (first, last): (u32, u32)) -> &[&'a str] {
        self.modifiers.get(first as usize..last as usize).unwrap_or_default()
    }

    /// The opcode of a statement without its modifiers, and the modifiers; none for other statements than
    /// instructions.
    #[must_use]
    pub fn opcode(&self, statement: &Statement<'a>) -> Option<(&'a str, &[&'a str])> {
        let (opcode, modifiers) = match statement {
            Statement::Instruction(instruction) => (instruction.opcode, instruction.modifiers),
            Statement::Unsupported(unsupported) => (unsupported.opcode, unsupported.modifiers),
            Statement::Open(_)
            | Statement::Close
            | Statement::Declaration(_)
            | Statement::Label(..)
            | Statement::Location(..)
            | Statement::Prototype { .. }
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. } => return None,
        };
        Some((opcode, self.modifiers_in(modifiers)))
    }
}

/// One statement.
#[derive(Debug)]
pub enum Statement<'a> {
    /// `{`.
    Open(PtxLocation),
    /// `}`.
    Close,
    /// A declaration of registers or a variable.
    Declaration(Box<Declaration<'a>>),
    /// `$L__BB0_1:`.
    Label(&'a str, PtxLocation),
    Instruction(Instruction<'a>),
    /// An instruction whose operands the parser cannot read.
    Unsupported(Box<Unsupported<'a>>),
    /// `.loc`: the source location of the following code, and the location of the directive.
    Location(Location<'a>, PtxLocation),
    /// `name: .callprototype (…) _ (…);`
    Prototype {
        name: &'a str,
        place: PtxLocation,
        signature: Box<Signature<'a>>,
    },
    /// `name: .branchtargets a, b;`
    BranchTargets {
        name: &'a str,
        place: PtxLocation,
        labels: Vec<&'a str>,
    },
    /// `name: .calltargets f, g;`
    CallTargets {
        name: &'a str,
        place: PtxLocation,
        functions: Vec<&'a str>,
    },
}

/// `.loc 1 16 25, function_name $L__info_string0, inlined_at 1 18 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location<'a> {
    /// The source location of the following code.
    pub position: Position,
    /// The label of the inlined function's name, and the location of the call.
    pub inlined: Option<(&'a str, Position)>,
}

/// File, line and column of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file number.
    pub file: u32,
    /// Counted from one.
    pub line: u32,
    /// Counted from one.
    pub column: u32,
}

/// An instruction in the text.
#[derive(Debug)]
pub struct Instruction<'a> {
    pub place: PtxLocation,
    /// The guard predicate.
    pub guard: Option<Guard<'a>>,
    /// The part before the first dot.
    pub opcode: &'a str,
    /// Its modifiers: a range of `Body::modifiers`.
    pub modifiers: (u32, u32),
    /// The operands, each with its location.
    pub operands: Vec<(Operand<'a>, PtxLocation)>,
}

/// An instruction with operands in a syntax that the parser does not support: the rest of the body is in the tree.
#[derive(Debug)]
pub struct Unsupported<'a> {
    /// Location of the opcode.
    pub place: PtxLocation,
    /// The statement, from its guard to its `;`.
    pub text: &'a str,
    /// The part before the first dot.
    pub opcode: &'a str,
    /// Its modifiers: a range of `Body::modifiers`.
    pub modifiers: (u32, u32),
    /// The first token that the parser does not accept.
    pub error: SyntaxError,
}

/// `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    pub place: PtxLocation,
    /// The predicate register.
    pub predicate: &'a str,
    /// Whether the guard is complemented.
    pub negated: bool,
}

/// An operand in the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, variable, label, function, or the sink `_`; `offset` for `symbol+4`.
    Name {
        name: &'a str,
        /// Offset in bytes.
        offset: i64,
    },
    /// `%tid.x`.
    Component {
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
    /// `-%r3` or `-%r3.h1`, for `vmad` only.
    Negative {
        name: &'a str,
        /// The selector after the dot.
        component: Option<&'a str>,
    },
    /// `(a, b)` of a call.
    Group(Vec<Self>),
}

/// An address in brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct Address<'a> {
    /// A register or symbol; none for `[16]`.
    pub base: Option<&'a str>,
    /// Offset from the base in bytes.
    pub offset: i64,
    /// The operands after the base of `[tensor, {x, y}]` or `[texture, sampler, {x, y}]`, for textures and tensor
    /// copies only: names and vectors.
    pub coordinates: Vec<Operand<'a>>,
}
