//! A replica of this machine, opened from two descriptors: reads of its bytes, verified.

use super::files::{Data, Mapped, Parts, Sums, Use, at, invalid};
use super::once::VerifiedChunks;
use super::slots::Slot;
use crate::read::local_outcome::LocalError;
use crate::types::Verify;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use zerohop_checksum::SharedBytes;
use zerohop_system::clock;
use zerohop_wire::checksum_type::{ChecksumError, DataChecksum};
use zerohop_wire::meta_header;

/// Reads from a file are verified in steps of about this size, behind the copy, in cache.
const STEP_LEN: usize = 128 << 10;
/// What is read ahead of a block that will be read.
const READ_AHEAD_LEN: usize = 1 << 20;
/// A chunk of which a part is wanted is copied to the stack up to this length, the usual one.
const CHUNK_ON_STACK_MAX: usize = 512;

/// An open replica of this machine. Once it is mapped its meta file is closed; the block file is kept open
/// for cold reads as long as there are not too many.
pub(crate) struct LocalReplica {
    /// Bytes that may be read: those that the checksums cover.
    len: u64,
    checksum: DataChecksum,
    pub(super) data: Data,
    sums: Sums,
    verified: OnceLock<VerifiedChunks>,
    is_dropped: AtomicBool,
    expires: Option<Instant>,
    /// Given back to the DataNode when this is dropped.
    slot: Option<Slot>,
}

