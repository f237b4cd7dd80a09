//! Many open connections, a part of which send a request now and then.

use super::plan::RestPlan;
use super::service::{Client, SHORT, Upload};
use crate::files::Failure;
use crate::measure::Latencies;
use crate::memory::ready_to_write;
use crate::report::Row;
use std::time::{Duration, Instant};

/// Bytes of the file.
const LEN: usize = 4096;
/// Each active connection sends a request so often.
const INTERVAL: Duration = Duration::from_millis(50);

/// What active connections saw.
#[derive(Default)]
struct Seen {
    latencies: Latencies,
    failures: u64,
}

/// The memory of the server, and how long a read of 4 KiB takes.
pub(super) fn run(plan: &RestPlan, add: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    // What the steps before have written would reach the disk while answers are timed.
    ready_to_write(LEN as u64, 1)?;
    let path = plan.path("page");
    plan.service.client(SHORT).create(&path, Upload::Bytes(&[b'z'; LEN]))?;
    let own_memory = || plan.gateway().and_then(|gateway| gateway.own_memory().ok());
    let before = own_memory();
    let (mut all, mut p99, mut memory) = (Seen::default(), Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        let mut clients = Vec::with_capacity(plan.connections);
        for _ in 0..plan.connections {
            let mut client = plan.service.client(LEN + SHORT);
            all.failures += u64::from(client.read(&path, &mut |_| Ok(())).is_err());
            clients.push(client);
        }
        let (seen, most) = read_now_and_then(plan, &path, &mut clients, &own_memory)?;
        p99.push(seen.latencies.percentiles().p99_us);
        memory.extend(most.map(megabytes));
        all.latencies.merge(&seen.latencies);
        all.failures += seen.failures;
    }
    let name = format!("GET of 4 KiB, {} connections, {} active", plan.connections, plan.active);
    let row = Row::new(format!("{name}, p99"), "us", p99).failed(all.failures);
    add(Row { latency: Some(all.latencies.percentiles()), ..row });
    if let Some(before) = before {
        add(Row::new("memory of its own before", "MB", vec![megabytes(before)]));
        let name =
            format!("memory of its own, {} connections, {} active", plan.connections, plan.active);
        add(Row::new(name, "MB", memory));
    }
    Ok(())
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Also returns the most memory that was seen.
fn read_now_and_then(
    plan: &RestPlan,
    path: &str,
    clients: &mut [Client<'_>],
    own_memory: &dyn Fn() -> Option<u64>,
) -> Result<(Seen, Option<u64>), Failure> {
    let active = plan.active.min(clients.len()).max(1);
    let (start, mut most) = (Instant::now(), own_memory());
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let begin = |(number, client)| {
            // They do not all send at the same moment.
            let first = start + INTERVAL * number as u32 / active as u32;
            scope.spawn(move || read_at_intervals(client, path, first, start + plan.time))
        };
        let running: Vec<_> = clients.iter_mut().take(active).enumerate().map(begin).collect();
        while start.elapsed() < plan.time {
            std::thread::sleep(INTERVAL);
            most = most.max(own_memory());
        }
        running
            .into_iter()
            .map(|one| one.join().map_err(|_| "a thread died".into()))
            .collect::<Result<_, Failure>>()
    })?;
    let mut all = Seen::default();
    for one in seen {
        all.latencies.merge(&one.latencies);
        all.failures += one.failures;
    }
    Ok((all, most))
}

/// A request that waits for the one before it counts from the time when it was due.
fn read_at_intervals(client: &mut Client<'_>, path: &str, first: Instant, end: Instant) -> Seen {
    let (mut seen, mut due) = (Seen::default(), first);
    while due < end {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        match client.read(path, &mut |_| Ok(())) {
            Ok(len) if len == LEN as u64 => seen.latencies.add(due.elapsed()),
            _ => seen.failures += 1,
        }
        due += INTERVAL;
    }
    seen
}
