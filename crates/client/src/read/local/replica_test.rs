//! Replicas from two files, without a DataNode.

use super::files::{Parts, Use};
use super::once::VerifiedChunks;
use super::replica::LocalReplica;
use super::zero_copy::ZeroCopyRead;
use crate::read::local_outcome::LocalError;
use crate::read::open_replicas::OpenReplicas;
use crate::read::stats::Counters;
use crate::types::Verify;
use proptest::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};
use zerohop_wire::meta_header;

/// Read from a map.
pub(in crate::read) const MAPPED: bool = true;
/// Read from the file.
pub(super) const READ: bool = false;

/// A block file and its meta file.
pub(in crate::read) struct Files {
    pub(super) data: File,
    meta: File,
    pub(in crate::read) bytes: Vec<u8>,
}

impl Files {
    pub(in crate::read) fn new(len: usize, checksum: DataChecksum) -> Self {
        let bytes: Vec<u8> =
            (0..len as u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
        let mut sums = vec![0; checksum.sums_len(len)];
        checksum.compute(&bytes, &mut sums).unwrap();
        let (data, meta) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        data.write_all_at(&bytes, 0).unwrap();
        meta.write_all_at(&meta_header::encode(checksum), 0).unwrap();
        meta.write_all_at(&sums, meta_header::LEN as u64).unwrap();
        Self { data, meta, bytes }
    }

    pub(in crate::read) fn open(&self, map: bool) -> std::io::Result<LocalReplica> {
        self.open_for(map, Duration::from_secs(60))
    }

    fn open_for(&self, map: bool, trusted_for: Duration) -> std::io::Result<LocalReplica> {
        let (data, meta) = (self.data.try_clone().unwrap(), self.meta.try_clone().unwrap());
        let parts = Parts { data, meta, slot: None };
        let how = Use { map, trusted_for, descriptors: Arc::default() };
        LocalReplica::open(parts, self.bytes.len() as u64, &how)
    }
}

fn checksums() -> impl Strategy<Value = DataChecksum> {
    let kinds = vec![ChecksumType::Crc32c, ChecksumType::Crc32, ChecksumType::Null];
    (prop::sample::select(kinds), prop::sample::select(vec![512u32, 1, 100, 4096]))
        .prop_map(|(kind, len)| DataChecksum::new(kind, len).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_range_reads_as_it_was_written(
        len in 0usize..40_000, checksum in checksums(),
        ranges in prop::collection::vec((0usize..40_000, 0usize..20_000), 1..6),
    ) {
        let files = Files::new(len, checksum);
        for map in [MAPPED, READ] {
            let replica = files.open(map).unwrap();
            prop_assert_eq!(replica.is_mapped(), map);
            for verify in [Verify::Full, Verify::None, Verify::Once, Verify::Once] {
                for (start, take) in &ranges {
                    let start = *start % (len + 1);
                    let end = (start + take).min(len);
                    let mut out = vec![0xaa; end - start];
                    replica.read(start as u64, &mut out, verify).unwrap();
                    prop_assert_eq!(&out, &files.bytes[start..end]);
                    if replica.verify_in_map(start as u64, end - start, verify).unwrap() {
                        out.fill(0xaa);
                        replica.mapped_bytes(start as u64, end - start).copy_to(&mut out);
                        prop_assert_eq!(&out, &files.bytes[start..end]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_found_wherever_it_is(
        len in 1usize..20_000, place: prop::sample::Index, bit in 0u8..8, in_meta: bool,
        start: prop::sample::Index, take in 1usize..9000,
    ) {
        let files = Files::new(len, DataChecksum::default());
        let (file, at) = match in_meta {
            true => (&files.meta, meta_header::LEN + place.index(len.div_ceil(512) * 4)),
            false => (&files.data, place.index(len)),
        };
        let chunk = if in_meta { (at - meta_header::LEN) / 4 } else { at / 512 };
        let mut byte = [0];
        file.read_exact_at(&mut byte, at as u64).unwrap();
        file.write_all_at(&[byte[0] ^ 1 << bit], at as u64).unwrap();
        let start = start.index(len);
        let end = (start + take).min(len);
        let touched = start / 512 <= chunk && chunk <= (end - 1) / 512;
        for how in [MAPPED, READ] {
            let replica = files.open(how).unwrap();
            for verify in [Verify::Full, Verify::Once, Verify::Once] {
                let read = replica.read(start as u64, &mut vec![0; end - start], verify);
                match read {
                    Err(LocalError::Corrupt(text)) if touched => {
                        prop_assert!(text.contains(&format!("at {}", chunk * 512)), "{}", text);
                    }
                    Ok(_) if !touched => {}
                    other => prop_assert!(false, "{:?} {}", other, touched),
                }
            }
            replica.read(0, &mut vec![0; len], Verify::None).unwrap();
        }
    }
}

#[test]
fn files_that_are_no_replica_are_refused() {
    let good = || Files::new(3000, DataChecksum::default());
    let error = |files: &Files| files.open(MAPPED).err().map(|e| e.to_string());
    assert_eq!(error(&good()), None);
    let files = good();
    files.meta.set_len(7 + 4 * 5).unwrap();
    assert!(error(&files).unwrap().contains("checksums cover 2560"), "short meta");
    let files = good();
    files.meta.set_len(3).unwrap();
    assert!(error(&files).unwrap().contains("header"), "no header");
    let files = good();
    files.meta.write_all_at(&[0, 2], 0).unwrap();
    assert!(error(&files).unwrap().contains("invalid metadata header version 2"), "version");
    let files = good();
    files.meta.write_all_at(&[9], 2).unwrap();
    assert!(error(&files).is_some(), "type of checksum");
    let files = good();
    files.data.set_len(2999).unwrap();
    assert!(error(&files).unwrap().contains("3000 bytes are wanted"), "short data");
}

/// Bytes that wait for a slow peer: their block may have been deleted meanwhile, which leaves them as they are, or truncated and
/// appended to.
#[test]
fn bytes_of_a_replica_that_was_taken_back_are_sent_from_its_file_only_if_they_are_the_same() {
    let files = Files::new(3 << 20, DataChecksum::default());
    let replica = Arc::new(files.open(MAPPED).unwrap());
    let read = ZeroCopyRead::mapped(&replica, 1000, 5000, Verify::Full).unwrap().unwrap();
    let sent = |read: &ZeroCopyRead| read.file().map(|file| file.map(|(_, offset)| offset));
    assert_eq!(sent(&read).unwrap(), Some(1000));
    replica.drop_it();
    assert_eq!(sent(&read).unwrap(), Some(1000));
    files.data.write_all_at(&[files.bytes[3000] ^ 1], 3000).unwrap();
    assert_eq!(sent(&read).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    assert_eq!(sent(&ZeroCopyRead::copied(vec![1])).unwrap(), None);
}

#[test]
fn truncation_under_a_reader_is_an_error() {
    for how in [MAPPED, READ] {
        let files = Files::new(3 << 20, DataChecksum::default());
        let replica = files.open(how).unwrap();
        let mut out = vec![0; 1 << 20];
        replica.read(0, &mut out, Verify::Full).unwrap();
        files.data.set_len(1 << 20).unwrap();
        let read = replica.read(2 << 20, &mut out, Verify::None);
        assert!(matches!(read, Err(LocalError::Failed(_))), "{read:?}");
    }
    let files = Files::new(3 << 20, DataChecksum::default());
    let replica = files.open(MAPPED).unwrap();
    files.meta.set_len(7).unwrap();
    let read = replica.read(2 << 20, &mut [0; 4096], Verify::Full);
    assert!(matches!(read, Err(LocalError::Failed(_))), "{read:?}");
}

#[test]
fn a_replica_without_a_slot_expires_and_a_dropped_one_is_revoked() {
    let files = Files::new(100, DataChecksum::default());
    let expired = files.open_for(MAPPED, Duration::ZERO).unwrap();
    assert!(matches!(expired.read(0, &mut [0; 10], Verify::Full), Err(LocalError::Revoked)));
    let replica = files.open(MAPPED).unwrap();
    replica.read(0, &mut [0; 10], Verify::Full).unwrap();
    replica.drop_it();
    assert!(matches!(replica.read(0, &mut [0; 10], Verify::Full), Err(LocalError::Revoked)));
    let beyond = files.open(MAPPED).unwrap().read(91, &mut [0; 10], Verify::Full);
    assert!(matches!(beyond, Err(LocalError::Failed(_))));
}

#[test]
fn a_zero_copy_read_outlives_the_replica_s_handle_and_tells_when_pages_are_missing() {
    let files = Files::new(10_000, DataChecksum::default());
    let replica = Arc::new(files.open(MAPPED).unwrap());
    let read = super::ZeroCopyRead::mapped(&replica, 5000, 5000, Verify::Full).unwrap().unwrap();
    drop(replica);
    assert!(read.is_mapped() && !read.is_anchored() && read.is_intact());
    let mut copy = vec![0; read.len()];
    read.bytes().copy_to(&mut copy);
    assert_eq!(copy, files.bytes[5000..]);
    files.data.set_len(0).unwrap();
    read.bytes().copy_to(&mut copy);
    assert_eq!(copy[4999], 0);
    assert!(!read.is_intact());
    assert!(VerifiedChunks::new(1, 512).covers(&(0..0)));
}

/// Bytes that were given away used to become zeros when their file was cut, and their user could not know.
#[test]
fn bytes_that_were_given_away_do_not_become_zeros() {
    let files = Files::new(10_000, DataChecksum::default());
    let replica = Arc::new(files.open(MAPPED).unwrap());
    let read = || super::ZeroCopyRead::mapped(&replica, 5000, 5000, Verify::Full).unwrap().unwrap();
    let (own, given) = (read(), read().without_guard().unwrap());
    let again = read().without_guard().unwrap();
    assert_eq!(given.bytes().as_ptr(), again.bytes().as_ptr(), "one more map is enough");
    let mut copy = vec![0; given.len()];
    given.bytes().copy_to(&mut copy);
    assert_eq!(copy, files.bytes[5000..]);
    files.data.set_len(0).unwrap();
    let ended = crate::test_child::signal_that_ends(|| given.bytes().copy_to(&mut copy));
    assert_eq!(ended, Some(libc::SIGBUS));
    // This client's own reads of the same replica are errors, and the process lives.
    own.bytes().copy_to(&mut copy);
    assert!(!own.is_intact() && replica.read(0, &mut [0; 10], Verify::Full).is_err());
    assert!(super::ZeroCopyRead::mapped(&replica, 0, 10, Verify::Full).is_err());
    let copied = ZeroCopyRead::copied(vec![7]).without_guard().unwrap();
    assert!(!copied.is_mapped() && copied.len() == 1);
}

/// Reads of the same ranges again and again while another thread writes to the block file; all that
/// were said to be good are.
fn read_while_the_file_changes(files: &Files, read: impl Fn(u64, &mut [u8]) -> bool) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for at in [0u64, 511, 700, 1023, 1400, 4000] {
                    let good = files.bytes[at as usize];
                    files.data.write_all_at(&[good ^ 1], at).unwrap();
                    files.data.write_all_at(&[good], at).unwrap();
                }
            }
        });
        let mut wrong = None;
        for _ in 0..20_000 {
            for (start, len) in [(0, 4096), (100, 300), (300, 1200), (3990, 20)] {
                let mut out = vec![0; len];
                let is_good = read(start as u64, &mut out);
                if is_good && out != files.bytes[start..start + len] {
                    wrong = Some((start, len));
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None, "bytes that were never verified");
    });
}

/// The first and the last chunk of a range, of which only a part is wanted, were verified in the map and
/// copied after that; so were ranges that are read together.
#[test]
fn what_a_read_returns_is_what_was_verified_while_the_file_changes() {
    let files = Files::new(8192, DataChecksum::default());
    let replica = Arc::new(files.open(MAPPED).unwrap());
    read_while_the_file_changes(&files, |at, out| replica.read(at, out, Verify::Full).is_ok());
    let known = OpenReplicas::default();
    known.add(0, 8192, &replica);
    let counters = Counters::default();
    read_while_the_file_changes(&files, |at, out| {
        let (first, second) = out.split_at_mut(out.len() / 2);
        let mut ranges = [(at, first), (at + second.len() as u64, second)];
        known.read_many(&counters, &mut ranges, &[0, 1], Verify::Full).is_empty()
    });
}
