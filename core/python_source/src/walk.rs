//! What lies anywhere inside statements; not recursive, in the order of the text.

use crate::syntax::{Expression, Function, Statement};

impl Function {
    /// All statements of the body, those inside others too.
    #[must_use]
    pub fn all_statements(&self) -> Vec<&Statement> {
        all_statements(&self.body)
    }
}

pub(crate) fn all_statements(statements: &[Statement]) -> Vec<&Statement> {
    let mut pending: Vec<_> = statements.iter().rev().collect();
    let mut found = Vec::new();
    while let Some(statement) = pending.pop() {
        found.push(statement);
        pending.extend(statement.inner().into_iter().rev());
    }
    found
}

impl Statement {
    /// All expressions of this statement, those inside others too, without those of statements inside it.
    #[must_use]
    pub fn all_expressions(&self) -> Vec<&Expression> {
        let mut pending = self.expressions();
        pending.reverse();
        let mut found = Vec::new();
        while let Some(expression) = pending.pop() {
            found.push(expression);
            pending.extend(expression.parts().into_iter().rev());
        }
        found
    }
}
