//! Our load generator on both NameNodes.

use zerohop_bench::metadata::{Load, metadata};
use zerohop_bench::{Row, WatchedProcess};
use zerohop_interop::{Kind, Outcome};

use crate::both::Both;
use crate::table::{Better, Figure, Pair};

const CONNECTIONS: usize = 16;

/// A rate and the NameNode's CPU time for each kind of operation.
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    let (apache, ours) = (measure(both, Kind::Apache)?, measure(both, Kind::Ours)?);
    for (apache, ours) in apache.iter().zip(&ours) {
        add(Pair {
            name: format!("NameNode: {}", ours.name),
            unit: "ops/s",
            cpu_unit: "us/op",
            better: Better::More,
            apache: Figure::of_row(apache),
            ours: Figure::of_row(ours),
            goal: Some(3.0),
        });
    }
    Ok(())
}

fn measure(both: &Both, kind: Kind) -> Outcome<Vec<Row>> {
    let cluster = both.cluster(kind);
    let load = Load {
        namenode: cluster.namenode_address(),
        user: cluster.fs.user().clone(),
        directory: "/metadata".to_owned(),
        connections: CONNECTIONS,
        operations: both.args.operations,
        runs: both.args.runs,
    };
    let watched: [WatchedProcess; 1] = [cluster.namenode()];
    // One thread makes more calls than two that wake each other, and leaves a core to the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| e.to_string())?;
    // Compilers of the JVM and caches are as warm as in a server that runs.
    let warm = Load { directory: "/warm".to_owned(), runs: 1, ..load.clone() };
    runtime.block_on(metadata(&warm, &[])).map_err(|e| e.to_string())?;
    runtime.block_on(metadata(&load, &watched)).map_err(|e| e.to_string())
}
