//! Reads of one machine: Apache's client by short circuit on its own DataNode and on ours, beside our
//! client on ours; every byte verified, the page cache warm.

use std::time::Duration;

use zerohop_bench::dfsio::matrix::{Cell, Matrix, Op, Plan, ReadMode, Row};
use zerohop_conf::Conf;
use zerohop_interop::Outcome;

use super::data::settle;
use crate::both::Both;
use crate::clusters::Cluster;
use crate::table::{Better, Figure, Pair, number};

/// Bytes of a random read.
const LEN: usize = 4096;
const OPS: [Op; 2] = [Op::Read, Op::RandomRead];
const BUFFER_KEY: &str = "dfs.client.read.shortcircuit.buffer.size";

/// What Apache's client does, and how many times better ours shall be.
struct Work {
    name: &'static str,
    step: &'static str,
    options: &'static [(&'static str, &'static str)],
    goal: f64,
}

const SEQUENTIAL: [Work; 2] = [
    Work { name: "1 MB byte[]", step: "local", options: &[], goal: 2.0 },
    Work { name: "1 MB direct buffer", step: "local", options: &[("direct", "1")], goal: 2.0 },
];

const RANDOM: [Work; 2] = [
    Work { name: "default", step: "random", options: &[], goal: 130.0 },
    Work { name: "tuned", step: "random", options: &[(BUFFER_KEY, "4096")], goal: 7.0 },
];

/// Each of Apache's ways on both clusters, then ours.
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    // What Apache's client reached stays in the table even where ours cannot be measured.
    let ours = ours(both);
    for (op, all) in [(Op::Read, &SEQUENTIAL), (Op::RandomRead, &RANDOM)] {
        for work in all {
            let (what, unit) = match op.is_sequential() {
                true => ("local read, verified", "MB/s"),
                false => ("local random 4 KB, verified", "ops/s"),
            };
            let on = |cluster: &Cluster| {
                settle();
                both.load.run(cluster, work.step, &options(both, cluster, work)?)
            };
            let apache = on(&both.apache)?;
            let pair = |name: String, ours: Figure, goal: Option<f64>| Pair {
                name,
                unit,
                cpu_unit: "s/GB",
                better: Better::More,
                apache: apache.clone(),
                ours,
                goal,
            };
            let name = format!("{what}: Apache's client, {}", work.name);
            add(pair(format!("{name}, on both"), on(&both.ours)?, None));
            if let Some(row) = ours.as_ref().ok().and_then(|rows| best(rows, op)) {
                let limit = match op.is_sequential() {
                    true => format!("read(2) {}", number(row.limit_mb_s.unwrap_or(0.0))),
                    false => format!("pread(2) {}", number(row.limit_ops_s.unwrap_or(0.0))),
                };
                let name = format!("{name}; ours {} ({})", row.path, limit);
                add(pair(name, figure(row, op), Some(work.goal)));
            }
        }
    }
    let missing = ours?.into_iter().find_map(|row| row.not_available);
    missing.map_or(Ok(()), |why| Err(format!("our client: {why}")))
}

fn options<'a>(both: &Both, cluster: &Cluster, work: &Work) -> Outcome<Vec<(&'a str, String)>> {
    let mut options =
        vec![("size", both.args.size.to_string()), ("runs", both.args.runs.to_string())];
    options.extend(cluster.local_settings()?);
    options.extend(work.options.iter().map(|(key, value)| (*key, (*value).to_owned())));
    Ok(options)
}

/// Our client on our DataNodes, by both local ways, each beside the machine's own call.
fn ours(both: &Both) -> Outcome<Vec<Row>> {
    let cluster = &both.ours;
    let mut conf = Conf::load(cluster.conf()).map_err(|e| e.to_string())?;
    for (key, value) in cluster.local_settings()? {
        conf.set(key, value);
    }
    let plan = Plan {
        conf,
        base: "/load".to_owned(),
        local_directory: both.directory.clone(),
        data_directories: cluster.data_directories(),
        watched: cluster.datanodes(),
        files: 1,
        size: both.args.size,
        buffer_len: 1 << 20,
        runs: both.args.runs.max(5),
        runs_dropped: 0,
        time: Duration::from_millis(300),
        modes: vec![ReadMode::LocalMapped, ReadMode::Local],
        ops: OPS.to_vec(),
    };
    let cell = |op: Op, mode| {
        let size = if op.is_sequential() { 1 << 20 } else { LEN };
        Cell { op, mode, verified: true, is_dropped: false, size, threads: 1 }
    };
    let cells: Vec<Cell> = OPS
        .into_iter()
        .flat_map(|op| [cell(op, ReadMode::LocalMapped), cell(op, ReadMode::Local)])
        .collect();
    let matrix = Matrix::prepare(plan).map_err(|e| e.to_string())?;
    Ok(matrix.run_cells(&cells, &mut |_| {}).map_err(|e| e.to_string())?.rows)
}

/// The faster way.
fn best(rows: &[Row], op: Op) -> Option<&Row> {
    let rows = rows.iter().filter(|row| row.op == op.name() && row.mb_s.is_some());
    rows.max_by(|a, b| a.mb_s.unwrap_or(0.0).total_cmp(&b.mb_s.unwrap_or(0.0)))
}

fn figure(row: &Row, op: Op) -> Figure {
    let value = if op.is_sequential() { row.mb_s } else { row.ops_s };
    let cpu = row.client_cpu_s_per_gb.zip(row.datanode_cpu_s_per_gb);
    let figure = Figure::new(value.into_iter().collect());
    Figure { cpu: cpu.map(|(client, datanode)| client + datanode), ..figure }
}
