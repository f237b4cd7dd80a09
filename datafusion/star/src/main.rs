//! `zerohop-star`: what `zerohop bench star` runs. SQL queries of a star schema, by DataFusion on HDFS and on local files.

mod args;
mod experiment;
mod failure;
mod generate;
mod network;
mod own_cluster;
mod published;
mod report;
mod schema;
mod source;
mod streams;
mod tables;
mod two_machines;

use args::{Args, USAGE};
use experiment::Experiment;
use failure::Result;
use report::Report;
use std::io::Write;
use std::path::Path;
use tables::Tables;
use zerohop::FileSystem;

/// As Hadoop's commands: Java's `exit(-1)`.
const EXIT_USAGE: i32 = 255;

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        println!("{USAGE}");
        return;
    }
    let is_streams = words.first().is_some_and(|word| word == streams::WORD);
    let streams = is_streams.then(|| words.drain(..2.min(words.len())).next_back());
    let args = Args::parse(&words).unwrap_or_else(|problem| {
        eprintln!("bench star: {problem}\n{USAGE}");
        std::process::exit(EXIT_USAGE)
    });
    let done = match streams.map(|count| count.and_then(|count| count.parse().ok())) {
        Some(count) => make_busy(&args, count),
        None => measure(&args),
    };
    std::process::exit(done.unwrap_or_else(|error| {
        eprintln!("bench star: {error}");
        1
    }));
}

fn make_busy(args: &Args, count: Option<usize>) -> Result<i32> {
    let count = count.ok_or("the number of readers is missing")?;
    streams::run(count, &args.cluster.load()?)?;
    Ok(0)
}

/// Writes the tables and says how many bytes they have.
fn write_tables(args: &Args, directory: &Path) -> Result<i32> {
    let mut bytes = 0;
    for file in generate::generate(directory, args.facts)? {
        bytes += std::fs::metadata(&file.local)?.len();
    }
    generate::write_queries(directory)?;
    println!("{bytes} bytes of {} facts and their dimensions", args.facts);
    Ok(0)
}

fn measure(args: &Args) -> Result<i32> {
    if let Some(directory) = &args.generate {
        return write_tables(args, directory);
    }
    let conf = args.cluster.load()?;
    if !conf.default_fs()?.starts_with("hdfs:") {
        return own_cluster::run(args);
    }
    let builder = FileSystem::builder().conf(conf.clone());
    let fs = builder.set("dfs.client.read.shortcircuit", "false").build_blocking()?;
    eprintln!("writing {} facts and their dimensions, to the cluster and beside it", args.facts);
    let tables = Tables::make(args, fs.clone(), &conf)?;
    if args.is_busy && args.far.is_some() {
        streams::write_file(&fs)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let experiment = Experiment { args, conf: &conf, tables: &tables, runtime: &runtime };
    let report = Report::new(args, &tables, experiment.run()?);
    let mut text = if args.json { report.to_json()? } else { report.to_table() };
    text = text.trim_end().to_owned() + "\n";
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(0)
}
