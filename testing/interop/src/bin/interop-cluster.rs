//! Starts a cluster of either kind, runs a command beside it, stops it: for experiments and for the
//! comparisons. `interop-cluster [--namenode KIND] [--datanodes KIND] [--count N] [-D KEY=VALUE]...
//! -- COMMAND...` with KIND `apache` or `ours`.
//!
//! The command finds HADOOP_CONF_DIR, and ZEROHOP_URI, ZEROHOP_CLASSPATH (Apache's jars),
//! ZEROHOP_NAMENODE_PID and ZEROHOP_DATANODE_PIDS (separated by spaces) in its environment.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::process::{Command, exit};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::site::Setting;
use zerohop_interop::tools::Java;
use zerohop_interop::{Kind, Outcome};

fn main() {
    match run(std::env::args().skip(1)) {
        Ok(code) => exit(code),
        Err(e) => {
            eprintln!("interop-cluster: {e}");
            exit(2);
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Outcome<i32> {
    let name = format!("cluster-{}", std::process::id());
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let mut spec = Spec { name: &name, namenode, datanodes, count: 1, settings: Vec::new() };
    let mut command = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--namenode" => spec.namenode = kind(&value()?)?,
            "--datanodes" => spec.datanodes = kind(&value()?)?,
            "--count" => spec.count = value()?.parse().map_err(|e| format!("--count: {e}"))?,
            "-D" => spec.settings.push(setting(&value()?)?),
            "--" => command.extend(args.by_ref()),
            other => return Err(format!("unknown argument {other}")),
        }
    }
    let (program, words) = command.split_first().ok_or("no command after --")?;
    let cluster = Cluster::start(&spec)?;
    let (namenode, datanodes) = cluster.process_ids();
    let ids: Vec<String> = datanodes.iter().map(u32::to_string).collect();
    let status = Command::new(program)
        .args(words)
        .env("HADOOP_CONF_DIR", cluster.conf())
        .env("ZEROHOP_URI", cluster.uri())
        .env("ZEROHOP_CLASSPATH", &Java::get()?.class_path)
        .env("ZEROHOP_NAMENODE_PID", namenode.map_or(String::new(), |id| id.to_string()))
        .env("ZEROHOP_DATANODE_PIDS", ids.join(" "))
        .status()
        .map_err(|e| format!("{program}: {e}"))?;
    Ok(status.code().unwrap_or(1))
}

fn kind(word: &str) -> Outcome<Kind> {
    match word {
        "apache" => Ok(Kind::Apache),
        "ours" => Ok(Kind::Ours),
        other => Err(format!("{other} is neither apache nor ours")),
    }
}

fn setting(pair: &str) -> Outcome<Setting> {
    let (name, value) = pair.split_once('=').ok_or_else(|| format!("-D {pair}: no ="))?;
    Ok((name.to_owned(), value.to_owned()))
}
