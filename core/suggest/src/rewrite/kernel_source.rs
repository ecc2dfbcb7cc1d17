//! A kernel file as its syntax tree, with the definition and launches of its project: the input of rules.

use std::ops::Range;

use lightbench_cuda_source::{Node, Source, SourceError, is_kernel};
use lightbench_project::kernel::launch_block;
use lightbench_project::launch::LaunchStep;
use lightbench_project::launch::Step;
use lightbench_project::{Definition, Kernel, Language, Launch, Located, Project};

use super::edit::{Edit, Rewrite};
use super::refusal::NotApplicable;
use super::syntax::{all, one_line, part};

/// A kernel file as its syntax tree, with the definition and launches of its project.
pub struct KernelSource<'a> {
    pub(super) source: &'a str,
    pub(super) project: &'a Project,
    pub(super) definition: &'a Definition,
    pub(super) launch: &'a Launch,
    pub(super) block: Located,
    /// The file with its syntax tree.
    pub(super) cuda: Source<'a>,
}

/// A launch and its place in the launch block.
#[derive(Clone, Copy)]
pub(super) struct Site<'s> {
    pub(super) step: &'s LaunchStep,
    pub(super) at: &'s Located,
}

impl<'a> KernelSource<'a> {
    /// Parses a kernel file. Whether it has a function that rules can edit is left to [`KernelSource::from_kernel`].
    pub(super) fn parse(project: &'a Project, kernel: &'a Kernel) -> Result<Self, NotApplicable> {
        if kernel.language != Language::Cuda {
            return Err(NotApplicable::Language);
        }
        let source = kernel.source.as_str();
        let cuda = Source::parse(source).map_err(|error| unreadable(&error))?;
        let block =
            launch_block(&kernel.file, source).ok_or(NotApplicable::Unreadable { line: 1 })?;
        let (definition, launch) = (&project.definition, &kernel.launch);
        Ok(Self { source, project, definition, launch, block, cuda })
    }

