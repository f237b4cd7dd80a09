//! A history: up to three lives of a NameNode, each on what a crash of the one before left, and a
//! crash at every point of each.

use crate::calls::FileCall;
use crate::damage::Damage;
use crate::disk::{Disk, Image, Survival};
use crate::journal::Event;
use crate::life::{Begin, Failed, Failure, Life};
use crate::namenode::{Layout, Loaded, advice};
use crate::past::Past;
use crate::promises::{Broken, Promise};
use crate::world::{Replicas, check_replicas, continue_log};
use fastrand::Rng;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In one history of so many, writes to segments are torn at every byte.
const EVERY_BYTE: u8 = 6;
/// Longer writes fill a segment ahead, and are torn at some bytes.
const EVERY_BYTE_MAX: usize = 8 << 10;
/// Damages at the end of a life.
const DAMAGES: usize = 8;

/// How many of the ways in which the power can fail are tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Crashes with random survivors after each call.
    random_crashes: usize,
    /// Places at which a write to a segment is torn.
    tears: usize,
    /// In some histories writes to segments are torn at every byte.
    tears_every_byte: bool,
}

impl Effort {
    /// For a test among many.
    pub const SHORT: Self = Self { random_crashes: 1, tears: 2, tears_every_byte: false };
    /// For a campaign.
    pub const FULL: Self = Self { random_crashes: 3, tears: 12, tears_every_byte: true };
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Histories.
    pub histories: u64,
    /// Lives of NameNodes.
    pub lives: u64,
    /// Lives in which a disk failed.
    pub failures: u64,
    /// Crashes, each with a start and its checks.
    pub crashes: u64,
    /// Crashes after which the NameNode named a command, and started after it.
    pub commands: u64,
    /// Damaged directories, each with a start.
    pub damages: u64,
    /// Of these starts, those that were refused.
    pub refused: u64,
}

impl Counts {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.histories += other.histories;
        self.lives += other.lives;
        self.failures += other.failures;
        self.crashes += other.crashes;
        self.commands += other.commands;
        self.damages += other.damages;
        self.refused += other.refused;
    }
}

/// Runs the history of a seed in directories below `root`.
///
/// # Errors
/// A broken promise, or a machine on which this cannot be done.
pub fn run(seed: u64, root: &Path, effort: Effort) -> Result<Counts, Failed> {
    let mut rng = Rng::with_seed(seed);
    let layout = Layout::any(&mut rng);
    let home = root.join("format");
    layout.format(&home).map_err(|e| Failed::Machine(e.to_string()))?;
    let image = Image::read(&home).map_err(|e| Failed::Machine(e.to_string()))?;
    let mut begin = Begin { image, replicas: Arc::default() };
    let mut past = Past::default();
    let mut counts = Counts { histories: 1, ..Counts::default() };
    let every_byte = rng.u8(0..EVERY_BYTE) == 0;
    let effort = Effort { tears_every_byte: effort.tears_every_byte && every_byte, ..effort };
    for _ in 0..rng.usize(1..=3) {
        // How a life goes does not depend on how many crashes were tried before.
        let mut tries = rng.fork();
        let failure = (rng.u8(0..3) == 0).then(|| Failure::any(&layout, &mut rng));
        let (life, after) =
            Life::live(begin, &root.join("live"), &layout, past, failure, &mut rng)?;
        past = after;
        counts.lives += 1;
        counts.failures += u64::from(failure.is_some());
        let crashes = Crashes {
            root: root.join("crash"),
            layout: &layout,
            past: &mut past,
            counts: &mut counts,
            rng: &mut tries,
            effort,
            has_failed_disk: failure.is_some(),
            next: None,
        };
        begin = crashes.try_all(life).map_err(Failed::Promise)?;
    }
    Ok(counts)
}

/// All crashes of one life.
struct Crashes<'a> {
    root: PathBuf,
    layout: &'a Layout,
    past: &'a mut Past,
    counts: &'a mut Counts,
    rng: &'a mut Rng,
    effort: Effort,
    /// A directory may have been left behind in this life.
    has_failed_disk: bool,
    /// What one of them left, chosen at random: the next life begins with it.
    next: Option<Begin>,
}

