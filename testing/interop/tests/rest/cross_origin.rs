//! The cross-origin filter: the same requests of pages of other origins to Apache's NameNode and to ours, both with the filter
//! on, and the headers of the answers compared.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::{Kind, site};

use crate::gateway::gateway;

const NAMED: &str = "https://page.example:8443";
const MATCHING: &str = "http://a.b.example.org";
const REGEX: &str = "http://n7";
const OTHER: &str = "http://evil.example";
const SETTINGS: [(&str, &str); 5] = [
    ("dfs.replication", "1"),
    (
        "hadoop.http.filter.initializers",
        "org.apache.hadoop.http.lib.StaticUserWebFilter,org.apache.hadoop.security.HttpCrossOriginFilterInitializer",
    ),
    ("hadoop.http.cross-origin.enabled", "true"),
    (
        "hadoop.http.cross-origin.allowed-origins",
        "https://page.example:8443, http://*.example.org,regex:http://n[0-9]",
    ),
    ("hadoop.http.cross-origin.allowed-methods", "GET,PUT , HEAD"),
];

type Headers<'a> = &'a [(&'a str, &'a str)];

/// Requests as pages of other origins make them: with each of the origins, and what browsers ask before others.
const ASKED: [(&str, Headers<'static>); 12] = [
    ("GET", &[]),
    ("GET", &[("Origin", NAMED)]),
    ("GET", &[("Origin", MATCHING)]),
    ("GET", &[("Origin", REGEX)]),
    ("GET", &[("Origin", OTHER)]),
    ("GET", &[("Origin", "null")]),
    ("GET", &[("Origin", "http://evil.example https://page.example:8443")]),
    ("OPTIONS", &[("Origin", NAMED), ("Access-Control-Request-Method", "PUT")]),
    ("OPTIONS", &[("Origin", NAMED), ("Access-Control-Request-Method", "DELETE")]),
    ("OPTIONS", &[("Origin", OTHER), ("Access-Control-Request-Method", "PUT")]),
    (
        "OPTIONS",
        &[
            ("Origin", REGEX),
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "Content-Type,X-Requested-With"),
        ],
    ),
    (
        "OPTIONS",
        &[
            ("Origin", REGEX),
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "X-Other"),
        ],
    ),
];

/// A page, a listing, a redirect to a DataNode, and an error.
const NAMENODE_TARGETS: [&str; 5] = [
    "/conf?name=dfs.replication",
    "/logLevel",
    "/webhdfs/v1/?op=LISTSTATUS&user.name=root",
    "/webhdfs/v1/f?op=OPEN&user.name=root&noredirect=false",
    "/webhdfs/v1/none?op=GETFILESTATUS&user.name=root",
];

fn ask(port: u16, method: &str, target: &str, headers: Headers<'_>) -> Answer {
    Connection::open(port).unwrap().ask(method, target, headers, b"").unwrap()
}

/// The headers that browsers go by, in order.
fn cross_origin_headers(answer: &Answer) -> Vec<String> {
    let is_for_browsers = |name: &str| name.starts_with("access-control-");
    let headers = answer.headers.iter().filter(|(name, _)| is_for_browsers(name));
    let mut lines: Vec<String> = headers.map(|(name, value)| format!("{name}: {value}")).collect();
    lines.sort();
    lines
}

fn start(name: &str, kind: Kind) -> Cluster {
    let (settings, namenode, datanodes) = (site::settings(&SETTINGS), kind, kind);
    let cluster = Cluster::start(&Spec { name, namenode, datanodes, count: 1, settings }).unwrap();
    let create = "/webhdfs/v1/f?op=CREATE&user.name=root";
    let redirect = ask(cluster.site.http_port, "PUT", create, &[]);
    let target = second_step(&cluster, &redirect);
    let octets = [("Content-Type", "application/octet-stream")];
    let mut datanode = Connection::open(cluster.site.info_ports[0]).unwrap();
    let made = datanode.ask("PUT", &target, &octets, b"0123456789").unwrap();
    assert_eq!(made.status, 201, "{}", made.text());
    cluster
}

