//! The file system of this machine for a handle (`LocalFileSystem`).

use crate::failure::{EINTERNAL, Failure, Result};
use crate::store::{BlockHosts, Creation, Info, Input, Output, Store};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use zerohop::{HedgedReads, ReadStatistics, ZeroCopyRead};
use zerohop_conf::Location;
use zerohop_local::{BLOCK_SIZE, Entry, LocalError, LocalFiles};

#[derive(Debug, Default)]
pub(crate) struct LocalStore(LocalFiles);

impl From<LocalError> for Failure {
    fn from(error: LocalError) -> Self {
        let errno = error.source.raw_os_error().unwrap_or(match error.source.kind() {
            ErrorKind::NotFound => libc::ENOENT,
            ErrorKind::InvalidInput => libc::EINVAL,
            ErrorKind::InvalidData => libc::EILSEQ,
            _ => libc::EIO,
        });
        Failure::new(errno, error.to_string())
    }
}

fn seconds(ms: i64) -> u64 {
    u64::try_from(ms / 1000).unwrap_or_default()
}

fn info_of(entry: Entry) -> Info {
    Info {
        is_directory: entry.is_directory,
        name: format!("file:{}", entry.path),
        modified_s: seconds(entry.modified_ms),
        accessed_s: seconds(entry.accessed_ms),
        len: if entry.is_directory { 0 } else { entry.len },
        replication: 1,
        block_size: BLOCK_SIZE,
        owner: entry.owner,
        group: entry.group,
        permission: entry.mode as u16,
        is_encrypted: false,
        identity: entry.identity,
    }
}

impl Store for LocalStore {
    fn uri(&self) -> &str {
        "file://"
    }

    fn path_of(&self, text: &str) -> Result<String> {
        let location = Location::parse(text);
        match (&location.scheme, &location.authority) {
            (None, _) => Ok(text.to_owned()),
            (Some(_), None) if location.has_scheme("file") => Ok(location.path),
            _ => Err(Failure::invalid(format!("Wrong FS: {text}, expected: file:///"))),
        }
    }

    fn home(&self) -> String {
        LocalFiles::home()
    }

    fn open(&self, path: &str) -> Result<Box<dyn Input>> {
        if self.0.status(path)?.is_directory {
            return Err(Failure::new(libc::ENOENT, format!("{path} is a directory")));
        }
        Ok(Box::new(self.0.open(path)?))
    }

    fn create(&self, path: &str, creation: Creation) -> Result<Box<dyn Output>> {
        let file = self.0.create(path, !creation.is_exclusive)?;
        Ok(Box::new(LocalOutput::new(file, path)))
    }

    fn append(&self, path: &str) -> Result<Box<dyn Output>> {
        let mut file = self.0.append(path)?;
        Seek::seek(&mut file, SeekFrom::End(0))?;
        Ok(Box::new(LocalOutput::new(file, path)))
    }

    fn truncate(&self, path: &str, len: u64) -> Result<bool> {
        self.0.truncate(path, len)?;
        Ok(true)
    }

    fn info(&self, path: &str) -> Result<Info> {
        Ok(info_of(self.0.status(path)?))
    }

    fn list(&self, path: &str) -> Result<Vec<Info>> {
        let found = self.0.status(path)?;
        if !found.is_directory {
            return Ok(vec![info_of(found)]);
        }
        let mut all = Vec::new();
        for page in self.0.pages(path)? {
            all.extend(page?.into_iter().map(info_of));
        }
        Ok(all)
    }

    fn mkdirs(&self, path: &str) -> Result<bool> {
        self.0.mkdirs(path)?;
        Ok(true)
    }

    fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        Ok(self.0.delete(path, recursive)?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<bool> {
        self.0.rename(from, to)?;
        Ok(true)
    }

    fn replace(&self, from: &str, to: &str) -> Result<()> {
        Ok(self.0.replace(from, to)?)
    }

    fn set_replication(&self, path: &str, _replication: u16) -> Result<bool> {
        self.0.status(path)?;
        Ok(true)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        Ok(self.0.set_owner(path, owner, group)?)
    }

    fn set_permission(&self, path: &str, mode: u16) -> Result<()> {
        Ok(self.0.set_permission(path, mode.into())?)
    }

    fn set_times(&self, path: &str, modified: Option<u64>, accessed: Option<u64>) -> Result<()> {
        let signed = |ms: Option<u64>| ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        Ok(self.0.set_times(path, signed(modified), signed(accessed))?)
    }

    fn block_hosts(&self, path: &str, offset: u64, len: u64) -> Result<Vec<BlockHosts>> {
        let found = self.0.status(path)?.len;
        if len == 0 || offset >= found {
            return Ok(Vec::new());
        }
        let host = || vec!["localhost".to_owned()];
        Ok(vec![BlockHosts {
            offset: 0,
            len: found,
            is_corrupt: false,
            hosts: host(),
            names: vec!["localhost:50010".to_owned()],
            topology: Vec::new(),
        }])
    }

    fn default_block_size(&self, _path: &str) -> Result<u64> {
        Ok(BLOCK_SIZE)
    }

    fn capacity(&self) -> Result<(u64, u64)> {
        let (capacity, used, _) = self.0.capacity()?;
        Ok((capacity, used))
    }

    fn hedged_reads(&self) -> HedgedReads {
        HedgedReads::default()
    }
}

impl Input for File {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        Ok(Read::read(self, buffer)?)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        Ok(FileExt::read_at(self, buffer, offset)?)
    }

    fn seek(&mut self, offset: u64) -> Result<()> {
        if offset > Input::len(self)? {
            return Err(Failure::invalid("Cannot seek after EOF"));
        }
        Seek::seek(self, SeekFrom::Start(offset))?;
        Ok(())
    }

    fn pos(&mut self) -> Result<u64> {
        Ok(self.stream_position()?)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn unbuffer(&mut self) -> Result<()> {
        Err(Failure::unsupported("a local file has no buffer"))
    }

    fn statistics(&self) -> Result<ReadStatistics> {
        Err(Failure::unsupported("reads of local files are not counted"))
    }

    fn read_zero_copy(&mut self, _len: usize) -> Result<ZeroCopyRead> {
        Err(Failure::unsupported("a local file is read with a copy"))
    }
}

/// A local file being written.
struct LocalOutput {
    /// `None` when it is closed.
    file: Option<File>,
    path: String,
    /// The error of close(2), which every later close repeats.
    close_errno: Option<i32>,
}

impl LocalOutput {
    fn new(file: File, path: &str) -> Self {
        Self { file: Some(file), path: path.to_owned(), close_errno: None }
    }

    fn file(&mut self) -> Result<&mut File> {
        let closed = || Failure::new(EINTERNAL, "java.nio.channels.ClosedChannelException");
        self.file.as_mut().ok_or_else(closed)
    }
}

impl Output for LocalOutput {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        Ok(self.file()?.write_all(data)?)
    }

    fn pos(&mut self) -> Result<u64> {
        Ok(self.file()?.stream_position()?)
    }

    fn hflush(&mut self) -> Result<()> {
        self.file().map(drop)
    }

    fn hsync(&mut self) -> Result<()> {
        Ok(self.file()?.sync_data()?)
    }

    fn close(&mut self) -> Result<()> {
        if let Some(Err(error)) = self.file.take().map(zerohop_system::files::close) {
            self.close_errno = Some(error.raw_os_error().unwrap_or(libc::EIO));
        }
        let failure = |errno| {
            let source = Error::from_raw_os_error(errno);
            LocalError { path: self.path.clone(), source }.into()
        };
        self.close_errno.map_or(Ok(()), |errno| Err(failure(errno)))
    }
}