impl Crashes<'_> {
    fn try_all(mut self, life: Life) -> Result<Begin, Broken> {
        let (mut disk, mut acknowledged, mut replicas) =
            (Disk::of(&life.begin), life.first, life.replicas);
        for (n, event) in life.events.iter().enumerate() {
            let crash = |broken: Broken| {
                let found = format!("crash after event {n}: {}", broken.found);
                Broken { found, ..broken }
            };
            match event {
                Event::Acknowledged(last) => acknowledged = *last,
                Event::Replicas(now) => replicas = now.clone(),
                Event::FailedSync(path) => disk.fail_sync(path),
                Event::Call(call) => {
                    let applied = disk.apply(call);
                    applied.map_err(|e| Broken::new(Promise::NothingIsHalfApplied, e))?;
                    for mut survival in self.survivals(call, &disk) {
                        let image = survival.of(&disk);
                        self.try_one(&image, acknowledged, &replicas).map_err(|broken| {
                            let found = format!("{}, {survival:?}", broken.found);
                            crash(Broken { found, ..broken })
                        })?;
                    }
                }
            }
        }
        let end = disk.after_crash(&mut Survival::All);
        for _ in 0..DAMAGES {
            self.damage(&end, &life.begin, acknowledged)?;
        }
        let last = || Begin { image: end.clone().into_owned(), replicas: replicas.clone() };
        Ok(self.next.take().unwrap_or_else(last))
    }

    /// Something is damaged while the NameNode is down.
    fn damage(
        &mut self,
        end: &Image<'_>,
        old: &Image<'_>,
        acknowledged: i64,
    ) -> Result<(), Broken> {
        let Some(damage) = Damage::any(end, self.rng) else { return Ok(()) };
        // An old copy beside a directory that was left behind: nothing tells that there was more.
        if self.has_failed_disk && matches!(damage, Damage::OldCopy(_)) {
            return Ok(());
        }
        let mut image = end.clone();
        damage.apply(&mut image, old);
        let broken =
            |found: String| Broken::new(Promise::DamageIsNoticed, format!("{found}, {damage:?}"));
        image.write(&self.root).map_err(|e| broken(e.to_string()))?;
        self.counts.damages += 1;
        let Ok(loaded) = self.layout.load(&self.root) else {
            self.counts.refused += 1;
            return Ok(());
        };
        if loaded.last < acknowledged - damage.loss_max() {
            let last = loaded.last;
            return Err(broken(format!("{acknowledged} was acknowledged, {last} is the last one")));
        }
        let expected = self.past.after(loaded.last).map_err(broken)?;
        match loaded.namespace.difference(expected) {
            Some(found) => Err(broken(found)),
            None => Ok(()),
        }
    }

    /// What may survive a crash just after a call.
    fn survivals(&mut self, call: &FileCall, disk: &Disk) -> Vec<Choice> {
        let mut all = vec![Choice::All, Choice::Synced];
        all.extend((0..self.effort.random_crashes).map(|_| Choice::Any(self.rng.u64(..))));
        let FileCall::Write { path, .. } = call else { return all };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("edits_inprogress_") {
            let len = disk.last_write_len(path);
            if self.effort.tears_every_byte && len <= EVERY_BYTE_MAX {
                all.extend((0..len).map(|count| Choice::Torn(path.clone(), count)));
            } else if len > 0 {
                let counts = (0..self.effort.tears).map(|_| self.rng.usize(0..len));
                all.extend(counts.map(|count| Choice::Torn(path.clone(), count)));
            }
        }
        all
    }

    /// The NameNode starts on what a crash left, and is asked about.
    fn try_one(
        &mut self,
        image: &Image<'_>,
        acknowledged: i64,
        replicas: &Arc<Replicas>,
    ) -> Result<(), Broken> {
        self.counts.crashes += 1;
        let written = image.write(&self.root);
        written.map_err(|e| Broken::new(Promise::StartsOrNamesTheCommand, e.to_string()))?;
        if self.rng.u64(0..200) == 0 || self.next.is_none() {
            let image = image.clone().into_owned();
            self.next = Some(Begin { image, replicas: replicas.clone() });
        }
        let Loaded { mut namespace, storage, last } = self.start(image)?;
        if last < acknowledged {
            let found = format!("{acknowledged} was acknowledged, {last} is the last one");
            return Err(Broken::new(Promise::AcknowledgedEditsStay, found));
        }
        let expected = self.past.after(last);
        let difference = match expected {
            Ok(expected) => namespace.difference(expected),
            Err(error) => Some(error),
        };
        if let Some(found) = difference {
            let found = format!("after transaction {last}: {found}");
            return Err(Broken::new(Promise::NothingIsHalfApplied, found));
        }
        match self.rng.u8(0..16) {
            0..2 => {
                let goes_on = |e: String| Broken::new(Promise::GoesOnAfterTheStart, e);
                let new = continue_log(storage, &mut namespace, last).map_err(goes_on)?;
                let again = self.start(image)?;
                if again.last != new {
                    return Err(goes_on(format!("{new} was acknowledged, not {}", again.last)));
                }
                match again.namespace.difference(&namespace) {
                    Some(found) => Err(goes_on(found)),
                    None => Ok(()),
                }
            }
            2..6 => check_replicas(&mut namespace, replicas)
                .map_err(|e| Broken::new(Promise::ReplicasOfFilesAreKept, e)),
            _ => Ok(()),
        }
    }

    fn start(&mut self, image: &Image<'_>) -> Result<Loaded, Broken> {
        let mut refusal = String::new();
        for attempt in 0..=self.layout.copies() {
            let error = match self.layout.load(&self.root) {
                Ok(loaded) => {
                    self.counts.commands += u64::from(attempt > 0);
                    return Ok(loaded);
                }
                Err(error) => error.to_string(),
            };
            refusal = error;
            // Only a write of which sectors survived apart from each other calls for this.
            let Some((path, len)) = advice(&refusal).filter(|_| image.may_have_holes()) else {
                break;
            };
            let cut = File::options().write(true).open(path).and_then(|file| file.set_len(len));
            if let Err(error) = cut {
                refusal = format!("{refusal}; and that failed: {error}");
                break;
            }
        }
        Err(Broken::new(Promise::StartsOrNamesTheCommand, refusal))
    }
}

/// How a crash goes, to be repeated.
#[derive(Clone, Debug)]
enum Choice {
    All,
    Synced,
    Torn(PathBuf, usize),
    Any(u64),
}

impl Choice {
    fn of<'a>(&mut self, disk: &'a Disk) -> Image<'a> {
        match self {
            Self::All => disk.after_crash(&mut Survival::All),
            Self::Synced => disk.after_crash(&mut Survival::Synced),
            Self::Torn(path, count) => disk.after_crash(&mut Survival::TornWrite(path, *count)),
            Self::Any(seed) => disk.after_crash(&mut Survival::Any(&mut Rng::with_seed(*seed))),
        }
    }
}
