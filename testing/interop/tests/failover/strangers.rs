//! Random bytes on every port of a pair's daemons.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use zerohop_interop::Outcome;

use zerohop_interop::pair::Pair;

/// The TCP ports on which a process listens, from /proc.
fn listening(pid: i32) -> Outcome<Vec<u16>> {
    let named = |error: std::io::Error| format!("/proc/{pid}: {error}");
    let mut sockets = BTreeSet::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).map_err(named)?.flatten() {
        if let Ok(to) = std::fs::read_link(entry.path())
            && let Some(inode) = to.to_string_lossy().strip_prefix("socket:[")
        {
            sockets.insert(inode.trim_end_matches(']').to_owned());
        }
    }
    let mut ports = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (Some(local), Some(state), Some(inode)) =
                (words.get(1), words.get(3), words.get(9))
            else {
                continue;
            };
            // 0A: it listens.
            if *state == "0A"
                && sockets.contains(*inode)
                && let Some((_, port)) = local.rsplit_once(':')
            {
                ports.extend(u16::from_str_radix(port, 16));
            }
        }
    }
    Ok(ports)
}

/// The daemon must close the connection.
fn disturb(port: u16, bytes: &[u8]) -> Outcome {
    let named = |error: std::io::Error| format!("port {port}: {error}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(named)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(named)?;
    // It may have closed the connection in the midst of them.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    match stream.read_to_end(&mut Vec::new()) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(format!("port {port}: the connection stays open"))
        }
        _ => Ok(()),
    }
}

/// Sends random bytes, some of them behind a good beginning; every daemon that listens must still run.
pub fn come(pair: &Pair) -> Outcome {
    let mut random = fastrand::Rng::with_seed(23);
    for (name, pid) in pair.pids.iter().filter(|(name, _)| !name.starts_with("dn")) {
        let ports = listening(*pid)?;
        if ports.is_empty() {
            return Err(format!("{name} ({pid}) listens on no port"));
        }
        for port in ports {
            for round in 0..24 {
                let mut bytes = match round % 4 {
                    0 => Vec::new(),
                    1 => b"hrpc\x09\x00\x00".to_vec(),
                    2 => b"GET /getJournal?jid=".to_vec(),
                    // A frame of a length that lies.
                    _ => b"hrpc\x09\x00\x00\x7f\xff\xff\xff".to_vec(),
                };
                bytes.extend((0..random.usize(1..2000)).map(|_| random.u8(..)));
                disturb(port, &bytes).map_err(|error| format!("{name}: {error}"))?;
            }
        }
        if !std::path::Path::new(&format!("/proc/{pid}/exe")).exists() {
            return Err(format!("{name} has ended"));
        }
    }
    Ok(())
}
