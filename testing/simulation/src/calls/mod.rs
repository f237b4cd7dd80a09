//! The system calls by which a piece of code changes files, seen and, if wanted, made to fail.
//!
//! The code itself knows nothing of it: the kernel asks us before each call (`seccomp` with user
//! notification). So the crash simulation sees the very writes, syncs and renames of the NameNode,
//! and I/O errors come from where a broken disk's would come from.

mod filter;
mod program;

pub use program::observe_program;

use filter::{Listener, Waiting};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// The longest path that a call may name.
const PATH_MAX: usize = 4096;

/// A call that changes a file or a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileCall {
    /// A file is opened, and created if it is not there.
    Create {
        /// The file.
        path: PathBuf,
        /// Whether it is emptied.
        truncates: bool,
    },
    /// Bytes are written.
    Write {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file is cut or made longer.
    SetLen {
        /// The file.
        path: PathBuf,
        /// Its length afterwards.
        len: u64,
    },
    /// A file or a directory is made durable.
    Sync {
        /// Which.
        path: PathBuf,
    },
    /// A file gets another name.
    Rename {
        /// The old one.
        from: PathBuf,
        /// The new one.
        to: PathBuf,
    },
    /// A file is removed.
    Remove {
        /// The file.
        path: PathBuf,
    },
    /// A directory is created.
    MakeDir {
        /// The directory.
        path: PathBuf,
    },
    /// A call that changes files in a way that is not modelled.
    Other {
        /// Its number.
        number: i64,
    },
}

impl FileCall {
    /// The file or directory that is changed; none where that is not known.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Create { path, .. }
            | Self::Write { path, .. }
            | Self::SetLen { path, .. }
            | Self::Sync { path }
            | Self::Remove { path }
            | Self::MakeDir { path }
            | Self::Rename { from: path, .. } => Some(path),
            Self::Other { .. } => None,
        }
    }
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It happens.
    Proceed,
    /// It fails with this `errno` and changes nothing.
    Fail(i32),
}

