//! A whole search with a model: a server on this machine says what was recorded, good, wrong, cheating and malformed, and the
//! real checks decide.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use serde_json::{Value, json};

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

/// What the recorded replies have in them as if a model had seen it.
const KEY: &str = "key-of-the-test-0123456789";

/// A server that says one reply after the other, and the last again and again; it keeps what it was asked.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    fn start() -> Self {
        let text = fs::read_to_string(repository().join("tests/data/replies/vector-add.jsonl"));
        let text = text.unwrap();
        let replies = text.lines().map(|line| serde_json::from_str(line).unwrap());
        Self::with(replies.collect())
    }

    fn with(replies: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        // It ends with the test's process.
        let serve = move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                answer(&stream, &kept, &replies);
            }
        };
        Builder::new().name("test-model".to_owned()).spawn(serve).unwrap();
        Self { address, asked }
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut stream: &TcpStream, asked: &Mutex<Vec<Value>>, replies: &[Value]) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut asked = asked.lock().unwrap();
    let reply = &replies[asked.len().min(replies.len() - 1)];
    asked.push(serde_json::from_slice(&body).unwrap());
    let delta = json!({ "content": reply["reply"], "tool_calls": reply["calls"] });
    let piece = json!({ "choices": [{ "index": 0, "delta": delta }] });
    let end = json!({
        "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": reply["input_tokens"], "completion_tokens": reply["output_tokens"] },
    });
    let said = format!("data: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{said}",
        said.len()
    )
    .unwrap();
}

/// A bench with `vector-add` in sizes that a virtual GPU runs in a moment, and a user's settings that name the server.
fn bench(server: &Server) -> Bench {
    let bench = Bench::new();
    let project = bench.path().join("vector-add");
    copy_folder(&repository().join("sample-projects/vector-add"), &project);
    let manifest = project.join("project.ron");
    let mut text = fs::read_to_string(&manifest).unwrap();
    for (large, small) in
        [("268435456", "524288"), ("99999989", "300007"), ("30000006", "200006"), ("65537", "4099")]
    {
        assert!(text.contains(large), "{large}");
        text = text.replace(large, small);
    }
    fs::write(manifest, text).unwrap();
    // Neighbouring threads far apart: something that a model of the device sees the good reply mend.
    let kernel = project.join("kernels/naive.cu");
    let text = fs::read_to_string(&kernel).unwrap();
    let (near, far) =
        ("(blockIdx.x) * BLOCK + threadIdx.x;", "(threadIdx.x) * gridDim.x + blockIdx.x;");
    assert!(text.contains(near), "{text}");
    fs::write(kernel, text.replace(near, far)).unwrap();
    fs::create_dir_all(bench.path().join("state")).unwrap();
    let settings = format!(
        "(models: (servers: {{ \"local\": (endpoint: \"{}\", model: \"m\", key: environment(\"TEST_MODEL_KEY\"), prices: Some((input: 1, output: 10))) }}))",
        server.address
    );
    fs::write(bench.path().join("state/settings.ron"), settings).unwrap();
    bench
}

fn run(bench: &Bench, arguments: &[&str]) -> crate::program::Said {
    let mut command = bench.command(arguments);
    command.env("LIGHTBENCH_STATE", bench.path().join("state")).env("TEST_MODEL_KEY", KEY);
    crate::program::Said::from(command.output().unwrap())
}

/// All files below a folder, as one text.
fn everything_below(folder: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &everything_below(&path);
        } else {
            text += &String::from_utf8_lossy(&fs::read(&path).unwrap());
        }
    }
    text
}

