//! The names of a body, scope by scope. PTX ISA, section "Identifiers", and the braces of inline assembly.
//!
//! A register gets its number when it is first used: `%r<100000>` costs nothing.

use std::collections::HashMap;

use super::super::isa::scalar::ScalarType;
use super::{CalleesId, LocalId, PrototypeId, Register, RegisterId, TargetsId};

/// What a name of a body stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Binding {
    /// One register, or the first of a vector's.
    Register {
        first: RegisterId,
        count: u32,
    },
    Local(LocalId),
    Parameter(u32),
    Return(u32),
    Prototype(PrototypeId),
    Targets(TargetsId),
    Callees(CalleesId),
}

/// A declared register that nothing has used yet, or a range of them.
#[derive(Clone, Copy)]
struct Unused {
    ty: ScalarType,
    vector: u32,
    /// `%r<17>`: names `%r0` to `%r16`.
    range: Option<u64>,
}

#[derive(Default)]
struct Scope<'a> {
    /// Tells scopes apart when labels are looked up.
    id: u32,
    bindings: HashMap<&'a str, Binding>,
    unused: HashMap<&'a str, Unused>,
}

/// The scopes that are open, innermost last.
pub(super) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    next_scope: u32,
    pub(super) registers: Vec<Register>,
}

/// A name that its scope already has.
pub(super) struct Taken;

impl<'a> Names<'a> {
    /// Braces may be nested so deep; inline assembly needs two or three levels.
    pub(super) const DEEPEST: usize = 32;

    pub(super) fn new() -> Self {
        Self { scopes: vec![Scope::default()], next_scope: 1, registers: Vec::new() }
    }

    /// False where it would be too deep.
    pub(super) fn open(&mut self) -> bool {
        let id = self.next_scope;
        self.next_scope += 1;
        self.scopes.push(Scope { id, ..Scope::default() });
        self.scopes.len() <= Self::DEEPEST
    }

    pub(super) fn close(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// The scopes that are open, innermost first.
    pub(super) fn open_scopes(&self) -> impl Iterator<Item = u32> + '_ {
        self.scopes.iter().rev().map(|scope| scope.id)
    }

    pub(super) fn bind(&mut self, name: &'a str, binding: Binding) -> Result<(), Taken> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.unused.contains_key(name) || scope.bindings.contains_key(name) {
            return Err(Taken);
        }
        scope.bindings.insert(name, binding);
        Ok(())
    }

    pub(super) fn declare_register(
        &mut self,
        name: &'a str,
        ty: ScalarType,
        vector: u32,
        range: Option<u64>,
    ) -> Result<(), Taken> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.bindings.contains_key(name) || scope.unused.contains_key(name) {
            return Err(Taken);
        }
        scope.unused.insert(name, Unused { ty, vector, range });
        Ok(())
    }

    /// What a name stands for, seen from the innermost scope.
    pub(super) fn find(&mut self, name: &'a str) -> Option<Binding> {
        let stem = numbered(name);
        for scope in self.scopes.iter_mut().rev() {
            if let Some(binding) = scope.bindings.get(name) {
                return Some(*binding);
            }
            if scope.unused.is_empty() {
                continue;
            }
            let single = scope.unused.get(name).copied().filter(|unused| unused.range.is_none());
            let ranged = || {
                let (stem, number) = stem?;
                let unused = scope.unused.get(stem).copied()?;
                unused.range.filter(|count| number < *count).map(|_| unused)
            };
            if let Some(unused) = single.or_else(ranged) {
                let first = RegisterId(self.registers.len() as u32);
                for _ in 0..unused.vector {
                    self.registers.push(Register { name: name.to_owned(), ty: unused.ty });
                }
                let binding = Binding::Register { first, count: unused.vector };
                scope.bindings.insert(name, binding);
                return Some(binding);
            }
        }
        None
    }

    pub(super) fn register_type(&self, id: RegisterId) -> ScalarType {
        self.registers.get(id.0 as usize).map_or(ScalarType::B32, |register| register.ty)
    }
}

/// `%r12` → (`%r`, 12); none where the digits are not a number's own spelling.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = &name[stem.len()..];
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    digits.parse().ok().map(|number| (stem, number))
}
