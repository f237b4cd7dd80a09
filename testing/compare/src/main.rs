//! Ours and Apache Hadoop beside each other: the same work, the same machine, the same run.
//!
//! Both clusters stand side by side all the time; each piece of work runs on one, then on the other.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod args;
mod both;
mod clusters;
mod httpfs;
mod load;
mod section;
mod sections;
mod spark;
mod table;

use std::process::ExitCode;
use std::time::Instant;

use args::{Args, USAGE};
use both::Both;
use clusters::Cluster;
use load::Load;
use table::{Pair, number, table};
use zerohop_interop::{Kind, Outcome, tools};

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(problem) => {
            eprintln!("compare: {problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if args.help {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    if args.lists_sections {
        args.sections.iter().for_each(|section| println!("{}", section.name()));
        return ExitCode::SUCCESS;
    }
    if let Some((len, replicas)) = args.ready {
        return match zerohop_bench::memory::ready_to_write(len, replicas) {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("compare: memory cannot be made ready: {problem}");
                ExitCode::FAILURE
            }
        };
    }
    match compare(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("compare: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn compare(args: Args) -> Outcome {
    let start = Instant::now();
    // run.sh names one, and removes it even when a signal ends this.
    let directory = std::env::var_os("COMPARE_DIRECTORY").map(std::path::PathBuf::from);
    let own = || tools::out().join(format!("compare-{}", std::process::id()));
    let directory = directory.unwrap_or_else(own);
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let _directory = Directory(directory.clone());
    eprintln!("starting Apache Hadoop 3.4.3 and ours: a NameNode and three DataNodes each");
    let both = Both {
        load: Load::compile(&directory)?,
        apache: Cluster::start(Kind::Apache, &directory)?,
        ours: Cluster::start(Kind::Ours, &directory)?,
        args,
        directory,
    };
    let mut pairs = Vec::new();
    let mut failures = Vec::new();
    for section in &both.args.sections {
        // What one part cannot measure does not take the others' figures away.
        let done = sections::run(*section, &both, &mut |pair: Pair| {
            let (apache, ours) = (number(pair.apache.value), number(pair.ours.value));
            eprintln!("{}: Apache {apache}, ours {ours} {}", pair.name, pair.unit);
            pairs.push(pair);
        });
        failures.extend(done.err().map(|problem| format!("{}: {problem}", section.name())));
    }
    if both.args.json {
        println!("{}", serde_json::to_string_pretty(&pairs).map_err(|e| e.to_string())?);
    } else {
        println!("{}\n", zerohop_bench::Report::new().machine);
        println!("{}\n", table(&pairs));
        println!("{}", NOTES.replace("@RUNS@", &both.args.runs.to_string()));
        println!("took {:.0} s", start.elapsed().as_secs_f64());
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n")),
    }
}

const NOTES: &str = "Medians of @RUNS@ runs after those that warm up; MB/s and GB count in powers of 10. CPU is that of
client and DataNodes together for long and small files, of the NameNode for its operations, of the
command for shell and copies, of the process that runs the query for the star schema. Every process has a JVM or address space of its own; all share the machine.";

/// Removed at the end, whatever happens.
struct Directory(std::path::PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
