//! What the doors do if the configuration asks for it: TLS with HTTP/2, local reads, the header against cross-site requests.

use std::path::Path;
use std::process::{Command, Output};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::http::Connection;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, site};

use crate::gateway::gateway;

const BROWSER: (&str, &str) = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)");
const HEADER: (&str, &str) = ("X-XSRF-HEADER", "");
const OCTETS: (&str, &str) = ("Content-Type", "application/octet-stream");

fn certificate(directory: &Path) {
    let mut openssl = Command::new("openssl");
    openssl
        .current_dir(directory)
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]);
    openssl.args(["-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=localhost"]);
    let Output { status, stderr, .. } =
        openssl.args(["-addext", "subjectAltName=IP:127.0.0.1"]).output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
}

#[test]
fn tls_local_reads_and_the_header_against_other_sites_are_there_where_they_are_asked_for() {
    let sockets = SocketDirectory::make("rest-asked").unwrap();
    let settings = site::settings(&[
        ("dfs.replication", "1"),
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &sockets.setting()),
        ("dfs.webhdfs.rest-csrf.enabled", "true"),
    ]);
    let (name, namenode, datanodes) = ("rest-asked", Kind::Ours, Kind::Ours);
    let cluster = Cluster::start(&Spec { name, namenode, datanodes, count: 1, settings }).unwrap();
    over_tls(&cluster);
    browsers_need_the_header(&cluster);
}

/// curl verifies the certificate and asks for HTTP/2 and for HTTP/1.1; Hoop's other operations need no prefix.
fn over_tls(cluster: &Cluster) {
    certificate(cluster.directory());
    let file = |name: &str| cluster.directory().join(name).display().to_string();
    let (chain, key) = (file("certificate.pem"), file("key.pem"));
    let gateway = gateway(
        cluster,
        &[
            "httpfs.ssl.enabled=true",
            &format!("zerohop.gateway.tls.certificate={chain}"),
            &format!("zerohop.gateway.tls.key={key}"),
        ],
    )
    .unwrap();
    let ask = |args: &[&str], path: &str| {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-i", "--max-time", "60", "--cacert", &chain]).args(args);
        let done = curl.arg(format!("https://127.0.0.1:{}{path}", gateway.port)).output().unwrap();
        String::from_utf8_lossy(&done.stdout).replace('\r', "")
    };
    let data = ["--data-binary", "0123456789", "-H", "Content-Type: application/octet-stream"];
    let put = [&["--http2", "-X", "PUT"][..], &data].concat();
    let made = ask(&put, "/webhdfs/v1/d/f?op=CREATE&data=true&user.name=root");
    assert!(made.starts_with("HTTP/2 201") && made.contains("https://"), "{made}");
    for (version, expected) in [("--http2", "HTTP/2 200"), ("--http1.1", "HTTP/1.1 200")] {
        let read = ask(&[version, "-r", "0-"], "/d/f?user.name=root").replace(" 206", " 200");
        assert!(read.starts_with(expected) && read.ends_with("\n\n0123456789"), "{read}");
    }
    let log = gateway.log();
    assert!(log.contains("/d/f") && log.contains("read local-mapped"), "{log}");

    let hoop = [
        ("GET", "/d?op=liststatus", "\"pathSuffix\":\"f\""),
        ("GET", "/d/f?op=getfilestatus", "\"length\":10"),
        ("GET", "/d?op=getcontentsummary", "\"fileCount\":1"),
        ("PUT", "/e?op=mkdirs", "{\"boolean\":true}"),
        ("PUT", "/d/f?op=rename&destination=/e/g", "{\"boolean\":true}"),
        ("PUT", "/e/g?op=setpermission&permission=600", "HTTP/2 200"),
        ("PUT", "/e/g?op=setowner&owner=alice", "HTTP/2 200"),
        ("PUT", "/e/g?op=settimes&modificationtime=1000", "HTTP/2 200"),
        ("PUT", "/e/g?op=setreplication&replication=1", "{\"boolean\":true}"),
        ("GET", "/?op=gethomedirectory", "{\"Path\":\"/user/root\"}"),
        ("DELETE", "/e?op=delete&recursive=true", "{\"boolean\":true}"),
    ];
    for (method, path, expected) in hoop {
        let answer = ask(&["--http2", "-X", method], &format!("{path}&user.name=root"));
        assert!(answer.starts_with("HTTP/2 200") && answer.contains(expected), "{path}: {answer}");
    }
    let mut plain = Connection::open(gateway.port).unwrap();
    let refused = plain.ask("GET", "/d/f?user.name=root", &[], b"");
    assert!(!refused.is_ok_and(|answer| answer.status == 200), "without TLS");
}

/// On the ports of NameNode and DataNode, also behind the redirect; programs and reads need none.
fn browsers_need_the_header(cluster: &Cluster) {
    let ask = |port: u16, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]| {
        Connection::open(port).unwrap().ask(method, target, headers, body).unwrap()
    };
    let namenode = cluster.site.http_port;
    let mkdirs = "/webhdfs/v1/browsers?op=MKDIRS&user.name=root";
    let refused = ask(namenode, "PUT", mkdirs, &[BROWSER], b"");
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("Missing Required Header for CSRF"), "{}", refused.text());
    for headers in [&[][..], &[BROWSER, HEADER]] {
        assert_eq!(ask(namenode, "PUT", mkdirs, headers, b"").status, 200, "{headers:?}");
    }
    let list = "/webhdfs/v1/?op=LISTSTATUS&user.name=root";
    assert_eq!(ask(namenode, "GET", list, &[BROWSER], b"").status, 200);

    let create = "/webhdfs/v1/browsers/f?op=CREATE&user.name=root";
    let redirect = ask(namenode, "PUT", create, &[BROWSER, HEADER], b"");
    assert_eq!(redirect.status, 307, "{}", redirect.text());
    let place = redirect.header("location").unwrap();
    let datanode = cluster.site.info_ports[0];
    let (_, target) = place.split_once(&format!(":{datanode}")).unwrap();
    let refused = ask(datanode, "PUT", target, &[BROWSER, OCTETS], b"x");
    assert_eq!(refused.status, 400, "{}", refused.text());
    // What a browser asks first, for a page of another address.
    let asked = [BROWSER, ("Origin", "http://elsewhere"), ("Access-Control-Request-Method", "PUT")];
    let preflight = ask(datanode, "OPTIONS", target, &asked, b"");
    assert_eq!(preflight.status, 200, "{}", preflight.text());
    assert_eq!(preflight.header("access-control-allow-methods"), Some("PUT"));
    let made = ask(datanode, "PUT", target, &[BROWSER, HEADER, OCTETS], b"x");
    assert_eq!(made.status, 201, "{}", made.text());
}
