//! The threads that serve connections, where a server has threads of its own.
//!
//! Each is a runtime of one thread, and a connection stays with its thread: a call's work moves to
//! no other core, and all that one wake-up brings is done before the thread sleeps again. Runtimes
//! that share their work wake each other for every few calls, which costs more than the calls.

use parking_lot::Mutex;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream as StdStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// A connection on its way to its thread.
struct Incoming {
    stream: StdStream,
    serve: Serve,
}

type Task = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
type Serve = Box<dyn FnOnce(TcpStream) -> Task + Send>;

/// The threads; when this is dropped they close their connections and end.
pub(super) struct Readers {
    to: Vec<UnboundedSender<Incoming>>,
    next: AtomicUsize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Readers {
    /// Starts `count` threads for the server called `name`.
    pub(super) fn start(name: &str, count: usize) -> io::Result<Self> {
        let mut readers =
            Self { to: Vec::new(), next: AtomicUsize::new(0), threads: Mutex::default() };
        for _ in 0..count {
            let (sender, receiver) = unbounded_channel();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let thread = std::thread::Builder::new().name(format!("RPC reader {name}")).spawn(
                move || {
                    runtime.block_on(take_connections(receiver));
                    // A call that went to a blocking thread may still be at work there.
                    runtime.shutdown_background();
                },
            )?;
            readers.to.push(sender);
            readers.threads.lock().push(thread);
        }
        Ok(readers)
    }

    /// Gives a connection to the next thread in turn.
    pub(super) fn serve<F>(
        &self,
        stream: TcpStream,
        remote: SocketAddr,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let stream = match stream.into_std() {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!("{remote}: {error}"),
        };
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.to.len().max(1);
        let serve: Serve = Box::new(move |stream| Box::pin(serve(stream)));
        if let Some(to) = self.to.get(turn)
            && to.send(Incoming { stream, serve }).is_err()
        {
            tracing::warn!("{remote}: the server's thread has ended");
        }
    }

    /// Lets the threads end, and gives them to the caller to wait for.
    pub(super) fn close(self) -> Vec<JoinHandle<()>> {
        drop(self.to);
        self.threads.into_inner()
    }
}

async fn take_connections(mut incoming: UnboundedReceiver<Incoming>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            next = incoming.recv() => match next {
                Some(Incoming { stream, serve }) => match TcpStream::from_std(stream) {
                    Ok(stream) => _ = connections.spawn(serve(stream)),
                    Err(error) => tracing::warn!("cannot serve a connection: {error}"),
                },
                None => return,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
