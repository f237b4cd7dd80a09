//! How far a block pool on a volume is verified, kept across restarts.
//!
//! The file is `current/BP-.../scanner.cursor`, JSON as Apache's DataNode writes it
//! (`FsVolumeImpl.BlockIteratorState`), so that either can go on where the other stopped. Replicas are
//! visited in the order of their directories' and files' names.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use zerohop_replica::{BlockFile, Pool, block_directory, parse_name};
use zerohop_system::clock;
use zerohop_wire::BlockId;

/// A directory's list is read again after this time.
const LIST_AGE_MAX: Duration = Duration::from_secs(15 * 60);

/// The file's content. Jackson refuses members that it does not know: there are no others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    /// When the file was written, in ms since 1970.
    last_saved_ms: u64,
    /// When the first replica was visited, in ms since 1970.
    iter_start_ms: u64,
    /// `subdir<n>` below `finalized`.
    cur_finalized_dir: Option<String>,
    /// `subdir<n>` below that.
    cur_finalized_sub_dir: Option<String>,
    /// The block file visited last.
    cur_entry: Option<String>,
    /// Whether all replicas were visited.
    at_end: bool,
}

impl State {
    fn new() -> Self {
        let now = now_ms();
        Self {
            last_saved_ms: now,
            iter_start_ms: now,
            cur_finalized_dir: None,
            cur_finalized_sub_dir: None,
            cur_entry: None,
            at_end: false,
        }
    }
}

/// A walk over the finalized replicas of a block pool on a volume.
pub(super) struct Cursor {
    pub(super) pool_id: std::sync::Arc<str>,
    finalized: PathBuf,
    file: PathBuf,
    state: State,
    /// The block files of the present directory, and when they were listed.
    list: Option<(Instant, Vec<String>)>,
    saved: Instant,
}

impl Cursor {
    /// Goes on where the file says, or begins.
    pub(super) fn load(pool: &Pool) -> Self {
        let file = pool.root().join("scanner.cursor");
        let state = match read(&file) {
            Ok(state) => state,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!("{}: {error}; all replicas are verified again", file.display());
                }
                State::new()
            }
        };
        let pool_id = std::sync::Arc::clone(pool.id());
        let finalized = pool.finalized().to_owned();
        Self { pool_id, finalized, file, state, list: None, saved: clock::now() }
    }

    /// Whether all replicas were visited.
    pub(super) fn is_at_end(&self) -> bool {
        self.state.at_end
    }

    /// When the first replica was visited.
    pub(super) fn started(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.state.iter_start_ms)
    }

    /// Begins again.
    pub(super) fn rewind(&mut self) {
        (self.state, self.list) = (State::new(), None);
    }

    /// Time since the file was written or read.
    pub(super) fn since_saved(&self) -> Duration {
        clock::since(self.saved)
    }

    /// Writes the file, whole or not at all.
    pub(super) fn save(&mut self) -> io::Result<()> {
        self.state.last_saved_ms = now_ms();
        self.saved = clock::now();
        let partial = self.file.with_extension("cursor.tmp");
        let text = serde_json::to_string_pretty(&self.state)?;
        zerohop_system::files::write(&partial, text)
            .and_then(|()| fs::rename(&partial, &self.file))
            .inspect_err(|_| {
                let _there_may_be_none = fs::remove_file(&partial);
            })
    }

    /// The next replica; `None` at the end. After an error the walk is at its end.
    pub(super) fn next(&mut self) -> io::Result<Option<BlockId>> {
        let found = self.advance();
        if !matches!(found, Ok(Some(_))) {
            self.state.at_end = true;
        }
        found
    }

    fn advance(&mut self) -> io::Result<Option<BlockId>> {
        if self.state.at_end {
            return Ok(None);
        }
        loop {
            while let Some(name) = self.next_entry()? {
                let Some(BlockFile::Data(id)) = parse_name(&name) else { continue };
                if self.directory().as_deref() == Some(&block_directory(&self.finalized, id)) {
                    return Ok(Some(id));
                }
                tracing::warn!("blk_{id} is in a directory where it does not belong: not verified");
            }
            if !self.next_directory()? {
                return Ok(None);
            }
        }
    }

    /// The present directory.
    fn directory(&self) -> Option<PathBuf> {
        let upper = self.state.cur_finalized_dir.as_ref()?;
        let lower = self.state.cur_finalized_sub_dir.as_ref()?;
        Some(self.finalized.join(upper).join(lower))
    }

    fn next_entry(&mut self) -> io::Result<Option<String>> {
        let Some(directory) = self.directory() else { return Ok(None) };
        if self.list.as_ref().is_none_or(|(listed, _)| clock::since(*listed) >= LIST_AGE_MAX) {
            let is_data = |name: &str| matches!(parse_name(name), Some(BlockFile::Data(_)));
            self.list = Some((clock::now(), sorted(&directory, is_data)?));
        }
        let names = self.list.as_ref().map_or(&[][..], |(_, names)| names);
        self.state.cur_entry = after(names, self.state.cur_entry.as_deref());
        Ok(self.state.cur_entry.clone())
    }

    /// Goes to the next directory; false if there is none.
    fn next_directory(&mut self) -> io::Result<bool> {
        let is_subdirectory = |name: &str| name.starts_with("subdir");
        self.list = None;
        loop {
            if let Some(upper) = &self.state.cur_finalized_dir {
                let names = sorted(&self.finalized.join(upper), is_subdirectory)?;
                let next = after(&names, self.state.cur_finalized_sub_dir.as_deref());
                self.state.cur_finalized_sub_dir = next;
                if self.state.cur_finalized_sub_dir.is_some() {
                    return Ok(true);
                }
            }
            let names = sorted(&self.finalized, is_subdirectory)?;
            self.state.cur_finalized_dir = after(&names, self.state.cur_finalized_dir.as_deref());
            if self.state.cur_finalized_dir.is_none() {
                return Ok(false);
            }
        }
    }
}

