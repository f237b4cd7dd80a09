//! The thread that verifies the replicas of one volume (`VolumeScanner`).

use super::cursor::Cursor;
use super::rate::HourlyBytes;
use super::settings::BlockScannerSettings;
use super::volume_scanner::VolumeScanner;
use crate::node::Node;
use crate::store::volume::DataVolume;
use crate::store::{Failure, Opened};
use crate::transfer::throttle::Throttle;
use rustix::fs::Advice;
use std::fs;
use std::num::NonZeroU64;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};
use zerohop_replica::Place;
use zerohop_system::clock;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, ExtendedBlock, GenerationStamp};

/// Bytes verified at a time.
const STEP: u64 = 1 << 20;
/// The wait after which the rate of the last hour is looked at again.
const RATE_WAIT: Duration = Duration::from_secs(30);
/// The wait where there is no block pool.
const NO_POOL_WAIT: Duration = Duration::from_secs(3600);

/// Starts to verify the replicas of a volume, unless that is turned off.
pub(crate) fn verify_volume(node: &Arc<Node>, volume: &Arc<DataVolume>) {
    let Some((scanner, settings)) = node.block_scanner.add_volume(volume) else { return };
    let run = Run::new(scanner, node, settings);
    let started = thread::Builder::new().name("volume scanner".to_owned()).spawn(move || run.run());
    if let Err(error) = started {
        tracing::error!("replicas of volume {volume} are not verified: {error}");
        node.block_scanner.forget_volume(volume);
    }
}

/// What the thread has.
struct Run {
    scanner: Arc<VolumeScanner>,
    node: Weak<Node>,
    settings: BlockScannerSettings,
    throttle: Throttle,
    began: Instant,
    bytes: HourlyBytes,
    cursors: Vec<Cursor>,
    /// The cursor in use.
    current: usize,
    is_scanning: bool,
}

impl Run {
    fn new(scanner: Arc<VolumeScanner>, node: &Arc<Node>, settings: BlockScannerSettings) -> Self {
        Self {
            scanner,
            node: Arc::downgrade(node),
            throttle: Throttle::new(settings.bytes_per_second),
            settings,
            began: clock::now(),
            bytes: HourlyBytes::default(),
            cursors: Vec::new(),
            current: 0,
            is_scanning: false,
        }
    }

    /// Verifies replicas until the scanner is stopped, the volume fails or the node is gone.
    fn run(mut self) {
        while !self.scanner.stops() {
            let wait = match self.node.upgrade() {
                Some(node) => self.step(&node),
                None => break,
            };
            if !wait.is_zero() && self.scanner.pause(wait) {
                break;
            }
        }
        if !self.scanner.volume.has_failed() {
            (0..self.cursors.len()).for_each(|index| self.save(index));
        }
        self.scanner.end();
    }

    fn save(&mut self, index: usize) {
        if let Some(Err(error)) = self.cursors.get_mut(index).map(Cursor::save) {
            tracing::warn!("{}: the scanner's cursor is not kept: {error}", self.scanner.volume);
        }
    }

    /// Verifies one replica; tells how long to wait until the next step.
    fn step(&mut self, node: &Arc<Node>) -> Duration {
        self.find_pools(node);
        let suspect = self.scanner.next_suspect();
        if let Some(block) = suspect {
            self.verify(node, &block);
            return Duration::ZERO;
        }
        if !self.bytes.is_within(clock::since(self.began), self.settings.bytes_per_second) {
            return RATE_WAIT;
        }
        if !self.is_scanning {
            return self.choose_cursor();
        }
        let Some(cursor) = self.cursors.get_mut(self.current) else {
            self.is_scanning = false;
            return Duration::ZERO;
        };
        match cursor.next() {
            Ok(Some(id)) => self.visit(node, id),
            ended => {
                match ended {
                    Err(error) => tracing::warn!("{}: {error}", self.scanner.volume),
                    _ => tracing::info!(
                        "block pool {} on volume {} is verified",
                        cursor.pool_id,
                        self.scanner.volume
                    ),
                }
                self.is_scanning = false;
                self.save(self.current);
                self.scanner.count(|statistics| statistics.is_at_end = true);
            }
        }
        Duration::ZERO
    }

    /// Loads the cursors of new block pools.
    fn find_pools(&mut self, node: &Node) {
        for id in node.store.pools().ids() {
            if self.cursors.iter().any(|cursor| cursor.pool_id == id) {
                continue;
            }
            if let Some(pool) = self.scanner.volume.pool(&id) {
                self.cursors.push(Cursor::load(&pool));
            }
        }
    }

    /// Takes the next cursor that is not at its end, or whose period is over; else tells how long to wait.
    fn choose_cursor(&mut self) -> Duration {
        let (count, now) = (self.cursors.len(), clock::wall());
        let mut shortest = NO_POOL_WAIT;
        for step in 1..=count {
            let index = (self.current + step) % count;
            let Some(cursor) = self.cursors.get_mut(index) else { continue };
            if cursor.is_at_end() {
                // A scan that began in the future began before the clock was set back.
                let age = now.duration_since(cursor.started()).unwrap_or(self.settings.period);
                let wait = self.settings.period.saturating_sub(age);
                if !wait.is_zero() {
                    shortest = if count == 1 { wait } else { shortest.min(wait) };
                    continue;
                }
                cursor.rewind();
            }
            tracing::info!(
                "verifies block pool {} on volume {}",
                cursor.pool_id,
                self.scanner.volume
            );
            let period_ends = cursor.started() + self.settings.period;
            (self.current, self.is_scanning) = (index, true);
            self.scanner.count(|statistics| {
                statistics.scans_since_start += 1;
                statistics.blocks_in_period = 0;
                statistics.next_scan = None;
                statistics.period_ends = Some(period_ends);
                statistics.is_at_end = false;
            });
            return Duration::ZERO;
        }
        self.scanner.count(|statistics| {
            statistics.next_scan = (count > 0).then(|| clock::now() + shortest);
            statistics.is_at_end = true;
        });
        shortest
    }

