//! WebHDFS on the NameNode's port: operations on metadata are answered, those with data are sent on to a DataNode.

use crate::acl_pattern::AclPattern;
use crate::call::{Call, in_json, to_location};
use crate::callers::Callers;
use crate::clients::Clients;
use crate::csrf::Csrf;
use crate::data::{self, Uploads};
use crate::explorer::ExplorerHost;
use crate::face::Face;
use crate::failure::{Failure, Statuses, allowed_methods};
use crate::operation::Operation;
use crate::params::Params;
use crate::redirects::Redirects;
use crate::request::Request;
use crate::takeover;
use axum::body::Body;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde_json::{Value, json};
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use zerohop_client::{DatanodeInfo, ErrorKind, FileStatus, FileSystem, LocalNameNode, User};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_pages::Site;
use zerohop_wire::RemoteException;

/// A DataNode's host and HTTP port, or none.
pub type ChosenDatanode = Pin<Box<dyn Future<Output = Option<(String, u16)>> + Send>>;

/// DataNodes, of each the UUID, the host and the HTTP port; or that the NameNode is to be asked again later.
pub type Datanodes =
    Pin<Box<dyn Future<Output = Result<Vec<(String, String, u16)>, RemoteException>> + Send>>;

/// What WebHDFS needs of the NameNode whose port it is on.
pub trait HostNameNode: Send + Sync + 'static {
    /// Answers the calls of a user who asks from `remote`.
    fn calls_of(&self, user: &User, remote: IpAddr) -> Arc<dyn LocalNameNode>;

    /// A DataNode for a new block that a client at `client` writes, none of `excluded` (`host` or `host:port`).
    fn datanode_for_block(
        &self,
        client: IpAddr,
        block_size: u64,
        excluded: Vec<String>,
    ) -> ChosenDatanode;

    /// The DataNodes in service, none of `excluded` (`host` or `host:port`).
    fn datanodes_in_service(&self, excluded: Vec<String>) -> Datanodes;
}

/// The NameNode's face.
pub(crate) struct NameNodeFace {
    conf: Conf,
    /// The address by which DataNodes reach the NameNode.
    rpc_address: String,
    host: Arc<dyn HostNameNode>,
    callers: Callers,
    csrf: Option<Csrf>,
    redirects: Redirects,
    acl_pattern: AclPattern,
    block_size: u64,
    clients: Clients<(User, IpAddr)>,
    /// Where data goes through the NameNode.
    uploads: Uploads,
}

impl NameNodeFace {
    /// With the NameNode's configuration.
    ///
    /// # Errors
    /// If a key is malformed.
    pub(crate) fn new(
        mut conf: Conf,
        rpc_address: String,
        host: Arc<dyn HostNameNode>,
    ) -> Result<Self, ConfError> {
        // Permissions in requests are those that files get.
        conf.set("fs.permissions.umask-mode", "000");
        takeover::name_webhdfs_clients(&mut conf);
        Ok(Self {
            acl_pattern: AclPattern::from_conf(&conf)?,
            callers: Callers::of_namenode(&conf)?,
            csrf: Csrf::from_conf(&conf)?,
            redirects: Redirects::from_conf(&conf)?,
            block_size: conf.get(&keys::DFS_BLOCKSIZE)?,
            clients: Clients::default(),
            uploads: Uploads::of_webhdfs(),
            conf,
            rpc_address,
            host,
        })
    }

    fn client(&self, user: User, from: IpAddr) -> Result<FileSystem, Failure> {
        self.clients.get((user, from), |(user, from)| {
            let builder = FileSystem::builder().conf(self.conf.clone()).user(&user.name);
            let builder = builder.name_node(format!("hdfs://{}", self.rpc_address));
            builder.build_within(self.host.calls_of(user, *from))
        })
    }

    /// Sends the caller to a DataNode.
    async fn redirect(
        &self,
        call: &Call,
        request: &Request,
        fs: &FileSystem,
        from: IpAddr,
    ) -> Result<Response, Failure> {
        let (host, port) = self.datanode(request, fs, from).await?;
        let authority = self.redirects.authority(&host, port);
        let location =
            call.second_step_at(&authority, &format!("namenoderpcaddress={}", self.rpc_address));
        Ok(to_location(location, request.params.flag("noredirect", false)?))
    }

    /// The DataNode that shall answer: one that holds the block that is read, one for a new block, or the one for the appends to a
    /// path. The last one does not depend on where the blocks are, which changes from append to append.
    async fn datanode(
        &self,
        request: &Request,
        fs: &FileSystem,
        from: IpAddr,
    ) -> Result<(String, u16), Failure> {
        let excluded = request.params.text("excludedatanodes").unwrap_or_default();
        let names = excluded.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        if request.operation == Operation::Append {
            let path = request.path.as_str();
            status_or(fs, path, || format!("File {path} not found.")).await?;
            let nodes = self.host.datanodes_in_service(names.clone()).await;
            let nodes = nodes.map_err(Failure::refused)?;
            let first = nodes.into_iter().min_by_key(|(uuid, ..)| append_rank(path, uuid));
            if let Some((_, host, port)) = first {
                return Ok((host, port));
            }
        } else if request.operation != Operation::Create
            && let Some(found) = holder(request, fs, &names).await?
        {
            return Ok(found);
        }
        let block_size = request.params.number("blocksize", "a long")?.unwrap_or(self.block_size);
        let chosen = self.host.datanode_for_block(from, block_size, names).await;
        chosen.ok_or_else(|| {
            Failure::io(format!(
                "Failed to find datanode, suggest to check cluster health. excludeDatanodes={excluded}"
            ))
        })
    }
}

