//! What strangers send: strange names, operations and values that make no sense, requests that lie about their length, attempts to
//! hide one request in another, and names of other users.

use std::time::Duration;

use serde_json::Value;
use zerohop_client::User;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::Explain;
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::{Kind, Outcome, site, wait};

use crate::gateway::{Shared, cluster, gateway};

const OCTETS: (&str, &str) = ("Content-Type", "application/octet-stream");
const LIMIT: Duration = Duration::from_secs(60);

fn ask(port: u16, method: &str, target: &str, body: &[u8]) -> Outcome<Answer> {
    Connection::open(port).at("the port")?.ask(method, target, &[OCTETS], body).at(target)
}

/// The Java class of the exception of a refusal, which has to be one that clients of WebHDFS can read.
fn exception(answer: &Answer) -> Outcome<String> {
    let json: Value = serde_json::from_slice(&answer.body).at(&answer.text())?;
    let inner = &json["RemoteException"];
    let is_json =
        answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    match (&inner["exception"], &inner["message"], &inner["javaClassName"]) {
        (Value::String(name), Value::String(_), Value::String(class))
            if is_json && class.ends_with(name) =>
        {
            Ok(name.clone())
        }
        _ => Err(format!("{answer:?}")),
    }
}

fn status_of(port: u16, path: &str) -> u16 {
    ask(port, "GET", &format!("/webhdfs/v1{path}?op=GETFILESTATUS&user.name=root"), b"")
        .unwrap()
        .status
}

#[test]
fn strange_names_are_kept_as_they_are() {
    let shared = Shared::get().unwrap();
    let port = shared.gateway.port;
    let long = "n".repeat(255);
    // As the URL has it, and the name.
    for (encoded, name) in [
        ("a%20b", "a b"),
        ("a+b", "a+b"),
        ("a%2Bb", "a+b"),
        ("100%25", "100%"),
        ("a%2520b", "a%20b"),
        ("%C3%A9%F0%9F%98%80", "é😀"),
        ("%22%3C%3E%5C%60%7B%7C%7D", "\"<>\\`{|}"),
        ("q%3Fx%3D1%26y%23z", "q?x=1&y#z"),
        ("%2e%2e%2e", "..."),
        ("a;b,c=d@e!$'()*~", "a;b,c=d@e!$'()*~"),
        (long.as_str(), long.as_str()),
    ] {
        for door in [port, shared.http_port] {
            let path = format!("/webhdfs/v1/strange/{encoded}");
            // The gateway takes the data at once; the NameNode's port is only asked.
            let target = format!("{path}?op=CREATE&data=true&user.name=root");
            let made = ask(port, "PUT", &target, name.as_bytes()).unwrap();
            assert_eq!(made.status, 201, "{encoded}: {}", made.text());
            let list =
                ask(door, "GET", "/webhdfs/v1/strange?op=LISTSTATUS&user.name=root", b"").unwrap();
            let list: Value = serde_json::from_slice(&list.body).unwrap();
            assert_eq!(list["FileStatuses"]["FileStatus"][0]["pathSuffix"], name, "{encoded}");
            let read = ask(port, "GET", &format!("{path}?op=OPEN&user.name=root"), b"").unwrap();
            assert_eq!((read.status, read.text().as_str()), (200, name), "{encoded}");
            let gone =
                ask(door, "DELETE", &format!("{path}?op=DELETE&user.name=root"), b"").unwrap();
            assert_eq!(gone.text(), "{\"boolean\":true}", "{encoded}");
        }
    }
    let deep = "/d".repeat(1001);
    let too_long = format!("/webhdfs/v1/{}", "n".repeat(256));
    for path in [
        "/webhdfs/v1/a/../b",
        "/webhdfs/v1/a/%2e%2e/b",
        "/webhdfs/v1/a/./b",
        "/webhdfs/v1/a:b",
        "/webhdfs/v1/a%3Ab",
        "/webhdfs/v1/%FF",
        "/../a",
        &too_long,
        &format!("/webhdfs/v1{deep}"),
    ] {
        for (door, method, op) in [
            (port, "PUT", "CREATE&data=true"),
            (port, "PUT", "MKDIRS"),
            (shared.http_port, "PUT", "MKDIRS"),
        ] {
            if door == shared.http_port && !path.starts_with("/webhdfs") {
                continue;
            }
            // The gateway resolves these, as HttpFS does (paths.rs).
            if door == port && (path.contains("/a/.") || path.contains("%2e")) {
                continue;
            }
            let answer =
                ask(door, method, &format!("{path}?op={op}&user.name=root"), b"x").unwrap();
            assert!(matches!(answer.status, 400 | 403 | 500), "{op} {path}: {answer:?}");
            exception(&answer).unwrap_or_else(|said| panic!("{op} {path}: {said}"));
        }
    }
    let root = ask(port, "GET", "/webhdfs/v1?op=GETFILESTATUS&user.name=root", b"").unwrap();
    assert!(root.text().contains("\"DIRECTORY\""), "{}", root.text());
    let removed =
        ask(port, "DELETE", "/webhdfs/v1/strange?op=DELETE&recursive=true&user.name=root", b"");
    assert_eq!(removed.unwrap().text(), "{\"boolean\":true}");
}

