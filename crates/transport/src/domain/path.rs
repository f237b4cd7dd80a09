//! Whether a socket path is safe: could another user put another socket in its place?
//!
//! Hadoop's rules (`DomainSocket.validateSocketPathSecurity0`): every component in front of the last
//! one is looked at, symbolic links followed. None may be writable for everybody (the sticky bit of
//! /tmp does not help), none writable for a group other than root's, and one its owner may write
//! must belong to root or to the effective user.

use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Longest path of a domain socket, in bytes: the kernel's 108 with the end mark.
pub const PATH_LEN_MAX: usize = 107;

const STICKY: u32 = 0o1000;

/// What is wrong with a path.
#[derive(Debug)]
pub enum Problem {
    /// It has more than [`PATH_LEN_MAX`] bytes; so many.
    TooLong(usize),
    /// It does not begin at the root, or ends in a slash.
    NotAFile,
    /// The component cannot be looked at.
    Unreachable(io::Error),
    /// Everybody may write the component.
    WorldWritable,
    /// A group other than root's may write the component.
    GroupWritable,
    /// Its owner, given here, is neither root nor the effective user.
    Owner(u32),
}

/// A socket path that another user could change, or that cannot be used at all.
#[derive(Debug)]
pub struct UnsafePath {
    /// The path of the socket.
    pub path: PathBuf,
    /// The component that is at fault; the whole path where it is the path itself.
    pub component: PathBuf,
    /// Permission bits of the component; 0 where it was not looked at. So with the next two.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// What is wrong.
    pub problem: Problem,
}

impl UnsafePath {
    fn of_path(path: &Path, problem: Problem) -> Self {
        let component = path.to_owned();
        Self { path: path.to_owned(), component, mode: 0, uid: 0, gid: 0, problem }
    }

    /// A command or a change of the configuration that helps.
    pub fn fix(&self) -> String {
        let component = self.component.display();
        match &self.problem {
            Problem::TooLong(_) => {
                format!("set dfs.domain.socket.path to at most {PATH_LEN_MAX} bytes")
            }
            Problem::NotAFile => "set dfs.domain.socket.path to the full path of a file".to_owned(),
            Problem::Unreachable(error) if error.kind() == io::ErrorKind::NotFound => {
                format!("mkdir -m 755 -p {component}")
            }
            Problem::Unreachable(_) => {
                format!("let this user search the directories of {component}")
            }
            // A directory for everybody's files, as /tmp: others need it as it is.
            Problem::WorldWritable if self.mode & STICKY != 0 => "set dfs.domain.socket.path to a \
                 file in a directory that only root or this user can write, such as /var/run/hadoop-hdfs"
                .to_owned(),
            Problem::WorldWritable => format!("chmod o-w {component}"),
            Problem::GroupWritable => format!("chmod g-w {component} or chgrp root {component}"),
            Problem::Owner(user) => format!("chown root {component} or chown {user} {component}"),
        }
    }
}

impl fmt::Display for UnsafePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, component) = (self.path.display(), self.component.display());
        let state = format_args!(
            "The path component: '{component}' in '{path}' has permissions 0{:03o} uid {} and gid \
             {}.",
            self.mode, self.uid, self.gid
        );
        match &self.problem {
            Problem::TooLong(len) => write!(
                f,
                "the socket path '{path}' has {len} bytes, a Unix domain socket can have \
                 {PATH_LEN_MAX}."
            ),
            Problem::NotAFile => write!(f, "bad socket path '{path}'."),
            Problem::Unreachable(error) => {
                write!(f, "cannot look at path component '{component}' in '{path}': {error}.")
            }
            Problem::WorldWritable => {
                write!(f, "{state} It is not protected because it is world-writable.")
            }
            Problem::GroupWritable => write!(
                f,
                "{state} It is not protected because it is group-writable and not owned by root."
            ),
            Problem::Owner(user) => write!(
                f,
                "{state} It is not protected because it is owned by a user who is not root and \
                 not the effective user: '{user}'."
            ),
        }?;
        write!(f, " This might help: '{}'.", self.fix())
    }
}

impl std::error::Error for UnsafePath {}

/// The path for a DataNode with this transfer port: `_PORT` replaced.
pub fn effective_path(configured: &str, port: u16) -> PathBuf {
    configured.replace("_PORT", &port.to_string()).into()
}

/// Checks a socket's path for this process; the first component at fault, if there is one.
pub fn validate(path: &Path) -> Result<(), Box<UnsafePath>> {
    let bytes = path.as_os_str().as_bytes();
    let bad = |problem| Err(Box::new(UnsafePath::of_path(path, problem)));
    if !path.is_absolute() || bytes.ends_with(b"/") || path.file_name().is_none() {
        return bad(Problem::NotAFile);
    }
    if bytes.len() > PATH_LEN_MAX {
        return bad(Problem::TooLong(bytes.len()));
    }
    let user = rustix::process::geteuid().as_raw();
    let mut components: Vec<&Path> = path.ancestors().skip(1).collect();
    components.reverse();
    components.into_iter().try_for_each(|component| validate_component(path, component, user))
}