impl LocalReplica {
    /// Opens a replica of which at least `wanted` bytes can be read. The error says what is wrong
    /// with the files.
    pub(super) fn open(parts: Parts, wanted: u64, how: &Use) -> io::Result<Self> {
        let Parts { data, meta, slot } = parts;
        let mut header = [0; meta_header::LEN];
        meta.read_exact_at(&mut header, 0).map_err(|e| at("the header of the meta file", e))?;
        let (version, checksum) = meta_header::decode(header).map_err(invalid)?;
        if version != meta_header::VERSION {
            return Err(invalid(format!(
                "invalid metadata header version {version}.  Can only handle version {}.",
                meta_header::VERSION
            )));
        }
        let (data_stat, meta_len) = (data.metadata()?, meta.metadata()?.len());
        let covered = meta_header::covered_len(checksum, meta_len);
        let len = data_stat.len().min(covered);
        if len < wanted {
            return Err(invalid(format!(
                "{wanted} bytes are wanted, the block file has {}, its checksums cover {covered}",
                data_stat.len()
            )));
        }
        let sums = Sums::of(&meta, meta_len)?;
        let user = rustix::process::geteuid().as_raw();
        let data = Data::of(data, len, how, user == 0 || user == data_stat.uid());
        let expires = slot.is_none().then(|| clock::now().checked_add(how.trusted_for)).flatten();
        Ok(Self {
            len,
            checksum,
            data,
            sums,
            verified: OnceLock::new(),
            is_dropped: AtomicBool::new(false),
            expires,
            slot,
        })
    }

    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.data, Data::Mapped(_))
    }

    /// Whether the replica may be read: the DataNode has not taken it back, nothing was found wrong.
    pub(crate) fn is_current(&self) -> bool {
        self.slot.as_ref().is_none_or(Slot::is_valid) && self.is_kept()
    }

    /// Whether the replica could be read until now: bytes that were read before this call are from
    /// before the DataNode took it back.
    fn is_still_current(&self) -> bool {
        self.slot.as_ref().is_none_or(Slot::is_still_valid) && self.is_kept()
    }

    /// Whether this process still trusts it.
    fn is_kept(&self) -> bool {
        let is_expired =
            || self.slot.is_none() && self.expires.is_some_and(|end| clock::now() >= end);
        !self.is_dropped.load(Ordering::Relaxed) && !is_expired()
    }

    /// Readers that hold it drop it at their next read.
    pub(super) fn drop_it(&self) {
        self.is_dropped.store(true, Ordering::Relaxed);
    }

    /// Whether the DataNode has the replica locked in memory, and lets it be anchored there.
    #[inline]
    fn is_anchorable(&self) -> bool {
        self.slot.as_ref().is_some_and(Slot::is_anchorable)
    }

    /// Whether a range can be read without waiting for a disk.
    pub(crate) fn is_in_memory(&self, offset: u64, len: usize) -> bool {
        let (Ok(range), Data::Mapped(mapped)) = (self.range(offset, len), &self.data) else {
            return false;
        };
        self.is_anchorable() || mapped.windows.is_in_memory(&mapped.map, &range)
    }

    /// Whether a range is better read from the file, because it has to come from the disk.
    pub(crate) fn is_cold(&self, offset: u64, len: usize) -> bool {
        let Ok(range) = self.range(offset, len) else { return false };
        matches!(&self.data, Data::Mapped(mapped) if mapped.is_cold(&range))
    }

    /// Holds the replica in the DataNode's memory, where it is locked there; false where it is not.
    pub(super) fn anchor(&self) -> bool {
        self.slot.as_ref().is_some_and(Slot::anchor)
    }

    /// Takes one [`anchor`](Self::anchor) back.
    pub(super) fn unanchor(&self) {
        if let Some(slot) = &self.slot {
            slot.unanchor();
        }
    }

    pub(super) fn is_poisoned(&self) -> bool {
        self.sums.is_poisoned()
            || matches!(&self.data, Data::Mapped(mapped) if mapped.map.is_poisoned())
    }

    /// Bytes of the map, as they are; those that [`verify_in_map`](Self::verify_in_map) looked at.
    pub(super) fn mapped_bytes(&self, offset: u64, len: usize) -> SharedBytes<'_> {
        match &self.data {
            Data::Mapped(Mapped { map, .. }) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                part(map.bytes(), &(start..start.saturating_add(len)))
            }
            Data::File(_) => SharedBytes::from(&[]),
        }
    }

    /// Reads all of `out` from `offset`, verified as asked; whether it was. What the DataNode has
    /// locked in memory it verified then, and it stays as it is while it is anchored.
    pub(crate) fn read(
        &self,
        offset: u64,
        out: &mut [u8],
        verify: Verify,
    ) -> Result<bool, LocalError> {
        let range = self.range(offset, out.len())?;
        let anchor = self.anchored(verify);
        let verify = if anchor.is_some() { Verify::None } else { verify };
        let done = match &self.data {
            Data::Mapped(mapped) => match mapped.file_to_read(&range) {
                Some(file) => self.read_file(file, range, out, verify),
                None => {
                    mapped.windows.prepare(&mapped.map, range.clone())?;
                    self.copy(mapped.map.bytes(), range, out, verify)
                }
            },
            Data::File(file) => self.read_file(file, range, out, verify),
        };
        self.check_after_read(done)?;
        Ok(verify != Verify::None)
    }

    /// Whether a read that ended at `pos` took bytes from the disk that were not in the page cache.
    pub(crate) fn was_cold_before(&self, pos: u64) -> bool {
        matches!(&self.data, Data::Mapped(mapped)
            if usize::try_from(pos).is_ok_and(|pos| mapped.windows.was_cold_before(pos)))
    }

    /// Brings the first bytes into the page cache where they are not there, in the steps of a reader:
    /// the kernel reads ahead of it then, and continues when the reader comes. `with_sums`: the checksums
    /// as well. Errors come back to the reader.
    pub(crate) fn read_ahead(&self, with_sums: bool) {
        let Data::Mapped(mapped) = &self.data else { return };
        let first = 0..usize::try_from(self.len).unwrap_or(usize::MAX).min(READ_AHEAD_LEN);
        let Some(file) = mapped.file_for(&first) else { return };
        if let (Sums::Mapped(map), true) = (&self.sums, with_sums) {
            let _ = map.populate(0, map.len());
        }
        let mut step = vec![0; STEP_LEN.min(first.end)];
        for at in first.step_by(STEP_LEN) {
            let Ok(_) = file.read_at(&mut step, at as u64) else { return };
        }
        mapped.windows.goes_on_cold_at(0);
    }

    /// An anchor in place of a check, where the DataNode has the replica locked in memory.
    #[inline]
    fn anchored(&self, verify: Verify) -> Option<Anchor<'_>> {
        let may = verify != Verify::None && self.is_anchorable();
        (may && self.anchor()).then_some(Anchor(self))
    }

    /// Verifies a range where it lies in the map, as asked, for a zero-copy read; false where there is
    /// no map.
    pub(super) fn verify_in_map(
        &self,
        offset: u64,
        len: usize,
        verify: Verify,
    ) -> Result<bool, LocalError> {
        let range = self.range(offset, len)?;
        let Data::Mapped(Mapped { map, windows, .. }) = &self.data else { return Ok(false) };
        windows.prepare(map, range.clone())?;
        let checked = match self.is_verified(&range, verify) {
            true => Ok(()),
            false => {
                let whole = self.whole_chunks(&range);
                let checked = self.check(part(map.bytes(), &whole), whole.start);
                self.note(&whole, verify, checked.is_ok());
                checked
            }
        };
        self.check_after_read(checked)?;
        Ok(true)
    }

    /// The end of the chunk in which a range ends that ends at `offset`.
    #[inline]
    pub(crate) fn chunk_end(&self, offset: u64) -> u64 {
        offset.next_multiple_of(self.checksum.bytes_per_checksum() as u64)
    }

    /// Asks the processor to bring the beginning of a range into its cache.
    #[inline]
    pub(crate) fn prefetch(&self, offset: u64, len: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Data::Mapped(Mapped { map, .. }) = &self.data
            && let Ok(range) = self.range(offset, len)
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let at = range.start / self.checksum.bytes_per_checksum() * self.checksum.sum_len();
            let data = part(map.bytes(), &range);
            let lines = (0..data.len()).step_by(64).take(PREFETCH_LINES);
            let sums = self.sums.bytes().as_ptr().wrapping_add(at);
            for line in lines.map(|at| data.as_ptr().wrapping_add(at)).chain([sums]) {
                // SAFETY: a prefetch touches no memory; the address may be anything.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (offset, len);
    }

    fn range(&self, offset: u64, len: usize) -> Result<Range<usize>, LocalError> {
        if !self.is_current() {
            return Err(LocalError::Revoked);
        }
        let end = offset.checked_add(len as u64).filter(|end| *end <= self.len);
        let end = end.and_then(|end| usize::try_from(end).ok());
        match end {
            Some(end) => Ok(end - len..end),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// The result of a read that ended with `done`: what came from a page that could not be had is no
    /// data, and what was read counts only if the replica was not taken back until the end.
    fn check_after_read(&self, done: Result<(), LocalError>) -> Result<(), LocalError> {
        if self.is_poisoned() {
            let text = "the disk failed under the map, or the file has become shorter";
            return Err(io::Error::other(text).into());
        }
        if !self.is_still_current() {
            return Err(LocalError::Revoked);
        }
        done
    }

    fn copy(
        &self,
        bytes: SharedBytes<'_>,
        range: Range<usize>,
        out: &mut [u8],
        verify: Verify,
    ) -> Result<(), LocalError> {
        if self.is_verified(&range, verify) {
            part(bytes, &range).copy_to(out);
            return Ok(());
        }
        let copied = self.copy_and_check(bytes, &range, out);
        if verify == Verify::Once {
            self.note(&self.whole_chunks(&range), verify, copied.is_ok());
        }
        copied
    }

    /// Copies a range and checks all chunks that it touches. Whole ones are checked while they are
    /// copied to the caller's buffer, the first and the last in a copy if only a part is wanted: a check
    /// in the map would say nothing of bytes that are copied after it.
    fn copy_and_check(
        &self,
        bytes: SharedBytes<'_>,
        range: &Range<usize>,
        out: &mut [u8],
    ) -> Result<(), LocalError> {
        let whole = self.whole_chunks(range);
        let chunk_len = self.checksum.bytes_per_checksum();
        // From the first boundary in the range to the last, or to the end of the replica.
        let body_start = range.start.next_multiple_of(chunk_len).min(range.end);
        let body_end = match range.end == whole.end {
            true => range.end,
            false => (range.end - range.end % chunk_len).max(body_start),
        };
        let (head, rest) = out.split_at_mut(body_start - range.start);
        let (body, tail) = rest.split_at_mut(body_end - body_start);
        if !head.is_empty() {
            let chunk = whole.start..(whole.start + chunk_len).min(whole.end);
            self.copy_part_of_chunk(bytes, &chunk, range.start, head)?;
        }
        if !body.is_empty() {
            self.copy_chunks(bytes, &(body_start..body_end), body)?;
        }
        if !tail.is_empty() {
            self.copy_part_of_chunk(bytes, &(body_end..whole.end), body_end, tail)?;
        }
        Ok(())
    }

    /// Copies whole chunks to `out` and checks the copy.
    fn copy_chunks(
        &self,
        bytes: SharedBytes<'_>,
        range: &Range<usize>,
        out: &mut [u8],
    ) -> Result<(), LocalError> {
        let sums = self.sums_of(range.start, range.len())?;
        let copied = self.checksum.copy_and_verify(part(bytes, range), out, sums);
        copied.map_err(|error| self.corrupt(range.start, error))
    }

    /// Fills `out` with the bytes from `from` on of the chunk at `chunk`, of which a copy is checked.
    fn copy_part_of_chunk(
        &self,
        bytes: SharedBytes<'_>,
        chunk: &Range<usize>,
        from: usize,
        out: &mut [u8],
    ) -> Result<(), LocalError> {
        let (mut on_stack, mut on_heap) = ([0; CHUNK_ON_STACK_MAX], Vec::new());
        let copy = match on_stack.get_mut(..chunk.len()) {
            Some(room) => room,
            None => {
                on_heap.resize(chunk.len(), 0);
                &mut on_heap[..]
            }
        };
        self.copy_chunks(bytes, chunk, copy)?;
        let skip = from - chunk.start;
        out.copy_from_slice(copy.get(skip..skip + out.len()).unwrap_or_default());
        Ok(())
    }

    /// By read(2): whole chunks straight into the caller's buffer, others through a small one.
    fn read_file(
        &self,
        file: &File,
        range: Range<usize>,
        out: &mut [u8],
        verify: Verify,
    ) -> Result<(), LocalError> {
        if self.is_verified(&range, verify) {
            return Ok(file.read_exact_at(out, range.start as u64)?);
        }
        let chunk_len = self.checksum.bytes_per_checksum();
        let step = STEP_LEN.next_multiple_of(chunk_len);
        let mut scratch = Vec::new();
        let mut at = range.start;
        let mut rest = out;
        while !rest.is_empty() {
            let want = at..range.end.min(at - at % chunk_len + step);
            let (now, later) = rest.split_at_mut(want.len());
            let whole = self.whole_chunks(&want);
            if whole == want {
                file.read_exact_at(now, at as u64)?;
                self.check(SharedBytes::from(&*now), at)?;
            } else {
                scratch.resize(whole.len(), 0);
                file.read_exact_at(&mut scratch, whole.start as u64)?;
                self.check(SharedBytes::from(&scratch), whole.start)?;
                let skip = want.start - whole.start;
                now.copy_from_slice(scratch.get(skip..skip + want.len()).unwrap_or_default());
            }
            (at, rest) = (want.end, later);
        }
        self.note(&self.whole_chunks(&range), verify, true);
        Ok(())
    }

    /// The range of all chunks that a range touches.
    pub(super) fn whole_chunks(&self, range: &Range<usize>) -> Range<usize> {
        let chunk_len = self.checksum.bytes_per_checksum();
        let start = range.start - range.start % chunk_len;
        let end = range.end.next_multiple_of(chunk_len).min(self.len as usize);
        start..end
    }

    /// Checks data that begins at the chunk boundary `offset`.
    pub(super) fn check(&self, data: SharedBytes<'_>, offset: usize) -> Result<(), LocalError> {
        let sums = self.sums_of(offset, data.len())?;
        self.checksum.verify_shared(data, sums).map_err(|error| self.corrupt(offset, error))
    }

    fn sums_of(&self, offset: usize, len: usize) -> Result<SharedBytes<'_>, LocalError> {
        let start = offset / self.checksum.bytes_per_checksum() * self.checksum.sum_len();
        let sums = self.sums.bytes().get(start..start + self.checksum.sums_len(len));
        sums.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof).into())
    }

    fn corrupt(&self, offset: usize, error: ChecksumError) -> LocalError {
        let at = match error {
            ChecksumError::Mismatch(bad) => offset + bad.index * self.checksum.bytes_per_checksum(),
            _ => offset,
        };
        LocalError::Corrupt(format!("Checksum error at {at} in the local block file: {error}"))
    }

    fn is_verified(&self, range: &Range<usize>, verify: Verify) -> bool {
        match verify {
            Verify::Full => false,
            Verify::None => true,
            Verify::Once => self.chunks().covers(range),
        }
    }

    fn note(&self, whole: &Range<usize>, verify: Verify, is_good: bool) {
        if verify == Verify::Once && is_good {
            self.chunks().add(whole);
        }
    }

    fn chunks(&self) -> &VerifiedChunks {
        let chunk_len = self.checksum.bytes_per_checksum();
        self.verified.get_or_init(|| VerifiedChunks::new(self.len as usize, chunk_len))
    }
}

/// Lines of 64 bytes that are prefetched; the processor's own prefetcher continues from there.
#[cfg(target_arch = "x86_64")]
const PREFETCH_LINES: usize = 8;

/// Held while bytes are read unverified.
struct Anchor<'a>(&'a LocalReplica);

impl Drop for Anchor<'_> {
    fn drop(&mut self) {
        self.0.unanchor();
    }
}

/// The bytes of a range that the caller has checked.
fn part<'a>(bytes: SharedBytes<'a>, range: &Range<usize>) -> SharedBytes<'a> {
    bytes.get(range.clone()).unwrap_or(SharedBytes::from(&[]))
}
