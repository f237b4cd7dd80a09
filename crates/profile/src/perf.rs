//! Samples that the kernel takes itself (`perf_event_open`), with its own frames: where this process may do that.
//!
//! Each thread has an event on its processor time, and a ring of memory into which the kernel writes. A sample has the return
//! addresses that the kernel found along the frame pointers, and the end of the stack, from which functions without a frame
//! pointer are left as in a signal handler.

use crate::code;
use crate::ring::{Ring, SAMPLES_MIN};
use crate::tasks::Tid;
use crate::walk::{Addresses, Memory, Registers, walk};
use std::collections::HashMap;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::Duration;

/// Rings are memory that cannot be swapped out: with more threads than this timers are used.
const THREADS_MAX: usize = 300;
/// Bytes of the stack's end in a sample.
const STACK_LEN: u32 = 4096;
const WORD: usize = size_of::<u64>();

const TYPE_SOFTWARE: u64 = 1;
const ATTRIBUTES_LEN: u64 = 112;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_REGS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;
const FLAG_EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const FLAG_FREQUENCY: u64 = 1 << 10;
const FLAG_CLOSE_ON_EXEC: libc::c_ulong = 8;
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
/// Words among the addresses that say whose the following ones are.
const CONTEXT_MIN: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;
/// Frame pointer, stack pointer and instruction, which come in this order.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 31 | 1 << 32;

/// A sample as the kernel gives it; addresses have the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelSample {
    pub(crate) tid: Tid,
    /// Addresses in the kernel.
    pub(crate) kernel: Vec<u64>,
    /// Addresses in the process.
    pub(crate) process: Vec<u64>,
}

/// The events of one recording; they end with this.
pub(crate) struct ThreadEvents {
    hz: u32,
    open: Opener,
    events: HashMap<Tid, (OwnedFd, Ring)>,
    /// Threads that got no event; they are not asked for again.
    refused: Vec<Tid>,
    lost: u64,
}

/// Makes the event of a thread.
type Opener = fn(u32, Tid) -> io::Result<(OwnedFd, Ring)>;

impl ThreadEvents {
    /// Events for these threads, if this process may have them.
    pub(crate) fn new(hz: u32, threads: &[Tid], but: Tid) -> io::Result<Self> {
        if threads.len() > THREADS_MAX {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // The first one says whether it is permitted.
        let probe = open(hz, but)?;
        drop(Ring::map(&probe)?);
        let mut events = Self::with(hz, |hz, tid| {
            let event = open(hz, tid)?;
            let ring = Ring::map(&event)?;
            Ok((event, ring))
        });
        events.cover(threads, but, |_| {});
        Ok(events)
    }

    fn with(hz: u32, open: Opener) -> Self {
        Self { hz, open, events: HashMap::new(), refused: Vec::new(), lost: 0 }
    }

    /// How often the rings are to be read, so that they do not overflow.
    pub(crate) fn reading_interval(&self) -> Duration {
        Duration::from_secs(1) * (SAMPLES_MIN / 2) / self.hz.max(1)
    }

    /// Gives events to new threads and takes those of threads that have ended, with their last samples.
    pub(crate) fn cover(&mut self, threads: &[Tid], but: Tid, each: impl FnMut(KernelSample)) {
        self.drain(each);
        self.events.retain(|tid, _| threads.contains(tid));
        self.refused.retain(|tid| threads.contains(tid));
        for tid in threads.iter().filter(|tid| **tid != but) {
            if self.events.contains_key(tid) || self.refused.contains(tid) {
                continue;
            }
            if self.events.len() >= 2 * THREADS_MAX {
                self.refused.push(*tid);
                continue;
            }
            match (self.open)(self.hz, *tid) {
                Ok(event) => _ = self.events.insert(*tid, event),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(_) => self.refused.push(*tid),
            }
        }
    }

    /// Gives the samples that are there.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(KernelSample)) {
        let mut lost = 0;
        for (_, ring) in self.events.values() {
            ring.read(|kind, body| match kind {
                RECORD_SAMPLE => _ = decode(body).map(&mut each),
                RECORD_LOST => lost += body.get(1).copied().unwrap_or_default(),
                _ => {}
            });
        }
        self.lost += lost;
    }

    /// The threads that have no event and need a timer.
    pub(crate) fn refused(&self) -> &[Tid] {
        &self.refused
    }

