//! Commands and a cluster of three DataNodes send their spans to a collector, which is this test: a `put` and a `get` are
//! one trace each, from the command over the NameNode to the last DataNode.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;

use support::{run, zerohop};

/// An error, as the status of a span has it.
const STATUS_ERROR: i32 = 2;

/// A span with the service that sent it.
#[derive(Clone)]
struct Sent {
    service: String,
    span: Span,
}

/// A collector that keeps what it gets (OTLP over HTTP).
struct Collector {
    endpoint: String,
    spans: Arc<Mutex<Vec<Sent>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&spans);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || {
                    while let Some(found) = serve(stream.as_ref().unwrap()) {
                        kept.lock().unwrap().extend(found);
                    }
                });
            }
        });
        Self { endpoint, spans }
    }

    fn spans(&self) -> Vec<Sent> {
        self.spans.lock().unwrap().clone()
    }
}

/// One request of a connection; `None` at its end.
fn serve(stream: &TcpStream) -> Option<Vec<Sent>> {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push(line.trim_end().to_ascii_lowercase());
    }
    assert_eq!(head[0], "post /v1/traces http/1.1");
    assert!(head.contains(&"content-type: application/x-protobuf".to_owned()), "{head:?}");
    let len = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; len.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
    (&mut &*stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    let mut found = Vec::new();
    for resource in request.resource_spans {
        let attributes = resource.resource.unwrap_or_default().attributes;
        let service = attributes.iter().find(|one| one.key == "service.name").unwrap();
        let service = format!("{:?}", service.value);
        for scope in resource.scope_spans {
            let sent = |span| Sent { service: service.clone(), span };
            found.extend(scope.spans.into_iter().map(sent));
        }
    }
    Some(found)
}

/// The spans of one trace.
struct Trace(HashMap<Vec<u8>, Sent>);

impl Trace {
    /// The trace that a span of this name begins.
    fn of(all: &[Sent], root: &str) -> Self {
        let root = all.iter().find(|sent| sent.span.name == root);
        let id = &root.unwrap_or_else(|| panic!("{:?}", names(all))).span.trace_id;
        let within = all.iter().filter(|sent| sent.span.trace_id == *id);
        Self(within.map(|sent| (sent.span.span_id.clone(), sent.clone())).collect())
    }

    /// Names from a span up to the root, each with its kind.
    fn chain(&self, sent: &Sent) -> Vec<(String, SpanKind)> {
        let mut chain = Vec::new();
        let mut next = Some(sent);
        while let Some(sent) = next {
            chain.push((sent.span.name.clone(), sent.span.kind()));
            next = self.0.get(&sent.span.parent_span_id);
        }
        chain
    }

    /// The chains of all spans of a name and kind, the shortest first.
    fn chains(&self, name: &str, kind: SpanKind) -> Vec<Vec<(String, SpanKind)>> {
        let is_wanted = |sent: &&Sent| sent.span.name == name && sent.span.kind() == kind;
        let mut found: Vec<_> =
            self.0.values().filter(is_wanted).map(|sent| self.chain(sent)).collect();
        found.sort_by_key(Vec::len);
        found
    }

    /// Servers' spans are sent by the cluster, all others by the commands.
    fn check_services(&self) {
        for Sent { service, span } in self.0.values() {
            let is_server = span.kind() == SpanKind::Server;
            assert_eq!(service.contains("cluster"), is_server, "{} of {service}", span.name);
            assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        }
    }
}

fn names(all: &[Sent]) -> Vec<&str> {
    all.iter().map(|sent| sent.span.name.as_str()).collect()
}

fn named<const N: usize>(chain: [(&str, SpanKind); N]) -> Vec<(String, SpanKind)> {
    chain.map(|(name, kind)| (name.to_owned(), kind)).into()
}

#[test]
fn one_trace_leads_from_a_command_through_namenode_and_pipeline() {
    use SpanKind::{Client, Internal, Server};
    let collector = Collector::start();
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("source");
    fs::write(&source, vec![7; 3_000_000]).unwrap();
    // The second command belongs to a trace that began elsewhere; the third one fails.
    let outer = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let script = format!(
        "export OTEL_SERVICE_NAME=command
        remote='-D dfs.client.read.shortcircuit=false -D dfs.client.domain.socket.data.traffic=false'
        zerohop fs -put {source} /f || exit 1
        TRACEPARENT=00-{}-{}-01 zerohop fs $remote -get /f {source}.back || exit 2
        zerohop fs -cat /none && exit 3
        cmp {source} {source}.back",
        outer.0,
        outer.1,
        source = source.display(),
    );
    let mut up = zerohop(&["up", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
    up.args(["--datanodes", "3", "--exec", &script])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint)
        .env("OTEL_SERVICE_NAME", "cluster");
    let (code, out, err) = run(&mut up);
    assert_eq!(code, 0, "{out} {err}");
    assert_eq!(err, "cat: `/none': No such file or directory\n");

    // Both processes have sent everything when they end.
    let all = collector.spans();
    let (command, file) = (("zerohop fs -put", Internal), ("write file", Internal));
    let put = Trace::of(&all, command.0);
    put.check_services();
    for method in ["create", "addBlock", "complete"] {
        let expected = named([(method, Server), (method, Client), file, command]);
        assert_eq!(put.chains(method, Server), [expected], "{:?}", names(&all));
    }
    let write = ("WRITE_BLOCK", Server);
    let sent = ("WRITE_BLOCK", Client);
    assert_eq!(
        put.chains(write.0, Server),
        [
            named([write, sent, file, command]),
            named([write, write, sent, file, command]),
            named([write, write, write, sent, file, command]),
        ]
    );

    let (command, file) = (("zerohop fs -get", Internal), ("read file", Internal));
    let get = Trace::of(&all, command.0);
    get.check_services();
    let root = get.0.values().find(|sent| sent.span.name == command.0).unwrap();
    assert_eq!(hex::encode(&root.span.trace_id), outer.0);
    assert_eq!(hex::encode(&root.span.parent_span_id), outer.1);
    let asked = "getBlockLocations";
    let expected = named([(asked, Server), (asked, Client), file, command]);
    assert!(get.chains(asked, Server).contains(&expected), "{:?}", get.chains(asked, Server));
    let expected = named([("READ_BLOCK", Server), ("READ_BLOCK", Client), file, command]);
    assert_eq!(get.chains("READ_BLOCK", Server), [expected]);

    let cat = Trace::of(&all, "zerohop fs -cat");
    let root = cat.0.values().find(|sent| sent.span.name == "zerohop fs -cat").unwrap();
    assert_eq!(root.span.status.as_ref().map(|status| status.code), Some(STATUS_ERROR));

    // Heartbeats, reports and lease renewals make no traces of their own.
    let traced = put.0.len() + get.0.len() + cat.0.len();
    assert_eq!(traced, all.len(), "{:?}", names(&all));
}

/// The log has no spans in its lines, and a collector that is away costs a warning and no command.
#[test]
fn a_collector_that_is_away_is_said_and_harms_nothing() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let data = tempfile::tempdir().unwrap();
    let mut up = zerohop(&["up", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
    up.args(["--data", data.path().to_str().unwrap(), "--exec", "zerohop fs -touchz /f"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{gone}"));
    let (code, _, err) = run(&mut up);
    assert_eq!(code, 0, "{err}");
    let line = format!("spans could not be sent to http://{gone}/v1/traces: ");
    assert_eq!(err.matches(&line).count(), 2, "of the command and of the cluster: {err}");
    let log = fs::read_to_string(data.path().join("zerohop.log")).unwrap();
    assert!(!log.contains("rpc server"), "{log}");
}