fn read(file: &Path) -> io::Result<State> {
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}

/// The names in a directory that fit, in order; none if it is gone meanwhile.
fn sorted(directory: &Path, fits: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string().ok().filter(|name| fits(name)));
    }
    names.sort_unstable();
    Ok(names)
}

/// The first name behind `previous`.
fn after(names: &[String], previous: Option<&str>) -> Option<String> {
    let at = previous.map_or(0, |previous| names.partition_point(|name| &**name <= previous));
    names.get(at).cloned()
}

fn now_ms() -> u64 {
    let since = clock::wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_replica::{PoolVersion, Volume};

    /// A pool with an empty block file for each id.
    fn pool(ids: &[i64]) -> (tempfile::TempDir, Pool) {
        let directory = tempfile::tempdir().unwrap();
        let mut volume = Volume::open(directory.path()).unwrap();
        volume.claim("CID-1", "uuid-1").unwrap();
        let version = PoolVersion { pool_id: "BP-1-127.0.0.1-1".into(), namespace_id: 7, ctime: 0 };
        let pool = volume.open_pool(&version).unwrap();
        for id in ids {
            let directory = block_directory(pool.finalized(), BlockId(*id));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(format!("blk_{id}")), "").unwrap();
            fs::write(directory.join(format!("blk_{id}_1001.meta")), "").unwrap();
        }
        (directory, pool)
    }

    fn rest(cursor: &mut Cursor) -> Vec<i64> {
        std::iter::from_fn(|| cursor.next().unwrap()).map(|id| id.0).collect()
    }

    #[test]
    fn a_restart_goes_on_behind_the_replica_verified_last() {
        let ids = [1, 2, 10, 1 << 8, 10 << 8, (3 << 16) + 7];
        let (_directory, pool) = pool(&ids);
        let mut cursor = Cursor::load(&pool);
        assert_eq!(cursor.next().unwrap(), Some(BlockId(1)));
        assert_eq!(cursor.next().unwrap(), Some(BlockId(10)));
        cursor.save().unwrap();
        let mut again = Cursor::load(&pool);
        assert_eq!(again.started(), cursor.started());
        // "subdir10" comes before "subdir2", as in Java.
        assert_eq!(rest(&mut again), [2, 1 << 8, 10 << 8, (3 << 16) + 7]);
        assert!(again.is_at_end());
        again.save().unwrap();
        let mut ended = Cursor::load(&pool);
        assert!(ended.is_at_end() && rest(&mut ended).is_empty());
        ended.rewind();
        assert_eq!(rest(&mut ended).len(), ids.len());
    }

    /// What Apache's DataNode 3.4.3 wrote.
    #[test]
    fn apaches_cursor_is_read_and_ours_has_the_same_members() {
        let (_directory, pool) = pool(&[5, 6]);
        let file = pool.root().join("scanner.cursor");
        let apaches = r#"{
  "lastSavedMs" : 1700000000001,
  "iterStartMs" : 1700000000000,
  "curFinalizedDir" : "subdir0",
  "curFinalizedSubDir" : "subdir0",
  "curEntry" : "blk_5",
  "atEnd" : false
}"#;
        fs::write(&file, apaches).unwrap();
        let mut cursor = Cursor::load(&pool);
        assert_eq!(rest(&mut cursor), [6]);
        cursor.save().unwrap();
        let ours: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let theirs: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(apaches).unwrap();
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        assert_eq!(ours["iterStartMs"], theirs["iterStartMs"]);
        fs::write(&file, "{").unwrap();
        assert_eq!(rest(&mut Cursor::load(&pool)), [5, 6]);
    }
}
