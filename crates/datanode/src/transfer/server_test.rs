//! The transfer port's connections: idle, half-sent, too slow, too large.

use super::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// Answers `n` zeros with the same: a request is a count in two bytes and as many more.
struct Echo;

impl Handler for Echo {
    fn wanted(&self, buffered: &[u8]) -> usize {
        match buffered.first_chunk() {
            Some(len) => 2 + usize::from(u16::from_be_bytes(*len)) * 64,
            None => 2,
        }
    }

    fn serve(&self, conn: &mut Conn, _first: bool) -> AfterOperation {
        let len = self.wanted(conn.buffered());
        assert!(conn.buffered().len() >= len, "not whole");
        conn.consume(len);
        match conn.write_all(&[7; 2]) {
            Ok(()) => AfterOperation::Keep,
            Err(_) => AfterOperation::Close,
        }
    }
}

fn request(count: u16) -> Vec<u8> {
    [&count.to_be_bytes()[..], &vec![1; usize::from(count) * 64]].concat()
}

fn answered(stream: &mut TcpStream) {
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [7; 2]);
}

fn echo(stream: &mut TcpStream) {
    stream.write_all(&request(1)).unwrap();
    answered(stream);
}

fn start(threads: &Threads, first: u64, keep_alive: Duration) -> (Server, SocketAddr) {
    let limits = IdleLimits { first: Duration::from_millis(first), keep_alive };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    (Server::start(listener, None, threads.clone(), limits, Arc::new(Echo)).unwrap(), addr)
}

fn until_idle(threads: &Threads) {
    while threads.busy() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn idle_connections_hold_no_thread_and_serve_again() {
    let threads = Threads::new("t", 64);
    let (mut server, addr) = start(&threads, 60_000, Duration::from_secs(60));
    let mut streams: Vec<TcpStream> = (0..32).map(|_| TcpStream::connect(addr).unwrap()).collect();
    streams.iter_mut().for_each(echo);
    until_idle(&threads);
    streams.iter_mut().for_each(echo);
    server.stop();
    assert_eq!(streams[0].read(&mut [0]).unwrap_or(0), 0);
}

/// A stranger who sent half a request held a thread until its time-out.
#[test]
fn a_half_sent_request_holds_no_thread_and_is_served_when_whole() {
    let threads = Threads::new("t", 64);
    let (mut server, addr) = start(&threads, 60_000, Duration::from_secs(60));
    let request = request(300);
    let (half, rest) = request.split_at(9000);
    let mut streams: Vec<TcpStream> = (0..32).map(|_| TcpStream::connect(addr).unwrap()).collect();
    for stream in &mut streams {
        stream.write_all(half).unwrap();
    }
    // Not yet accepted is not busy either: the next connection is accepted after them.
    echo(&mut TcpStream::connect(addr).unwrap());
    until_idle(&threads);
    for stream in &mut streams {
        stream.write_all(&rest[..1]).unwrap();
    }
    for stream in &mut streams {
        stream.write_all(&rest[1..]).unwrap();
        answered(stream);
        echo(stream);
    }
    server.stop();
}

/// Bytes that come one by one give a request no more time.
#[test]
fn a_request_that_never_ends_is_closed_in_time() {
    let threads = Threads::new("t", 4);
    let (mut server, addr) = start(&threads, 2000, Duration::from_secs(60));
    let mut stream = TcpStream::connect(addr).unwrap();
    echo(&mut stream);
    let since = Instant::now();
    stream.write_all(&request(1000)[..5]).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    while !matches!(stream.read(&mut [0]), Ok(0)) && stream.write_all(&[1]).is_ok() {
        assert!(since.elapsed() < Duration::from_secs(20), "not closed");
    }
    assert!(since.elapsed() >= Duration::from_millis(2000));
    server.stop();
}

/// What is announced takes no memory, and what is sent not without a bound.
#[test]
fn half_sent_requests_take_bounded_memory() {
    let threads = Threads::new("t", 64);
    let (mut server, addr) = start(&threads, 60_000, Duration::from_secs(60));
    let half = &request(60_000)[..3_000_000];
    let mut streams: Vec<TcpStream> = Vec::new();
    for _ in 0..12 {
        let mut stream = TcpStream::connect(addr).unwrap();
        // It may be closed in the midst of it.
        let _ = stream.write_all(half);
        streams.push(stream);
    }
    let closed = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let error = stream.read(&mut [0]).map_err(|error| error.kind());
        !matches!(error, Err(io::ErrorKind::WouldBlock))
    };
    let since = Instant::now();
    while !streams.iter_mut().any(closed) {
        assert!(since.elapsed() < Duration::from_secs(20), "all are kept");
    }
    echo(&mut TcpStream::connect(addr).unwrap());
    server.stop();
}

#[test]
fn an_idle_connection_is_closed_in_time() {
    let threads = Threads::new("t", 4);
    let (mut server, addr) = start(&threads, 60_000, Duration::from_millis(30));
    let mut stream = TcpStream::connect(addr).unwrap();
    echo(&mut stream);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    server.stop();
}
