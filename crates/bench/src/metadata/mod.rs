//! The NameNode under load: many connections, each with one call in flight, over real RPC.

mod call;

pub use call::Operation;

use crate::measure::{Latencies, median};
use crate::process::{CpuMeter, WatchedProcess};
use crate::report::Row;
use call::Worker;
use std::time::Instant;
use zerohop_transport::login::User;
use zerohop_transport::rpc::RpcError;
use zerohop_transport::rpc::client::{ClientOptions, RpcClient};

/// The protocol all calls belong to.
pub const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

/// How much load, and where.
#[derive(Clone, Debug)]
pub struct Load {
    /// `host:port` of the NameNode.
    pub namenode: String,
    /// Who calls.
    pub user: User,
    /// An absolute path that is made, filled, and deleted at the end.
    pub directory: String,
    /// Connections, each with one call in flight.
    pub connections: usize,
    /// Operations of each kind in a run, over all connections.
    pub operations: usize,
    /// Runs; each one works in a directory of its own.
    pub runs: usize,
}

/// One kind of operation in one run.
struct Phase {
    per_second: f64,
    latencies: Latencies,
    cpu: Vec<(String, f64)>,
}

/// Runs the load: for each kind of operation its rate, times, and CPU time of the watched processes.
pub async fn metadata(load: &Load, watched: &[WatchedProcess]) -> Result<Vec<Row>, RpcError> {
    let mut workers = Vec::new();
    for _ in 0..load.connections {
        let client =
            RpcClient::new(&load.namenode, PROTOCOL, 1, &load.user, ClientOptions::default());
        workers.push(Worker::new(client.serial().await?, String::new()));
    }
    let mut phases: Vec<Vec<Phase>> = Operation::ALL.iter().map(|_| Vec::new()).collect();
    for run in 0..load.runs {
        for (number, worker) in workers.iter_mut().enumerate() {
            worker.move_to(format!("{}/run-{run}/c{number}", load.directory));
        }
        for (operation, taken) in Operation::ALL.iter().zip(&mut phases) {
            taken.push(phase(load, &mut workers, *operation, watched).await?);
        }
    }
    if let Some(worker) = workers.first_mut() {
        worker.move_to(load.directory.clone());
        worker.remove_directory().await?;
    }
    let rows = Operation::ALL.iter().zip(&phases);
    Ok(rows.map(|(operation, taken)| row(load, *operation, taken)).collect())
}

async fn phase(
    load: &Load,
    workers: &mut Vec<Worker>,
    operation: Operation,
    watched: &[WatchedProcess],
) -> Result<Phase, RpcError> {
    let each = load.operations.div_ceil(load.connections.max(1));
    let meter = CpuMeter::start(watched);
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for mut worker in workers.drain(..) {
        tasks.spawn(async move {
            let latencies = worker.run(operation, each).await;
            (worker, latencies)
        });
    }
    let mut latencies = Latencies::default();
    while let Some(joined) = tasks.join_next().await {
        match joined {
            Ok((worker, done)) => {
                latencies.merge(&done?);
                workers.push(worker);
            }
            Err(died) => std::panic::resume_unwind(died.into_panic()),
        }
    }
    let per_second = latencies.count() as f64 / start.elapsed().as_secs_f64();
    Ok(Phase { per_second, latencies, cpu: meter.stop() })
}

fn row(load: &Load, operation: Operation, taken: &[Phase]) -> Row {
    let name = format!("{}, {} connections", operation.name(), load.connections);
    let mut row = Row::new(name, "ops/s", taken.iter().map(|phase| phase.per_second).collect());
    let mut all = Latencies::default();
    taken.iter().for_each(|phase| all.merge(&phase.latencies));
    row.latency = Some(all.percentiles());
    let names = taken.first().map(|phase| phase.cpu.as_slice()).unwrap_or_default();
    for (i, (process, _)) in names.iter().enumerate() {
        let spent = taken.iter().filter_map(|phase| {
            let seconds = phase.cpu.get(i)?.1;
            Some(seconds * 1e6 / phase.latencies.count().max(1) as f64)
        });
        row = row.cost(process, median(&spent.collect::<Vec<_>>()), "us/op");
    }
    row
}
