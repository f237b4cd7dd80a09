//! From an offset to the block that holds it; no block data here.

use super::dead::DeadNodes;
use super::open_replicas::OpenReplicas;
use super::opened_ahead::OpenedAhead;
use super::stats::{Counters, ReadStatistics};
use super::visible_len::visible_len;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::spans;
use crate::types::{LocatedBlock, LocatedBlocks, OpenOptions, Verify};
use parking_lot::RwLock;
use std::sync::Arc;
use tracing::{Instrument, Span};
use zerohop_system::clock;
use zerohop_transport::trace;
use zerohop_transport::waits::WAITS;
use zerohop_wire::Block;

/// Blocks whose locations are asked at once, where no prefetch size is configured.
const PREFETCH_BLOCKS: u64 = 10;

/// An open file: its blocks as far as they are known.
pub(crate) struct File {
    pub(super) client: Arc<Client>,
    pub(super) src: String,
    pub(super) verify: Verify,
    /// For replicas of this machine.
    pub(super) verify_local: Verify,
    /// Whether bytes are given where they lie in a map.
    pub(super) maps_bytes: bool,
    pub(super) counters: Arc<Counters>,
    pub(super) known: OpenReplicas,
    /// DataNodes that failed reads of this file.
    pub(super) dead: DeadNodes,
    pub(super) opened_ahead: OpenedAhead,
    located: RwLock<Located>,
    /// Of the file, as long as it is open.
    pub(super) span: Span,
}

struct Located {
    /// Readable bytes, the visible part of a last block being written included.
    len: u64,
    /// OpenReplica blocks by offset.
    blocks: Vec<LocatedBlock>,
    is_under_construction: bool,
    /// The file's last block, known or not.
    last: Option<Block>,
}

impl File {
    /// Asks the NameNode for the first blocks.
    pub(crate) async fn open(
        client: &Arc<Client>,
        src: String,
        options: OpenOptions,
    ) -> Result<Self> {
        let span = spans::of_file("read file", &src);
        let located = fetch_with_len(client, &src).instrument(span.clone()).await;
        let located = located.inspect_err(|error| trace::record_failure(&span, error))?;
        Ok(Self {
            client: Arc::clone(client),
            src,
            verify: options.verify,
            verify_local: match client.settings.local.skip_checksum {
                true => Verify::None,
                false => options.verify,
            },
            maps_bytes: options.maps_bytes,
            counters: client.read_totals.begin(),
            known: OpenReplicas::default(),
            dead: DeadNodes::default(),
            opened_ahead: OpenedAhead::default(),
            located: RwLock::new(located),
            span,
        })
    }

    /// Readable bytes, as of the last time the NameNode was asked.
    pub(crate) fn len(&self) -> u64 {
        self.located.read().len
    }

    /// The last block; none of an empty file.
    pub(crate) fn last_block(&self) -> Option<Block> {
        self.located.read().last
    }

    pub(crate) fn path(&self) -> &str {
        &self.src
    }

    pub(crate) fn is_under_construction(&self) -> bool {
        self.located.read().is_under_construction
    }

    /// Whether a block may still grow.
    pub(super) fn is_being_written(&self, block: &LocatedBlock) -> bool {
        let located = self.located.read();
        located.is_under_construction && block.end() >= located.len
    }

    /// Drops the replicas of this machine.
    pub(crate) fn let_go(&self) {
        self.known.clear();
    }

    pub(crate) fn statistics(&self) -> ReadStatistics {
        self.counters.snapshot()
    }

    /// The block that holds `offset`, where it is known without a question.
    pub(super) fn located_at(&self, offset: u64) -> Option<LocatedBlock> {
        self.located.read().at(offset).cloned()
    }

    /// Asks where the block that holds `offset` is.
    pub(super) async fn locate(&self, offset: u64) -> Result<()> {
        // With the block before it, if that is known: it shows whether the file is still the same.
        let before = offset.checked_sub(1).filter(|before| self.located_at(*before).is_some());
        self.ask(before.unwrap_or(offset), offset).await
    }

