//! A source that another thread changes while it is copied.

use super::*;
use crate::kernel::Kernel;
use crate::kernels::ALL;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Tries of one kernel at one length.
const TRIES: usize = 2_000;

/// Memory that a thread changes all the time; the kernels see it as they see the map of a file.
struct Changing {
    bytes: Vec<AtomicU8>,
    stop: AtomicBool,
}

impl Changing {
    fn shared(&self) -> SharedBytes<'_> {
        // SAFETY: readable for as long as `self` lives, and changed by atomic stores only.
        unsafe { SharedBytes::new(self.bytes.as_ptr().cast(), self.bytes.len()) }
    }

    /// Turns a bit over and back: in the bytes that every kernel treats in a way of its own, those of
    /// the first vectors, of later ones and of the tail.
    fn change(&self) {
        let last = self.bytes.len() - 1;
        let places = [last, 0, last / 2, last.saturating_sub(12), last.saturating_sub(40)];
        while !self.stop.load(Ordering::Relaxed) {
            for place in places {
                self.bytes[place].fetch_xor(1, Ordering::Relaxed);
            }
            for place in places {
                self.bytes[place].fetch_xor(1, Ordering::Relaxed);
            }
        }
    }
}

/// Returns how many copies were said to be good.
fn good_copies(kernel: &Kernel, algorithm: Algorithm, chunk_len: usize, len: usize) -> usize {
    let bytes: Vec<u8> = (0..len).map(|at| (at * 37 % 251) as u8).collect();
    let chunks = chunk_count(len, chunk_len);
    let mut sums = vec![0; chunks];
    kernel.chunks(algorithm, chunk_len, (SharedBytes::from(&bytes), len), None, &mut sums);
    let bytes = bytes.into_iter().map(AtomicU8::new).collect();
    let source = Changing { bytes, stop: AtomicBool::new(false) };
    let (mut copy, mut crcs, mut of_copy) = (vec![0; len], vec![0; chunks], vec![0; chunks]);
    let mut good = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| source.change());
        for _ in 0..TRIES {
            let from = (source.shared(), len);
            kernel.chunks(algorithm, chunk_len, from, Some(&mut copy), &mut crcs);
            let from = (SharedBytes::from(&copy), len);
            kernel.chunks(algorithm, chunk_len, from, None, &mut of_copy);
            if crcs != of_copy {
                source.stop.store(true, Ordering::Relaxed);
                panic!("{}, chunks of {chunk_len}, {len} bytes: not of the copy", kernel.name);
            }
            good += usize::from(crcs == sums);
        }
        source.stop.store(true, Ordering::Relaxed);
    });
    good
}

/// The portable and the ARM kernel copied a chunk and then read the source again to compute its CRC;
/// all kernels did so for the bytes behind the last vector and for a short last chunk. A source that
/// changed in between gave a copy that had never been verified.
#[test]
fn the_crc_is_that_of_the_copy_while_the_source_changes() {
    for kernel in ALL.iter().filter(|kernel| (kernel.supported)()) {
        for algorithm in [Algorithm::Crc32, Algorithm::Crc32c] {
            let cases = [(512, 2048), (100, 1000), (512, 700), (512, 13), (4096, 4096)];
            let good = cases.map(|(chunk_len, len)| good_copies(kernel, algorithm, chunk_len, len));
            println!("{} {algorithm:?}: {good:?} of {TRIES} copies were good", kernel.name);
        }
    }
}