#[test]
fn the_checks_decide_about_what_a_model_proposes() {
    if compiler::required().is_none() {
        return;
    }
    let server = Server::start();
    let bench = bench(&server);
    let search = [
        "search",
        "vector-add",
        "--kernel",
        "naive",
        "--strategy",
        "greedy",
        "--operators",
        "model:local",
        "--budget",
        "5",
        "--device",
        "virtual:h200",
        "--seed",
        "7",
    ];
    let said = run(&bench, &search);
    said.expect(0, &["no variants are left to try", "tokens of language models"]);
    let file = bench.path().join("trajectory.jsonl");
    let export = ["search", "vector-add", "--export", file.to_str().unwrap()];
    run(&bench, &export).expect(0, &["actions of search"]);
    let lines: Vec<Value> = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [wrong, cheat, good, malformed, ..] = lines.as_slice() else { panic!("{lines:?}") };
    for refused in [wrong, cheat] {
        let outcome = &refused["outcome"];
        assert!(outcome["decision"]["rejected"].is_object(), "{refused}");
        let failed = outcome["look"]["failed"].is_object();
        assert!(failed || outcome["verdict"]["failed"].is_object(), "{refused}");
    }
    assert!(good["outcome"]["decision"]["accepted"].is_object(), "{good}");
    assert!(good["outcome"]["verdict"]["passed"].is_object(), "{good}");
    assert_eq!(malformed["outcome"]["came"], "nothing", "{malformed}");
    let why = malformed["outcome"]["why"].as_str().unwrap();
    assert!(why.starts_with("none of 4 replies"), "{why}");
    let accepted = lines.iter().filter(|line| line["outcome"]["decision"]["accepted"].is_object());
    assert_eq!(accepted.count(), 1);
    // What failed was told to the model the next time, and the malformed ones went back.
    let asked = server.asked();
    let last = |index: usize| {
        let turns = asked[index]["messages"].as_array().unwrap();
        turns.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    assert!(last(1).contains("outcome: failed"), "{}", last(1));
    assert!(last(4).contains("no fenced block") && last(5).contains("ended inside"));
    let compiled = "does not compile: line 12: identifier \"does_not_exist\" is undefined";
    assert!(last(6).contains(compiled), "{}", last(6));
    // Of what is held out nobody was told, and the key is nowhere.
    let told = serde_json::to_string(&asked).unwrap();
    assert!(!told.contains("held-out") && !told.contains("200006") && !told.contains("7919"));
    let kept = everything_below(&bench.path().join("vector-add/.lightbench"));
    assert!(!kept.contains(KEY) && kept.contains("[redacted]"));
    assert!(!said.everything().contains(KEY) && !told.contains(KEY));
}

#[test]
fn a_model_asks_the_compiler_before_it_answers() {
    if compiler::required().is_none() {
        return;
    }
    let kernel =
        fs::read_to_string(repository().join("sample-projects/vector-add/kernels/naive.cu"));
    let kernel = kernel.unwrap();
    let call = |id: usize, source: String| {
        let arguments = json!({ "source": source }).to_string();
        let function = json!({ "name": "check_kernel", "arguments": arguments });
        json!([{ "index": 0, "id": format!("call-{id}"), "type": "function", "function": function }])
    };
    let wrong = kernel.replace("a[index]", "does_not_exist[index]");
    assert_ne!(wrong, kernel);
    let good = format!("// Checked.\n{kernel}");
    let server = Server::with(vec![
        json!({ "reply": null, "calls": call(1, wrong) }),
        json!({ "reply": "It needs a change.", "calls": call(2, good) }),
        json!({ "reply": "idea: larger blocks\n```json\n{\"BLOCK\": 512}\n```" }),
    ]);
    let bench = bench(&server);
    let search = ["search", "vector-add", "--kernel", "naive", "--operators", "model:local"];
    let more = ["--budget", "2", "--device", "virtual:h200", "--seed", "7"];
    run(&bench, &[search, more].concat()).expect(0, &["larger blocks"]);
    let asked = server.asked();
    assert_eq!(asked.len(), 3, "{asked:#?}");
    assert_eq!(asked[0]["tools"][0]["function"]["name"], "check_kernel");
    let told = |request: usize| {
        let messages = asked[request]["messages"].as_array().unwrap();
        let last = messages.last().unwrap();
        assert_eq!(
            (&last["role"], &last["tool_call_id"]),
            (&json!("tool"), &json!(format!("call-{request}")))
        );
        last["content"].as_str().unwrap().to_owned()
    };
    assert!(told(1).contains("identifier \"does_not_exist\" is undefined"), "{}", told(1));
    assert!(
        told(2).contains(" registers, ") && told(2).contains("fit a multiprocessor"),
        "{}",
        told(2)
    );
}

#[test]
fn recorded_replies_are_judged_again_without_the_model() {
    if compiler::required().is_none() {
        return;
    }
    let server = Server::start();
    let bench = bench(&server);
    let usual =
        ["search", "vector-add", "--kernel", "naive", "--strategy", "greedy", "--seed", "7"];
    let alone = ["--operators", "model:recorded", "--device", "virtual:h200", "--replay-model"];
    let replay = |file: &str| run(&bench, &[&usual[..], &alone, &[file]].concat());
    let file = repository().join("tests/data/replies/vector-add.jsonl");
    let first = replay(file.to_str().unwrap());
    first.expect(0, &["no variants are left to try", "3 from 0  model recorded"]);
    let folder = bench.path().join("vector-add/.lightbench/searches");
    let journal = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let again = replay(journal.to_str().unwrap());
    let best = |said: &crate::program::Said| {
        let line = said.output.lines().find(|line| line.starts_with("best: variant"));
        line.map(str::to_owned)
    };
    assert!(best(&first).is_some(), "{}", first.output);
    assert_eq!(best(&first), best(&again));
    assert!(server.asked().is_empty());
    let resumed = [&usual[..6], &["--resume"]].concat();
    run(&bench, &resumed).expect(2, &["there is no model `recorded`"]);
    fs::write(bench.path().join("broken.jsonl"), "{\"reply\": 1}\n").unwrap();
    replay("broken.jsonl").expect(2, &["broken.jsonl", "line 1"]);
    replay("missing.jsonl").expect(2, &["cannot read missing.jsonl"]);
}

#[test]
fn a_name_that_no_model_has_is_answered_with_those_that_there_are() {
    let server = Server::start();
    let bench = bench(&server);
    for arguments in [
        ["suggest", "vector-add", "--kernel", "naive", "--model", "remote"].as_slice(),
        ["suggest", "vector-add", "--kernel", "naive", "--model", "lokal"].as_slice(),
    ] {
        run(&bench, arguments).expect(2, &["there is no model", "there are local"]);
    }
    assert!(server.asked().is_empty());
}

#[test]
fn a_prompt_is_printed_as_it_would_be_sent() {
    let server = Server::start();
    let bench = bench(&server);
    let one = ["suggest", "vector-add", "--kernel", "naive", "--print-prompt", "--json"];
    let printed = run(&bench, &one).json();
    assert!(server.asked().is_empty());
    let ask = ["suggest", "vector-add", "--kernel", "naive", "--model", "local"];
    run(&bench, &ask).expect(0, &["[redacted]", "3400 tokens"]);
    let asked = server.asked();
    let messages = asked[0]["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"], printed["conversation"]["system"]);
    assert_eq!(messages[1]["content"], printed["conversation"]["turns"][0]["text"]);
    let technique = ["suggest", "vector-add", "--kernel", "naive", "--print-prompt", "--technique"];
    let known = [technique.as_slice(), &["larger-blocks"]].concat();
    run(&bench, &known).expect(0, &["Apply exactly one technique", "`larger-blocks`"]);
    let unknown = [technique.as_slice(), &["wishing"]].concat();
    run(&bench, &unknown).expect(2, &["unknown technique `wishing`", "larger-blocks"]);
}

