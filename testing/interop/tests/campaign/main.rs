//! Random work on files while processes are killed at random; afterwards every file must hold what
//! was promised. `ZEROHOP_CAMPAIGN_SEED` and `ZEROHOP_CAMPAIGN_SECONDS` choose another course, or a
//! longer one.

mod actor;
mod killer;
mod known;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{SETTLE, client, over, zerohop};
use zerohop_interop::site::Setting;
use zerohop_interop::{Kind, Outcome, wait};

use actor::Actor;
use killer::Killer;

const ACTORS: u64 = 4;
const DATANODES: usize = 4;
/// Operations that must be done for a course to show anything.
const ENOUGH: u64 = 20 * ACTORS;

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number")))
}

fn patient_clients() -> Vec<Setting> {
    let keys = [
        // A NameNode that is being started again is waited for.
        ("dfs.client.retry.policy.enabled", "true"),
        ("dfs.client.retry.policy.spec", "200,300"),
        ("dfs.client.socket-timeout", "10000"),
    ];
    keys.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// When the work is over: when its time is, and not before it shows something. A slow machine gets
/// longer for that.
struct Course {
    begun: Instant,
    time: Duration,
    done: AtomicU64,
    is_namenode_killed: AtomicBool,
}

impl Course {
    fn new(time: Duration) -> Self {
        let (done, is_namenode_killed) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { begun: Instant::now(), time, done, is_namenode_killed }
    }

    fn goes_on(&self) -> bool {
        let shows_something =
            self.done.load(Relaxed) >= ENOUGH && self.is_namenode_killed.load(Relaxed);
        let age = self.begun.elapsed();
        age < self.time || !shows_something && age < 6 * self.time
    }
}

/// All work until the course ends, and the killer beside them.
fn work_under_kills(
    cluster: &mut Cluster,
    actors: &mut [Actor],
    killer: &mut Killer,
    course: &Course,
) -> Outcome {
    std::thread::scope(|scope| {
        let working: Vec<_> = actors
            .iter_mut()
            .map(|actor| {
                scope.spawn(move || {
                    while course.goes_on() {
                        let before = actor.done;
                        actor.step()?;
                        course.done.fetch_add(actor.done - before, Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        let killed = killer.kill_until(cluster, course);
        let worked: Vec<Outcome> = working
            .into_iter()
            .map(|working| working.join().map_err(|_| "an actor died".to_owned())?)
            .collect();
        worked.into_iter().collect::<Outcome>().and(killed)
    })
}

/// Nothing is missing or corrupt, and every block has all its replicas.
fn wait_healthy(cluster: &Cluster) -> Outcome {
    let options = ["fsck", "/", "-files", "-blocks", "-replicaDetails"];
    wait::until("fsck finds nothing", SETTLE, || {
        let (code, said) = zerohop(&cluster.conf(), &options)?;
        let is_none = |what: &str| {
            let line = said.lines().find(|line| line.contains(what));
            line.is_none_or(|line| line.split_whitespace().nth(2) == Some("0"))
        };
        let is_whole = is_none("Corrupt blocks:") && is_none("Under-replicated blocks:");
        if code == 0 && said.contains("HEALTHY") && is_whole { Ok(true) } else { Err(said) }
    })
}

fn campaign(datanodes: Kind) {
    let seed = setting("ZEROHOP_CAMPAIGN_SEED", 1);
    let time = Duration::from_secs(setting("ZEROHOP_CAMPAIGN_SECONDS", 20));
    let name = format!("campaign-{datanodes:?}").to_lowercase();
    let spec = Spec {
        name: &name,
        namenode: Kind::Ours,
        datanodes,
        count: DATANODES,
        settings: patient_clients(),
    };
    over(Cluster::start(&spec), |cluster| {
        let actors: Outcome<Vec<Actor>> =
            (0..ACTORS).map(|i| Actor::new(client(&cluster.conf(), &[])?, i, seed)).collect();
        let mut actors = actors?;
        let mut killer = Killer::new(seed);
        work_under_kills(cluster, &mut actors, &mut killer, &Course::new(time))?;
        let (done, failed) = actors.iter().fold((0, 0), |(d, f), a| (d + a.done, f + a.failed));
        let (namenode, datanodes) = (killer.namenode, killer.datanodes);
        let course = format!(
            "seed {seed}: {done} operations done, {failed} failed; the NameNode killed {namenode} \
             times, DataNodes {datanodes} times"
        );
        println!("{course}");
        if done < ENOUGH || namenode == 0 || datanodes == 0 {
            return Err(format!("too little to show anything: {course}"));
        }

        cluster.restart()?;
        wait_healthy(cluster)?;
        for actor in &mut actors {
            actor.check_all(cluster.judge()?)?;
            // With everything there, nothing fails.
            let failed = actor.failed;
            for _ in 0..10 {
                actor.step()?;
            }
            if actor.failed > failed {
                return Err(format!("an operation failed in a whole cluster: {}", actor.history()));
            }
        }
        Ok(())
    });
}

#[test]
fn what_was_acknowledged_outlives_random_kills() {
    campaign(Kind::Ours);
}

#[test]
fn what_was_acknowledged_outlives_random_kills_with_apache_s_datanodes() {
    campaign(Kind::Apache);
}
