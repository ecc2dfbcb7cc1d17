//! The page as one HTML file: no script, nothing fetched, light and dark, fit for paper.

use lightbench_primitives::display_text::visible_lines;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Output, State, escape_formatter};

use super::Page;

/// The text of the page. Everything that is put into it is escaped, as the name's ending says to the engine.
const TEMPLATE: (&str, &str) = ("page.html", include_str!("../../../assets/report/page.html"));

/// Why there is no page; the template is ours, so that it does not happen.
#[derive(Debug, thiserror::Error)]
#[error("the report's template is wrong: {0}")]
pub struct PageError(#[from] minijinja::Error);

/// The page as an HTML document.
///
/// # Errors
/// See [`PageError`].
pub fn html(page: &Page) -> Result<String, PageError> {
    let mut environment = Environment::new();
    environment.set_formatter(format_visibly);
    let (name, text) = TEMPLATE;
    environment.add_template(name, text)?;
    Ok(environment.get_template(name)?.render(Serde(page))?)
}

/// Writes a value escaped for HTML, with its control and directional characters written out. What the template marks as
/// safe is markup of ours.
fn format_visibly(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(visible_lines(text))),
        None => escape_formatter(out, state, value),
    }
}
