//! curl, and what the gateway's own clients were promised.

use std::time::Duration;

use zerohop_interop::{Kind, wait};

use crate::features;
use crate::gateway::{Gateway, cluster, curl, gateway};

/// Who says `Expect: 100-continue` is told whether to send its body before it sends any of it.
fn expect_continue(port: u16) {
    for (kind, expected) in
        [("application/octet-stream", "HTTP/1.1 100 "), ("text/plain", "HTTP/1.1 400 ")]
    {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let target = "/webhdfs/v1/expected?op=CREATE&data=true&user.name=root";
        let head = format!(
            "PUT {target} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        let mut lines = std::io::BufReader::new(stream.try_clone().unwrap());
        let mut line = || {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
            line
        };
        let first = line();
        assert!(first.starts_with(expected), "{kind}: {first}");
        if expected.contains("100") {
            assert_eq!(line(), "\r\n");
            std::io::Write::write_all(&mut stream, b"body").unwrap();
            let made = line();
            assert!(made.starts_with("HTTP/1.1 201 "), "{made}");
        }
    }
}

/// On Apache's cluster: ours is covered above.
#[test]
fn curl_reads_ranges_and_the_traps_of_append_and_create_are_gone() {
    let cluster = cluster("rest-curl", Kind::Apache).unwrap();
    let secret = cluster.directory().join("secret");
    std::fs::write(&secret, "of both gateways").unwrap();
    let secret = format!("httpfs.authentication.signature.secret.file={}", secret.display());
    let keeps = "zerohop.gateway.append.idle.ms=600000";
    let start = || gateway(&cluster, &[secret.as_str(), keeps]).unwrap();
    let (gateway, other) = (start(), start());
    let octets = ["-H", "Content-Type: application/octet-stream"];
    let user = "user.name=root";
    let put = |path: &str, data: &str| {
        curl(&gateway, path, &[&["-X", "PUT", "--data-binary", data], &octets[..]].concat())
    };
    let post = |path: &str, data: &str| {
        curl(&gateway, path, &[&["-X", "POST", "--data-binary", data], &octets[..]].concat())
    };
    features::are_passed_on(&gateway, cluster.site.http_port);
    // In two steps, as WebHDFS has it.
    let told = curl(&gateway, &format!("/webhdfs/v1/d/f?op=CREATE&{user}"), &["-X", "PUT"]);
    assert!(told.starts_with("HTTP/1.1 307") && told.contains("&data=true\n"), "{told}");
    let made = put(&format!("/webhdfs/v1/d/f?op=CREATE&{user}&data=true"), "0123456789");
    assert!(made.starts_with("HTTP/1.1 201") && made.contains("{\"Location\":\"http://"), "{made}");
    let form = curl(
        &gateway,
        &format!("/webhdfs/v1/d/g?op=CREATE&{user}&data=true"),
        &["-X", "PUT", "-d", "x"],
    );
    assert!(
        form.starts_with("HTTP/1.1 400") && form.contains("application/octet-stream"),
        "{form}"
    );

    let all = curl(&gateway, &format!("/webhdfs/v1/d/f?op=OPEN&{user}"), &[]);
    assert!(all.starts_with("HTTP/1.1 200") && all.ends_with("\n\n0123456789"), "{all}");
    let part = curl(&gateway, &format!("/webhdfs/v1/d/f?op=OPEN&{user}"), &["-r", "2-4"]);
    assert!(
        part.starts_with("HTTP/1.1 206") && part.contains("content-range: bytes 2-4/10"),
        "{part}"
    );
    assert!(part.ends_with("\n\n234"), "{part}");
    let part = curl(&gateway, &format!("/webhdfs/v1/d/f?op=OPEN&{user}&offset=7&length=9"), &[]);
    assert!(part.starts_with("HTTP/1.1 200") && part.ends_with("\n\n789"), "{part}");
    let behind = curl(&gateway, &format!("/d/f?{user}"), &["-r", "10-"]);
    assert!(behind.starts_with("HTTP/1.1 416") && behind.contains("bytes */10"), "{behind}");
    let head = curl(&gateway, &format!("/d/f?{user}"), &["-I"]);
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-length: 10\n"), "{head}");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let same = curl(&gateway, &format!("/d/f?{user}"), &["-H", &format!("If-None-Match: {tag}")]);
    assert!(same.starts_with("HTTP/1.1 304"), "{same}");

    let if_range = |tag: &str| {
        let header = format!("If-Range: {tag}");
        curl(&gateway, &format!("/d/f?{user}"), &["-r", "2-4", "-H", &header])
    };
    let part = if_range(&tag);
    assert!(part.starts_with("HTTP/1.1 206") && part.ends_with("\n\n234"), "{part}");
    let changed = if_range("\"1-2-3\"");
    assert!(
        changed.starts_with("HTTP/1.1 200") && changed.ends_with("\n\n0123456789"),
        "{changed}"
    );
    let listed = format!("If-None-Match: \"1-2-3\", W/{tag}");
    let same = curl(&gateway, &format!("/d/f?{user}"), &["-H", &listed]);
    assert!(same.starts_with("HTTP/1.1 304"), "{same}");
    expect_continue(gateway.port);

    // Hoop's URLs, and what its author missed.
    let none = post(&format!("/log?op=append&{user}"), "line 1\n");
    assert!(none.starts_with("HTTP/1.1 404") && none.contains("FileNotFoundException"), "{none}");
    for line in ["line 1\n", "line 2\n"] {
        let done = post(&format!("/log?op=append&createflag=CREATE&{user}"), line);
        assert!(done.starts_with("HTTP/1.1 200"), "{done}");
    }
    assert!(curl(&gateway, &format!("/log?{user}"), &[]).ends_with("\n\nline 1\nline 2\n"));
    let refused = post(&format!("/none/f?op=create&createparent=false&{user}"), "x");
    assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
    let refused = post(&format!("/log?op=create&overwrite=false&{user}"), "x");
    assert!(refused.contains("FileAlreadyExistsException"), "{refused}");

    // A change of a file that is another one by now is refused.
    let tagged = |header: String| {
        let path = format!("/webhdfs/v1/d/f?op=CREATE&data=true&{user}");
        curl(
            &gateway,
            &path,
            &[&["-X", "PUT", "--data-binary", "new", "-H", &header], &octets[..]].concat(),
        )
    };
    let stale = tagged("If-Match: \"1-2-3\"".to_owned());
    assert!(stale.starts_with("HTTP/1.1 412"), "{stale}");
    let exists = tagged("If-None-Match: *".to_owned());
    assert!(exists.starts_with("HTTP/1.1 412"), "{exists}");
    let fresh = tagged(format!("If-Match: {tag}"));
    assert!(fresh.starts_with("HTTP/1.1 201"), "{fresh}");

    // Appends queue on one stream; one that is repeated counts once.
    let append = |gateway: &Gateway, query: &str, data: &str, headers: &[&str]| {
        let path = format!("/webhdfs/v1/q?op=APPEND&data=true&{user}{query}");
        let headers = headers.iter().flat_map(|header| ["-H", header]);
        let args: Vec<&str> = ["-X", "POST", "--data-binary", data]
            .into_iter()
            .chain(octets)
            .chain(headers)
            .collect();
        curl(gateway, &path, &args)
    };
    let made = append(&gateway, "&createflag=CREATE", "start\n", &[]);
    assert!(made.contains("zerohop-append-offset: 0\nzerohop-append-end: 6\n"), "{made}");
    std::thread::scope(|scope| {
        for number in 10..26 {
            let (append, gateway) = (&append, &gateway);
            scope.spawn(move || {
                let done = append(gateway, "", &format!("line {number}\n"), &[]);
                assert!(done.starts_with("HTTP/1.1 200"), "{done}");
            });
        }
    });
    let all = curl(&gateway, &format!("/q?{user}"), &[]);
    let mut lines: Vec<&str> = all.lines().filter(|line| line.starts_with("line ")).collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 16, "{all}");
    let end = 6 + 16 * 8;
    for _ in 0..2 {
        let named = append(&gateway, "", "named\n", &["Idempotency-Key: 1"]);
        assert!(named.contains(&format!("zerohop-append-offset: {end}\n")), "{named}");
        let placed = append(&gateway, &format!("&offset={}", end + 6), "placed\n", &[]);
        assert!(placed.contains(&format!("zerohop-append-end: {}\n", end + 13)), "{placed}");
    }
    let longer = append(&gateway, &format!("&offset={}", end + 6), "placed\nand more\n", &[]);
    assert!(longer.contains(&format!("zerohop-append-end: {}\n", end + 22)), "{longer}");
    for query in [format!("&offset={}", end + 23), format!("&offset={end}")] {
        let refused = append(&gateway, &query, "x", &[]);
        assert!(refused.starts_with("HTTP/1.1 412"), "{refused}");
    }
    append(&gateway, "&hsync=true", "!", &[]);
    // The first gateway holds the lease until somebody asks it for the file's status.
    let conflict = append(&other, "", "?", &[]);
    assert!(conflict.starts_with("HTTP/1.1 409") && conflict.contains("DFSClient_"), "{conflict}");
    assert!(conflict.contains("zerohop-lease-holder: DFSClient_"), "{conflict}");
    assert!(conflict.contains("zerohop-lease-age-max: "), "{conflict}");
    let status = curl(&gateway, &format!("/webhdfs/v1/q?op=GETFILESTATUS&{user}"), &[]);
    assert!(status.contains(&format!("\"length\":{}", end + 23)), "{status}");
    let free = append(&other, "", "?", &[]);
    assert!(free.starts_with("HTTP/1.1 200"), "{free}");

    // A cookie names its user at every gateway with the same secret.
    let cookie = status.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let home = curl(&other, "/webhdfs/v1/?op=GETHOMEDIRECTORY&user.name=bob", &["-H", &cookie]);
    assert!(home.ends_with("{\"Path\":\"/user/root\"}"), "{home}");
    let forged = cookie.replace("u=root", "u=hdfs");
    let refused = curl(&other, "/webhdfs/v1/?op=GETHOMEDIRECTORY", &["-H", &forged]);
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");

    let some = curl(&gateway, &format!("/webhdfs/v1/?op=LISTSTATUS&filter=l?g&{user}"), &[]);
    assert!(some.contains("\"log\"") && !some.contains("\"d\""), "{some}");

    // A caller that breaks off leaves what was there, and no lease.
    let body =
        "Transfer-Encoding: chunked\r\nContent-Type: application/octet-stream\r\n\r\n3\r\nbad\r\n";
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    let request =
        format!("PUT /webhdfs/v1/log?op=CREATE&{user}&data=true HTTP/1.1\r\nHost: x\r\n{body}");
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let is_uploading = |expected| {
        let list = curl(&gateway, &format!("/webhdfs/v1/?op=LISTSTATUS&{user}"), &[]);
        Ok(list.contains("_UPLOADING_") == expected)
    };
    let limit = Duration::from_secs(60);
    wait::until("the upload begins", limit, || is_uploading(true)).unwrap();
    drop(stream);
    wait::until("what was not finished is gone", limit, || is_uploading(false)).unwrap();
    assert!(curl(&gateway, &format!("/log?{user}"), &[]).ends_with("line 2\n"));

    for (path, args, expected) in [
        ("/webhdfs/v1/d?op=LISTSTATUS", &[][..], "HTTP/1.1 401"),
        ("/webhdfs/v1/d?op=NONE&user.name=root", &[], "HTTP/1.1 400"),
        ("/webhdfs/v1/d?op=DELETE&user.name=root", &[], "HTTP/1.1 500"),
        ("/webhdfs/v1/d?op=LISTSTATUS&user.name=root&doAs=bob", &[], "HTTP/1.1 403"),
        ("/webhdfs/v1/%FF?op=OPEN&user.name=root", &[], "HTTP/1.1 400"),
        ("/webhdfs/v1/d/../b?op=OPEN&user.name=root", &["--path-as-is"], "HTTP/1.1 404"),
        ("/webhdfs/v1/d?op=CREATESNAPSHOT&user.name=root", &["-X", "PUT"], "HTTP/1.1 500"),
    ] {
        let answer = curl(&gateway, path, args);
        assert!(answer.starts_with(expected), "{path}: {answer}");
        assert!(answer.contains("{\"RemoteException\":{"), "{path}: {answer}");
    }
}
