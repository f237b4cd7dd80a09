//! The transfer port: accepts connections, parks the idle ones, hands the others to threads.
//!
//! A kept-alive connection that waits for its next operation holds no thread: it lies in a map here
//! and one poller watches all of them. A thread lingers a moment on its connection after an
//! operation, so a client that sends one request after the other pays no hand-over.

use super::conn::Conn;
use super::domain_port::DomainPort;
use super::threads::Threads;
use parking_lot::Mutex;
use polling::{Event, Events, PollMode, Poller};
use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zerohop_transport::net::Unpaced;
use zerohop_transport::rarely::Rarely;

/// How long a thread stays with its connection before it parks it.
const LINGER: Duration = Duration::from_millis(20);
/// How often deadlines of parked connections are looked at, while there are any.
const TICK: Duration = Duration::from_millis(500);
const TCP_KEY: usize = 0;
const DOMAIN_KEY: usize = 1;

/// What becomes of a connection after an operation.
pub(crate) enum Next {
    /// It waits for the next one.
    Keep,
    /// It is closed.
    Close,
    /// It serves no more operations; what is given here is dropped when the other end closes it.
    Hold(Box<dyn Send>),
}

/// What the server does with a connection on which bytes arrived.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Serves one operation.
    fn serve(&self, conn: &mut Conn, first: bool) -> Next;
}

/// Waiting times of connections that are between operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleLimits {
    /// For the first operation (`dfs.datanode.socket.timeout`... Hadoop's read timeout).
    pub(crate) first: Duration,
    /// Between operations (`dfs.datanode.socket.reuse.keepalive`); zero closes after each.
    pub(crate) keep_alive: Duration,
}

/// A listening transfer port.
pub(crate) struct Server {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    poller: Poller,
    parked: Mutex<Parking>,
    threads: Threads,
    handler: Arc<dyn Handler>,
    limits: IdleLimits,
    unpaced: Unpaced,
    closing: AtomicBool,
    refused: Rarely,
}

struct Parking {
    last_key: usize,
    conns: HashMap<usize, Parked>,
}

/// A connection without a thread. Dropped, it closes; what it held goes after that.
struct Parked {
    conn: Conn,
    first: bool,
    /// `None`: as long as the other end likes.
    deadline: Option<Instant>,
    held: Option<Box<dyn Send>>,
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
            parked: Mutex::new(Parking { last_key: DOMAIN_KEY, conns: HashMap::new() }),
            threads,
            handler,
            limits,
            unpaced,
            closing: AtomicBool::new(false),
            refused: Rarely::default(),
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

    /// Stops accepting and closes all parked connections; operations under way go on.
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
        let idle = domain.is_none() && shared.parked.lock().conns.is_empty();
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
    shared.close_parked();
}

/// Puts the socket file back in its place when somebody took it away.
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
            Ok(conn) => Shared::run(shared, conn, true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => {
                // Out of descriptors, or the peer was gone already: do not spin on it.
                if shared.refused.is_due() {
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
            if conn.buffered().is_empty() {
                match conn.wait_readable(LINGER) {
                    Ok(true) => {}
                    Ok(false) => return shared.park(conn, first),
                    Err(error) => return tracing::debug!("{}: {error}", conn.peer),
                }
            }
            match shared.handler.serve(&mut conn, first) {
                Next::Keep if !shared.limits.keep_alive.is_zero() => first = false,
                Next::Keep | Next::Close => return,
                Next::Hold(held) => return shared.hold(conn, held),
            }
        }
    }

    fn park(&self, conn: Conn, first: bool) {
        let wait = if first { self.limits.first } else { self.limits.keep_alive };
        let deadline = Some(Instant::now() + wait);
        self.keep(Parked { conn, first, deadline, held: None });
    }

    /// Keeps `held` until the other end closes the connection. (Bytes it should not send end it too.)
    fn hold(&self, conn: Conn, held: Box<dyn Send>) {
        if conn.buffered().is_empty() {
            self.keep(Parked { conn, first: false, deadline: None, held: Some(held) });
        }
    }

    fn keep(&self, mut conn: Parked) {
        conn.conn.shrink();
        let socket = Arc::clone(conn.conn.socket());
        let mut parked = self.parked.lock();
        if self.closing.load(Ordering::Acquire) {
            return;
        }
        parked.last_key += 1;
        let key = parked.last_key;
        let was_empty = parked.conns.is_empty();
        parked.conns.insert(key, conn);
        // SAFETY: a parked connection leaves the poller (`unpark`) before its socket is dropped.
        let added = unsafe { self.poller.add(&*socket, Event::readable(key)) };
        if let Err(error) = added {
            parked.conns.remove(&key);
            tracing::warn!("cannot keep an idle data connection: {error}");
        } else if was_empty {
            // The poller may wait without a timeout: let it start to watch deadlines.
            drop(self.poller.notify());
        }
    }

    fn resume(shared: &Arc<Self>, key: usize) {
        let parked = shared.parked.lock().conns.remove(&key);
        if let Some(parked) = parked {
            drop(shared.poller.delete(&**parked.conn.socket()));
            if parked.held.is_none() {
                Self::run(shared, parked.conn, parked.first);
            }
        }
    }

    fn close_overdue(&self) {
        let now = Instant::now();
        let mut parked = self.parked.lock();
        let is_overdue = |conn: &Parked| conn.deadline.is_some_and(|deadline| deadline <= now);
        let overdue: Vec<usize> =
            parked.conns.iter().filter(|(_, conn)| is_overdue(conn)).map(|(key, _)| *key).collect();
        for key in overdue {
            if let Some(parked) = parked.conns.remove(&key) {
                drop(self.poller.delete(&**parked.conn.socket()));
            }
        }
    }

    fn close_parked(&self) {
        for (_, parked) in self.parked.lock().conns.drain() {
            drop(self.poller.delete(&**parked.conn.socket()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};

    /// Answers each byte with the name of the thread count that was busy.
    struct Echo;

    impl Handler for Echo {
        fn serve(&self, conn: &mut Conn, _first: bool) -> Next {
            let Ok(byte) = conn.read_byte() else { return Next::Close };
            match conn.write_all(&[byte]) {
                Ok(()) => Next::Keep,
                Err(_) => Next::Close,
            }
        }
    }

    fn echo(stream: &mut TcpStream) {
        let mut answer = [0];
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"x");
    }

    fn start(threads: &Threads, keep_alive: Duration) -> (Server, SocketAddr) {
        let limits = IdleLimits { first: Duration::from_secs(60), keep_alive };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        (Server::start(listener, None, threads.clone(), limits, Arc::new(Echo)).unwrap(), addr)
    }

    #[test]
    fn idle_connections_hold_no_thread_and_serve_again() {
        let threads = Threads::new("t", 64);
        let (mut server, addr) = start(&threads, Duration::from_secs(60));
        let mut streams: Vec<TcpStream> =
            (0..32).map(|_| TcpStream::connect(addr).unwrap()).collect();
        streams.iter_mut().for_each(echo);
        while threads.busy() > 0 {
            std::thread::yield_now();
        }
        streams.iter_mut().for_each(echo);
        server.stop();
        assert_eq!(streams[0].read(&mut [0]).unwrap_or(0), 0);
    }

    #[test]
    fn an_idle_connection_is_closed_in_time() {
        let threads = Threads::new("t", 4);
        let (mut server, addr) = start(&threads, Duration::from_millis(30));
        let mut stream = TcpStream::connect(addr).unwrap();
        echo(&mut stream);
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        server.stop();
    }
}
