//! A log collector that gives no line up: `interop-collector PORT DIRECTORY WRITER LINES LINES_PER_FILE`.
//!
//! Appends lines `WRITER NUMBER ...` one by one to DIRECTORY/current through the gateway on PORT, each at the offset where it belongs,
//! and sends a line again until it is acknowledged. A file that is full is renamed to its number. Prints how many lines were
//! acknowledged now and then, and at the end how many requests had to be repeated.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::io::Write;
use std::time::{Duration, Instant};

use zerohop_interop::Outcome;
use zerohop_interop::harm::Explain;
use zerohop_interop::http::{Answer, Connection};

/// How long one line may take, servers that start again included.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);
const PROGRESS: u64 = 100;

struct Collector {
    port: u16,
    directory: String,
    connection: Option<Connection>,
    repeated: u64,
}

impl Collector {
    /// One try, on the connection that is there or a new one.
    fn ask(&mut self, method: &str, target: &str, body: &[u8]) -> Outcome<Answer> {
        let kind = ("Content-Type", "application/octet-stream");
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.port).at("connecting")?,
        };
        let answer = connection.ask(method, target, &[kind], body).at(target)?;
        if answer.is_whole && answer.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Ok(answer)
    }

    /// Asks until the answer is one that `is_done` takes.
    fn insist(
        &mut self,
        method: &str,
        target: &str,
        body: &[u8],
        is_done: impl Fn(&Answer) -> bool,
    ) -> Outcome<Answer> {
        let begun = Instant::now();
        loop {
            let said = match self.ask(method, target, body) {
                Ok(answer) if is_done(&answer) => return Ok(answer),
                Ok(answer) => format!("{} {}", answer.status, answer.text()),
                Err(error) => error,
            };
            if begun.elapsed() > PATIENCE {
                return Err(format!("{method} {target}: {said}"));
            }
            eprintln!("{method} {target}: {said}");
            self.repeated += 1;
            std::thread::sleep(PAUSE);
        }
    }

    fn target(&self, name: &str, query: &str) -> String {
        format!("/webhdfs/v1{}/{name}?{query}&user.name=root", self.directory)
    }

    fn append(&mut self, offset: u64, line: &str) -> Outcome {
        let query = format!("op=APPEND&createflag=CREATE&offset={offset}&data=true");
        let target = self.target("current", &query);
        self.insist("POST", &target, line.as_bytes(), |answer| answer.status == 200).map(drop)
    }

    /// Gives the full file its number. A rename that was done and not answered is seen by what is there.
    fn roll(&mut self, number: u64) -> Outcome {
        let to = format!("{}/{number:05}", self.directory);
        let is_there = self.target(&format!("{number:05}"), "op=GETFILESTATUS");
        let rename = self.target("current", &format!("op=RENAME&destination={to}"));
        let begun = Instant::now();
        loop {
            let renamed = self.insist("PUT", &rename, b"", |answer| answer.status == 200)?;
            if renamed.text().contains("true") {
                return Ok(());
            }
            let found =
                self.insist("GET", &is_there, b"", |answer| matches!(answer.status, 200 | 404))?;
            if found.status == 200 {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{rename}: {}", renamed.text()));
            }
        }
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("interop-collector: {error}");
        std::process::exit(1);
    }
}

fn run() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [port, directory, writer, lines, per_file] = args.as_slice() else {
        return Err(
            "usage: interop-collector PORT DIRECTORY WRITER LINES LINES_PER_FILE".to_owned()
        );
    };
    let number = |text: &str| text.parse::<u64>().at(text);
    let (lines, per_file) = (number(lines)?, number(per_file)?);
    let port = port.parse().at(port)?;
    let mut collector =
        Collector { port, directory: directory.clone(), connection: None, repeated: 0 };
    let mut out = std::io::stdout().lock();
    let mut offset = 0;
    for at in 0..lines {
        let line = zerohop_interop::collector_line(writer, at);
        collector.append(offset, &line)?;
        offset += line.len() as u64;
        if (at + 1) % per_file == 0 {
            collector.roll(at / per_file)?;
            offset = 0;
        }
        if (at + 1) % PROGRESS == 0 || at + 1 == lines {
            writeln!(out, "acknowledged {}", at + 1).and_then(|()| out.flush()).at("progress")?;
        }
    }
    writeln!(out, "repeated {}", collector.repeated).at("the end")
}
