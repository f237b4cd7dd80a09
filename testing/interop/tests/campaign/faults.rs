//! What is done to the cluster while the actors work: one fault after the other, each over before
//! the next begins.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use zerohop_client::SafeModeAction;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, SETTLE, client};
use zerohop_interop::{Outcome, tools, wait};

use crate::link::{Link, State};
use crate::name_dirs::NameDirs;
use crate::replicas::{self, Flipped};
use crate::{DATANODES, Progress};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// SIGKILL to the NameNode, and a new start; the last write of the edit log may be torn.
    KillNameNode,
    /// SIGKILL to a DataNode, and a new start; the last writes to replicas may be torn.
    KillDataNode,
    /// SIGSTOP to the NameNode for a while.
    StopNameNode,
    /// SIGSTOP to a DataNode for a while.
    StopDataNode,
    /// A link is slow.
    SlowLink,
    /// Nothing passes a link.
    SilentLink,
    /// The connections over a link break, and new ones too.
    CutLink,
    /// All processes end, killed or in order, and start, each time in any order.
    RestartAll,
    /// A bit of a block or meta file flips.
    FlippedBit,
    /// A bit in one of the NameNode's two directories flips while it is down.
    FlippedNameBit,
    /// One of the NameNode's two directories becomes its older self while it is down.
    OldNameDirectory,
    /// Calls that change a DataNode's volume fail, half of the time those that read it too.
    FailingVolume,
    /// Calls that change one of the NameNode's two directories fail, half of the time those that read
    /// it too.
    FailingNameDirectory,
    /// A volume cannot be written.
    ReadOnlyVolume,
    /// A volume has no room.
    FullVolume,
}

use Fault::*;

const KILLS: [Fault; 3] = [KillDataNode, KillDataNode, KillNameNode];
const ALL: [Fault; 11] = [
    KillDataNode,
    KillNameNode,
    StopNameNode,
    StopDataNode,
    SlowLink,
    SilentLink,
    CutLink,
    RestartAll,
    FlippedBit,
    FlippedNameBit,
    OldNameDirectory,
];
const FAILING_DISKS: [Fault; 2] = [FailingVolume, FailingNameDirectory];
const SMALL_VOLUMES: [Fault; 2] = [ReadOnlyVolume, FullVolume];

/// What there is in a cluster that faults can be done to.
pub struct Targets {
    kinds: Vec<Fault>,
    /// To each DataNode, then the clients' to the NameNode.
    links: Vec<Link>,
    names: NameDirs,
}

impl Targets {
    /// Kills only: for DataNodes that the harness cannot do more to.
    pub fn of_kills(cluster: &Cluster) -> Self {
        Self { kinds: KILLS.to_vec(), links: Vec::new(), names: NameDirs::of(cluster) }
    }

    /// All that this machine allows.
    pub fn all(cluster: &mut Cluster, links: Vec<Link>) -> Outcome<Self> {
        let mut kinds = ALL.to_vec();
        match tools::failing_disk() {
            Some(_) => kinds.extend(FAILING_DISKS),
            None => println!(
                "no disk fails: cargo build -p zerohop-simulation, with the profile of this test"
            ),
        }
        if mount_small_volumes(cluster)? {
            kinds.extend(SMALL_VOLUMES);
        }
        let names = NameDirs::of(cluster);
        cluster.stop_namenode()?;
        names.keep_old()?;
        start_namenode(cluster)?;
        Ok(Self { kinds, links, names })
    }
}

impl Targets {
    /// Whether more than kills is done.
    pub fn has_links(&self) -> bool {
        !self.links.is_empty()
    }
}

/// Does the faults of a seed, and counts them.
pub struct Faults<'a> {
    rng: Rng,
    targets: &'a Targets,
    round: Vec<Fault>,
    done: BTreeMap<Fault, u32>,
}

impl<'a> Faults<'a> {
    /// Those of a seed.
    pub fn new(seed: u64, targets: &'a Targets) -> Self {
        let rng = Rng::with_seed(seed);
        Self { rng, targets, round: Vec::new(), done: BTreeMap::new() }
    }

