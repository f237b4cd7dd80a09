//! REST: WebHDFS on the ports of NameNode and DataNode, and the gateway on HttpFS's port with Hoop's URLs, in front of our
//! cluster or Apache's.
//!
//! A request names its user; the client that acts for that user does the work, reads of blocks on this machine without the
//! network among it. Inside the NameNode that client calls ClientProtocol without a connection. Bodies are streamed in both
//! directions. The operations are written once; the faces (`httpfs`, `namenode`, `datanode`) say who may ask, what is sent on
//! to another server, and which status an exception gets.

mod access;
mod acl_pattern;
mod activity;
mod append_answers;
mod appends;
mod archive;
mod body;
mod call;
mod callers;
mod certificate;
mod change;
mod clients;
mod cookies;
mod csrf;
mod data;
mod datanode;
mod description;
mod drained;
mod exchange;
mod explorer;
mod face;
mod failure;
mod file_body;
mod form;
mod gateway_pages;
mod glob;
mod httpfs;
mod leftovers;
mod list_pages;
mod lists;
mod located_ranges;
mod locations;
mod logged_url;
mod lookup;
mod namenode;
mod open;
mod operation;
mod other_paths;
mod overview;
mod params;
mod paths;
mod rates;
mod recursive;
mod redirects;
mod request;
mod requests_by_user;
mod shapes;
mod snapshots;
mod streamed_list;
mod takeover;
mod trash;
mod upload;

pub use certificate::CertificateError;
pub use cookies::CookieError;
pub use description::openapi;
pub use namenode::{ChosenDatanode, Datanodes, HostNameNode};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use datanode::DataNodeFace;
use httpfs::HttpFs;
use namenode::{NameNodeExplorer, NameNodeFace};
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tower_service::Service;
use zerohop_conf::{Conf, ConfError, Role, check_protections, keys};
use zerohop_daemon::http::{HttpOptions, HttpServer, MinimumRate, QueryValues, profile_page};
use zerohop_daemon::process;
use zerohop_pages::Site;

/// WebHDFS and the file browser for the port of a NameNode in this process, which DataNodes reach at `rpc_address` (`host:port`, or a name service).
/// None where `dfs.webhdfs.enabled` is false.
///
/// # Errors
/// If the configuration is wrong.
pub fn rest_of_namenode(
    conf: Conf,
    rpc_address: String,
    namenode: Arc<dyn HostNameNode>,
    site: impl Fn() -> Site + Send + Sync + 'static,
) -> Result<Option<NameNodeRest>, ConfError> {
    if !conf.get(&keys::DFS_WEBHDFS_ENABLED)? {
        return Ok(None);
    }
    let face = Arc::new(NameNodeFace::new(conf, rpc_address, namenode)?);
    let explorer = NameNodeExplorer { face: Arc::clone(&face), site: Box::new(site) };
    Ok(Some(NameNodeRest {
        webhdfs: face::router(face),
        explorer: explorer::router(Arc::new(explorer)),
    }))
}

/// What a NameNode's port has of this crate.
pub struct NameNodeRest {
    /// Below `/webhdfs/v1`.
    pub webhdfs: Router,
    /// The file browser, at `/explorer`.
    pub explorer: Router,
}

/// WebHDFS for the port of a DataNode. None where `dfs.webhdfs.enabled` is false.
///
/// # Errors
/// If the configuration is wrong.
pub fn webhdfs_of_datanode(conf: Conf) -> Result<Option<Router>, ConfError> {
    if !conf.get(&keys::DFS_WEBHDFS_ENABLED)? {
        return Ok(None);
    }
    Ok(Some(face::router(Arc::new(DataNodeFace::new(conf)?))))
}

/// The gateway's port, taken and not served yet.
pub struct Gateway {
    server: HttpServer,
    face: Arc<HttpFs>,
    conf: Arc<Conf>,
    threads: usize,
    scheme: &'static str,
}

impl Gateway {
    /// Takes the port that the configuration names.
    ///
    /// # Errors
    /// If it is taken or not this machine's, or the configuration is wrong, names no cluster, or promises a protection that is
    /// not implemented.
    pub fn bind(mut conf: Conf) -> Result<Self, Error> {
        check_protections(&conf, Role::Gateway)?;
        check_cluster(&conf)?;
        let options = http_options(&conf)?;
        let (host, port) =
            (conf.get(&keys::HTTPFS_HTTP_HOSTNAME)?, conf.get(&keys::HTTPFS_HTTP_PORT)?);
        let tls = certificate::certificate(&conf)?;
        let administrators = conf.get(&keys::HTTPFS_HTTP_ADMINISTRATORS)?;
        if !administrators.trim().is_empty() {
            conf.set(keys::DFS_CLUSTER_ADMINISTRATORS.name, administrators);
        }
        takeover::name_clients(&mut conf, &process::host_name(), port);
        let threads = options.handler_threads;
        let face = Arc::new(HttpFs::new(conf.clone())?);
        let not_taken = |source| Error::Address { address: format!("{host}:{port}"), source };
        let mut addresses = (host.as_str(), port).to_socket_addrs().map_err(not_taken)?;
        let address = addresses.next().ok_or_else(|| not_taken(io::ErrorKind::NotFound.into()))?;
        let mut server = HttpServer::bind(address, options).map_err(not_taken)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        if let Some(tls) = tls {
            server = server.with_tls(tls);
        }
        Ok(Self { server, face, conf: Arc::new(conf), threads, scheme })
    }

