//! The signal handler that takes a sample of the thread it interrupts.
//!
//! It uses what was made ready before: no allocation, no lock, no call that is not safe in a signal handler. It stays installed
//! for good: a signal may still be on its way when a recording ends, and without a handler it would end the process. System
//! calls go on after it (`SA_RESTART`), but for those that never do.

use crate::code;
use crate::samples::SampleBuffer;
use crate::walk::{Addresses, DEPTH_MAX, Memory, Registers, walk};
use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signal, which is for profilers.
pub(crate) const SIGNAL: c_int = libc::SIGPROF;
/// Words of a sample before its addresses: thread, tag, and the thread's name.
pub(crate) const HEAD_LEN: usize = 4;
const WORD: usize = size_of::<usize>();
const PAGE: usize = 4096;

static SAMPLES: OnceLock<SampleBuffer> = OnceLock::new();
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The end of the first thread's stack.
static FIRST_STACK_END: AtomicUsize = AtomicUsize::new(0);

/// Samples are taken as long as this lives. For one recording at a time.
pub(crate) struct Sampling(&'static SampleBuffer);

impl Sampling {
    /// Installs the handler and gets ready what it needs.
    pub(crate) fn start() -> io::Result<Self> {
        let samples = SAMPLES.get_or_init(SampleBuffer::new);
        code::find();
        FIRST_STACK_END.store(first_stack_end()?, Ordering::SeqCst);
        // What came after the last recording.
        samples.drain(|_| {});
        samples.drain(|_| {});
        samples.take_dropped();
        install()?;
        IS_ON.store(true, Ordering::SeqCst);
        Ok(Self(samples))
    }

    pub(crate) fn samples(&self) -> &SampleBuffer {
        self.0
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        IS_ON.store(false, Ordering::SeqCst);
    }
}

fn install() -> io::Result<()> {
    // SAFETY: all bytes zero is a valid value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction =
        on_signal as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the action is filled in, and its handler may be called at any time.
    match unsafe { libc::sigaction(SIGNAL, &action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Where the stack of the first thread ends: `startstack` of `/proc/self/stat`.
fn first_stack_end() -> io::Result<usize> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // The 28th value; the third is the first behind the name.
    let value = behind_name.split_whitespace().nth(25).and_then(|word| word.parse().ok());
    Ok(value.unwrap_or_default())
}

extern "C" fn on_signal(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if !IS_ON.load(Ordering::SeqCst) || context.is_null() || info.is_null() {
        return;
    }
    let Some(samples) = SAMPLES.get() else { return };
    // SAFETY: errno is this thread's.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel passes a valid context and information to a handler with SA_SIGINFO. The value is there for signals
    // that were queued, and zero for those of timers.
    let (registers, tag) =
        unsafe { (registers(&*context.cast()), (*info).si_value().sival_ptr as u64) };
    let mut sample = [0u64; HEAD_LEN + DEPTH_MAX];
    let [thread, its_tag, name @ .., _] = &mut sample;
    // SAFETY: a system call without arguments.
    *thread = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    *its_tag = tag;
    // SAFETY: the call writes 16 bytes, which the array behind the two words has.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    let mut memory = OwnStack::new(registers.stack);
    let mut found = Addresses::new();
    walk(registers, &mut memory, &mut found);
    let addresses = found.as_slice();
    if let Some(room) = sample.get_mut(HEAD_LEN..) {
        room.iter_mut().zip(addresses).for_each(|(word, address)| *word = *address as u64);
    }
    samples.push(sample.get(..HEAD_LEN + addresses.len()).unwrap_or_default());
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let register = |index: c_int| {
        context.uc_mcontext.gregs.get(index as usize).copied().unwrap_or_default() as usize
    };
    Registers {
        instruction: register(libc::REG_RIP),
        frame: register(libc::REG_RBP),
        stack: register(libc::REG_RSP),
    }
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    Registers {
        instruction: machine.pc as usize,
        frame: machine.regs[29] as usize,
        stack: machine.sp as usize,
    }
}

/// The address of the calling thread's control block, which the C library keeps at the end of the thread's stack; the first
/// thread's is elsewhere.
fn thread_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the first word of the control block is its own address.
    unsafe {
        std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the register may be read.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags));
    }
    pointer
}

/// The stack of the thread that was interrupted, from its end to where the thread began.
struct OwnStack {
    range: Range<usize>,
    /// The page that was found readable last.
    readable: usize,
}

impl OwnStack {
    fn new(stack: usize) -> Self {
        let thread = thread_pointer();
        let end = if thread > stack { thread } else { FIRST_STACK_END.load(Ordering::Relaxed) };
        Self { range: stack..end.max(stack), readable: 0 }
    }
}

/// Asks the kernel whether a page can be read: a frame pointer that is none may point to a hole, where a thread runs on a stack
/// for signals.
fn is_readable(address: usize) -> bool {
    // SAFETY: the call fails with EFAULT if it cannot read the 8 bytes there, else with EINVAL because no way of changing the
    // mask has this number; it changes nothing.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            -1_isize,
            address & !7,
            std::ptr::null_mut::<c_void>(),
            8,
        )
    };
    // SAFETY: errno is this thread's.
    failed == -1 && unsafe { *libc::__errno_location() } == libc::EINVAL
}

impl Memory for OwnStack {
    fn word(&mut self, address: usize) -> Option<usize> {
        let end = address.checked_add(WORD)?;
        if address < self.range.start || end > self.range.end || !address.is_multiple_of(WORD) {
            return None;
        }
        let page = address & !(PAGE - 1);
        if page != self.readable {
            if !is_readable(address) {
                return None;
            }
            self.readable = page;
        }
        // SAFETY: the word is aligned and lies in a page of this thread's own stack that can be read. What a compiler may think
        // of it does not matter: it is only compared and looked up.
        Some(unsafe { std::ptr::read_volatile(address as *const usize) })
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