    /// How often which fault was done.
    pub fn counts(&self) -> &BTreeMap<Fault, u32> {
        &self.done
    }

    /// Until the schedule ends, and one at least; then everything runs, and every link is whole.
    pub fn go_on(&mut self, cluster: &mut Cluster, progress: &Progress) -> Outcome {
        loop {
            self.pause(1200);
            // Every kind has its turn before one comes again.
            if self.round.is_empty() {
                self.round = self.targets.kinds.clone();
                self.rng.shuffle(&mut self.round);
            }
            let Some(fault) = self.round.pop() else { return Ok(()) };
            *self.done.entry(fault).or_default() += 1;
            self.inflict(fault, cluster).map_err(|e| format!("{fault:?}: {e}"))?;
            if fault == KillNameNode {
                progress.is_namenode_killed.store(true, Relaxed);
            }
            if !progress.goes_on() {
                return Ok(());
            }
        }
    }

    fn inflict(&mut self, fault: Fault, cluster: &mut Cluster) -> Outcome {
        let i = self.rng.usize(..DATANODES);
        match fault {
            KillNameNode => self.while_namenode_is_down(cluster, |names, rng| {
                if rng.bool() { names.tear(rng) } else { Ok(()) }
            }),
            FlippedNameBit => self.while_namenode_is_down(cluster, NameDirs::flip_bit),
            OldNameDirectory => self.while_namenode_is_down(cluster, |names, _| names.put_old()),
            KillDataNode => self.kill_datanode(cluster, i),
            StopNameNode => self.stop(cluster.process_ids().0, 1500),
            StopDataNode => {
                let id = cluster.process_ids().1.get(i).copied();
                self.stop(id, 4000)
            }
            SlowLink => {
                let delay = Duration::from_millis(self.rng.u64(1..40));
                self.link(State::Slow(delay))
            }
            SilentLink => self.link(State::Silent),
            CutLink => self.link(State::Cut),
            RestartAll => self.restart_all(cluster),
            FlippedBit => {
                let flipped = Flipped::any(&datanode_directory(cluster, i), &mut self.rng)?;
                self.pause(4000);
                flipped.into_iter().for_each(Flipped::undo);
                Ok(())
            }
            FailingVolume => self.failing_volume(cluster, i),
            FailingNameDirectory => self.failing_name_directory(cluster),
            ReadOnlyVolume => self.read_only_volume(cluster, i),
            FullVolume => self.full_volume(&small_volume(cluster, i)),
        }
    }

    /// How long something stays as it is belongs to the schedule.
    fn pause(&mut self, most_ms: u64) {
        sleep(Duration::from_millis(self.rng.u64(..most_ms)));
    }

    fn while_namenode_is_down(
        &mut self,
        cluster: &mut Cluster,
        work: impl FnOnce(&NameDirs, &mut Rng) -> Outcome,
    ) -> Outcome {
        cluster.kill_namenode();
        self.pause(500);
        work(&self.targets.names, &mut self.rng)?;
        start_namenode(cluster)
    }

    fn kill_datanode(&mut self, cluster: &mut Cluster, i: usize) -> Outcome {
        cluster.kill_datanode(i);
        if self.rng.bool() {
            replicas::tear(&datanode_directory(cluster, i), &mut self.rng)?;
        }
        self.pause(2500);
        start_datanode(cluster, i)
    }

    fn stop(&mut self, process: Option<u32>, most_ms: u64) -> Outcome {
        let Some(id) = process else { return Ok(()) };
        signal(id, libc::SIGSTOP)?;
        self.pause(most_ms);
        signal(id, libc::SIGCONT)
    }

    fn link(&mut self, state: State) -> Outcome {
        let n = self.rng.usize(..self.targets.links.len().max(1));
        if let Some(link) = self.targets.links.get(n) {
            link.set(state);
            self.pause(4000);
            link.set(State::Whole);
        }
        Ok(())
    }

