//! What happens around a socket while clients read: it is removed or replaced, its directory is opened to
//! everybody, memory for slots lacks, replicas lose their meta files, DataNodes die under readers.
//! Bytes stay right, the page of the DataNode says what is wrong, and reads are local again when it
//! is over.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{
    self, Explain, SETTLE, SmallDisks, check, client, on_disk, over, shape, wait_same,
};
use zerohop_interop::process::Process;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, site, tools, wait};

use crate::java::{COPIED, LEN, listing, put, read, read_local, slots};

/// A DataNode looks at its socket once a second; more than that on a busy machine.
const NOTICED: Duration = Duration::from_secs(30);

/// Where a DataNode listens.
pub fn socket(directory: &SocketDirectory, cluster: &Cluster, i: usize) -> PathBuf {
    directory.path().join(format!("dn.{}", cluster.site.data_ports[i]))
}

/// Waits until the page of a DataNode says this of its socket; nothing, if all is well.
fn wait_problem(cluster: &Cluster, i: usize, part: &str) -> Outcome {
    wait::until(&format!("DataNode {i} says {part:?} of its socket"), NOTICED, || {
        let problem = listing(cluster, i)?["socket"]["problem"].clone();
        let said = problem.as_str().unwrap_or_default();
        let is_so = if part.is_empty() { problem.is_null() } else { said.contains(part) };
        if is_so { Ok(true) } else { Err(problem.to_string()) }
    })
}

/// A client of Apache's that forgives a socket within a second, and knows no replica yet.
fn fresh(cluster: &mut Cluster) -> Outcome<Driver> {
    cluster.client_with(Kind::Apache, &["dfs.domain.socket.disable.interval.seconds=1"])
}

fn removed(cluster: &mut Cluster, directory: &SocketDirectory) -> Outcome {
    let path = socket(directory, cluster, 0);
    fs::remove_file(&path).at("the socket")?;
    wait::until("the socket is back", NOTICED, || Ok(path.exists()))?;
    wait_problem(cluster, 0, "")?;
    read_local(&mut fresh(cluster)?, "/a", 1, COPIED)
}

/// Somebody put a file there, or listens there: readers take the long way, the DataNode tells why and
/// leaves alone what is not its own; when it is gone, reads are local again.
fn replaced(cluster: &mut Cluster, directory: &SocketDirectory) -> Outcome {
    let path = socket(directory, cluster, 0);
    // At once: the DataNode would make its own again where there is none.
    let other = directory.path().join("other");
    fs::write(&other, "not a socket").and_then(|()| fs::rename(&other, &path)).at("a file")?;
    wait_problem(cluster, 0, "is not a socket; move it away")?;
    over_tcp(cluster)?;
    if fs::read_to_string(&path).at("the file")? != "not a socket" {
        return Err("somebody's file was touched".into());
    }
    fs::remove_file(&path).at("the file")?;
    wait_problem(cluster, 0, "")?;
    read_local(&mut fresh(cluster)?, "/a", 1, COPIED)?;

    let stranger = UnixListener::bind(&other).at("a stranger's socket")?;
    fs::rename(&other, &path).at("a stranger's socket")?;
    std::thread::spawn(move || stranger.incoming().for_each(drop));
    wait_problem(cluster, 0, &format!("another process (pid {} ", std::process::id()))?;
    over_tcp(cluster)?;
    fs::remove_file(&path).at("the stranger's socket")?;
    wait_problem(cluster, 0, "")?;
    read_local(&mut fresh(cluster)?, "/a", 1, COPIED)
}

/// All bytes, and none by short circuit.
fn over_tcp(cluster: &mut Cluster) -> Outcome {
    let got = read(&mut fresh(cluster)?, "/a", 1, COPIED)?;
    if got[0] == LEN && got[2] == 0 { Ok(()) } else { Err(format!("statistics {got:?}")) }
}

