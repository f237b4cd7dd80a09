//! Commands on the content of files.

use std::collections::HashMap;
use std::io::{Read, Write};

use zerohop_client::blocking::{FileReader, FileSystem, FileWriter};
use zerohop_client::{AppendOptions, CreateOptions, Error};
use zerohop_interop::content;

use crate::answer::{Answer, done, invalid, number, one};

const BUFFER: usize = 1 << 16;

/// The open files of a user, by the names that requests give them.
#[derive(Default)]
pub struct Files {
    writers: HashMap<String, FileWriter>,
    readers: HashMap<String, FileReader>,
}

impl Files {
    /// Runs a command on files; `None` for a command that is none.
    pub fn run(&mut self, fs: &FileSystem, command: &str, args: &[&str]) -> Option<Answer> {
        Some(match (command, args) {
            ("create", [name, path, replication, block, overwrite]) => {
                self.create(fs, name, path, (replication, block), *overwrite == "true")
            }
            ("append", [name, path]) => fs.append(path, AppendOptions::default()).map(|writer| {
                self.writers.insert((*name).to_owned(), writer);
                Vec::new()
            }),
            ("put", [path, len, seed, replication, block]) => {
                put(fs, path, (len, seed), (replication, block))
            }
            ("write", [name, len, seed]) => self.write(name, len, seed),
            ("hflush", [name]) => self.writer(name).and_then(|w| w.hflush().map(done)),
            ("hsync", [name]) => self.writer(name).and_then(|w| w.hsync().map(done)),
            ("close", [name]) => self.close(name),
            ("read", [path, offset, len]) => read(fs, path, offset, len),
            ("open", [name, path]) => fs.open(path).map(|reader| {
                self.readers.insert((*name).to_owned(), reader);
                Vec::new()
            }),
            ("next", [name, len]) => number(len).and_then(|len| hash(self.reader(name)?, len)),
            ("pread", [name, offset, len]) => self.pread(name, offset, len),
            ("rclose", [name]) => {
                self.readers.remove(*name);
                Ok(Vec::new())
            }
            _ => return None,
        })
    }

    fn create(
        &mut self,
        fs: &FileSystem,
        name: &str,
        path: &str,
        shape: (&str, &str),
        overwrite: bool,
    ) -> Answer {
        let writer = fs.create(path, options(shape)?.overwrite(overwrite))?;
        self.writers.insert(name.to_owned(), writer);
        Ok(Vec::new())
    }

    fn writer(&mut self, name: &str) -> Result<&mut FileWriter, Error> {
        self.writers.get_mut(name).ok_or_else(|| invalid(format!("no such writer: {name}")))
    }

    fn reader(&mut self, name: &str) -> Result<&mut FileReader, Error> {
        self.readers.get_mut(name).ok_or_else(|| invalid(format!("no such reader: {name}")))
    }

    fn write(&mut self, name: &str, len: &str, seed: &str) -> Answer {
        let writer = self.writer(name)?;
        write_content(writer, number(seed)?, number(len)?)?;
        Ok(one(writer.pos()))
    }

    fn close(&mut self, name: &str) -> Answer {
        let writer = self.writers.remove(name);
        let mut writer = writer.ok_or_else(|| invalid(format!("no such writer: {name}")))?;
        writer.close().map(done)
    }

    fn pread(&mut self, name: &str, offset: &str, len: &str) -> Answer {
        let reader = self.reader(name)?;
        let offset: u64 = number(offset)?;
        let mut bytes = vec![0; number(len)?];
        let mut got = 0;
        while got < bytes.len() {
            match reader.read_at(offset + got as u64, &mut bytes[got..])? {
                0 => break,
                n => got += n,
            }
        }
        Ok(vec![got.to_string(), format!("{:08x}", crc32fast::hash(&bytes[..got]))])
    }
}

fn options((replication, block): (&str, &str)) -> Result<CreateOptions, Error> {
    let (replication, block_size): (u16, u64) = (number(replication)?, number(block)?);
    Ok(CreateOptions::default().replication(replication).block_size(block_size))
}

fn put(fs: &FileSystem, path: &str, (len, seed): (&str, &str), shape: (&str, &str)) -> Answer {
    let mut writer = fs.create(path, options(shape)?.overwrite(true))?;
    write_content(&mut writer, number(seed)?, number(len)?)?;
    writer.close().map(done)
}

fn write_content(writer: &mut FileWriter, seed: u64, len: u64) -> Result<(), Error> {
    let mut buffer = vec![0; BUFFER];
    let mut left = len;
    while left > 0 {
        let part = &mut buffer[..left.min(BUFFER as u64) as usize];
        content::fill(seed, writer.pos(), part);
        writer.write_all(part).map_err(from_io)?;
        left -= part.len() as u64;
    }
    Ok(())
}

fn read(fs: &FileSystem, path: &str, offset: &str, len: &str) -> Answer {
    let mut reader = fs.open(path)?;
    reader.seek_to(number(offset)?)?;
    hash(&mut reader, number(len)?)
}

/// Reads up to `len` bytes (-1: to the end): their count and CRC-32.
fn hash(reader: &mut FileReader, len: i64) -> Answer {
    let want = u64::try_from(len).unwrap_or(u64::MAX);
    let (mut hasher, mut buffer, mut done) = (crc32fast::Hasher::new(), vec![0; BUFFER], 0);
    while done < want {
        let part = (want - done).min(BUFFER as u64) as usize;
        let n = reader.read(&mut buffer[..part]).map_err(from_io)?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
        done += n as u64;
    }
    Ok(vec![done.to_string(), format!("{:08x}", hasher.finalize())])
}

/// The client's own error comes back out of the error of `std::io`.
fn from_io(error: std::io::Error) -> Error {
    let inner = error.get_ref().and_then(|e| e.downcast_ref::<Error>()).cloned();
    inner.unwrap_or_else(|| Error::new(zerohop_client::ErrorKind::Io, error.to_string()))
}
