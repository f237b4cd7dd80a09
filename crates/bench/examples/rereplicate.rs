//! How fast the replicas of a killed DataNode are made again, beside raw copies of the same bytes:
//! `rereplicate ZEROHOP DIRECTORY GIB [KEY=VALUE...]`, with the path of the `zerohop` binary and an empty
//! directory on the disk to be measured.
//!
//! A NameNode and three DataNodes run as processes. Files of replication 2 are written, one DataNode is killed,
//! and time is taken from the moment the NameNode declares it dead until every block has two replicas again.
//! Raw is what the two DataNodes that are left would do without HDFS, each in a thread for each direction: sendfile from a file
//! to a loopback connection, and read(2) from there and write(2) into a file beside it.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zerohop_bench::raw::{Scratch, Sender, SocketKind, stream};
use zerohop_client::blocking::FileSystem;
use zerohop_client::{CreateOptions, DatanodeReportType};
use zerohop_conf::Conf;

const BLOCK_LEN: u64 = 128 << 20;
const BUFFER_LEN: usize = 1 << 20;
const DATANODES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(300);
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("ZEROHOP DIRECTORY GIB are needed");
    let (binary, directory, gib) = (word()?, PathBuf::from(word()?), word()?.parse::<u64>()?);
    let mut cluster = Cluster::start(&binary, &directory, &words.collect::<Vec<_>>())?;
    let fs = FileSystem::connect(&cluster.conf, None)?;
    wait("all DataNodes", || Ok(live(&fs)? == DATANODES))?;
    let files = write(&fs, gib << 30)?;
    let victim = cluster.datanodes.remove(0);
    let lost = fs.datanode_report(DatanodeReportType::Live)?;
    victim.kill()?;
    wait("the death of a DataNode", || Ok(live(&fs)? < DATANODES))?;
    let start = Instant::now();
    let lacking = lacking(&fs, &files)?;
    wait("all replicas", || Ok(self::lacking(&fs, &files)? == 0))?;
    let seconds = start.elapsed().as_secs_f64();
    let speed = lacking as f64 / 1e6 / seconds;
    println!(
        "{} DataNodes, one killed: {:.0} MB made again in {seconds:.2} s, {speed:.0} MB/s",
        lost.len(),
        lacking as f64 / 1e6
    );
    drop(cluster);
    raw(&directory, lacking, speed)
}

/// The limits of the machine, measured once more for as many bytes.
fn raw(directory: &Path, total: u64, speed: f64) -> Result<(), Failure> {
    let source = Scratch::create(directory, 1 << 30)?;
    let loopback =
        stream(&source, SocketKind::Tcp, Sender::Sendfile, 512 << 10, total, 3)?.median();
    println!(
        "raw loopback, one stream: {loopback:.0} MB/s; re-replication is {:.2} of it",
        speed / loopback
    );
    let each = total / 2;
    let mut copies = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let copy = || copy_over_loopback(&source, directory, each);
            let all: Vec<_> = (0..2).map(|_| scope.spawn(copy)).collect();
            all.into_iter().try_for_each(|one| one.join().map_err(|_| "a copier died")?)
        })?;
        copies.push(2.0 * each as f64 / 1e6 / start.elapsed().as_secs_f64());
    }
    let copies = zerohop_bench::median(&copies);
    println!(
        "raw loopback into files, two streams: {copies:.0} MB/s; re-replication is {:.2} of it",
        speed / copies
    );
    Ok(())
}

/// Sends a file's bytes again and again, and writes what arrives.
fn copy_over_loopback(source: &Scratch, directory: &Path, total: u64) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sending = TcpStream::connect(listener.local_addr()?)?;
    let mut receiving = listener.accept()?.0;
    std::thread::scope(|scope| {
        let sent = scope.spawn(move || -> Result<(), Failure> {
            let (mut left, mut offset) = (total, 0);
            while left > 0 {
                let take = left.min(BUFFER_LEN as u64).min(source.len - offset) as usize;
                left -=
                    rustix::fs::sendfile(&sending, &source.file, Some(&mut offset), take)? as u64;
                offset %= source.len;
            }
            Ok(())
        });
        let path = directory.join(format!("raw-{}", fastrand::u64(..)));
        let mut file = File::create(&path)?;
        let mut buffer = vec![0; BUFFER_LEN];
        loop {
            match receiving.read(&mut buffer)? {
                0 => break,
                len => file.write_all(buffer.get(..len).unwrap_or_default())?,
            }
        }
        std::fs::remove_file(&path)?;
        sent.join().map_err(|_| "the sender died")?
    })
}

