//! Apache's NNThroughputBenchmark as a client of both NameNodes.

use std::process::Stdio;

use zerohop_interop::{Kind, Outcome};

use crate::both::Both;
use crate::clusters::java;
use crate::table::{Better, Figure, Pair};

const CLASS: &str = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark";
const OPERATIONS: [(&str, &str); 6] = [
    ("create", "-files"),
    ("mkdirs", "-dirs"),
    ("open", "-files"),
    ("fileStatus", "-files"),
    ("rename", "-files"),
    ("delete", "-files"),
];

/// One run of each operation, after one that does not count.
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    for (operation, counted) in OPERATIONS {
        let measure = |kind| {
            once(both, kind, operation, counted)?;
            Ok::<_, String>(Figure::new(vec![once(both, kind, operation, counted)?]))
        };
        add(Pair {
            name: format!("NNThroughputBenchmark {operation}, 16 threads"),
            unit: "ops/s",
            cpu_unit: "",
            better: Better::More,
            apache: measure(Kind::Apache)?,
            ours: measure(Kind::Ours)?,
            goal: None,
        });
    }
    Ok(())
}

fn once(both: &Both, kind: Kind, operation: &str, counted: &str) -> Outcome<f64> {
    let cluster = both.cluster(kind);
    let uri = format!("hdfs://{}", cluster.namenode_address());
    let mut command = java(&cluster.conf(), &[])?;
    command.args([CLASS, "-fs", &uri, "-op", operation, "-threads", "16"]);
    command.args([counted, &both.args.operations.to_string()]);
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("java: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let rate = text.lines().rev().find_map(|line| line.rsplit_once("Ops per sec: "));
    let rate = rate.and_then(|(_, rate)| rate.trim().parse().ok());
    rate.ok_or_else(|| {
        let lines: Vec<&str> = text.lines().rev().take(20).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        format!("NNThroughputBenchmark {operation} on {kind:?}:\n{}", lines.join("\n"))
    })
}
