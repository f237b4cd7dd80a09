//! `webhdfs` on NameNodes and on gateways, `swebhdfs` with TLS.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, ports, site, tools, wait};

use crate::side_by_side::{Sides, Whose};

/// FS is the file system with a directory, AT that directory alone.
const COMMANDS: &str = "
-mkdir -p FS/d/e
-mkdir FS/none/x
-mkdir FS/d
-put a.txt FS/d/a
-put big FS/d/big
-put a.txt FS/d/a
-put -f b.txt FS/d/a
-put a.txt FS/none/a
-put a.txt FS/d/sp%20ace+é
-put tree FS/d/tree
-cat FS/d/a
-cat FS/d/sp%20ace+é
-tail FS/d/big
-head FS/d/a
-text FS/d/a
-get FS/d/big got
-get FS/d/none got-none
-get FS/d/tree got-tree
-checksum FS/d/big FS/d/a
-appendToFile b.txt FS/d/a
-cat FS/d/a
-ls FS/d
-ls -R FS/
-ls -C FS/d/*
-ls FS/d/tree/*
-ls FS/missing
-fs FS -ls AT/d
-fs FS -cat AT/d/a
-cat FS/missing
-cat FS/d
-stat %F,%b,%a,%u,%g,%o,%r,%n FS/d/a FS/d
-du FS/d
-du -s FS/d
-count FS/d
-count -q FS/d
-setrep 1 FS/d/a
-chmod 640 FS/d/a
-chown alice:staff FS/d/a
-chmod -R u+x,o-r FS/d/tree
-ls -R FS/d/tree
-chmod 1777 FS/d
-touch -t 20200102:030405 FS/d/a
-stat %y FS/d/a
-setfacl -m user:bob:r-x FS/d/a
-getfacl FS/d/a
-setfacl -x user:bob FS/d/a
-setfacl -b FS/d/a
-setfacl --set user::rwx,user:bob:r--,group::r--,other::--- FS/d/e
-getfacl FS/d/e
-setfacl -m default:user:bob:rw- FS/d/e
-setfacl -k FS/d/e
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
-cp FS/d/e/moved FS/d/copy
-cp -f FS/d/big FS/d/copy
-cp -p FS/d/tree FS/d/tree2
-cp FS/d/copy HDFS/from-web
-cp HDFS/from-web FS/d/from-hdfs
-checksum FS/d/from-hdfs
-cat FS/d/e/moved
-touchz FS/d/empty
-cat FS/d/empty
-test -e FS/d/empty
-test -z FS/d/empty
-test -d FS/d
-test -w FS/d
-test -e FS/d/none
-find FS/d -name t*
-put a.txt FS/d/c1
-put b.txt FS/d/c2
-concat FS/d/copy FS/d/c1 FS/d/c2
-tail FS/d/copy
-getmerge FS/d/tree merged
-createSnapshot FS/d s1
-rm FS/d/e
-rm FS/d/empty
-rmdir FS/d
-rm -r -skipTrash FS/d
-rm -f FS/none
-ls FS/
";

/// Answers of our servers, which have no snapshots yet.
const ON_OURS: &[(&str, &str)] = &[(
    "-createSnapshot FS/d s1",
    "Apache's shell prints the stack of an UnsupportedOperationException",
)];

fn on(name: &str, namenode: Kind, test: impl FnOnce(&Cluster) -> Outcome) {
    let settings = site::settings(&[
        ("dfs.replication", "2"),
        ("dfs.namenode.acls.enabled", "true"),
        // Listings have several pages.
        ("dfs.ls.limit", "2"),
    ]);
    let spec = Spec { name, namenode, datanodes: namenode, count: 2, settings };
    let outcome = Cluster::start(&spec).and_then(|mut cluster| {
        cluster.keep_logs = true;
        test(&cluster)?;
        cluster.keep_logs = false;
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

/// Starts a gateway of a cluster.
pub fn gateway(cluster: &Cluster, settings: &[&str]) -> Outcome<(u16, Process)> {
    let port = ports::free();
    let log = cluster.directory().join(format!("gateway-{port}.log"));
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).arg("gateway");
    let address = ["httpfs.http.hostname=127.0.0.1", &format!("httpfs.http.port={port}")];
    command.args(address.iter().chain(settings).flat_map(|setting| ["-D", setting]));
    let process = Process::daemon("gateway", command, &log)?;
    let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
    wait::until("the gateway listens", Duration::from_secs(120), reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
    Ok((port, process))
}

/// Compares on `SCHEME://127.0.0.1:PORT`.
fn compare(cluster: &Cluster, scheme: &str, port: u16, differences: &[(&str, &str)]) -> Outcome {
    let hdfs = cluster.uri();
    let meaning = |whose: Whose| {
        let name = if whose == Whose::Ours { "ours" } else { "theirs" };
        let directory = format!("/{scheme}-{port}-{name}");
        vec![
            ("FS".to_owned(), format!("{scheme}://127.0.0.1:{port}{directory}")),
            ("HDFS".to_owned(), format!("{hdfs}{directory}")),
            ("AT".to_owned(), directory),
        ]
    };
    // The longer name first.
    let meaning = |whose| {
        let mut meaning = meaning(whose);
        meaning.swap(0, 1);
        meaning
    };
    let sides = Sides {
        conf: &cluster.conf(),
        directory: cluster.directory(),
        meaning: &meaning,
        differences,
    };
    sides.compare(COMMANDS)
}

#[test]
fn webhdfs_on_our_namenode_answers_as_apaches_shell() {
    on("schemes-web-ours", Kind::Ours, |cluster| {
        compare(cluster, "webhdfs", cluster.site.http_port, ON_OURS)
    });
}

#[test]
fn webhdfs_on_apaches_namenode_answers_as_apaches_shell() {
    on("schemes-web-apache", Kind::Apache, |cluster| {
        compare(cluster, "webhdfs", cluster.site.http_port, &[])
    });
}

#[test]
fn webhdfs_on_a_gateway_with_and_without_tls_answers_as_apaches_shell() {
    on("schemes-web-gateway", Kind::Ours, |cluster| {
        let (port, _gateway) = gateway(cluster, &[])?;
        compare(cluster, "webhdfs", port, ON_OURS)?;
        let (certificate, key) = trusted_by_both(cluster.directory(), &cluster.conf())?;
        let settings = [
            "httpfs.ssl.enabled=true",
            &format!("zerohop.gateway.tls.certificate={certificate}"),
            &format!("zerohop.gateway.tls.key={key}"),
        ];
        let (port, _gateway) = gateway(cluster, &settings)?;
        compare(cluster, "swebhdfs", port, ON_OURS)
    });
}

/// Makes a certificate, and an ssl-client.xml with a Java keystore that trusts it.
fn trusted_by_both(directory: &Path, conf: &Path) -> Outcome<(String, String)> {
    let at = |name: &str| directory.join(name).display().to_string();
    let (certificate, key, store) = (at("server.pem"), at("server.key"), at("trust.jks"));
    let run = |program: &str, words: &[&str]| -> Outcome {
        let output = Command::new(program).args(words).output();
        let output = output.map_err(|e| format!("{program}: {e}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    };
    run(
        "openssl",
        &[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
            &key,
            "-out",
            &certificate,
        ],
    )?;
    run(
        "keytool",
        &[
            "-importcert",
            "-noprompt",
            "-storetype",
            "JKS",
            "-alias",
            "server",
            "-file",
            &certificate,
            "-keystore",
            &store,
            "-storepass",
            "changeit",
        ],
    )?;
    let settings = site::settings(&[
        ("ssl.client.truststore.location", &store),
        ("ssl.client.truststore.password", "changeit"),
        ("ssl.client.truststore.type", "jks"),
    ]);
    site::write_xml(&conf.join("ssl-client.xml"), &settings)?;
    Ok((certificate, key))
}

/// Servers that are away or not trusted used to be no error of the shell's: it knew no such scheme. What is copied by REST is whole.
#[test]
fn distcp_goes_by_rest_and_servers_that_are_away_or_not_trusted_are_named() {
    on("schemes-web-faults", Kind::Ours, |cluster| {
        let web = format!("webhdfs://127.0.0.1:{}", cluster.site.http_port);
        let zerohop = |words: &[&str]| -> Outcome<(i32, String)> {
            let mut command = Command::new(tools::zerohop()?);
            command.arg("--config").arg(cluster.conf()).args(words);
            let output = command.output().map_err(|e| e.to_string())?;
            let text = [output.stdout, output.stderr].concat();
            Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
        };
        let ok = |words: &[&str]| match zerohop(words)? {
            (0, said) => Ok(said),
            (code, said) => Err(format!("{words:?}: {code} {said}")),
        };
        let file = cluster.directory().join("file");
        let bytes: Vec<u8> = (0..5_000_000u32).map(|n| (n % 251) as u8).collect();
        fs::write(&file, &bytes).map_err(|e| e.to_string())?;
        ok(&["fs", "-mkdir", "/from", &format!("{web}/to")])?;
        ok(&["fs", "-put", &file.display().to_string(), "/from/file"])?;
        ok(&["distcp", "/from", &format!("{web}/to/copy")])?;
        ok(&["distcp", &format!("{web}/to/copy"), "/back"])?;
        let sums = ok(&["fs", "-checksum", "/from/file", "/back/file"])?;
        let sums: Vec<_> = sums.lines().filter_map(|line| line.split('\t').next_back()).collect();
        if sums.len() != 2 || sums[0] != sums[1] {
            return Err(format!("checksums {sums:?}"));
        }

        let nobody = ports::free();
        let (code, said) = zerohop(&["fs", "-ls", &format!("webhdfs://127.0.0.1:{nobody}/")])?;
        if code != 1 || !said.contains("is a WebHDFS or HttpFS server running there?") {
            return Err(format!("no server: {code} {said}"));
        }
        let (certificate, key) = trusted_by_both(cluster.directory(), &cluster.conf())?;
        let settings = [
            "httpfs.ssl.enabled=true",
            &format!("zerohop.gateway.tls.certificate={certificate}"),
            &format!("zerohop.gateway.tls.key={key}"),
        ];
        let (port, _gateway) = gateway(cluster, &settings)?;
        let root = format!("swebhdfs://127.0.0.1:{port}/");
        ok(&["fs", "-ls", &root])?;
        // Trust in another certificate.
        fs::create_dir_all(cluster.directory().join("other")).map_err(|e| e.to_string())?;
        trusted_by_both(&cluster.directory().join("other"), &cluster.conf())?;
        let (code, said) = zerohop(&["fs", "-ls", &root])?;
        match code == 1 && said.to_lowercase().contains("certificate") {
            true => Ok(()),
            false => Err(format!("a server that is not trusted: {code} {said}")),
        }
    });
}
