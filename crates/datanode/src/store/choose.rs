//! Which volume a new replica goes to.

use super::volume::DataVolume;
use crate::outliers::SlowestDisks;
use crate::settings::{Settings, VolumePolicy};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_system::random;
use zerohop_wire::RemoteException;
use zerohop_wire::StorageType;

/// Chooses among the volumes of a DataNode.
pub(crate) struct VolumeChooser {
    chooser: Chooser,
    slowest_disks: SlowestDisks,
}

impl VolumeChooser {
    /// With the policy of the settings.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            chooser: Chooser::new(settings.volume_policy),
            slowest_disks: SlowestDisks::new(settings.disk_stats),
        }
    }

    /// A volume of `storage_type` with room for `len` bytes. One of the slowest disks only if no other has room.
    pub(crate) fn choose(
        &self,
        in_use: &[Arc<DataVolume>],
        storage_type: StorageType,
        len: u64,
    ) -> Result<Arc<DataVolume>, RemoteException> {
        let disks = in_use.iter().map(|volume| (volume.root(), &volume.times));
        let slowest = self.slowest_disks.of(disks);
        let fits = |volume: &&Arc<DataVolume>| volume.location.storage_type == storage_type;
        let fitting: Vec<_> = in_use.iter().filter(fits).cloned().collect();
        let is_slow = |volume: &Arc<DataVolume>| slowest.iter().any(|slow| slow == volume.root());
        if fitting.iter().any(is_slow) {
            let others: Vec<_> =
                fitting.iter().filter(|volume| !is_slow(volume)).cloned().collect();
            if let Ok(volume) = self.chooser.choose(&others, len, random::f32) {
                return Ok(Arc::clone(volume));
            }
        }
        self.chooser.choose(&fitting, len, random::f32).cloned()
    }
}

/// What a chooser has to know of a volume.
trait Candidate {
    /// Bytes that a new replica may take.
    fn available(&self) -> u64;

    /// Returns the directory, which identifies the volume.
    fn root(&self) -> &Path;
}

impl Candidate for Arc<DataVolume> {
    fn available(&self) -> u64 {
        DataVolume::available(self)
    }

    fn root(&self) -> &Path {
        DataVolume::root(self)
    }
}

/// Chooses volumes; one state for all storage types.
#[derive(Debug)]
struct Chooser {
    policy: VolumePolicy,
    turns: Mutex<Turns>,
}

/// The order in which volumes were chosen. A plain count of choices would give the volume after full ones their turns too.
#[derive(Debug, Default)]
struct Turns {
    count: u64,
    last: HashMap<PathBuf, u64>,
}

/// A volume with the space that it had when the choice began.
type Measured<'a, V> = (&'a V, u64);

impl Chooser {
    /// A chooser.
    fn new(policy: VolumePolicy) -> Self {
        Self { policy, turns: Mutex::default() }
    }

