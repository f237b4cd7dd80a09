//! Two of Apache's DataNodes with one `dfs.domain.socket.path`, without `_PORT` in it: the one that
//! started last holds it, and our client is not confused. (One of ours would not start: `reasons`.)

use std::fs;
use std::os::unix::net::UnixStream;

use zerohop_client::{ReadPath, ReadReason};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, SETTLE, client, nodes, over, put, shape, wait_same};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, site, wait};

use crate::client::{MAPPED, expect, read_all};
use crate::reasons::without_slots;

const LEN: u64 = 400_000;
const BLOCK: u64 = 1 << 20;
/// Files of one replica: at most so many until both DataNodes have some.
const FILES_MAX: u64 = 200;

/// Which DataNode listens at the path.
fn holder(cluster: &Cluster, directory: &SocketDirectory) -> Outcome<usize> {
    let stream = UnixStream::connect(directory.path().join("dn")).at("the socket")?;
    let pid = zerohop_transport::domain::peer(&stream).at("the listener")?.pid;
    let pids = cluster.process_ids().1;
    pids.iter().position(|id| *id as i64 == pid as i64).ok_or_else(|| format!("{pid} of {pids:?}"))
}

fn told_apart(cluster: &Cluster, directory: &SocketDirectory) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let holder = holder(cluster, directory)?;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for seed in 0..FILES_MAX {
        if seed >= 12 && !here.is_empty() && !there.is_empty() {
            break;
        }
        let path = format!("/twin-{seed}");
        put(&fs, &path, seed, LEN, shape(1, BLOCK))?;
        wait_same(cluster, &fs, &path, 1)?;
        let is_here = nodes(cluster, &fs, &path)? == [holder];
        if is_here { &mut here } else { &mut there }.push((path, seed));
    }
    expect(&format!("{here:?} {there:?}"), here.is_empty() || there.is_empty(), false)?;
    // The first local read tells whose socket it is.
    let all = |fs: &_, files: &[(String, u64)], way| {
        files.iter().try_for_each(|(path, seed)| read_all(fs, path, *seed, LEN, way))
    };
    all(&fs, &here, MAPPED)?;
    let other = (ReadPath::TcpLocal, ReadReason::OtherDatanode);
    for _ in 0..2 {
        all(&fs, &there, other)?;
    }
    let said = fs.read_statistics().detail.unwrap_or_default();
    expect(&said, said.contains("put _PORT into dfs.domain.socket.path"), true)?;
    let forgetful =
        client(&cluster.conf(), &[("dfs.client.read.shortcircuit.streams.cache.size", "0")])?;
    all(&forgetful, &here, MAPPED)?;
    // A block that both have is read from the one that answers.
    put(&fs, "/both", 77, LEN, shape(2, BLOCK))?;
    wait_same(cluster, &fs, "/both", 2)?;
    for _ in 0..4 {
        read_all(&forgetful, "/both", 77, LEN, MAPPED)?;
    }
    Ok(())
}

/// The replica of the one that listens is bad, and the NameNode names the other one alone: whoever asks
/// at the path gets the bad one's files, and must not take them for the other's.
fn blamed_rightly(cluster: &Cluster, directory: &SocketDirectory) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let holder = holder(cluster, directory)?;
    put(&fs, "/rot", 78, LEN, shape(2, BLOCK))?;
    wait_same(cluster, &fs, "/rot", 2)?;
    let replicas = harm::on_disk(cluster, &fs, "/rot")?;
    let bad = replicas.iter().find(|replica| replica.datanode == holder).ok_or("no replica")?;
    harm::flip(&bad.data, 5000)?;
    let remote = client(&cluster.conf(), &[("dfs.client.read.shortcircuit", "false")])?;
    wait::until("the bad replica is known", SETTLE, || {
        harm::check(&remote, "/rot", 78, LEN)?;
        Ok(nodes(cluster, &remote, "/rot")? == [1 - holder])
    })?;
    for _ in 0..3 {
        harm::check(&client(&cluster.conf(), &[])?, "/rot", 78, LEN)?;
        expect("the good one", nodes(cluster, &fs, "/rot")?, vec![1 - holder])?;
    }
    fs.delete("/rot", false).at("/rot").map(drop)
}

/// Apache's DataNodes without shared memory: descriptors come without a slot.
fn without_segments(cluster: &mut Cluster) -> Outcome {
    cluster.stop_datanode(0)?;
    cluster.stop_datanode(1)?;
    let file = cluster.site.datanode_conf(0).join("hdfs-site.xml");
    let text = fs::read_to_string(&file).at("hdfs-site.xml")?;
    let property = "<property><name>dfs.short.circuit.shared.memory.watcher.interrupt.check.ms\
                    </name><value>0</value></property>\n</configuration>";
    fs::write(&file, text.replace("</configuration>", property)).at("hdfs-site.xml")?;
    cluster.start_datanode(0)?;
    cluster.wait_serving()?;
    let fs = client(&cluster.conf(), &[])?;
    wait::until("a file on the one that is left", SETTLE, || {
        put(&fs, "/ways", 1, crate::client::LEN, shape(1, BLOCK))?;
        let blocks = harm::blocks(&fs, "/ways")?;
        let place = cluster.datanode_address(0);
        let mut found = blocks.iter().flat_map(|block| block.nodes());
        Ok(found.all(|node| node.transfer_addr(false) == place))
    })?;
    drop(fs);
    without_slots(cluster, cluster.process_ids().1[0])
}

#[test]
fn two_datanodes_of_one_path_are_told_apart() {
    let directory = SocketDirectory::make("twins").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.path().join("dn").display().to_string()),
        ("dfs.datanode.shared.file.descriptor.paths", "/dev/shm,/tmp"),
    ]);
    let (name, apache) = ("shortcircuit-twins", Kind::Apache);
    let spec = Spec { name, namenode: Kind::Ours, datanodes: apache, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        told_apart(cluster, &directory).at("told apart")?;
        blamed_rightly(cluster, &directory).at("blamed rightly")?;
        without_segments(cluster).at("without segments")
    });
}
