//! The script that each row of the matrix runs: the same steps whoever plays client, NameNode and
//! DataNode. All-Apache must pass it first; that row judges the script.

mod data;
mod faults;
mod meta;
mod row;
mod servers;
pub mod swap;
pub mod viewers;

use std::time::Instant;

pub use row::{BLOCK, Row};
pub use servers::Servers;

use crate::cluster::Cluster;
use crate::driver::Driver;
use crate::{Kind, Outcome};

type Step<S> = fn(&mut Row<S>) -> Outcome;

/// The steps in order. Each uses a directory of its own; `restart` comes last and reads all back.
fn steps<S: Servers>() -> [(&'static str, Step<S>); 21] {
    [
        ("create and read", data::create),
        ("list and stat", meta::list),
        ("append", data::append),
        ("hflush and read", data::hflush),
        ("positioned reads", data::positioned),
        ("truncate", data::truncate),
        ("concat", data::concat),
        ("checksum", data::checksum),
        ("rename", meta::rename),
        ("delete", meta::delete),
        ("permissions", meta::permissions),
        ("owners and times", meta::owners),
        ("extended attributes and ACLs", meta::attributes),
        ("quotas and summaries", meta::quotas),
        ("leases", data::leases),
        ("pipeline of three", data::pipeline),
        ("replication up and down", data::replication),
        ("DataNode killed while writing", faults::kill_writing),
        ("DataNode killed while appending after hflush", faults::kill_flushed),
        ("DataNode killed while reading", faults::kill_reading),
        ("restart", faults::restart),
    ]
}

/// The steps that fill a namespace with a bit of everything.
const FILLING: [(&str, Step<Cluster>); 11] = [
    ("create", data::create),
    ("list", meta::list),
    ("append", data::append),
    ("truncate", data::truncate),
    ("concat", data::concat),
    ("rename", meta::rename),
    ("delete", meta::delete),
    ("permissions", meta::permissions),
    ("owners", meta::owners),
    ("attributes", meta::attributes),
    ("quotas", meta::quotas),
];

/// Runs the whole script on one row and panics with all that failed.
pub fn run(client: Kind, namenode: Kind, datanodes: Kind) {
    let name = format!("matrix-{client:?}-{namenode:?}-{datanodes:?}").to_lowercase();
    let started = Instant::now();
    let failures = match Row::start(&name, client, namenode, datanodes) {
        Ok(mut row) => row.run_steps(|row, _, step| step(row)),
        Err(e) => vec![format!("start: {e}")],
    };
    println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
    assert!(failures.is_empty(), "{name}: {} failed\n{}", failures.len(), failures.join("\n"));
}

/// Runs the whole script on daemons that serve, and gives all that failed. `around` carries each step out, with what is to
/// happen meanwhile; it is told the step's number.
pub fn run_on<S: Servers>(
    servers: S,
    client: Driver,
    others: Vec<Driver>,
    around: impl FnMut(&mut Row<S>, usize, fn(&mut Row<S>) -> Outcome) -> Outcome,
) -> Vec<String> {
    Row::on(servers, client, others).run_steps(around)
}

impl<S: Servers> Row<S> {
    fn run_steps(
        &mut self,
        mut around: impl FnMut(&mut Self, usize, Step<S>) -> Outcome,
    ) -> Vec<String> {
        let only = std::env::var("ZEROHOP_STEP").ok();
        let mut failures = Vec::new();
        for (number, (name, step)) in steps().into_iter().enumerate() {
            if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                continue;
            }
            let started = Instant::now();
            let outcome = around(self, number, step);
            let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
            println!("  {name}: {verdict} ({:.1} s)", started.elapsed().as_secs_f64());
            if let Err(e) = outcome {
                failures.push(format!("{name}: {e}"));
                self.cluster.keep_logs();
            }
        }
        failures
    }
}

impl Row {
    /// Runs the steps that fill a namespace; the first failure ends it.
    fn fill(&mut self) -> Outcome {
        FILLING.iter().try_for_each(|(name, step)| step(self).map_err(|e| format!("{name}: {e}")))
    }
}
