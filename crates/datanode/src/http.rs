//! The HTTP port: `/jmx`, as monitoring and NameNode pages expect it to be there, `/shortcircuit`, who
//! reads locally, and `/blockScannerReport`, how far the replicas are verified.

use crate::jmx;
use crate::node::Node;
use crate::short_circuit::listing;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use zerohop_transport::beans;
use zerohop_transport::conf_page;
use zerohop_transport::rarely::Rarely;

/// What there is.
const INDEX: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>DataNode</title>\
<h1>DataNode</h1><ul><li><a href=/jmx>jmx</a>: figures<li><a href=/conf>conf</a>: the configuration in force\
<li><a href=/shortcircuit>shortcircuit</a>: who reads locally\
<li><a href=/blockScannerReport>blockScannerReport</a>: how far the replicas are verified</ul>\n";
/// A request's head that is longer is refused.
const HEAD_MAX: usize = 16 << 10;
/// A request that takes longer is dropped.
const REQUEST_PATIENCE: Duration = Duration::from_secs(10);
/// Wait before accepting again where the system could not give a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Connections at once; more wait in the socket.
const CONNECTIONS_MAX: usize = 2048;

/// A tokio listener of a bound port.
pub(crate) fn listener(bound: StdListener) -> io::Result<TcpListener> {
    bound.set_nonblocking(true)?;
    TcpListener::from_std(bound)
}

/// Serves until the task is aborted.
pub(crate) async fn serve(listener: TcpListener, node: Arc<Node>) {
    let room = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS_MAX));
    let mut serving = tokio::task::JoinSet::new();
    let refused = Rarely::default();
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors: the listener stays ready, and would be asked without end.
                if refused.is_due() {
                    tracing::warn!("HTTP: a connection was not accepted: {error}");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let node = Arc::clone(&node);
        serving.spawn(async move {
            // A disk that hangs keeps the permit of who asks it, beyond the patience.
            let answered = answer(stream, node, Arc::new(permit));
            let served = tokio::time::timeout(REQUEST_PATIENCE, answered).await;
            if let Ok(Err(error)) = served {
                tracing::debug!("HTTP: {error}");
            }
        });
        while serving.try_join_next().is_some() {}
    }
}

async fn answer(
    mut stream: TcpStream,
    node: Arc<Node>,
    permit: Arc<OwnedSemaphorePermit>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_MAX || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut kind = match path {
        "/" => "text/html;charset=utf-8",
        "/blockScannerReport" => "text/plain;charset=utf-8",
        _ => "application/json;charset=utf-8",
    };
    let (status, body) = match (method, path) {
        ("GET" | "HEAD", "/") => ("200 OK", INDEX.to_owned()),
        ("GET" | "HEAD", "/conf") => {
            let page = conf_page::page(&node.reconfiguration.conf(), query, accept_header(&head));
            kind = page.kind;
            (status_line(page.status), page.body)
        }
        ("GET" | "HEAD", "/jmx") => {
            let query = query.to_owned();
            let made = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                beans::page(&query, || jmx::beans(&node))
            });
            let page = made.await.map_err(io::Error::other)?;
            (status_line(page.status), page.body)
        }
        ("GET" | "HEAD", "/shortcircuit") => {
            let listing = listing(&node.store.slots, &node.domain_socket, &node.store.cache);
            ("200 OK", format!("{listing:#}\n"))
        }
        ("GET" | "HEAD", "/blockScannerReport") => ("200 OK", node.block_scanner.report()),
        ("GET" | "HEAD", _) => ("404 Not Found", "{}".to_owned()),
        _ => ("405 Method Not Allowed", "{}".to_owned()),
    };
    let sent = if method == "HEAD" { "" } else { body.as_str() };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: \
         {}\r\nConnection: close\r\n\r\n{sent}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// The value of the request's Accept header.
fn accept_header(head: &str) -> &str {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let mut accepts = fields.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
    accepts.next().map_or("", |(_, value)| value.trim())
}

fn status_line(status: u16) -> &'static str {
    match status {
        200 => "200 OK",
        400 => "400 Bad Request",
        404 => "404 Not Found",
        _ => "500 Internal Server Error",
    }
}
