//! The public formats that become projects.

/// A public format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A definition of FlashInfer-Bench, with its workloads and solutions.
    FlashInferBench,
    /// A problem of SOL-ExecBench.
    SolExecBench,
    /// A task of KernelBench.
    KernelBench,
    /// A C++ extension of PyTorch.
    TorchExtension,
    /// A Python file with Triton kernels.
    Triton,
    /// A log of TritonParse.
    TritonParse,
}

impl Format {
    /// Its name in reports.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::FlashInferBench => "a definition of FlashInfer-Bench",
            Self::SolExecBench => "a problem of SOL-ExecBench",
            Self::KernelBench => "a task of KernelBench",
            Self::TorchExtension => "a PyTorch extension",
            Self::Triton => "a Triton file",
            Self::TritonParse => "a log of TritonParse",
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::FlashInferBench => "flashinfer-bench",
            Self::SolExecBench => "sol-execbench",
            Self::KernelBench => "kernelbench",
            Self::TorchExtension => "torch-extension",
            Self::Triton => "triton",
            Self::TritonParse => "tritonparse",
        }
    }
}
