//! Shell completions and man pages, from the definition of the command line.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use lightbench_core::display_text::visible;

use crate::args::{Arguments, Completions, Manual};
use crate::outcome::{Outcome, Status};

/// Prints a completion script.
pub fn completions(arguments: &Completions) -> Outcome {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "lightbench", &mut script);
    Outcome::passed(String::from_utf8_lossy(&script).into_owned())
}

/// Writes a man page of the program and of each command.
pub fn manual(arguments: &Manual) -> Outcome {
    match written(&arguments.folder) {
        Ok(()) => Outcome::passed(String::new()),
        Err(error) => {
            let folder = arguments.folder.display().to_string();
            let message = format!("man pages cannot be written to {}: {error}", visible(&folder));
            Outcome::failed(Status::Environment, message)
        }
    }
}

fn written(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Arguments::command(), folder)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use clap_complete::Shell;

    use super::*;

    #[test]
    fn bash_completes_commands_and_options() {
        let script = completions(&Completions { shell: Shell::Bash }).output;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lightbench");
        fs::write(&file, script).unwrap();
        let check = |words: &[&str], expected: &str| {
            let last = words.len() - 1;
            let line = words.join(" ");
            let program = format!(
                "source {}; COMP_WORDS=({line}); COMP_CWORD={last}; _lightbench lightbench {} {}; echo ${{COMPREPLY[@]}}",
                file.display(),
                words[last],
                words[last - 1],
            );
            // Not every machine has bash.
            let Ok(output) = Command::new("bash").args(["-c", &program]).output() else { return };
            let found = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(found.split_whitespace().any(|word| word == expected), "{line}: {found}");
        };
        check(&["lightbench", "comp"], "compare");
        check(&["lightbench", "run", "--dev"], "--device");
    }

    #[test]
    fn every_command_has_a_man_page() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        manual(&Manual { folder: pages.clone() });
        for name in ["lightbench", "lightbench-run", "lightbench-completions"] {
            let page = fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
            assert!(page.contains(".SH SYNOPSIS"), "{page}");
        }
        assert!(!pages.join("lightbench-worker.1").exists(), "it is no command for users");
    }
}
