//! REST: Apache's HttpFS beside our gateway, and WebHDFS on the ports of both kinds of cluster.

use std::time::Duration;

use zerohop_bench::rest::{self, RestPlan, Section, Service};
use zerohop_bench::{Row, WatchedProcess};
use zerohop_interop::Outcome;

use crate::both::Both;
use crate::clusters::Cluster;
use crate::httpfs::{Gateway, webhdfs};
use crate::table::{Better, Figure, Pair};

/// How much is moved before it counts.
const WARM: u64 = 256 << 20;

/// The whole measurement of `zerohop bench rest` through the gateways, that of files and appends by WebHDFS.
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    rest::permit_open_files();
    let through = |cluster: &Cluster| {
        let gateway = Gateway::start(cluster, &both.directory, &[])?;
        let service = gateway.service(cluster)?;
        measure(both, cluster, service, Some(gateway.watched()), &Section::ALL)
    };
    let (apache, ours) = (through(&both.apache)?, through(&both.ours)?);
    pairs("HttpFS", &apache, &ours, add);
    let sections = [Section::Files, Section::Append, Section::Lines];
    let by = |cluster: &Cluster| measure(both, cluster, webhdfs(cluster)?, None, &sections);
    let (apache, ours) = (by(&both.apache)?, by(&both.ours)?);
    pairs("WebHDFS", &apache, &ours, add);
    Ok(())
}

/// Long files through gateways that may read locally.
pub fn local(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    let through = |cluster: &Cluster| {
        let gateway = Gateway::start(cluster, &both.directory, &cluster.local_settings()?)?;
        let service = gateway.service(cluster)?;
        measure(both, cluster, service, Some(gateway.watched()), &[Section::Files])
    };
    let (apache, ours) = (through(&both.apache)?, through(&both.ours)?);
    pairs("HttpFS, local reads", &apache, &ours, add);
    Ok(())
}

fn measure(
    both: &Both,
    cluster: &Cluster,
    service: Service,
    gateway: Option<WatchedProcess>,
    sections: &[Section],
) -> Outcome<Vec<Row>> {
    let mut plan = RestPlan::new(service, both.directory.clone());
    plan.size = both.args.copy_size;
    plan.runs = both.args.runs;
    plan.sections = sections.to_vec();
    // Compilers of the JVM and caches are as warm as in a server that runs.
    let (size, time) = (plan.size.min(WARM), Duration::from_secs(2));
    let warm = RestPlan { size, time, runs: 1, ..plan.clone() };
    rest::run(&warm, &mut |_| ()).map_err(|e| e.to_string())?;
    plan.watched.extend(gateway);
    plan.watched.push(cluster.namenode());
    plan.watched.extend(cluster.datanodes());
    let report = rest::run(&plan, &mut |row| {
        eprintln!("{:?}: {}: {:.1}", cluster.kind, row.name, row.value)
    });
    Ok(report.map_err(|e| e.to_string())?.rows)
}

/// The rows that both sides have.
fn pairs(door: &str, apache: &[Row], ours: &[Row], add: &mut dyn FnMut(Pair)) {
    for theirs in apache {
        let Some(row) = ours.iter().find(|row| row.name == theirs.name) else { continue };
        // The machine's own speed is the same on both sides.
        if row.name.contains("sendfile") {
            continue;
        }
        let failed = match (theirs.failures, row.failures) {
            (Some(apache), Some(ours)) if apache + ours > 0 => {
                format!(" (failed: Apache {apache}, ours {ours})")
            }
            _ => String::new(),
        };
        add(Pair {
            name: format!("{door}: {}{failed}", row.name),
            unit: row.unit,
            cpu_unit: row.costs.first().map_or("", |cost| cost.unit),
            better: if matches!(row.unit, "us" | "MB") { Better::Less } else { Better::More },
            apache: Figure::of_row(theirs),
            ours: Figure::of_row(row),
            goal: goal(door, &row.name),
        });
    }
}

/// How many times better than HttpFS ours shall be.
fn goal(door: &str, name: &str) -> Option<f64> {
    let goals = [
        ("PUT of", "GB", 4.0),
        ("GET of", "GB", 2.0),
        ("append of 4 KiB", ", 1 writer", 300.0),
        ("append of 10 MB", "", 20.0),
    ];
    let goal =
        goals.into_iter().find(|(begin, end, _)| name.starts_with(begin) && name.ends_with(end));
    goal.filter(|_| door.starts_with("HttpFS")).map(|(_, _, goal)| goal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_sides_are_paired_by_name() {
        let rows = |factor: f64, failures| {
            vec![
                Row::new("PUT of 2.00 GB", "MB/s", vec![400.0 * factor]),
                Row::new("loopback TCP sendfile to read, 256 KiB", "MB/s", vec![5000.0]),
                Row::new("append of 10 MB, 1 writer", "MB/s", vec![30.0 * factor]).failed(failures),
            ]
        };
        let mut all = Vec::new();
        pairs("HttpFS", &rows(1.0, 3), &rows(5.0, 0), &mut |pair| all.push(pair));
        let seen: Vec<_> = all.iter().map(|pair| (pair.name.as_str(), pair.goal)).collect();
        let appends = "HttpFS: append of 10 MB, 1 writer (failed: Apache 3, ours 0)";
        assert_eq!(seen, [("HttpFS: PUT of 2.00 GB", Some(4.0)), (appends, Some(20.0))]);
        assert_eq!(all[0].ratio(), 5.0);
        assert_eq!(goal("HttpFS, local reads", "GET of 1.07 GB"), Some(2.0));
        assert_eq!(goal("HttpFS", "GET of 1 KiB, 8 connections"), None);
        assert_eq!(goal("WebHDFS", "PUT of 2.00 GB"), None);
    }
}
