//! The file that is read: the one asked for, or one that is made and removed again.

use zerohop_client::blocking::FileSystem;
use zerohop_client::{CreateOptions, Error, ErrorKind as Kind, LocatedBlock};
use zerohop_conf::{Conf, keys};

use super::report::Report;
use crate::fs::{Location, Unfinished, absolute, client_failure};

/// Bytes of a file of our own; not a multiple of a chunk.
const LEN: usize = (1 << 20) + 100;

/// Blocks of a file that are read are not more than this together.
pub const READ_MAX: u64 = 1 << 30;

/// A file with its blocks.
pub struct Target {
    pub fs: FileSystem,
    pub path: String,
    pub blocks: Vec<LocatedBlock>,
    /// The file is ours, and a signal removes it too.
    made: Option<Unfinished>,
}

impl Drop for Target {
    fn drop(&mut self) {
        let Some(made) = self.made.take() else { return };
        if self.fs.delete(&self.path, false).is_err() {
            noteln!("doctor: {} could not be removed", self.path);
        }
        made.keep();
    }
}

/// Finds or makes the file; what is in the way is in the report. Without a file, the NameNode that
/// answered.
pub fn find(
    conf: &Conf,
    path: Option<&str>,
    report: &mut Report,
) -> Result<Target, Option<FileSystem>> {
    // Waits for a DataNode that is away would make the answer late and no better.
    let mut conf = conf.clone();
    conf.set(keys::DFS_CLIENT_RETRY_WINDOW_BASE.name, "10");
    let fs = match FileSystem::connect(&conf, None) {
        Ok(fs) => fs,
        Err(error) => {
            report.fault("namenode", error.to_string(), "set fs.defaultFS to hdfs://HOST:PORT");
            return Err(None);
        }
    };
    // Any question will do: who does not answer cannot be asked for blocks.
    if let Err(error) = fs.server_defaults() {
        let fix = "start the NameNode, or correct fs.defaultFS in core-site.xml";
        report.fault("namenode", client_failure(error).to_string(), fix);
        return Err(None);
    }
    report.ok("namenode", format!("{} answers", fs.uri()));
    let (path, made) = match path {
        Some(path) => (absolute(&Location::parse(path).path, &fs.home()), None),
        None => match make(&fs, report) {
            Some((path, made)) => (path, Some(made)),
            None => return Err(Some(fs)),
        },
    };
    let mut target = Target { fs, path, blocks: Vec::new(), made };
    match target.fs.block_locations(&target.path, 0, i64::MAX as u64) {
        Ok(located) => target.blocks = located.blocks,
        Err(error) => {
            report.fault("file", error.to_string(), "name a file that this user may read");
            return Err(Some(target.fs.clone()));
        }
    }
    if target.blocks.is_empty() {
        report.fault("file", format!("{} is empty", target.path), "name a file with data in it");
        return Err(Some(target.fs.clone()));
    }
    report.ok("file", format!("{}: {} block(s)", target.path, target.blocks.len()));
    Ok(target)
}

/// A file in the user's home, in /tmp, or at the root, whichever is there.
fn make(fs: &FileSystem, report: &mut Report) -> Option<(String, Unfinished)> {
    let name = format!(".zerohop-doctor-{}", std::process::id());
    let directories = [fs.home(), "/tmp".to_owned(), String::new()];
    let (mut last, mut denied) = (String::new(), false);
    for directory in directories {
        if !directory.is_empty() && !fs.exists(&directory).unwrap_or(false) {
            continue;
        }
        let path = format!("{directory}/{name}");
        // What was begun must not stay, either.
        let (of, at) = (fs.clone(), path.clone());
        let made = Unfinished::with(move || drop(of.delete(&at, false)));
        match write(fs, &path) {
            Ok(()) => return Some((path, made)),
            Err(error) => {
                last = format!("{path}: {error}");
                denied = error.kind() == Kind::Denied;
                if !denied {
                    break;
                }
            }
        }
    }
    let fix = match denied {
        true => format!(
            "name a file that this user may read: zerohop doctor PATH; or have the superuser make {}",
            fs.home()
        ),
        false => {
            "start a DataNode if none runs, or name a file to read: zerohop doctor PATH".to_owned()
        }
    };
    report.fault("file", format!("no file could be made: {last}"), fix);
    None
}

fn write(fs: &FileSystem, path: &str) -> Result<(), Error> {
    let options = CreateOptions::default().replication(1);
    let mut writer = fs.create(path, options)?;
    let bytes: Vec<u8> = (0..LEN).map(|n| (n % 251) as u8).collect();
    writer.write_data(&bytes)?;
    writer.close()
}
