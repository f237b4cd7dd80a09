//! This machine's own file system behind a handle (`LocalFileSystem`, without its checksum files).

use crate::failure::{Failure, Result};
use crate::store::{BlockHosts, Creation, Info, Input, Output, Store};
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use zerohop::{HedgedReads, ReadStatistics, ZeroCopyRead};

/// The block size that Hadoop says files of this machine have (`fs.local.block.size`).
const BLOCK_SIZE: u64 = 32 << 20;

#[derive(Debug, Default)]
pub(crate) struct LocalStore;

fn info_of(path: &str, found: &fs::Metadata) -> Info {
    Info {
        is_directory: found.is_dir(),
        name: format!("file:{path}"),
        modified_s: u64::try_from(found.mtime()).unwrap_or_default(),
        accessed_s: u64::try_from(found.atime()).unwrap_or_default(),
        len: if found.is_dir() { 0 } else { found.len() },
        replication: 1,
        block_size: BLOCK_SIZE,
        owner: found.uid().to_string(),
        group: found.gid().to_string(),
        permission: (found.mode() & 0o1777) as u16,
        is_encrypted: false,
        identity: (found.dev(), found.ino()),
    }
}

fn metadata(path: &str) -> Result<fs::Metadata> {
    fs::metadata(path).map_err(|error| of_path(path, error))
}

fn of_path(path: &str, error: std::io::Error) -> Failure {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    Failure::new(errno, format!("{path}: {error}"))
}

impl Store for LocalStore {
    fn uri(&self) -> &str {
        "file://"
    }

    fn home(&self) -> String {
        let here =
            std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
        here.unwrap_or_else(|| "/".to_owned())
    }

    fn open(&self, path: &str) -> Result<Box<dyn Input>> {
        if metadata(path)?.is_dir() {
            return Err(Failure::new(libc::ENOENT, format!("{path} is a directory")));
        }
        Ok(Box::new(File::open(path).map_err(|error| of_path(path, error))?))
    }

    fn create(&self, path: &str, creation: Creation) -> Result<Box<dyn Output>> {
        if let Some(above) = Path::new(path).parent() {
            fs::create_dir_all(above).map_err(|error| of_path(path, error))?;
        }
        let mut options = OpenOptions::new();
        match creation.is_exclusive {
            true => options.write(true).create_new(true),
            false => options.write(true).create(true).truncate(true),
        };
        Ok(Box::new(options.open(path).map_err(|error| of_path(path, error))?))
    }

    fn append(&self, path: &str) -> Result<Box<dyn Output>> {
        let mut file =
            OpenOptions::new().append(true).open(path).map_err(|error| of_path(path, error))?;
        Seek::seek(&mut file, SeekFrom::End(0))?;
        Ok(Box::new(file))
    }

    fn truncate(&self, path: &str, len: u64) -> Result<bool> {
        let file =
            OpenOptions::new().write(true).open(path).map_err(|error| of_path(path, error))?;
        if len > file.metadata()?.len() {
            return Err(Failure::invalid(format!("{path} is shorter than {len} bytes")));
        }
        file.set_len(len)?;
        Ok(true)
    }

    fn info(&self, path: &str) -> Result<Info> {
        Ok(info_of(path, &metadata(path)?))
    }

    fn list(&self, path: &str) -> Result<Vec<Info>> {
        let found = metadata(path)?;
        if !found.is_dir() {
            return Ok(vec![info_of(path, &found)]);
        }
        let mut all = Vec::new();
        for entry in fs::read_dir(path).map_err(|error| of_path(path, error))? {
            let entry = entry?;
            let name =
                format!("{}/{}", path.trim_end_matches('/'), entry.file_name().to_string_lossy());
            // A link that leads nowhere, or what was deleted just now.
            if let Ok(found) = fs::metadata(entry.path()) {
                all.push(info_of(&name, &found));
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn mkdirs(&self, path: &str) -> Result<bool> {
        fs::create_dir_all(path).map_err(|error| of_path(path, error))?;
        Ok(true)
    }

    fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(false) };
        let done = match (found.is_dir(), recursive) {
            (true, true) => fs::remove_dir_all(path),
            (true, false) => fs::remove_dir(path),
            (false, _) => fs::remove_file(path),
        };
        done.map_err(|error| of_path(path, error))?;
        Ok(true)
    }

    fn rename(&self, from: &str, to: &str) -> Result<bool> {
        let into = Path::new(from).file_name().filter(|_| Path::new(to).is_dir());
        let to = into.map_or_else(|| to.into(), |name| Path::new(to).join(name));
        fs::rename(from, to).map_err(|error| of_path(from, error))?;
        Ok(true)
    }

    fn set_replication(&self, path: &str, _replication: u16) -> Result<bool> {
        metadata(path)?;
        Ok(true)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        let id = |name: Option<&str>| match name.map(str::parse::<u32>) {
            None => Ok(None),
            Some(Ok(id)) => Ok(Some(id)),
            Some(Err(_)) => {
                Err(Failure::unsupported("owners of local files are set by number only"))
            }
        };
        std::os::unix::fs::chown(path, id(owner)?, id(group)?).map_err(|error| of_path(path, error))
    }

    fn set_permission(&self, path: &str, mode: u16) -> Result<()> {
        let permissions = fs::Permissions::from_mode(mode.into());
        fs::set_permissions(path, permissions).map_err(|error| of_path(path, error))
    }

    fn set_times(&self, path: &str, modified: Option<u64>, accessed: Option<u64>) -> Result<()> {
        let time = |ms: u64| UNIX_EPOCH + Duration::from_millis(ms);
        let mut times = FileTimes::new();
        if let Some(ms) = modified {
            times = times.set_modified(time(ms));
        }
        if let Some(ms) = accessed {
            times = times.set_accessed(time(ms));
        }
        let file = File::open(path).map_err(|error| of_path(path, error))?;
        Ok(file.set_times(times)?)
    }

    fn block_hosts(&self, path: &str, offset: u64, len: u64) -> Result<Vec<BlockHosts>> {
        let found = metadata(path)?.len();
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
        let found = rustix::fs::statvfs("/").map_err(std::io::Error::from)?;
        Ok((found.f_blocks * found.f_frsize, (found.f_blocks - found.f_bfree) * found.f_frsize))
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

impl Output for File {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        Ok(self.write_all(data)?)
    }

    fn pos(&mut self) -> Result<u64> {
        Ok(self.stream_position()?)
    }

    fn hflush(&mut self) -> Result<()> {
        Ok(())
    }

    fn hsync(&mut self) -> Result<()> {
        Ok(self.sync_data()?)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