struct Process(Child);

impl Process {
    fn kill(mut self) -> Result<(), Failure> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

struct Cluster {
    conf: Conf,
    datanodes: Vec<Process>,
    _namenode: Process,
}

impl Cluster {
    fn start(binary: &str, directory: &Path, settings: &[String]) -> Result<Self, Failure> {
        let port = zerohop_system::ports::free()?;
        let at = directory.display();
        let mut conf = Conf::new();
        let mut common = vec![
            ("fs.defaultFS".to_owned(), format!("hdfs://127.0.0.1:{port}")),
            ("dfs.namenode.name.dir".to_owned(), format!("{at}/name")),
            ("dfs.namenode.http-address".to_owned(), "127.0.0.1:0".to_owned()),
            ("dfs.namenode.heartbeat.recheck-interval".to_owned(), "1000".to_owned()),
            ("dfs.blocksize".to_owned(), BLOCK_LEN.to_string()),
        ];
        for key in ["address", "ipc.address", "http.address"] {
            common.push((format!("dfs.datanode.{key}"), "127.0.0.1:0".to_owned()));
        }
        for setting in settings {
            let (key, value) = setting.split_once('=').ok_or("KEY=VALUE is needed")?;
            common.push((key.to_owned(), value.to_owned()));
        }
        common.iter().for_each(|(key, value)| conf.set(key, value));
        let run = |name: &str, own: &[(String, String)], words: &[&str]| {
            let conf_dir = directory.join(format!("conf-{name}"));
            std::fs::create_dir_all(&conf_dir)?;
            write_site(&conf_dir, common.iter().chain(own))?;
            let log = File::create(directory.join(format!("{name}.log")))?;
            let mut command = Command::new(binary);
            command.args(words).env("HADOOP_CONF_DIR", &conf_dir).stdin(Stdio::null());
            command.stdout(log.try_clone()?).stderr(log);
            Ok::<_, Failure>(Process(command.spawn()?))
        };
        if !run("format", &[], &["namenode", "-format"])?.0.wait()?.success() {
            return Err("the NameNode cannot be formatted".into());
        }
        let namenode = run("namenode", &[], &["namenode"])?;
        let datanodes = (0..DATANODES).map(|number| {
            let own = [("dfs.datanode.data.dir".to_owned(), format!("{at}/data{number}"))];
            run(&format!("datanode{number}"), &own, &["datanode"])
        });
        let datanodes = datanodes.collect::<Result<_, _>>()?;
        Ok(Self { conf, datanodes, _namenode: namenode })
    }
}

fn write_site<'a>(
    conf_dir: &Path,
    values: impl Iterator<Item = &'a (String, String)>,
) -> Result<(), Failure> {
    let properties: String = values
        .map(|(key, value)| {
            format!("<property><name>{key}</name><value>{value}</value></property>\n")
        })
        .collect();
    let text = format!("<configuration>\n{properties}</configuration>\n");
    for file in ["core-site.xml", "hdfs-site.xml"] {
        std::fs::write(conf_dir.join(file), &text)?;
    }
    Ok(())
}

fn live(fs: &FileSystem) -> Result<usize, Failure> {
    // The NameNode may still be starting.
    Ok(fs.datanode_report(DatanodeReportType::Live).map_or(0, |live| live.len()))
}

fn write(fs: &FileSystem, total: u64) -> Result<Vec<String>, Failure> {
    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(BUFFER_LEN).collect();
    let files: Vec<String> = (0..total >> 30).map(|number| format!("/file-{number}")).collect();
    for path in &files {
        let options = CreateOptions::overwriting().replication(2);
        let mut writer = fs.create(path, options)?;
        (0..1 << 10).try_for_each(|_| writer.write_data(&bytes))?;
        writer.close()?;
    }
    Ok(files)
}

/// Bytes of replicas that are lacking.
fn lacking(fs: &FileSystem, files: &[String]) -> Result<u64, Failure> {
    let mut lacking = 0;
    for path in files {
        for block in fs.block_locations(path, 0, u64::MAX >> 1)?.blocks {
            lacking += block.block.block.len * 2u64.saturating_sub(block.replicas.len() as u64);
        }
    }
    Ok(lacking)
}

fn wait(what: &str, done: impl Fn() -> Result<bool, Failure>) -> Result<(), Failure> {
    let end = Instant::now() + PATIENCE;
    while !done()? {
        if Instant::now() > end {
            return Err(format!("{what} did not come within {} s", PATIENCE.as_secs()).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