    /// The same kernel after edits of its code; none if they touch the launch block or the grammar cannot read the text.
    pub(super) fn edited<'b>(
        &'b self,
        rewrite: &Rewrite,
        text: &'b str,
    ) -> Option<KernelSource<'b>> {
        let first = rewrite.edits.first()?.range.start;
        let cuda = Source::parse(text).ok().filter(|_| first > self.block.span.end)?;
        let Self { project, definition, launch, .. } = *self;
        let block = self.block.clone();
        Some(KernelSource { source: text, project, definition, launch, block, cuda })
    }

    pub(super) fn root(&self) -> Node<'_> {
        self.cuda.root()
    }

    /// The text of a node.
    pub(super) fn of_node(&self, node: Node<'_>) -> &'a str {
        self.cuda.node_text(node)
    }

    /// The text of a node in one line.
    pub(super) fn line_of(&self, node: Node<'_>) -> String {
        one_line(self.of_node(node))
    }

    /// Every launch with its place.
    pub(super) fn sites(&self) -> Vec<Site<'_>> {
        let mut found = Vec::new();
        collect(&self.launch.steps, self.block.field("steps"), &mut found);
        found
    }

    /// Functions of the file, except kernels, that synchronise threads or read thread indices.
    pub(super) fn gathering_functions(&self) -> Vec<&'a str> {
        const WORDS: [&str; 6] =
            ["sync", "__shfl", "__shared__", "threadIdx", "blockIdx", "gridDim"];
        all(self.root(), &["function_definition"])
            .into_iter()
            .filter(|node| {
                let text = self.of_node(*node);
                !is_kernel(*node) && WORDS.iter().any(|word| text.contains(word))
            })
            .flat_map(|node| {
                let declarator = part(node, "declarator");
                declarator.map_or_else(Vec::new, |node| all(node, &["identifier"]))
            })
            .map(|name| self.of_node(name))
            .collect()
    }

    /// Whether the file includes other files of the project, which may define functions.
    pub(super) fn has_own_includes(&self) -> bool {
        all(self.root(), &["preproc_include"])
            .into_iter()
            .any(|node| self.of_node(node).contains('"'))
    }

    /// Indentation of the line of a position.
    pub(super) fn indentation(&self, at: usize) -> &'a str {
        let before = self.source.get(..at).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = self.source.get(line..).unwrap_or_default();
        let end = rest.find(|letter: char| !matches!(letter, ' ' | '\t')).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// The text of a node after edits.
    pub(super) fn with(&self, node: Node<'_>, edits: Vec<Edit>) -> String {
        self.with_range(node.byte_range(), edits)
    }

    /// A range of the text after edits.
    pub(super) fn with_range(&self, range: Range<usize>, edits: Vec<Edit>) -> String {
        let start = range.start;
        let inside = edits.into_iter().map(|mut edit| {
            edit.range =
                edit.range.start.saturating_sub(start)..edit.range.end.saturating_sub(start);
            edit
        });
        let text = self.source.get(range).unwrap_or_default();
        Rewrite::new("", 0, inside.collect()).apply(text)
    }

    /// Where the line of a place begins.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.source.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
    }

    /// Range of a node, extended to its whole line if the line contains nothing else.
    pub(super) fn whole_line(&self, node: Node<'_>) -> Range<usize> {
        let (start, end) = (self.line_start(node.start_byte()), node.end_byte());
        let before = self.source.get(start..node.start_byte()).unwrap_or_default();
        let after = self.source.get(end..).unwrap_or_default();
        let newline = after.find('\n').filter(|at| after.get(..*at).is_some_and(is_blank));
        match newline.filter(|_| is_blank(before)) {
            Some(newline) => start..end + newline + 1,
            None => node.byte_range(),
        }
    }

    /// The lines from one place to another, one step to the right; directives stay.
    pub(super) fn moved_right(&self, span: Range<usize>) -> Vec<Edit> {
        let first = self.line_start(span.start);
        let text = self.source.get(first..span.end).unwrap_or_default();
        let mut at = first;
        let mut edits = Vec::new();
        for line in text.split('\n') {
            if !is_blank(line) && !line.starts_with('#') {
                edits.push(Edit::insert(at, "    "));
            }
            at += line.len() + 1;
        }
        edits
    }

    /// A name that the file does not have yet.
    pub(super) fn fresh(&self, wanted: &str) -> String {
        let is_word = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        let taken = |name: &str| {
            let parameter = format!("PARAM_{name}");
            let words = self.source.split(|letter| !is_word(letter));
            let project = self.definition.axes.iter().map(|axis| axis.name.as_str());
            let project =
                project.chain(self.definition.tensors.iter().map(|each| each.name.as_str()));
            let project =
                project.chain(self.definition.scalars.iter().map(|each| each.name.as_str()));
            words.chain(project).any(|word| word == name || word == parameter)
        };
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        std::iter::once(wanted.to_owned())
            .chain(numbered)
            .find(|name| !taken(name))
            .unwrap_or_default()
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn collect<'s>(steps: &'s [Step], at: &'s Located, found: &mut Vec<Site<'s>>) {
    for (index, step) in steps.iter().enumerate() {
        let at = at.item(index);
        match step {
            Step::Launch(step) => found.push(Site { step, at }),
            Step::Repeat { steps, .. } => collect(steps, at.field("steps"), found),
            Step::Fill { .. } => {}
        }
    }
}

/// The line at which the file could not be parsed; the first, if it is too large.
fn unreadable(error: &SourceError) -> NotApplicable {
    let line = match error {
        SourceError::GaveUp { place } | SourceError::Nul { place } => place.line,
        SourceError::TooLarge { .. }
        | SourceError::Grammar(_)
        | SourceError::NoKernel
        | SourceError::SeveralKernels { .. }
        | SourceError::UnknownKernel { .. }
        | SourceError::Overloaded { .. }
        | SourceError::Syntax { .. }
        | SourceError::Signature { .. }
        | SourceError::TooManyParameters { .. } => 1,
    };
    NotApplicable::Unreadable { line }
}
