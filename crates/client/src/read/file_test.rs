//! An open file, with a NameNode and a DataNode that the test plays.

use super::*;
use crate::fixture::{Cluster, bytes_of, located, replica};
use crate::read::Cursor;
use crate::read::located::with_last;

/// The block that is being written got other DataNodes: only the answer's last block says so, the
/// list ends with what the NameNode knows of.
#[test]
fn the_last_block_is_found_where_it_is_being_written_now() {
    let answer = |is_last_complete| LocatedBlocks {
        file_len: 100,
        blocks: Vec::new(),
        is_under_construction: true,
        last_block: Some(located(2, 100, 0)),
        is_last_complete,
        erasure_policy: None,
        is_encrypted: false,
    };
    assert_eq!(with_last(answer(false), 150), [located(2, 100, 0)]);
    assert!(with_last(answer(false), 99).is_empty(), "in front of it");
    assert!(with_last(answer(true), 150).is_empty(), "nothing more of it");
    let listed = LocatedBlocks { blocks: vec![located(2, 100, 60)], ..answer(false) };
    assert_eq!(with_last(listed, 150), [located(2, 100, 60)]);
}

fn open(cluster: &Cluster) -> File {
    let opening = File::open(&cluster.client, "/f".to_owned(), OpenOptions::default());
    cluster.client.wait(opening).unwrap()
}

