//! Which volume a new replica goes to.

use super::volume::DataVolume;
use crate::outliers::SlowestDisks;
use crate::settings::{Settings, VolumePolicy};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
            if let Ok(volume) = self.chooser.choose(&others, len) {
                return Ok(Arc::clone(volume));
            }
        }
        self.chooser.choose(&fitting, len).cloned()
    }
}

/// What a chooser has to know of a volume.
trait Candidate {
    /// Bytes that a new replica may take.
    fn available(&self) -> u64;
}

impl Candidate for Arc<DataVolume> {
    fn available(&self) -> u64 {
        DataVolume::available(self)
    }
}

/// Chooses volumes; one state for all storage types.
#[derive(Debug)]
struct Chooser {
    policy: VolumePolicy,
    turn: AtomicUsize,
}

impl Chooser {
    /// A chooser.
    fn new(policy: VolumePolicy) -> Self {
        Self { policy, turn: AtomicUsize::new(0) }
    }

    /// A volume with room for `len` bytes.
    fn choose<'a, V: Candidate>(
        &self,
        volumes: &'a [V],
        len: u64,
    ) -> Result<&'a V, RemoteException> {
        if volumes.is_empty() {
            return Err(out_of_space("No more available volumes".to_owned()));
        }
        match self.policy {
            VolumePolicy::RoundRobin => self.round_robin(volumes, &all(volumes), len),
            VolumePolicy::AvailableSpace { balanced_within, preference } => {
                self.by_space(volumes, len, balanced_within, preference)
            }
        }
    }

    fn round_robin<'a, V: Candidate>(
        &self,
        volumes: &'a [V],
        among: &[usize],
        len: u64,
    ) -> Result<&'a V, RemoteException> {
        let start = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut most = 0;
        for step in 0..among.len() {
            let index = among.get((start + step) % among.len()).copied().unwrap_or_default();
            let Some(volume) = volumes.get(index) else { continue };
            let available = volume.available();
            if available > len {
                return Ok(volume);
            }
            most = most.max(available);
        }
        Err(out_of_space(format!(
            "Out of space: The volume with the most available space (={most} B) is less than the \
             block size (={len} B)."
        )))
    }

    fn by_space<'a, V: Candidate>(
        &self,
        volumes: &'a [V],
        len: u64,
        balanced_within: u64,
        preference: f32,
    ) -> Result<&'a V, RemoteException> {
        let space: Vec<u64> = volumes.iter().map(Candidate::available).collect();
        let least = space.iter().copied().min().unwrap_or_default();
        let most = space.iter().copied().max().unwrap_or_default();
        if most - least < balanced_within {
            return self.round_robin(volumes, &all(volumes), len);
        }
        let (low, high): (Vec<usize>, Vec<usize>) = all(volumes).into_iter().partition(|index| {
            space.get(*index).is_some_and(|space| *space < least + balanced_within)
        });
        let low_fits = low.iter().any(|index| space.get(*index).is_some_and(|space| *space > len));
        let among = if low_fits && random::f32() >= preference { low } else { high };
        self.round_robin(volumes, &among, len)
    }
}

fn all<V>(volumes: &[V]) -> Vec<usize> {
    (0..volumes.len()).collect()
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

    impl Candidate for u64 {
        fn available(&self) -> u64 {
            *self
        }
    }

    #[test]
    fn round_robin_skips_the_full_one() {
        let chooser = Chooser::new(VolumePolicy::RoundRobin);
        let volumes = [100, 5, 300];
        let chosen: Vec<u64> = (0..3).map(|_| *chooser.choose(&volumes, 50).unwrap()).collect();
        assert_eq!(chosen, [100, 300, 300]);
        assert!(chooser.choose(&volumes, 300).unwrap_err().message.contains("(=300 B)"));
        assert!(chooser.choose::<u64>(&[], 1).is_err());
    }

    #[test]
    fn available_space_prefers_the_emptier() {
        let policy = VolumePolicy::AvailableSpace { balanced_within: 10, preference: 1.0 };
        let chooser = Chooser::new(policy);
        assert!((0..4).all(|_| *chooser.choose(&[20, 1000], 5).unwrap() == 1000));
        let even: Vec<u64> = (0..2).map(|_| *chooser.choose(&[20, 21], 5).unwrap()).collect();
        assert_ne!(even[0], even[1]);
    }
}
