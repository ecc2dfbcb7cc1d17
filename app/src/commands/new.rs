//! `lightbench new`: creates a project.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use lightbench_core::display_text::{visible, visible_lines};
use lightbench_core::project::scaffold::{self, Plan, ScaffoldError, Written};

use crate::args::New;
use crate::outcome::{Outcome, Status};

/// Maximum size of a kernel file in the project format.
const MAX_BYTES: u64 = 1 << 20;

/// Writes a project and reports the next steps.
pub fn run(arguments: &New) -> Outcome {
    let written = match &arguments.from {
        None => scaffold::write_default(&arguments.folder).map_err(|error| error.to_string()),
        Some(source) => from_kernel(arguments, source),
    };
    match written {
        Ok(written) => Outcome::passed(report(&written)),
        Err(message) => Outcome::failed(Status::BadRequest, visible_lines(&message)),
    }
}

fn from_kernel(arguments: &New, source: &Path) -> Result<Written, String> {
    let shown = source.display().to_string();
    let text = read(source).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let name = source.file_name().map_or_else(String::new, |name| name.display().to_string());
    scaffold::write_from(&arguments.folder, &name, &text, arguments.kernel.as_deref())
        .map_err(|error| placed(&shown, &error))
}

fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    // One byte more than allowed distinguishes a file that is too large from one that just fits.
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        let size = metadata.len();
        return Err(io::Error::other(format!("{size} bytes; the limit is {MAX_BYTES}")));
    }
    Ok(text)
}

/// Errors about the source name the line; errors about the folder name the folder.
fn placed(source: &str, error: &ScaffoldError) -> String {
    match error {
        ScaffoldError::NotEmpty { .. }
        | ScaffoldError::Occupied { .. }
        | ScaffoldError::NoParent { .. }
        | ScaffoldError::NoName { .. }
        | ScaffoldError::Io { .. } => error.to_string(),
        ScaffoldError::Source(_)
        | ScaffoldError::Parameter { .. }
        | ScaffoldError::TemplateParameter { .. }
        | ScaffoldError::NoOutput { .. }
        | ScaffoldError::HasLaunchBlock { .. }
        | ScaffoldError::OtherBlock { .. } => format!("{source}: {error}"),
    }
}

fn report(written: &Written) -> String {
    let folder = written.folder.display().to_string();
    let mut text = format!("wrote {}\n", visible(&folder));
    for file in &written.plan.files {
        writeln!(text, "  {}", visible(&file.path)).ok();
    }
    text.push_str(&what_was_left_out(&written.plan));
    if written.plan.signature.is_some() {
        text.push_str("\nShapes, sizes and the launch are guesses, marked `guess:` in the files; you must write the reference.\n");
    }
    let first = if written.plan.signature.is_some() { "write reference.cu, then " } else { "" };
    writeln!(text, "\nnext: {first}lightbench check {}", visible(&folder)).ok();
    text
}

fn what_was_left_out(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.left_out.is_empty() {
        text.push_str("\nomitted (host code, and headers that the device compiler lacks):\n");
    }
    for item in &plan.left_out {
        writeln!(text, "  {}  {}", item.place, visible(&item.what)).ok();
    }
    if let Some(unread) = &plan.unread {
        writeln!(text, "\n{}: cannot be read: {}", unread.place, visible(&unread.found)).ok();
    }
    text
}