    /// Chooses a volume with room for `len` bytes. `draw` returns a number from 0 up to and without 1.
    fn choose<'a, V: Candidate>(
        &self,
        volumes: &'a [V],
        len: u64,
        draw: impl FnOnce() -> f32,
    ) -> Result<&'a V, RemoteException> {
        if volumes.is_empty() {
            return Err(out_of_space("No more available volumes".to_owned()));
        }
        let measured: Vec<_> = volumes.iter().map(|volume| (volume, volume.available())).collect();
        match self.policy {
            VolumePolicy::RoundRobin { left_free } => self.in_turn(&measured, len, left_free),
            VolumePolicy::AvailableSpace { balanced_within, preference } => {
                self.by_space(&measured, len, balanced_within, preference, draw)
            }
        }
    }

    /// Chooses the volume whose last turn was the longest time ago, of those with room and more than `left_free` bytes besides.
    fn in_turn<'a, V: Candidate>(
        &self,
        volumes: &[Measured<'a, V>],
        len: u64,
        left_free: u64,
    ) -> Result<&'a V, RemoteException> {
        let mut turns = self.turns.lock();
        let needed = len.saturating_add(left_free);
        let with_room = volumes.iter().filter(|(_, space)| *space > needed);
        let next = with_room.min_by_key(|(volume, _)| turns.last.get(volume.root()));
        let Some((volume, _)) = next else {
            let most = volumes.iter().map(|(_, space)| *space).max().unwrap_or_default();
            return Err(out_of_space(format!(
                "Out of space: The volume with the most available space (={most} B) is less than the \
                 block size (={len} B)."
            )));
        };
        turns.count += 1;
        let count = turns.count;
        turns.last.insert(volume.root().to_owned(), count);
        Ok(volume)
    }

    /// Prefers volumes with much space (`AvailableSpaceVolumeChoosingPolicy`): each of them gets `preference / (1 -
    /// preference)` times the replicas of a volume with little space, as long as one of these has room.
    fn by_space<'a, V: Candidate>(
        &self,
        volumes: &[Measured<'a, V>],
        len: u64,
        balanced_within: u64,
        preference: f32,
        draw: impl FnOnce() -> f32,
    ) -> Result<&'a V, RemoteException> {
        let least = volumes.iter().map(|(_, space)| *space).min().unwrap_or_default();
        let most = volumes.iter().map(|(_, space)| *space).max().unwrap_or_default();
        if most - least <= balanced_within {
            return self.in_turn(volumes, len, 0);
        }
        let is_low = |(_, space): &Measured<'a, V>| *space <= least.saturating_add(balanced_within);
        let (low, high): (Vec<_>, Vec<_>) = volumes.iter().copied().partition(is_low);
        let low_fits = low.iter().any(|(_, space)| *space > len);
        let preference = preference.clamp(0.0, 1.0);
        let of_high = high.len() as f32 * preference;
        let of_low = low.len() as f32 * (1.0 - preference);
        let goes_high = !low_fits || draw() * (of_high + of_low) < of_high;
        self.in_turn(if goes_high { &high } else { &low }, len, 0)
    }
}

fn out_of_space(message: String) -> RemoteException {
    RemoteException {
        class: "org.apache.hadoop.util.DiskChecker$DiskOutOfSpaceException".into(),
        message,
    }
}

