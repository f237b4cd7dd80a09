//! Writers that die with a file open.

use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{SETTLE, check, client, over, wait_same};
use zerohop_interop::{Kind, Outcome, wait};

const BLOCK: &str = "8388608";

/// A client that wrote, flushed, wrote on and was killed. What was flushed must be there; what came
/// after it may be.
fn dead_writer(cluster: &mut Cluster, kind: Kind, path: &str, seed: u64) -> Outcome {
    let mut writer = cluster.client(kind)?;
    writer.ok(&["create", "w", path, "3", BLOCK, "true"])?;
    writer.ok(&["write", "w", "700000", &seed.to_string()])?;
    writer.ok(&["hflush", "w"])?;
    writer.ok(&["write", "w", "50", &seed.to_string()])?;
    writer.kill();
    Ok(())
}

fn closed_len(cluster: &mut Cluster, path: &str, limit: Duration) -> Outcome<u64> {
    wait::until(&format!("{path} closed"), limit, || {
        Ok(cluster.judge()?.ok(&["isclosed", path])?[0] == "true")
    })?;
    let status = cluster.judge()?.ok(&["stat", path])?;
    status[1].parse().map_err(|_| format!("{path}: {status:?}"))
}

fn whole(cluster: &mut Cluster, path: &str, seed: u64) -> Outcome {
    let len = closed_len(cluster, path, SETTLE)?;
    if !(700_000..=700_050).contains(&len) {
        return Err(format!("{path}: {len} bytes after the recovery"));
    }
    let fs = client(&cluster.conf(), &[])?;
    check(&fs, path, seed, len)?;
    wait_same(cluster, &fs, path, 3)
}

/// Another client asks for the file again and again until it is its own.
fn take_over(cluster: &mut Cluster, kind: Kind, request: &[&str]) -> Outcome<Duration> {
    let mut other = cluster.client(kind)?;
    let since = Instant::now();
    wait::until(&request.join(" "), Duration::from_secs(200), || {
        match other.ask("", request)? {
            Ok(_) => Ok(true),
            Err(f) if f.class == "AlreadyBeingCreatedException" => Err(f.message),
            Err(f) if f.class == "RecoveryInProgressException" => Err(f.message),
            Err(f) => panic!("{request:?}: {f:?}"),
        }
    })?;
    other.ok(&["close", "w"])?;
    Ok(since.elapsed())
}

fn all(namenode: Kind, datanodes: Kind) {
    let name = format!("writers-{namenode:?}-{datanodes:?}").to_lowercase();
    let spec = Spec { name: &name, namenode, datanodes, count: 3, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        // The soft limit is a minute: these wait while the others are looked at.
        let begun = Instant::now();
        dead_writer(cluster, Kind::Ours, "/soft/append", 901)?;
        dead_writer(cluster, Kind::Apache, "/soft/create", 902)?;
        for (kind, path, seed) in [(Kind::Ours, "/dead/a", 903), (Kind::Apache, "/dead/b", 904)] {
            dead_writer(cluster, kind, path, seed)?;
            let fs = client(&cluster.conf(), &[])?;
            let mut reader = fs.open(path).map_err(|e| e.to_string())?;
            if !(700_000..=700_050).contains(&reader.len()) {
                return Err(format!("{path}: {} bytes before the recovery", reader.len()));
            }
            zerohop_interop::harm::check_rest(&mut reader, seed)?;
            fs.recover_lease(path).map_err(|e| e.to_string())?;
            whole(cluster, path, seed)?;
        }
        let append = &["append", "w", "/soft/append"];
        take_over(cluster, Kind::Apache, append)?;
        if begun.elapsed() < Duration::from_secs(50) {
            return Err(format!("taken over after {:?}, the limit is 60 s", begun.elapsed()));
        }
        whole(cluster, "/soft/append", 901)?;
        take_over(cluster, Kind::Ours, &["create", "w", "/soft/create", "3", BLOCK, "true"])?;
        match closed_len(cluster, "/soft/create", SETTLE)? {
            0 => Ok(()),
            len => Err(format!("{len} bytes after create with overwrite")),
        }
    });
}

#[test]
fn files_of_dead_writers_on_our_datanodes() {
    all(Kind::Ours, Kind::Ours);
}

#[test]
fn files_of_dead_writers_on_apache_datanodes() {
    all(Kind::Ours, Kind::Apache);
}

#[test]
fn files_of_dead_writers_on_apache_s_servers() {
    all(Kind::Apache, Kind::Apache);
}
