//! The examples of log collectors (`examples/log-collector`) in C, Python and shell, an hour in a minute: files are rolled, and
//! collectors, gateway, DataNodes and NameNode are killed.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::Explain;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, collector_line, site, tools, wait};

use crate::gateway::{Gateway, gateway};

/// A minute for an hour: 60 times the lines of a second, files that are full in seconds.
const LINES: u64 = 36_000;
const LINES_AT_ONCE: u64 = 20;
const PAUSE: Duration = Duration::from_millis(20);
const ROLL: [(&str, &str); 2] = [("ROLL_BYTES", "150000"), ("ROLL_SECONDS", "10")];
const BATCH: u64 = 64 << 10;
const LIMIT: Duration = Duration::from_secs(120);

/// Where a file begins in the source, and its length.
type Extent = (u64, u64);

/// A collector: a process that can be killed and started again, and how far it says it is.
struct Collector {
    name: &'static str,
    command: Vec<String>,
    log: PathBuf,
    source: PathBuf,
    acknowledged: Arc<AtomicU64>,
    process: Option<Process>,
}

impl Collector {
    fn start(&mut self) -> Outcome {
        let mut words = self.command.iter();
        let mut command = Command::new(words.next().ok_or("no program")?);
        command.args(words).envs(ROLL).env("HADOOP_USER_NAME", "root");
        let mut process = Process::talker(self.name, command, &self.log)?;
        let (_, out) = process.pipes().ok_or("a collector has no pipes")?;
        let acknowledged = Arc::clone(&self.acknowledged);
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let offset = line.strip_prefix("acknowledged ").and_then(|rest| rest.parse().ok());
                acknowledged.fetch_max(offset.unwrap_or(0), Ordering::AcqRel);
            }
        });
        self.process = Some(process);
        Ok(())
    }

    /// SIGKILL to it and its children, and starts it again.
    fn restart(&mut self) -> Outcome {
        self.process = None;
        self.start()
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    fn directory(&self) -> String {
        format!("/logs/{}", self.name)
    }

    /// All files, one after another.
    fn collected(&self, gateway: &Gateway) -> Outcome<(Vec<Extent>, Vec<u8>)> {
        let list = format!("/webhdfs/v1{}?op=LISTSTATUS&user.name=root", self.directory());
        let list = gateway.ask("GET", &list, &[], b"")?.text();
        let of_name = |part: &str| part.split('"').next().unwrap_or_default().to_owned();
        let mut names: Vec<String> = list.split("\"pathSuffix\":\"").skip(1).map(of_name).collect();
        names.retain(|name| !name.ends_with(".new"));
        names.sort();
        let (mut files, mut all) = (Vec::new(), Vec::new());
        for name in names {
            let target = format!("{}/{name}?user.name=root", self.directory());
            let read = gateway.ask("GET", &target, &[], b"")?;
            if read.status != 200 || !read.is_whole {
                return Err(format!("{target}: {} {}", read.status, read.text()));
            }
            let begin: u64 = name.parse().at(&name)?;
            if begin != all.len() as u64 {
                return Err(format!("{target} begins after {} bytes", all.len()));
            }
            files.push((begin, read.body.len() as u64));
            all.extend(read.body);
        }
        Ok((files, all))
    }

    /// What was acknowledged is there, byte for byte as in the source, and nothing twice.
    fn check(&self, gateway: &Gateway) -> Outcome<Vec<Extent>> {
        let acknowledged = self.acknowledged();
        let (files, collected) = self.collected(gateway)?;
        let source = std::fs::read(&self.source).at("the source")?;
        let same = collected.iter().zip(&source).take_while(|(a, b)| a == b).count();
        match same == collected.len() && collected.len() as u64 >= acknowledged {
            true => Ok(files),
            false => Err(format!(
                "{}: {} bytes, {acknowledged} acknowledged, {} in the source, the same up to {same}",
                self.name,
                collected.len(),
                source.len()
            )),
        }
    }
}

/// The C example, compiled against the library as it is shipped.
fn compiled(directory: &Path) -> Outcome<PathBuf> {
    let library = tools::zerohop()?.with_file_name("libhdfs.so");
    let library = library.parent().ok_or("no directory")?.to_owned();
    let program = directory.join("collector");
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-O1"]).arg(example("collector.c"));
    cc.arg("-I").arg(tools::root().join("bindings/c/include")).arg("-L").arg(&library);
    cc.arg("-lhdfs").arg(format!("-Wl,-rpath,{}", library.display())).arg("-o").arg(&program);
    let out = cc.output().at("cc")?;
    match out.status.success() {
        true => Ok(program),
        false => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
    }
}

fn example(name: &str) -> PathBuf {
    tools::root().join("examples/log-collector").join(name)
}

fn collectors(cluster: &Cluster, gateway: &Gateway) -> Outcome<Vec<Collector>> {
    let url = format!("http://127.0.0.1:{}", gateway.port);
    let c = compiled(cluster.directory())?;
    let programs = [
        ("c", vec![c], cluster.uri()),
        ("python", vec![PathBuf::from("python3"), example("collector.py")], url.clone()),
        ("shell", vec![PathBuf::from("sh"), example("collector.sh")], url),
    ];
    let mut all = Vec::new();
    for (name, program, place) in programs {
        let source = cluster.directory().join(format!("source-{name}"));
        File::create(&source).at("the source")?;
        let mut command: Vec<String> =
            program.iter().map(|word| word.display().to_string()).collect();
        command.extend([source.display().to_string(), place, format!("/logs/{name}")]);
        let log = cluster.site.log(&format!("collector-{name}"));
        let (acknowledged, process) = Default::default();
        let mut collector = Collector { name, command, log, source, acknowledged, process };
        collector.start()?;
        all.push(collector);
    }
    Ok(all)
}

