//! A star schema in SQL: Apache Spark on Apache's cluster, by Apache's client, beside DataFusion on ours, by our client; each with local
//! reads, over TCP and on the same files of the local disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use zerohop_bench::dfsio::matrix::{CacheDropper, find};
use zerohop_client::CreateOptions;
use zerohop_interop::Outcome;

use crate::both::Both;
use crate::clusters::Cluster;
use crate::spark::{Spark, Times};
use crate::table::{Better, Figure, Pair, number};

/// The tables on Apache's cluster.
const BASE: &str = "/star";

/// Where the tables are read from: for people, and as zerohop-star names it in JSON.
const SOURCES: [(&str, &str); 3] =
    [("local reads", "local_reads"), ("TCP", "tcp"), ("local files", "files")];

/// Seconds that were published of an aggregate over 8 billion facts joined to two dimensions, with an idle network; the same by
/// short circuit and over TCP.
const PUBLISHED_FIRST: f64 = 29.8;
const PUBLISHED_SECOND: f64 = 3.9;

/// What zerohop-star reports.
#[derive(Deserialize)]
struct Report {
    figures: Vec<Ours>,
}

#[derive(Deserialize)]
struct Ours {
    query: String,
    source: String,
    first: Runs,
    second: Runs,
}

#[derive(Deserialize)]
struct Runs {
    seconds: Vec<f64>,
    client_cpu_s: Vec<f64>,
}

/// Both queries from all sources.
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    let program = std::env::var_os("COMPARE_STAR").map(PathBuf::from);
    let program =
        program.ok_or("COMPARE_STAR names no zerohop-star; testing/compare/run.sh builds it")?;
    let spark = Spark::compile(&both.directory)?;
    let tables = both.directory.join("star");
    let mut generate = Command::new(&program);
    generate.args(["--scale", &both.args.scale, "--generate"]).arg(&tables);
    output_of(&mut generate)?;
    let theirs = theirs(both, &spark, &tables)?;
    let ours = ours(both, &program, &tables)?;
    for query in theirs[0].keys() {
        let digest = |times: &BTreeMap<String, Times>| {
            times.get(query).map(|times| times.digest().to_owned())
        };
        if theirs.iter().any(|times| digest(times) != digest(&theirs[0])) {
            return Err(format!("Spark's answers to {query} differ from source to source"));
        }
        for is_second in [false, true] {
            let figures = (0..SOURCES.len()).map(|at| {
                let apache = theirs[at].get(query).ok_or("Spark has left a query out")?;
                let ours = ours.iter().find(|one| is_of(one, query, SOURCES[at].1));
                let ours = ours.ok_or("zerohop-star has left a query out")?;
                let runs = if is_second { &ours.second } else { &ours.first };
                let ours = Figure::new(runs.seconds.clone()).with_cpu(&runs.client_cpu_s);
                Ok((apache.figure(is_second), ours))
            });
            let figures = figures.collect::<Outcome<Vec<_>>>()?;
            add_rows(query, is_second, &figures, add);
        }
    }
    Ok(())
}

/// The rows of a query's first or second run; `figures` are Spark's and ours, in the order of [`SOURCES`].
fn add_rows(query: &str, is_second: bool, figures: &[(Figure, Figure)], add: &mut dyn FnMut(Pair)) {
    let run = if is_second { "second" } else { "first" };
    let name = format!("star, {query}, {run} run");
    for ((source, _), (apache, ours)) in SOURCES.iter().zip(figures) {
        let published = if is_second { PUBLISHED_SECOND } else { PUBLISHED_FIRST };
        let published = match query == "one-date" && *source != "local files" {
            true => format!(" (published: {} s)", number(published)),
            false => String::new(),
        };
        add(Pair {
            name: format!("{name}, {source}: Spark; ours in DataFusion{published}"),
            unit: "s",
            cpu_unit: "s",
            better: Better::Less,
            apache: apache.clone(),
            ours: ours.clone(),
            goal: None,
        });
    }
    let ratio = |over: usize, under: usize| {
        let of = |value: f64, by: f64| Figure::new(vec![value / by]);
        let (above, below) = (&figures[over], &figures[under]);
        (of(above.0.value, below.0.value), of(above.1.value, below.1.value))
    };
    for (over, under, better) in [(0, 2, Better::Less), (1, 0, Better::More)] {
        let (apache, ours) = ratio(over, under);
        let name = format!("{name}: {} / {}", SOURCES[over].0, SOURCES[under].0);
        add(Pair { name, unit: "", cpu_unit: "", better, apache, ours, goal: None });
    }
}

/// Whether a figure of ours is of this query, which has the name of its file, and of this source.
fn is_of(figure: &Ours, query: &str, source: &str) -> bool {
    figure.query.replace(' ', "-") == query && figure.source == source
}

