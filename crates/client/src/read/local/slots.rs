//! Slots of shared memory by which a DataNode takes replicas back, and their segments.
//!
//! A segment comes with a connection of its own: when the DataNode goes away, that connection ends
//! and every slot of the segment is made invalid here. A slot is given back over another connection,
//! on a thread of the background, because the last reader may not wait. (`DfsClientShmManager`,
//! `ShortCircuitCache.SlotReleaser`)

use super::talk::{self, NewSegment};
use crate::runtime;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use zerohop_transport::net::DataStream;
use zerohop_transport::shm;
use zerohop_wire::Slot as _;
use zerohop_wire::slot::{ShmId, SlotId};

/// Opens a connection to the DataNode.
pub(super) type Connect = dyn Fn() -> io::Result<DataStream> + Send + Sync;

/// The segments that one DataNode gave this client.
pub(super) struct Slots {
    connect: Box<Connect>,
    client_name: String,
    state: Mutex<State>,
    loaded: Condvar,
    releases: Mutex<Releases>,
}

#[derive(Default)]
struct State {
    segments: Vec<Arc<Segment>>,
    is_loading: bool,
    is_unsupported: bool,
    /// How many segments could not be had, and why not the last one.
    failures: u64,
    last_failure: Option<Failure>,
}

/// An error that several callers get.
struct Failure {
    kind: io::ErrorKind,
    number: Option<i32>,
    text: String,
}

impl Failure {
    fn of(error: &io::Error) -> Self {
        Self { kind: error.kind(), number: error.raw_os_error(), text: error.to_string() }
    }

    fn to_error(&self) -> io::Error {
        self.number.map_or_else(
            || io::Error::new(self.kind, self.text.clone()),
            io::Error::from_raw_os_error,
        )
    }
}

/// Why there is no slot.
pub(super) enum NoSlot {
    /// A segment could not be had.
    Failed(io::Error),
    /// This request waited for another thread's request for a segment, which failed.
    FailedForAnother(io::Error),
}

#[derive(Default)]
struct Releases {
    waiting: Vec<(Arc<Segment>, usize)>,
    is_running: bool,
}

struct Segment {
    id: ShmId,
    map: shm::Segment,
    /// Ends when the DataNode does.
    socket: UnixStream,
    is_gone: AtomicBool,
    taken: Mutex<Vec<bool>>,
}

impl Segment {
    fn take(&self) -> Option<usize> {
        let mut taken = self.taken.lock();
        let index = taken.iter().position(|taken| !taken)?;
        *taken.get_mut(index)? = true;
        drop(taken);
        self.map.slot(index)?.claim();
        Some(index)
    }

    fn put_back(&self, index: usize) {
        if let Some(taken) = self.taken.lock().get_mut(index) {
            *taken = false;
        }
    }

    fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    /// Marks all slots: the DataNode cannot do it any more.
    fn invalidate(&self) {
        self.is_gone.store(true, Ordering::Release);
        (0..self.map.slots()).filter_map(|i| self.map.slot(i)).for_each(|slot| slot.make_invalid());
    }

    fn end(&self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }
}

/// A slot that names a replica of ours; given back when dropped.
pub(super) struct Slot {
    segment: Arc<Segment>,
    index: usize,
    home: Weak<Slots>,
}

impl Slot {
    #[inline]
    pub(super) fn is_valid(&self) -> bool {
        self.segment.map.slot(self.index).is_some_and(|slot| slot.is_valid())
    }

    #[inline]
    pub(super) fn is_still_valid(&self) -> bool {
        self.segment.map.slot(self.index).is_some_and(|slot| slot.is_still_valid())
    }

    #[inline]
    pub(super) fn is_anchorable(&self) -> bool {
        self.segment.map.slot(self.index).is_some_and(|slot| slot.is_anchorable())
    }

    pub(super) fn anchor(&self) -> bool {
        self.segment.map.slot(self.index).is_some_and(|slot| slot.add_anchor())
    }

    pub(super) fn unanchor(&self) {
        if let Some(slot) = self.segment.map.slot(self.index) {
            slot.remove_anchor();
        }
    }

    pub(super) fn id(&self) -> SlotId {
        SlotId { shm: self.segment.id, index: self.index as i32 }
    }

    /// Frees a slot that the DataNode did not register.
    pub(super) fn never_used(mut self) {
        self.home = Weak::new();
        self.segment.put_back(self.index);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            home.give_back(Arc::clone(&self.segment), self.index);
        }
    }
}

impl Slots {
    pub(super) fn new(connect: Box<Connect>, client_name: String) -> Arc<Self> {
        Arc::new(Self {
            connect,
            client_name,
            state: Mutex::default(),
            loaded: Condvar::new(),
            releases: Mutex::default(),
        })
    }