#[test]
fn operations_and_values_that_make_no_sense_are_refused_with_an_exception() {
    let shared = Shared::get().unwrap();
    let (port, web) = (shared.gateway.port, shared.http_port);
    let data = "data=true&user.name=root";
    let made =
        ask(port, "PUT", &format!("/webhdfs/v1/sense/f?op=CREATE&{data}"), b"0123456789").unwrap();
    assert_eq!(made.status, 201);
    let f = "/webhdfs/v1/sense/f?user.name=root";
    for (method, query) in [
        ("GET", ""),
        ("GET", "op="),
        ("GET", "op=NONE"),
        ("GET", "op=CREATE"),
        ("PUT", "op=OPEN"),
        ("DELETE", "op=MKDIRS"),
        ("POST", "op=DELETE"),
        ("GET", "op=OPEN&offset=x"),
        ("GET", "op=OPEN&offset=-5"),
        ("GET", "op=OPEN&offset=99999999999999999999"),
        ("GET", "op=OPEN&offset=11"),
        ("GET", "op=OPEN&length=-2"),
        ("PUT", "op=CREATE&data=true&overwrite=maybe"),
        ("PUT", "op=CREATE&data=true&permission=9"),
        ("PUT", "op=CREATE&data=true&permission=77777"),
        ("PUT", "op=CREATE&data=true&replication=-5"),
        ("PUT", "op=CREATE&data=true&replication=99999"),
        ("PUT", "op=CREATE&data=true&replication=10000"),
        ("PUT", "op=CREATE&data=true&blocksize=x"),
        ("PUT", "op=CREATE&data=true&blocksize=1"),
        ("PUT", "op=CREATE&data=true&blocksize=9223372036854775808"),
        ("POST", "op=APPEND&data=true&offset=x"),
        ("POST", "op=APPEND&data=true&hsync=x"),
        ("PUT", "op=RENAME"),
        ("PUT", "op=RENAME&destination="),
        ("PUT", "op=RENAME&destination=/x&renameoptions=SOME"),
        ("PUT", "op=SETREPLICATION&replication=0"),
        ("PUT", "op=SETREPLICATION&replication=x"),
        ("PUT", "op=SETPERMISSION&permission=rwx"),
        ("PUT", "op=SETOWNER"),
        ("PUT", "op=SETTIMES&modificationtime=x"),
        ("PUT", "op=SETACL&aclspec=what"),
        ("PUT", "op=SETACL"),
        ("PUT", "op=MODIFYACLENTRIES&aclspec=user:bob:rwz"),
        ("PUT", "op=SETXATTR&xattr.name=nonamespace&xattr.value=1"),
        ("PUT", "op=SETXATTR&xattr.name=user.a&xattr.value=0xz"),
        ("PUT", "op=SETXATTR&xattr.name=user.a&flag=SOME"),
        ("PUT", "op=REMOVEXATTR"),
        ("GET", "op=GETXATTRS&encoding=morse"),
        ("GET", "op=GETXATTRS&xattr.name=user.none"),
        ("GET", "op=CHECKACCESS&fsaction=xyz"),
        ("PUT", "op=SETSTORAGEPOLICY&storagepolicy=NONE"),
        ("PUT", "op=SETQUOTA&namespacequota=x&storagespacequota=1"),
        ("POST", "op=TRUNCATE"),
        ("POST", "op=TRUNCATE&newlength=-2"),
        ("POST", "op=TRUNCATE&newlength=11"),
        ("POST", "op=CONCAT"),
        ("POST", "op=CONCAT&sources=/none"),
        ("PUT", "op=CREATESYMLINK"),
        ("PUT", "op=RENEWDELEGATIONTOKEN&token=x"),
        ("PUT", "op=CANCELDELEGATIONTOKEN&token=x"),
        ("PUT", "op=ENABLEECPOLICY&ecpolicy=RS-6-3-1024k"),
        ("PUT", "op=CREATESNAPSHOT"),
        ("GET", "op=GETSNAPSHOTDIFF&oldsnapshotname=a&snapshotname=b"),
    ] {
        for door in [port, web] {
            // Data goes to the DataNode, which is asked by other tests.
            if door == web && query.contains("data=true") {
                continue;
            }
            let answer = ask(door, method, &format!("{f}&{query}"), b"").unwrap();
            assert!((400..=500).contains(&answer.status), "{method} {query}: {answer:?}");
            exception(&answer).unwrap_or_else(|said| panic!("{method} {query}: {said}"));
        }
    }
    // What is not known changes nothing, and of two values the first counts.
    let read =
        ask(port, "GET", &format!("{f}&op=OPEN&colour=red&offset=8&offset=x&&=&%FF=%FF"), b"")
            .unwrap();
    assert_eq!((read.status, read.text().as_str()), (200, "89"));
    for (method, target) in
        [("PATCH", f.to_owned()), ("TRACE", f.to_owned()), ("PUT", format!("{f}&op=CREATE"))]
    {
        let answer = ask(port, method, &target, b"").unwrap();
        assert!(matches!(answer.status, 307 | 400 | 405 | 500), "{method}: {answer:?}");
    }
    let kept = ask(port, "GET", &format!("{f}&op=OPEN"), b"").unwrap();
    assert_eq!(kept.text(), "0123456789");
    ask(port, "DELETE", "/webhdfs/v1/sense?op=DELETE&recursive=true&user.name=root", b"").unwrap();
}

