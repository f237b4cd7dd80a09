//! The legacy way to a replica (HDFS-2246): the DataNode answers with the paths of its files, and this process opens
//! them. Off by default and insecure: see [`WARNING`].

use super::cache::Key;
use super::files::Parts;
use crate::read::local_outcome::OpenError;
use crate::read::plan::{NotLocal, ReadReason};
use crate::settings::LocalSettings;
use crate::types::{DatanodeInfo, LocatedBlock};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::{GetBlockLocalPathInfoRequestProto, GetBlockLocalPathInfoResponseProto};
use zerohop_system::clock;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::{BlockId, JavaException};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
const VERSION: u64 = 1;
/// Failures one after the other until a DataNode is left alone for the configured time.
const FAILURES_MAX: u32 = 3;

/// Why replicas should not be read this way; logged once by each client that does.
pub(crate) const WARNING: &str = "dfs.client.use.legacy.blockreader.local is true: block files are \
     opened by their paths, so that no permission is checked (a user who may open one block file may \
     open all of them) and the DataNode cannot take a replica back (HDFS-2246). Remove the key: \
     descriptors over dfs.domain.socket.path (HDFS-347) are as fast, and safe";

/// A DataNode's answer about the files of a replica, or its refusal.
pub(crate) struct ToldPaths {
    key: Key,
    answer: Result<GetBlockLocalPathInfoResponseProto, OpenError>,
}

impl ToldPaths {
    /// Whether it is about this replica.
    pub(super) fn is_of(&self, key: &Key) -> bool {
        self.key == *key
    }
}

/// The DataNodes of this machine that are asked for paths.
pub(super) struct Paths {
    user: User,
    options: ClientOptions,
    by_host_name: bool,
    disabled_for: Duration,
    /// By `host:port` of their IPC.
    nodes: Mutex<HashMap<String, Node>>,
    warned: Once,
}

struct Node {
    rpc: RpcClient,
    failures: u32,
    /// Until when it is left alone, and why.
    rest: Option<(Instant, NotLocal)>,
}

impl Paths {
    pub(super) fn new(
        settings: &LocalSettings,
        user: User,
        by_host_name: bool,
        options: ClientOptions,
    ) -> Self {
        let options = ClientOptions {
            connect_retries: 0,
            connect_retries_on_timeouts: 0,
            rpc_timeout: settings.socket_timeout,
            ..options
        };
        Self {
            user,
            options,
            by_host_name,
            disabled_for: settings.disabled_for,
            nodes: Mutex::default(),
            warned: Once::new(),
        }
    }

    /// Whether a DataNode of this machine may be asked: one that fails again and again is left alone for a while.
    pub(super) fn may_ask(&self, node: &DatanodeInfo) -> bool {
        self.client_of(&self.addr_of(node)).is_ok()
    }

    /// Asks a DataNode for the paths of a replica's files; nothing where it is to be left alone.
    pub(super) async fn ask(&self, block: &LocatedBlock, node: &DatanodeInfo) -> Option<ToldPaths> {
        let rpc = self.client_of(&self.addr_of(node)).ok()?;
        Some(ToldPaths { key: Key::of(block, node), answer: ask(&rpc, block).await })
    }

    /// Opens the files of a replica that the DataNode was [asked](Self::ask) for.
    pub(super) fn open(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
        is_near: bool,
        told: Option<ToldPaths>,
    ) -> Result<Parts, OpenError> {
        self.warned.call_once(|| tracing::warn!("{WARNING}"));
        if !is_near {
            return Err(OpenError::NotLocal(NotLocal::other_host(node)));
        }
        let addr = self.addr_of(node);
        self.client_of(&addr).map_err(OpenError::NotLocal)?;
        let told = told.ok_or(OpenError::NeedsPaths)?;
        let opened = told.answer.and_then(|answer| {
            open(&answer, block.block.block.id).map_err(|error| {
                let text = format!("the files that {addr} names cannot be opened: {error}");
                OpenError::NotLocal(NotLocal::new(ReadReason::LocalFailed, text))
            })
        });
        match opened {
            Err(OpenError::NotLocal(why)) => Err(OpenError::NotLocal(self.failed(&addr, why))),
            Ok(parts) => {
                self.change(&addr, |node| node.failures = 0);
                Ok(parts)
            }
            other => other,
        }
    }

