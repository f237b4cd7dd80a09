//! Files that clients of both kinds write and read while the active NameNode changes.

use std::path::Path;

use zerohop_interop::Kind::{Apache, Ours};
use zerohop_interop::driver::Driver;
use zerohop_interop::{Outcome, content};

const BLOCK: &str = "1048576";
/// Bytes written before the active NameNode changes, and after that: across the end of a block.
const BEFORE: u64 = 300_000;
const AFTER: u64 = 800_000;
const APPENDED: u64 = 1_000;

/// A file that is closed.
struct File {
    path: String,
    seed: u64,
    len: u64,
}

/// The clients and what they have written.
pub struct Files {
    clients: [Driver; 2],
    closed: Vec<File>,
    /// The files being written, one of each client.
    open: Vec<File>,
    made: u64,
}

impl Files {
    /// Clients with the configuration `conf`; their logs are beside it.
    pub fn start(conf: &Path) -> Outcome<Self> {
        let client = |kind, name: &str| Driver::start(kind, conf, &conf.with_file_name(name), &[]);
        let clients = [client(Apache, "driver-apache.log")?, client(Ours, "driver-ours.log")?];
        Ok(Self { clients, closed: Vec::new(), open: Vec::new(), made: 0 })
    }

    /// Each client begins a file, and flushes what it has written.
    pub fn begin(&mut self) -> Outcome {
        for client in &mut self.clients {
            self.made += 1;
            let seed = self.made;
            let path = format!("/data/f{seed}");
            client.ok(&["create", "w", &path, "2", BLOCK, "true"])?;
            client.ok(&["write", "w", &BEFORE.to_string(), &seed.to_string()])?;
            client.ok(&["hflush", "w"])?;
            self.open.push(File { path, seed, len: BEFORE });
        }
        Ok(())
    }

    /// Each client reads what both have flushed: the NameNode that is active now knows where it is.
    pub fn read_flushed(&mut self) -> Outcome {
        for file in &self.open {
            let wanted = [file.len.to_string(), content::crc(file.seed, 0, file.len)];
            for client in &mut self.clients {
                client.gives(&["read", &file.path, "0", &wanted[0]], &[&wanted[0], &wanted[1]])?;
            }
        }
        Ok(())
    }

    /// Each client goes on and closes its file, then appends to one that the other one wrote; both read all, and find the same
    /// checksums.
    pub fn finish(&mut self) -> Outcome {
        for (client, mut file) in self.clients.iter_mut().zip(self.open.drain(..)) {
            client.ok(&["write", "w", &AFTER.to_string(), &file.seed.to_string()])?;
            client.ok(&["hsync", "w"])?;
            client.ok(&["close", "w"])?;
            file.len += AFTER;
            self.closed.push(file);
        }
        let last_two = self.closed.len() - 2;
        for (client, file) in self.clients.iter_mut().zip(self.closed[last_two..].iter_mut().rev())
        {
            client.ok(&["append", "a", &file.path])?;
            client.ok(&["write", "a", &APPENDED.to_string(), &file.seed.to_string()])?;
            client.ok(&["close", "a"])?;
            file.len += APPENDED;
        }
        for file in &self.closed {
            let wanted = [file.len.to_string(), content::crc(file.seed, 0, file.len)];
            let mut sums = Vec::new();
            for client in &mut self.clients {
                client.gives(&["read", &file.path, "0", "-1"], &[&wanted[0], &wanted[1]])?;
                sums.push(client.ok(&["checksum", &file.path])?);
            }
            if sums[0] != sums[1] {
                return Err(format!("{}: checksums {sums:?}", file.path));
            }
        }
        Ok(())
    }
}
