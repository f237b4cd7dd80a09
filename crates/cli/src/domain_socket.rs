//! Where a cluster of one process puts its domain sockets, so that local reads work without anybody
//! configuring a path.
//!
//! The path must pass Hadoop's rules: nobody but root and this user may be able to change a directory on
//! it. And it is short: a socket's path has at most 107 bytes. The data directory comes first; a
//! temporary one lies below /tmp, where everybody may write, so there are others.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_system::clock;

use zerohop_transport::domain::{self, Listener};

/// A socket that nobody listens at is left alone for so long: its owner may be just about to.
const DEAD_AFTER: Duration = Duration::from_secs(60);
const SUFFIX: &str = "_PORT";
/// As many bytes as the longest port has, to try a path with.
const LONGEST_PORT: u16 = 65535;

/// A value for `dfs.domain.socket.path`, or why there is none.
pub fn choose(data: &Path) -> Result<String, String> {
    let mut reasons = Vec::new();
    for (directory, name) in candidates(data) {
        match usable(&directory, &name) {
            Ok(path) => return Ok(path),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(reasons.join("\n"))
}

/// Directories with the name a socket would have there.
fn candidates(data: &Path) -> Vec<(PathBuf, String)> {
    let mut hasher = DefaultHasher::new();
    (data, std::process::id()).hash(&mut hasher);
    let unique = format!("{:08x}.{SUFFIX}", hasher.finish() as u32);
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let mut candidates = vec![(data.to_owned(), format!("dn.{SUFFIX}"))];
    if rustix::process::geteuid().is_root() {
        candidates.push((PathBuf::from("/run/zerohop"), unique.clone()));
        candidates.push((PathBuf::from("/var/lib/zerohop"), unique.clone()));
    }
    if let Some(runtime) = variable("XDG_RUNTIME_DIR") {
        candidates.push((runtime.join("zerohop"), unique.clone()));
    }
    if let Some(home) = variable("HOME") {
        candidates.push((home.join(".zerohop"), unique));
    }
    candidates
}

fn usable(directory: &Path, name: &str) -> Result<String, String> {
    let configured = directory.join(name);
    let text = configured.to_str().ok_or("a path that is not UTF-8")?.to_owned();
    if text.replacen(SUFFIX, "", 1).contains(SUFFIX) {
        return Err(format!("{text}: {SUFFIX} stands in it twice"));
    }
    let path = domain::effective_path(&text, LONGEST_PORT);
    let made =
        make_directory(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let tried = domain::validate(&path).map_err(|unsafe_path| unsafe_path.to_string());
    // Not every file system has sockets.
    let tried = tried.and_then(|()| {
        Listener::bind(&path).map(drop).map_err(|error| format!("{}: {error}", path.display()))
    });
    match tried {
        Ok(()) => {
            remove_dead(directory);
            Ok(text)
        }
        Err(reason) => {
            if made {
                let _ = fs::remove_dir(directory);
            }
            Err(reason)
        }
    }
}

/// Makes the last part of a directory's path; true if it was not there.
fn make_directory(directory: &Path) -> io::Result<bool> {
    match fs::DirBuilder::new().mode(0o755).create(directory) {
        // Whatever the umask took away: clients of other users go through here.
        Ok(()) => {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what killed processes left in a directory.
fn remove_dead(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(file) = fs::symlink_metadata(&path) else { continue };
        let age = file
            .modified()
            .ok()
            .and_then(|made| clock::wall().duration_since(made).ok())
            .unwrap_or_default();
        if !file.file_type().is_socket() || age < DEAD_AFTER {
            continue;
        }
        let refused = domain::connect(&path, Duration::from_secs(1))
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if refused {
            let _ = fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_path_that_passes_the_rules_is_found_wherever_the_data_is() {
        let data = tempfile::tempdir().unwrap();
        let deep = data.path().join("d".repeat(100));
        fs::create_dir(&deep).unwrap();
        for directory in [data.path(), deep.as_path(), Path::new("/no-such-directory/data")] {
            match choose(directory) {
                Ok(path) => {
                    let path = domain::effective_path(&path, 50010);
                    domain::validate(&path).unwrap();
                    assert!(Listener::bind(&path).is_ok(), "{}", path.display());
                }
                // A user without a home has no such place: then it is said why.
                Err(reasons) => {
                    assert!(!rustix::process::geteuid().is_root(), "{reasons}");
                    assert!(reasons.contains("This might help"), "{reasons}");
                }
            }
        }
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn dead_sockets_go_and_living_ones_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (dead, new, living) = ("dead", "new", "living");
        for name in [dead, new] {
            drop(UnixListener::bind(directory.path().join(name)).unwrap());
        }
        let _listener = UnixListener::bind(directory.path().join(living)).unwrap();
        let old = rustix::fs::Timespec { tv_sec: 1, tv_nsec: 0 };
        let times = rustix::fs::Timestamps { last_access: old, last_modification: old };
        for name in [dead, living] {
            let path = directory.path().join(name);
            rustix::fs::utimensat(rustix::fs::CWD, &path, &times, rustix::fs::AtFlags::empty())
                .unwrap();
        }
        remove_dead(directory.path());
        let mut left: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, [living, new]);
    }
}