    /// The address, with the port that was taken.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// `https` or `http`.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Serves until `stop` is ready; then requests that are under way are answered, and files that are open for further appends
    /// are closed. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If the runtime cannot watch the port.
    pub fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<impl Future<Output = ()> + Send + 'static> {
        let appends = self.face.appends();
        let router = with_profile(gateway_pages::router(self.face, self.threads), self.conf);
        let serving = self.server.serve_until(router, stop)?;
        Ok(async move {
            serving.await;
            appends.close_below("/").await;
        })
    }
}

/// Refuses a configuration without a cluster: every request would be refused one by one.
fn check_cluster(conf: &Conf) -> Result<(), Error> {
    match conf.default_hdfs()? {
        Some(_) => Ok(()),
        None => Err(Error::NoCluster(conf.default_fs()?)),
    }
}

/// `/profile` beside the files. A file of that name is reached with an operation (`?op=`), or below `/webhdfs/v1`.
fn with_profile(files: Router, conf: Arc<Conf>) -> Router {
    let profile = profile_page(move || Arc::clone(&conf));
    let answer = async move |request: Request<Body>| -> Response {
        let is_profile = request.uri().path() == "/profile"
            && !QueryValues::parse(request.uri().query().unwrap_or_default()).has("op");
        let mut router = if is_profile { profile } else { files };
        match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    };
    Router::new().fallback(answer)
}

/// The limits of the gateway's port.
fn http_options(conf: &Conf) -> Result<HttpOptions, ConfError> {
    Ok(HttpOptions {
        connections_max: conf.get(&keys::ZEROHOP_GATEWAY_CONNECTIONS_MAX)?.max(1),
        connections_per_address_max: conf
            .get(&keys::ZEROHOP_GATEWAY_CONNECTIONS_PER_ADDRESS_MAX)?,
        rate_min: MinimumRate {
            bytes_per_s: conf.get(&keys::ZEROHOP_GATEWAY_RATE_MIN)?,
            grace: conf.get(&keys::ZEROHOP_GATEWAY_RATE_GRACE_MS)?,
        },
        ..HttpOptions::from_conf(conf)?
    })
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// The certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The cookies.
    #[error(transparent)]
    Cookies(#[from] CookieError),
    /// The configuration names no cluster.
    #[error(
        "fs.defaultFS is {0}: a gateway serves a cluster; set it to hdfs://HOST:PORT or hdfs://NAMESERVICE"
    )]
    NoCluster(String),
    /// The port.
    #[error("httpfs.http.hostname and httpfs.http.port, {address}: {source}")]
    Address {
        /// Host and port as they are configured.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(settings: &[(&str, &str)]) -> Result<Gateway, Error> {
        let mut conf = Conf::new();
        conf.set(keys::HTTPFS_HTTP_HOSTNAME.name, "127.0.0.1");
        conf.set(keys::HTTPFS_HTTP_PORT.name, "0");
        conf.set("fs.defaultFS", "hdfs://127.0.0.1:1");
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        Gateway::bind(conf)
    }

    /// HttpFS's own list of administrators guarded nothing.
    #[test]
    fn the_gateways_administrators_are_those_of_httpfs_before_those_of_the_cluster() {
        let cluster = (keys::DFS_CLUSTER_ADMINISTRATORS.name, "hdfs");
        let httpfs = |list| (keys::HTTPFS_HTTP_ADMINISTRATORS.name, list);
        for (settings, expected) in [
            (&[cluster, httpfs("alice staff")][..], "alice staff"),
            (&[cluster, httpfs(" ")], "hdfs"),
        ] {
            let gateway = bind(settings).unwrap();
            for conf in [&*gateway.conf, gateway.face.conf()] {
                assert_eq!(conf.get(&keys::DFS_CLUSTER_ADMINISTRATORS).unwrap(), expected);
            }
        }
    }

    #[test]
    fn the_gateway_started_without_the_group_mapping_that_it_was_told_to_use() {
        let mapping = "org.apache.hadoop.security.LdapGroupsMapping";
        let refusal = bind(&[("hadoop.security.group.mapping", mapping)]).err().unwrap();
        assert!(matches!(refusal, Error::Conf(ConfError::Refused(_))), "{refusal}");
    }

    #[tokio::test]
    async fn a_gateway_without_a_cluster_answered_everything_with_400() {
        let bind = |uri: Option<&str>| {
            let mut conf = Conf::new();
            conf.set("httpfs.http.hostname", "127.0.0.1");
            conf.set("httpfs.http.port", "0");
            uri.into_iter().for_each(|uri| conf.set("fs.defaultFS", uri));
            Gateway::bind(conf).map(drop).map_err(|error| error.to_string())
        };
        for uri in [None, Some("file:///"), Some("s3a://bucket/")] {
            let refused = bind(uri).unwrap_err();
            let named = uri.unwrap_or("file:///");
            assert!(refused.starts_with(&format!("fs.defaultFS is {named}: ")), "{refused}");
        }
        bind(Some("hdfs://127.0.0.1:1")).unwrap();
    }
}