/// Spark's times by query, in the order of [`SOURCES`].
fn theirs(both: &Both, spark: &Spark, tables: &Path) -> Outcome<Vec<BTreeMap<String, Times>>> {
    let cluster = &both.apache;
    let [(short_circuit, _), socket] = cluster.local_settings()?;
    let (local, stored) = upload(cluster, tables)?;
    let blocks = find(&cluster.fs, &stored, &cluster.data_directories());
    let blocks = blocks.map_err(|e| e.to_string())?.iter().flat_map(|file| file.all()).collect();
    let (in_hdfs, on_disk) = (CacheDropper::choose(blocks), CacheDropper::Files(local));
    in_hdfs.settle().and_then(|()| on_disk.settle()).map_err(|e| e.to_string())?;
    let mut times = Vec::new();
    for (name, source) in SOURCES {
        let (base, dropper) = match source {
            "files" => (format!("file://{}", tables.display()), &on_disk),
            _ => (format!("hdfs://{}{BASE}", cluster.namenode_address()), &in_hdfs),
        };
        let settings = match source {
            "local_reads" => vec![(short_circuit, "true".to_owned()), socket.clone()],
            "tcp" => vec![(short_circuit, "false".to_owned())],
            _ => Vec::new(),
        };
        let mut drop = || {
            // As zerohop-star does, a first run goes on with pages that stay.
            if let Err(why) = dropper.drop_cluster() {
                eprintln!("star, {name}: pages stay in the page cache: {why}");
            }
            Ok(())
        };
        let runs = both.args.runs;
        times.push(spark.run(&cluster.conf(), tables, &base, runs, &settings, &mut drop)?);
    }
    cluster.fs.delete(BASE, true).map_err(|e| e.to_string())?;
    Ok(times)
}

/// Copies the tables to a cluster; the files on the local disk and in HDFS.
fn upload(cluster: &Cluster, tables: &Path) -> Outcome<(Vec<PathBuf>, Vec<String>)> {
    let (mut local, mut stored) = (Vec::new(), Vec::new());
    for table in entries(tables)? {
        // Beside the tables there are the statements.
        if !table.is_dir() {
            continue;
        }
        for file in entries(&table)? {
            let name = file.strip_prefix(tables).map_err(|e| e.to_string())?;
            let path = format!("{BASE}/{}", name.display());
            let mut reader = File::open(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let writer = cluster.fs.create(&path, CreateOptions::overwriting());
            let mut writer = writer.map_err(|e| format!("{path}: {e}"))?;
            std::io::copy(&mut reader, &mut writer).map_err(|e| format!("{path}: {e}"))?;
            writer.close().map_err(|e| format!("{path}: {e}"))?;
            local.push(file);
            stored.push(path);
        }
    }
    Ok((local, stored))
}

fn entries(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |e: std::io::Error| format!("{}: {e}", directory.display());
    let entries = std::fs::read_dir(directory).map_err(failed)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

/// zerohop-star on our cluster, with the same files.
fn ours(both: &Both, program: &Path, tables: &Path) -> Outcome<Vec<Ours>> {
    let cluster = &both.ours;
    let directories = cluster.data_directories();
    let directories: Vec<String> =
        directories.iter().map(|dir| dir.display().to_string()).collect();
    let mut command = Command::new(program);
    command.args(["--scale", &both.args.scale, "--json", "--tables"]).arg(tables);
    command.args(["--runs", &both.args.runs.to_string(), "--config"]).arg(cluster.conf());
    command.args(["-D", &format!("dfs.datanode.data.dir={}", directories.join(","))]);
    for (key, value) in cluster.local_settings()? {
        command.args(["-D", &format!("{key}={value}")]);
    }
    command.env_remove("HADOOP_CONF_DIR");
    let text = output_of(&mut command)?;
    let report: Report = serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
    Ok(report.figures)
}

fn output_of(command: &mut Command) -> Outcome<String> {
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|e| format!("zerohop-star: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err("zerohop-star failed; its error is above".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_published_figures_and_what_local_reads_bring() {
        let figure = |seconds: f64| Figure::new(vec![seconds]);
        let figures: Vec<_> = [(2.0, 1.0), (3.0, 4.0), (1.0, 1.0)]
            .map(|(apache, ours)| (figure(apache), figure(ours)))
            .into();
        let mut rows = Vec::new();
        add_rows("one-date", true, &figures, &mut |pair| rows.push(pair));
        assert!(rows[1].name.contains("TCP") && rows[1].name.contains("published: 3.9"));
        assert!(!rows[2].name.contains("published"), "{}", rows[2].name);
        let ratios = [&rows[3], &rows[4]].map(|pair| (pair.apache.value, pair.ours.value));
        assert_eq!((rows.len(), ratios), (5, [(2.0, 1.0), (1.5, 4.0)]));
        let report = r#"{"figures": [{"query": "one date", "source": "tcp", "network": "idle",
            "first": {"seconds": [1], "client_cpu_s": [1]}, "second": {"seconds": [1], "client_cpu_s": [1]}}]}"#;
        let report: Report = serde_json::from_str(report).unwrap();
        assert!(is_of(&report.figures[0], "one-date", "tcp"));
        assert!(!is_of(&report.figures[0], "one-date", "files"));
    }
}