    /// A slot, of a new segment if need be; `None` where the DataNode has no segments to give.
    pub(super) fn take(self: &Arc<Self>) -> Result<Option<Slot>, NoSlot> {
        let mut state = self.state.lock();
        loop {
            state.segments.retain(|segment| !segment.is_gone());
            let found = state.segments.iter().find_map(|s| Some((Arc::clone(s), s.take()?)));
            if let Some((segment, index)) = found {
                return Ok(Some(Slot { segment, index, home: Arc::downgrade(self) }));
            }
            if state.is_unsupported {
                return Ok(None);
            }
            if state.is_loading {
                let failures = state.failures;
                self.loaded.wait(&mut state);
                // All callers that waited for it get the failure: a DataNode that hangs costs each of them one
                // timeout, not one for each caller before it.
                if state.failures != failures
                    && let Some(failure) = &state.last_failure
                {
                    return Err(NoSlot::FailedForAnother(failure.to_error()));
                }
                continue;
            }
            state.is_loading = true;
            let made = MutexGuard::unlocked(&mut state, || self.load());
            state.is_loading = false;
            // They wake when this one lets go of the state.
            self.loaded.notify_all();
            match made {
                Ok(NewSegmentOf::Made(segment)) => state.segments.push(segment),
                Ok(NewSegmentOf::Unsupported) => state.is_unsupported = true,
                Ok(NewSegmentOf::Failed) => return Ok(None),
                Err(error) => {
                    state.failures += 1;
                    state.last_failure = Some(Failure::of(&error));
                    return Err(NoSlot::Failed(error));
                }
            }
        }
    }

    fn load(self: &Arc<Self>) -> io::Result<NewSegmentOf> {
        let socket = (self.connect)()?;
        match talk::request_segment(&socket, &self.client_name)? {
            NewSegment::Made(id, map) => {
                let taken = Mutex::new(vec![false; map.slots()]);
                let is_gone = AtomicBool::new(false);
                let runtime = runtime::background().map_err(io::Error::other)?;
                let socket = {
                    let _context = runtime.enter();
                    let socket = StdStream::from(OwnedFd::from(socket));
                    socket.set_nonblocking(true)?;
                    UnixStream::from_std(socket)?
                };
                let segment = Arc::new(Segment { id, map, socket, is_gone, taken });
                self.watch(&segment, &runtime);
                Ok(NewSegmentOf::Made(segment))
            }
            NewSegment::Unsupported(why) => {
                tracing::info!("no shared memory segments from this DataNode: {why}");
                Ok(NewSegmentOf::Unsupported)
            }
            NewSegment::Failed(why) => {
                tracing::warn!("the DataNode could not make a shared memory segment: {why}");
                Ok(NewSegmentOf::Failed)
            }
        }
    }

    /// Waits in the background for the end of a segment's connection.
    fn watch(self: &Arc<Self>, segment: &Arc<Segment>, runtime: &Handle) {
        let (segment, home) = (Arc::clone(segment), Arc::downgrade(self));
        runtime.spawn(async move {
            wait_for_end(&segment.socket).await;
            segment.invalidate();
            if let Some(home) = home.upgrade() {
                let mut state = home.state.lock();
                state.segments.retain(|known| !Arc::ptr_eq(known, &segment));
                state.is_unsupported = false;
            }
        });
    }

    fn give_back(self: &Arc<Self>, segment: Arc<Segment>, index: usize) {
        if segment.is_gone() {
            return;
        }
        let mut releases = self.releases.lock();
        releases.waiting.push((segment, index));
        if releases.is_running {
            return;
        }
        if let Ok(runtime) = runtime::background() {
            releases.is_running = true;
            let home = Arc::clone(self);
            runtime.spawn_blocking(move || home.release_all());
        }
    }

    fn release_all(&self) {
        let mut socket = None;
        loop {
            let next = {
                let mut releases = self.releases.lock();
                let next = releases.waiting.pop();
                releases.is_running = next.is_some();
                next
            };
            let Some((segment, index)) = next else { return };
            self.release(&segment, index, &mut socket);
        }
    }

    /// If a slot cannot be given back, its whole segment is: what the DataNode holds is unknown then.
    fn release(&self, segment: &Arc<Segment>, index: usize, socket: &mut Option<DataStream>) {
        let id = SlotId { shm: segment.id, index: index as i32 };
        let mut released = match socket.take() {
            Some(kept) => talk::release(&kept, id).map(|()| kept),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        if released.is_err() && !segment.is_gone() {
            released = (self.connect)().and_then(|fresh| talk::release(&fresh, id).map(|()| fresh));
        }
        match released {
            Ok(kept) => {
                *socket = Some(kept);
                segment.put_back(index);
                self.drop_empty();
            }
            Err(error) if !segment.is_gone() => {
                tracing::warn!(
                    "{id} could not be released, its segment is closed (the DataNode may have been \
                     stopped or restarted): {error}"
                );
                segment.end();
            }
            Err(_) => {}
        }
    }

    /// Ends segments without a taken slot, but for the last one.
    fn drop_empty(&self) {
        let mut state = self.state.lock();
        while state.segments.len() > 1 {
            let is_empty = |segment: &Arc<Segment>| !segment.taken.lock().contains(&true);
            let Some(at) = state.segments.iter().position(is_empty) else { return };
            state.segments.swap_remove(at).end();
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.state.get_mut().segments.iter().for_each(|segment| segment.end());
    }
}

enum NewSegmentOf {
    Made(Arc<Segment>),
    Unsupported,
    Failed,
}

/// The DataNode sends nothing on this connection: if anything can be read, the connection has ended.
async fn wait_for_end(socket: &UnixStream) {
    while socket.readable().await.is_ok() {
        match socket.try_read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return,
        }
    }
}