    /// Asks again where the block that holds `offset` is.
    pub(super) async fn relocate(&self, offset: u64) -> Result<()> {
        self.ask(offset, offset).await
    }

    /// Asks for the blocks behind `from`, one of which must hold `offset`.
    async fn ask(&self, from: u64, offset: u64) -> Result<()> {
        let fresh = fetch(&self.client, &self.src, from).instrument(self.span.clone()).await?;
        let is_under_construction = fresh.is_under_construction;
        let blocks = with_last(fresh, offset);
        let mut located = self.located.write();
        if located.contradicts(&blocks) {
            return Err(changed(&self.src));
        }
        // A client appends to it since it was opened: its last block is read from a DataNode, not from its files.
        located.is_under_construction |= is_under_construction;
        located.merge(blocks);
        match located.at(offset) {
            Some(_) => Ok(()),
            None => {
                let text = format!("Could not find target position {offset} in {}", self.src);
                Err(Error::plain(text))
            }
        }
    }

    /// Asks how long the file is now.
    pub(crate) async fn refresh(&self) -> Result<u64> {
        let asked = fetch_with_len(&self.client, &self.src);
        let fresh = asked.instrument(self.span.clone()).await?;
        let len = fresh.len;
        let mut located = self.located.write();
        if located.contradicts(&fresh.blocks) {
            return Err(changed(&self.src));
        }
        *located = fresh;
        Ok(len)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.client.read_totals.end(&self.counters);
    }
}

impl Located {
    fn at(&self, offset: u64) -> Option<&LocatedBlock> {
        let after = self.blocks.partition_point(|block| block.offset <= offset);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        (offset < block.end()).then_some(block)
    }

    /// Whether `fresh` puts bytes elsewhere than into the blocks in which they are known to be. A block
    /// without bytes may go: what was begun in it and never shown to anybody can be given up.
    fn contradicts(&self, fresh: &[LocatedBlock]) -> bool {
        let id = |block: &LocatedBlock| (block.offset, block.block.block.id);
        let is_kept = |known: &LocatedBlock| fresh.iter().any(|block| id(block) == id(known));
        fresh.iter().any(|block| {
            let end = block.end().max(block.offset.saturating_add(1));
            let after = self.blocks.partition_point(|known| known.offset <= block.offset);
            let to = self.blocks.partition_point(|known| known.offset < end);
            let near = self.blocks.get(after.saturating_sub(1)..to).unwrap_or_default();
            let overlaps = |known: &&LocatedBlock| known.end() > block.offset.max(known.offset);
            near.iter().filter(overlaps).any(|known| !is_kept(known))
        })
    }

    /// Takes fresh blocks in; a last block being written keeps the length that was found.
    fn merge(&mut self, fresh: Vec<LocatedBlock>) {
        for mut block in fresh {
            match self.blocks.binary_search_by_key(&block.offset, |known| known.offset) {
                Ok(at) => {
                    if let Some(known) = self.blocks.get_mut(at) {
                        if known.block.block.id == block.block.block.id {
                            let len = block.block.block.len.max(known.block.block.len);
                            block.block.block.len = len;
                        }
                        *known = block;
                    }
                }
                Err(at) => self.blocks.insert(at, block),
            }
        }
    }
}

/// Another file has taken the path (`DFSInputStream.fetchAndCheckLocatedBlocks`): its bytes must not be taken for those of the
/// file that was opened.
fn changed(src: &str) -> Error {
    Error::plain(format!("Blocklist for {src} has changed! Open the file again."))
}

async fn fetch(client: &Client, src: &str, offset: u64) -> Result<LocatedBlocks> {
    let settings = &client.settings;
    let prefetch = settings
        .prefetch_len
        .unwrap_or_else(|| settings.block_size.saturating_mul(PREFETCH_BLOCKS));
    let answer = client.namenode.block_locations(src, offset, prefetch.max(1)).await?;
    answer.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("File does not exist: {src}")))
}