/// What answers the bytes, and whether the connection is closed behind it.
fn raw(port: u16, bytes: &[u8]) -> Outcome<(Option<Answer>, bool)> {
    let mut connection = Connection::open(port).at("the port")?;
    connection.send(bytes).at("sending")?;
    let answer = connection.answer(false).ok();
    Ok((answer, connection.is_closed()))
}

#[test]
fn a_request_within_another_one_is_not_obeyed() {
    let shared = Shared::get().unwrap();
    let port = shared.gateway.port;
    let target = "/webhdfs/v1/smuggle/f?op=CREATE&data=true&user.name=root";
    assert_eq!(
        ask(port, "PUT", "/webhdfs/v1/smuggle/victim?op=CREATE&data=true&user.name=root", b"x")
            .unwrap()
            .status,
        201
    );
    let hidden = "DELETE /webhdfs/v1/smuggle/victim?op=DELETE&user.name=root HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let len = hidden.len();
    for (name, head) in [
        ("both lengths", format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", len + 5)),
        (
            "both lengths, the other way",
            format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", len + 5),
        ),
        ("two lengths", format!("Content-Length: 5\r\nContent-Length: {}\r\n", len + 5)),
        ("a list of lengths", format!("Content-Length: 5, {}\r\n", len + 5)),
        ("a length with a sign", "Content-Length: +5\r\n".to_owned()),
        ("a negative length", "Content-Length: -5\r\n".to_owned()),
        ("a length in hexadecimal digits", "Content-Length: 0x5\r\n".to_owned()),
        ("an encoding that is not chunked", "Transfer-Encoding: xchunked\r\n".to_owned()),
        ("an encoding behind chunked", "Transfer-Encoding: chunked, identity\r\n".to_owned()),
        ("a space before the colon", "Transfer-Encoding : chunked\r\n".to_owned()),
        (
            "a folded line",
            format!("X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", len + 5),
        ),
        ("a folded value", "Transfer-Encoding:\r\n chunked\r\n".to_owned()),
        (
            "a carriage return in a value",
            format!("X: y\rTransfer-Encoding: chunked\r\nContent-Length: {}\r\n", len + 5),
        ),
        ("a zero byte in a value", format!("X: y\0z\r\nContent-Length: {}\r\n", len + 5)),
    ] {
        let kind = "Content-Type: application/octet-stream\r\n";
        let bytes = format!(
            "PUT {target} HTTP/1.1\r\nHost: localhost\r\n{kind}{head}\r\n0\r\n\r\n{hidden}"
        );
        let (answer, is_closed) = raw(port, bytes.as_bytes()).unwrap();
        let status = answer.as_ref().map_or(0, |answer| answer.status);
        assert!(is_closed, "{name}: {answer:?}");
        // One of both lengths is obeyed, as the specification has it, if nothing is read behind.
        let is_expected = match name {
            "both lengths" | "both lengths, the other way" => matches!(status, 201 | 400),
            _ => status == 400,
        };
        assert!(is_expected, "{name}: {answer:?}");
        assert_eq!(status_of(port, "/smuggle/victim"), 200, "{name}");
    }
    // Chunks that end elsewhere than they say.
    for chunks in [
        "5\r\nabcdefgh\r\n0\r\n\r\n",
        "zz\r\nab\r\n0\r\n\r\n",
        "-1\r\n\r\n",
        "ffffffffffffffffff\r\nab\r\n",
    ] {
        let head = format!(
            "PUT {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
        );
        let (answer, is_closed) = raw(
            port,
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunks}{hidden}").as_bytes(),
        )
        .unwrap();
        assert!(
            is_closed && answer.as_ref().is_none_or(|answer| answer.status >= 400),
            "{chunks:?}: {answer:?}"
        );
        assert_eq!(status_of(port, "/smuggle/victim"), 200, "{chunks:?}");
    }
    // Two requests in one packet are two requests.
    let mut both = Connection::open(port).unwrap();
    let one = "GET /webhdfs/v1/smuggle?op=GETFILESTATUS&user.name=root HTTP/1.1\r\nHost: localhost\r\n\r\n";
    both.send(format!("{one}{one}").as_bytes()).unwrap();
    assert_eq!(
        [both.answer(false).unwrap().status, both.answer(false).unwrap().status],
        [200, 200]
    );
    ask(port, "DELETE", "/webhdfs/v1/smuggle?op=DELETE&recursive=true&user.name=root", b"")
        .unwrap();
}

