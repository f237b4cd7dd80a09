//! Files of Apache's that our client cannot read: it says so, and never hands out what lies on the
//! DataNodes' disks. And sums that both clients must agree on.

use std::time::Duration;

use zerohop_client::ErrorKind;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{check, client, over};
use zerohop_interop::{Kind, Outcome, java, site, tools};

const LIMIT: Duration = Duration::from_secs(60);

fn admin(cluster: &Cluster, class: &str, args: &[&str]) -> Outcome {
    java::run(class, args, &cluster.conf(), LIMIT)?.ok(&args.join(" ")).map(|_| ())
}

/// An erasure-coded file, an encrypted one and a plain one, made by Apache's tools and client.
fn make(cluster: &mut Cluster) -> Outcome {
    for directory in ["/coded", "/secret", "/plain"] {
        cluster.judge()?.ok(&["mkdir", directory])?;
    }
    let coding = "org.apache.hadoop.hdfs.tools.ECAdmin";
    let policy = "XOR-2-1-1024k";
    admin(cluster, coding, &["-enablePolicy", "-policy", policy])?;
    admin(cluster, coding, &["-setPolicy", "-path", "/coded", "-policy", policy])?;
    let zones = "org.apache.hadoop.hdfs.tools.CryptoAdmin";
    admin(cluster, zones, &["-createZone", "-keyName", "key", "-path", "/secret"])?;
    for path in ["/coded/f", "/secret/f", "/plain/f"] {
        cluster.judge()?.ok(&["put", path, "3000000", "7", "3", "1048576"])?;
    }
    Ok(())
}

/// Neither is it read, nor are plain bytes written where others are expected.
fn refused(fs: &FileSystem, path: &str, word: &str) -> Outcome {
    let error = match fs.open(path) {
        Ok(_) => return Err(format!("{path} was opened")),
        Err(error) => error,
    };
    let text = error.to_string();
    if error.kind() != ErrorKind::Unsupported || !text.contains(word) || !text.contains(path) {
        return Err(format!("{path}: {error:?}"));
    }
    let written = fs.create(&format!("{path}2"), Default::default());
    match written.map(|_| ()).map_err(|e| e.kind()) {
        Err(ErrorKind::Unsupported) => Ok(()),
        other => Err(format!("{path}2: {other:?}")),
    }
}

#[test]
fn coded_and_encrypted_files_are_refused() {
    let run = tools::out().join("run");
    let _ = std::fs::create_dir_all(&run);
    let store = run.canonicalize().unwrap_or_else(|_| run.clone()).join("unreadable-keys.jceks");
    let _ = std::fs::remove_file(&store);
    let provider = format!("jceks://file{}", store.display());
    let spec = Spec {
        name: "unreadable",
        namenode: Kind::Apache,
        datanodes: Kind::Apache,
        count: 3,
        settings: site::settings(&[("hadoop.security.key.provider.path", &provider)]),
    };
    // The NameNode reads the store of keys when it starts, and never again.
    let keys = "org.apache.hadoop.crypto.key.KeyShell";
    let made = java::run(keys, &["create", "key", "-provider", &provider], &run, LIMIT);
    let made = made.and_then(|finished| finished.ok("a key"));
    over(made.and_then(|_| Cluster::start(&spec)), |cluster| {
        make(cluster)?;
        let fs = client(&cluster.conf(), &[])?;
        check(&fs, "/plain/f", 7, 3_000_000)?;
        refused(&fs, "/coded/f", "erasure coded (XOR-2-1-1024k)")?;
        refused(&fs, "/secret/f", "encrypted")?;
        // The sum of what is stored is no secret, and the same for both.
        let sum = fs.checksum("/secret/f").map_err(|e| e.to_string())?;
        let bytes = sum.iter().flat_map(|s| s.bytes.iter());
        let hex: String = bytes.map(|b| format!("{b:02x}")).collect();
        let apache = cluster.judge()?.ok(&["checksum", "/secret/f"])?;
        if apache[1] != hex {
            return Err(format!("checksum {hex}, Apache's client says {apache:?}"));
        }
        match fs.checksum("/coded/f").map_err(|e| e.kind()) {
            Err(ErrorKind::Unsupported) => Ok(()),
            other => Err(format!("checksum of a coded file: {other:?}")),
        }
    });
}

/// Composite CRCs do not depend on block sizes, and are Apache's.
fn composite(datanodes: Kind) {
    let name = format!("composite-{datanodes:?}").to_lowercase();
    let settings = site::settings(&[("dfs.checksum.combine.mode", "COMPOSITE_CRC")]);
    let spec = Spec { name: &name, namenode: Kind::Ours, datanodes, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let mut ours = cluster.client(Kind::Ours)?;
        for (len, seed) in [("0", "8"), ("1000", "8"), ("1048576", "8"), ("5000001", "9")] {
            let mut sums = Vec::new();
            for (path, block) in [("/a", "1048576"), ("/b", "2097152"), ("/c", "1536000")] {
                ours.ok(&["put", path, len, seed, "2", block])?;
                sums.push(ours.ok(&["checksum", path])?);
                sums.push(cluster.judge()?.ok(&["checksum", path])?);
            }
            if sums.iter().any(|sum| Some(sum) != sums.first()) {
                return Err(format!("{len} bytes: {sums:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn composite_checksums_from_our_datanodes() {
    composite(Kind::Ours);
}

#[test]
fn composite_checksums_from_apache_datanodes() {
    composite(Kind::Apache);
}
