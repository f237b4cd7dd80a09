//! What a way to compute is.

use crate::algorithm::Algorithm;
use crate::shared::SharedBytes;

/// CRCs of whole chunks of `chunk_len` bytes from `source`, one for each place of `out`; copies
/// them to `target` where that is not null.
///
/// After `chunk_len` comes how many of the caller's bytes there are from `source` on: those behind the
/// chunks are read next and may be brought into the cache.
///
/// The bytes at `source` may change meanwhile. Where they are copied the CRCs are those of the copy:
/// a kernel either stores the very registers that it computes from, or copies first and computes from
/// `target`. Reading the source twice would vouch for bytes that the caller does not have.
///
/// The caller promises that `source` and a non-null `target` are valid for
/// `chunk_len * out.len()` bytes and do not overlap, and that the processor has the kernel's features;
/// otherwise memory is read or written out of bounds, or the process dies of an illegal instruction.
pub(crate) type Chunks = unsafe fn(Algorithm, *const u8, *mut u8, usize, usize, &mut [u32]);

/// Moves a CRC register over so many bytes, each of which is read once; the caller promises that they are
/// readable and that the processor has the features.
pub(crate) type Update = unsafe fn(Algorithm, u32, *const u8, usize) -> u32;

/// One way to compute.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) supported: fn() -> bool,
    pub(crate) chunks: Chunks,
    pub(crate) update: Update,
}

impl Kernel {
    /// Moves the register `state` over `data`.
    pub(crate) fn update(&self, algorithm: Algorithm, state: u32, data: SharedBytes<'_>) -> u32 {
        // SAFETY: `data` is readable; `kernels::chosen` and the tests only hand out kernels that
        // `supported` accepts.
        unsafe { (self.update)(algorithm, state, data.as_ptr(), data.len()) }
    }

    /// The CRCs of all chunks of the first `len` bytes of `source`, the last one perhaps short; copies
    /// those bytes to `target`.
    pub(crate) fn chunks(
        &self,
        algorithm: Algorithm,
        chunk_len: usize,
        (source, len): (SharedBytes<'_>, usize),
        mut target: Option<&mut [u8]>,
        out: &mut [u32],
    ) {
        let whole = len / chunk_len;
        let tail = source.get(whole * chunk_len..len).expect("the source is shorter");
        let (body_out, tail_out) = out.split_at_mut(whole);
        let to = target.as_deref_mut().map_or(std::ptr::null_mut(), |target| {
            assert_eq!(target.len(), len, "length of the target");
            target.as_mut_ptr()
        });
        // SAFETY: the first `len` bytes of `source`, and `target`, hold `whole` chunks; features as in
        // `update`.
        unsafe { (self.chunks)(algorithm, source.as_ptr(), to, chunk_len, source.len(), body_out) };
        let [last] = tail_out else { return };
        let tail = match target {
            Some(target) => {
                let copy = &mut target[whole * chunk_len..];
                tail.copy_to(copy);
                SharedBytes::from(&*copy)
            }
            None => tail,
        };
        *last = !self.update(algorithm, !0, tail);
    }
}