#[test]
fn bodies_that_are_slow_or_of_a_wrong_length_leave_nothing() {
    let cluster = cluster("rest-slow", Kind::Ours).unwrap();
    let gateway = gateway(&cluster, &["hadoop.http.idle_timeout.ms=1000"]).unwrap();
    let port = gateway.port;
    let put = "/webhdfs/v1/slow/f?op=CREATE&data=true&user.name=root";
    assert_eq!(ask(port, "PUT", put, b"as it was").unwrap().status, 201);
    let head = |len: &str| {
        format!(
            "PUT {put} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n{len}\r\n\r\n"
        )
    };
    let is_clean = || {
        let list = ask(port, "GET", "/webhdfs/v1/slow?op=LISTSTATUS&user.name=root", b"")?.text();
        let read = ask(port, "GET", "/webhdfs/v1/slow/f?op=OPEN&user.name=root", b"")?.text();
        Ok(!list.contains("_UPLOADING_") && read == "as it was")
    };
    // Silent in the middle of a sized body, of a chunk, of a chunk's size; and in the head of a request.
    for bytes in [
        head("Content-Length: 100") + "half",
        head("Transfer-Encoding: chunked") + "10\r\nhalf",
        head("Transfer-Encoding: chunked") + "4\r\nhalf\r\n1",
        "GET /webhdfs/v1/slow?op=LISTSTATUS&user".to_owned(),
    ] {
        let (answer, is_closed) = raw(port, bytes.as_bytes()).unwrap();
        assert!(
            is_closed && answer.as_ref().is_none_or(|answer| answer.status >= 400),
            "{bytes:?}: {answer:?}"
        );
        wait::until("nothing is left", LIMIT, is_clean).unwrap();
    }
    // Gone before the end that was promised.
    for bytes in
        [head("Content-Length: 100") + "half", head("Transfer-Encoding: chunked") + "4\r\nhalf\r\n"]
    {
        let mut connection = Connection::open(port).unwrap();
        connection.send(bytes.as_bytes()).unwrap();
        drop(connection);
        wait::until("nothing is left", LIMIT, is_clean).unwrap();
    }
    // More than promised is another request, and makes no sense as one.
    let (answer, is_closed) =
        raw(port, (head("Content-Length: 4") + "fourand more\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(answer.map(|answer| answer.status), Some(201));
    assert!(!is_closed, "the refusal of what was behind");
    let read = ask(port, "GET", "/webhdfs/v1/slow/f?op=OPEN&user.name=root", b"").unwrap();
    assert_eq!(read.text(), "four");
    // Who promises nothing sends nothing.
    let (answer, _) = raw(port, (head("X: y") + "").as_bytes()).unwrap();
    assert_eq!(answer.map(|answer| answer.status), Some(201));
    // Who sends all before it reads is told why it was refused, and may go on.
    let mut connection = Connection::open(port).unwrap();
    let large = vec![b'x'; 16 << 20];
    let refused = "/webhdfs/v1/none/f?op=CREATE&data=true&createparent=false&user.name=root";
    let bytes = format!(
        "PUT {refused} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\r\n",
        large.len()
    );
    connection.send(bytes.as_bytes()).and_then(|()| connection.send(&large)).unwrap();
    assert_eq!(connection.answer(false).unwrap().status, 404);
    let kept =
        connection.ask("GET", "/webhdfs/v1/?op=GETFILESTATUS&user.name=root", &[], b"").unwrap();
    assert_eq!(kept.status, 200);
    // A head that is too large, in one header, in many, and in the path.
    for bytes in [
        format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(200_000)),
        format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(20_000)),
        format!("GET /{}?op=OPEN HTTP/1.1\r\n\r\n", "x".repeat(200_000)),
    ] {
        let mut connection = Connection::open(port).unwrap();
        // The server may close while this is sent.
        let _ = connection.send(bytes.as_bytes());
        let answer = connection.answer(false).ok();
        let is_refusal =
            answer.as_ref().is_none_or(|answer| matches!(answer.status, 400 | 414 | 431));
        assert!(is_refusal && connection.is_closed(), "{answer:?}");
    }
    assert_eq!(status_of(port, "/slow/f"), 200, "{}", gateway.log());
}