    /// `host:port` of a DataNode's IPC.
    fn addr_of(&self, node: &DatanodeInfo) -> String {
        let host = if self.by_host_name { node.host() } else { node.ip() };
        format!("{host}:{}", node.ipc_port())
    }

    fn client_of(&self, addr: &str) -> Result<RpcClient, NotLocal> {
        let mut nodes = self.nodes.lock();
        let node = nodes.entry(addr.to_owned()).or_insert_with(|| Node {
            rpc: RpcClient::new(addr, PROTOCOL, VERSION, &self.user, self.options.clone()),
            failures: 0,
            rest: None,
        });
        match &node.rest {
            Some((until, why)) if clock::now() < *until => Err(why.clone()),
            _ => {
                node.rest = None;
                Ok(node.rpc.clone())
            }
        }
    }

    fn change(&self, addr: &str, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.lock().get_mut(addr) {
            change(node);
        }
    }

    /// Counts a failure. A DataNode that refuses this user is not asked again for a while; another is
    /// left alone after several failures in a row.
    fn failed(&self, addr: &str, why: NotLocal) -> NotLocal {
        self.change(addr, |node| {
            node.failures += 1;
            let why = match why.reason {
                ReadReason::Refused => why.clone(),
                _ if node.failures < FAILURES_MAX => return,
                _ => NotLocal::disabled(self.disabled_for, node.failures, &why),
            };
            node.failures = 0;
            node.rest = Some((clock::now() + self.disabled_for, why));
        });
        why
    }
}

async fn ask(
    rpc: &RpcClient,
    block: &LocatedBlock,
) -> Result<GetBlockLocalPathInfoResponseProto, OpenError> {
    let request = GetBlockLocalPathInfoRequestProto {
        block: (&block.block).into(),
        token: block.token.clone(),
    };
    let answer = rpc.call("getBlockLocalPathInfo", &request).await;
    answer.map_err(|error: RpcError| match error.remote_kind() {
        Some(JavaException::InvalidToken) => OpenError::Token(error.to_string()),
        Some(JavaException::AccessControl) => {
            let text = format!("the DataNode refused to tell paths: {error}");
            OpenError::NotLocal(NotLocal::new(ReadReason::Refused, text))
        }
        _ => {
            let text = format!("the DataNode told no paths: {error}");
            OpenError::NotLocal(NotLocal::new(ReadReason::SocketFailed, text))
        }
    })
}

/// Opens the files that a DataNode names, if their names are those of that block's files: a DataNode must not make this
/// process open other ones.
fn open(answer: &GetBlockLocalPathInfoResponseProto, id: BlockId) -> io::Result<Parts> {
    let (data, meta) = (Path::new(&answer.local_path), Path::new(&answer.local_meta_path));
    let name = format!("blk_{id}");
    let name_of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_meta =
        |found: String| found.starts_with(&format!("{name}_")) && found.ends_with(".meta");
    if name_of(data).as_ref() != Some(&name) || !name_of(meta).is_some_and(is_meta) {
        let text = format!("{} and {} are not files of {name}", data.display(), meta.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(Parts { data: open_file(data)?, meta: open_file(meta)?, slot: None })
}

fn open_file(path: &Path) -> io::Result<File> {
    let open = || {
        // What waits for a writer when it is opened is no block file.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("is not a file")),
        }
    };
    open().map_err(|error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(data: &Path, meta: &Path) -> GetBlockLocalPathInfoResponseProto {
        GetBlockLocalPathInfoResponseProto {
            local_path: data.display().to_string(),
            local_meta_path: meta.display().to_string(),
            ..Default::default()
        }
    }

    #[test]
    fn only_the_files_of_the_block_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, name).unwrap();
            path
        };
        let (data, meta) = (file("blk_7"), file("blk_7_1001.meta"));
        let (other, other_meta) = (file("blk_8"), file("blk_8_1001.meta"));
        let opens = |data: &Path, meta: &Path| open(&answer(data, meta), BlockId(7)).is_ok();
        assert!(opens(&data, &meta));
        assert!(!opens(&other, &meta));
        assert!(!opens(&data, &other_meta));
        assert!(!opens(&data, &data));
        assert!(!opens(&directory.path().join("none/blk_7"), &meta));
        std::fs::remove_file(&data).unwrap();
        std::os::unix::fs::symlink(&other, &data).unwrap();
        assert!(!opens(&data, &meta));
        std::fs::remove_file(&data).unwrap();
        std::fs::create_dir(&data).unwrap();
        assert!(!opens(&data, &meta));
    }
}
