//! 64 readers at once: replicas are asked for once, memory and descriptors of both ends stay.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, client, footprint, over, put, shape};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, site};

use crate::client::{BLOCK, LEN, expect};

const READERS: u64 = 64;
/// How long they read, in seconds.
const SECONDS: &str = "60";
/// Another number of seconds, for those who wait for the test.
const VARIABLE: &str = "ZEROHOP_READERS_SECONDS";
/// What allocators and caches may differ by.
const KIB_MAX: u64 = 16 << 10;
const DESCRIPTORS_MAX: usize = 4;

/// The numbers behind the first word of the next line.
fn line(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    word: &str,
) -> Outcome<Vec<u64>> {
    let line = lines.next().ok_or_else(|| format!("no line {word:?}"))?.at("a line")?;
    let numbers = line.strip_prefix(word).ok_or_else(|| line.clone())?;
    numbers.split_whitespace().map(|n| n.parse().at(&line)).collect()
}

fn stays(whose: &str, before: (u64, usize), after: (u64, usize)) -> Outcome {
    println!("{whose}: {before:?} -> {after:?} (KiB, descriptors)");
    let same = after.0 < before.0 + KIB_MAX && after.1 < before.1 + DESCRIPTORS_MAX;
    expect(&format!("{whose}: {before:?} -> {after:?}"), same, true)
}

fn read(cluster: &Cluster) -> Outcome {
    let seconds = std::env::var(VARIABLE).unwrap_or_else(|_| SECONDS.to_owned());
    let mut child = Command::new(env!("CARGO_BIN_EXE_interop-readers"))
        .arg(cluster.conf())
        .args(["/many", "1", &LEN.to_string(), &READERS.to_string(), &seconds])
        .stdout(Stdio::piped())
        .spawn()
        .at("interop-readers")?;
    let pipe = child.stdout.take().ok_or("no pipe")?;
    let mut lines = BufReader::new(pipe).lines();
    let datanode = cluster.process_ids().1[0];
    let outcome = (|| {
        let before = line(&mut lines, "before")?;
        let datanode_before = footprint(datanode)?;
        let after = line(&mut lines, "after")?;
        stays("the DataNode", datanode_before, footprint(datanode)?)?;
        let of = |n: &[u64]| (n[0], n[1] as usize);
        stays("64 readers", of(&before), of(&after))?;
        let read = line(&mut lines, "read")?;
        println!("{} bytes in {seconds} s", read[0]);
        expect("all is local", read[0], read[1])?;
        expect("one request a replica", read[2], 3)
    })();
    let _ = child.kill();
    let ended = child.wait().at("interop-readers");
    outcome.and(ended.map(drop))
}

#[test]
fn sixty_four_readers_for_a_minute() {
    let directory = SocketDirectory::make("readers").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
    ]);
    let (name, ours) = ("shortcircuit-readers", Kind::Ours);
    let spec = Spec { name, namenode: ours, datanodes: ours, count: 1, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        put(&fs, "/many", 1, LEN, shape(1, BLOCK))?;
        harm::check(&fs, "/many", 1, LEN)?;
        drop(fs);
        read(cluster)
    });
}
