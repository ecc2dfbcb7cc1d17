//! The texts of a new project, generated without writing to disk.

use lightbench_cuda_source::host_launch::{self, PlacedLaunch};
use lightbench_cuda_source::{
    HeaderText, OmittedItem, Signature, Source, SourceLocation, brief, normalised, signature_of,
};

use super::device_code;
use super::error::ScaffoldError;
use super::guess;
use super::names;
use super::reference;
use super::render::{self, Subject};
use crate::block;
use crate::new_folder::PlannedFile;

/// The texts of a new project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The files, with `project.ron` first.
    pub files: Vec<PlannedFile>,
    /// The kernel that it was made from, `None` for the default project.
    pub signature: Option<Signature>,
    /// The launches of the kernel in the source's host code; the one with the most constants was used.
    pub launches: Vec<PlacedLaunch>,
    /// Parts of the source that the kernel file omits.
    pub left_out: Vec<OmittedItem>,
    /// The first position of the source that the parser could not read, if any: a macro or a mistake.
    pub unread: Option<UnparsedSpan>,
}

/// A place of a source that the parser could not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnparsedSpan {
    /// Where.
    pub place: SourceLocation,
    /// The text at this position.
    pub found: String,
}

/// A kernel source to make a project from.
#[derive(Debug, Clone, Copy)]
pub struct KernelSource<'text> {
    /// The name of the source in texts, such as `matmul.cu`; never opened.
    pub display_name: &'text str,
    /// The whole text.
    pub text: &'text str,
    /// The kernel's name, with or without namespaces; required if there are several.
    pub kernel: Option<&'text str>,
    /// The local headers that it includes, directly or not; the project gets their device parts.
    pub headers: &'text [HeaderText<'text>],
}

/// Plans a project around a kernel.
///
/// # Errors
///
/// If no kernel can be chosen or read, or if a parameter has no place in a project.
pub fn plan_from(kernel_source: &KernelSource<'_>) -> Result<Plan, ScaffoldError> {
    let text = normalised(kernel_source.text);
    let kept = kernel_source.headers.iter().filter(|header| device_code::can_be_kept(header.name));
    let kept: Vec<(&str, String)> =
        kept.map(|header| (header.name, normalised(header.text))).collect();
    let headers: Vec<HeaderText<'_>> =
        kept.iter().map(|(name, text)| HeaderText { name, text }).collect();
    let texts: Vec<&str> = headers.iter().map(|header| header.text).collect();
    let source = Source::with_headers(&text, &texts)?;
    refuse_launch_block(&source)?;
    let signature = signature_of(&source, kernel_source.kernel)?;
    if source.is_inactive(signature.body.start) {
        return Err(ScaffoldError::NotCompiled {
            kernel: signature.path(),
            place: signature.place,
        });
    }
    let launches = host_launch::find_all(&source, &signature.name);
    let host = host_launch::most_specific(&source, &launches);
    let host = host.map(|found| found.launch.clone()).unwrap_or_default();
    let guess = guess::guess(&source, &signature, &host)?;
    let code = device_code::extract(&source, &headers);
    let subject = Subject {
        path: signature.path(),
        name: file_stem(&signature.name),
        origin: origin(kernel_source.display_name),
        unfilled: device_code::unfilled_constants(&source),
    };
    let file = |path: &str, text: String| PlannedFile { path: path.to_owned(), text };
    let kernel = render::kernel(&subject, &guess, &code.kernel, &code.left_out);
    let mut files = vec![
        file("project.ron", render::project(&subject, &guess)),
        file("reference.cu", reference::reference(&subject, &guess)),
        file(&format!("kernels/{}.cu", subject.name), kernel),
        file("README.md", readme(&subject)),
    ];
    let local = headers.iter().zip(code.headers);
    files.extend(local.map(|(header, text)| file(&format!("include/{}", header.name), text)));
    let unread = source.first_error().map(|(place, found)| UnparsedSpan { place, found });
    Ok(Plan { files, signature: Some(signature), launches, left_out: code.left_out, unread })
}

/// The small complete project that `lightbench new` writes when no kernel is given.
pub fn plan_default() -> Plan {
    let files = [
        ("project.ron", include_str!("../../../../assets/new-project/saxpy/project.ron")),
        ("reference.cu", include_str!("../../../../assets/new-project/saxpy/reference.cu")),
        ("kernels/naive.cu", include_str!("../../../../assets/new-project/saxpy/kernels/naive.cu")),
        (
            "kernels/vectorised.cu",
            include_str!("../../../../assets/new-project/saxpy/kernels/vectorised.cu"),
        ),
        (
            "wrong/forgets-the-tail.cu",
            include_str!("../../../../assets/new-project/saxpy/wrong/forgets-the-tail.cu"),
        ),
        ("README.md", include_str!("../../../../assets/new-project/saxpy/README.md")),
    ];
    let planned =
        |(path, text): (&str, &str)| PlannedFile { path: path.to_owned(), text: text.to_owned() };
    Plan {
        files: files.into_iter().map(planned).collect(),
        signature: None,
        launches: Vec::new(),
        left_out: Vec::new(),
        unread: None,
    }
}

/// A comment that the project reader parses as a launch block, valid or not, would conflict with the generated one.
fn refuse_launch_block(source: &Source<'_>) -> Result<(), ScaffoldError> {
    let Some(&at) = block::openings(source.text()).first() else { return Ok(()) };
    let place = source.place(at);
    let is_ours = source.text()[at + "/*@".len()..].trim_start().starts_with(block::WORD);
    Err(if is_ours {
        ScaffoldError::HasLaunchBlock { place }
    } else {
        ScaffoldError::OtherBlock { place }
    })
}

/// File names that some systems keep for devices.
const DEVICE_FILES: [&str; 4] = ["con", "prn", "aux", "nul"];

fn file_stem(kernel: &str) -> String {
    let name = names::identifier(kernel);
    if DEVICE_FILES.contains(&name.to_ascii_lowercase().as_str()) {
        return format!("{name}_kernel");
    }
    name
}

/// The display name's last part, safe inside comments, Markdown and RON.
fn origin(display_name: &str) -> String {
    let last = display_name.rsplit(['/', '\\']).next().unwrap_or(display_name);
    let safe = brief(last, 60).replace(['`', '*', '<', '>', '"'], "_");
    if safe.is_empty() { "the source".to_owned() } else { safe }
}

fn readme(subject: &Subject) -> String {
    include_str!("../../../../assets/new-project/from-kernel/README.md")
        .replace("{{name}}", &subject.name)
        .replace("{{kernel}}", &subject.path)
        .replace("{{source}}", &subject.origin)
        .replace("{{guard}}", reference::GUARD)
}
