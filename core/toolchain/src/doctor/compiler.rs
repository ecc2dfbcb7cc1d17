//! Doctor: the compiler, its headers and its tools.

use super::super::receipt::Receipt;
use super::super::{
    Discovery, HeaderFolder, HeaderState, Headers, HostEnvironment, Nvrtc, Part, Reason, Source,
    Tool, ToolchainError, Version, naming,
};
use super::{FETCH_COMMAND, Finding, State, Topic};

pub(super) fn findings(discovery: &Discovery, surroundings: &HostEnvironment) -> Vec<Finding> {
    let version = discovery.compiler.as_ref().map(|(nvrtc, _)| nvrtc.version);
    let mut findings = vec![compiler(discovery, surroundings)];
    findings.extend(
        discovery.compiler.as_ref().map(|(nvrtc, headers)| header(nvrtc, headers, surroundings)),
    );
    let without_sass = "not found: no SASS view";
    let tools = [
        (
            Topic::Disassembler,
            Part::Nvdisasm,
            &discovery.nvdisasm,
            ToolRequirement::Needed(without_sass),
        ),
        (
            Topic::CubinReader,
            Part::Cuobjdump,
            &discovery.cuobjdump,
            ToolRequirement::Needed("not found: resource usage cannot be cross-checked"),
        ),
        (
            Topic::Assembler,
            Part::Ptxas,
            &discovery.ptxas,
            ToolRequirement::Optional(
                "no ptxas; not needed, the compiler carries its own assembler",
            ),
        ),
    ];
    for (topic, part, found, want) in tools {
        let finding = tool(topic, found.as_ref(), want, version);
        findings.push(with_passed_over(finding, discovery, part));
    }
    findings
}

