//! Where code is in this process, for walks of stacks: also in a signal handler, so without locks.

use crate::modules::modules;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ranges of code that are told apart.
const RANGES_MAX: usize = 64;
/// The longest call has so many bytes.
const CALL_LEN_MAX: usize = 7;

static OURS: Ranges = Ranges::new();
static CODE: Ranges = Ranges::new();

/// Address ranges that a handler may look at while they are written anew.
struct Ranges {
    starts: [AtomicUsize; RANGES_MAX],
    ends: [AtomicUsize; RANGES_MAX],
    len: AtomicUsize,
}

impl Ranges {
    const fn new() -> Self {
        Self {
            starts: [const { AtomicUsize::new(0) }; RANGES_MAX],
            ends: [const { AtomicUsize::new(0) }; RANGES_MAX],
            len: AtomicUsize::new(0),
        }
    }

    fn set(&self, ranges: impl Iterator<Item = Range<usize>>) {
        self.len.store(0, Ordering::SeqCst);
        let mut len = 0;
        for ((start, end), range) in self.starts.iter().zip(&self.ends).zip(ranges) {
            start.store(range.start, Ordering::SeqCst);
            end.store(range.end, Ordering::SeqCst);
            len += 1;
        }
        self.len.store(len, Ordering::SeqCst);
    }

    fn contain(&self, address: usize) -> bool {
        let len = self.len.load(Ordering::SeqCst);
        let mut all = self.starts.iter().zip(&self.ends).take(len);
        all.any(|(start, end)| {
            (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&address)
        })
    }
}

/// Notes the code that is loaded now. To be called before stacks are walked.
pub(crate) fn find() {
    let modules = modules();
    let ours = modules.iter().filter(|module| module.is_executable);
    OURS.set(ours.flat_map(|module| module.code.iter().cloned()));
    CODE.set(modules.iter().flat_map(|module| module.code.iter().cloned()));
}

/// Whether an address is in the executable's code.
pub(crate) fn is_ours(address: usize) -> bool {
    OURS.contain(address)
}

/// Whether an address is in any code.
pub(crate) fn is_code(address: usize) -> bool {
    CODE.contain(address)
}

#[cfg(target_arch = "x86_64")]
/// Whether the instruction before an address in our own code is a call.
pub(crate) fn follows_call(address: usize) -> bool {
    if !OURS.contain(address.wrapping_sub(CALL_LEN_MAX)) {
        return false;
    }
    let byte = |back: usize| {
        // SAFETY: code of the executable can be read, from `CALL_LEN_MAX` bytes before the address on.
        unsafe { std::ptr::read_volatile((address - back) as *const u8) }
    };
    // A call of an address in a register or in memory: the middle digit of the byte behind says so.
    let is_indirect = |back: usize| byte(back) == 0xff && byte(back - 1) & 0x38 == 0x10;
    byte(5) == 0xe8 || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
}

#[cfg(target_arch = "aarch64")]
/// Whether the instruction before an address in our own code is a call.
pub(crate) fn follows_call(address: usize) -> bool {
    if !address.is_multiple_of(4) || !OURS.contain(address.wrapping_sub(CALL_LEN_MAX)) {
        return false;
    }
    // SAFETY: code of the executable can be read.
    let instruction = unsafe { std::ptr::read_volatile((address - 4) as *const u32) };
    // bl, blr
    instruction >> 26 == 0b10_0101 || instruction & 0xffff_fc1f == 0xd63f_0000
}