/// What reads goes on; the page tells; a start is refused with the fix in one line.
fn loosened(cluster: &mut Cluster, directory: &SocketDirectory) -> Outcome {
    let chmod = |mode| fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode));
    let mut reader = fresh(cluster)?;
    read_local(&mut reader, "/a", 1, COPIED)?;
    chmod(0o777).at("chmod")?;
    wait_problem(cluster, 0, "chmod o-w")?;
    read_local(&mut reader, "/a", 1, COPIED)?;
    cluster.stop_datanode(0)?;
    let log = cluster.site.log("refused");
    let command = datanode(cluster, &[])?;
    let status = Process::daemon("DataNode", command, &log)?.finish(SETTLE)?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    let fix = format!("This might help: 'chmod o-w {}'", directory.path().display());
    if status.success() || !said.lines().any(|line| line.contains(&fix)) {
        return Err(format!("{status}, without {fix:?}:\n{said}"));
    }
    chmod(0o755).at("chmod")?;
    cluster.start_datanode(0)?;
    cluster.wait_serving()?;
    read_local(&mut fresh(cluster)?, "/a", 1, COPIED)
}

/// The command of the first DataNode, with more words.
pub fn datanode(cluster: &Cluster, more: &[&str]) -> Outcome<Command> {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.site.datanode_conf(0)).arg("datanode").args(more);
    Ok(command)
}

/// No shared memory to be had by name: neither the directories are there, nor is there room in them.
fn no_shared_memory(cluster: &mut Cluster) -> Outcome {
    cluster.stop_datanode(0)?;
    let nowhere = "-Ddfs.datanode.shared.file.descriptor.paths=/no/such/directory";
    let log = cluster.site.log("dn0");
    let mut other = Process::daemon("DataNode 0", datanode(cluster, &[nowhere])?, &log)?;
    local_with_slots(cluster).map_err(|e| format!("without directories: {e}"))?;
    other.stop(SETTLE)?;
    drop(other);
    let shm = Path::new("/dev/shm");
    if let Some(disks) = SmallDisks::mount(&[(shm, "4k")], &cluster.site.log("disks"))? {
        disks.shell("dd if=/dev/zero of=\"$0/filler\" bs=4k 2>/dev/null || true", shm)?;
        let command = disks.zerohop(&cluster.site.datanode_conf(0), &["datanode"])?;
        let mut inside = Process::daemon("DataNode 0", command, &log)?;
        local_with_slots(cluster).map_err(|e| format!("/dev/shm is full: {e}"))?;
        inside.stop(SETTLE)?;
    }
    cluster.start_datanode(0)?;
    cluster.wait_serving()
}

fn local_with_slots(cluster: &mut Cluster) -> Outcome {
    let path = "/a";
    let mut reader = fresh(cluster)?;
    wait::until("local reads", SETTLE, || {
        read_local(&mut fresh(cluster)?, path, 1, COPIED).map(|()| true)
    })?;
    read_local(&mut reader, path, 1, COPIED)?;
    let listing = listing(cluster, 0)?;
    let mine = |segment: &serde_json::Value| segment["pid"] == reader.id();
    match listing["segments"].as_array().is_some_and(|segments| segments.iter().any(mine)) {
        true => Ok(()),
        false => Err(format!("no slots: {listing}")),
    }
}

/// One of two replicas has a meta file that is none; both clients get right bytes.
fn meta_files(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    // Nothing is kept, so that every reader asks, for the one replica or the other.
    let mut apache = cluster.client_with(
        Kind::Apache,
        &[
            "dfs.client.read.shortcircuit.streams.cache.size=0",
            "dfs.domain.socket.disable.interval.seconds=1",
        ],
    )?;
    for (how, seed) in [("missing", 11), ("another version", 12), ("short", 13), ("empty", 14)] {
        let path = format!("/meta-{seed}");
        harm::put(&fs, &path, seed, 700_007, shape(2, 1 << 20))?;
        wait_same(cluster, &fs, &path, 2)?;
        let replica = on_disk(cluster, &fs, &path)?.pop().ok_or("no replica")?;
        let meta = fs::read(&replica.meta).at("the meta file")?;
        match how {
            "missing" => fs::remove_file(&replica.meta),
            "another version" => fs::write(&replica.meta, [&[0, 7], &meta[2..]].concat()),
            "short" => fs::write(&replica.meta, &meta[..meta.len() / 2]),
            _ => fs::write(&replica.meta, ""),
        }
        .at(how)?;
        let crc = zerohop_interop::content::crc(seed, 0, 700_007);
        for _ in 0..6 {
            apache.ok(&["open", "r", &path])?;
            apache.gives(&["next", "r", "-1"], &["700007", &crc]).at(how)?;
            apache.ok(&["rclose", "r"])?;
            let ours = client(&cluster.conf(), &[])?;
            check(&ours, &path, seed, 700_007).at(how)?;
        }
    }
    Ok(())
}

