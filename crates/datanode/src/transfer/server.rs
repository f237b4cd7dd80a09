//! The transfer port: accepts connections, keeps the idle ones without a thread, hands the others to threads.
//!
//! A kept-alive connection that waits for its next operation holds no thread: one poller watches all
//! of these. A thread lingers a moment on its connection after an operation, so a
//! client that sends one request after the other pays no hand-over.
//!
//! Nor does a request hold a thread before it is all there: the poller's thread gathers the rest of
//! one that came in parts, within a bound of memory and time.

use super::conn::Conn;
use super::domain_port::DomainPort;
use super::idle::{IdleConn, IdleConns, IdleLimits};
use super::threads::Threads;
use parking_lot::Mutex;
use polling::{Event, Events, PollMode, Poller};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zerohop_daemon::log_limiter::LogLimiter;
use zerohop_system::clock;
use zerohop_transport::net::Unpaced;

/// How long a thread stays with its connection before it leaves it to the poller.
const LINGER: Duration = Duration::from_millis(20);
/// How many threads may linger at once; a connection beyond them is left to the poller at once.
const LINGERING_MAX: usize = 128;
/// How often deadlines of idle connections are looked at, while there are any.
const TICK: Duration = Duration::from_millis(500);
const TCP_KEY: usize = 0;
const DOMAIN_KEY: usize = 1;

/// What becomes of a connection after an operation.
pub(crate) enum AfterOperation {
    /// It waits for the next one.
    Keep,
    /// It is closed.
    Close,
    /// It serves no more operations; what is given here is dropped when the other end closes it.
    Hold(Box<dyn Send>),
}

/// What the server does with a connection on which bytes arrived.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Bytes that the request at the start of `buffered` needs at least, as far as they tell; no
    /// more than are there when it can be served (or refused).
    fn wanted(&self, buffered: &[u8]) -> usize;

    /// Serves one operation, whose request is all there.
    fn serve(&self, conn: &mut Conn, first: bool) -> AfterOperation;
}

/// A listening transfer port.
pub(crate) struct Server {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    poller: Poller,
    idle: Mutex<IdleConns>,
    threads: Threads,
    handler: Arc<dyn Handler>,
    limits: IdleLimits,
    unpaced: Unpaced,
    closing: AtomicBool,
    refused: LogLimiter,
    lingering: AtomicUsize,
}