/// The application whose log it is: lines come in bursts, and a burst may end in the middle of a line.
fn write_log(source: &Path, writer: &str, stop: &AtomicBool) -> Outcome {
    let mut out = OpenOptions::new().append(true).open(source).at("the source")?;
    let mut kept = Vec::new();
    for at in 0..LINES {
        kept.extend(collector_line(writer, at).into_bytes());
        if at % LINES_AT_ONCE == LINES_AT_ONCE - 1 && !stop.load(Ordering::Acquire) {
            let rest = kept.split_off(kept.len() / 2);
            out.write_all(&kept).at("the source")?;
            std::thread::sleep(PAUSE);
            kept = rest;
        }
    }
    out.write_all(&kept).at("the source")
}

/// What is killed, and started again.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Collectors,
    DataNode(usize),
    Gateway,
    NameNode,
}

const HOUR: [Victim; 10] = [
    Victim::Collectors,
    Victim::Gateway,
    Victim::DataNode(0),
    Victim::Collectors,
    Victim::NameNode,
    Victim::Gateway,
    Victim::Collectors,
    Victim::DataNode(1),
    Victim::Collectors,
    Victim::DataNode(2),
];

fn kill(
    cluster: &mut Cluster,
    gateway: &mut Gateway,
    collectors: &mut [Collector],
    victim: Victim,
) -> Outcome {
    match victim {
        Victim::Collectors => collectors.iter_mut().try_for_each(Collector::restart)?,
        Victim::DataNode(i) => {
            cluster.kill_datanode(i);
            cluster.start_datanode(i)?;
        }
        Victim::Gateway => {
            gateway.kill();
            gateway.start()?;
        }
        Victim::NameNode => {
            cluster.kill_namenode();
            cluster.start_namenode()?;
        }
    }
    cluster.wait_serving()
}

fn hour(cluster: &mut Cluster, gateway: &mut Gateway, collectors: &mut [Collector]) -> Outcome {
    let total: u64 = (0..LINES).map(|at| collector_line("writer", at).len() as u64).sum();
    for (at, victim) in HOUR.into_iter().enumerate() {
        let wanted = total * (at as u64 + 1) / (HOUR.len() as u64 + 1);
        wait::until(&format!("{wanted} bytes from each"), LIMIT, || {
            collectors.iter_mut().try_for_each(|collector| match &mut collector.process {
                Some(process) => process.alive(),
                None => Err("no process".to_owned()),
            })?;
            let least = collectors.iter().map(Collector::acknowledged).min().unwrap_or(0);
            if least >= wanted { Ok(true) } else { Err(least.to_string()) }
        })?;
        kill(cluster, gateway, collectors, victim).at(&format!("{victim:?}"))?;
        println!("{wanted} bytes, {victim:?} killed");
        for collector in collectors.iter() {
            // The one in C may be putting a new file in the place of one that was open.
            let is_good = || collector.check(gateway).map(|_| true);
            wait::until(&format!("a good copy after {victim:?}"), LIMIT, is_good)?;
        }
    }
    for collector in collectors.iter() {
        let all = || {
            let (is, all) = (collector.acknowledged(), total);
            if is == all { Ok(true) } else { Err(format!("{} {is} of {all}", collector.name)) }
        };
        wait::until("everything acknowledged", LIMIT, all)?;
        let files = collector.check(gateway)?;
        let is_too_long = |(_, len): &&(u64, u64)| *len > 150_000 + 2 * BATCH;
        if files.len() < 5 || files.iter().any(|file| is_too_long(&file)) {
            return Err(format!("{}: {files:?}", collector.name));
        }
    }
    Ok(())
}

#[test]
fn collectors_in_c_python_and_shell_lose_no_line_and_double_none_in_an_hour_of_kills() {
    let settings = site::settings(&[("dfs.replication", "2")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "collectors", namenode, datanodes, count: 3, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let mut gateway = gateway(&cluster, &[]).unwrap();
    let mut collectors = collectors(&cluster, &gateway).unwrap();
    let begun = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = collectors
        .iter()
        .map(|collector| {
            let (source, stop) = (collector.source.clone(), Arc::clone(&stop));
            std::thread::spawn(move || write_log(&source, "writer", &stop))
        })
        .collect();
    let done = hour(&mut cluster, &mut gateway, &mut collectors);
    stop.store(true, Ordering::Release);
    let written: Outcome = writers.into_iter().try_for_each(|writer| writer.join().unwrap());
    println!("{LINES} lines each: {} ms", begun.elapsed().as_millis());
    if let Err(failure) = done.and(written) {
        let logs: Vec<_> = collectors.iter().map(|one| tail(&one.log, 8)).collect();
        panic!("{failure}\n{}\n{}\n{}", logs.join("\n"), gateway.log(), cluster.logs());
    }
}