/// A file is truncated in the middle of a block that a client holds open: the slot of that block is
/// taken back, and every reader sees the new end.
fn truncated(cluster: &mut Cluster) -> Outcome {
    let mut holder = fresh(cluster)?;
    put(&mut holder, "/t", 16)?;
    read_local(&mut holder, "/t", 16, COPIED)?;
    holder.ok(&["open", "held", "/t"])?;
    holder.ok(&["pread", "held", "1400000", "1000"])?;
    let valid = |cluster: &Cluster| -> Outcome<usize> {
        let id = u64::from(holder.id());
        Ok(slots(cluster)?.iter().filter(|(pid, _, valid)| *pid == id && *valid).count())
    };
    let before = valid(cluster)?;
    let cut = 1_500_001;
    cluster.judge()?.ok(&["truncate", "/t", &cut.to_string()])?;
    wait::until("the truncated file is closed", SETTLE, || {
        Ok(cluster.judge()?.ok(&["isclosed", "/t"])?[0] == "true")
    })?;
    wait::until("the slots of the blocks cut are taken back", SETTLE, || {
        let now = valid(cluster)?;
        if now < before { Ok(true) } else { Err(format!("{before}, then {now}")) }
    })?;
    holder.ok(&["rclose", "held"])?;
    let (len, crc) = (cut.to_string(), zerohop_interop::content::crc(16, 0, cut));
    holder.ok(&["open", "r", "/t"])?;
    holder.gives(&["next", "r", "-1"], &[&len, &crc])?;
    check(&client(&cluster.conf(), &[])?, "/t", 16, cut)
}

/// DataNodes are killed and come back, one at a time, while many read what both have.
fn killed_under_readers(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    harm::put(&fs, "/both", 15, LEN, shape(2, 1 << 20))?;
    wait::until("both replicas of all blocks", SETTLE, || {
        let blocks = harm::blocks(&fs, "/both")?;
        Ok(blocks.iter().all(|block| block.replicas.len() == 2))
    })?;
    let over = AtomicBool::new(false);
    let conf = cluster.conf();
    std::thread::scope(|scope| {
        let read = || -> Outcome<u32> {
            let fs = client(&conf, &[])?;
            let mut rounds = 0;
            while !over.load(Ordering::Relaxed) {
                check(&fs, "/both", 15, LEN)?;
                rounds += 1;
                // What is killed shall get processors to come back on.
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(rounds)
        };
        let readers: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
        let killed = (0..4).try_for_each(|round| {
            cluster.kill_datanode(round % 2);
            cluster.start_datanode(round % 2)?;
            cluster.wait_serving()
        });
        over.store(true, Ordering::Relaxed);
        let rounds: Outcome<Vec<u32>> = readers
            .into_iter()
            .map(|reader| reader.join().map_err(|_| "a reader died".to_owned())?)
            .collect();
        killed?;
        match rounds?.iter().all(|count| *count > 0) {
            true => Ok(()),
            false => Err("a reader read nothing".to_owned()),
        }
    })
}

#[test]
fn bytes_stay_right_and_reads_become_local_again() {
    let directory = SocketDirectory::make("luck").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
        ("dfs.replication", "1"),
    ]);
    let name = "shortcircuit-misfortune";
    // One DataNode first, so that it is clear whose replica is read.
    let ours = Kind::Ours;
    let spec = Spec { name, namenode: ours, datanodes: ours, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        cluster.stop_datanode(1)?;
        let fs = client(&cluster.conf(), &[])?;
        let mut writer = fresh(cluster)?;
        wait::until("the NameNode knows", SETTLE, || {
            let placed = put(&mut writer, "/a", 1);
            placed.and_then(|()| Ok(harm::blocks(&fs, "/a")?.len() == 3))
        })?;
        drop(writer);
        removed(cluster, &directory).map_err(|e| format!("removed: {e}"))?;
        replaced(cluster, &directory).map_err(|e| format!("replaced: {e}"))?;
        loosened(cluster, &directory).map_err(|e| format!("loosened: {e}"))?;
        no_shared_memory(cluster).map_err(|e| format!("no shared memory: {e}"))?;
        cluster.start_datanode(1)?;
        cluster.wait_serving()?;
        meta_files(cluster).map_err(|e| format!("meta files: {e}"))?;
        truncated(cluster).map_err(|e| format!("truncated: {e}"))?;
        killed_under_readers(cluster).map_err(|e| format!("killed: {e}"))
    });
}
