//! The report as one HTML file: no script, no external resources, light and dark colours, suitable for print.

use lightbench_primitives::display_text::visible_lines;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Output, State, escape_formatter};

use super::Page;

/// Renders the page. The template engine escapes every value, because the template's name ends in `.html`.
const TEMPLATE: (&str, &str) = ("page.html", include_str!("../../../assets/report/page.html"));

/// An error of the template, which does not happen because the template is built in.
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

/// Writes a value escaped for HTML, with control and directional characters written out. Only built-in markup is marked as
/// safe in the template.
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
