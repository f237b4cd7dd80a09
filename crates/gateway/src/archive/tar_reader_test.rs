//! Archives that used to be kept in memory, or to become more than they are.

use super::*;
use axum::body::Body;
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tar::Builder;

const PIECE: usize = 8 << 10;
const ENDLESS: usize = 64 << 20;

fn reader(archive: &[u8], piece_len: usize) -> TarReader {
    let pieces: Vec<_> = archive.chunks(piece_len).map(Bytes::copy_from_slice).collect();
    let pieces = stream::iter(pieces.into_iter().map(Ok::<_, io::Error>));
    TarReader::of(BodyReader::of(Body::from_stream(pieces)))
}

/// Creates the header of an entry, with the right checksum.
fn header_of(kind: EntryType, len: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(len);
    header.set_path("a").unwrap();
    header.set_cksum();
    header
}

/// Reads an archive of one entry whose header promises much and after which much comes. Returns the refusal, and the number of
/// bytes that were taken.
async fn refusal_of(kind: EntryType) -> (String, usize) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let head = Bytes::copy_from_slice(header_of(kind, ENDLESS as u64).as_bytes());
    let rest = stream::iter(0..ENDLESS / PIECE).map(|_| Bytes::from(vec![b'x'; PIECE]));
    let pieces = stream::iter([head]).chain(rest).map(move |piece| {
        count.fetch_add(piece.len(), Ordering::Relaxed);
        Ok::<_, io::Error>(piece)
    });
    let mut reader = TarReader::of(BodyReader::of(Body::from_stream(pieces)));
    let refusal = reader.next().await.unwrap_err().to_string();
    (refusal, taken.load(Ordering::Relaxed))
}

#[tokio::test]
async fn long_names_and_pax_headers_were_kept_however_long_they_were() {
    for (kind, what) in [(EntryType::GNULongName, "a name"), (EntryType::XHeader, "a PAX header")] {
        let (refusal, taken) = refusal_of(kind).await;
        assert!(refusal.contains(what) && refusal.contains("at most"), "{refusal}");
        assert!(taken <= BLOCK + PIECE, "{taken} bytes were taken for {what}");
    }
}

#[tokio::test]
async fn a_sparse_entry_became_as_many_zeros_as_its_header_said() {
    // 512 bytes of data at the end of 4 GiB. The map continues in another block.
    let mut header = header_of(EntryType::GNUSparse, 512);
    header.as_gnu_mut().unwrap().isextended[0] = 1;
    header.as_gnu_mut().unwrap().realsize = *b"40000000000\0";
    header.set_cksum();
    let mut archive = header.as_bytes().to_vec();
    archive.extend_from_slice(&[0; BLOCK]);
    archive.extend_from_slice(&[b'x'; 512]);
    archive.extend_from_slice(header_of(EntryType::Regular, 0).as_bytes());
    archive.extend_from_slice(&[0; 2 * BLOCK]);
    let mut reader = reader(&archive, 700);
    assert!(reader.next().await.unwrap().unwrap().is_sparse);
    let mut len = 0;
    while let Some(piece) = reader.data().await.unwrap() {
        len += piece.len();
    }
    assert_eq!(len, 512, "its data, and no hole");
    let after = reader.next().await.unwrap().unwrap();
    assert!(!after.is_sparse && after.kind == EntryType::Regular);
    assert!(reader.next().await.unwrap().is_none());
}

#[tokio::test]
async fn sparse_entries_of_pax_archives_were_taken_for_whole_files() {
    let mut archive = Builder::new(Vec::new());
    archive.append_pax_extensions([("GNU.sparse.major", b"1".as_slice())]).unwrap();
    archive.append(&header_of(EntryType::Regular, 3), &b"abc"[..]).unwrap();
    let mut reader = reader(&archive.into_inner().unwrap(), BLOCK);
    assert!(reader.next().await.unwrap().unwrap().is_sparse);
}

#[tokio::test]
async fn entries_are_read_whatever_pieces_they_come_in() {
    let long = format!("{}/{}", "d".repeat(120), "é".repeat(100));
    let mut archive = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(700);
    archive.append_data(&mut header, &long, vec![b'y'; 700].as_slice()).unwrap();
    archive
        .append_pax_extensions([("path", "p/ü".as_bytes()), ("size", b"5"), ("mtime", b"1.5")])
        .unwrap();
    archive.append(&header_of(EntryType::Regular, 5), &b"hello"[..]).unwrap();
    archive.append(&header_of(EntryType::Directory, 0), io::empty()).unwrap();
    let archive = archive.into_inner().unwrap();
    for piece_len in [1, 7, 511, 512, 513, 100_000] {
        let mut reader = reader(&archive, piece_len);
        let mut seen = Vec::new();
        while let Some(entry) = reader.next().await.unwrap() {
            let mut len = 0;
            while let Some(piece) = reader.data().await.unwrap() {
                len += piece.len();
            }
            seen.push((entry.name, entry.kind, len));
        }
        let expected = [
            (long.clone(), EntryType::Regular, 700),
            ("p/ü".to_owned(), EntryType::Regular, 5),
            ("a".to_owned(), EntryType::Directory, 0),
        ];
        assert_eq!(seen, expected, "pieces of {piece_len} bytes");
        // What is not read is passed over.
        let mut reader = self::reader(&archive, piece_len);
        let mut count = 0;
        while reader.next().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 3);
    }
}

#[tokio::test]
async fn an_archive_that_breaks_off_or_is_none_is_refused() {
    let whole = {
        let mut archive = Builder::new(Vec::new());
        archive.append(&header_of(EntryType::Regular, 600), vec![1; 600].as_slice()).unwrap();
        archive.into_inner().unwrap()
    };
    for (cut, is_whole) in
        [(0, true), (1, false), (511, false), (512, false), (1000, false), (1536, true)]
    {
        let mut reader = reader(&whole[..cut], 100);
        let read = async {
            while reader.next().await?.is_some() {}
            Ok::<_, Failure>(())
        };
        assert_eq!(read.await.is_ok(), is_whole, "{cut} bytes");
    }
    let mut noise = vec![0x55; 2048];
    assert!(reader(&noise, 100).next().await.is_err());
    noise[148..156].copy_from_slice(b"zzzzzzz\0");
    assert!(reader(&noise, 100).next().await.is_err());
}