/// What is known of a path; where there is none, an error in the operation's own words.
async fn status_or(
    fs: &FileSystem,
    path: &str,
    missing: impl FnOnce() -> String,
) -> Result<FileStatus, Failure> {
    fs.status(path).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::not_found(missing()),
        _ => error.into(),
    })
}

/// A DataNode that holds the block at which the operation begins; none for an empty file.
async fn holder(
    request: &Request,
    fs: &FileSystem,
    excluded: &[String],
) -> Result<Option<(String, u16)>, Failure> {
    let path = request.path.as_str();
    let status = status_or(fs, path, || format!("File {path} not found.")).await?;
    let mut offset = status.len.saturating_sub(1);
    if request.operation == Operation::Open {
        offset = request.params.number("offset", "a long")?.unwrap_or(0);
        // The DataNode needs it.
        request.params.number::<u64>("length", "a long")?;
        if offset >= status.len && status.len > 0 {
            return Err(Failure::io(format!(
                "Offset={offset} out of the range [0, {}); OPEN, path={path}",
                status.len
            )));
        }
    }
    if status.len == 0 {
        return Ok(None);
    }
    let located = fs.block_locations(path, offset, 1).await?;
    let Some(block) = located.blocks.first() else { return Ok(None) };
    let is_good = |node: &&DatanodeInfo| {
        let names = [
            node.host().to_owned(),
            node.ip().to_owned(),
            node.transfer_addr(true),
            node.transfer_addr(false),
        ];
        node.admin_state().as_str_name() != "DECOMMISSIONED"
            && !excluded.iter().any(|name| names.contains(name))
    };
    let node = block.nodes().find(is_good);
    let node = node.ok_or_else(|| Failure::io("No active nodes contain this block"))?;
    let port = u16::try_from(node.proto().id.info_port);
    let port = port.map_err(|_| Failure::io("a DataNode's HTTP port makes no sense"))?;
    Ok(Some((node.host().to_owned(), port)))
}

/// The DataNode of the lowest rank takes the appends to a path: they queue in its gateway, where two DataNodes would refuse
/// each other's for the lease. Files spread over the DataNodes.
fn append_rank(path: &str, uuid: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, uuid).hash(&mut hasher);
    hasher.finish()
}

/// The answers about features that this NameNode lacks: those of one that has them, where nobody uses them.
async fn about_absent_feature(
    fs: &FileSystem,
    request: &Request,
) -> Result<Option<Value>, Failure> {
    Ok(Some(match request.operation {
        Operation::GetEcPolicy => {
            let path = &request.path;
            status_or(fs, path, || format!("Path not found: {path}")).await?;
            Value::Null
        }
        Operation::SatisfyStoragePolicy => return Err(Failure::no_policy_satisfier()),
        Operation::GetSnapshottableDirectoryList => json!({ "SnapshottableDirectoryList": null }),
        _ => return Ok(None),
    }))
}

/// The file browser on the NameNode's port.
pub(crate) struct NameNodeExplorer {
    pub(crate) face: Arc<NameNodeFace>,
    pub(crate) site: Box<dyn Fn() -> Site + Send + Sync>,
}

impl ExplorerHost for NameNodeExplorer {
    async fn file_system(
        &self,
        params: &Params,
        _: &HeaderMap,
        from: SocketAddr,
    ) -> Result<FileSystem, Failure> {
        let from = from.ip().to_canonical();
        self.face.client(self.face.callers.user(params, from, None).await?, from)
    }

    fn check(&self, _: Operation) -> Result<(), Failure> {
        Ok(())
    }

    /// None is open for longer than its append.
    async fn close_streams(&self, _: &str) {}

    fn site(&self) -> Site {
        (self.site)()
    }
}

impl Face for NameNodeFace {
    const STATUSES: Statuses = Statuses::WebHdfs;

    async fn answer(&self, call: Call, from: SocketAddr, body: Body) -> Result<Response, Failure> {
        if let Some(refusal) = self.csrf.as_ref().and_then(|csrf| csrf.refusal(&call)) {
            return Ok(refusal);
        }
        if call.method == Method::OPTIONS {
            return Ok(allowed_methods());
        }
        let request = Request::of_webhdfs(&call.method, &call.uri)?;
        self.acl_pattern.check(&request.params, false)?;
        let from = from.ip().to_canonical();
        let fs = self.client(self.callers.user(&request.params, from, None).await?, from)?;
        if let Some(answer) = about_absent_feature(&fs, &request).await? {
            return Ok(in_json(&answer));
        }
        match request.operation {
            operation if !operation.moves_data() => data::metadata(&fs, &request).await,
            _ if self.redirects.proxies(from) => {
                data::answer(&call, fs, request, body, &self.uploads).await
            }
            _ => self.redirect(&call, &request, &fs, from).await,
        }
    }
}
