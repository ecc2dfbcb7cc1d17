//! `lightbench new`: creates a project.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use lightbench_core::cuda_source::host_launch::PlacedLaunch;
use lightbench_core::display_text::visible;
use lightbench_core::project::local_headers;
use lightbench_core::project::new_folder::FolderError;
use lightbench_core::project::scaffold::{
    self, HeaderText, KernelSource, OmittedItem, Plan, ScaffoldError, Written,
};

use crate::args::New;
use crate::outcome::Outcome;
use crate::report;

/// Maximum size of a kernel file in the project format.
const MAX_BYTES: u64 = 1 << 20;

/// Writes a project and reports the next steps.
pub fn run(arguments: &New) -> Outcome {
    let written = match &arguments.from {
        None => scaffold::write_default(&arguments.folder).map_err(NewError::from),
        Some(source) => from_kernel(arguments, source),
    };
    match written {
        Ok(written) => Outcome::passed(report(&written)),
        Err(NewError::Request(message)) => report::request(&message, false),
        Err(NewError::Folder(error)) => report::folder_unwritten(&error, false),
    }
}

/// Why no project was created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewError {
    /// The request is wrong.
    #[error("{0}")]
    Request(String),
    /// The folder cannot be written.
    #[error(transparent)]
    Folder(FolderError),
}

impl From<ScaffoldError> for NewError {
    fn from(error: ScaffoldError) -> Self {
        match error {
            ScaffoldError::Folder(error) => Self::Folder(error),
            ScaffoldError::Source(_)
            | ScaffoldError::Parameter { .. }
            | ScaffoldError::TemplateParameter { .. }
            | ScaffoldError::NotCompiled { .. }
            | ScaffoldError::NoOutput { .. }
            | ScaffoldError::HasLaunchBlock { .. }
            | ScaffoldError::OtherBlock { .. } => Self::Request(error.to_string()),
        }
    }
}

impl From<String> for NewError {
    fn from(message: String) -> Self {
        Self::Request(message)
    }
}

pub(crate) fn from_kernel(arguments: &New, source: &Path) -> Result<Written, NewError> {
    let shown = source.display().to_string();
    let text = read(source).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let name = source.file_name().map_or_else(String::new, |name| name.display().to_string());
    check_folders(&arguments.include_folders)?;
    let found = local_headers(source, &text, &arguments.include_folders);
    let headers: Vec<HeaderText<'_>> = found
        .iter()
        .map(|header| HeaderText { name: &header.name, text: &header.source })
        .collect();
    let kernel = arguments.kernel.as_deref();
    let described = KernelSource { display_name: &name, text: &text, kernel, headers: &headers };
    // Errors about the source name its file and line, errors about the folder name the folder.
    scaffold::write_from(&arguments.folder, &described).map_err(|error| match error.into() {
        NewError::Request(message) => NewError::Request(format!("{shown}: {message}")),
        folder @ NewError::Folder(_) => folder,
    })
}

/// Refuses a folder of `-I` that is none.
pub(super) fn check_folders(folders: &[PathBuf]) -> Result<(), String> {
    match folders.iter().find(|folder| !folder.is_dir()) {
        Some(missing) => Err(format!("`-I {}`: expected an existing folder", missing.display())),
        None => Ok(()),
    }
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

pub(crate) fn report(written: &Written) -> String {
    let folder = written.folder.display().to_string();
    let mut text = format!("wrote {}\n", visible(&folder));
    for file in &written.plan.files {
        writeln!(text, "  {}", visible(&file.path)).ok();
    }
    text.push_str(&launches(&written.plan));
    text.push_str(&what_was_left_out(&written.plan));
    if written.plan.signature.is_some() {
        text.push_str("\nShapes, sizes and the launch are guesses, marked `guess:` in the files; you must write the reference.\n");
    }
    let first = if written.plan.signature.is_some() { "write reference.cu, then " } else { "" };
    writeln!(text, "\nnext: {first}lightbench check {}", visible(&folder)).ok();
    text
}

/// Several launches of the kernel, of which one was used.
fn launches(plan: &Plan) -> String {
    if plan.launches.len() < 2 {
        return String::new();
    }
    let mut text = "\nlaunches in the source (used: the one with the most constants):\n".to_owned();
    for PlacedLaunch { place, launch } in &plan.launches {
        let configuration = [&launch.grid, &launch.block, &launch.shared];
        let parts: Vec<&str> = configuration.into_iter().flatten().map(String::as_str).collect();
        let arguments = match launch.template_arguments.as_slice() {
            [] => String::new(),
            all => format!("<{}>", all.join(", ")),
        };
        let shown = format!("{arguments}<<<{}>>>", parts.join(", "));
        writeln!(text, "  {place}  {}", visible(&shown)).ok();
    }
    text
}

fn what_was_left_out(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.left_out.is_empty() {
        text.push_str("\nomitted (host code, and headers that the device compiler lacks):\n");
    }
    text.push_str(&omitted_items(&plan.left_out));
    if let Some(unread) = &plan.unread {
        writeln!(text, "\n{}: cannot be read: {}", unread.place, visible(&unread.found)).ok();
    }
    text
}

/// One line for each omitted item: its header if it is in one, its place, and its beginning.
fn omitted_items(left_out: &[OmittedItem]) -> String {
    let mut text = String::new();
    for item in left_out {
        let file = item.header.as_ref().map(|name| format!("{}:", visible(name)));
        let file = file.unwrap_or_default();
        writeln!(text, "  {file}{}  {}", item.place, visible(&item.what)).ok();
    }
    text
}
