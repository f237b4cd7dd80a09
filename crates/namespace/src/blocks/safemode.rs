//! Safe mode: after a start nothing changes until enough blocks were reported.

use super::map::Slot;
use super::params::BlockParams;
use super::types::Now;
use roaring::RoaringBitmap;
use zerohop_wire::GenerationStamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Too few blocks or DataNodes are known.
    PendingThreshold,
    /// Enough are; until this instant of the steady clock more may come.
    Extension(u64),
    Off,
}

/// The state of safe mode at start-up, and the one an operator asked for.
#[derive(Clone, Debug)]
pub struct SafeMode {
    phase: Phase,
    /// An operator entered safe mode: only an operator ends it.
    manual: bool,
    /// There is too little room for edits.
    low_on_resources: bool,
    threshold: f32,
    min_datanodes: u32,
    extension_ms: u64,
    replication_min: usize,
    total: u64,
    /// Blocks that count as safe, while the safe mode of the start lasts.
    safe: RoaringBitmap,
    live_nodes: u32,
    now_ms: u64,
    /// The last stamp the namespace gave out before this start.
    last_stamp: GenerationStamp,
    /// Bytes of reported blocks that no file has and whose stamps are later than that: an old image was put back, and
    /// they would be deleted.
    future_bytes: u64,
}

/// How far the safe mode of the start is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SafeModeFigures {
    /// Blocks of closed files.
    pub total: u64,
    /// Those of them that have enough replicas; 0 when the start is over.
    pub safe: u64,
    /// How many of them must have.
    pub needed: u64,
    /// DataNodes that must send heartbeats.
    pub nodes_needed: u32,
    /// The safe mode of the start still lasts.
    pub is_starting: bool,
    /// An operator entered it.
    pub is_manual: bool,
    /// There is too little room for edits.
    pub is_low_on_resources: bool,
}

impl SafeMode {
    /// How far the safe mode of the start is.
    pub fn figures(&self) -> SafeModeFigures {
        SafeModeFigures {
            total: self.total,
            safe: self.safe.len(),
            needed: self.needed(),
            nodes_needed: self.min_datanodes,
            is_starting: self.is_starting(),
            is_manual: self.manual,
            is_low_on_resources: self.low_on_resources,
        }
    }

    pub(super) fn new(params: &BlockParams) -> Self {
        Self {
            phase: Phase::PendingThreshold,
            manual: false,
            low_on_resources: false,
            threshold: params.safemode_threshold,
            min_datanodes: params.safemode_min_datanodes,
            extension_ms: params.safemode_extension_ms,
            replication_min: usize::from(params.safemode_replication_min),
            total: 0,
            safe: RoaringBitmap::new(),
            live_nodes: 0,
            now_ms: 0,
            last_stamp: GenerationStamp(0),
            future_bytes: 0,
        }
    }

    /// Whether changes are refused now.
    pub fn is_on(&self) -> bool {
        self.manual || self.low_on_resources || self.is_starting()
    }

    /// Whether the safe mode of the start-up still lasts.
    pub fn is_starting(&self) -> bool {
        self.phase != Phase::Off
    }

    /// Whether an operator turned it on.
    pub fn is_manual(&self) -> bool {
        self.manual
    }

    pub(super) fn start(&mut self, complete_blocks: u64, last_stamp: GenerationStamp, now: Now) {
        (self.total, self.last_stamp) = (complete_blocks, last_stamp);
        self.now_ms = now.mono_ms;
        self.check();
    }

    fn needed(&self) -> u64 {
        (self.total as f32 * self.threshold) as u64
    }

    fn thresholds_met(&self) -> bool {
        self.safe.len() >= self.needed() && self.live_nodes >= self.min_datanodes
    }

    /// Goes on to the next phase if its conditions hold.
    pub(super) fn check(&mut self) {
        match self.phase {
            Phase::PendingThreshold
                if self.thresholds_met() && self.total > 0 && self.extension_ms > 0 =>
            {
                self.phase = Phase::Extension(self.now_ms + self.extension_ms);
            }
            _ if self.future_bytes > 0 => {}
            Phase::PendingThreshold if self.thresholds_met() => self.phase = Phase::Off,
            Phase::Extension(until) if self.now_ms >= until && self.thresholds_met() => {
                self.phase = Phase::Off
            }
            _ => {}
        }
    }

    /// Blocks that are newer than the namespace are no reason to stay in safe mode: the metadata was rolled back
    /// (`BlockManagerSafeMode.inRollBack`). To be called before any report is taken in.
    pub fn expect_newer_blocks(&mut self) {
        self.last_stamp = GenerationStamp(i64::MAX);
    }

    /// A standby has applied an edit: a replica with this stamp is not newer than the metadata, even if its file is gone since.
    pub(super) fn metadata_reached(&mut self, stamp: GenerationStamp) {
        self.last_stamp = self.last_stamp.max(stamp);
    }

    pub(super) fn is_in_future(&self, stamp: GenerationStamp) -> bool {
        stamp > self.last_stamp
    }

    pub(super) fn add_future(&mut self, bytes: u64) {
        if self.future_bytes == 0 && bytes > 0 {
            tracing::error!(
                "DataNodes report blocks that are newer than the metadata: safe mode will not end by itself. Restart with \
                 the right image and edit logs, or have the blocks deleted with \"hdfs dfsadmin -safemode forceExit\""
            );
        }
        self.future_bytes = self.future_bytes.saturating_add(bytes);
    }

