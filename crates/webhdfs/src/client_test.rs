//! The client beside servers that fail in every way.

use super::*;
use crate::error::ErrorKind;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

/// The first lines of requests to a server.
type Asked = Arc<Mutex<Vec<String>>>;

/// Starts a server: `answer` gets the number and first line of each request and returns the bytes of its answer.
fn server(answer: impl Fn(usize, &str) -> Vec<u8> + Send + 'static) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Asked::default();
    let noted = asked.clone();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let line = request(&stream);
            noted.lock().unwrap().push(line.clone());
            let _ = stream.write_all(&answer(number, &line));
        }
    });
    (address, asked)
}

/// Reads a request with its body; returns its first line without the version.
fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line);
    }
    if lines.iter().any(|line| line.starts_with("Transfer-Encoding")) {
        let mut end = Vec::new();
        while !end.ends_with(b"0\r\n\r\n") {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            end.push(byte[0]);
        }
    }
    lines.first().map_or("", |line| line.trim_end_matches(" HTTP/1.1\r\n")).to_owned()
}

fn json(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

fn exception(class: &str) -> Vec<u8> {
    json(
        "403 Forbidden",
        &format!(
            r#"{{"RemoteException":{{"exception":"X","javaClassName":"{class}","message":"said"}}}}"#
        ),
    )
}

/// Redirects to an address, which may have a path.
fn redirect(address: &str) -> Vec<u8> {
    let path = if address.contains('/') { "" } else { "/data" };
    format!("HTTP/1.1 307 Moved\r\nLocation: http://{address}{path}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .into_bytes()
}

fn standby() -> Vec<u8> {
    exception("org.apache.hadoop.ipc.StandbyException")
}

/// Returns an address at which no process listens.
fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn file_status(length: u64, id: u64) -> Vec<u8> {
    json(
        "200 OK",
        &format!(
            r#"{{"FileStatus":{{"accessTime":0,"blockSize":1,"group":"g","length":{length},"modificationTime":0,
        "owner":"o","pathSuffix":"","permission":"644","replication":1,"type":"FILE","fileId":{id}}}}}"#
        ),
    )
}

fn client(address: &str) -> WebHdfs {
    WebHdfs::new(&Conf::new(), false, address).unwrap()
}

/// A client of a name service.
fn pair(first: &str, second: &str) -> WebHdfs {
    let mut conf = Conf::new();
    conf.set("dfs.nameservices", "ns");
    conf.set("dfs.ha.namenodes.ns", "a,b");
    conf.set("dfs.namenode.http-address.ns.a", first);
    conf.set("dfs.namenode.http-address.ns.b", second);
    conf.set("dfs.http.client.failover.sleep.base.millis", "1");
    WebHdfs::new(&conf, false, "ns").unwrap()
}

