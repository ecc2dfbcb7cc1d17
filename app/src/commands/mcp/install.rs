//! `lightbench mcp --install`: the configuration and the skill file of a coding agent, in the working directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lightbench_core::display_text::visible_lines;
use lightbench_core::whole_file;
use serde_json::json;

use crate::args::{self, AgentProgram};
use crate::outcome::{Outcome, document};
use crate::report;
use crate::session::Session;

/// What teaches an agent the loop.
const SKILL: &str = include_str!("../../../../assets/skills/lightbench/SKILL.md");

/// A file to write.
#[derive(Debug, PartialEq, Eq)]
struct NewFile {
    /// Relative to the working directory.
    path: &'static str,
    text: String,
}

/// Shows the files, or writes them.
pub(super) fn run(
    session: &Session,
    agent: AgentProgram,
    root: &Path,
    arguments: &args::Mcp,
) -> Outcome {
    let program = match session.worker_command() {
        Ok(command) => command.program,
        Err(error) => return report::environment(&error, false),
    };
    let files = files(agent, &program, &server_arguments(root, arguments));
    let mut output = String::new();
    for file in &files {
        let text = if arguments.yes { written(Path::new("."), file) } else { Ok(shown(file)) };
        match text {
            Ok(text) => output.push_str(&text),
            Err(error) => {
                let message = format!("cannot write {}: {error}", file.path);
                let outcome = report::environment(&message, false);
                return Outcome { output, ..outcome };
            }
        }
    }
    if !arguments.yes {
        output.push_str("nothing was written; the same command with `--yes` writes these files\n");
    }
    Outcome::passed(output)
}

fn server_arguments(root: &Path, arguments: &args::Mcp) -> Vec<String> {
    let mut words = vec!["mcp".to_owned(), root.display().to_string()];
    if let Some(device) = &arguments.device {
        words.extend(["--device".to_owned(), device.clone()]);
    }
    words
}

/// The configuration, then the skill.
fn files(agent: AgentProgram, program: &Path, arguments: &[String]) -> [NewFile; 2] {
    let program = program.display().to_string();
    let server = json!({ "command": program, "args": arguments });
    let common = ".agents/skills/lightbench/SKILL.md";
    let (path, text, skill) = match agent {
        AgentProgram::Claude => (
            ".mcp.json",
            document(&json!({ "mcpServers": { "lightbench": server } })),
            ".claude/skills/lightbench/SKILL.md",
        ),
        AgentProgram::Cursor => (
            ".cursor/mcp.json",
            document(&json!({ "mcpServers": { "lightbench": server } })),
            common,
        ),
        AgentProgram::Vscode => {
            let server = json!({ "type": "stdio", "command": program, "args": arguments });
            let text = document(&json!({ "servers": { "lightbench": server } }));
            (".vscode/mcp.json", text, common)
        }
        AgentProgram::Codex => {
            // Strings of JSON are strings of TOML too.
            let (program, arguments) = (json!(program), json!(arguments));
            let text =
                format!("[mcp_servers.lightbench]\ncommand = {program}\nargs = {arguments}\n");
            (".codex/config.toml", text, common)
        }
    };
    [NewFile { path, text }, NewFile { path: skill, text: SKILL.to_owned() }]
}

fn shown(file: &NewFile) -> String {
    format!("{}:\n\n{}\n\n", file.path, visible_lines(&file.text))
}

/// Writes a file that does not exist yet; the text of an existing one is shown instead.
fn written(folder: &Path, file: &NewFile) -> io::Result<String> {
    let path: PathBuf = folder.join(file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match whole_file::create(&path, file.text.as_bytes()) {
        Ok(()) => Ok(format!("wrote {}\n", file.path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(format!("{} exists and stays as it is; add to it:\n\n{}\n", file.path, shown(file)))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_a_configuration_that_starts_the_server() {
        let check = |agent, path: &str, skill: &str, part: &str| {
            let words = ["mcp".to_owned(), "/p \"q\"".to_owned()];
            let [configuration, guide] = files(agent, Path::new("/bin/lightbench"), &words);
            assert_eq!((configuration.path, guide.path), (path, skill));
            assert!(configuration.text.contains(part), "{}", configuration.text);
            assert!(configuration.text.contains(r#""/p \"q\"""#), "{}", configuration.text);
            assert!(guide.text.starts_with("---\nname: lightbench\n"));
        };
        let common = ".agents/skills/lightbench/SKILL.md";
        let claude = ".claude/skills/lightbench/SKILL.md";
        check(AgentProgram::Claude, ".mcp.json", claude, "mcpServers");
        check(AgentProgram::Cursor, ".cursor/mcp.json", common, "mcpServers");
        check(AgentProgram::Vscode, ".vscode/mcp.json", common, "\"stdio\"");
        let codex = "[mcp_servers.lightbench]\ncommand = \"/bin/lightbench\"\n";
        check(AgentProgram::Codex, ".codex/config.toml", common, codex);
    }

    #[test]
    fn an_existing_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = NewFile { path: ".vscode/mcp.json", text: "new".to_owned() };
        assert_eq!(written(folder.path(), &file).unwrap(), "wrote .vscode/mcp.json\n");
        fs::write(folder.path().join(file.path), "mine").unwrap();
        let said = written(folder.path(), &file).unwrap();
        assert!(said.contains("exists and stays as it is") && said.contains("new"), "{said}");
        assert_eq!(fs::read_to_string(folder.path().join(file.path)).unwrap(), "mine");
    }
}
