//! The names of a function body, scope by scope. PTX ISA, section "Identifiers", and the braces of inline assembly.
//!
//! A register gets its number at its first use, so that `%r<100000>` takes no memory.

use std::collections::HashMap;

use super::super::isa::scalar::ScalarType;
use super::{CalleesId, LocalId, PrototypeId, Register, RegisterId, TargetsId};

/// The meaning of a name in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Binding {
    /// One register, or the first component of a vector register.
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

/// A declared register that is not used yet, or a range of them.
#[derive(Clone, Copy)]
struct UnusedRegisters {
    ty: ScalarType,
    vector: u32,
    /// `%r<17>`: names `%r0` to `%r16`.
    range: Option<u64>,
}

#[derive(Default)]
struct Scope<'a> {
    /// Distinguishes scopes when labels are looked up.
    id: u32,
    bindings: HashMap<&'a str, Binding>,
    unused: HashMap<&'a str, UnusedRegisters>,
}

/// The open scopes, innermost last.
pub(super) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    next_scope: u32,
    pub(super) registers: Vec<Register>,
}

/// A name that its scope already declares.
pub(super) struct NameTaken;

impl<'a> Names<'a> {
    /// The limit of nested braces; inline assembly needs two or three levels.
    pub(super) const DEEPEST: usize = 32;

    pub(super) fn new() -> Self {
        Self { scopes: vec![Scope::default()], next_scope: 1, registers: Vec::new() }
    }

    /// Opens a scope; returns false at the limit.
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

    /// The open scopes, innermost first.
    pub(super) fn open_scopes(&self) -> impl Iterator<Item = u32> + '_ {
        self.scopes.iter().rev().map(|scope| scope.id)
    }

    pub(super) fn bind(&mut self, name: &'a str, binding: Binding) -> Result<(), NameTaken> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.unused.contains_key(name) || scope.bindings.contains_key(name) {
            return Err(NameTaken);
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
    ) -> Result<(), NameTaken> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.bindings.contains_key(name) || scope.unused.contains_key(name) {
            return Err(NameTaken);
        }
        scope.unused.insert(name, UnusedRegisters { ty, vector, range });
        Ok(())
    }

    /// The meaning of a name in the innermost scope that declares it.
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

/// `%r12` → (`%r`, 12); none if the digits are not the shortest form of a number.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = &name[stem.len()..];
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    digits.parse().ok().map(|number| (stem, number))
}