/// The blocks of an answer, with one that is being written where `offset` lies behind what the NameNode
/// knows of it.
fn with_last(answer: LocatedBlocks, offset: u64) -> Vec<LocatedBlock> {
    let mut blocks = answer.blocks;
    let is_behind = |last: &LocatedBlock| {
        last.offset <= offset && blocks.iter().all(|block| block.offset < last.offset)
    };
    if !answer.is_last_complete
        && let Some(last) = answer.last_block.filter(is_behind)
    {
        blocks.push(last);
    }
    blocks
}

/// The first blocks, and the length with what is readable of a last block being written. After a
/// cluster restart the NameNode may not know yet where that block is: it is asked a few times.
async fn fetch_with_len(client: &Client, src: &str) -> Result<Located> {
    let mut left = client.settings.last_block_len_retries;
    loop {
        let answer = fetch(client, src, 0).await?;
        answer.check_readable(src)?;
        if let Some(located) = with_visible_len(client, answer).await? {
            return Ok(located);
        }
        if left == 0 {
            return Err(Error::plain("Could not obtain the last block locations."));
        }
        left -= 1;
        let wait = client.settings.last_block_len_interval;
        tracing::warn!(
            target: WAITS,
            wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "no DataNode has reported the last block of {src} yet; asking again {left} more time(s)"
        );
        clock::sleep(wait).await;
    }
}

async fn with_visible_len(client: &Client, answer: LocatedBlocks) -> Result<Option<Located>> {
    let last = answer.last_block.as_ref().or(answer.blocks.last());
    let mut located = Located {
        len: answer.file_len,
        last: last.map(|last| last.block.block),
        blocks: answer.blocks,
        is_under_construction: answer.is_under_construction,
    };
    if answer.is_last_complete {
        return Ok(Some(located));
    }
    let Some(mut last) = answer.last_block else { return Ok(Some(located)) };
    let Some(len) = visible_len(client, &last).await? else { return Ok(None) };
    last.block.block.len = len;
    located.len = answer.file_len.saturating_add(len);
    located.blocks.retain(|block| block.offset != last.offset);
    located.merge(vec![last]);
    Ok(Some(located))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Cluster, bytes_of, located, replica};
    use crate::read::Cursor;

    fn known(blocks: &[(i64, u64, u64)]) -> Located {
        let blocks: Vec<_> = blocks.iter().map(|(id, at, len)| located(*id, *at, *len)).collect();
        let len = blocks.last().map_or(0, LocatedBlock::end);
        Located { len, blocks, is_under_construction: false, last: None }
    }

    #[test]
    fn blocks_of_another_file_are_told_from_those_that_were_found_again() {
        let file = [(1, 0, 100), (2, 100, 100), (4, 300, 0)];
        let contradicts =
            |fresh: &[(i64, u64, u64)]| known(&file).contradicts(&known(fresh).blocks);
        for same in [
            &[][..],
            &[(1, 0, 100)],
            &[(2, 100, 100), (3, 200, 100)],
            // One that grows, one that lease recovery has cut, one that was given up empty.
            &[(2, 100, 150)],
            &[(2, 100, 90), (3, 190, 100)],
            &[(5, 300, 100)],
        ] {
            assert!(!contradicts(same), "{same:?}");
        }
        for other in [
            &[(9, 0, 100)][..],
            &[(1, 0, 100), (9, 100, 100)],
            // Another length of blocks; one that is being written; one over the end.
            &[(9, 50, 10)],
            &[(9, 0, 1000)],
            &[(9, 100, 0)],
            &[(9, 199, 5)],
        ] {
            assert!(contradicts(other), "{other:?}");
        }
    }

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

        let mut file = known(&[(1, 0, 100), (2, 100, 80)]);
        let mut moved = located(2, 100, 0);
        moved.block.block.stamp.0 += 1;
        file.merge(vec![moved]);
        let last = file.at(150).expect("the length that was found is kept");
        assert_eq!((last.block.block.stamp.0, last.end()), (1002, 180));
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
        let cluster =
            Cluster::with_file(&[], vec![located(1, 0, 100), located(2, 100, huge)], &[1]);
        let read = open(&cluster).read_zero_copy(20, usize::MAX).unwrap();
        // SAFETY: these bytes are a copy that no other code holds.
        assert_eq!(unsafe { read.as_slice() }, bytes_of(1, 20..100));
    }
}
