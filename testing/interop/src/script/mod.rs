//! The script that each row of the matrix runs: the same steps whoever plays client, NameNode and
//! DataNode. All-Apache must pass it first; that row judges the script.

mod data;
mod faults;
mod meta;
mod row;
pub mod swap;
pub mod viewers;

use std::time::Instant;

pub use row::{BLOCK, Row};

use crate::{Kind, Outcome};

type Step = fn(&mut Row) -> Outcome;

/// The steps in order. Each uses a directory of its own; `restart` comes last and reads all back.
const STEPS: [(&str, Step); 21] = [
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
];

/// The steps that fill a namespace with a bit of everything.
const FILLING: [(&str, Step); 11] = [
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
        Ok(mut row) => row.steps(),
        Err(e) => vec![format!("start: {e}")],
    };
    println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
    assert!(failures.is_empty(), "{name}: {} failed\n{}", failures.len(), failures.join("\n"));
}

impl Row {
    fn steps(&mut self) -> Vec<String> {
        let only = std::env::var("ZEROHOP_STEP").ok();
        let mut failures = Vec::new();
        for (name, step) in STEPS {
            if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                continue;
            }
            let started = Instant::now();
            let outcome = step(self);
            let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
            println!("  {name}: {verdict} ({:.1} s)", started.elapsed().as_secs_f64());
            if let Err(e) = outcome {
                failures.push(format!("{name}: {e}"));
                self.cluster.keep_logs = true;
            }
        }
        failures
    }

    /// Runs the steps that fill a namespace; the first failure ends it.
    fn fill(&mut self) -> Outcome {
        FILLING.iter().try_for_each(|(name, step)| step(self).map_err(|e| format!("{name}: {e}")))
    }
}
