//! Paths that clients join carelessly, with Apache's HttpFS as the judge of the gateway and Apache's NameNode of ours.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::Explain;
use zerohop_interop::http::Connection;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::Java;
use zerohop_interop::{Kind, Outcome, ports, site, wait};

use crate::gateway::gateway;

const USER: &str = "user.name=root";

/// Operations on a file that leave it where it is, then those that change and move it.
const ON_A_FILE: [(&str, &str, &str); 13] = [
    ("GET", "op=GETFILESTATUS", ""),
    ("GET", "op=OPEN", ""),
    ("GET", "op=LISTSTATUS", ""),
    ("GET", "op=GETACLSTATUS", ""),
    ("GET", "op=GETCONTENTSUMMARY", ""),
    ("GET", "op=GETFILECHECKSUM", ""),
    ("GET", "op=GETFILEBLOCKLOCATIONS", ""),
    ("PUT", "op=SETPERMISSION&permission=600", ""),
    ("PUT", "op=SETXATTR&xattr.name=user.a&xattr.value=0x41&flag=CREATE", ""),
    ("POST", "op=APPEND&data=true", "def"),
    ("POST", "op=TRUNCATE&newlength=2", ""),
    ("PUT", "op=RENAME&destination=/p/d/g", ""),
    ("GET", "op=GETFILESTATUS", ""),
];

/// Returns other ways to write the path `/p/NAME/f`.
fn ways_of_writing(name: &str) -> Vec<String> {
    let plain = format!("/p/{name}/f");
    vec![
        format!("/p//{name}/f"),
        format!("/p///{name}//f"),
        format!("{plain}/"),
        format!("{plain}//"),
        format!("/p%2F%2F{name}/f"),
        format!("/p/./{name}/f"),
        format!("/p/q/../{name}/f"),
        format!("/p/q/%2e%2e/{name}/f"),
        format!("{plain}/."),
        format!("{plain}/x/.."),
        format!("/..{plain}"),
        plain,
    ]
}

/// Returns the status of an answer, with what tells it from others.
fn ask(port: u16, method: &str, target: &str, body: &str) -> String {
    let headers = [("Content-Type", "application/octet-stream")];
    let target = format!("/webhdfs/v1{target}&{USER}");
    let answer = Connection::open(port).unwrap().ask(method, &target, &headers, body.as_bytes());
    let answer = answer.unwrap();
    let json: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let told = match (&json["RemoteException"]["exception"], &json["boolean"]) {
        (Value::String(exception), _) => exception.clone(),
        (_, Value::Bool(done)) => done.to_string(),
        _ => String::new(),
    };
    format!("{} {told}", answer.status)
}

/// Makes `/p` with the file `/p/d/f` and the empty directory `/p/q`.
fn make_anew(port: u16) {
    ask(port, "DELETE", "/p?op=DELETE&recursive=true", "");
    assert_eq!(ask(port, "PUT", "/p/q?op=MKDIRS", ""), "200 true");
    assert_eq!(ask(port, "PUT", "/p/d/f?op=CREATE&data=true", "abc"), "201 ");
}

/// Returns the answers to every operation with every path.
fn answers(port: u16) -> Vec<String> {
    let mut answers = Vec::new();
    let mut note = |method: &str, target: String, body: &str| {
        answers.push(format!("{method} {target}: {}", ask(port, method, &target, body)));
    };
    for path in ways_of_writing("d") {
        make_anew(port);
        for (method, query, body) in ON_A_FILE {
            note(method, format!("{path}?{query}"), body);
        }
        make_anew(port);
        note("DELETE", format!("{path}?op=DELETE"), "");
    }
    for path in ways_of_writing("n") {
        make_anew(port);
        note("PUT", format!("{path}?op=CREATE&data=true"), "xyz");
        note("GET", "/p/n/f?op=GETFILESTATUS".to_owned(), "");
        make_anew(port);
        note("PUT", format!("{path}?op=MKDIRS"), "");
        note("GET", "/p/n/f?op=LISTSTATUS".to_owned(), "");
    }
    for path in ways_of_writing("q") {
        make_anew(port);
        note("PUT", format!("/p/d/f?op=RENAME&destination={path}"), "");
        note("GET", "/p/q/f?op=GETFILESTATUS".to_owned(), "");
        make_anew(port);
        ask(port, "PUT", "/p/d/g?op=CREATE&data=true", "ghi");
        let source = path.replace("q/f", "d/f").replace("q//f", "d//f");
        note("POST", format!("/p/d/g?op=CONCAT&sources={source}"), "");
    }
    for aclspec in ["bob", "user:bob", "user:bob:rwz", "user:bob:", "user:bob:wr-", "%20user:b:r--"]
    {
        make_anew(port);
        for operation in ["MODIFYACLENTRIES", "REMOVEACLENTRIES"] {
            note("PUT", format!("/p/d/f?op={operation}&aclspec={aclspec}"), "");
        }
    }
    answers
}

