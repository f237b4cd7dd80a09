//! Clusters of `zerohop up` that this user runs on this machine.
//!
//! Each announces its client configuration in a file of the user's runtime directory, so that a command or a program
//! in a second terminal finds it. The file is locked while the cluster runs: one that can be locked was
//! left behind by a killed process and is removed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

/// The variable that names the runtime directory; `/run`, `XDG_RUNTIME_DIR` and the home directory are not tried then.
const VARIABLE: &str = "ZEROHOP_RUNTIME_DIR";

/// The announcement of a running cluster; removed when this is dropped.
#[derive(Debug)]
pub struct Announcement {
    path: PathBuf,
    _locked: File,
}

impl Announcement {
    /// Announces a cluster by the directory of its client configuration.
    ///
    /// # Errors
    /// Fails if no runtime directory can be written, with the reason of the last one.
    pub fn make(conf: &Path) -> io::Result<Announcement> {
        let mut reason = io::Error::other("there is no runtime directory");
        for directory in directories() {
            match make_in(&directory, conf) {
                Ok(made) => return Ok(made),
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn make_in(directory: &Path, conf: &Path) -> io::Result<Announcement> {
    DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
    if !is_private(directory) {
        return Err(io::Error::other(format!("{} is not this user's", directory.display())));
    }
    let path = directory.join(std::process::id().to_string());
    let unfinished = directory.join(format!(".{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    file.write_all(conf.as_os_str().as_bytes())?;
    // A reader finds the whole file, locked, or none.
    fs::rename(&unfinished, &path)?;
    Ok(Announcement { path, _locked: file })
}

/// Returns the client configurations of the clusters that run now.
pub fn clusters() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = directories().iter().flat_map(|d| announced_in(d)).collect();
    found.sort();
    found.dedup();
    found
}

fn announced_in(directory: &Path) -> Vec<PathBuf> {
    // What another user could have put there is not trusted.
    let entries = if is_private(directory) { fs::read_dir(directory).ok() } else { None };
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|entry| announced_by(&entry.path())).collect()
}

/// Returns the configuration that a file announces, or `None` if it cannot be used. Removes a file whose cluster is gone.
fn announced_by(path: &Path) -> Option<PathBuf> {
    let is_pid = path.file_name()?.to_str()?.bytes().all(|byte| byte.is_ascii_digit());
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).ok()?;
    let mut file = OpenOptions::new().read(true).custom_flags(nofollow).open(path).ok()?;
    if !is_pid {
        return None;
    }
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        let _ = fs::remove_file(path);
        return None;
    }
    let mut conf = Vec::new();
    file.read_to_end(&mut conf).ok()?;
    let conf = PathBuf::from(std::ffi::OsString::from_vec(conf));
    // A cluster in a container shares /run and not its files, so that this process could not use it.
    conf.is_dir().then_some(conf)
}

/// Returns the directories with announcements; a new one is made in the first that works.
fn directories() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    if let Some(named) = variable(VARIABLE) {
        return vec![named];
    }
    let is_root = rustix::process::geteuid().is_root();
    let root = is_root.then(|| PathBuf::from("/run/zerohop"));
    let session = variable("XDG_RUNTIME_DIR").map(|path| path.join("zerohop"));
    let home = variable("HOME").map(|path| path.join(".zerohop"));
    [root, session, home].into_iter().flatten().map(|path| path.join("clusters")).collect()
}

/// Returns `true` if only this user and root can change the directory.
fn is_private(directory: &Path) -> bool {
    fs::symlink_metadata(directory).is_ok_and(|found| {
        found.is_dir()
            && found.uid() == rustix::process::geteuid().as_raw()
            && found.mode() & 0o022 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_is_found_while_its_cluster_runs() {
        let directory = tempfile::tempdir().unwrap();
        let conf = directory.path();
        let directory = conf.join("clusters");
        let announcement = make_in(&directory, conf).unwrap();
        assert_eq!(announced_in(&directory), [conf]);
        drop(announcement);
        assert!(announced_in(&directory).is_empty());
    }

    /// Every command used to fail beside a cluster whose directory it could not read.
    #[test]
    fn an_announcement_whose_configuration_is_not_here_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let announced = directory.path().join("clusters");
        let announcement = make_in(&announced, &directory.path().join("conf")).unwrap();
        assert!(announced_in(&announced).is_empty());
        drop(announcement);
    }

    #[test]
    fn an_announcement_of_a_killed_process_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("123"), "/data/conf").unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(announced_in(directory.path()).is_empty());
        assert!(!directory.path().join("123").exists());
    }

    #[test]
    fn a_directory_that_others_can_change_is_not_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("clusters");
        let _announcement = make_in(&inner, directory.path()).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(announced_in(&inner).is_empty());
    }

    use std::os::unix::fs::PermissionsExt;
}
