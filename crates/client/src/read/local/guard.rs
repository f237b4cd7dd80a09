//! Faults under a map: a disk error or a truncated file becomes a mark on the map, not the death of
//! the process.
//!
//! Reading a mapped page that cannot be had raises SIGBUS. The handler here looks whether the address
//! lies in a registered map; if so it puts an empty page there, marks the map and returns, and the
//! reader finds the mark behind its read. Every other SIGBUS goes to the handler that was there
//! before. The handler takes no lock and allocates nothing.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use parking_lot::Mutex;
use zerohop_system::process::PerProcess;

/// Places in one segment of the table.
const SEGMENT_LEN: usize = 256;

/// The place of one map in the table that the handler searches; it is never freed, and is used again.
pub(super) struct GuardedMap {
    start: AtomicUsize,
    /// Bytes; 0 while the place is free or changing. Written last and read first and last, so that
    /// the handler never takes the start of one map with the length of another.
    len: AtomicUsize,
    is_poisoned: AtomicBool,
}

impl GuardedMap {
    const fn free() -> Self {
        Self {
            start: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            is_poisoned: AtomicBool::new(false),
        }
    }

    /// Whether a page of the map could not be had.
    pub(super) fn is_poisoned(&self) -> bool {
        self.is_poisoned.load(Ordering::Acquire)
    }

    fn covers(&self, address: usize) -> bool {
        let len = self.len.load(Ordering::Acquire);
        let start = self.start.load(Ordering::Acquire);
        address.wrapping_sub(start) < len && self.len.load(Ordering::Acquire) == len
    }
}

struct TableSegment {
    places: [GuardedMap; SEGMENT_LEN],
    next: AtomicPtr<TableSegment>,
}

impl TableSegment {
    const fn new() -> Self {
        Self {
            places: [const { GuardedMap::free() }; SEGMENT_LEN],
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    fn next(&self) -> Option<&'static TableSegment> {
        // SAFETY: segments are leaked boxes: they are never freed.
        unsafe { self.next.load(Ordering::Acquire).as_ref() }
    }
}

static TABLE: TableSegment = TableSegment::new();
/// Places that were used and are free again. A child made by fork() begins without any: its parent's list may have been
/// changing.
static FREE: PerProcess<Mutex<Vec<&'static GuardedMap>>> = PerProcess::new(Mutex::default);
static PAGE_LEN: AtomicUsize = AtomicUsize::new(4096);
/// What handled SIGBUS before: never freed, null until the handler is installed.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());

fn segments() -> impl Iterator<Item = &'static TableSegment> {
    std::iter::successors(Some(&TABLE), |segment| segment.next())
}

/// Puts a map into the table. The caller takes it out with [`unregister`] before it unmaps.
pub(super) fn register(start: usize, len: usize) -> io::Result<&'static GuardedMap> {
    install()?;
    let mut free = FREE.get().lock();
    let place = match free.pop() {
        Some(place) => place,
        None => {
            let fresh = fresh_segment();
            free.extend(fresh.iter().skip(1));
            fresh.first().ok_or_else(|| io::Error::other("no place in the table of maps"))?
        }
    };
    place.is_poisoned.store(false, Ordering::Relaxed);
    place.start.store(start, Ordering::Release);
    place.len.store(len, Ordering::Release);
    Ok(place)
}

/// Takes a map out of the table.
pub(super) fn unregister(place: &'static GuardedMap) {
    place.len.store(0, Ordering::Release);
    FREE.get().lock().push(place);
}

/// Places that were never used; the caller holds the lock on [`FREE`].
fn fresh_segment() -> &'static [GuardedMap] {
    static FIRST_IS_USED: AtomicBool = AtomicBool::new(false);
    if !FIRST_IS_USED.swap(true, Ordering::Relaxed) {
        return &TABLE.places;
    }
    let fresh: &'static TableSegment = Box::leak(Box::new(TableSegment::new()));
    if let Some(last) = segments().last() {
        last.next.store(std::ptr::from_ref(fresh).cast_mut(), Ordering::Release);
    }
    &fresh.places
}

