//! An agent: the client of the protocol's official kit, beside a server process.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{RoleClient, RunningService, ServiceError, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;

use crate::program::Bench;

/// The name that the client declares.
pub(crate) const NAME: &str = "tester";

/// An agent with a server of its own.
pub(crate) struct Agent {
    runtime: Runtime,
    service: RunningService<RoleClient, ClientConfig>,
    child: Child,
}

/// The state folder of the bench, with settings for agents.
pub(crate) fn state(bench: &Bench, agents: &str) -> PathBuf {
    let state = bench.path().join("state");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("settings.ron"), format!("(agents: ({agents}))")).unwrap();
    state
}

impl Agent {
    /// Starts a server for the project in this folder of the bench, on a virtual device.
    pub(crate) fn start(bench: &Bench, project: &str, agents: &str) -> Self {
        let state = state(bench, agents);
        let arguments =
            ["mcp", project, "--device", "virtual:h200", "--state", state.to_str().unwrap()];
        let mut command = Command::from(bench.command(&arguments));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (service, child) = runtime.block_on(async {
            let mut child = command.spawn().unwrap();
            let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
            let own = Implementation::new(NAME, "1");
            let config = ClientConfig::new(ClientCapabilities::default(), own);
            (config.serve(streams).await.unwrap(), child)
        });
        Self { runtime, service, child }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// The names of all tools.
    pub(crate) fn tools(&self) -> Vec<String> {
        let tools = self.runtime.block_on(self.service.list_all_tools()).unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    /// Calls a tool and returns its structured result.
    pub(crate) fn call(&self, tool: &'static str, arguments: &Value) -> Value {
        let result = self.try_call(tool, arguments).unwrap();
        assert!(result.to_string().len() < 32 << 10, "{tool}");
        result
    }

    /// The same with an error of the protocol.
    pub(crate) fn try_call(
        &self,
        tool: &'static str,
        arguments: &Value,
    ) -> Result<Value, ServiceError> {
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.runtime.block_on(self.service.call_tool(request))?;
        Ok(result.structured_content.unwrap())
    }

    /// Calls a tool, waits for its run, and returns the end.
    pub(crate) fn finish(&self, tool: &'static str, arguments: &Value) -> Value {
        let mut result = self.call(tool, arguments);
        while result["state"] == "running" {
            let run = result["run"].clone();
            result = self.call("wait", &serde_json::json!({ "run": run }));
        }
        result
    }

    /// The document of a run, put together from its pages.
    pub(crate) fn document(&self, tool: &'static str, arguments: &Value) -> Value {
        let result = self.finish(tool, arguments);
        let Some(pages) = result["pages"].as_u64() else { return result["document"].clone() };
        let mut text = result["untrusted_part"].as_str().unwrap().to_owned();
        for page in 2..=pages {
            let next = if result["run"].is_string() {
                self.call("wait", &serde_json::json!({ "run": result["run"], "page": page }))
            } else {
                let mut arguments = arguments.clone();
                arguments["page"] = page.into();
                self.call(tool, &arguments)
            };
            text += next["untrusted_part"].as_str().unwrap();
        }
        serde_json::from_str(&text).unwrap()
    }

    /// Proposes a text and returns the name of the candidate.
    pub(crate) fn propose(&self, source: &str) -> String {
        let result = self.call("propose", &serde_json::json!({ "source": source }));
        assert_eq!(result["state"], "finished", "{result}");
        result["document"]["kernel"].as_str().unwrap().to_owned()
    }

    /// Closes the connection and waits for the server's end.
    pub(crate) fn close(mut self) {
        self.runtime.block_on(async {
            self.service.cancel().await.unwrap();
            assert!(self.child.wait().await.unwrap().success());
        });
    }
}