/// Runs `work` on a thread of its own and asks `judge` about each call by which that thread, or one
/// that it starts, changes files. Returns when all of those threads have ended.
///
/// # Errors
/// If the kernel does not offer this.
pub fn observe<T: Send>(
    mut judge: impl FnMut(FileCall) -> Verdict,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let worker = scope.spawn(move || {
            let installed = Listener::install(&[]);
            let is_installed = installed.is_ok();
            let _ = send.send(installed);
            drop(send);
            is_installed.then(work)
        });
        let listener = receive.recv().map_err(io::Error::other)??;
        let mut caller = Caller::default();
        while let Some(waiting) = listener.next()? {
            let verdict = match caller.decode(&waiting)? {
                Some(call) => judge(call),
                None => Verdict::Proceed,
            };
            let errno = match verdict {
                Verdict::Proceed => None,
                Verdict::Fail(errno) => Some(errno),
            };
            listener.answer(&waiting, errno)?;
        }
        match worker.join() {
            Ok(Some(done)) => Ok(done),
            Ok(None) => Err(io::Error::other("the filter was not installed")),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Reads what a call's arguments point to.
#[derive(Default)]
struct Caller {
    /// The memory of the thread that was asked about last.
    memory: Option<(u32, File)>,
}

impl Caller {
    fn decode(&mut self, call: &Waiting) -> io::Result<Option<FileCall>> {
        let at_cwd = libc::AT_FDCWD as u32 as u64;
        let number = call.number();
        let call = match number {
            libc::SYS_openat => {
                let path = self.path(call, call.argument(0), call.argument(1))?;
                return Ok(creation(path, call.argument(2)));
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => {
                let path = self.path(call, at_cwd, call.argument(0))?;
                return Ok(creation(path, call.argument(1)));
            }
            libc::SYS_write => {
                let Some(path) = file_of(call, 0)? else { return Ok(None) };
                let (offset, bytes) = (position(call)?, self.bytes(call)?);
                FileCall::Write { path, offset, bytes }
            }
            libc::SYS_pwrite64 => {
                let Some(path) = file_of(call, 0)? else { return Ok(None) };
                let (offset, bytes) = (call.argument(3), self.bytes(call)?);
                FileCall::Write { path, offset, bytes }
            }
            libc::SYS_fsync | libc::SYS_fdatasync => {
                let Some(path) = file_of(call, 0)? else { return Ok(None) };
                FileCall::Sync { path }
            }
            libc::SYS_ftruncate => {
                let Some(path) = file_of(call, 0)? else { return Ok(None) };
                FileCall::SetLen { path, len: call.argument(1) }
            }
            libc::SYS_renameat | libc::SYS_renameat2 => FileCall::Rename {
                from: self.path(call, call.argument(0), call.argument(1))?,
                to: self.path(call, call.argument(2), call.argument(3))?,
            },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => FileCall::Rename {
                from: self.path(call, at_cwd, call.argument(0))?,
                to: self.path(call, at_cwd, call.argument(1))?,
            },
            libc::SYS_unlinkat => {
                FileCall::Remove { path: self.path(call, call.argument(0), call.argument(1))? }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => {
                FileCall::Remove { path: self.path(call, at_cwd, call.argument(0))? }
            }
            libc::SYS_mkdirat => {
                FileCall::MakeDir { path: self.path(call, call.argument(0), call.argument(1))? }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => {
                FileCall::MakeDir { path: self.path(call, at_cwd, call.argument(0))? }
            }
            number => FileCall::Other { number },
        };
        Ok(Some(call))
    }

    fn memory(&mut self, thread: u32) -> io::Result<&File> {
        if self.memory.as_ref().is_none_or(|(known, _)| *known != thread) {
            self.memory = Some((thread, File::open(format!("/proc/{thread}/mem"))?));
        }
        match &self.memory {
            Some((_, memory)) => Ok(memory),
            None => Err(io::Error::other("no memory")),
        }
    }

    /// The buffer of `write` and of its relatives.
    fn bytes(&mut self, call: &Waiting) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; call.argument(2) as usize];
        self.memory(call.thread())?.read_exact_at(&mut bytes, call.argument(1))?;
        Ok(bytes)
    }

    fn path(&mut self, call: &Waiting, directory: u64, address: u64) -> io::Result<PathBuf> {
        let mut text = vec![0; PATH_MAX];
        // What lies behind the path may be no memory of the process.
        let len = self.memory(call.thread())?.read_at(&mut text, address)?;
        text.truncate(len);
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(len);
        let path = PathBuf::from(String::from_utf8_lossy(&text[..end]).into_owned());
        if path.is_absolute() {
            return Ok(path);
        }
        let thread = call.thread();
        let base = match directory as i32 {
            libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
            fd => format!("/proc/{thread}/fd/{fd}"),
        };
        Ok(std::fs::read_link(base)?.join(path))
    }
}

fn creation(path: PathBuf, flags: u64) -> Option<FileCall> {
    let has = |flag: i32| flags as i32 & flag != 0;
    let truncates = has(libc::O_TRUNC);
    (has(libc::O_CREAT) || truncates).then_some(FileCall::Create { path, truncates })
}

/// The file behind the descriptor that is argument `n`; none for pipes, sockets, and files that have
/// no name any more.
fn file_of(call: &Waiting, n: usize) -> io::Result<Option<PathBuf>> {
    let (thread, fd) = (call.thread(), call.argument(n) as i32);
    match std::fs::read_link(format!("/proc/{thread}/fd/{fd}")) {
        Ok(path) => {
            let is_file = path.is_absolute() && !path.to_string_lossy().ends_with(" (deleted)");
            Ok(is_file.then_some(path))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where the next `write` goes.
fn position(call: &Waiting) -> io::Result<u64> {
    let (thread, fd) = (call.thread(), call.argument(0) as i32);
    let info = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{fd}"))?;
    let position = info.lines().find_map(|line| line.strip_prefix("pos:"));
    Ok(position.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn calls_are_seen_in_order_and_can_be_made_to_fail() {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (directory.path().join("a"), directory.path().join("b"));
        let mut seen = Vec::new();
        let judge = |call: FileCall| {
            if !call.path().is_some_and(|path| path.starts_with(directory.path())) {
                return Verdict::Proceed;
            }
            let fails = matches!(&call, FileCall::Sync { .. });
            seen.push(call);
            if fails { Verdict::Fail(libc::EIO) } else { Verdict::Proceed }
        };
        let work = || {
            // A thread of the thread is seen too.
            std::thread::scope(|scope| {
                let worker = scope.spawn(|| {
                    let mut file = File::create(&a).unwrap();
                    file.write_all(b"12").unwrap();
                    file.write_all(b"345").unwrap();
                    file.write_all_at(b"x", 1).unwrap();
                    file.set_len(4).unwrap();
                    let error = file.sync_data().unwrap_err();
                    std::fs::rename(&a, &b).unwrap();
                    error.raw_os_error()
                });
                worker.join().unwrap()
            })
        };
        let error = observe(judge, work).unwrap();
        assert_eq!(error, Some(libc::EIO));
        assert_eq!(std::fs::read(&b).unwrap(), b"1x34");
        let write = |offset, bytes: &[u8]| FileCall::Write {
            path: a.clone(),
            offset,
            bytes: bytes.to_vec(),
        };
        let expected = [
            FileCall::Create { path: a.clone(), truncates: true },
            write(0, b"12"),
            write(2, b"345"),
            write(1, b"x"),
            FileCall::SetLen { path: a.clone(), len: 4 },
            FileCall::Sync { path: a.clone() },
            FileCall::Rename { from: a.clone(), to: b.clone() },
        ];
        assert_eq!(seen, expected);
    }
}
