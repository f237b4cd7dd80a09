//! Bytes through a socket of this machine, from one thread to another.

use super::Scratch;
use crate::GB;
use crate::measure::{median, thread_cpu_s};
use crate::report::Row;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// How bytes are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// sendfile from a file in the page cache.
    Sendfile,
    /// write from memory.
    Write,
}

/// What the bytes go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketKind {
    /// TCP over loopback.
    Tcp,
    /// A Unix domain socket.
    Unix,
}

/// What one way of sending reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamLimit {
    /// What the bytes go through.
    pub kind: SocketKind,
    /// How it was sent.
    pub sender: Sender,
    /// Bytes of each call, both ends.
    pub buffer_len: usize,
    /// Each run.
    pub mb_per_s: Vec<f64>,
    /// CPU seconds of both ends for a gigabyte, the median of the runs.
    pub cpu_s_per_gb: f64,
}

impl StreamLimit {
    /// The median of the runs.
    pub fn median(&self) -> f64 {
        median(&self.mb_per_s)
    }

    /// As a row of the report.
    pub fn row(&self) -> Row {
        Row::new(self.name(), "MB/s", self.mb_per_s.clone()).cost(
            "both ends",
            self.cpu_s_per_gb,
            "s/GB",
        )
    }

    /// `loopback TCP sendfile, 64 KiB`.
    pub fn name(&self) -> String {
        let how = match self.sender {
            Sender::Sendfile => "sendfile to read",
            Sender::Write => "write to read",
        };
        let socket = match self.kind {
            SocketKind::Tcp => "loopback TCP",
            SocketKind::Unix => "domain socket",
        };
        format!("{socket} {how}, {} KiB", self.buffer_len / 1024)
    }
}

/// Sends `total` bytes `runs` times with one size of buffer.
pub fn stream(
    source: &Scratch,
    kind: SocketKind,
    sender: Sender,
    buffer_len: usize,
    total: u64,
    runs: usize,
) -> io::Result<StreamLimit> {
    let mut mb_per_s = Vec::with_capacity(runs);
    let mut cpu = Vec::with_capacity(runs);
    for _ in 0..runs {
        let (speed, seconds) = stream_once(source, kind, sender, buffer_len, total)?;
        mb_per_s.push(speed);
        cpu.push(seconds / (total as f64 / GB));
    }
    Ok(StreamLimit { kind, sender, buffer_len, mb_per_s, cpu_s_per_gb: median(&cpu) })
}

/// The fastest of both ways at several sizes of buffer, with all that were tried.
pub fn stream_best(
    source: &Scratch,
    kind: SocketKind,
    total: u64,
    runs: usize,
) -> io::Result<(StreamLimit, Vec<StreamLimit>)> {
    let mut tried = Vec::new();
    for sender in [Sender::Sendfile, Sender::Write] {
        for buffer_len in [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20] {
            tried.push(stream(source, kind, sender, buffer_len, total, runs)?);
        }
    }
    let faster = |a: &&StreamLimit, b: &&StreamLimit| a.median().total_cmp(&b.median());
    let best = tried.iter().max_by(faster).cloned().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((best, tried))
}

/// Megabytes a second and CPU seconds of both threads.
fn stream_once(
    source: &Scratch,
    kind: SocketKind,
    sender: Sender,
    buffer_len: usize,
    total: u64,
) -> io::Result<(f64, f64)> {
    let (sending, mut receiving) = pair(kind)?;
    std::thread::scope(|scope| {
        let start = Instant::now();
        let sent = scope.spawn(move || send(source, sending, sender, buffer_len, total));
        let received = receive(&mut receiving, buffer_len);
        let took = start.elapsed().as_secs_f64();
        let sent_cpu = sent.join().map_err(|_| io::Error::other("the sending thread died"))??;
        let (bytes, cpu) = received?;
        Ok((bytes as f64 / 1e6 / took, sent_cpu + cpu))
    })
}

/// Two connected sockets; both are files to those who only read and write.
fn pair(kind: SocketKind) -> io::Result<(File, File)> {
    let (one, other): (OwnedFd, OwnedFd) = match kind {
        SocketKind::Tcp => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let connected = TcpStream::connect(listener.local_addr()?)?;
            (listener.accept()?.0.into(), connected.into())
        }
        SocketKind::Unix => {
            let (one, other) = UnixStream::pair()?;
            (one.into(), other.into())
        }
    };
    Ok((one.into(), other.into()))
}

fn send(
    source: &Scratch,
    mut to: File,
    sender: Sender,
    buffer_len: usize,
    total: u64,
) -> io::Result<f64> {
    let before = thread_cpu_s();
    let buffer = vec![7; buffer_len];
    let (mut left, mut offset) = (total, 0);
    while left > 0 {
        let take = left.min(buffer_len as u64);
        left -= match sender {
            Sender::Write => to.write(&buffer[..take as usize])? as u64,
            Sender::Sendfile => {
                let take = take.min(source.len - offset) as usize;
                let sent = rustix::fs::sendfile(&to, &source.file, Some(&mut offset), take)?;
                if offset >= source.len {
                    offset = 0;
                }
                sent as u64
            }
        };
    }
    Ok(thread_cpu_s() - before)
}

fn receive(from: &mut File, buffer_len: usize) -> io::Result<(u64, f64)> {
    let before = thread_cpu_s();
    let mut buffer = vec![0; buffer_len];
    let mut total = 0;
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok((total, thread_cpu_s() - before)),
            read => total += read as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_every_way() {
        let directory = std::env::temp_dir();
        let source = Scratch::create(&directory, 3 << 20).unwrap();
        for (kind, sender) in [
            (SocketKind::Tcp, Sender::Sendfile),
            (SocketKind::Tcp, Sender::Write),
            (SocketKind::Unix, Sender::Sendfile),
            (SocketKind::Unix, Sender::Write),
        ] {
            let limit = stream(&source, kind, sender, 64 << 10, 8 << 20, 2).unwrap();
            assert!(limit.median() > 1.0 && limit.mb_per_s.len() == 2);
        }
    }
}