/// Checks one component (a directory) of the socket path `path` for the effective user `user`.
pub fn validate_component(path: &Path, component: &Path, user: u32) -> Result<(), Box<UnsafePath>> {
    let bad = |mode, uid, gid, problem| {
        let (path, component) = (path.to_owned(), component.to_owned());
        Err(Box::new(UnsafePath { path, component, mode, uid, gid, problem }))
    };
    let directory = match std::fs::metadata(component) {
        Ok(directory) => directory,
        Err(error) => return bad(0, 0, 0, Problem::Unreachable(error)),
    };
    let (mode, uid, gid) = (directory.mode() & 0o7777, directory.uid(), directory.gid());
    if mode & 0o002 != 0 {
        bad(mode, uid, gid, Problem::WorldWritable)
    } else if mode & 0o020 != 0 && gid != 0 {
        bad(mode, uid, gid, Problem::GroupWritable)
    } else if mode & 0o200 != 0 && uid != 0 && uid != user {
        bad(mode, uid, gid, Problem::Owner(user))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn plant(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let planted = root.path().join("planted");
        fs::create_dir(&planted).unwrap();
        fs::set_permissions(&planted, fs::Permissions::from_mode(mode)).unwrap();
        let owner = fs::metadata(&planted).unwrap().uid();
        assert_eq!(owner, rustix::process::geteuid().as_raw());
        (root, planted)
    }

    fn check(planted: &Path, user: u32) -> Option<Problem> {
        let path = planted.join("dn");
        validate_component(&path, planted, user).err().map(|error| {
            assert_eq!(error.component, planted);
            assert!(error.to_string().contains(&error.fix()), "{error}");
            error.problem
        })
    }

    #[test]
    fn planted_modes_are_found() {
        let me = rustix::process::geteuid().as_raw();
        for mode in [0o755, 0o700, 0o711, 0o1755, 0o555] {
            let (_root, planted) = plant(mode);
            assert!(check(&planted, me).is_none(), "{mode:o}");
        }
        for mode in [0o777, 0o1777, 0o757, 0o702] {
            let (_root, planted) = plant(mode);
            assert!(matches!(check(&planted, me), Some(Problem::WorldWritable)), "{mode:o}");
        }
        let (_root, planted) = plant(0o775);
        let of_root = fs::metadata(&planted).unwrap().gid() == 0;
        let found = check(&planted, me);
        assert_eq!(found.is_none(), of_root, "{found:?}");
        if me == 0 {
            std::os::unix::fs::chown(&planted, Some(0), Some(12345)).unwrap();
            assert!(matches!(check(&planted, me), Some(Problem::GroupWritable)));
            let (_root, planted) = plant(0o755);
            std::os::unix::fs::chown(&planted, Some(12345), Some(0)).unwrap();
            assert!(matches!(check(&planted, me), Some(Problem::Owner(0))));
            assert!(check(&planted, 12345).is_none());
        } else {
            let (_root, planted) = plant(0o755);
            assert!(matches!(check(&planted, me + 1), Some(Problem::Owner(_))));
        }
    }

    #[test]
    fn the_first_component_at_fault_is_named() {
        let error = validate(Path::new("/tmp/a/dn")).unwrap_err();
        if matches!(error.problem, Problem::WorldWritable) {
            assert_eq!(error.component, Path::new("/tmp"));
        }
    }

    /// "chmod o-w /tmp" was the advice, and 0777 was printed for 1777.
    #[test]
    fn nobody_is_told_to_close_a_sticky_directory() {
        let me = rustix::process::geteuid().as_raw();
        let (_root, planted) = plant(0o1777);
        let error = validate_component(&planted.join("dn"), &planted, me).unwrap_err();
        assert!(!error.fix().contains("chmod"), "{error}");
        assert!(error.to_string().contains("permissions 01777"), "{error}");
        let (_root, planted) = plant(0o777);
        let error = validate_component(&planted.join("dn"), &planted, me).unwrap_err();
        assert_eq!(error.fix(), format!("chmod o-w {}", planted.display()));
    }

    #[test]
    fn a_component_that_is_not_there_is_named() {
        let error = validate(Path::new("/no-such-directory/dn")).unwrap_err();
        assert_eq!(error.component, Path::new("/no-such-directory"));
        assert_eq!(error.fix(), "mkdir -m 755 -p /no-such-directory");
    }

    #[test]
    fn paths_that_cannot_be_sockets_are_told() {
        for bad in ["dn", "/a/", "/"] {
            let problem = validate(Path::new(bad)).unwrap_err().problem;
            assert!(matches!(problem, Problem::NotAFile), "{bad}");
        }
        let long = PathBuf::from(format!("/{}", "x".repeat(PATH_LEN_MAX)));
        assert!(matches!(validate(&long).unwrap_err().problem, Problem::TooLong(108)));
        let fits = PathBuf::from(format!("/{}", "x".repeat(PATH_LEN_MAX - 1)));
        assert!(!matches!(
            validate(&fits).map_err(|error| error.problem),
            Err(Problem::TooLong(_))
        ));
    }

    #[test]
    fn the_port_takes_its_place() {
        assert_eq!(effective_path("/r/dn._PORT", 9866), Path::new("/r/dn.9866"));
        assert_eq!(effective_path("/r/dn", 9866), Path::new("/r/dn"));
    }
}
