//! The REST gateway: Apache's shell through its WebHDFS client, beside the same shell over hdfs://, and curl.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use regex::Regex;
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

fn gateway(cluster: &Cluster) -> Outcome<Gateway> {
    let port = ports::free();
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).arg("gateway");
    command.args([
        "-D",
        "httpfs.http.hostname=127.0.0.1",
        "-D",
        &format!("httpfs.http.port={port}"),
    ]);
    let log = cluster.directory().join("gateway.log");
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
    let scheme = root.split(':').next().unwrap_or_default();
    let list = cluster.directory().join(format!("{scheme}.commands"));
    let lines = COMMANDS.lines().filter(|line| !line.is_empty());
    let text: String = lines
        .clone()
        .map(|line| format!("\t{}\n", line.replace("FS", root).replace(' ', "\t")))
        .collect();
    std::fs::write(&list, text).map_err(|e| e.to_string())?;
    let mut command = Java::get()?.command(512);
    command.arg("zerohop.Shell").arg(cluster.conf()).arg(&list).current_dir(files);
    let log = cluster.directory().join(format!("{scheme}.out"));
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
fn apaches_shell_sees_no_difference_between_the_gateway_and_the_namenode() {
    let cluster = cluster("rest-shell", Kind::Ours).unwrap();
    let gateway = gateway(&cluster).unwrap();
    let files = cluster.directory().join("files");
    local_files(&files).unwrap();
    let by_rest =
        shell(&cluster, &format!("webhdfs://127.0.0.1:{}/rest", gateway.port), &files).unwrap();
    let by_rpc = shell(&cluster, &format!("{}/rpc0", cluster.uri()), &files).unwrap();
    let differ: Vec<String> = by_rest
        .iter()
        .zip(&by_rpc)
        .filter(|(rest, rpc)| rest != rpc)
        .map(|(rest, rpc)| format!("by REST: {rest}\nby RPC:  {rpc}\n"))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
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
    let gateway = gateway(&cluster).unwrap();
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
