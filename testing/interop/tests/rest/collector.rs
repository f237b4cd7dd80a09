//! A log collector's day in short: small appends from three processes, while files are rolled and servers are killed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::Explain;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, collector_line, site, wait};

use crate::gateway::{Gateway, gateway};

const WRITERS: usize = 3;
const LINES_PER_FILE: u64 = 1500;
/// How long the next kill, and the end, may be waited for.
const LIMIT: Duration = Duration::from_secs(300);

/// A process that appends.
struct Collector {
    process: Process,
    acknowledged: Arc<AtomicU64>,
    log: PathBuf,
}

impl Collector {
    fn start(cluster: &Cluster, port: u16, number: usize, lines: u64) -> Outcome<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interop-collector"));
        command.arg(port.to_string()).arg(format!("/day/{number}")).arg(format!("writer{number}"));
        command.arg(lines.to_string()).arg(LINES_PER_FILE.to_string());
        let log = cluster.site.log(&format!("writer{number}"));
        let mut process = Process::talker("a writer", command, &log)?;
        let (_, out) = process.pipes().ok_or("a writer has no pipes")?;
        let acknowledged = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&acknowledged);
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                match line.split_once(' ') {
                    Some(("acknowledged", lines)) => {
                        count.store(lines.parse().unwrap_or(0), Ordering::Release);
                    }
                    Some(("repeated", requests)) => println!("{requests} requests were repeated"),
                    _ => {}
                }
            }
        });
        Ok(Self { process, acknowledged, log })
    }

    fn finish(&mut self) -> Outcome {
        let status = self.process.finish(LIMIT)?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("a writer: {status}\n{}", tail(&self.log, 10))),
        }
    }
}

/// What is killed, and started again.
#[derive(Clone, Copy, Debug)]
enum Victim {
    DataNode(usize),
    NameNode,
    Gateway,
}

fn kill(cluster: &mut Cluster, gateway: &mut Gateway, victim: Victim) -> Outcome {
    match victim {
        Victim::DataNode(i) => {
            cluster.kill_datanode(i);
            cluster.start_datanode(i)?;
        }
        Victim::NameNode => {
            cluster.kill_namenode();
            cluster.start_namenode()?;
        }
        Victim::Gateway => {
            gateway.kill();
            gateway.start()?;
        }
    }
    // The next one dies when this one is back: two replicas are not enough for two lost DataNodes.
    cluster.wait_serving()
}

/// Every line of a writer is in its files once, in order.
fn check(gateway: &Gateway, number: usize, lines: u64) -> Outcome {
    let files = lines.div_ceil(LINES_PER_FILE);
    for file in 0..files {
        let is_rolled = (file + 1) * LINES_PER_FILE <= lines;
        let name = if is_rolled { format!("{file:05}") } else { "current".to_owned() };
        let path = format!("/day/{number}/{name}");
        let read = gateway.ask("GET", &format!("{path}?user.name=root"), &[], b"")?;
        let range = file * LINES_PER_FILE..((file + 1) * LINES_PER_FILE).min(lines);
        let expected: String =
            range.map(|line| collector_line(&format!("writer{number}"), line)).collect();
        if read.status != 200 || !read.is_whole || read.body != expected.as_bytes() {
            let at = read.body.iter().zip(expected.as_bytes()).take_while(|(a, b)| a == b).count();
            return Err(format!(
                "{path}: status {}, {} bytes of {}, others from {at} on",
                read.status,
                read.body.len(),
                expected.len()
            ));
        }
    }
    let list = format!("/webhdfs/v1/day/{number}?op=LISTSTATUS&user.name=root");
    let list = gateway.ask("GET", &list, &[], b"")?.text();
    match list.matches("pathSuffix").count() as u64 == files {
        true => Ok(()),
        false => Err(format!("not {files} files: {list}")),
    }
}

#[test]
fn every_acknowledged_line_is_there_once_and_in_order_after_a_day_of_kills() {
    let appends = std::env::var("ZEROHOP_COLLECTOR_APPENDS").map_or(50_000, |n| n.parse().unwrap());
    let settings = site::settings(&[("dfs.replication", "2")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "rest-day", namenode, datanodes, count: 3, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let mut gateway = gateway(&cluster, &[]).unwrap();
    let lines = appends / WRITERS as u64;
    let begun = Instant::now();
    let writers: Outcome<Vec<Collector>> =
        (0..WRITERS).map(|i| Collector::start(&cluster, gateway.port, i, lines)).collect();
    let mut writers = writers.unwrap();
    let day = [
        Victim::Gateway,
        Victim::DataNode(0),
        Victim::NameNode,
        Victim::Gateway,
        Victim::DataNode(1),
        Victim::NameNode,
        Victim::DataNode(2),
    ];
    let done = || -> Outcome {
        for (at, victim) in day.into_iter().enumerate() {
            let wanted = appends * (at as u64 + 1) / (day.len() as u64 + 1);
            wait::until(&format!("{wanted} appends"), LIMIT, || {
                let count = |writer: &Collector| writer.acknowledged.load(Ordering::Acquire);
                let sum: u64 = writers.iter().map(count).sum();
                writers.iter_mut().try_for_each(|writer| match count(writer) < lines {
                    true => writer.process.alive(),
                    false => Ok(()),
                })?;
                if sum >= wanted { Ok(true) } else { Err(sum.to_string()) }
            })?;
            kill(&mut cluster, &mut gateway, victim).at(&format!("{victim:?}"))?;
            println!("{wanted} appends, {victim:?} killed: {} ms", begun.elapsed().as_millis());
        }
        writers.iter_mut().try_for_each(Collector::finish)?;
        println!("{appends} appends: {} ms", begun.elapsed().as_millis());
        (0..WRITERS).try_for_each(|number| check(&gateway, number, lines))
    }();
    if let Err(failure) = done {
        let logs: Vec<_> = writers.iter().map(|writer| tail(&writer.log, 5)).collect();
        panic!("{failure}\n{}\n{}\n{}", logs.join("\n"), gateway.log(), cluster.logs());
    }
}
