//! A file: its statements, and queries of them.

use crate::error::SourceError;
use crate::expression::Reader;
use crate::parse::parse;
use crate::syntax::{
    self, Call, Class, Expression, ExpressionKind, Function, Import, Statement, StatementKind,
};
use crate::walk::all_statements;

/// A Python file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The statements at the top level, in order.
    pub statements: Vec<Statement>,
}

impl Module {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// The text is too large, has a NUL character or a syntax error, or is hopeless for the parser.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let tree = parse(text)?;
        Ok(Self { statements: Reader { text }.statements(tree.root_node(), 0) })
    }

    /// The function of this name at the top level.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        syntax::functions(&self.statements).find(|function| function.name == name)
    }

    /// The functions at the top level, in order.
    #[must_use]
    pub fn functions(&self) -> Vec<&Function> {
        let mut found: Vec<_> = syntax::functions(&self.statements).collect();
        found.reverse();
        found
    }

    /// The classes at the top level, in order.
    pub fn classes(&self) -> impl Iterator<Item = &Class> {
        self.statements.iter().filter_map(|statement| {
            let StatementKind::Class(class) = &statement.kind else { return None };
            Some(class)
        })
    }

    /// The names that imports bind at the top level.
    pub fn imports(&self) -> impl Iterator<Item = &Import> {
        self.statements.iter().flat_map(|statement| {
            let StatementKind::Import(imports) = &statement.kind else { return [].iter() };
            imports.iter()
        })
    }

    /// A dotted name with the imported first part written out: `F.relu` becomes `torch.nn.functional.relu`.
    #[must_use]
    pub fn full_name(&self, dotted: &str) -> String {
        let (first, rest) = dotted.split_once('.').unwrap_or((dotted, ""));
        // `import a.b` binds `a`, whose full name is `a`.
        let bound = |import: &&Import| {
            import.name == first && !import.path.starts_with(&format!("{first}."))
        };
        match (self.imports().find(bound), rest) {
            (None, _) => dotted.to_owned(),
            (Some(import), "") => import.path.clone(),
            (Some(import), rest) => format!("{}.{rest}", import.path),
        }
    }

    /// All statements, those inside others too, in the order of the text.
    #[must_use]
    pub fn all_statements(&self) -> Vec<&Statement> {
        all_statements(&self.statements)
    }

    /// All calls, wherever they are, each with its expression.
    #[must_use]
    pub fn calls(&self) -> Vec<(&Expression, &Call)> {
        let statements = self.all_statements().into_iter();
        let expressions = statements.flat_map(Statement::all_expressions);
        expressions
            .filter_map(|expression| {
                let ExpressionKind::Call(call) = &expression.kind else { return None };
                Some((expression, &**call))
            })
            .collect()
    }

    /// The calls of a function, whose dotted name is `name` or ends with `.name`.
    pub fn calls_of(&self, name: &str) -> impl Iterator<Item = (&Expression, &Call)> {
        self.calls().into_iter().filter(move |(_, call)| {
            call.function
                .dotted_name()
                .is_some_and(|dotted| dotted.rsplit('.').next() == Some(name))
        })
    }
}