    /// The NameNode is the one behind the DataNodes.
    fn restart_all(&mut self, cluster: &mut Cluster) -> Outcome {
        let mut order: Vec<usize> = (0..=DATANODES).collect();
        self.rng.shuffle(&mut order);
        for i in &order {
            match (*i == DATANODES, self.rng.bool()) {
                (true, true) => cluster.stop_namenode()?,
                (true, false) => cluster.kill_namenode(),
                (false, true) => cluster.stop_datanode(*i)?,
                (false, false) => cluster.kill_datanode(*i),
            }
            self.pause(200);
        }
        self.rng.shuffle(&mut order);
        for i in order {
            match i {
                DATANODES => cluster.start_namenode()?,
                i => cluster.start_datanode(i)?,
            }
            self.pause(300);
        }
        wait_for_namenode(cluster)?;
        (0..DATANODES).try_for_each(|i| wait_for_datanode(cluster, i))
    }

    /// The program of a daemon whose calls fail below a directory, once or for good.
    fn failing(&mut self, below: &Path, command: Command) -> Outcome<Command> {
        let program = tools::failing_disk().ok_or("failing-disk is not built")?;
        let mut wrapped = Command::new(program);
        wrapped.arg("--below").arg(below);
        if self.rng.bool() {
            wrapped.args(["--reads", "--errno", "EIO"]);
        } else {
            wrapped.args(["--errno", ["EIO", "ENOSPC", "EROFS"][self.rng.usize(..3)]]);
        }
        wrapped.args(["--after", &self.rng.u32(..150).to_string()]);
        if self.rng.bool() {
            wrapped.args(["--count", &self.rng.u32(1..4).to_string()]);
        }
        wrapped.arg("--").arg(command.get_program()).args(command.get_args());
        Ok(wrapped)
    }

    fn failing_volume(&mut self, cluster: &mut Cluster, i: usize) -> Outcome {
        cluster.kill_datanode(i);
        let volume = small_volume(cluster, i);
        cluster.start_datanode_as(i, |command| self.failing(&volume, command))?;
        wait_for_datanode(cluster, i)?;
        self.pause(5000);
        cluster.kill_datanode(i);
        start_datanode(cluster, i)
    }

    fn failing_name_directory(&mut self, cluster: &mut Cluster) -> Outcome {
        cluster.kill_namenode();
        let directory = self.targets.names.damaged.clone();
        cluster.start_namenode_as(|command| self.failing(&directory, command))?;
        match wait_for_namenode(cluster) {
            Ok(()) => self.pause(4000),
            // A directory that fails at the start: it may refuse, and says which.
            Err(said) if said.contains(&format!("{}/", directory.display())) => {}
            Err(said) => return Err(said),
        }
        cluster.kill_namenode();
        start_namenode(cluster)
    }

    /// Files that are open for writing keep a file system from becoming read-only, so that its DataNode
    /// is down meanwhile.
    fn read_only_volume(&mut self, cluster: &mut Cluster, i: usize) -> Outcome {
        let volume = small_volume(cluster, i);
        cluster.kill_datanode(i);
        mount(&["-o", "remount,ro"], &volume)?;
        start_datanode(cluster, i)?;
        self.pause(3000);
        cluster.kill_datanode(i);
        mount(&["-o", "remount,rw"], &volume)?;
        start_datanode(cluster, i)
    }

    fn full_volume(&mut self, volume: &Path) -> Outcome {
        let filler = volume.join("filler");
        // Until there is no room.
        let _ = fs::write(&filler, vec![0; 1 << 26]);
        self.pause(3000);
        fs::remove_file(&filler).at("the filler")
    }
}

