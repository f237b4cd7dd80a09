//! `VERSION`: a Java properties file with the ids of the namespace.

use super::error::StorageError;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use zerohop_journal::layout::LayoutVersion;

/// The ids a namespace got when it was formatted, the same in every folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageInfo {
    /// Identifies the namespace; 31 random bits.
    pub namespace_id: i32,
    /// Identifies the cluster: `CID-<uuid>` unless chosen.
    pub cluster_id: String,
    /// When it was last upgraded, ms since the epoch; for a formatted one, when that was.
    pub c_time_ms: i64,
    /// `BP-<random>-<ip>-<ms>`
    pub block_pool_id: String,
    /// The layout of the folder's files.
    pub layout: LayoutVersion,
}

impl StorageInfo {
    /// Fresh ids.
    pub fn generate(cluster_id: Option<String>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = now.as_millis() as i64;
        let cluster_id = cluster_id.unwrap_or_else(|| format!("CID-{}", uuid::Uuid::new_v4()));
        let pool = fastrand::u32(..i32::MAX as u32);
        Self {
            namespace_id: fastrand::i32(1..i32::MAX),
            cluster_id,
            c_time_ms: now_ms,
            block_pool_id: format!("BP-{pool}-{}-{now_ms}", local_ip()),
            layout: LayoutVersion::CURRENT,
        }
    }

    /// Reads `current/VERSION` below `dir`; none if there is no such file.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, StorageError> {
        let path = dir.join("current/VERSION");
        let text = match std::fs::read(&path) {
            Ok(bytes) => text_of(bytes),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(StorageError::io("read", path)(e)),
        };
        Self::parse(&text, dir).map(Some)
    }

    fn parse(text: &str, dir: &Path) -> Result<Self, StorageError> {
        let inconsistent =
            |reason: String| StorageError::Inconsistent { path: dir.to_owned(), reason };
        let value = |name: &str| {
            property(text, name)
                .ok_or_else(|| inconsistent(format!("file VERSION has {name} missing.")))
        };
        let number = |name: &str| {
            let digits = value(name)?;
            digits
                .parse::<i64>()
                .map_err(|_| inconsistent(format!("file VERSION has {name}={digits}.")))
        };
        // First, because a newer layout may have changed everything else.
        let layout = LayoutVersion(number("layoutVersion")? as i32);
        if layout.is_from_the_future() {
            return Err(StorageError::Newer { path: dir.to_owned(), found: layout });
        }
        let storage_type = value("storageType")?;
        if storage_type != "NAME_NODE" {
            return Err(inconsistent(format!(
                "Incompatible node types: storageType=NAME_NODE but StorageDirectory \
                 type={storage_type}"
            )));
        }
        let block_pool_id = value("blockpoolID")?;
        if block_pool_id.is_empty() {
            return Err(inconsistent("file VERSION has no block pool Id.".to_owned()));
        }
        Ok(Self {
            namespace_id: number("namespaceID")? as i32,
            cluster_id: value("clusterID")?,
            c_time_ms: number("cTime")?,
            block_pool_id,
            layout,
        })
    }

    /// Writes `current/VERSION` below `dir`.
    pub(super) fn write(&self, dir: &Path) -> Result<(), StorageError> {
        let text = format!(
            "#zerohop\nnamespaceID={}\nblockpoolID={}\nstorageType=NAME_NODE\ncTime={}\n\
             clusterID={}\nlayoutVersion={}\n",
            self.namespace_id,
            self.block_pool_id,
            self.c_time_ms,
            escape(&self.cluster_id),
            self.layout
        );
        super::file::replace(&dir.join("current/VERSION"), text.as_bytes())
    }

    /// That two folders belong together.
    pub(super) fn check_same(&self, other: &Self, dir: &Path) -> Result<(), StorageError> {
        let reason = if self.namespace_id != other.namespace_id {
            "namespaceID is incompatible with others."
        } else if self.cluster_id != other.cluster_id {
            "cluster Id is incompatible with others."
        } else if self.block_pool_id != other.block_pool_id {
            "block pool Id is incompatible with others."
        } else if self.c_time_ms != other.c_time_ms || self.layout != other.layout {
            "cTime or layoutVersion is incompatible with others."
        } else {
            return Ok(());
        };
        Err(StorageError::Inconsistent { path: dir.to_owned(), reason: reason.to_owned() })
    }
}

/// Java reads and writes these files in ISO 8859-1, whose codes are Unicode's; ours were UTF-8 once.
fn text_of(bytes: Vec<u8>) -> String {
    let as_latin = |bytes: Vec<u8>| bytes.into_iter().map(char::from).collect();
    if !bytes.starts_with(b"#zerohop") {
        return as_latin(bytes);
    }
    String::from_utf8(bytes).unwrap_or_else(|error| as_latin(error.into_bytes()))
}