/// The target at the DataNode that a redirect names.
fn second_step(cluster: &Cluster, redirect: &Answer) -> String {
    assert_eq!(redirect.status, 307, "{}", redirect.text());
    let location = redirect.header("location").unwrap();
    location.split_once(&format!(":{}", cluster.site.info_ports[0])).unwrap().1.to_owned()
}

/// Status and headers of every answer, with what was asked.
fn answers(port: u16, targets: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    for target in targets {
        for (method, headers) in ASKED {
            let answer = ask(port, method, target, headers);
            let shown = cross_origin_headers(&answer);
            lines.push(format!("{method} {target} {headers:?}: {} {shown:?}", answer.status));
        }
    }
    lines
}

/// A page of an origin that the operator had allowed got no answer: the filter was named, taken and not there.
#[test]
fn pages_of_other_origins_get_the_headers_that_apaches_filter_gives() {
    let theirs = start("cross-origin-apache", Kind::Apache);
    let ours = start("cross-origin-ours", Kind::Ours);
    let of_namenode = |cluster: &Cluster| answers(cluster.site.http_port, &NAMENODE_TARGETS);
    for (theirs, ours) in of_namenode(&theirs).iter().zip(of_namenode(&ours)) {
        assert_eq!(*theirs, ours);
    }
    let of_datanode =
        |cluster: &Cluster| answers(cluster.site.info_ports[0], &["/conf?name=dfs.replication"]);
    for (theirs, ours) in of_datanode(&theirs).iter().zip(of_datanode(&ours)) {
        assert_eq!(*theirs, ours);
    }
    drop(theirs);
    behind_the_redirect(&ours);
    at_the_gateway(&ours);
}

/// A browser names the origin `null` at the DataNode that it was sent to. Like Apache's, our DataNode gives a file's bytes to any
/// page; a page that follows the link itself is known by its origin.
fn behind_the_redirect(cluster: &Cluster) {
    let open = "/webhdfs/v1/f?op=OPEN&user.name=root";
    let redirect = ask(cluster.site.http_port, "GET", open, &[("Origin", NAMED)]);
    let target = second_step(cluster, &redirect);
    for (origin, allowed) in [("null", "*"), (OTHER, "*"), (NAMED, NAMED)] {
        let answer = ask(cluster.site.info_ports[0], "GET", &target, &[("Origin", origin)]);
        assert_eq!((answer.status, answer.text().as_str()), (200, "0123456789"));
        assert_eq!(answer.header("access-control-allow-origin"), Some(allowed), "{origin}");
    }
}

/// Before a request a browser asks without the user's name and in small letters.
fn at_the_gateway(cluster: &Cluster) {
    let pairs = SETTINGS.map(|(name, value)| format!("{name}={value}"));
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    let gateway = gateway(cluster, &pairs).unwrap();
    let preflight = [
        ("Origin", NAMED),
        ("Access-Control-Request-Method", "PUT"),
        ("Access-Control-Request-Headers", "content-type,x-requested-with"),
    ];
    for target in ["/webhdfs/v1/f?op=CREATE", "/f?op=OPEN", "/jmx"] {
        let answer = ask(gateway.port, "OPTIONS", target, &preflight);
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET,PUT,HEAD"));
        assert_eq!(answer.header("access-control-allow-origin"), Some(NAMED), "{target}");
    }
    let open = "/webhdfs/v1/f?op=OPEN&user.name=root";
    for (origin, allowed) in [(NAMED, Some(NAMED)), (OTHER, None)] {
        let answer = ask(gateway.port, "GET", open, &[("Origin", origin)]);
        assert_eq!((answer.status, answer.text().as_str()), (200, "0123456789"));
        assert_eq!(answer.header("access-control-allow-origin"), allowed, "{origin}");
        assert_eq!(answer.header("vary"), Some("origin"));
    }
}