/// The NameNode starts with directories from before the schedule; when all DataNodes have reported, the
/// right ones are put back. No DataNode may have deleted what only those know.
pub fn restore_an_old_image(cluster: &mut Cluster, targets: &Targets) -> Outcome {
    cluster.kill_namenode();
    targets.names.swap_old()?;
    cluster.start_namenode()?;
    let begun = now_ms();
    wait_alive(cluster, "all DataNodes have reported", |fs| {
        let live = fs.datanode_report(zerohop_client::DatanodeReportType::Live).at("a report")?;
        let has_reported = |at: Option<u64>| at.is_some_and(|at| at >= begun);
        let mut reported = live.iter().map(|node| node.proto().last_block_report_time);
        Ok(live.len() == DATANODES && reported.all(has_reported))
    })?;
    // As long as a wrong NameNode has time to order deletions.
    sleep(Duration::from_millis(2500));
    cluster.kill_namenode();
    targets.names.swap_back()?;
    start_namenode(cluster)
}

/// Waits until all DataNodes have spoken with the NameNode from now on, and safe mode is over.
pub fn wait_for_all(cluster: &mut Cluster) -> Outcome {
    let begun = now_ms();
    wait_for_namenode(cluster)?;
    wait_alive(cluster, "heartbeats of all DataNodes", |fs| {
        let live = fs.datanode_report(zerohop_client::DatanodeReportType::Live).at("a report")?;
        let have_spoken = live.iter().filter(|node| node.proto().last_update() > begun).count();
        Ok(have_spoken == DATANODES)
    })
}

fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |time| time.as_millis() as u64)
}

fn start_namenode(cluster: &mut Cluster) -> Outcome {
    cluster.start_namenode()?;
    wait_for_namenode(cluster)
}

fn wait_for_namenode(cluster: &mut Cluster) -> Outcome {
    wait_alive(cluster, "the NameNode serves again", |fs| {
        let is_safe = fs.safe_mode(SafeModeAction::SafemodeGet).map_err(|e| e.to_string())?;
        if is_safe { Err("in safe mode".to_owned()) } else { Ok(true) }
    })
}

/// Waits for a condition; not any longer when a process has ended by itself.
fn wait_alive(
    cluster: &mut Cluster,
    what: &str,
    mut condition: impl FnMut(&FileSystem) -> Outcome<bool>,
) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    wait::until(what, SETTLE, || match cluster.check_alive() {
        Ok(()) => condition(&fs),
        Err(_) => Ok(true),
    })?;
    cluster.check_alive()
}

fn start_datanode(cluster: &mut Cluster, i: usize) -> Outcome {
    cluster.start_datanode(i)?;
    wait_for_datanode(cluster, i)
}

fn wait_for_datanode(cluster: &mut Cluster, i: usize) -> Outcome {
    let port = cluster.site.data_ports[i];
    wait_alive(cluster, "the DataNode serves again", |_| {
        Ok(TcpStream::connect(("127.0.0.1", port)).is_ok())
    })
}

pub fn signal(process: u32, signal: i32) -> Outcome {
    // SAFETY: kill takes no pointers; the process group is that of a child of ours that nobody else waits for.
    match unsafe { libc::kill(-(process as i32), signal) } {
        0 => Ok(()),
        _ => Err(format!("kill: {}", std::io::Error::last_os_error())),
    }
}

fn datanode_directory(cluster: &Cluster, i: usize) -> PathBuf {
    cluster.directory().join(format!("dn{i}"))
}

/// A DataNode's second volume.
fn small_volume(cluster: &Cluster, i: usize) -> PathBuf {
    datanode_directory(cluster, i).join("disk1")
}

fn mount(options: &[&str], directory: &Path) -> Outcome {
    let output = Command::new("mount").args(options).arg(directory).output().at("mount")?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Puts an empty file system of its own on the second volume of each DataNode. Only where this
/// process has a mount namespace of its own, so that nothing is left mounted.
fn mount_small_volumes(cluster: &mut Cluster) -> Outcome<bool> {
    if std::env::var_os("ZEROHOP_CAMPAIGN_MOUNTS").is_none() {
        return Ok(false);
    }
    for i in 0..DATANODES {
        cluster.stop_datanode(i)?;
        mount(&["-t", "tmpfs", "-o", "size=48m", "tmpfs"], &small_volume(cluster, i))?;
        start_datanode(cluster, i)?;
    }
    wait_for_all(cluster)?;
    Ok(true)
}
