//! Apache's shell over its WebHDFS client, beside the same shell over hdfs://.

use std::path::Path;
use std::time::Duration;

use regex::Regex;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::process::Process;
use zerohop_interop::tools::Java;
use zerohop_interop::{Kind, Outcome};

use crate::gateway::{cluster, gateway};

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
-get FS/d/big got
-get FS/d/none got-none
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
    let got = files.join("got");
    let read = |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    if read(&got)? != read(&files.join("big"))? {
        return Err(format!("-get from {root} differs from what was put"));
    }
    std::fs::remove_file(&got).map_err(|e| e.to_string())?;
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
