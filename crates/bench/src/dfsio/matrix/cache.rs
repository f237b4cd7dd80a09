//! Dropping files out of the page cache, and looking whether they are gone.

use rustix::fs::{Advice, fadvise};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Duration;

/// The same number on every architecture.
const CACHESTAT: libc::c_long = 451;
/// One page of so many may stay: the kernel's own lists hold some for a moment.
const PAGES_PER_LEFT_ONE: u64 = 100;
/// Written to, it drops the page cache of the whole machine.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// How the cluster's files leave the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheDropper {
    /// posix_fadvise on each of these block and meta files.
    Files(Vec<PathBuf>),
    /// All of the machine's, by `/proc/sys/vm/drop_caches`.
    Machine,
    /// Not at all, and why.
    Impossible(String),
}

impl CacheDropper {
    /// The gentlest way that works: `files` are the cluster's if they can be opened from here.
    pub fn choose(files: Vec<PathBuf>) -> Self {
        if !files.is_empty() && files.iter().all(|path| File::open(path).is_ok()) {
            return Self::Files(files);
        }
        match File::options().write(true).open(DROP_CACHES) {
            Ok(_) => Self::Machine,
            Err(error) => Self::Impossible(format!(
                "the page cache cannot be dropped: the block files cannot be opened from here, and \
                 {DROP_CACHES}: {error}"
            )),
        }
    }

    /// What is dirty is written, so that it can be dropped and disturbs nothing later.
    pub fn settle(&self) -> io::Result<()> {
        match self {
            Self::Files(files) => files.iter().try_for_each(|path| File::open(path)?.sync_all()),
            _ => {
                rustix::fs::sync();
                Ok(())
            }
        }
    }

    /// Drops the cluster's files.
    pub fn drop_cluster(&self) -> io::Result<()> {
        match self {
            Self::Files(files) => files.iter().try_for_each(|path| drop_file(&File::open(path)?)),
            Self::Machine => {
                rustix::fs::sync();
                File::options().write(true).open(DROP_CACHES)?.write_all(b"1")
            }
            Self::Impossible(why) => Err(io::Error::other(why.clone())),
        }
    }
}

/// Half a second in all.
const TRIES: usize = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);
/// For a packet to oneself.
const PACKET_TIMEOUT: Duration = Duration::from_secs(1);

/// Drops one file; an error if pages stay, as those do that a process has mapped. Others may
/// hold a page for a moment, so it is tried several times.
pub fn drop_file(file: &File) -> io::Result<()> {
    let mut tries = 0..TRIES;
    loop {
        fadvise(file, 0, None, Advice::DontNeed)?;
        // A kernel that cannot tell is believed.
        let left = cached_pages(file).unwrap_or(0);
        if left * PAGES_PER_LEFT_ONE <= pages_of(file)? {
            return Ok(());
        }
        match tries.next() {
            // Nothing holds a page but what was sent: there is nothing to wait for.
            Some(0) => free_sent_buffers()?,
            Some(_) => {
                std::thread::sleep(BETWEEN_TRIES);
                free_sent_buffers()?;
            }
            None => {
                return Err(io::Error::other(format!(
                    "{left} pages stay in the page cache: a process has them mapped, or there is no disk below"
                )));
            }
        }
    }
}

/// Lets each processor free the buffers that it sent and others received.
///
/// What sendfile(2) sent over TCP are the file's own pages. The receiver gives a buffer back to the
/// processor that had made it, which frees it when it next takes in a packet (`skb_attempt_defer_free`,
/// `net.core.skb_defer_max`): without one the last pages are held for ever. So each processor is given
/// a packet.
fn free_sent_buffers() -> io::Result<()> {
    let all = sched_getaffinity(None)?;
    // On a thread of its own, since the choice of processors is the thread's.
    let work = || {
        for processor in (0..CpuSet::MAX_CPU).filter(|processor| all.is_set(*processor)) {
            let mut one = CpuSet::new();
            one.set(processor);
            sched_setaffinity(None, &one)?;
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_read_timeout(Some(PACKET_TIMEOUT))?;
            socket.send_to(&[0], socket.local_addr()?)?;
            socket.recv(&mut [0])?;
        }
        Ok(())
    };
    std::thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|_| Err(io::Error::other("a thread died")))
}

fn pages_of(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len() / rustix::param::page_size() as u64)
}

/// How many pages of a file are in the page cache, by cachestat(2) (Linux 6.5). Trying to read them
/// without waiting, as preadv2(2) can, would start to read them.
fn cached_pages(file: &File) -> Option<u64> {
    /// `struct cachestat_range`: 0 bytes are all.
    #[repr(C)]
    struct Range {
        offset: u64,
        len: u64,
    }
    let range = Range { offset: 0, len: 0 };
    // `struct cachestat`: cached, dirty, written back, evicted, recently evicted.
    let mut counts = [0_u64; 5];
    // SAFETY: the kernel reads one struct and writes the other; both have the layout it expects.
    let done = unsafe {
        libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, counts.as_mut_ptr(), 0)
    };
    (done == 0).then_some(counts[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{Scratch, Sender, SocketKind, stream};

    #[test]
    fn a_file_leaves_the_cache_when_it_is_on_disk() {
        let file = Scratch::create(&std::env::temp_dir(), 4 << 20).unwrap();
        assert!(cached_pages(&file.file).is_none_or(|pages| pages == 1024));
        file.file.sync_all().unwrap();
        match drop_file(&file.file) {
            Ok(()) => assert!(cached_pages(&file.file).unwrap_or(0) <= 1024 / PAGES_PER_LEFT_ONE),
            // Memory file systems have no disk to fall back on.
            Err(error) => assert!(error.to_string().contains("stay"), "{error}"),
        }
    }

    /// Pages that were sent over TCP stayed until their processor took in another packet.
    #[test]
    fn a_file_that_was_sent_leaves_the_cache() {
        let file = Scratch::create(&std::env::temp_dir(), 64 << 20).unwrap();
        file.file.sync_all().unwrap();
        if drop_file(&file.file).is_err() {
            return;
        }
        for _ in 0..4 {
            let len = file.len;
            stream(&file, SocketKind::Tcp, Sender::Sendfile, 256 << 10, len, 1).unwrap();
            drop_file(&file.file).unwrap();
        }
    }

    #[test]
    fn files_that_cannot_be_opened_are_not_dropped_by_advice() {
        let dropper = CacheDropper::choose(vec!["/nowhere/blk_1".into()]);
        assert!(!matches!(dropper, CacheDropper::Files(_)), "{dropper:?}");
    }
}