    /// Samples that found no room in a ring.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}

fn open(hz: u32, tid: Tid) -> io::Result<OwnedFd> {
    // The layout of `perf_event_attr`: pairs of 32 bits share a word. Clock 0 of the software events is the processor's.
    let mut attributes = [0u64; ATTRIBUTES_LEN as usize / WORD];
    attributes[0] = TYPE_SOFTWARE | ATTRIBUTES_LEN << 32;
    attributes[2] = hz.into();
    attributes[3] = SAMPLE_TID | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER;
    attributes[5] = FLAG_EXCLUDE_HYPERVISOR | FLAG_FREQUENCY;
    attributes[10] = REGISTERS;
    attributes[11] = STACK_LEN.into();
    // SAFETY: the kernel reads the attributes, which say how long they are.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            tid,
            -1,
            -1,
            FLAG_CLOSE_ON_EXEC,
        )
    };
    match libc::c_int::try_from(fd) {
        // SAFETY: the descriptor is new, and this is its only owner.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Thread; number of addresses and addresses; registers behind a word that is 0 where there are none; length of the stack, its
/// bytes, and how many of them are good.
fn decode(body: &[u64]) -> Option<KernelSample> {
    let (ids, rest) = body.split_first()?;
    let (count, rest) = rest.split_first()?;
    let (chain, rest) = rest.split_at_checked(usize::try_from(*count).ok()?)?;
    let mut sample = KernelSample { tid: (ids >> 32) as Tid, ..KernelSample::default() };
    let mut context = 0;
    for word in chain {
        match (*word, context) {
            (word, _) if word >= CONTEXT_MIN => context = word,
            (word, CONTEXT_KERNEL) => sample.kernel.push(word),
            (word, CONTEXT_USER) => sample.process.push(word),
            _ => {}
        }
    }
    if let [1 | 2, frame, stack, instruction, len, stack_and_more @ ..] = rest {
        let words = stack_and_more.get(..*len as usize / WORD).unwrap_or_default();
        let good = stack_and_more.get(words.len()).copied().unwrap_or_default() as usize / WORD;
        let registers = Registers {
            instruction: *instruction as usize,
            frame: *frame as usize,
            stack: *stack as usize,
        };
        sample.process = joined(registers, words.get(..good).unwrap_or_default(), sample.process);
    }
    Some(sample)
}

/// The kernel's addresses, with those in front that it does not find where the innermost function has no frame pointer.
fn joined(registers: Registers, stack: &[u64], chain: Vec<u64>) -> Vec<u64> {
    let mut memory = StackEnd { start: registers.stack, words: stack };
    if memory.is_ours(registers.instruction) || stack.is_empty() {
        return chain;
    }
    let mut found = Addresses::new();
    walk(registers, &mut memory, &mut found);
    let found: Vec<u64> = found.as_slice().iter().map(|address| *address as u64).collect();
    let meeting = found.iter().enumerate().skip(1).rev().find_map(|(index, address)| {
        Some((index, chain.iter().skip(1).position(|other| other == address)? + 1))
    });
    match meeting {
        Some((index, at)) => {
            let outer = chain.get(at + 1..).unwrap_or_default();
            found.iter().take(index + 1).chain(outer).copied().collect()
        }
        None if found.len() > chain.len() => found,
        None => chain,
    }
}

/// The end of a stack as it was when the sample was taken.
struct StackEnd<'a> {
    start: usize,
    words: &'a [u64],
}

impl Memory for StackEnd<'_> {
    fn word(&mut self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.start)?;
        let word = self.words.get(offset / WORD)?;
        offset.is_multiple_of(WORD).then_some(*word as usize)
    }

    fn is_ours(&self, address: usize) -> bool {
        code::is_ours(address)
    }

    fn is_code(&self, address: usize) -> bool {
        code::is_code(address)
    }

    fn follows_call(&self, address: usize) -> bool {
        code::follows_call(address)
    }
}

#[cfg(test)]
impl ThreadEvents {
    /// Where the system gives no events.
    pub(crate) fn refusing() -> Self {
        Self::with(99, |_, _| Err(io::Error::from_raw_os_error(libc::EMFILE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_refused_is_asked_for_once() {
        let mut events = ThreadEvents::refusing();
        for _ in 0..3 {
            events.cover(&[7, 8, 9], 8, |_| {});
            assert_eq!(events.refused(), [7, 9]);
        }
        events.cover(&[9], 8, |_| {});
        assert_eq!(events.refused(), [9], "the other one has ended");
    }

    #[test]
    fn rings_are_read_before_they_are_half_full() {
        for hz in [1, 99, 280, 999, 1000] {
            let events = ThreadEvents { hz, ..ThreadEvents::refusing() };
            let samples = events.reading_interval().as_secs_f64() * f64::from(hz);
            assert!(samples <= f64::from(SAMPLES_MIN) / 2.0, "{samples} at {hz}");
        }
        // Attributes, kernel and process addresses (127 at most), registers, and the end of the stack with its two lengths.
        let largest = 8 * (3 + 127 + 4 + 2) + STACK_LEN as usize;
        assert!(largest * SAMPLES_MIN as usize <= 16 * 4096);
    }

    #[test]
    fn a_sample_is_decoded() {
        let mut body = vec![7 | 8 << 32, 4, CONTEXT_KERNEL, 0xffff_8000, CONTEXT_USER, 0x1234];
        let expected = KernelSample { tid: 8, kernel: vec![0xffff_8000], process: vec![0x1234] };
        assert_eq!(decode(&body), Some(expected.clone()));
        body.extend([0, 0]);
        assert_eq!(
            decode(&body),
            Some(expected.clone()),
            "a thread of the kernel has no registers"
        );
        body.truncate(6);
        body.extend([2, 0x10, 0x1000, 0x1234, 16, 1, 2, 16]);
        assert_eq!(decode(&body), Some(expected));
    }

    #[test]
    fn samples_that_are_cut_are_nothing() {
        for body in [&[][..], &[1], &[1, 2, 3], &[1, u64::MAX, 3]] {
            assert_eq!(decode(body), None, "{body:?}");
        }
        for len in [u64::MAX, 1 << 40, 17] {
            assert!(decode(&[1, 0, 2, 3, 4, 5, len, 0]).is_some(), "{len}");
        }
    }
}
