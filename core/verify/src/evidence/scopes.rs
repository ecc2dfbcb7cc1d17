//! What the names of a body stand for: something declared in a scope that is open, or something of the module's.
//!
//! Inline assembly opens scopes and declares registers in them, under the same names again and again.

use std::collections::HashMap;

use lightbench_ptx::PtxLocation;
use lightbench_ptx::tree::{Declaration, Function, Statement};

use super::Unreadable;

/// What a name of a body was declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// A register.
    Register,
    /// A parameter of a call that is prepared here, or of this function.
    Parameter,
    /// What this function returns.
    Return,
    /// A variable in another state space.
    Variable,
}

/// A declared name and the scope that declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Local<'t> {
    pub(super) scope: u32,
    pub(super) kind: Kind,
    pub(super) name: &'t str,
}

#[derive(Default)]
struct Scope<'t> {
    id: u32,
    names: HashMap<&'t str, Kind>,
    /// `%r<17>`, by stem.
    ranges: HashMap<&'t str, Kind>,
}

/// The scopes that are open, innermost last.
pub(super) struct Scopes<'t> {
    open: Vec<Scope<'t>>,
    next: u32,
}

impl<'t> Scopes<'t> {
    /// Braces may be nested so deep; inline assembly needs two or three levels.
    pub(super) const DEEPEST: usize = 32;

    /// At the beginning of a body: its parameters are declared.
    pub(super) fn from_function(function: &Function<'t>) -> Self {
        let mut scopes = Self { open: vec![Scope::default()], next: 1 };
        for parameter in &function.signature.parameters {
            // Old-ABI parameters are registers: what is stored behind them is no preparation of a call.
            let is_register = parameter.space == "reg";
            scopes.add(parameter, if is_register { Kind::Register } else { Kind::Parameter });
        }
        for result in &function.signature.returns {
            scopes.add(result, Kind::Return);
        }
        scopes
    }

    /// Takes in a statement that is no instruction.
    pub(super) fn enter(&mut self, statement: &Statement<'t>) -> Result<(), Unreadable> {
        match statement {
            Statement::Open(place) => self.open(*place)?,
            Statement::Close => self.close(),
            Statement::Declaration(declaration) => self.declare(declaration),
            Statement::Label(..)
            | Statement::Instruction(_)
            | Statement::Location(..)
            | Statement::Unsupported(_)
            | Statement::Prototype { .. }
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. } => {}
        }
        Ok(())
    }

    fn open(&mut self, place: PtxLocation) -> Result<(), Unreadable> {
        if self.open.len() > Self::DEEPEST {
            return Err(Unreadable::TooDeep { place });
        }
        self.open.push(Scope { id: self.next, ..Scope::default() });
        self.next += 1;
        Ok(())
    }

    fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    fn declare(&mut self, declaration: &Declaration<'t>) {
        let kind = match declaration.space {
            "reg" => Kind::Register,
            "param" => Kind::Parameter,
            // These have the module's lifetime wherever they are declared: `globals` handles them.
            "global" | "const" => return,
            _ => Kind::Variable,
        };
        self.add(declaration, kind);
    }

    fn add(&mut self, declaration: &Declaration<'t>, kind: Kind) {
        let Some(scope) = self.open.last_mut() else { return };
        let names = match declaration.range {
            Some(_) => &mut scope.ranges,
            None => &mut scope.names,
        };
        names.insert(declaration.name, kind);
    }

    /// What a name stands for here; none for the module's names and for special registers.
    pub(super) fn find(&self, name: &'t str) -> Option<Local<'t>> {
        let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
        self.open.iter().rev().find_map(|scope| {
            let kind = scope.names.get(name).or_else(|| scope.ranges.get(stem))?;
            Some(Local { scope: scope.id, kind: *kind, name })
        })
    }
}
