//! The configuration of the [trash emptier](crate::trash).

use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};

/// The rules of the trash emptier.
#[derive(Clone, Debug)]
pub(crate) struct TrashPolicy {
    /// Age at which a checkpoint is deleted.
    pub(crate) keep: Duration,
    /// Time between two checkpoints.
    pub(crate) interval: Duration,
    /// True if the emptier also deletes other entries of a trash root than checkpoints.
    pub(crate) cleans_roots: bool,
    /// The directory of the home directories.
    pub(crate) homes: String,
}

impl TrashPolicy {
    /// Reads the policy of a configuration; `None` if it keeps no trash.
    ///
    /// # Errors
    /// Fails if the interval is negative or no number.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Option<Self>, ConfError> {
        let key = &keys::FS_TRASH_INTERVAL;
        if conf.get_checked(key.name)?.is_some_and(|text| text.trim().starts_with('-')) {
            return Err(conf.misfit(key.name, "a number of minutes that is not negative"));
        }
        let keep = conf.get(key)?;
        if keep.is_zero() {
            return Ok(None);
        }
        let checkpoints = conf.get(&keys::FS_TRASH_CHECKPOINT_INTERVAL)?;
        let is_usable = !checkpoints.is_zero() && checkpoints <= keep;
        let prefix = conf.get(&keys::DFS_USER_HOME_DIR_PREFIX)?;
        Ok(Some(Self {
            keep,
            interval: if is_usable { checkpoints } else { keep },
            cleans_roots: conf.get(&keys::FS_TRASH_CLEAN_TRASHROOT_ENABLE)?,
            homes: format!("/{}", prefix.trim_matches('/')),
        }))
    }
}
