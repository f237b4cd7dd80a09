//! A file open for reading.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use zerohop_wire::RemoteException;

use crate::answers::Status;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, Excluded};
use crate::http::Body;
use crate::operation::{GET_FILE_STATUS, OPEN};
use crate::query::Query;

/// Connections that may break one after the other without a byte read between them.
const FRUITLESS_MAX: usize = 3;

/// A seek by at most this number of bytes reads on instead of opening another connection.
const SKIP_MAX: u64 = 64 << 10;

/// A file open for reading.
///
/// Invariant: all bytes come from one file. Before a second connection the path is looked up again; if it now names
/// another file, the read fails.
pub struct Reader {
    exchange: Arc<Exchange>,
    path: String,
    /// The status of the file when it was opened.
    opened: Status,
    at: u64,
    body: Option<Body>,
    was_connected: bool,
    excluded: Excluded,
    fruitless: usize,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn open(exchange: Arc<Exchange>, path: &str, opened: Status) -> Result<Self> {
        if opened.kind == zerohop_wire::FileKind::Directory {
            let class = zerohop_wire::JavaException::FileNotFound.class().into();
            let message = format!("Path is not a file: {path}");
            return Err(Error::Remote(RemoteException { class, message }));
        }
        Ok(Self {
            exchange,
            path: path.to_owned(),
            opened,
            at: 0,
            body: None,
            was_connected: false,
            excluded: Excluded::new(),
            fruitless: 0,
        })
    }

    /// Sets the offset of the next read.
    pub fn seek_to(&mut self, offset: u64) {
        let ahead = offset.checked_sub(self.at).filter(|ahead| *ahead <= SKIP_MAX);
        if let (Some(ahead), Some(body)) = (ahead, &mut self.body) {
            let skipped = io::copy(&mut body.take(ahead), &mut io::sink());
            if skipped.is_ok_and(|skipped| skipped == ahead) {
                self.at = offset;
                return;
            }
        }
        if self.at != offset {
            self.body = None;
            self.at = offset;
        }
    }

    fn connect(&mut self) -> Result<Body> {
        if self.was_connected {
            self.check_same_file()?;
        }
        let query = Query::default()
            .with("buffersize", self.exchange.settings.buffer_size)
            .with("offset", self.at);
        let body = self.exchange.answer(&OPEN, &self.path, &query, &mut self.excluded)?;
        self.was_connected = true;
        Ok(body)
    }

    fn check_same_file(&self) -> Result<()> {
        let answer = self.exchange.call(&GET_FILE_STATUS, &self.path, &Query::default())?;
        let now = Status::read(crate::answers::member(&answer, "FileStatus")?)?;
        let is_same = match (now.file_id, self.opened.file_id) {
            (Some(now), Some(opened)) => now == opened,
            // HttpFS of Hadoop does not tell ids.
            _ => now.modified_ms == self.opened.modified_ms,
        };
        match is_same && now.length >= self.opened.length {
            true => Ok(()),
            false => Err(Error::Protocol(format!(
                "{}: the file was replaced or cut while it was read; read it again",
                self.path
            ))),
        }
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut body = match self.body.take() {
            Some(body) => body,
            // Servers refuse an offset after the end.
            None if self.is_at_end() => return Ok(0),
            None => self.connect().map_err(io::Error::other)?,
        };
        let read = body.read(buffer);
        match read {
            Ok(0) if !self.is_at_end() => {
                self.excluded.push(body.authority().to_owned());
                let problem = "the answer ends before the file does";
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem))
            }
            Ok(count) => {
                self.body = Some(body);
                Ok(count)
            }
            Err(error) => {
                self.excluded.push(body.authority().to_owned());
                Err(error)
            }
        }
    }

    fn is_at_end(&self) -> bool {
        self.at >= u64::try_from(self.opened.length).unwrap_or(0)
    }
}

impl Read for Reader {
    /// Continues at another DataNode if a connection breaks.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.try_read(buffer) {
                Ok(count) => {
                    self.at += count as u64;
                    self.fruitless = 0;
                    return Ok(count);
                }
                Err(error) => {
                    self.fruitless += 1;
                    let was_refused = error.get_ref().is_some_and(|inner| inner.is::<Error>());
                    if was_refused || self.fruitless >= FRUITLESS_MAX {
                        let problem = format!("{}: {error}", self.path);
                        return Err(io::Error::new(error.kind(), problem));
                    }
                }
            }
        }
    }
}