#[test]
fn a_prompt_has_the_result_of_the_newest_run_of_its_text() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let print = ["suggest", "scale", "--kernel", "naive", "--print-prompt"];
    let none = "There is no earlier run of this text.";
    bench.run(&print).expect(0, &[none]);
    let run = ["run", "scale", "--kernel", "naive", "--device", "virtual:h200"];
    bench.run(&run).expect(0, &["naive is correct"]);
    let told = bench.run(&print);
    let results = ["(modelled, not measured)", "% of the speed of light", "limited by"];
    told.expect(0, &[&["Its results, as far as it was run"], &results[..]].concat());
    assert!(!told.output.contains(none), "{}", told.output);
    bench.edit("kernels/naive.cu", "__global__", "// Not run yet.\n__global__");
    bench.run(&print).expect(0, &[none]);
}

#[test]
fn a_project_names_no_command_no_endpoint_and_no_host() {
    let server = Server::start();
    for (file, old, new) in [
        ("project.ron", "    schema: 1,", "    schema: 1, command: [\"/bin/sh\"],"),
        ("project.ron", "    schema: 1,", "    schema: 1, models: (servers: {}),"),
        ("project.ron", "    schema: 1,", "    schema: 1, endpoint: \"http://127.0.0.1/v1\","),
        ("project.ron", "    accuracy: f32,", "    accuracy: f32, host: \"example.com\","),
        ("kernels/naive.cu", "    params:", "    command: [\"/bin/sh\"], params:"),
        ("kernels/naive.cu", "    params:", "    endpoint: \"http://127.0.0.1/v1\", params:"),
    ] {
        let bench = bench(&server);
        let path = bench.path().join("vector-add").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{old} in {file}");
        fs::write(&path, text.replacen(old, new, 1)).unwrap();
        let ask = ["suggest", "vector-add", "--kernel", "naive", "--model", "local"];
        let field = ["command", "models", "endpoint", "host"]
            .into_iter()
            .find(|field| new.contains(&format!("{field}:")))
            .unwrap();
        run(&bench, &ask).expect(2, &[field]);
    }
    assert!(server.asked().is_empty());
}
