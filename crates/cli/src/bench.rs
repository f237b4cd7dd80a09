//! `bench`: measurements of our own stack, on the configured cluster or on one of its own.

use std::process::Command;

use zerohop_bench::args::{Args, USAGE};
use zerohop_bench::suite::Suite;
use zerohop_bench::{Report, Row};
use zerohop_conf::{Conf, keys};

use crate::command_line::complain;
use crate::failure::{Failure, Outcome};
use crate::fs::{EXIT_USAGE, Location, connect_client};
use crate::namenodes;
use crate::settings::Settings;

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let args = match Args::parse(&words) {
        Ok(args) => args,
        Err(problem) => {
            eprintln!("bench: {problem}\n{USAGE}");
            return EXIT_USAGE;
        }
    };
    measure(&settings, &args, &words).unwrap_or_else(|failure| complain("bench", &failure))
}

fn measure(settings: &Settings, args: &Args, words: &[String]) -> Outcome<i32> {
    let conf = settings.load()?;
    let default = Location::parse(&conf.get(&keys::FS_DEFAULTFS)?);
    if default.scheme.as_deref() != Some("hdfs") {
        return on_own_cluster(words);
    }
    let mut suite = suite(&conf)?;
    args.apply(&mut suite);
    let report = suite.run(&mut |row: &Row| eprintln!("{}", progress(row)));
    print(&report.map_err(|error| Failure::io(error.to_string()))?, args.json)
}

fn suite(conf: &Conf) -> Outcome<Suite> {
    let nodes = namenodes::configured(conf)?;
    let node = nodes.first().ok_or_else(|| Failure::io("no NameNode is configured"))?;
    let address = format!("{}:{}", node.host, node.port);
    Ok(Suite::new(connect_client(conf)?, address, std::env::temp_dir()))
}

fn progress(row: &Row) -> String {
    format!("{}: {:.1} {}", row.name, row.value, row.unit)
}

fn print(report: &Report, as_json: bool) -> Outcome<i32> {
    match as_json {
        true => sayln!("{}", report.to_json().map_err(|error| Failure::io(error.to_string()))?),
        false => say!("{}", report.to_table()),
    }
    Ok(0)
}

/// The cluster is a process of its own, so that its CPU time is not the client's.
fn on_own_cluster(words: &[String]) -> Outcome<i32> {
    let quote = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let own = std::env::current_exe()?;
    let mut command = format!("{} bench", quote(&own.to_string_lossy()));
    for word in words {
        command.push(' ');
        command.push_str(&quote(word));
    }
    command.push_str(" --watch cluster=$PPID");
    let up = ["up", "--datanodes", "3", "--port", "0", "--http-port", "0", "--exec", &command];
    let status = Command::new(&own).args(up).status()?;
    Ok(status.code().unwrap_or(1))
}