    pub(super) fn remove_future(&mut self, bytes: u64) {
        self.future_bytes = self.future_bytes.saturating_sub(bytes);
    }

    /// Bytes of blocks that are newer than the namespace, as reported since the start.
    pub fn bytes_in_future(&self) -> u64 {
        self.future_bytes
    }

    /// Takes the time and the number of live DataNodes for the next [`SafeMode::check`].
    pub(super) fn set_figures(&mut self, now: Now, live_nodes: u32) {
        self.now_ms = now.mono_ms;
        self.live_nodes = live_nodes;
    }

    /// A complete block has this many readable replicas now. A report is taken in as a whole before [`SafeMode::check`] may
    /// end safe mode: the rest of it may tell that the metadata is too old.
    pub(super) fn replicas_changed(&mut self, slot: Slot, readable: usize) {
        if !self.is_starting() {
            return;
        }
        if readable < self.replication_min {
            self.safe.remove(slot);
        } else {
            self.safe.insert(slot);
        }
    }

    /// A block that was being written is complete.
    pub(super) fn block_completed(&mut self) {
        self.total += u64::from(self.is_starting());
    }

    /// A complete block is gone, or is written again.
    pub(super) fn block_removed(&mut self, slot: Slot) {
        if self.is_starting() {
            self.total = self.total.saturating_sub(1);
            self.safe.remove(slot);
        }
    }

    /// An operator turns it on.
    pub fn enter(&mut self) {
        self.manual = true;
    }

    /// Whether there is too little room for edits, which is one of the reasons for safe mode.
    pub fn is_low_on_resources(&self) -> bool {
        self.low_on_resources
    }

    /// Turns it on because there is too little room for edits; off again, if nothing else keeps it on.
    pub fn set_low_on_resources(&mut self, low: bool) {
        self.low_on_resources = low;
    }

    /// An operator turns it off, at start-up too. False, and nothing changes, if blocks that are newer than the namespace
    /// would be deleted then; `force` has that done.
    #[must_use]
    pub fn leave(&mut self, force: bool) -> bool {
        if self.future_bytes > 0 && !force {
            return false;
        }
        self.future_bytes = 0;
        self.manual = false;
        self.low_on_resources = false;
        self.phase = Phase::Off;
        true
    }

    /// The text that `SafeModeException` and the web page show after "Safe mode is ON.".
    pub fn tip(&self) -> String {
        if self.low_on_resources {
            // The missing blank is Apache's.
            return "Resources are low on NN. Please add or free up more resourcesthen turn off safe mode manually. NOTE:  If you \
                    turn off safe mode before adding resources, the NN will immediately return to safe mode. Use \"hdfs \
                    dfsadmin -safemode leave\" to turn safe mode off."
                .into();
        }
        if self.manual {
            return "It was turned on manually. Use \"hdfs dfsadmin -safemode leave\" to turn safe mode off.".into();
        }
        let blocks_met = self.safe.len() >= self.needed();
        let mut tip = self.blocks_tip(blocks_met);
        tip.push_str(&self.nodes_tip(blocks_met));
        if self.future_bytes > 0 {
            tip.push_str(&self.future_tip());
            return tip;
        }
        match self.phase {
            Phase::PendingThreshold => {
                tip.push_str("Safe mode will be turned off automatically once the thresholds have been reached.");
            }
            Phase::Extension(until) => {
                let seconds = (until as i64 - self.now_ms as i64) / 1000;
                tip.push_str(
                    "In safe mode extension. Safe mode will be turned off automatically in ",
                );
                tip.push_str(&format!("{seconds} seconds."));
            }
            Phase::Off => tip.push_str("Safe mode will be turned off automatically soon."),
        }
        tip
    }

    fn future_tip(&self) -> String {
        format!(
            "Name node detected blocks with generation stamps in future. This means that Name node metadata is \
             inconsistent. This can happen if Name node metadata files have been manually replaced. Exiting safe mode will \
             cause loss of {} byte(s). Please restart name node with right metadata or use \"hdfs dfsadmin -safemode \
             forceExit\" if you are certain that the NameNode was started with the correct FsImage and edit logs. If you \
             encountered this during a rollback, it is safe to exit with -safemode forceExit.",
            self.future_bytes
        )
    }

    fn blocks_tip(&self, met: bool) -> String {
        let Self { total, threshold, .. } = self;
        let safe = self.safe.len();
        if met {
            format!(
                "The reported blocks {safe} has reached the threshold {threshold:.4} of total blocks {total}. "
            )
        } else {
            let missing = self.needed().saturating_sub(safe);
            format!(
                "The reported blocks {safe} needs additional {missing} blocks to reach the threshold {threshold:.4} of \
                 total blocks {total}.\n"
            )
        }
    }

    fn nodes_tip(&self, blocks_met: bool) -> String {
        let Self { live_nodes: live, min_datanodes: min, .. } = self;
        if *min == 0 {
            "The minimum number of live datanodes is not required. ".into()
        } else if !blocks_met {
            "The number of live datanodes is not calculated since reported blocks hasn't reached the threshold. ".into()
        } else if live < min {
            let missing = min - live;
            format!(
                "The number of live datanodes {live} needs an additional {missing} live datanodes to reach the minimum \
                 number {min}.\n"
            )
        } else {
            format!("The number of live datanodes {live} has reached the minimum number {min}. ")
        }
    }
}
