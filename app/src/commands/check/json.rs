//! The facts as a document.

use lightbench_core::compile::Compiler;
use lightbench_core::report::document::CheckReport;
use lightbench_core::report::document::check::{
    CheckSchema, CheckSubject, CheckedKernel, CheckedKernelResult, CompiledKernelReport,
    ReportedBuild, ReportedCompiler, ReportedProject, ReportedSizes, ReportedTarget,
};

use super::Checker;
use super::listing::Listings;
use super::project::{Checked, Row};

/// The report on what was compiled.
pub(super) fn report(
    checker: &Checker<'_>,
    compiler: &Compiler,
    subject: CheckSubject,
) -> CheckReport {
    CheckReport {
        schema: CheckSchema::V1,
        device: ReportedTarget {
            sheet: checker.sheet.name.clone(),
            title: checker.sheet.title.clone(),
            architecture: checker.sheet.architecture(),
        },
        compiler: ReportedCompiler {
            name: compiler.name(),
            library: compiler.toolchain().nvrtc.library.clone(),
        },
        build: if checker.arguments.as_written {
            ReportedBuild::AsWritten
        } else {
            ReportedBuild::Optimised
        },
        subject,
    }
}

/// The kernels of a project.
pub(super) fn project(checked: &Checked<'_>, listed: &[(&Row<'_>, Listings)]) -> CheckSubject {
    let definition = &checked.project.definition;
    let axes = definition.axes.iter().zip(&checked.workload.axes);
    CheckSubject::Project {
        project: ReportedProject { name: definition.name.clone(), title: definition.title.clone() },
        workload: ReportedSizes {
            name: checked.workload.name.clone(),
            axes: axes.map(|(axis, value)| (axis.name.clone(), *value)).collect(),
        },
        kernels: checked.rows.iter().map(|row| kernel(row, listed)).collect(),
        broken: checked.broken.iter().map(Into::into).collect(),
        seconds: checked.elapsed.as_secs_f64(),
    }
}

fn kernel(row: &Row<'_>, listed: &[(&Row<'_>, Listings)]) -> CheckedKernel {
    let result = match &row.result {
        Err(error) => CheckedKernelResult::Failed { failure: error.into() },
        Ok(facts) => {
            let own = listed.iter().find(|(listed, _)| std::ptr::eq(*listed, row));
            let listings = own.map(|(_, listings)| listings.report()).unwrap_or_default();
            let compiled = CompiledKernelReport::new(facts, listings);
            CheckedKernelResult::Compiled(Box::new(compiled))
        }
    };
    CheckedKernel {
        name: row.kernel.name.clone(),
        file: row.kernel.file.clone(),
        title: row.kernel.launch.title.clone(),
        result,
    }
}
