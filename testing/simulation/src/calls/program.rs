//! A whole program under observation, for tests of its behaviour when a disk fails.

use super::filter::{LINKS, Listener, READS};
use super::{Caller, Waiting, file_of};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::mpsc;

/// Runs a program to its end. `judge` is asked about each call by which it, or a child of it, changes
/// the file or directory at a path (or reads it, if that is wanted), and may have the call fail with an
/// `errno`.
///
/// # Errors
/// If the kernel does not offer this, or the program cannot be started.
pub fn observe_program(
    mut command: Command,
    with_reads: bool,
    mut judge: impl FnMut(&Path) -> Option<i32>,
) -> io::Result<ExitStatus> {
    // SAFETY: prctl and signal are async-signal-safe and touch nothing of the parent.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
            match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        // The kernel's parent-death signal follows this thread, which waits for the program.
        let starter = scope.spawn(move || {
            let reads = if with_reads { READS } else { &[] };
            let installed = Listener::install(&[LINKS, reads].concat());
            let is_installed = installed.is_ok();
            let _ = send.send(installed);
            drop(send);
            is_installed.then(|| command.spawn()?.wait())
        });
        let listener = receive.recv().map_err(io::Error::other)??;
        let mut caller = Caller::default();
        while let Some(waiting) = listener.next()? {
            // A thread that ended meanwhile has no files any more.
            let path = path_of(&mut caller, &waiting).unwrap_or_default();
            listener.answer(&waiting, path.and_then(|path| judge(&path)))?;
        }
        match starter.join() {
            Ok(Some(status)) => status,
            Ok(None) => Err(io::Error::other("the filter was not installed")),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What a call changes or reads. The bytes that it writes are not looked at.
fn path_of(caller: &mut Caller, waiting: &Waiting) -> io::Result<Option<PathBuf>> {
    match waiting.number() {
        libc::SYS_write
        | libc::SYS_pwrite64
        | libc::SYS_writev
        | libc::SYS_pwritev
        | libc::SYS_pwritev2
        | libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_ftruncate
        | libc::SYS_fallocate
        | libc::SYS_read
        | libc::SYS_pread64
        | libc::SYS_readv
        | libc::SYS_preadv => file_of(waiting, 0),
        libc::SYS_sendfile => file_of(waiting, 1),
        libc::SYS_linkat => {
            caller.path(waiting, waiting.argument(2), waiting.argument(3)).map(Some)
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link => {
            caller.path(waiting, libc::AT_FDCWD as u32 as u64, waiting.argument(1)).map(Some)
        }
        _ => Ok(caller.decode(waiting)?.and_then(|call| call.path().map(Path::to_owned))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_name_of_a_link_is_asked_about() {
        let directory = tempfile::tempdir().unwrap();
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        std::fs::write(&old, "bytes").unwrap();
        let mut command = Command::new("ln");
        command.args([&old, &new]).stderr(std::process::Stdio::null());
        let fails = |path: &Path| (path == new).then_some(libc::EIO);
        assert!(!observe_program(command, false, fails).unwrap().success());
        assert!(!new.exists());
    }

    #[test]
    fn reads_fail_only_where_that_is_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "bytes").unwrap();
        let cat = |with_reads| {
            let mut command = Command::new("cat");
            command.arg(file.path()).stdout(std::process::Stdio::null());
            let mut fails = |path: &Path| (path == file.path()).then_some(libc::EIO);
            observe_program(command, with_reads, &mut fails).unwrap()
        };
        assert!(cat(false).success());
        assert!(!cat(true).success());
    }
}
