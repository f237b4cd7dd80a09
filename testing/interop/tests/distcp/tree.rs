//! One side of the comparison: sets trees up, and describes them after a run.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use zerohop_client::blocking::FileSystem;
use zerohop_client::{AclEntry, CreateOptions, FileStatus, XAttrFlags};
use zerohop_interop::Outcome;
use zerohop_interop::harm::{Explain, put, shape};
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};

use crate::cases::Case;

/// Earlier times were set by a step; later times are not compared.
const NOW_MS: u64 = 1_100_000_000_000;
/// Longer files are compared by CRC.
const TEXT_MAX: usize = 4096;

/// The runs of one implementation.
pub struct Side<'a> {
    pub fs: &'a FileSystem,
    /// Name of the directory. Both sides have names of equal length, because `-log` writes paths.
    pub name: &'static str,
    /// Local directory.
    pub local: PathBuf,
}

impl Side<'_> {
    /// Returns the directory of a case in HDFS.
    fn root(&self, case: &Case) -> String {
        format!("/{}/{}", self.name, case.name)
    }

    fn local_root(&self, case: &Case) -> PathBuf {
        self.local.join(self.name).join(case.name)
    }

    /// Returns the command line with the paths of this side.
    pub fn words(&self, case: &Case) -> Vec<String> {
        let word = |word: &str| match (word.chars().next(), word.get(1..)) {
            (Some('/'), _) => format!("{}{word}", self.root(case)),
            (Some('@'), Some(path)) => format!("file://{}{path}", self.local_root(case).display()),
            (Some('%'), Some(path)) => format!("{}{path}", self.local_root(case).display()),
            (Some('~'), Some(word)) => word.to_owned(),
            _ => word.to_owned(),
        };
        case.words.split_whitespace().map(word).collect()
    }

    /// Makes what is there before a run: `f` is a file with text, `b` one with so many bytes in blocks of
    /// such a size, `c` one with other checksums, `list` one with a path in each line, `d` a directory;
    /// `r` sets replication, `m` permissions, `o` owner and group, `t` times, `a` an ACL entry, `x` an
    /// extended attribute; `lf`, `ld`, `lt` are on this machine.
    pub fn set_up(&self, case: &Case) -> Outcome {
        self.fs.mkdirs(&self.root(case)).at(case.name)?;
        // Parents that are created implicitly inherit permissions, and in Hadoop's that depends on a random order.
        let mode = if case.user == "root" { 0o755 } else { 0o777 };
        self.fs.set_permission(&self.root(case), mode).at(case.name)?;
        fs::create_dir_all(self.local_root(case)).at(case.name)?;
        case.before.iter().try_for_each(|step| self.step(case, step))
    }

    fn step(&self, case: &Case, step: &str) -> Outcome {
        let words: Vec<&str> = step.split(' ').collect();
        let at = |index: usize| words.get(index).copied().unwrap_or_default();
        let path = format!("{}{}", self.root(case), at(1));
        let local = PathBuf::from(format!("{}{}", self.local_root(case).display(), at(1)));
        let number = |index: usize| at(index).parse::<u64>().at(step);
        match at(0) {
            "f" => self.write(&path, at(2).as_bytes(), CreateOptions::overwriting()),
            "b" => put(self.fs, &path, 7, number(2)?, shape(1, number(3)?)),
            "c" => {
                let sum = DataChecksum::new(ChecksumType::Crc32, 1024).at(step)?;
                put(self.fs, &path, 9, number(2)?, CreateOptions::overwriting().checksum(sum))
            }
            "list" => {
                let line = |path: &&str| format!("{}{path}\n", self.root(case));
                let text: String = words.iter().skip(2).map(line).collect();
                self.write(&path, text.as_bytes(), CreateOptions::overwriting())
            }
            "d" => self.fs.mkdirs(&path).map(drop).at(step),
            "r" => {
                let count = u16::try_from(number(2)?).at(step)?;
                self.fs.set_replication(&path, count).map(drop).at(step)
            }
            "m" => {
                let mode = u16::from_str_radix(at(2), 8).at(step)?;
                self.fs.set_permission(&path, mode).at(step)
            }
            "o" => self.fs.set_owner(&path, Some(at(2)), Some(at(3))).at(step),
            "t" => self.fs.set_times(&path, Some(number(2)?), Some(number(2)?)).at(step),
            "a" => {
                let entry = AclEntry::parse(at(2), true).at(step)?;
                self.fs.modify_acl(&path, &[entry]).at(step)
            }
            "x" => {
                let value = at(3).as_bytes();
                self.fs.set_xattr(&path, at(2), value, XAttrFlags::default()).at(step)
            }
            "lf" => {
                let made = local.parent().map_or(Ok(()), fs::create_dir_all);
                made.and_then(|()| fs::write(&local, at(2))).at(step)
            }
            "ld" => fs::create_dir_all(&local).at(step),
            "lt" => {
                let time = SystemTime::UNIX_EPOCH + Duration::from_millis(number(2)?);
                let times = FileTimes::new().set_modified(time).set_accessed(time);
                File::open(&local).and_then(|file| file.set_times(times)).at(step)
            }
            _ => Err(format!("no such step: {step}")),
        }
    }

    fn write(&self, path: &str, text: &[u8], options: CreateOptions) -> Outcome {
        let mut writer = self.fs.create(path, options).at(path)?;
        writer.write_data(text).and_then(|_| writer.close()).at(path)
    }

    /// Describes all paths of a case after its run, one line per path.
    pub fn look(&self, case: &Case) -> Outcome<Vec<String>> {
        let root = self.root(case);
        let mut lines = BTreeMap::new();
        for status in self.fs.walk(&root) {
            let status = status.at(&root)?;
            if status.path != root {
                lines.insert(format!("hdfs:{}", status.path), self.describe(&status)?);
            }
        }
        let trash = format!("/user/{}/.Trash", case.user);
        if self.fs.status(&trash).is_ok() {
            for status in self.fs.walk(&trash) {
                let path = status.at(&trash)?.path;
                if path.contains(&format!("{root}/")) {
                    lines.insert(format!("trash:{path}"), String::new());
                }
            }
        }
        look_locally(&self.local_root(case), &mut lines)?;
        let plain = |text: &str| {
            let text = text.replace(&self.local.join(self.name).display().to_string(), "LOCAL");
            text.replace(&format!("/{}/", self.name), "/SIDE/")
        };
        Ok(lines.iter().map(|(path, what)| plain(&format!("{path} {what}"))).collect())
    }

    fn describe(&self, status: &FileStatus) -> Outcome<String> {
        let path = &status.path;
        let acl: Vec<String> = match status.has_acl {
            true => {
                self.fs.acl_status(path).at(path)?.entries.iter().map(|e| e.to_string()).collect()
            }
            false => Vec::new(),
        };
        let xattrs: Vec<String> =
            self.fs.xattrs(path).at(path)?.iter().map(|x| format!("{x:?}")).collect();
        let modified = if status.modified_ms < NOW_MS { status.modified_ms } else { 0 };
        let common = format!(
            "{} {} {:o} {acl:?} {xattrs:?} {modified}",
            status.owner,
            status.group,
            u32::from(status.permission) & 0o1777
        );
        if status.is_dir() {
            return Ok(format!("dir {common}"));
        }
        let mut bytes = Vec::new();
        self.fs.open(path).at(path)?.read_to_end(&mut bytes).at(path)?;
        let accessed = if status.accessed_ms < NOW_MS { status.accessed_ms } else { 0 };
        let sum = self.fs.checksum(path).at(path)?.map(|sum| sum.algorithm);
        Ok(format!(
            "file {common} {accessed} {} x {} {sum:?} {}",
            status.replication,
            status.block_size,
            contents(&bytes)
        ))
    }
}

fn contents(bytes: &[u8]) -> String {
    match bytes.len() {
        ..=TEXT_MAX => format!("{:?}", String::from_utf8_lossy(bytes)),
        len => format!("{len} bytes {:08x}", crc32fast::hash(bytes)),
    }
}

/// Describes local paths, except the `.crc` files that Hadoop writes.
fn look_locally(directory: &Path, lines: &mut BTreeMap<String, String>) -> Outcome {
    let doing = directory.display().to_string();
    for entry in fs::read_dir(directory).at(&doing)? {
        let entry = entry.at(&doing)?;
        let (path, data) = (entry.path(), entry.metadata().at(&doing)?);
        let name = path.display().to_string();
        if name.ends_with(".crc") {
            continue;
        }
        let mode = data.permissions().mode() & 0o1777;
        let what = if data.is_dir() {
            look_locally(&path, lines)?;
            format!("dir {mode:o}")
        } else {
            format!("file {mode:o} {}", contents(&fs::read(&path).at(&doing)?))
        };
        lines.insert(format!("local:{name}"), what);
    }
    Ok(())
}
