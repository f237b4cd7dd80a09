//! Random work on files while processes are killed and stopped, links are cut and slowed down, disks are
//! full or fail, and bits flip; afterwards every file must hold what was promised (docs/reliability.md).
//! `ZEROHOP_CAMPAIGN_SEED` chooses another schedule, `ZEROHOP_CAMPAIGN_SECONDS` a longer one, and
//! `ZEROHOP_CAMPAIGN_SCHEDULES` lets those of the next seeds follow in the same cluster. `make faults`
//! does all of that.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod actor;
mod faults;
mod known;
mod link;
mod name_dirs;
mod on_pair;
mod pair;
mod pair_faults;
mod promises;
mod replicas;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use fastrand::Rng;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, client, over, zerohop};
use zerohop_interop::site::{Setting, settings};
use zerohop_interop::{Kind, Outcome, wait};

use actor::Actor;
use faults::{Fault, Faults, Targets, restore_an_old_image, wait_for_all};
use link::Link;
use promises::broken;

const ACTORS: u64 = 4;
const DATANODES: usize = 4;
/// Operations that must be done for a run to show anything.
const ENOUGH: u64 = 20 * ACTORS;
/// The NameNode's address for clients whose link is cut at times.
const NAMENODE_LINK: &str = "127.0.2.100";

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number")))
}

fn patient_clients() -> Vec<Setting> {
    settings(&[
        // A NameNode that is being started again is waited for.
        ("dfs.client.retry.policy.enabled", "true"),
        ("dfs.client.retry.policy.spec", "200,300"),
        ("dfs.client.socket-timeout", "10000"),
    ])
}

/// Data goes by host name, and that is the address of a link that can be cut. The NameNode has two
/// directories, of which one may be damaged, and saves images often.
fn to_be_hurt() -> Vec<Setting> {
    settings(&[
        ("dfs.datanode.hostname", "127.0.2.{number}"),
        ("dfs.client.use.datanode.hostname", "true"),
        ("dfs.datanode.use.datanode.hostname", "true"),
        ("dfs.datanode.failed.volumes.tolerated", "1"),
        ("dfs.namenode.name.dir", name_dirs::SETTING),
        ("dfs.namenode.checkpoint.check.period", "1"),
        ("dfs.namenode.checkpoint.txns", "200"),
        ("dfs.namenode.num.extra.edits.retained", "100"),
    ])
}

/// The links to all DataNodes, whose host names are the addresses at which these listen, and to the
/// NameNode.
fn lay_links(cluster: &Cluster) -> Outcome<Vec<Link>> {
    let ports = cluster.site.data_ports.iter().zip(&cluster.site.ipc_ports);
    let datanodes =
        (1..).zip(ports).map(|(n, (data, ipc))| Link::lay(&format!("127.0.2.{n}"), &[*data, *ipc]));
    let namenode = Link::lay(NAMENODE_LINK, &[cluster.site.rpc_port]);
    datanodes.chain([namenode]).collect()
}

/// How far a schedule is: its work ends when its time is over. The only schedule of a run ends not before it shows
/// something: a slow machine gets longer for that.
struct Progress {
    begun: Instant,
    time: Duration,
    is_only: bool,
    done: AtomicU64,
    is_namenode_killed: AtomicBool,
    is_cut_short: AtomicBool,
}

impl Progress {
    fn new(time: Duration, is_only: bool) -> Self {
        Self {
            begun: Instant::now(),
            time,
            is_only,
            done: AtomicU64::new(0),
            is_namenode_killed: AtomicBool::new(false),
            is_cut_short: AtomicBool::new(false),
        }
    }

    fn goes_on(&self) -> bool {
        let shows_something =
            self.done.load(Relaxed) >= ENOUGH && self.is_namenode_killed.load(Relaxed);
        let age = self.begun.elapsed();
        let is_due = age < self.time || self.is_only && !shows_something && age < 6 * self.time;
        is_due && !self.is_cut_short.load(Relaxed)
    }
}