#[test]
fn a_users_name_or_a_cookie_does_not_open_the_files_of_others() {
    let settings = site::settings(&[
        ("dfs.replication", "1"),
        // What lets a gateway act for its callers.
        (&format!("hadoop.proxyuser.{}.users", User::of_process().name), "*"),
        (&format!("hadoop.proxyuser.{}.hosts", User::of_process().name), "127.0.0.1"),
    ]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "rest-users", namenode, datanodes, count: 1, settings };
    let cluster = Cluster::start(&spec).unwrap();
    let rules = ["httpfs.proxyuser.hue.users=alice", "httpfs.proxyuser.hue.hosts=127.0.0.1"];
    let gateway = gateway(&cluster, &rules).unwrap();
    let (port, web) = (gateway.port, cluster.site.http_port);
    let put = "/webhdfs/v1/alice/f?op=CREATE&data=true&permission=600&user.name=root";
    assert_eq!(ask(port, "PUT", put, b"of alice").unwrap().status, 201);
    let own = "/webhdfs/v1/alice/f?op=SETOWNER&owner=alice&user.name=root";
    assert_eq!(ask(port, "PUT", own, b"").unwrap().status, 200);
    for (door, query, status, kind) in [
        (port, "user.name=alice", 200, ""),
        (port, "user.name=hue&doas=alice", 200, ""),
        (port, "user.name=hue&DOAS=alice", 200, ""),
        (port, "user.name=bob", 500, "AccessControlException"),
        (port, "user.name=hue", 500, "AccessControlException"),
        (port, "user.name=bob&user.name=alice", 500, "AccessControlException"),
        (port, "user.name=&user.name=bob", 500, "AccessControlException"),
        (port, "user.name=bob&doas=alice", 403, "AuthorizationException"),
        (port, "user.name=hue&doas=root", 403, "AuthorizationException"),
        (port, "user.name=hue&doas=bob&doas=alice", 403, "AuthorizationException"),
        (port, "doas=alice", 401, "AuthenticationException"),
        (port, "", 401, "AuthenticationException"),
        (port, "user.name=a%20b", 400, "IllegalArgumentException"),
        (port, "user.name=..%2Falice", 400, "IllegalArgumentException"),
        (web, "user.name=bob&doas=alice", 403, "AuthorizationException"),
        (web, "user.name=hue&doas=alice", 403, "AuthorizationException"),
        (web, "doas=alice", 403, "AuthorizationException"),
    ] {
        // The NameNode's port redirects, and reads nothing itself.
        let op = if door == port { "OPEN" } else { "CHECKACCESS&fsaction=r--" };
        let answer =
            ask(door, "GET", &format!("/webhdfs/v1/alice/f?op={op}&{query}"), b"").unwrap();
        assert_eq!(answer.status, status, "{query}: {answer:?}");
        if status == 200 {
            assert_eq!(answer.text(), "of alice", "{query}");
        } else {
            assert_eq!(exception(&answer).unwrap(), kind, "{query}");
        }
    }
    // bob's cookie is bob's, whatever name the request says, and is no other user's if it is changed.
    let home = "/webhdfs/v1/?op=GETHOMEDIRECTORY&user.name=bob";
    let answer = ask(port, "GET", home, b"").unwrap();
    let cookie =
        answer.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap().to_owned();
    let as_alice = "/webhdfs/v1/alice/f?op=OPEN&user.name=alice";
    let with = |cookie: &str| gateway.ask("GET", as_alice, &[("Cookie", cookie)], b"").unwrap();
    assert_eq!(exception(&with(&cookie)).unwrap(), "AccessControlException");
    let changed = cookie.replace("u=bob", "u=root");
    assert_ne!(changed, cookie);
    let answer = gateway
        .ask("GET", "/webhdfs/v1/?op=GETHOMEDIRECTORY", &[("Cookie", &changed)], b"")
        .unwrap();
    assert_eq!(answer.status, 401, "{answer:?}");
}
