//! Renders a draft as the files of a project, with each question above the place of its answer.

use lightbench_project::manifest::DomainWritten;
use lightbench_project::manifest::{
    AxisWritten, BaselineWritten, BlockOrder, Evidence, IntermediateRounding, LARGEST_AXIS,
    LayoutWritten, LimitsWritten, Manifest, ScalarDomainWritten, ScalarWritten, SubnormalsWritten,
    SummationWritten, TensorWritten, WorkBytesWritten, WorkloadWritten,
};
use lightbench_project::new_folder::PlannedFile;

use crate::draft::{DEFAULT_ALIGN, Draft, KernelFile, ReferenceFile};
use crate::report::{Need, Place, PlacedQuestion, Question, Report};
use crate::ron::{self, quoted};

/// The files of a project, and the places of the questions in them.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) files: Vec<PlannedFile>,
    pub(crate) questions: Vec<PlacedQuestion>,
}

/// Renders all files.
pub(crate) fn render(draft: &Draft, report: &Report) -> Rendered {
    let mut page = Page::new("project.ron", "//", &report.questions);
    manifest(&mut page, &draft.manifest);
    ask_elsewhere(&mut page, draft);
    let mut rendered = Rendered { files: Vec::new(), questions: Vec::new() };
    rendered.add(page);
    let (file, comment, text) = match &draft.reference {
        ReferenceFile::Python(text) => ("reference.py", "#", text),
        ReferenceFile::Cuda(text) => ("reference.cu", "//", text),
    };
    let mut page = Page::new(file, comment, &report.questions);
    page.ask(&Place::Reference);
    page.text.push_str(text);
    rendered.add(page);
    for kernel in &draft.kernels {
        rendered.add(kernel_page(kernel, &report.questions));
    }
    for header in &draft.includes {
        let path = format!("include/{}", header.name);
        rendered.files.push(PlannedFile { path, text: header.text.clone() });
    }
    let path = "README.md".to_owned();
    rendered.files.push(PlannedFile { path, text: readme(draft, report, &rendered.questions) });
    rendered
}

/// Questions about parts that the project does not have stand at the end of `project.ron`.
fn ask_elsewhere(page: &mut Page<'_>, draft: &Draft) {
    let places = page.questions.iter().map(|question| &question.place);
    let lost: Vec<&Place> = places.filter(|place| !has_place(page, draft, place)).collect();
    let mut asked: Vec<&Place> = Vec::new();
    for place in lost {
        if !asked.contains(&place) {
            page.ask(place);
            asked.push(place);
        }
    }
}

/// Whether a question about this place is written where the place is.
fn has_place(page: &Page<'_>, draft: &Draft, place: &Place) -> bool {
    let is_asked = page.asked.iter().any(|placed| placed.question.place == *place);
    let names_kernel = |name: &str| draft.kernels.iter().any(|kernel| kernel.name == name);
    is_asked || *place == Place::Reference || place.kernel().is_some_and(names_kernel)
}

impl Rendered {
    fn add(&mut self, page: Page<'_>) {
        self.files.push(PlannedFile { path: page.file, text: page.text });
        self.questions.extend(page.asked);
    }
}

fn kernel_page<'a>(kernel: &KernelFile, questions: &'a [Question]) -> Page<'a> {
    let comment = if kernel.name.ends_with(".py") { "#" } else { "//" };
    let mut page = Page::new(&format!("kernels/{}", kernel.name), comment, questions);
    page.ask(&Place::Kernel(kernel.name.clone()));
    page.text.push_str(&kernel.text);
    page
}

/// A text that grows by lines, and the questions that were written into it.
struct Page<'a> {
    file: String,
    comment: &'static str,
    text: String,
    questions: &'a [Question],
    asked: Vec<PlacedQuestion>,
}

