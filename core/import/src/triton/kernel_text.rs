//! The text of one kernel without its file, as logs have it.

use std::collections::BTreeMap;

use lightbench_python_source::{Expression, ExpressionKind, Function, Module};

use super::kernel::{kernels, may_sum, method};

/// What the text of one kernel says about its parameters.
pub(crate) struct KernelText {
    /// The parameters that the kernel uses as pointers: their names, and whether it reads and writes there.
    pub(crate) pointers: BTreeMap<String, (bool, bool)>,
    pub(crate) may_sum: bool,
    /// The names `x` and `y` of each `tl.cdiv(x, y)`, in the order of the text.
    pub(crate) quotients: Vec<(String, String)>,
}

impl KernelText {
    /// Reads the text of a function with its decorators.
    ///
    /// # Errors
    ///
    /// In words: the text is no Python, or has no kernel of this name.
    pub(crate) fn read(text: &str, name: &str) -> Result<Self, String> {
        let module = Module::parse(text).map_err(|error| error.to_string())?;
        let kernels = kernels(&module);
        let kernel = kernels.get(name).ok_or_else(|| format!("no kernel `{name}`"))?;
        let pointers = kernel.parameters.iter().filter(|each| each.access.is_pointer());
        let pointers = pointers
            .map(|each| (each.name.clone(), (each.access.reads, each.access.writes)))
            .collect();
        let statements = module.function(name).map(Function::all_statements).unwrap_or_default();
        let expressions = statements.iter().flat_map(|statement| statement.all_expressions());
        let mut quotients = Vec::new();
        for expression in expressions {
            let ExpressionKind::Call(call) = &expression.kind else { continue };
            let names = [(0, "x"), (1, "div")].map(|(position, name)| {
                call.argument(position, name).and_then(Expression::dotted_name)
            });
            if let ("cdiv", [Some(size), Some(unit)]) = (method(call).as_str(), names)
                && !quotients.contains(&(size.clone(), unit.clone()))
            {
                quotients.push((size, unit));
            }
        }
        Ok(Self { pointers, may_sum: may_sum(&module, &kernels), quotients })
    }
}