    /// Verifies the replica that the cursor has come to, unless it was read just now.
    fn visit(&mut self, node: &Arc<Node>, id: BlockId) {
        let Some(cursor) = self.cursors.get(self.current) else { return };
        let saves = cursor.since_saved() >= self.settings.cursor_save_interval;
        let pool = Arc::clone(&cursor.pool_id);
        if saves {
            self.save(self.current);
        }
        if self.settings.skips_recently_accessed && self.was_read(&pool, id) {
            return;
        }
        let block = Block { id, stamp: GenerationStamp::GRANDFATHER, len: 0 };
        self.verify(node, &ExtendedBlock { pool, block });
    }

    /// Whether the file system says that the replica was read within the period.
    fn was_read(&self, pool: &str, id: BlockId) -> bool {
        let Some(files) = self.scanner.volume.pool(pool) else { return false };
        let read = fs::metadata(files.data_path(id, Place::Finalized)).and_then(|m| m.accessed());
        let age = read.ok().and_then(|read| clock::wall().duration_since(read).ok());
        age.is_some_and(|age| age < self.settings.period)
    }

    /// Verifies a replica of this volume; its generation stamp does not matter.
    fn verify(&mut self, node: &Arc<Node>, block: &ExtendedBlock) {
        let Some(block) = self.finalized(node, block) else { return };
        let outcome = self.verify_replica(node, &block);
        let bytes = match outcome {
            Outcome::Verified(bytes) => bytes,
            _ => 0,
        };
        self.bytes.add(clock::since(self.began), bytes);
        let in_last_hour = self.bytes.sum(clock::since(self.began));
        self.scanner.count(|statistics| {
            statistics.bytes_in_last_hour = in_last_hour;
            match outcome {
                Outcome::Verified(_) => {
                    statistics.blocks_in_period += 1;
                    statistics.blocks_since_start += 1;
                }
                Outcome::Failed => statistics.errors_since_start += 1,
                Outcome::Passed => return,
            }
            statistics.last_block = Some(block);
        });
    }

    fn verify_replica(&self, node: &Arc<Node>, block: &ExtendedBlock) -> Outcome {
        let opened = match node.open_replica(block, 0) {
            Ok(opened) => opened,
            // `open_replica` recorded what is wrong with the replica, and told the NameNode.
            Err(failure) if self.finalized(node, block).is_some() => {
                tracing::info!("{block} on volume {}: {failure}", self.scanner.volume);
                return Outcome::Failed;
            }
            Err(Failure::Lost(..)) => return Outcome::Failed,
            Err(_) => return Outcome::Passed,
        };
        match self.read(&opened) {
            Ok(bytes) => Outcome::Verified(bytes),
            // An append or a deletion that came in between is no fault.
            Err(_) if self.finalized(node, block).as_ref() != Some(block) => Outcome::Passed,
            Err(error) => {
                let cause = format!("found by the block scanner: {error}");
                node.report_own_bad(block, &self.scanner.volume, &cause);
                if error.is_volume_fault() {
                    node.store.volume_checks().check(&self.scanner.volume);
                }
                Outcome::Failed
            }
        }
    }

    /// The block as it is, if its replica is a finalized one of this volume.
    fn finalized(&self, node: &Node, block: &ExtendedBlock) -> Option<ExtendedBlock> {
        let replica = node.store.pools().get(&block.pool).ok()?.get(block.block.id)?;
        if !Arc::ptr_eq(&replica.volume, &self.scanner.volume) {
            return None;
        }
        let status = replica.lock();
        let is_finalized = status.state() == ReplicaState::Finalized;
        is_finalized.then(|| ExtendedBlock { pool: Arc::clone(&block.pool), block: status.block() })
    }

    /// Reads and verifies a whole replica, no faster than the limit, and lets the page cache forget it.
    fn read(&self, opened: &Opened) -> Result<u64, zerohop_replica::Error> {
        let reader = &opened.reader;
        let step = reader.checksum().chunk_end(STEP.min(self.settings.bytes_per_second));
        let mut buffer = vec![0; usize::try_from(step.min(reader.len())).unwrap_or_default()];
        let mut offset = 0;
        while offset < reader.len() {
            let take = (reader.len() - offset).min(step);
            let part = buffer.get_mut(..take as usize).unwrap_or_default();
            reader.read_verified(offset, part)?;
            let len = NonZeroU64::new(take);
            let _is_only_advice = rustix::fs::fadvise(reader.data(), offset, len, Advice::DontNeed);
            offset += take;
            if self.scanner.stops() {
                break;
            }
            self.throttle.take(take);
        }
        Ok(offset)
    }
}

/// What became of a replica.
enum Outcome {
    /// So many bytes fit their checksums.
    Verified(u64),
    /// It is corrupt or lost.
    Failed,
    /// It is not here any more, or is being written.
    Passed,
}
