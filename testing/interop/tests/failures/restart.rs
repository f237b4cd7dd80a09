//! A DataNode is restarted in order under writers of both kinds: it says so out of band, they wait
//! and go on with the same pipeline.

use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{check, client, over, wait_nodes, wait_same, zerohop};
use zerohop_interop::{Kind, Outcome, java, site, wait};

const PART: u64 = 1_000_003;
const BLOCK: &str = "8388608";
/// The writers wait 4 s before they look for the DataNode, and give up after two minutes.
const PATIENCE: Duration = Duration::from_secs(110);

struct Writer {
    driver: Driver,
    path: &'static str,
    seed: &'static str,
    replicas: usize,
}

impl Writer {
    fn new(
        cluster: &mut Cluster,
        kind: Kind,
        path: &'static str,
        seed: &'static str,
        replicas: usize,
    ) -> Outcome<Self> {
        let mut driver = cluster.client(kind)?;
        driver.ok(&["create", "w", path, &replicas.to_string(), BLOCK, "true"])?;
        let mut writer = Self { driver, path, seed, replicas };
        writer.write()?;
        Ok(writer)
    }

    fn write(&mut self) -> Outcome {
        self.driver.ok(&["write", "w", &PART.to_string(), self.seed])?;
        self.driver.ok(&["hflush", "w"]).map(drop)
    }
}

/// The first DataNode is told by our tool, the second by Apache's.
fn shut_down(cluster: &Cluster, i: usize, apache: bool) -> Outcome {
    tell(cluster, i)?;
    // Seen once, when packets came while Apache's DataNode was ending: it said "Unmatched length"
    // after the restart, and Apache's client gave it up. So nothing is written before it is deaf.
    let log = cluster.site.log(&format!("dn{i}"));
    let told = |log: &str| !apache || log.contains("Closing all peers");
    wait::until("the DataNode has told its writers", PATIENCE, || {
        Ok(told(&std::fs::read_to_string(&log).unwrap_or_default()))
    })
}

fn tell(cluster: &Cluster, i: usize) -> Outcome {
    let address = format!("127.0.0.1:{}", cluster.site.ipc_ports[i]);
    let args = ["-shutdownDatanode", &address, "upgrade"];
    if i == 0 {
        let said = zerohop(&cluster.conf(), &[&["dfsadmin"], &args[..]].concat())?;
        if said.0 != 0 || !said.1.contains("Submitted a shutdown request") {
            return Err(format!("shutdownDatanode: {said:?}"));
        }
        return Ok(());
    }
    let class = "org.apache.hadoop.hdfs.tools.DFSAdmin";
    java::run(class, &args, &cluster.conf(), PATIENCE)?.ok("shutdownDatanode").map(drop)
}

/// Restarts a DataNode while all write.
fn restart_under(cluster: &mut Cluster, writers: &mut [Writer], i: usize, apache: bool) -> Outcome {
    shut_down(cluster, i, apache)?;
    let told = Instant::now();
    std::thread::scope(|scope| {
        let writing: Vec<_> =
            writers.iter_mut().map(|writer| scope.spawn(|| writer.write())).collect();
        let restarted = cluster.wait_datanode_down(i).and_then(|()| cluster.start_datanode(i));
        let written: Vec<Outcome> = writing
            .into_iter()
            .map(|writing| writing.join().map_err(|_| "a writer died".to_owned())?)
            .collect();
        restarted?;
        written.into_iter().collect::<Outcome>()
    })?;
    println!("DataNode {i}: written on {} ms after the call", told.elapsed().as_millis());
    if told.elapsed() > PATIENCE {
        return Err("a writer gave the DataNode up instead of finding it again".to_owned());
    }
    cluster.wait_serving()
}

fn restarts(namenode: Kind, datanodes: Kind) {
    let name = format!("restart-{namenode:?}-{datanodes:?}").to_lowercase();
    // Two in all: whoever takes one out of its pipeline finds none instead.
    let settings = site::settings(&[
        ("dfs.client.datanode-restart.timeout", "120"),
        ("dfs.datanode.restart.replica.expiration", "150"),
    ]);
    let spec = Spec { name: &name, namenode, datanodes, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let mut writers = vec![
            Writer::new(cluster, Kind::Apache, "/java", "1", 2)?,
            Writer::new(cluster, Kind::Ours, "/ours", "2", 2)?,
            Writer::new(cluster, Kind::Apache, "/java-alone", "3", 1)?,
            Writer::new(cluster, Kind::Ours, "/ours-alone", "4", 1)?,
        ];
        for i in 0..2 {
            restart_under(cluster, &mut writers, i, datanodes == Kind::Apache)?;
        }
        let fs = client(&cluster.conf(), &[])?;
        for writer in &writers {
            // Still the pipeline of before.
            wait_nodes(cluster, &fs, writer.path, writer.replicas)?;
        }
        for writer in &mut writers {
            writer.write()?;
            writer.driver.ok(&["close", "w"])?;
            let seed = writer.seed.parse().map_err(|_| "a seed")?;
            check(&fs, writer.path, seed, 4 * PART)?;
            wait_same(cluster, &fs, writer.path, writer.replicas)?;
        }
        Ok(())
    });
}

#[test]
fn writers_wait_for_our_datanodes() {
    restarts(Kind::Ours, Kind::Ours);
}

#[test]
fn writers_wait_for_apache_s_datanodes() {
    restarts(Kind::Ours, Kind::Apache);
}

#[test]
fn writers_wait_for_datanodes_on_apache_s_servers() {
    restarts(Kind::Apache, Kind::Apache);
}
