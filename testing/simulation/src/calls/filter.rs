//! The kernel's side: a filter on system calls that asks another thread about some of them.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Calls that change files; some are not modelled and are here so that none is overlooked.
const ASKED: &[libc::c_long] = &[
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_truncate,
    libc::SYS_fallocate,
    libc::SYS_copy_file_range,
    libc::SYS_linkat,
];

/// Calls that open files, and which of their arguments holds the flags. They are asked about only if the flags may change a
/// file: malloc opens a file of /proc while it holds a lock that the asking thread may need for its own memory.
const OPENS: &[(libc::c_long, u32)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// Calls that read files.
pub const READS: &[libc::c_long] =
    &[libc::SYS_read, libc::SYS_pread64, libc::SYS_readv, libc::SYS_preadv, libc::SYS_sendfile];

/// Calls that give a file another name, besides `linkat`.
pub const LINKS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
];

/// Receives the calls of the threads that are under the filter, and answers them.
pub struct Listener(OwnedFd);

/// One call that waits for its answer.
pub struct Waiting(libc::seccomp_notif);

impl Waiting {
    /// The thread.
    pub fn thread(&self) -> u32 {
        self.0.pid
    }

    /// The call's number.
    pub fn number(&self) -> libc::c_long {
        libc::c_long::from(self.0.data.nr)
    }

    /// The call's argument, counted from zero.
    pub fn argument(&self, n: usize) -> u64 {
        self.0.data.args[n]
    }
}

impl Listener {
    /// Puts the calling thread, and every thread that it starts from now on, under the filter, which also asks about
    /// the calls of `more`.
    pub fn install(more: &[libc::c_long]) -> io::Result<Self> {
        let program = program(&[ASKED, more].concat());
        let filter = libc::sock_fprog {
            len: program.len() as libc::c_ushort,
            filter: program.as_ptr().cast_mut(),
        };
        // SAFETY: prctl with these arguments changes only a flag of the calling thread.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `filter` and the program it points to live until the call returns; the kernel copies both.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
                &filter,
            )
        };
        let fd = i32::try_from(fd).unwrap_or(-1);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The next call; none when no thread is left under the filter.
    pub fn next(&self) -> io::Result<Option<Waiting>> {
        loop {
            let mut poll =
                libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: `poll` is one valid pollfd.
            if unsafe { libc::poll(&mut poll, 1, -1) } < 0 {
                let error = io::Error::last_os_error();
                match error.kind() {
                    io::ErrorKind::Interrupted => continue,
                    _ => return Err(error),
                }
            }
            if poll.revents & libc::POLLIN == 0 {
                return Ok(None);
            }
            // SAFETY: all zeros is a valid value of this plain struct, and what the kernel demands.
            let mut waiting: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: the request fits the type that it is given.
            let done = unsafe {
                libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &mut waiting)
            };
            if done == 0 {
                return Ok(Some(Waiting(waiting)));
            }
            // The thread was interrupted or has ended meanwhile.
            let error = io::Error::last_os_error();
            if !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) {
                return Err(error);
            }
        }
    }

    /// Lets the call happen, or has it fail with `errno`.
    pub fn answer(&self, waiting: &Waiting, errno: Option<i32>) -> io::Result<()> {
        let flags = if errno.is_none() { libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE } else { 0 };
        let mut answer = libc::seccomp_notif_resp {
            id: waiting.0.id,
            val: 0,
            error: errno.map_or(0, |errno| -errno),
            flags: flags as u32,
        };
        // SAFETY: the request fits the type that it is given.
        let done =
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer) };
        match io::Error::last_os_error() {
            _ if done == 0 => Ok(()),
            error if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            error => Err(error),
        }
    }
}

/// Loads the call's number, compares it with each of those asked about, and decides.
fn program(asked: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let jump = |test: u32, k: u32, jt: usize, jf: usize| libc::sock_filter {
        code: (libc::BPF_JMP | test | libc::BPF_K) as u16,
        jt: jt as u8,
        jf: jf as u8,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let flags_at = std::mem::offset_of!(libc::seccomp_data, args) as u32;
    let low_half = if cfg!(target_endian = "big") { 4 } else { 0 };
    let mut program = vec![statement(load, 0)];
    for (n, (call, argument)) in OPENS.iter().enumerate() {
        // Behind what is left of these come the comparisons with the others, which end with the answers.
        let to_answers = asked.len() + 3 * (OPENS.len() - n - 1);
        program.push(jump(libc::BPF_JEQ, *call as u32, 0, 2));
        program.push(statement(load, flags_at + 8 * argument + low_half));
        let changes = (libc::O_CREAT | libc::O_TRUNC) as u32;
        program.push(jump(libc::BPF_JSET, changes, to_answers + 1, to_answers));
    }
    for (n, call) in asked.iter().enumerate() {
        program.push(jump(libc::BPF_JEQ, *call as u32, asked.len() - n, 0));
    }
    let ret = libc::BPF_RET | libc::BPF_K;
    program.push(statement(ret, libc::SECCOMP_RET_ALLOW));
    program.push(statement(ret, libc::SECCOMP_RET_USER_NOTIF));
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::sync::mpsc;

    /// The crash histories hung when malloc shrank its heap: the thread that would have answered waited for malloc's lock.
    #[test]
    fn a_file_that_malloc_opens_for_reading_is_not_asked_about() {
        let directory = tempfile::tempdir().unwrap();
        let (read, created) = (directory.path().join("read"), directory.path().join("created"));
        std::fs::write(&read, "bytes").unwrap();
        let (send, receive) = mpsc::channel();
        let worker = std::thread::spawn(move || {
            send.send(Listener::install(&[])).unwrap();
            File::open(&read).unwrap();
            File::create(&created).unwrap();
        });
        let listener = receive.recv().unwrap().unwrap();
        let mut flags = Vec::new();
        while let Some(waiting) = listener.next().unwrap() {
            assert_eq!(waiting.number(), libc::SYS_openat);
            flags.push(waiting.argument(2) as i32 & (libc::O_CREAT | libc::O_TRUNC));
            listener.answer(&waiting, None).unwrap();
        }
        worker.join().unwrap();
        assert_eq!(flags, [libc::O_CREAT | libc::O_TRUNC]);
    }
}
