//! The page as one HTML file: no script, nothing fetched, light and dark, fit for paper.

use minijinja::Environment;
use minijinja::value::Serde;

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
    let (name, text) = TEMPLATE;
    environment.add_template(name, text)?;
    Ok(environment.get_template(name)?.render(Serde(page))?)
}
