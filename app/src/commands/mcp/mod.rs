//! `lightbench mcp`: serves a project to a coding agent, or installs the server in one.
//!
//! ```text
//!  lightbench-mcp ── Call ──► AgentServer ── Job ──► RunThread ──► the bodies of check, run, compare, accept
//!                                  ▲ Runs: results, calls that wait     │
//!                                  └────────────── Ended ◄──────────────┘
//! ```

mod arguments;
mod budget;
mod candidates;
mod install;
mod reading;
mod run_thread;
mod runs;
mod server;
mod tools;

use lightbench_core::project::Project;
use lightbench_mcp::ServerThread;

use self::server::AgentServer;
use super::user_settings::settings;
use crate::args;
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// Serves, or shows what an agent needs to start the server.
pub fn run(session: &Session, arguments: &args::Mcp) -> Outcome {
    let checked = match Project::load(&arguments.project) {
        Ok(project) => project,
        Err(error) => return report::project_error(&error, &arguments.project, false),
    };
    let root = match checked.root.canonicalize() {
        Ok(root) => root,
        Err(error) => return report::environment(&error, false),
    };
    match arguments.install {
        Some(agent) => install::run(session, agent, &root, arguments),
        None => served(session, root, arguments).unwrap_or_else(|outcome| outcome),
    }
}

fn served(
    session: &Session,
    root: std::path::PathBuf,
    arguments: &args::Mcp,
) -> Result<Outcome, Outcome> {
    let environment = |error: &dyn std::fmt::Display| report::environment(&error, false);
    let agents = settings(session).map_err(|error| environment(&error))?.agents;
    let server = AgentServer::new(session, root, arguments.device.clone(), agents);
    let mut server = server.map_err(|error| environment(&error))?;
    let protocol = ServerThread::on_standard_streams(tools::all(), tools::INSTRUCTIONS);
    let protocol = protocol.map_err(|error| environment(&error))?;
    server.serve(&protocol);
    // Waits for the run in progress, which was cancelled.
    drop(server);
    protocol.finish().map_err(|error| environment(&error))?;
    Ok(Outcome { output: String::new(), errors: String::new(), status: Status::Passed })
}