/// A property's value, escapes resolved as `Properties.load` does; none if it is not there, or has
/// a `\u` without four hex digits.
fn property(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
    let mut pairs = lines.filter_map(|line| line.split_once(['=', ':']));
    let (_, value) = pairs.find(|(key, _)| key.trim() == name)?;
    let mut units = Vec::new();
    let mut letters = value.trim().chars();
    while let Some(letter) = letters.next() {
        let unescaped = match letter {
            '\\' => letters.next(),
            other => {
                units.extend_from_slice(other.encode_utf16(&mut [0; 2]));
                continue;
            }
        };
        match unescaped {
            Some('u') => {
                let digits: String = letters.by_ref().take(4).collect();
                let is_hex = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                units.push(u16::from_str_radix(&digits, 16).ok().filter(|_| is_hex)?);
            }
            Some('t') => units.push(u16::from(b'\t')),
            Some('n') => units.push(u16::from(b'\n')),
            Some('r') => units.push(u16::from(b'\r')),
            Some('f') => units.push(0x0c),
            Some(other) => units.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            None => {}
        }
    }
    Some(String::from_utf16_lossy(&units))
}

/// As `Properties.store` does: ASCII only.
fn escape(value: &str) -> String {
    use std::fmt::Write;
    let mut escaped = String::new();
    for (n, letter) in value.chars().enumerate() {
        match letter {
            '\\' | '=' | ':' | '#' | '!' => escaped.extend(['\\', letter]),
            ' ' if n == 0 => escaped.push_str("\\ "),
            ' '..='~' => escaped.push(letter),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(escaped, "\\u{unit:04X}");
                }
            }
        }
    }
    escaped
}

/// The address this machine's name resolves to, for the block pool's id.
fn local_ip() -> std::net::IpAddr {
    use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
    let addresses = (super::lock::host().as_str(), 0).to_socket_addrs();
    let mut ips = addresses.into_iter().flatten().map(|address| address.ip());
    ips.find(IpAddr::is_ipv4).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_java_writes() {
        let text = "#Sat Nov 21 12:00:00 UTC 2026\nnamespaceID=1363413447\nblockpoolID=BP-1-1.2.3.4-5\n\
                    storageType=NAME_NODE\ncTime=5\nclusterID=CID\\:a\\=b\nlayoutVersion=-67\n";
        let info = StorageInfo::parse(text, Path::new("/d")).unwrap();
        assert_eq!(info.cluster_id, "CID:a=b");
        assert_eq!((info.namespace_id, info.layout), (1363413447, LayoutVersion(-67)));
        assert_eq!(escape("CID:a=b"), "CID\\:a\\=b");
    }

    #[test]
    fn ids_outside_of_ascii_are_javas() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("current")).unwrap();
        let cluster_id = "CID é Ω 😀 a=b".to_owned();
        let info = StorageInfo::generate(Some(cluster_id));
        info.write(dir.path()).unwrap();
        let path = dir.path().join("current/VERSION");
        let text = std::fs::read_to_string(&path).unwrap();
        let line = "clusterID=CID \\u00E9 \\u03A9 \\uD83D\\uDE00 a\\=b\n";
        assert!(text.contains(line), "{text}");
        assert_eq!(StorageInfo::read(dir.path()).unwrap().unwrap(), info);
        // Written by hand in an editor that knows ISO 8859-1.
        let by_hand = text.replace("\\u00E9", "\u{1}").into_bytes();
        let by_hand: Vec<u8> = by_hand.iter().map(|b| if *b == 1 { 0xe9 } else { *b }).collect();
        std::fs::write(&path, by_hand).unwrap();
        assert_eq!(StorageInfo::read(dir.path()).unwrap().unwrap(), info);
        std::fs::write(&path, text.replace("\\u00E9", "é")).unwrap();
        assert_eq!(StorageInfo::read(dir.path()).unwrap().unwrap(), info, "as ours were once");
        std::fs::write(&path, text.replace("\\u00E9", "\\u00+9")).unwrap();
        let error = StorageInfo::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("file VERSION has clusterID missing."), "{error}");
    }

    #[test]
    fn says_what_is_wrong() {
        let parse = |text| StorageInfo::parse(text, Path::new("/d")).unwrap_err().to_string();
        assert!(parse("namespaceID=1").contains("file VERSION has layoutVersion missing."));
        assert!(parse("layoutVersion=-68").contains("Reported: -68. Expecting = -67."));
        assert!(parse("layoutVersion=-57\nstorageType=DATA_NODE").contains("type=DATA_NODE"));
    }
}