impl Server {
    /// Starts to accept on `listener`, and on `domain` if there is one.
    pub(crate) fn start(
        listener: TcpListener,
        domain: Option<DomainPort>,
        threads: Threads,
        limits: IdleLimits,
        handler: Arc<dyn Handler>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let unpaced = Unpaced::listen((&listener).into());
        let shared = Arc::new(Shared {
            poller: Poller::new()?,
            idle: Mutex::default(),
            threads,
            handler,
            limits,
            unpaced,
            closing: AtomicBool::new(false),
            refused: LogLimiter::default(),
            lingering: AtomicUsize::new(0),
        });
        // SAFETY: listeners are deleted from the poller at the end of `accept_loop` or when they are
        // replaced, before they are dropped.
        unsafe {
            shared.poller.add_with_mode(&listener, Event::readable(TCP_KEY), PollMode::Level)?;
            if let Some(domain) = &domain {
                let event = Event::readable(DOMAIN_KEY);
                shared.poller.add_with_mode(domain.listener(), event, PollMode::Level)?;
            }
        }
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("transfer-accept".to_owned())
            .spawn(move || accept_loop(&for_thread, &listener, domain))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Stops accepting and closes all idle connections; operations under way go on.
    pub(crate) fn stop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        if let Err(error) = self.shared.poller.notify() {
            tracing::error!("cannot wake the transfer port's poller: {error}");
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn accept_loop(shared: &Arc<Shared>, tcp: &TcpListener, mut domain: Option<DomainPort>) {
    let mut events = Events::new();
    while !shared.closing.load(Ordering::Acquire) {
        events.clear();
        let idle = domain.is_none() && shared.idle.lock().is_empty();
        if let Err(error) = shared.poller.wait(&mut events, (!idle).then_some(TICK)) {
            if error.kind() != io::ErrorKind::Interrupted {
                tracing::error!("transfer port: {error}");
            }
            continue;
        }
        for event in events.iter() {
            match (event.key, &domain) {
                (TCP_KEY, _) => accept_all(shared, || accept_tcp(shared, tcp)),
                (DOMAIN_KEY, Some(domain)) => accept_all(shared, || domain.accept()),
                (key, _) => Shared::resume(shared, key),
            }
        }
        shared.close_overdue();
        if let Some(domain) = &mut domain {
            watch(shared, domain);
        }
    }
    drop(shared.poller.delete(tcp));
    if let Some(domain) = &domain {
        drop(shared.poller.delete(domain.listener()));
    }
    shared.close_idle();
}

/// Puts the socket file back in its place when it was removed.
fn watch(shared: &Shared, domain: &mut DomainPort) {
    let Some(new) = domain.look() else { return };
    drop(shared.poller.delete(domain.listener()));
    domain.replace(new);
    // SAFETY: as at the start.
    let added = unsafe {
        let event = Event::readable(DOMAIN_KEY);
        shared.poller.add_with_mode(domain.listener(), event, PollMode::Level)
    };
    if let Err(error) = added {
        tracing::error!("cannot listen at the domain socket again: {error}");
    }
}

fn accept_tcp(shared: &Shared, listener: &TcpListener) -> io::Result<Conn> {
    let (stream, _) = listener.accept()?;
    shared.unpaced.accepted((&stream).into());
    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_nodelay(true));
    if let Err(error) = ready {
        tracing::debug!("a new data connection is gone already: {error}");
    }
    Ok(Conn::new(stream.into()))
}

fn accept_all(shared: &Arc<Shared>, accept: impl Fn() -> io::Result<Conn>) {
    loop {
        match accept() {
            // No thread could linger on it, so it takes none before its request is there.
            Ok(conn) if shared.lingering.load(Ordering::Relaxed) >= LINGERING_MAX => {
                shared.keep_idle(conn, true, None);
            }
            Ok(conn) => Shared::run(shared, conn, true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => {
                // Out of descriptors, or the peer was gone already: do not spin on it.
                if shared.refused.allow() {
                    tracing::warn!("cannot accept a data connection: {error}");
                }
                std::thread::park_timeout(Duration::from_millis(10));
                break;
            }
        }
    }
}

impl Shared {
    /// Serves `conn` on a thread.
    fn run(shared: &Arc<Self>, conn: Conn, first: bool) {
        let peer = conn.peer.clone();
        let owner = Arc::clone(shared);
        if let Err(refused) = shared.threads.run(move || Self::serve(&owner, conn, first)) {
            tracing::warn!(
                "{peer}: connection closed: all {} data threads are busy \
                 (dfs.datanode.max.transfer.threads)",
                refused.limit
            );
        }
    }

    fn serve(shared: &Arc<Self>, mut conn: Conn, mut first: bool) {
        loop {
            match shared.gather_lingering(&mut conn) {
                Ok(RequestArrival::Whole) => {}
                Ok(RequestArrival::Part { begun }) => return shared.keep_idle(conn, first, begun),
                Err(error) => return tracing::debug!("{}: {error}", conn.peer),
            }
            match shared.handler.serve(&mut conn, first) {
                AfterOperation::Keep if !shared.limits.keep_alive.is_zero() => first = false,
                AfterOperation::Keep | AfterOperation::Close => return,
                AfterOperation::Hold(held) => return shared.hold(conn, held),
            }
        }
    }

    /// Waits a moment for a whole request.
    fn gather_lingering(&self, conn: &mut Conn) -> io::Result<RequestArrival> {
        if self.missing(conn) == 0 {
            return Ok(RequestArrival::Whole);
        }
        let others = self.lingering.fetch_add(1, Ordering::Relaxed);
        let patience = if others < LINGERING_MAX { LINGER } else { Duration::ZERO };
        let gathered = self.wait_for_rest(conn, patience);
        self.lingering.fetch_sub(1, Ordering::Relaxed);
        gathered
    }

    fn wait_for_rest(&self, conn: &mut Conn, patience: Duration) -> io::Result<RequestArrival> {
        // A clock is read only for a request that comes in parts: those of one segment need none.
        let mut begun = (!conn.buffered().is_empty()).then(clock::now);
        loop {
            let left = begun.map_or(patience, |begun| patience.saturating_sub(clock::since(begun)));
            if !conn.wait_readable(left)? {
                return Ok(RequestArrival::Part { begun });
            }
            if self.receive(conn)? {
                return Ok(RequestArrival::Whole);
            }
            if !conn.buffered().is_empty() {
                begun.get_or_insert_with(clock::now);
            }
        }
    }

    /// Bytes that the request at the front of the buffer lacks at least.
    fn missing(&self, conn: &Conn) -> usize {
        let buffered = conn.buffered();
        self.handler.wanted(buffered).saturating_sub(buffered.len())
    }

    /// One receive of what is there; whether the request is whole. The buffer grows with what has
    /// arrived, not with what is announced.
    fn receive(&self, conn: &mut Conn) -> io::Result<bool> {
        let has = conn.buffered().len();
        conn.reserve(has + self.missing(conn).min(has.max(1)));
        conn.fill_ready()?;
        Ok(self.missing(conn) == 0)
    }

    fn keep_idle(&self, conn: Conn, first: bool, begun: Option<Instant>) {
        let deadline = Some(self.limits.deadline(first, begun));
        self.add_idle(IdleConn { conn, first, begun, deadline, held: None });
    }

    /// Keeps `held` until the other end closes the connection. (Bytes it should not send end it too.)
    fn hold(&self, conn: Conn, held: Box<dyn Send>) {
        if conn.buffered().is_empty() {
            let held = Some(held);
            self.add_idle(IdleConn { conn, first: false, begun: None, deadline: None, held });
        }
    }

    fn add_idle(&self, mut conn: IdleConn) {
        conn.conn.shrink();
        let socket = Arc::clone(conn.conn.stream());
        let mut idle = self.idle.lock();
        if self.closing.load(Ordering::Acquire) {
            return;
        }
        let key = idle.new_key();
        let was_empty = idle.is_empty();
        if let Some(conn) = idle.insert(key, conn) {
            return self.log_too_large(&conn);
        }
        // SAFETY: an idle connection leaves the poller before its socket is dropped: the thread that takes
        // it out of `idle` deletes it there.
        let added = unsafe { self.poller.add(&*socket, Event::readable(key)) };
        if let Err(error) = added {
            idle.remove(key);
            tracing::warn!("cannot keep an idle data connection: {error}");
        } else if was_empty {
            // The poller may wait without a timeout: let it start to watch deadlines.
            drop(self.poller.notify());
        }
    }

    fn log_too_large(&self, idle_conn: &IdleConn) {
        if self.refused.allow() {
            tracing::warn!(
                "{}: connection closed: requests that are not whole take too much memory",
                idle_conn.conn.peer
            );
        }
    }

    /// Bytes have arrived on an idle connection, or its end.
    fn resume(shared: &Arc<Self>, key: usize) {
        let Some(mut idle_conn) = shared.idle.lock().remove(key) else { return };
        let received = match idle_conn.held {
            Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            None => shared.receive(&mut idle_conn.conn),
        };
        if matches!(received, Ok(false)) {
            return shared.wait_on(key, idle_conn);
        }
        drop(shared.poller.delete(&**idle_conn.conn.stream()));
        match received {
            Ok(_) => Self::run(shared, idle_conn.conn, idle_conn.first),
            Err(error) => tracing::debug!("{}: {error}", idle_conn.conn.peer),
        }
    }

    /// Keeps a connection idle whose request is still not whole.
    fn wait_on(&self, key: usize, mut idle_conn: IdleConn) {
        if idle_conn.begun.is_none() && !idle_conn.conn.buffered().is_empty() {
            idle_conn.begun = Some(clock::now());
            idle_conn.deadline = Some(self.limits.deadline(idle_conn.first, idle_conn.begun));
        }
        let socket = Arc::clone(idle_conn.conn.stream());
        let refused = self.idle.lock().insert(key, idle_conn);
        let again = match refused {
            None => self.poller.modify(&*socket, Event::readable(key)),
            Some(idle_conn) => {
                drop(self.poller.delete(&*socket));
                return self.log_too_large(&idle_conn);
            }
        };
        if let Err(error) = again {
            tracing::warn!("cannot go on with a data connection: {error}");
            drop(self.poller.delete(&*socket));
            self.idle.lock().remove(key);
        }
    }

    fn close_overdue(&self) {
        let overdue = self.idle.lock().overdue(clock::now());
        for idle_conn in overdue {
            drop(self.poller.delete(&**idle_conn.conn.stream()));
        }
    }

    fn close_idle(&self) {
        let all = self.idle.lock().drain();
        for idle_conn in all {
            drop(self.poller.delete(&**idle_conn.conn.stream()));
        }
    }
}

/// What has arrived of a request.
enum RequestArrival {
    /// All, or enough to refuse it.
    Whole,
    /// Nothing, or a part, which began then.
    Part { begun: Option<Instant> },
}

#[cfg(test)]
#[path = "server_test.rs"]
mod tests;
