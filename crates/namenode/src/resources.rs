//! Free space where the edit log is written: when there is too little, the NameNode enters safe mode before an edit cannot
//! be written (`NameNodeResourceChecker`, `NameNodeResourcePolicy`).

use crate::core::Core;
use crate::storage::{StorageConfig, StorageError};
use std::convert::Infallible;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use zerohop_conf::{Conf, keys};
use zerohop_system::clock;

/// The volumes that are watched, and how much must be free on them.
#[derive(Debug)]
pub(crate) struct Resources {
    volumes: Vec<Volume>,
    /// Bytes.
    reserved: u64,
    /// How many of the volumes that are not required must have that much.
    redundant_min: usize,
    check_interval: Duration,
}

/// A file system, by one of its directories.
#[derive(Debug)]
struct Volume {
    dir: PathBuf,
    device: u64,
    is_required: bool,
}

impl Resources {
    /// The directories of edits, and those of `dfs.namenode.resource.checked.volumes`, each file system once.
    ///
    /// # Errors
    /// If one of them does not exist, or a value makes no sense.
    pub(crate) fn from_conf(conf: &Conf, storage: &StorageConfig) -> Result<Self, StorageError> {
        let bad = |e: zerohop_conf::ConfError| StorageError::Config(e.to_string());
        let above_zero = |time: Duration| Some(time).filter(|time| !time.is_zero());
        let mut resources = Self {
            volumes: Vec::new(),
            reserved: conf.get(&keys::DFS_NAMENODE_RESOURCE_DU_RESERVED).map_err(bad)?,
            redundant_min: conf
                .get(&keys::DFS_NAMENODE_RESOURCE_CHECKED_VOLUMES_MINIMUM)
                .map_err(bad)?
                .max(0) as usize,
            check_interval: conf
                .get_as(&keys::DFS_NAMENODE_RESOURCE_CHECK_INTERVAL, "a time above 0", above_zero)
                .map_err(bad)?,
        };
        for dir in &storage.edits_dirs {
            resources.add(dir, storage.edits_dirs_required.contains(dir))?;
        }
        for dir in &storage.checked_dirs {
            resources.add(dir, true)?;
        }
        Ok(resources)
    }

    fn add(&mut self, dir: &Path, is_required: bool) -> Result<(), StorageError> {
        let metadata = std::fs::metadata(dir).map_err(|source| StorageError::Io {
            verb: "watch the free space of",
            path: dir.to_owned(),
            source,
        })?;
        let device = metadata.dev();
        match self.volumes.iter_mut().find(|volume| volume.device == device) {
            Some(known) => known.is_required |= is_required,
            None => self.volumes.push(Volume { dir: dir.to_owned(), device, is_required }),
        }
        Ok(())
    }

    /// Whether there is room to go on: on every required volume, and on enough of the others. `free` gives a volume's free
    /// bytes.
    fn suffice(&self, free: impl Fn(&Path) -> io::Result<u64>) -> bool {
        let has_room = |volume: &Volume| match free(&volume.dir) {
            Ok(bytes) if bytes >= self.reserved => true,
            Ok(bytes) => {
                tracing::warn!(
                    "Space available on volume '{}' is {bytes}, which is below the configured reserved amount {}",
                    volume.dir.display(),
                    self.reserved
                );
                false
            }
            Err(error) => {
                tracing::warn!(
                    "cannot ask for the free space of {}: {error}",
                    volume.dir.display()
                );
                false
            }
        };
        let (required, redundant): (Vec<&Volume>, Vec<&Volume>) =
            self.volumes.iter().partition(|volume| volume.is_required);
        let redundant_with_room = redundant.iter().filter(|volume| has_room(volume)).count();
        required.into_iter().all(has_room)
            && (redundant.is_empty() || redundant_with_room >= self.redundant_min)
    }
}

/// What is free for processes that are not root's, bytes.
fn free_bytes(dir: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Looks at the free space again and again; never ends by itself.
pub(crate) async fn watch(core: Arc<Core>, resources: Resources) -> Infallible {
    let resources = Arc::new(resources);
    let mut ticks = tokio::time::interval(resources.check_interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A disk may take long to answer.
        let asked = Arc::clone(&resources);
        let begun = clock::now();
        let look = tokio::task::spawn_blocking(move || asked.suffice(free_bytes));
        match look.await {
            Ok(suffice) => {
                core.activity.resource_checks.add_ms(clock::since(begun));
                take(&core, suffice);
            }
            Err(error) => tracing::error!("the free space was not looked at: {error}"),
        }
    }
}

fn take(core: &Core, suffice: bool) {
    const LOW: &str = "NameNode low on available disk space.";
    let (was_on, was_low) = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        (safe_mode.is_on(), safe_mode.is_low_on_resources())
    });
    match (suffice, was_low) {
        (true, false) => return,
        (true, true) => tracing::info!("Namenode has sufficient available resources."),
        (false, true) => return tracing::warn!("{LOW} Already in safe mode."),
        (false, false) if was_on => tracing::warn!("{LOW} Already in safe mode."),
        (false, false) => tracing::warn!("{LOW} Entering safe mode."),
    }
    let (tip, _) = core.write(|namespace| {
        let safe_mode = namespace.blocks_mut().safe_mode_mut();
        safe_mode.set_low_on_resources(!suffice);
        safe_mode.is_on().then(|| safe_mode.tip())
    });
    match tip {
        Some(tip) => tracing::info!("STATE* Safe mode is ON.\n{tip}"),
        None => tracing::info!("STATE* Safe mode is OFF"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(volumes: &[(&str, bool)], redundant_min: usize) -> Resources {
        let volume = |(n, (dir, is_required)): (usize, &(&str, bool))| Volume {
            dir: dir.into(),
            device: n as u64,
            is_required: *is_required,
        };
        let volumes = volumes.iter().enumerate().map(volume).collect();
        let check_interval = Duration::from_secs(5);
        Resources { volumes, reserved: 100, redundant_min, check_interval }
    }

    #[test]
    fn required_volumes_and_enough_of_the_others_must_have_room() {
        let full = |names: &'static [&'static str]| {
            move |dir: &Path| match names.contains(&dir.to_str().unwrap()) {
                true => Ok(99),
                false => Ok(100),
            }
        };
        let redundant = resources(&[("/a", false), ("/b", false)], 1);
        assert!(redundant.suffice(full(&[])) && redundant.suffice(full(&["/a"])));
        assert!(!redundant.suffice(full(&["/a", "/b"])));
        assert!(!redundant.suffice(|_| Err(io::ErrorKind::NotFound.into())));
        let required = resources(&[("/a", true), ("/b", false)], 1);
        assert!(required.suffice(full(&[])));
        assert!(!required.suffice(full(&["/a"])) && !required.suffice(full(&["/b"])));
        assert!(resources(&[("/a", true)], 1).suffice(full(&[])), "none redundant is configured");
    }

    #[test]
    fn directories_of_one_file_system_are_one_volume() {
        let dir = tempfile::tempdir().unwrap();
        let mut found = resources(&[], 1);
        found.add(dir.path(), false).unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        found.add(&dir.path().join("sub"), true).unwrap();
        assert_eq!((found.volumes.len(), found.volumes[0].is_required), (1, true));
        let error = found.add(&dir.path().join("none"), true).unwrap_err().to_string();
        assert!(error.contains("cannot watch the free space of"), "{error}");
    }
}
