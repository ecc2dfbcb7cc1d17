//! A project that an importer computed: the definition as the format writes it, and the texts of its files.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{
    Accuracy, AxisWritten, BlockOrder, DomainWritten, IntermediateRounding, LARGEST_AXIS,
    LayoutWritten, LimitsWritten, Manifest, OperationKind, OperationWritten, PolicyWritten,
    Purpose, RoleWritten, ScalarDomainWritten, ScalarWritten, SubnormalsWritten, SummationWritten,
    TensorWritten, WorkBytesWritten, WorkWritten, WorkloadWritten,
};
use lightbench_project::written::{Entries, ExpressionWritten, NumberWritten};

/// A project before it is rendered. Names and texts may come from strangers: the renderer escapes them, and the project
/// reader checks them before the folder is kept.
#[derive(Debug)]
pub struct Draft {
    /// `project.ron`. Title and summary may have any characters; the renderer makes each one line.
    pub manifest: Manifest,
    /// What defines the correct results.
    pub reference: ReferenceFile,
    /// Files of `kernels/`. A kernel that the project reader refuses is left out of the project, and reported.
    pub kernels: Vec<KernelFile>,
    /// Files of `include/`.
    pub includes: Vec<KernelFile>,
    /// Paragraphs of README.md, after the title and the summary.
    pub notes: Vec<String>,
}

/// The text of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceFile {
    /// `reference.py`.
    Python(String),
    /// `reference.cu`.
    Cuda(String),
}

/// A file of `kernels/` or `include/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFile {
    /// The path below its folder, with an extension.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Draft {
    /// A draft without axes, tensors and workloads; `name` becomes a valid name of a project.
    #[must_use]
    pub fn new(name: &str, title: &str, reference: ReferenceFile) -> Self {
        let manifest = Manifest {
            schema: 1,
            name: crate::names::file_name(name),
            title: title.to_owned(),
            summary: String::new(),
            axes: Vec::new(),
            scalars: Vec::new(),
            tensors: Vec::new(),
            arguments: Vec::new(),
            accuracy: Accuracy::F32,
            block_order: BlockOrder::Ascending,
            summation: SummationWritten::Any,
            subnormals: SubnormalsWritten::MayFlush,
            intermediate_rounding: IntermediateRounding::Undeclared,
            work: WorkWritten { operations: Vec::new(), bytes: WorkBytesWritten::Automatic },
            workloads: Vec::new(),
            baselines: Vec::new(),
            policy: PolicyWritten::default(),
            limits: LimitsWritten::default(),
        };
        let (kernels, includes, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { manifest, reference, kernels, includes, notes }
    }
}

/// An axis with the format's defaults.
#[must_use]
pub fn axis(name: &str) -> AxisWritten {
    let (name, note) = (name.to_owned(), String::new());
    AxisWritten { name, min: 1, max: LARGEST_AXIS, multiple_of: 1, note }
}

/// A scalar with the format's defaults.
#[must_use]
pub fn scalar(name: &str, dtype: Dtype, value: NumberWritten) -> ScalarWritten {
    let (name, note) = (name.to_owned(), String::new());
    ScalarWritten { name, dtype, value, domain: ScalarDomainWritten::Any, note }
}

/// A tensor with the format's defaults. Outputs and inouts need `compare` as well.
#[must_use]
pub fn tensor(
    name: &str,
    dtype: Dtype,
    shape: Vec<ExpressionWritten>,
    role: RoleWritten,
) -> TensorWritten {
    TensorWritten {
        name: name.to_owned(),
        dtype,
        shape,
        role,
        fill: None,
        layout: LayoutWritten::RowMajor,
        align: DEFAULT_ALIGN,
        alias: Vec::new(),
        domain: DomainWritten::Any,
        distributions: None,
        compare: None,
        init: None,
        scales: None,
    }
}

/// The tensor of this name.
pub(crate) fn declared<'m>(manifest: &'m Manifest, name: &str) -> Option<&'m TensorWritten> {
    manifest.tensors.iter().find(|tensor| tensor.name == name)
}

/// The alignment of a tensor that states none, in bytes.
pub(crate) const DEFAULT_ALIGN: i64 = 256;

/// An expression of axes and scalars.
pub fn expression(text: impl Into<String>) -> ExpressionWritten {
    ExpressionWritten(text.into())
}

/// Operations of one kind.
pub fn operation(kind: OperationKind, count: impl Into<String>) -> OperationWritten {
    OperationWritten { kind, count: expression(count) }
}

/// A workload with the sizes of its axes.
#[must_use]
pub fn workload(name: &str, purpose: Purpose, axes: Vec<(String, i64)>) -> WorkloadWritten {
    WorkloadWritten {
        name: name.to_owned(),
        purpose,
        axes: Entries(axes),
        scalars: Entries::default(),
        fills: Entries::default(),
        note: String::new(),
    }
}
