//! Small calls over loopback TCP, a thread on either side: what no server of one thread undercuts.

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Instant;

/// As long as the frames of a call about a path, and of its answer.
const REQUEST_LEN: usize = 180;
const ANSWER_LEN: usize = 120;

/// What a small call costs without any checks.
#[derive(Clone, Copy, Debug)]
pub struct SmallCalls {
    /// Calls over all connections.
    pub per_second: f64,
    /// CPU time of the answering thread for each call, microseconds.
    pub server_us: f64,
    /// CPU time of the calling thread for each call, microseconds.
    pub client_us: f64,
}

/// Makes `count` calls over `connections`, each with one in flight: one receive and one send a call
/// on either side, and as few waits as there can be.
pub fn small_calls(connections: usize, count: usize) -> io::Result<SmallCalls> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (mut callers, mut answerers) = (Vec::new(), Vec::new());
    for _ in 0..connections.max(1) {
        callers.push(prepared(TcpStream::connect(listener.local_addr()?)?)?);
        answerers.push(prepared(listener.accept()?.0)?);
    }
    std::thread::scope(|scope| {
        let server = scope.spawn(move || answer_all(answerers));
        let (begun, used_us) = (Instant::now(), cpu_us());
        call_all(callers, count)?;
        let (took, client_us) = (begun.elapsed(), cpu_us() - used_us);
        let server_us = match server.join() {
            Ok(server_us) => server_us?,
            Err(died) => std::panic::resume_unwind(died),
        };
        let each = |us: f64| us / count.max(1) as f64;
        Ok(SmallCalls {
            per_second: count as f64 / took.as_secs_f64(),
            server_us: each(server_us),
            client_us: each(client_us),
        })
    })
}

fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// CPU time of this thread.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Connections, and how many bytes of the next message each has got.
struct Connections {
    streams: Vec<(TcpStream, usize)>,
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Connections {
    fn new(streams: Vec<TcpStream>) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (number, stream) in streams.iter().enumerate() {
            let data = EventData::new_u64(number as u64);
            epoll::add(&epoll, stream, data, EventFlags::IN | EventFlags::ET)?;
        }
        let streams = streams.into_iter().map(|stream| (stream, 0)).collect();
        Ok(Self { streams, epoll, events: Vec::with_capacity(64) })
    }

    /// Waits, and gives `take` each connection that has a whole message of `len` bytes; it says
    /// whether to go on. False too when every connection has ended.
    fn turn(
        &mut self,
        len: usize,
        mut take: impl FnMut(&mut TcpStream) -> io::Result<bool>,
    ) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        rustix::io::retry_on_intr(|| {
            self.events.clear();
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), None)
        })?;
        for event in &self.events {
            let number = event.data.u64() as usize;
            let Some((stream, got)) = self.streams.get_mut(number) else { continue };
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(read) => *got += read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            }
            if *got >= len {
                *got -= len;
                if !take(stream)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Until a caller closes; the CPU time it took, microseconds.
fn answer_all(streams: Vec<TcpStream>) -> io::Result<f64> {
    let mut connections = Connections::new(streams)?;
    let begun_us = cpu_us();
    while connections.turn(REQUEST_LEN, |stream| {
        stream.write_all(&[1; ANSWER_LEN])?;
        Ok(true)
    })? {}
    Ok(cpu_us() - begun_us)
}

fn call_all(streams: Vec<TcpStream>, count: usize) -> io::Result<()> {
    let mut connections = Connections::new(streams)?;
    let (mut sent, mut done) = (0, 0);
    for (stream, _) in connections.streams.iter_mut().take(count) {
        stream.write_all(&[1; REQUEST_LEN])?;
        sent += 1;
    }
    while done < count {
        let goes_on = connections.turn(ANSWER_LEN, |stream| {
            done += 1;
            if sent < count {
                sent += 1;
                stream.write_all(&[1; REQUEST_LEN])?;
            }
            Ok(done < count)
        })?;
        if !goes_on && done < count {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_calls_are_answered() {
        let calls = super::small_calls(4, 1000).unwrap();
        assert!(calls.per_second > 0.0 && calls.server_us > 0.0 && calls.client_us > 0.0);
    }
}