/// Starts Apache's HttpFS in front of a cluster. Returns its process and its port.
fn httpfs(cluster: &Cluster) -> Outcome<(Process, u16)> {
    let (port, home) = (ports::free(), cluster.directory().join("httpfs"));
    fs::create_dir_all(home.join("temp")).at("a directory")?;
    let property = |name: &str, value: &str| {
        format!("<property><name>{name}</name><value>{value}</value></property>")
    };
    let site = property("httpfs.hadoop.config.dir", &cluster.conf().display().to_string());
    let site = format!("<configuration>{site}</configuration>");
    fs::write(home.join("httpfs-site.xml"), site).at("httpfs-site.xml")?;
    fs::write(home.join("httpfs-signature.secret"), "secret").at("a secret")?;
    let mut command = Java::get()?.command(512);
    // The web server reads its address from the class path or from here, and not from the directory of its configuration.
    command.env("HTTPFS_HTTP_HOSTNAME", "127.0.0.1").env("HTTPFS_HTTP_PORT", port.to_string());
    for name in ["home", "config", "log"] {
        command.arg(format!("-Dhttpfs.{name}.dir={}", home.display()));
    }
    command.arg(format!("-Dhttpfs.temp.dir={}", home.join("temp").display()));
    command.arg("org.apache.hadoop.fs.http.server.HttpFSServerWebServer");
    let log = home.join("httpfs.log");
    let process = Process::daemon("Apache's HttpFS", command, &log)?;
    let reached = || {
        let mut connection = match Connection::open(port) {
            Ok(connection) => connection,
            Err(_) => return Ok(false),
        };
        let target = format!("/webhdfs/v1/?op=LISTSTATUS&{USER}");
        Ok(connection.ask("GET", &target, &[], b"").is_ok_and(|answer| answer.status == 200))
    };
    wait::until("HttpFS serves", Duration::from_secs(120), reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 30)))?;
    Ok((process, port))
}

/// Returns what a server says of a bad ACL entry, and of a number that is none.
fn refusals(port: u16) -> Vec<String> {
    let ask = |target: &str| {
        let target = format!("/webhdfs/v1/p/d/f?{target}&{USER}");
        let answer = Connection::open(port).unwrap().ask("PUT", &target, &[], b"").unwrap();
        String::from_utf8_lossy(&answer.body).replace("\\/", "/")
    };
    let message = |target: &str| {
        let json: Value = serde_json::from_str(&ask(target)).unwrap_or_default();
        json["RemoteException"]["message"].as_str().unwrap_or_default().to_owned()
    };
    let targets = ["op=SETACL&aclspec=user:bob", "op=SETREPLICATION&replication=x"];
    targets.map(message).into()
}

#[test]
fn the_gateway_refused_paths_that_apaches_httpfs_takes() {
    let proxy = [("hadoop.proxyuser.root.hosts", "*"), ("hadoop.proxyuser.root.groups", "*")];
    let settings = site::settings(&[("dfs.replication", "1"), proxy[0], proxy[1]]);
    let (namenode, datanodes) = (Kind::Apache, Kind::Apache);
    let spec = Spec { name: "rest-paths", namenode, datanodes, count: 1, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let (_httpfs, judge) = httpfs(&cluster).unwrap();
    let gateway = gateway(&cluster, &[]).unwrap();
    let expected = answers(judge);
    assert_eq!(refusals(gateway.port), refusals(judge));
    let ours = answers(gateway.port);
    let differ: Vec<String> = ours
        .iter()
        .zip(&expected)
        .filter(|(ours, apaches)| ours != apaches)
        .map(|(ours, apaches)| format!("ours:   {ours}\napache: {apaches}\n"))
        .collect();
    assert_eq!(ours.len(), expected.len());
    assert!(differ.is_empty(), "{}\n{}", differ.join("\n"), gateway.log());
    cluster.keep_logs = false;
}
