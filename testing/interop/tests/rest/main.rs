//! REST: Apache's shell through its WebHDFS client, beside the same shell over hdfs://, curl, and WebHDFS of one kind of server
//! beside the other kind's.

mod requests;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use regex::Regex;
use requests::REQUESTS;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Kind, Outcome, ports, site, wait};

const LIMIT: Duration = Duration::from_secs(240);

/// What the shell does on both; FS is the file system.
const COMMANDS: &str = "
-mkdir -p FS/d/e
-put a.txt FS/d/a
-put big FS/d/big
-put a.txt FS/d/a
-put -f b.txt FS/d/a
-put a.txt FS/none/a
-cat FS/d/a
-tail FS/d/big
-head FS/d/a
-checksum FS/d/big
-appendToFile b.txt FS/d/a
-cat FS/d/a
-ls FS/d
-ls -R FS/
-ls FS/missing
-cat FS/missing
-stat %F,%b,%a,%u,%g,%o,%r,%n FS/d/a
-du FS/d
-count -q FS/d
-setrep 1 FS/d/a
-chmod 640 FS/d/a
-chown alice:staff FS/d/a
-chmod 1777 FS/d
-setfacl -m user:bob:r-x FS/d/a
-getfacl FS/d/a
-setfacl -x user:bob FS/d/a
-setfacl -b FS/d/a
-getfacl FS/d/a
-setfattr -n user.x -v 0x4142 FS/d/a
-setfattr -n user.y -v text FS/d/a
-getfattr -d FS/d/a
-getfattr -n user.x -e hex FS/d/a
-setfattr -x user.x FS/d/a
-getfattr -n user.x FS/d/a
-truncate -w 3 FS/d/a
-cat FS/d/a
-mv FS/d/a FS/d/e/moved
-mv FS/d/none FS/d/e
-cp FS/d/e/moved FS/d/copy%20+é
-cat FS/d/copy%20+é
-touchz FS/d/empty
-cat FS/d/empty
-test -e FS/d/empty
-test -e FS/d/none
-rm FS/d/e
-rmdir FS/d
-rm -r -skipTrash FS/d
-ls FS/
";

/// A running gateway.
struct Gateway {
    port: u16,
    _process: Process,
}

fn gateway(cluster: &Cluster, settings: &[&str]) -> Outcome<Gateway> {
    let port = ports::free();
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).arg("gateway");
    command.args([
        "-D",
        "httpfs.http.hostname=127.0.0.1",
        "-D",
        &format!("httpfs.http.port={port}"),
    ]);
    command.args(settings.iter().flat_map(|setting| ["-D", setting]));
    let log = cluster.directory().join(format!("gateway-{port}.log"));
    let process = Process::daemon("gateway", command, &log)?;
    let reached = || Ok(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    wait::until("the gateway listens", Duration::from_secs(60), reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
    Ok(Gateway { port, _process: process })
}

fn cluster(name: &str, kind: Kind) -> Outcome<Cluster> {
    let settings = site::settings(&[("dfs.blocksize", "1048576"), ("dfs.replication", "1")]);
    Cluster::start(&Spec { name, namenode: kind, datanodes: kind, count: 1, settings })
}

/// What Apache's shell answers to the commands below a directory, without what names that directory.
fn shell(cluster: &Cluster, root: &str, files: &Path) -> Outcome<Vec<String>> {
    let name = root.rsplit('/').next().unwrap_or_default();
    let list = cluster.directory().join(format!("{name}.commands"));
    let lines = COMMANDS.lines().filter(|line| !line.is_empty());
    let text: String = lines
        .clone()
        .map(|line| format!("\t{}\n", line.replace("FS", root).replace(' ', "\t")))
        .collect();
    std::fs::write(&list, text).map_err(|e| e.to_string())?;
    let mut command = Java::get()?.command(512);
    command.arg("zerohop.Shell").arg(cluster.conf()).arg(&list).current_dir(files);
    let log = cluster.directory().join(format!("{name}.out"));
    let mut process = Process::daemon("the shell", command, &log)?;
    process.finish(LIMIT)?;
    let said = std::fs::read_to_string(&log).map_err(|e| e.to_string())?;
    let time =
        Regex::new("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}").map_err(|e| e.to_string())?;
    let log_line =
        Regex::new("(?m)^[0-9]{4}-[0-9-]* [0-9:]*,[0-9]* .*\n").map_err(|e| e.to_string())?;
    let said = log_line.replace_all(&said, "");
    let said = time.replace_all(&said, "TIME");
    let path = root.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    let said = said.replace(root, "FS").replace(&path, "FS");
    let mut answers = Vec::new();
    let mut rest = said.as_str();
    for line in lines {
        let at = rest.find("\n=> ").ok_or_else(|| format!("no answer to {line}: {rest}"))?;
        let end = rest[at + 1..].find('\n').map_or(rest.len(), |end| at + 2 + end);
        answers.push(format!("{line}: {}", &rest[..end]));
        rest = &rest[end..];
    }
    Ok(answers)
}

fn local_files(directory: &Path) -> Outcome<()> {
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(directory.join("a.txt"), "hello\n"))
        .and_then(|()| std::fs::write(directory.join("b.txt"), "bye\n"))
        .and_then(|()| {
            let big: Vec<u8> = (0..3_000_000u32).map(|n| b'a' + (n % 23) as u8).collect();
            std::fs::write(directory.join("big"), big)
        })
        .map_err(|e| e.to_string())
}