#[test]
fn a_standby_and_a_namenode_that_is_away_hand_over_to_the_other_one() {
    let done = || json("200 OK", r#"{"boolean":true}"#);
    let (active, asked) = server(move |_, _| done());
    let (other, _) = server(|_, _| standby());
    assert!(pair(&other, &active).delete("/a", true).unwrap());
    assert!(pair(&nobody(), &active).delete("/a", true).unwrap());
    assert_eq!(asked.lock().unwrap().len(), 2);
    let user = zerohop_transport::login::User::of_process().name;
    let expected = format!("DELETE /webhdfs/v1/a?op=DELETE&user.name={user}&recursive=true");
    assert_eq!(asked.lock().unwrap()[0], expected);
}

/// Hadoop's client sends every call again: a rename whose answer was lost then fails with "not found".
#[test]
fn a_call_with_an_unknown_outcome_is_not_sent_again() {
    let (closes, first) = server(|_, _| Vec::new());
    let (other, second) = server(|_, _| json("200 OK", r#"{"boolean":false}"#));
    let fs = pair(&closes, &other);
    let error = fs.rename("/a", "/b").unwrap_err();
    assert!(error.to_string().contains("the outcome of RENAME is unknown"), "{error}");
    assert_eq!((first.lock().unwrap().len(), second.lock().unwrap().len()), (1, 0));
    // A call that can be repeated goes to the other NameNode.
    assert!(!pair(&closes, &other).mkdirs("/a").unwrap());
    assert_eq!(second.lock().unwrap().len(), 1);
}

#[test]
fn exceptions_become_kinds() {
    for (class, kind) in [
        ("java.io.FileNotFoundException", ErrorKind::NotFound),
        ("org.apache.hadoop.security.AccessControlException", ErrorKind::Denied),
        ("org.apache.hadoop.fs.FileAlreadyExistsException", ErrorKind::Exists),
        ("java.lang.UnsupportedOperationException", ErrorKind::Unsupported),
        ("java.io.IOException", ErrorKind::Other),
    ] {
        let (address, _) = server(move |_, _| exception(class));
        let error = client(&address).status("/a").unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, "said"), "{class}");
    }
    let (address, _) =
        server(|_, _| b"HTTP/1.1 401 Who are you\r\nContent-Length: 0\r\n\r\n".to_vec());
    assert_eq!(client(&address).status("/a").unwrap_err().kind(), ErrorKind::Denied);
    let (address, _) = server(|_, _| json("502 Bad Gateway", "<html>"));
    let error = client(&address).status("/a").unwrap_err().to_string();
    assert_eq!(
        error,
        "Unexpected HTTP response: code=502 != 200, op=GETFILESTATUS, message=Bad Gateway"
    );
}

#[test]
fn a_datanode_that_is_away_is_excluded() {
    let (datanode, written) =
        server(|_, _| b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".to_vec());
    let away = nobody();
    let excluded = form_urlencoded::byte_serialize(away.as_bytes()).collect::<String>();
    let (namenode, asked) = server(move |_, line| {
        redirect(if line.contains("excludedatanodes") { &datanode } else { &away })
    });
    let mut writer = client(&namenode).create("/a", true, None).unwrap();
    writer.write_all(b"bytes").unwrap();
    writer.close().unwrap();
    assert_eq!(written.lock().unwrap().len(), 1);
    let asked = asked.lock().unwrap();
    assert!(asked[1].ends_with(&format!("&excludedatanodes={excluded}")), "{asked:?}");
}

/// A server that answers a create itself has made an empty file of the request without a body.
#[test]
fn a_create_without_a_redirect_is_an_error() {
    let (address, _) = server(|_, _| b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".to_vec());
    assert!(client(&address).create("/a", true, None).is_err());
}

#[test]
fn a_refused_write_says_why() {
    let (datanode, _) = server(|_, _| exception("java.io.IOException"));
    let (namenode, _) = server(move |_, _| redirect(&datanode));
    let mut writer = client(&namenode).create("/a", true, None).unwrap();
    writer.write_all(b"bytes").unwrap();
    assert_eq!(writer.close().unwrap_err().to_string(), "said");
}

/// Starts a NameNode with a file `0123456789`. Its DataNode sends `piece` bytes of each answer and breaks off.
fn breaking(piece: usize, ids: impl Fn(usize) -> u64 + Send + 'static) -> (WebHdfs, Asked) {
    let (datanode, _) = server(move |_, line| {
        let offset = line.split("offset=").nth(1).and_then(|text| text.split('&').next());
        let offset: usize = offset.unwrap_or("0").parse().unwrap();
        let rest = &b"0123456789"[offset..];
        let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", rest.len());
        answer += std::str::from_utf8(&rest[..piece.min(rest.len())]).unwrap();
        answer.into_bytes()
    });
    let (namenode, asked) = server(move |number, line| {
        if line.contains("GETFILESTATUS") {
            return file_status(10, ids(number));
        }
        let offset = line.split("&offset=").nth(1).unwrap().split('&').next().unwrap();
        let location = format!("{datanode}/data?offset={offset}&x=");
        redirect(&location)
    });
    (client(&namenode), asked)
}

fn read(reader: &mut Reader) -> std::io::Result<String> {
    let mut text = String::new();
    reader.read_to_string(&mut text).map(|_| text)
}

#[test]
fn a_read_that_breaks_off_continues_where_it_was() {
    let (fs, asked) = breaking(3, |_| 7);
    let mut reader = fs.open("/a").unwrap();
    assert_eq!(read(&mut reader).unwrap(), "0123456789");
    assert!(asked.lock().unwrap().iter().any(|line| line.contains("&offset=3")));
    reader.seek_to(8);
    assert_eq!(read(&mut reader).unwrap(), "89");
}

/// The rest of a file used to come from another one that had taken its name meanwhile.
#[test]
fn a_read_does_not_continue_in_another_file() {
    let (fs, _) = breaking(3, |number| if number == 0 { 7 } else { 8 });
    let error = read(&mut fs.open("/a").unwrap()).unwrap_err().to_string();
    assert!(error.contains("was replaced or cut"), "{error}");
}

#[test]
fn a_read_without_progress_ends_with_an_error() {
    let (fs, _) = breaking(0, |_| 7);
    assert!(read(&mut fs.open("/a").unwrap()).is_err());
}

/// A listing without its second page must not look complete.
#[test]
fn a_directory_that_vanishes_between_two_pages_is_an_error() {
    let page = r#"{"DirectoryListing":{"partialListing":{"FileStatuses":{"FileStatus":[{"accessTime":0,"blockSize":1,
        "group":"g","length":0,"modificationTime":0,"owner":"o","pathSuffix":"f","permission":"644","replication":1,
        "type":"FILE"}]}},"remainingEntries":1}}"#;
    let (address, _) = server(move |number, _| match number {
        0 => json("200 OK", page),
        _ => exception("java.io.FileNotFoundException"),
    });
    let fs = client(&address);
    let (entries, has_more) = fs.list_page("/d", None).unwrap();
    assert!(entries[0].name == "f" && has_more);
    assert_eq!(fs.list_page("/d", Some("f")).unwrap_err().kind(), ErrorKind::NotFound);
}

/// Hadoop's HttpFS knows `startAfter` only; it used to send the first page again and again.
#[test]
fn a_listing_continues_where_parameters_have_capital_letters() {
    let page = |name: &str, remaining: usize| {
        json(
            "200 OK",
            &format!(
                r#"{{"DirectoryListing":{{"partialListing":{{"FileStatuses":{{"FileStatus":[{{"accessTime":0,"blockSize":1,
            "group":"g","length":0,"modificationTime":0,"owner":"o","pathSuffix":"{name}","permission":"644",
            "replication":1,"type":"FILE"}}]}}}},"remainingEntries":{remaining}}}}}"#
            ),
        )
    };
    let (address, _) = server(move |_, line| match line.contains("startAfter=a") {
        true => page("b", 0),
        false => page("a", 1),
    });
    let (entries, has_more) = client(&address).list_page("/d", Some("a")).unwrap();
    assert!(entries[0].name == "b" && !has_more);
    let (address, _) = server(move |_, _| page("a", 1));
    assert!(client(&address).list_page("/d", Some("a")).is_err());
}
