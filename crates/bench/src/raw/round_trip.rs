//! A request and its answer through loopback TCP.

use crate::measure::{Latencies, Percentiles};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Sends `request_len` bytes and waits for `answer_len`, `count` times.
pub fn round_trip(request_len: usize, answer_len: usize, count: usize) -> io::Result<Percentiles> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    std::thread::scope(|scope| {
        scope.spawn(move || answer(server, request_len, answer_len));
        let (request, mut reply) = (vec![1; request_len], vec![0; answer_len]);
        let mut all = Latencies::default();
        for _ in 0..count {
            all.time(|| {
                client.write_all(&request)?;
                client.read_exact(&mut reply)
            })?;
        }
        drop(client);
        Ok(all.percentiles())
    })
}

/// Until the other end closes.
fn answer(mut stream: TcpStream, request_len: usize, answer_len: usize) {
    let (mut request, reply) = (vec![0; request_len], vec![1; answer_len]);
    while stream.read_exact(&mut request).and_then(|()| stream.write_all(&reply)).is_ok() {}
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_request_is_answered() {
        let times = super::round_trip(4096, 40, 100).unwrap();
        assert!(times.p50_us > 0.0 && times.p50_us <= times.p99_us);
    }
}
