//! Short files on connections that stay open.

use super::plan::{GATEWAY, RestPlan};
use super::service::{SHORT, Upload};
use crate::files::{Failure, repeat};
use crate::measure::Latencies;
use crate::report::Row;
use std::io;
use std::time::{Duration, Instant};

/// Bytes of the file.
const LEN: usize = 1024;
/// Threads with a connection each.
const READERS: usize = 8;

/// Reads of 1 KiB: how many a second, and how many a second of the server's CPU time.
pub(super) fn run(plan: &RestPlan, add: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let path = plan.path("short");
    plan.service.client(SHORT).create(&path, Upload::Bytes(&[b'z'; LEN]))?;
    let mut all = Latencies::default();
    let name = format!("GET of 1 KiB, {READERS} connections");
    let row = repeat(
        name,
        "ops/s",
        (plan.runs, "us/op"),
        &plan.watched,
        || Ok(()),
        |_| {
            let (took, latencies) = read_all(plan, &path)?;
            all.merge(&latencies);
            let count = latencies.count() as f64;
            Ok((count / took.as_secs_f64(), count / 1e6))
        },
    )?;
    let per_core = row.costs.iter().find(|cost| cost.name == GATEWAY && cost.value > 0.0);
    let per_core = per_core.map(|cost| 1e6 / cost.value);
    add(Row { latency: Some(all.percentiles()), ..row });
    if let Some(rate) = per_core {
        add(Row::new("GET of 1 KiB, for a second of the gateway's CPU time", "ops", vec![rate]));
    }
    Ok(())
}

fn read_all(plan: &RestPlan, path: &str) -> Result<(Duration, Latencies), Failure> {
    let start = Instant::now();
    let read = || -> io::Result<Latencies> {
        let (mut client, mut latencies) = (plan.service.client(SHORT), Latencies::default());
        while start.elapsed() < plan.time {
            let len = latencies.time(|| client.read(path, &mut |_| Ok(())))?;
            if len != LEN as u64 {
                return Err(io::Error::other(format!("{path} has {LEN} bytes, {len} were sent")));
            }
        }
        Ok(latencies)
    };
    let mut all = Latencies::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        running.into_iter().try_for_each(|one| {
            all.merge(&one.join().map_err(|_| "a thread died")??);
            Ok::<(), Failure>(())
        })
    })?;
    Ok((start.elapsed(), all))
}