/// Bytes of a page. rustix reads what the kernel told this process, and follows an address in it that valgrind has taken away.
pub(super) fn page_len() -> usize {
    // SAFETY: it only asks.
    let len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(len).unwrap_or(4096)
}

/// Whether this process has looked for the handler.
static DONE: PerProcess<Mutex<bool>> = PerProcess::new(Mutex::default);

fn install() -> io::Result<()> {
    let mut done = DONE.get().lock();
    if *done {
        return Ok(());
    }
    PAGE_LEN.store(page_len(), Ordering::Relaxed);
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action only asks; `before` has room for the answer.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed above, which is a valid `sigaction`, and filled by the call.
    let before = unsafe { before.assume_init() };
    // A child made by fork() has its parent's handler.
    if before.sa_sigaction == on_fault as *const () as usize {
        *done = true;
        return Ok(());
    }
    BEFORE.store(Box::into_raw(Box::new(before)), Ordering::Release);
    // SAFETY: all zeros are a valid `sigaction`; its fields are set below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: `on_fault` does only what a signal handler may do; see there.
    if unsafe { libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    *done = true;
    Ok(())
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands a filled `siginfo_t` to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let found = segments().flat_map(|segment| &segment.places).find(|place| place.covers(address));
    let Some(place) = found else { return pass_on(signal, info, context) };
    // First: another thread that reads the empty page, without a fault of its own, must find this.
    place.is_poisoned.store(true, Ordering::Release);
    if !put_empty_page(address) {
        pass_on(signal, info, context);
    }
}

/// Replaces the page at `address` by an empty one.
fn put_empty_page(address: usize) -> bool {
    let page_len = PAGE_LEN.load(Ordering::Relaxed);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: errno is the thread's own. The page lies in a map of ours, which the faulting thread
    // is reading and which therefore is not unmapped now; replacing it by an empty page is what
    // this handler is for. mmap is a bare system call.
    unsafe {
        let errno = *libc::__errno_location();
        let page = (address & !(page_len - 1)) as *mut c_void;
        let put = libc::mmap(page, page_len, libc::PROT_READ, flags, -1, 0);
        *libc::__errno_location() = errno;
        put != libc::MAP_FAILED
    }
}

/// Does what would have happened without us.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: what was stored is never freed.
    let before = unsafe { BEFORE.load(Ordering::Acquire).as_ref() };
    match before.map(|before| (before.sa_sigaction, before.sa_flags)) {
        None | Some((libc::SIG_DFL | libc::SIG_IGN, _)) => {
            // SAFETY: back to the default action; the instruction faults again and ends the process
            // as it would have without a handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Some((handler, flags)) if flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with SA_SIGINFO the address is that of a function of this type.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        Some((handler, _)) => {
            // SAFETY: without SA_SIGINFO the address is that of a function of this type.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_covers_its_map_only_while_it_is_watched() {
        // Nothing is mapped there: the table only compares numbers.
        let place = register(0x1000, 0x1000).unwrap();
        assert!(place.covers(0x1000) && place.covers(0x1fff));
        assert!(!place.covers(0xfff) && !place.covers(0x2000));
        unregister(place);
        assert!(!place.covers(0x1000));
    }

    #[test]
    fn a_child_registers_while_a_thread_of_its_parent_does() {
        register(0x1000, 0x1000).map(unregister).unwrap();
        let (installing, free) = (DONE.get().lock(), FREE.get().lock());
        assert!(crate::test_child::ends_well(|| {
            let place = register(0x5000, 0x1000);
            // The handler is not taken for the one that was there before it.
            // SAFETY: what was stored is never freed.
            let before = unsafe { BEFORE.load(Ordering::Acquire).as_ref() };
            place.is_ok_and(|place| place.covers(0x5000))
                && before
                    .is_some_and(|before| before.sa_sigaction != on_fault as *const () as usize)
        }));
        drop((installing, free));
    }

    #[test]
    fn the_table_grows() {
        let places: Vec<_> = (1..600).map(|i| register(i << 40, 10).unwrap()).collect();
        for (i, place) in places.iter().enumerate() {
            assert!(place.covers(((i + 1) << 40) + 9));
        }
        assert!(segments().count() >= 3);
        places.into_iter().for_each(unregister);
    }
}
