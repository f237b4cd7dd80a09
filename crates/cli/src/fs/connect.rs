//! Connecting to HDFS, and the client's errors in the words of Hadoop's shell.

use std::io;

use zerohop_client::blocking::FileSystem;
use zerohop_client::{CallerContext, Error, ErrorKind as ClientKind, NoConnection};
use zerohop_conf::Conf;

use super::location::Location;
use crate::failure::{Failure, Kind, Outcome};
use crate::{log, wording};

/// The client of the default file system, for administration.
pub fn connect_client(conf: &Conf) -> Outcome<FileSystem> {
    if !Location::default_of(conf)?.has_scheme("hdfs") {
        return Err(no_hdfs(&conf.default_fs()?));
    }
    log::of_client(conf);
    open_client(conf, None)
}

/// The client of a file system, for a command: NameNodes read in their audit logs that it is one, as of Apache's commands
/// (`ToolRunner`).
pub fn open_client(conf: &Conf, uri: Option<&str>) -> Outcome<FileSystem> {
    let fs = FileSystem::connect(conf, uri).map_err(client_failure)?;
    fs.set_caller_context(Some(CallerContext::new("CLI")));
    Ok(fs)
}

/// What Hadoop's `AdminHelper` says of a file system that cannot be administered, and what to do.
pub fn no_hdfs(uri: &str) -> Failure {
    Failure::io(format!(
        "FileSystem {uri} is not an HDFS file system; set fs.defaultFS in core-site.xml or give -fs hdfs://HOST:PORT"
    ))
}

/// The client's error in the shell's terms; its text is what Hadoop's shell prints.
pub fn client_failure(error: Error) -> Failure {
    let kind = match error.kind() {
        ClientKind::NotFound => Kind::NotFound,
        ClientKind::Denied => Kind::Denied,
        ClientKind::Exists => Kind::Exists,
        ClientKind::Unsupported => Kind::Unsupported,
        _ => Kind::Io,
    };
    match error.no_connection() {
        Some(NoConnection { address, source, .. }) if wording::is_apaches() => {
            Failure::io(no_connection_as_apache(address, source))
        }
        Some(NoConnection { address, source, .. }) => Failure::io(no_connection(address, source)),
        _ => Failure::new(kind, error.to_string()),
    }
}

fn no_connection(addr: &str, source: &io::Error) -> String {
    if is_unknown_host(source) {
        let host = addr.rsplit_once(':').map_or(addr, |(host, _)| host);
        return format!(
            "{host}: unknown host; is that name, or the name service of hdfs-site.xml, spelled right in fs.defaultFS?"
        );
    }
    let problem = match source.kind() {
        io::ErrorKind::ConnectionRefused => "Connection refused".to_owned(),
        _ => source.to_string(),
    };
    format!(
        "cannot connect to {addr}: {problem}; is the NameNode running there? fs.defaultFS names it"
    )
}

/// Returns `true` if the host has no address: the resolver's errors have this kind.
fn is_unknown_host(source: &io::Error) -> bool {
    source.kind() == io::ErrorKind::NotFound
}

/// What Hadoop's `NetUtils.wrapException` makes of it, and what to do.
fn no_connection_as_apache(addr: &str, source: &io::Error) -> String {
    let call = format!("Call From {} to {addr} failed on", local_host());
    let (what, wiki) = match source.kind() {
        io::ErrorKind::ConnectionRefused => (
            "connection exception: java.net.ConnectException: Connection refused".to_owned(),
            "ConnectionRefused",
        ),
        io::ErrorKind::TimedOut => (
            format!("socket timeout exception: java.net.SocketTimeoutException: {source}"),
            "SocketTimeout",
        ),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => (
            format!("socket timeout exception: java.net.NoRouteToHostException: {source}"),
            "NoRouteToHost",
        ),
        _ if is_unknown_host(source) => {
            let host = addr.rsplit_once(':').map_or(addr, |(host, _)| host);
            return format!(
                "java.net.UnknownHostException: {host}; is that host's name, or a name service of hdfs-site.xml, spelled right in fs.defaultFS?"
            );
        }
        _ => (format!("socket exception: java.net.SocketException: {source}"), "SocketException"),
    };
    format!(
        "{call} {what}; For more details see:  http://wiki.apache.org/hadoop/{wiki}; is the NameNode running there? fs.defaultFS names it"
    )
}

/// This machine as Java's `InetAddress.getLocalHost` prints it: `name/ip`.
fn local_host() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let found = std::net::ToSocketAddrs::to_socket_addrs(&(name.as_str(), 0)).ok();
    let ip = found.and_then(|mut found| found.next()).map(|addr| addr.ip().to_string());
    format!("{name}/{}", ip.unwrap_or_else(|| "127.0.0.1".to_owned()))
}