#[test]
fn apaches_shell_sees_no_difference_between_rest_and_rpc() {
    let cluster = cluster("rest-shell", Kind::Ours).unwrap();
    let gateway = gateway(&cluster, &[]).unwrap();
    let files = cluster.directory().join("files");
    local_files(&files).unwrap();
    let by_rpc = shell(&cluster, &format!("{}/rpc0", cluster.uri()), &files).unwrap();
    for (port, name) in [(gateway.port, "rest"), (cluster.site.http_port, "web0")] {
        let root = format!("webhdfs://127.0.0.1:{port}/{name}");
        let by_rest = shell(&cluster, &root, &files).unwrap();
        let differ: Vec<String> = by_rest
            .iter()
            .zip(&by_rpc)
            .filter(|(rest, rpc)| rest != rpc)
            .map(|(rest, rpc)| format!("by {root}: {rest}\nby RPC:  {rpc}\n"))
            .collect();
        assert!(differ.is_empty(), "{}", differ.join("\n"));
    }
}

/// The answers to [`REQUESTS`] with redirects followed: status, and body as JSON if it is. What changes from time to time is
/// left out.
fn web_answers(cluster: &Cluster) -> Vec<String> {
    let base = format!("http://127.0.0.1:{}/webhdfs/v1", cluster.site.http_port);
    let volatile = Regex::new(
        r#"("(?:modificationTime|accessTime|fileId|message)":)("[^"]*?(?:\\n|, status)[^"]*"|[0-9]+)"#,
    )
    .unwrap();
    // Ours passes the caller's own parameters on.
    let location = Regex::new(r#"(namenoderpcaddress=[^&"]*)[^"]*"#).unwrap();
    let one = |(method, path, body): &(&str, &str, &str)| {
        let mut command = Command::new("curl");
        command.args(["-s", "-L", "--max-time", "60", "-w", "\n%{http_code}", "-X", method]);
        if matches!(*method, "PUT" | "POST") {
            command.args(["-H", "Content-Type: application/octet-stream", "--data-binary", body]);
        }
        let user = if path.contains("GETHOMEDIRECTORY") { "" } else { "&user.name=root" };
        let out = command.arg(format!("{base}{path}{user}")).output().unwrap();
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let (body, code) = said.rsplit_once('\n').unwrap_or_default();
        let json = serde_json::from_str::<serde_json::Value>(body);
        let body = json.map_or_else(|_| body.to_owned(), |value| value.to_string());
        let body = location.replace_all(&body, "$1");
        format!("{method} {path}: {code} {}", volatile.replace_all(&body, "${1}0"))
    };
    REQUESTS.iter().map(one).collect()
}

/// Apache's NameNode redirects to our DataNode, and ours to Apache's; what a caller sees is the same.
#[test]
fn webhdfs_of_one_kind_sends_on_to_the_other() {
    let settings = site::settings(&[("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Apache, Kind::Ours);
    let spec = Spec { name: "rest-mixed", namenode, datanodes, count: 1, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let apaches = web_answers(&cluster);
    cluster.stop_all().unwrap();
    cluster.start_all(Kind::Ours, Kind::Apache).unwrap();
    let ours = web_answers(&cluster);
    let differ: Vec<String> = ours
        .iter()
        .zip(&apaches)
        .filter(|(ours, apaches)| ours != apaches)
        .map(|(ours, apaches)| format!("ours:   {ours}\napache: {apaches}\n"))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    // A caller that cannot reach the DataNodes by their names gets other ones, or the data through the NameNode.
    cluster.stop_namenode().unwrap();
    let map = "zerohop.webhdfs.redirect.addresses=127.0.0.1=gw.example";
    let start = |cluster: &mut Cluster, value: &str| {
        let with = |mut command: Command| {
            command.args(["-D", value]);
            Ok(command)
        };
        cluster.start_namenode_as(with).unwrap();
        cluster.wait_serving().unwrap();
    };
    start(&mut cluster, map);
    let base = format!("http://127.0.0.1:{}/webhdfs/v1", cluster.site.http_port);
    let ask = |args: &[&str], path: &str| {
        let mut command = Command::new("curl");
        command.args(["-s", "-i", "--max-time", "60"]).args(args).arg(format!("{base}{path}"));
        String::from_utf8_lossy(&command.output().unwrap().stdout).replace('\r', "")
    };
    let told = ask(&["-X", "PUT"], "/p?op=CREATE&user.name=root");
    let expected = format!("location: http://gw.example:{}/", cluster.site.info_ports[0]);
    assert!(told.starts_with("HTTP/1.1 307") && told.contains(&expected), "{told}");
    cluster.stop_namenode().unwrap();
    start(&mut cluster, "zerohop.webhdfs.proxy.clients=127.0.0.0/8");
    let put = ["-L", "-X", "PUT", "--data-binary", "by way of the NameNode"];
    let made = ask(&put, "/p?op=CREATE&user.name=root");
    assert!(made.contains("HTTP/1.1 201"), "{made}");
    let read = ask(&[], "/p?op=OPEN&user.name=root");
    assert!(
        read.starts_with("HTTP/1.1 200") && read.ends_with("\n\nby way of the NameNode"),
        "{read}"
    );
}

/// `curl -s -i` with these arguments: the answer with its head.
fn curl(gateway: &Gateway, path: &str, args: &[&str]) -> String {
    let url = format!("http://127.0.0.1:{}{path}", gateway.port);
    let out =
        Command::new("curl").args(["-s", "-i", "--max-time", "60"]).args(args).arg(url).output();
    String::from_utf8_lossy(&out.unwrap().stdout).replace('\r', "")
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
        ("/webhdfs/v1/a/../b?op=OPEN&user.name=root", &["--path-as-is"], "HTTP/1.1 400"),
        ("/webhdfs/v1/d?op=CREATESNAPSHOT&user.name=root", &["-X", "PUT"], "HTTP/1.1 500"),
    ] {
        let answer = curl(&gateway, path, args);
        assert!(answer.starts_with(expected), "{path}: {answer}");
        assert!(answer.contains("{\"RemoteException\":{"), "{path}: {answer}");
    }
}
