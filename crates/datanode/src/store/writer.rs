//! The thread that writes a replica, as others can reach it.

use parking_lot::Mutex;
use std::fmt;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_transport::net::DataStream;

/// The thread that writes a replica, as others can reach it.
pub(crate) struct Writer {
    streams: Mutex<Vec<Arc<DataStream>>>,
    stopped: AtomicBool,
}

impl Writer {
    /// A writer that receives from `upstream`.
    pub(crate) fn new(upstream: Arc<DataStream>) -> Arc<Self> {
        Arc::new(Self { streams: Mutex::new(vec![upstream]), stopped: AtomicBool::new(false) })
    }

    /// Another stream the thread may wait for.
    pub(crate) fn add(&self, stream: Arc<DataStream>) {
        let mut streams = self.streams.lock();
        if self.is_stopped() {
            drop(stream.shutdown(Shutdown::Both));
        }
        streams.push(stream);
    }

    /// Cuts its connections, so that the thread ends soon.
    pub(crate) fn stop(&self) {
        let streams = self.streams.lock();
        self.stopped.store(true, Ordering::Release);
        for stream in streams.iter() {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Ends the receiving side only: the thread can still tell its client why it stops.
    pub(crate) fn stop_receiving(&self) {
        let streams = self.streams.lock();
        self.stopped.store(true, Ordering::Release);
        if let Some(upstream) = streams.first() {
            drop(upstream.shutdown(Shutdown::Read));
        }
    }

    /// Whether it was told to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer {{ stopped: {} }}", self.is_stopped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use zerohop_transport::domain::pair;

    fn stream() -> (Arc<DataStream>, impl Read) {
        let (ours, theirs) = pair().unwrap();
        (Arc::new(ours.into()), theirs)
    }

    /// A DataNode downstream that was connected to while its writer was stopped kept the thread waiting.
    #[test]
    fn a_stream_added_to_a_stopped_writer_is_cut() {
        let ((upstream, mut client), (downstream, mut below)) = (stream(), stream());
        let writer = Writer::new(upstream);
        assert!(!writer.is_stopped());
        writer.stop();
        writer.add(downstream);
        assert!(writer.is_stopped());
        let mut byte = [0];
        assert_eq!((client.read(&mut byte).unwrap(), below.read(&mut byte).unwrap()), (0, 0));
    }
}