fn read(file: &File, cursor: &mut Cursor, len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let read = file.read(cursor, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// The file was written anew under its path, its old blocks deleted: bytes of the new one came
/// behind those of the old one.
#[test]
fn two_files_of_one_path_are_not_mixed() {
    let old = vec![located(1, 0, 100), located(2, 100, 100)];
    let new = vec![located(11, 0, 100), located(12, 100, 100)];
    for settings in [&[][..], &[("dfs.client.read.prefetch.size", "100")]] {
        let cluster = Cluster::with_file(settings, old.clone(), &[1, 11, 12]);
        let file = open(&cluster);
        let mut cursor = Cursor::default();
        assert_eq!(read(&file, &mut cursor, 100).unwrap(), bytes_of(1, 0..100));
        cluster.set_file(new.clone());
        let refresh = || cluster.client.wait(file.refresh());
        for failed in [read(&file, &mut cursor, 100).map(|_| 0), refresh(), refresh()] {
            let error = failed.unwrap_err().to_string();
            assert!(error.starts_with("Blocklist for /f has changed!"), "{error}");
        }
        let mut cursor = Cursor::at(50);
        assert_eq!(read(&open(&cluster), &mut cursor, 9).unwrap(), bytes_of(11, 50..59));
    }
}

/// A reader used to take later blocks from a file that replaced the open one under its path.
#[test]
fn bytes_of_another_file_behind_the_known_blocks_are_refused() {
    let file = |ids: &[i64]| -> Vec<LocatedBlock> {
        ids.iter().zip(0..).map(|(id, at)| located(*id, at * 100, 100)).collect()
    };
    let settings = [("dfs.client.read.prefetch.size", "100")];
    let cluster =
        Cluster::with_file(&settings, file(&[1, 2, 3, 4]), &[1, 2, 3, 4, 5, 11, 12, 13, 14, 15]);
    let reader = open(&cluster);
    assert_eq!(read(&reader, &mut Cursor::at(210), 9).unwrap(), bytes_of(3, 10..19));
    for other in [&[11, 12, 13, 14][..], &[11, 12, 13, 14, 15], &[11], &[11, 12, 3, 14]] {
        let reader = open(&cluster);
        cluster.set_file(file(other));
        let error = read(&reader, &mut Cursor::at(310), 9).unwrap_err().to_string();
        assert!(error.starts_with("Blocklist for /f has changed!"), "{other:?}: {error}");
        cluster.set_file(file(&[1, 2, 3, 4]));
    }
    // After an append, the reader continues up to the length at the open.
    let reader = open(&cluster);
    cluster.set_file(file(&[1, 2, 3, 4, 5]));
    assert_eq!(read(&reader, &mut Cursor::at(310), 9).unwrap(), bytes_of(4, 10..19));
    assert_eq!(read(&reader, &mut Cursor::at(390), 99).unwrap(), bytes_of(4, 90..100));
}

/// Blocking reads of a snapshot used to continue to the end of the last block, into bytes of a later append.
#[test]
fn a_read_ends_with_the_file_and_not_with_its_last_block() {
    let blocks = vec![located(1, 0, 100), located(2, 100, 100)];
    let cluster = Cluster::with_file(&[], blocks, &[1, 2]);
    cluster.file_len.store(150, std::sync::atomic::Ordering::Relaxed);
    let file = Arc::new(open(&cluster));
    assert_eq!(read(&file, &mut Cursor::at(120), 100).unwrap(), bytes_of(2, 20..50));
    let mut bytes = [0; 100];
    assert_eq!(file.read_at(120, &mut bytes).unwrap(), 30);
    assert_eq!(bytes[..30], bytes_of(2, 20..50));
    let mapped = file.read_zero_copy(120, usize::MAX).unwrap();
    // SAFETY: these bytes are a copy that no other code holds.
    assert_eq!(unsafe { mapped.as_slice() }, bytes_of(2, 20..50));
    let mut bytes = [0; 31];
    assert!(file.read_ranges(&mut [(120, &mut bytes[..])]).is_err());
}

/// Its last block was located after another client had begun to append to it: a replica that grows is not
/// read from its files.
#[test]
fn a_file_that_is_appended_to_after_it_was_opened_is_known_to_grow() {
    let blocks = vec![located(1, 0, 100), located(2, 100, 100)];
    let settings = [("dfs.client.read.prefetch.size", "100")];
    let cluster = Cluster::with_file(&settings, blocks.clone(), &[1, 2]);
    let file = open(&cluster);
    cluster.is_appended.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(!file.is_being_written(&blocks[1]), "not asked again");
    assert_eq!(read(&file, &mut Cursor::at(150), 9).unwrap(), bytes_of(2, 50..59));
    assert!(file.is_being_written(&blocks[1]) && !file.is_being_written(&blocks[0]));
}

/// The next block cannot be read: what came before it was lost, though the position had moved.
#[test]
fn bytes_in_front_of_a_failure_are_given() {
    let blocks = vec![located(1, 0, 100), located(2, 100, 100)];
    let cluster = Cluster::with_file(&[], blocks, &[1]);
    let file = open(&cluster);
    let mut cursor = Cursor::at(30);
    assert_eq!(read(&file, &mut cursor, 200).unwrap(), bytes_of(1, 30..100));
    assert_eq!(cursor.pos, 100);
    let error = read(&file, &mut cursor, 200).unwrap_err().to_string();
    assert!(error.starts_with("Could not obtain block"), "{error}");
}

/// A DataNode that lacked one block was avoided by all readers of the client for a minute.
#[test]
fn a_missing_block_does_not_make_its_datanode_dead_for_other_files() {
    let cluster = Cluster::with_file(&[], vec![located(1, 0, 100)], &[2]);
    let replicas = cluster.blocks.lock()[0].replicas.clone();
    let lacking = open(&cluster);
    assert!(read(&lacking, &mut Cursor::default(), 9).is_err());
    assert!(lacking.dead.contains(&replicas[0].node));
    assert!(!cluster.client.unreachable.contains(&replicas[0].node));
    let mut other = located(2, 0, 100);
    other.replicas = vec![replicas[0].clone(), replica(1)];
    *cluster.blocks.lock() = vec![other];
    let other = open(&cluster);
    assert_eq!(read(&other, &mut Cursor::default(), 9).unwrap(), bytes_of(2, 0..9));
    assert_eq!(other.statistics().failovers, 0, "the one that has it was passed over");
}

/// Each file would wait for the same connection else.
#[test]
fn a_datanode_that_cannot_be_reached_is_avoided_by_all_files() {
    let cluster = Cluster::with_file(&[], vec![located(1, 0, 100)], &[1]);
    // No process listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = replica(u32::from(gone.port()));
    cluster.blocks.lock()[0].replicas.insert(0, gone.clone());
    for failovers in [1, 0] {
        let file = open(&cluster);
        assert_eq!(read(&file, &mut Cursor::default(), 9).unwrap(), bytes_of(1, 0..9));
        assert_eq!(file.statistics().failovers, failovers);
    }
    assert!(cluster.client.unreachable.contains(&gone.node));
}

/// A zero-copy read is as long as the block that it lies in, and so is the memory for its copy.
#[test]
fn a_zero_copy_read_that_must_copy_ends_with_its_block() {
    let huge = 1 << 45;
    let cluster = Cluster::with_file(&[], vec![located(1, 0, 100), located(2, 100, huge)], &[1]);
    let read = open(&cluster).read_zero_copy(20, usize::MAX).unwrap();
    // SAFETY: these bytes are a copy that no other code holds.
    assert_eq!(unsafe { read.as_slice() }, bytes_of(1, 20..100));
}