/// Consequence of a missing tool.
#[derive(Clone, Copy)]
enum ToolRequirement {
    Needed(&'static str),
    Optional(&'static str),
}

fn compiler(discovery: &Discovery, surroundings: &HostEnvironment) -> Finding {
    let finding = match &discovery.compiler {
        Some((nvrtc, _)) => found_compiler(nvrtc, surroundings),
        None => no_compiler(discovery, surroundings),
    };
    with_passed_over(finding, discovery, Part::Compiler)
}

fn found_compiler(nvrtc: &Nvrtc, surroundings: &HostEnvironment) -> Finding {
    let summary = format!("NVRTC {} ({})", nvrtc.version, nvrtc.source);
    if let Some(problem) = changed_contents(nvrtc, surroundings) {
        let summary = format!("{summary}: {problem}");
        let remove = format!("rm -r '{}' && {FETCH_COMMAND}", problem_folder(nvrtc));
        return Finding::new(Topic::Compiler, State::Problem, summary)
            .at(&nvrtc.library)
            .command(remove);
    }
    Finding::new(Topic::Compiler, State::Ok, summary).at(&nvrtc.library)
}

/// Compares a fetched compiler with its receipt by full content; all other code compares lengths only.
fn changed_contents(nvrtc: &Nvrtc, surroundings: &HostEnvironment) -> Option<String> {
    let parent = surroundings.cache.as_ref()?.join("toolchain");
    let folder = nvrtc.library.ancestors().find(|above| above.parent() == Some(&parent))?;
    let problem = Receipt::trusted(folder).and_then(|receipt| receipt.check_contents(folder)).err();
    problem.map(|problem| problem.to_string())
}

/// The folder of the cache that contains a compiler: `…/nvidia/cu13/lib/libnvrtc.so.13` is four levels below it.
fn problem_folder(nvrtc: &Nvrtc) -> String {
    let vendor =
        nvrtc.library.ancestors().find(|it| it.file_name().is_some_and(|it| it == "nvidia"));
    vendor.and_then(std::path::Path::parent).unwrap_or(&nvrtc.library).display().to_string()
}

fn no_compiler(discovery: &Discovery, surroundings: &HostEnvironment) -> Finding {
    if naming::native().is_none() {
        let system = super::super::discover::system_name();
        let error = ToolchainError::Unsupported { system };
        return Finding::new(Topic::Compiler, State::Missing, error.to_string());
    }
    if let Some(given) = &surroundings.explicit {
        return Finding::new(
            Topic::Compiler,
            State::Problem,
            "the path given holds no usable NVRTC",
        )
        .at(given)
        .advice(
            "give the folder or the file of NVRTC 13.x or 12.9 (LIGHTBENCH_TOOLCHAIN or the command \
                 line), or leave the path out",
        );
    }
    let is_rejected = discovery.passed_over.iter().any(|it| it.part == Part::Compiler);
    let (state, summary) = if is_rejected {
        (State::Problem, "the compilers found cannot be used")
    } else {
        (State::Missing, "no NVRTC found: nothing can be compiled")
    };
    Finding::new(Topic::Compiler, state, summary).command(FETCH_COMMAND)
}

fn header(nvrtc: &Nvrtc, headers: &Headers, surroundings: &HostEnvironment) -> Finding {
    let topic = Topic::Headers;
    if let Headers::Folders(folders) = headers {
        let notes = folders.iter().map(|folder| folder.display().to_string()).collect();
        let finding = Finding::new(topic, State::Ok, "include folders of the compiler");
        return Finding { notes, ..finding };
    }
    let cached = surroundings.cache.as_ref().map(|cache| HeaderFolder::locate(cache, nvrtc));
    let later = "carried by the compiler, extracted on first use";
    let Some(cached) = cached else { return Finding::new(topic, State::Ok, later) };
    match cached.state {
        HeaderState::Absent => Finding::new(topic, State::Ok, later),
        HeaderState::Complete { files, .. } if !cached.is_whole() => {
            let summary = format!("extracted, but some of the {files} files are missing");
            Finding::new(topic, State::Problem, summary)
                .at(&cached.path)
                .command(format!("rm -r '{}'", cached.path.display()))
        }
        HeaderState::Complete { files, bytes } => {
            let size = bytes >> 20;
            let summary = format!("carried by the compiler, extracted: {files} files, {size} MiB");
            Finding::new(topic, State::Ok, summary).at(&cached.path)
        }
    }
}

fn tool(
    topic: Topic,
    found: Option<&Tool>,
    want: ToolRequirement,
    compiler: Option<Version>,
) -> Finding {
    let Some(tool) = found else {
        return match want {
            ToolRequirement::Needed(summary) => {
                Finding::new(topic, State::Missing, summary).command(FETCH_COMMAND)
            }
            ToolRequirement::Optional(summary) => Finding::new(topic, State::Info, summary),
        };
    };
    let name = tool.program.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default();
    let version = tool.version.map(|version| format!(" {version}")).unwrap_or_default();
    let summary = format!("{name}{version} ({})", tool.source);
    match (tool.version, compiler) {
        (Some(version), Some(compiler)) if version.is_earlier_release(compiler) => {
            let finding = Finding::new(topic, State::Problem, summary).at(&tool.program);
            let finding = finding.note(format!("older than the compiler ({compiler})"));
            match want {
                ToolRequirement::Needed(_) => finding.command(FETCH_COMMAND),
                ToolRequirement::Optional(_) => Finding { state: State::Info, ..finding },
            }
        }
        (Some(_) | None, Some(_) | None) => {
            Finding::new(topic, State::Ok, summary).at(&tool.program)
        }
    }
}

fn with_passed_over(mut finding: Finding, discovery: &Discovery, part: Part) -> Finding {
    for candidate in discovery.passed_over.iter().filter(|candidate| candidate.part == part) {
        let path = candidate.path.display();
        finding.notes.push(match candidate.reason {
            Reason::Later | Reason::PathGiven => {
                format!("also found: {path} ({})", candidate.source)
            }
            Reason::NewerThanDriver { .. } => {
                format!("also found: {path} ({}): {}", candidate.source, candidate.reason)
            }
            Reason::WrongVersion { .. }
            | Reason::NoBuiltins
            | Reason::NoHeaders { .. }
            | Reason::Damaged { .. }
            | Reason::Untrusted { .. }
            | Reason::OlderThanCompiler { .. }
            | Reason::OtherMajorVersion { .. } => {
                format!("found, not used: {path}: {}", candidate.reason)
            }
        });
        let is_damaged = matches!(candidate.reason, Reason::Damaged { .. });
        if is_damaged && candidate.source != Source::Fetched {
            finding.notes.push("reinstall it, or remove it".to_owned());
        }
    }
    finding
}
