//! Directories of edits where the edits are shared: copies of what the shared journal has, written behind it.
//!
//! An answer leaves when the shared journal has its edit, and a thread here brings it to the directories a few milliseconds after. That is
//! safe because the shared journal alone is the edit log: every NameNode reads edits from it and from nowhere else, also after a
//! crash and when it becomes active, so that an edit which a directory lacks is lost to nobody. The order stays what it was:
//! a directory never has an edit that the shared journal may not have. What a directory may lack after a crash are the last
//! batches, as it lacks all of the terms of other NameNodes. Directories that are required
//! (`dfs.namenode.edits.dir.required`) are no copies in this sense: an answer waits for them.

use super::member::{Member, Usability, append_to_all};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use zerohop_journal::log::Batch;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Batches that may wait for a slow disk; then answers wait for it, too.
const WAITING_MAX: usize = 16;

/// Batches are written together up to this size.
const TOGETHER_MAX: usize = 4 << 20;

/// A batch waits so long for others behind it. No answer waits for it, and where JournalNodes share a disk with the directories, each
/// sync here delays theirs.
const TOGETHER_WITHIN: Duration = Duration::from_millis(5);

/// Journals that are written by a thread of their own.
pub(super) struct Copies {
    usabilities: Vec<Arc<dyn Usability>>,
    /// None when the thread is to end.
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread has to do, in order.
enum Order {
    Take(Vec<Member>),
    Begin(TxId, Sender<()>),
    Append(Records),
    Finalize(TxId, Sender<()>),
}

struct Records {
    first: TxId,
    count: u32,
    bytes: Vec<u8>,
}

impl Copies {
    /// Starts the thread; gives the members back where none can be started.
    pub fn start(members: Vec<Member>) -> Result<Self, Vec<Member>> {
        let (orders, receiver) = sync_channel(WAITING_MAX);
        let thread = std::thread::Builder::new().name("edit-log copies".to_owned());
        let Ok(thread) = thread.spawn(move || carry_out(&receiver)) else { return Err(members) };
        let usabilities = members.iter().map(|member| member.usability.clone()).collect();
        let copies = Self { usabilities, orders: Some(orders), thread: Some(thread) };
        copies.order(Order::Take(members));
        Ok(copies)
    }

    /// How many have not failed, as far as is known.
    pub fn used(&self) -> usize {
        self.usabilities.iter().filter(|it| it.failure().is_none()).count()
    }

    /// Why one of them is not used.
    pub fn failure(&self) -> Option<String> {
        self.usabilities.iter().find_map(|it| it.failure())
    }

    /// Begins a segment in each of them; it has begun or they have failed when this returns.
    pub fn begin(&self, first: TxId) {
        self.order_and_wait(|done| Order::Begin(first, done));
    }

    /// Has records written soon.
    pub fn append(&self, batch: &Batch<'_>) {
        let Batch { first, count, records } = *batch;
        self.order(Order::Append(Records { first, count, bytes: records.to_vec() }));
    }

    /// Finalizes the segment; all records are durable, or the journals have failed, when this returns.
    pub fn finalize(&self, last: TxId) {
        self.order_and_wait(|done| Order::Finalize(last, done));
    }

    fn order_and_wait(&self, order: impl FnOnce(Sender<()>) -> Order) {
        let (done, wait) = channel();
        self.order(order(done));
        // An error: the thread panicked, and what it wrote is not complete.
        if wait.recv().is_err() {
            self.fail();
        }
    }

    fn order(&self, order: Order) {
        let is_taken = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        if !is_taken {
            self.fail();
        }
    }

    fn fail(&self) {
        let used = self.usabilities.iter().filter(|it| it.failure().is_none());
        used.for_each(|it| it.drop_journal(&zerohop_journal::JournalError::GivenUp));
    }
}

impl Drop for Copies {
    /// What was ordered is done.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn carry_out(orders: &Receiver<Order>) {
    let mut members = Vec::new();
    let mut next = None;
    while let Some(order) = next.take().or_else(|| orders.recv().ok()) {
        match order {
            Order::Take(taken) => members = taken,
            Order::Begin(first, done) => {
                members.iter_mut().filter(|it| it.is_used()).for_each(|it| it.begin(first));
                _ = done.send(());
            }
            Order::Append(mut records) => {
                next = gather(&mut records, orders);
                let Records { first, count, bytes } = &records;
                append_to_all(
                    &mut members,
                    &Batch { first: *first, count: *count, records: bytes },
                );
            }
            Order::Finalize(last, done) => {
                members.iter_mut().for_each(|it| it.finalize(last));
                _ = done.send(());
            }
        }
    }
}

/// Adds the records that come soon behind these: one sync for all. What is to be done after them.
fn gather(records: &mut Records, orders: &Receiver<Order>) -> Option<Order> {
    let until = clock::now() + TOGETHER_WITHIN;
    while records.bytes.len() < TOGETHER_MAX {
        match orders.recv_timeout(until.saturating_duration_since(clock::now())).ok()? {
            Order::Append(more) => {
                records.count += more.count;
                records.bytes.extend_from_slice(&more.bytes);
            }
            other => return Some(other),
        }
    }
    None
}
