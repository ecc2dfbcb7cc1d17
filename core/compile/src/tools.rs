//! Runs the command-line tools `ptxas` and `nvdisasm` inside the worker's sandbox, with bounded output.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use lightbench_worker::printable;

use super::protocol::{
    AssembleReply, AssembleRequest, DisassembleRequest, Disassembly, RequestFailure,
};
use super::sass::{CODE_ARGUMENTS, LIVE_ARGUMENTS};

/// The largest listing of the disassembler: 64 MiB.
const DISASSEMBLY_LIMIT: u64 = 64 << 20;
/// The largest cubin that is read back: 128 MiB.
const CUBIN_LIMIT: u64 = 128 << 20;
/// The largest part of a tool's messages that is kept: 8 MiB.
const LOG_LIMIT: u64 = 8 << 20;

/// Runs `nvdisasm` on a cubin and returns its listings.
pub(super) fn disassemble(
    program: &Path,
    request: &DisassembleRequest,
    scratch: &Path,
) -> Result<Disassembly, RequestFailure> {
    let run = Run { tool: "nvdisasm", scratch };
    let input = run.write("input.cubin", &request.cubin)?;
    let list = |arguments: [&str; 3]| {
        let mut command = Command::new(program);
        command.args(arguments);
        if !request.functions.is_empty() {
            let indices: Vec<String> = request.functions.iter().map(ToString::to_string).collect();
            command.args(["-fun", &indices.join(",")]);
        }
        command.arg(&input.0).stdout(Stdio::piped());
        let finished = run.finish(&mut command, DISASSEMBLY_LIMIT)?;
        if finished.status.success() { Ok(finished.output) } else { Err(run.failed(&finished)) }
    };
    let code = list(CODE_ARGUMENTS)?;
    // Live registers need a dataflow analysis, which nvdisasm 13 does not have for machine code of older compilers.
    let live = match list(LIVE_ARGUMENTS) {
        Err(RequestFailure::Tool { .. }) => None,
        other => Some(other?),
    };
    Ok(Disassembly { code, live })
}

/// Runs `ptxas`. Rejected PTX is a result, not a failure.
pub(super) fn assemble(
    program: &Path,
    request: &AssembleRequest,
    scratch: &Path,
) -> Result<AssembleReply, RequestFailure> {
    let run = Run { tool: "ptxas", scratch };
    let input = run.write("input.ptx", &request.ptx)?;
    let output = ScratchFile(scratch.join("output.cubin"));
    let mut command = Command::new(program);
    command.arg(format!("-arch={}", request.architecture)).args(["-v", "-lineinfo"]);
    command.args(&request.options).arg("-o").arg(&output.0).arg(&input.0).stdout(Stdio::null());
    let finished = run.finish(&mut command, 0)?;
    let cubin =
        if finished.status.success() { Some(run.read(&output.0, CUBIN_LIMIT)?) } else { None };
    // The end by a signal is a failure of the tool; a nonzero exit status rejects the PTX.
    if cubin.is_none() && finished.status.code().is_none() {
        return Err(run.failed(&finished));
    }
    Ok(AssembleReply { cubin, log: finished.log })
}

/// One run of one tool.
struct Run<'run> {
    tool: &'static str,
    scratch: &'run Path,
}

struct Finished {
    status: ExitStatus,
    output: Vec<u8>,
    log: Vec<u8>,
}

/// A temporary file, removed on drop so that files do not accumulate in a long-running worker.
struct ScratchFile(std::path::PathBuf);

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // The scratch folder is removed with the worker anyway.
        let _absent = std::fs::remove_file(&self.0);
    }
}

impl Run<'_> {
    /// Runs to the end, reads at most `limit` bytes of standard output where it is piped, and the
    /// messages from a file: two pipes could block each other.
    fn finish(&self, command: &mut Command, limit: u64) -> Result<Finished, RequestFailure> {
        let log = ScratchFile(self.scratch.join("messages.txt"));
        let messages = File::create(&log.0).map_err(|error| self.cannot_run(&error))?;
        command.stdin(Stdio::null()).stderr(messages).current_dir(self.scratch);
        let mut child = command.spawn().map_err(|error| self.cannot_run(&error))?;
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let read = stdout.take(limit + 1).read_to_end(&mut output);
            if read.is_err() || output.len() as u64 > limit {
                // Fails only if it has ended.
                let _ended = child.kill();
            }
        }
        let status = child.wait().map_err(|error| self.cannot_run(&error))?;
        if output.len() as u64 > limit {
            return Err(self.too_large(limit));
        }
        let mut kept = Vec::new();
        let messages = File::open(&log.0).map_err(|error| self.cannot_run(&error))?;
        messages.take(LOG_LIMIT).read_to_end(&mut kept).map_err(|error| self.cannot_run(&error))?;
        Ok(Finished { status, output, log: kept })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<ScratchFile, RequestFailure> {
        let file = ScratchFile(self.scratch.join(name));
        std::fs::write(&file.0, bytes).map_err(|error| self.cannot_run(&error))?;
        Ok(file)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, RequestFailure> {
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| self.cannot_run(&error))?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| self.cannot_run(&error))?;
        if bytes.len() as u64 > limit { Err(self.too_large(limit)) } else { Ok(bytes) }
    }

    fn cannot_run(&self, error: &std::io::Error) -> RequestFailure {
        RequestFailure::Run { tool: self.tool.to_owned(), reason: error.to_string() }
    }

    fn too_large(&self, limit: u64) -> RequestFailure {
        RequestFailure::TooLarge { tool: self.tool.to_owned(), limit }
    }

    fn failed(&self, finished: &Finished) -> RequestFailure {
        let log = String::from_utf8_lossy(&finished.log);
        RequestFailure::Tool {
            tool: self.tool.to_owned(),
            status: finished.status.to_string(),
            message: printable(log.lines().next().unwrap_or_default()),
        }
    }
}