/// All work until the schedule ends, and the faults beside them.
fn work_under_faults(
    cluster: &mut Cluster,
    actors: &mut [Actor],
    faults: &mut Faults<'_>,
    progress: &Progress,
) -> Outcome {
    std::thread::scope(|scope| {
        let working: Vec<_> = actors
            .iter_mut()
            .map(|actor| {
                scope.spawn(move || {
                    while progress.goes_on() {
                        let before = actor.done;
                        actor.step()?;
                        progress.done.fetch_add(actor.done - before, Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        let done = faults.go_on(cluster, progress);
        if done.is_err() {
            progress.is_cut_short.store(true, Relaxed);
        }
        let worked: Vec<Outcome> = working
            .into_iter()
            .map(|working| working.join().map_err(|_| "an actor died".to_owned())?)
            .collect();
        worked.into_iter().collect::<Outcome>().and(done)
    })
}

/// Nothing is missing or corrupt, and every block has all its replicas.
fn wait_healthy(conf: &Path) -> Outcome {
    let options = ["fsck", "/", "-files", "-blocks", "-replicaDetails"];
    wait::until("fsck finds nothing", SETTLE, || {
        let (code, said) = zerohop(conf, &options)?;
        let is_none = |what: &str| {
            let line = said.lines().find(|line| line.contains(what));
            line.is_none_or(|line| line.split_whitespace().nth(2) == Some("0"))
        };
        let is_whole = is_none("Corrupt blocks:") && is_none("Under-replicated blocks:");
        if code == 0 && said.contains("HEALTHY") && is_whole { Ok(true) } else { Err(said) }
    })
    .map_err(|e| broken("F6", e))
}

/// What many schedules did.
#[derive(Default)]
struct Sum {
    done: u64,
    failed: u64,
    faults: BTreeMap<Fault, u32>,
    restored_images: u32,
}

impl Sum {
    fn text(&self) -> String {
        let faults = self.faults.iter().map(|(fault, count)| format!("{fault:?} {count}"));
        let faults = faults.collect::<Vec<_>>().join(", ");
        let Self { done, failed, restored_images, .. } = self;
        format!(
            "{done} operations done, {failed} failed; {faults}, RestoredImage {restored_images}"
        )
    }
}

/// One schedule, from its seed; its files are gone afterwards.
fn schedule(
    cluster: &mut Cluster,
    seed: u64,
    progress: &Progress,
    targets: &Targets,
    sum: &mut Sum,
) -> Outcome {
    let link = format!("hdfs://{NAMENODE_LINK}:{}", cluster.site.rpc_port);
    let over_link = [("fs.defaultFS", link.as_str())];
    let is_hurt = targets.has_links();
    let of_actor = if is_hurt { &over_link[..] } else { &[] };
    let actors: Outcome<Vec<Actor>> =
        (0..ACTORS).map(|i| Actor::new(client(&cluster.conf(), of_actor)?, i, seed)).collect();
    let mut actors = actors?;
    let mut faults = Faults::new(seed, targets);
    let worked = work_under_faults(cluster, &mut actors, &mut faults, progress);
    for (fault, count) in faults.counts() {
        *sum.faults.entry(*fault).or_default() += count;
    }
    sum.done += actors.iter().map(|actor| actor.done).sum::<u64>();
    sum.failed += actors.iter().map(|actor| actor.failed).sum::<u64>();
    worked?;

    let mut rng = Rng::with_seed(seed ^ 0xf00d);
    if is_hurt && rng.u8(..4) == 0 {
        sum.restored_images += 1;
        restore_an_old_image(cluster, targets).map_err(|e| format!("RestoredImage: {e}"))?;
    }
    if !is_hurt || progress.is_only {
        cluster.restart()?;
    }
    wait_for_all(cluster)?;
    wait_healthy(&cluster.conf())?;
    for actor in &mut actors {
        actor.check_all(cluster.judge()?)?;
    }
    if is_hurt {
        replicas::check_all(cluster)?;
    }
    // With everything there, nothing fails.
    for actor in &mut actors {
        let failed = actor.failed;
        for _ in 0..4 {
            actor.step()?;
        }
        if actor.failed > failed {
            return Err(broken("F8", actor.history()));
        }
    }
    let directory = actor::directory(seed);
    client(&cluster.conf(), &[])?.delete(&directory, true).at(&directory)?;
    Ok(())
}

/// All faults with our DataNodes; Apache's are killed.
fn campaign(datanodes: Kind) {
    let first = setting("ZEROHOP_CAMPAIGN_SEED", 1);
    let time = Duration::from_secs(setting("ZEROHOP_CAMPAIGN_SECONDS", 12));
    let count = setting("ZEROHOP_CAMPAIGN_SCHEDULES", 1);
    let name = format!("campaign-{datanodes:?}-{first}").to_lowercase();
    let is_hurt = datanodes == Kind::Ours;
    let mut settings = patient_clients();
    settings.extend(if is_hurt { to_be_hurt() } else { Vec::new() });
    let spec = Spec { name: &name, namenode: Kind::Ours, datanodes, count: DATANODES, settings };
    over(Cluster::start(&spec), |cluster| {
        let targets = match is_hurt {
            true => {
                let links = lay_links(cluster)?;
                Targets::all(cluster, links)?
            }
            false => Targets::of_kills(cluster),
        };
        let mut sum = Sum::default();
        for seed in first..first + count {
            let begun = Instant::now();
            println!("seed {seed} begins");
            let progress = Progress::new(time, count == 1);
            let outcome = schedule(cluster, seed, &progress, &targets, &mut sum);
            outcome.map_err(|e| format!("seed {seed}: {e}"))?;
            println!("seed {seed}: no broken promise ({} s)", begun.elapsed().as_secs());
        }
        let summary = format!("seeds {first} to {}: {}", first + count - 1, sum.text());
        println!("{summary}");
        let is_killed = sum.faults.contains_key(&Fault::KillNameNode);
        if count == 1 && (sum.done < ENOUGH || !is_killed) {
            return Err(format!("too little to show anything: {summary}"));
        }
        Ok(())
    });
}

#[test]
fn what_was_acknowledged_outlives_random_faults() {
    campaign(Kind::Ours);
}

#[test]
fn what_was_acknowledged_outlives_random_kills_with_apache_s_datanodes() {
    campaign(Kind::Apache);
}