impl<'a> Page<'a> {
    fn new(file: &str, comment: &'static str, questions: &'a [Question]) -> Self {
        let (file, text) = (file.to_owned(), String::new());
        Self { file, comment, text, questions, asked: Vec::new() }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes the questions about a place as comments.
    fn ask(&mut self, place: &Place) {
        let indent = if self.file == "project.ron" { "    " } else { "" };
        for question in self.questions.iter().filter(|question| question.place == *place) {
            let word = match question.need {
                Need::Confirm => "confirm",
                Need::Answer => "question",
            };
            let line = self.text.matches('\n').count() + 1;
            let (name, text) = (one_line(&question.name), one_line(&question.text));
            self.line(&format!("{indent}{} {word} {name}: {text}", self.comment));
            let (question, file) = (question.clone(), self.file.clone());
            self.asked.push(PlacedQuestion { question, file, line });
        }
    }
}

/// One line of plain characters.
pub(crate) fn one_line(text: &str) -> String {
    let plain = |letter: char| {
        let keep = !letter.is_control() && !ron::is_invisible(letter);
        if keep { letter } else { ' ' }
    };
    let text: String = text.chars().map(plain).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn manifest(page: &mut Page<'_>, manifest: &Manifest) {
    page.line("(");
    page.line(&format!("    schema: {},", manifest.schema));
    page.line(&format!("    name: {},", quoted(&manifest.name)));
    page.line(&format!("    title: {},", quoted(&title(manifest))));
    if !manifest.summary.trim().is_empty() {
        page.line(&format!("    summary: {},", quoted(&one_line(&manifest.summary))));
    }
    block(page, "axes", &manifest.axes, |each| Place::Axis(each.name.clone()), axis);
    if !manifest.scalars.is_empty() {
        block(page, "scalars", &manifest.scalars, |each| Place::Scalar(each.name.clone()), scalar);
    }
    block(page, "tensors", &manifest.tensors, |each| Place::Tensor(each.name.clone()), tensor);
    page.line(&format!("    arguments: {},", ron::texts(&manifest.arguments)));
    page.ask(&Place::Accuracy);
    page.line(&format!("    accuracy: {},", ron::accuracy(manifest.accuracy)));
    choices(page, manifest);
    page.ask(&Place::Work);
    page.line(&format!("    work: {},", work(manifest)));
    page.ask(&Place::Workloads);
    page.line("    workloads: [");
    for each in &manifest.workloads {
        page.line(&format!("        {},", workload(each)));
    }
    page.line("    ],");
    if !manifest.baselines.is_empty() {
        let baselines = ron::list(manifest.baselines.iter().map(baseline));
        page.line(&format!("    baselines: {baselines},"));
    }
    policy(page, manifest.policy.refuse.as_deref());
    limits(page, &manifest.limits);
    page.line(")");
}

fn title(manifest: &Manifest) -> String {
    let title = one_line(&manifest.title);
    if title.is_empty() { manifest.name.clone() } else { title }
}

/// A list of structs, one a line, each below the questions about it.
fn block<T>(
    page: &mut Page<'_>,
    field: &str,
    items: &[T],
    place: impl Fn(&T) -> Place,
    written: impl Fn(&T) -> String,
) {
    page.line(&format!("    {field}: ["));
    for item in items {
        page.ask(&place(item));
        page.line(&format!("        {},", written(item)));
    }
    page.line("    ],");
}

/// The fields of a struct, without those that are empty.
fn fields(fields: &[(&str, String)]) -> String {
    let written = fields.iter().filter(|(_, value)| !value.is_empty());
    let written: Vec<String> = written.map(|(name, value)| format!("{name}: {value}")).collect();
    format!("({})", written.join(", "))
}

/// A value that differs from the format's default, else nothing.
fn unless(is_default: bool, value: impl FnOnce() -> String) -> String {
    if is_default { String::new() } else { value() }
}

fn note(text: &str) -> String {
    unless(text.trim().is_empty(), || quoted(&one_line(text)))
}

fn axis(axis: &AxisWritten) -> String {
    fields(&[
        ("name", quoted(&axis.name)),
        ("min", axis.min.to_string()),
        ("max", unless(axis.max == LARGEST_AXIS, || axis.max.to_string())),
        ("multiple_of", unless(axis.multiple_of == 1, || axis.multiple_of.to_string())),
        ("note", note(&axis.note)),
    ])
}

fn scalar(scalar: &ScalarWritten) -> String {
    let domain = scalar.domain;
    fields(&[
        ("name", quoted(&scalar.name)),
        ("dtype", scalar.dtype.name().to_owned()),
        ("value", ron::number(scalar.value)),
        ("domain", unless(domain == ScalarDomainWritten::Any, || ron::scalar_domain(domain))),
        ("note", note(&scalar.note)),
    ])
}

fn tensor(tensor: &TensorWritten) -> String {
    let distributions = tensor
        .distributions
        .as_ref()
        .map(|all| ron::list(all.iter().map(|each| ron::distribution(*each).to_owned())));
    let scales = tensor.scales.as_ref().map(|scales| {
        fields(&[("tensor", quoted(&scales.tensor)), ("block", scales.block.to_string())])
    });
    fields(&[
        ("name", quoted(&tensor.name)),
        ("dtype", tensor.dtype.name().to_owned()),
        ("shape", ron::expressions(&tensor.shape)),
        ("role", ron::role(tensor.role).to_owned()),
        ("fill", tensor.fill.as_ref().map(ron::fill).unwrap_or_default()),
        (
            "layout",
            unless(tensor.layout == LayoutWritten::RowMajor, || ron::layout(&tensor.layout)),
        ),
        ("align", unless(tensor.align == DEFAULT_ALIGN, || tensor.align.to_string())),
        ("alias", unless(tensor.alias.is_empty(), || ron::texts(&tensor.alias))),
        ("domain", unless(tensor.domain == DomainWritten::Any, || ron::domain(&tensor.domain))),
        ("distributions", distributions.unwrap_or_default()),
        ("compare", tensor.compare.as_ref().map(ron::comparator).unwrap_or_default()),
        ("init", tensor.init.map(|init| ron::init(init).to_owned()).unwrap_or_default()),
        ("scales", scales.unwrap_or_default()),
    ])
}

/// Choices that differ from the format's defaults.
fn choices(page: &mut Page<'_>, manifest: &Manifest) {
    if manifest.block_order == BlockOrder::Any {
        page.line("    block_order: any,");
    }
    if let SummationWritten::Blocked(terms) = manifest.summation {
        page.line(&format!("    summation: blocked({terms}),"));
    }
    if manifest.subnormals == SubnormalsWritten::Keep {
        page.line("    subnormals: keep,");
    }
    if manifest.intermediate_rounding == IntermediateRounding::Ignored {
        page.line("    intermediate_rounding: ignored,");
    }
}

fn work(manifest: &Manifest) -> String {
    let operations = ron::list(manifest.work.operations.iter().map(|each| {
        let count = ron::quoted(&each.count.0);
        format!("(kind: {}, count: {count})", ron::operation(each.kind))
    }));
    let bytes = match &manifest.work.bytes {
        WorkBytesWritten::Automatic => String::new(),
        WorkBytesWritten::Formula(count) => format!("formula({})", quoted(&count.0)),
    };
    fields(&[("operations", operations), ("bytes", bytes)])
}

fn workload(workload: &WorkloadWritten) -> String {
    let map = |entries: Vec<String>| format!("{{{}}}", entries.join(", "));
    let axes = workload.axes.0.iter().map(|(name, size)| format!("{}: {size}", quoted(name)));
    let scalars = workload.scalars.0.iter();
    let scalars = scalars.map(|(name, value)| format!("{}: {}", quoted(name), ron::number(*value)));
    let fills = workload.fills.0.iter();
    let fills = fills.map(|(name, fill)| format!("{}: {}", quoted(name), ron::fill(fill)));
    fields(&[
        ("name", quoted(&workload.name)),
        ("purpose", ron::purpose(workload.purpose).to_owned()),
        ("axes", map(axes.collect())),
        ("scalars", unless(workload.scalars.0.is_empty(), || map(scalars.collect()))),
        ("fills", unless(workload.fills.0.is_empty(), || map(fills.collect()))),
        ("note", note(&workload.note)),
    ])
}

fn baseline(baseline: &BaselineWritten) -> String {
    match baseline {
        BaselineWritten::Kernel(name) => format!("kernel({})", quoted(name)),
        BaselineWritten::Library(library) => format!("library({})", ron::library(library)),
        BaselineWritten::Pytorch(name) => format!("pytorch({})", quoted(name)),
        BaselineWritten::Recorded { name, device, workload, seconds, source } => format!(
            "recorded(name: {}, device: {}, workload: {}, seconds: {seconds:?}, source: {})",
            quoted(name),
            quoted(device),
            quoted(workload),
            quoted(source)
        ),
    }
}

fn policy(page: &mut Page<'_>, refuse: Option<&[Evidence]>) {
    if let Some(refuse) = refuse {
        let words = ron::list(refuse.iter().map(|each| ron::evidence(*each).to_owned()));
        page.line(&format!("    policy: (refuse: {words}),"));
    }
}

fn limits(page: &mut Page<'_>, limits: &LimitsWritten) {
    let shown = |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
    let written = fields(&[
        ("compile_secs", shown(limits.compile_secs)),
        ("launch_secs", shown(limits.launch_secs)),
        ("device_bytes", shown(limits.device_bytes)),
        ("virtual_steps", shown(limits.virtual_steps)),
    ]);
    if written != "()" {
        page.line(&format!("    limits: {written},"));
    }
}

fn readme(draft: &Draft, report: &Report, questions: &[PlacedQuestion]) -> String {
    let mut text = format!("# {}\n", markdown(&title(&draft.manifest)));
    let mut paragraph = |words: &str| text.push_str(&format!("\n{words}\n"));
    if !draft.manifest.summary.trim().is_empty() {
        paragraph(&markdown(&draft.manifest.summary));
    }
    paragraph(&format!("Imported from {}.", report.format.words()));
    for note in &draft.notes {
        paragraph(&markdown(note));
    }
    if !questions.is_empty() {
        paragraph("To confirm or answer:");
        let lines: Vec<String> = questions
            .iter()
            .map(|placed| {
                let (file, line) = (&placed.file, placed.line);
                format!("* {file}, line {line}: {}", markdown(&placed.question.text))
            })
            .collect();
        paragraph(&lines.join("\n"));
    }
    if !report.left_out.is_empty() {
        paragraph("Left out:");
        let line = |part: &crate::LeftOut| {
            format!("* {}: {}", markdown(&part.what), markdown(&part.reason))
        };
        paragraph(&report.left_out.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    text
}

/// Text of a stranger in Markdown: one line, without markup.
fn markdown(text: &str) -> String {
    let mut plain = String::new();
    for letter in one_line(text).chars() {
        if matches!(letter, '\\' | '*' | '<' | '>' | '[' | ']' | '#' | '|' | '!') {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}