/// The storage type that a request asks for; an unknown one counts as none, which means DISK.
pub(crate) fn storage_type(code: Option<i32>) -> StorageType {
    code.and_then(StorageType::from_number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const ROUND_ROBIN: VolumePolicy = VolumePolicy::RoundRobin { left_free: 0 };

    /// A volume's directory and space.
    type Disk = (&'static str, u64);

    impl Candidate for Disk {
        fn available(&self) -> u64 {
            self.1
        }

        fn root(&self) -> &Path {
            Path::new(self.0)
        }
    }

    fn never() -> f32 {
        panic!("nothing is drawn")
    }

    /// Counts the choices of each volume.
    fn counts(chooser: &Chooser, disks: &[Disk], draws: usize) -> BTreeMap<&'static str, u64> {
        let mut counts: BTreeMap<_, _> = disks.iter().map(|disk| (disk.0, 0)).collect();
        for at in 0..draws {
            // Spreads the draws as evenly as can be.
            let draw = || (at as f64 * 0.618_033_988_75).fract() as f32;
            *counts.get_mut(chooser.choose(disks, 5, draw).unwrap().0).unwrap() += 1;
        }
        counts
    }

    #[test]
    fn a_full_volume_is_skipped_and_the_error_is_hadoops() {
        let chooser = Chooser::new(ROUND_ROBIN);
        let disks = [("/a", 100), ("/b", 5), ("/c", 300)];
        let chosen: Vec<u64> =
            (0..3).map(|_| chooser.choose(&disks, 50, never).unwrap().1).collect();
        assert_eq!(chosen, [100, 300, 100]);
        let error = chooser.choose(&disks, 300, never).unwrap_err();
        assert!(error.message.contains("(=300 B)"), "{error:?}");
        assert!(chooser.choose::<Disk>(&[], 1, never).is_err());
    }

    /// `dfs.datanode.round-robin-volume-choosing-policy.additional-available-space` was ignored.
    #[test]
    fn a_volume_was_filled_up_to_the_last_byte_that_should_stay_free() {
        let chooser = Chooser::new(VolumePolicy::RoundRobin { left_free: 60 });
        let disks = [("/a", 65), ("/b", 66)];
        for _ in 0..2 {
            assert_eq!(chooser.choose(&disks, 5, never).unwrap().0, "/b");
        }
        let error = chooser.choose(&disks, 6, never).unwrap_err();
        assert!(error.message.contains("(=66 B) is less than the block size (=6 B)"), "{error:?}");
    }

    /// The volume behind full ones got the turns of them all: 3 of 5 replicas here.
    #[test]
    fn round_robin_volumes_differ_by_one_whatever_lies_between_them() {
        let disks = [("/a", 100), ("/b", 0), ("/c", 0), ("/d", 100), ("/e", 100)];
        let chooser = Chooser::new(ROUND_ROBIN);
        for draws in 1..=20 {
            let chooser = Chooser::new(ROUND_ROBIN);
            let counts = counts(&chooser, &disks, draws);
            let good = [counts["/a"], counts["/d"], counts["/e"]];
            let (least, most) = (good.iter().min().unwrap(), good.iter().max().unwrap());
            assert!(most - least <= 1, "{counts:?}");
        }
        // A volume that is not in the list for a while, as a slow one, takes no turn from the others.
        let mut sum = BTreeMap::new();
        for round in 0..30 {
            let some = if round % 2 == 0 { &disks[..] } else { &disks[..4] };
            *sum.entry(chooser.choose(some, 5, never).unwrap().0).or_insert(0) += 1;
        }
        assert!(sum.len() == 3 && sum.values().all(|count| (7..=12).contains(count)), "{sum:?}");
    }

    /// The share of the emptier volumes did not depend on how many there are, so that one empty disk beside ten others got
    /// three of four replicas.
    #[test]
    fn volumes_with_more_space_are_chosen_as_often_as_their_weights_say() {
        let policy = VolumePolicy::AvailableSpace { balanced_within: 10, preference: 0.75 };
        let high = [("/a", 1000), ("/b", 900)];
        let low = [("/c", 20), ("/d", 30), ("/e", 25)];
        let disks = [low[0], high[0], low[1], high[1], low[2]];
        let counts = counts(&Chooser::new(policy), &disks, 9_000);
        for (name, expected) in
            [("/a", 3000), ("/b", 3000), ("/c", 1000), ("/d", 1000), ("/e", 1000)]
        {
            assert!(counts[name].abs_diff(expected) <= 10, "{name}: {counts:?}");
        }
        assert!(
            counts["/c"].abs_diff(counts["/d"]) <= 1 && counts["/a"].abs_diff(counts["/b"]) <= 1
        );
    }

    #[test]
    fn volumes_with_little_space_are_left_out_if_they_are_full_or_not_preferred_at_all() {
        let policy = VolumePolicy::AvailableSpace { balanced_within: 10, preference: 1.0 };
        let emptier = counts(&Chooser::new(policy), &[("/a", 20), ("/b", 1000)], 4);
        assert_eq!(emptier["/b"], 4);
        let even = counts(&Chooser::new(policy), &[("/a", 20), ("/b", 30)], 4);
        assert_eq!((even["/a"], even["/b"]), (2, 2), "a difference of the limit is balanced");
        let policy = VolumePolicy::AvailableSpace { balanced_within: 10, preference: 0.0 };
        let fuller = counts(&Chooser::new(policy), &[("/a", 20), ("/b", 1000)], 4);
        assert_eq!(fuller["/a"], 4);
        let full = counts(&Chooser::new(policy), &[("/a", 5), ("/b", 1000)], 4);
        assert_eq!(full["/b"], 4);
    }
}
