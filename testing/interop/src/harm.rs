//! What the tests of failures share: our client in this process, replicas as files on disk, and
//! small file systems that can be full.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use zerohop_client::blocking::{FileReader, FileSystem, FileWriter};
use zerohop_client::{CreateOptions, LocatedBlock, User};
use zerohop_conf::Conf;

use crate::cluster::Cluster;
use crate::process::{Process, tail};
use crate::{Outcome, cannot_run, content, tools, wait};

/// How long a change that DataNodes carry out may take to show.
pub const SETTLE: Duration = Duration::from_secs(150);

/// A failure as text.
pub trait Explain<T> {
    /// Puts what was being done before the failure.
    fn at(self, doing: &str) -> Outcome<T>;
}

impl<T, E: std::fmt::Display> Explain<T> for Result<T, E> {
    fn at(self, doing: &str) -> Outcome<T> {
        self.map_err(|e| format!("{doing}: {e}"))
    }
}

/// Our client in this process, with settings that go over those of the cluster.
pub fn client(conf: &Path, settings: &[(&str, &str)]) -> Outcome<FileSystem> {
    client_as(conf, settings, User::of_process())
}

/// The same for a user.
pub fn client_as(conf: &Path, settings: &[(&str, &str)], user: User) -> Outcome<FileSystem> {
    let mut conf = Conf::load(conf).at("the client's configuration")?;
    for (name, value) in settings {
        conf.set(name, *value);
    }
    FileSystem::connect_as(&conf, None, user).at("a client")
}

/// How the tests make files.
pub fn shape(replication: u16, block_size: u64) -> CreateOptions {
    CreateOptions::overwriting().replication(replication).block_size(block_size)
}

/// Writes `len` more bytes of the stream of `seed`.
pub fn write(writer: &mut FileWriter, seed: u64, len: u64) -> zerohop_client::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    let end = writer.pos() + len;
    while writer.pos() < end {
        let part = (end - writer.pos()).min(1 << 16) as usize;
        content::fill(seed, writer.pos(), &mut buffer[..part]);
        writer.write_data(&buffer[..part])?;
    }
    Ok(())
}

/// Writes a whole file.
pub fn put(fs: &FileSystem, path: &str, seed: u64, len: u64, options: CreateOptions) -> Outcome {
    let mut writer = fs.create(path, options).at(path)?;
    write(&mut writer, seed, len).and_then(|()| writer.close()).at(path)
}

/// Reads a whole file; it must have these bytes.
pub fn check(fs: &FileSystem, path: &str, seed: u64, len: u64) -> Outcome {
    let mut reader = fs.open(path).at(path)?;
    if reader.len() != len {
        return Err(format!("{path}: {} bytes, not {len}", reader.len()));
    }
    check_rest(&mut reader, seed)
}

/// Reads on to the end; the bytes must be those of `seed`.
pub fn check_rest(reader: &mut FileReader, seed: u64) -> Outcome {
    let path = reader.path().to_owned();
    let (mut got, mut want) = (vec![0; 1 << 18], vec![0; 1 << 18]);
    loop {
        let pos = reader.pos();
        let read = reader.read_some(&mut got).at(&path)?;
        if read == 0 {
            return Ok(());
        }
        content::fill(seed, pos, &mut want[..read]);
        if got[..read] != want[..read] {
            return Err(format!("{path}: wrong bytes after {pos}"));
        }
    }
}

/// The blocks of a file as our client sees them.
pub fn blocks(fs: &FileSystem, path: &str) -> Outcome<Vec<LocatedBlock>> {
    let located = fs.block_locations(path, 0, u64::MAX >> 1).at(path)?;
    let mut blocks = located.blocks;
    if let Some(last) = located.last_block
        && !blocks.iter().any(|block| block.block.block.id == last.block.block.id)
    {
        blocks.push(last);
    }
    Ok(blocks)
}

/// The DataNodes of the only block of a file.
pub fn nodes(cluster: &Cluster, fs: &FileSystem, path: &str) -> Outcome<Vec<usize>> {
    let blocks = blocks(fs, path)?;
    let [block] = &blocks[..] else { return Err(format!("{path}: not one block: {blocks:?}")) };
    block.nodes().map(|node| cluster.datanode_at(&node.transfer_addr(false))).collect()
}

/// Waits until a file has one block with this many locations; gives them.
pub fn wait_nodes(
    cluster: &Cluster,
    fs: &FileSystem,
    path: &str,
    count: usize,
) -> Outcome<Vec<usize>> {
    let mut found = Vec::new();
    wait::until(&format!("{count} replicas of {path}"), SETTLE, || {
        found = nodes(cluster, fs, path)?;
        if found.len() == count { Ok(true) } else { Err(format!("{found:?}")) }
    })?;
    Ok(found)
}

/// A replica's files.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// Whose.
    pub datanode: usize,
    /// The block file.
    pub data: PathBuf,
    /// Its checksums.
    pub meta: PathBuf,
}

impl OnDisk {
    /// The state that the directory says: finalized, rbw or tmp.
    pub fn is_in(&self, directory: &str) -> bool {
        self.data.components().any(|part| part.as_os_str() == directory)
    }
}

/// All replicas of the only block of a file, of whatever state and stamp.
pub fn on_disk(cluster: &Cluster, fs: &FileSystem, path: &str) -> Outcome<Vec<OnDisk>> {
    let blocks = blocks(fs, path)?;
    let block = blocks.first().ok_or_else(|| format!("{path}: no block"))?;
    Ok(replicas_of(cluster, block.block.block.id.0))
}

/// All replicas of a block.
pub fn replicas_of(cluster: &Cluster, id: i64) -> Vec<OnDisk> {
    let (data, meta) = (format!("blk_{id}"), format!("blk_{id}_"));
    let mut found = Vec::new();
    for datanode in 0..cluster.site.data_ports.len() {
        let mut files = Vec::new();
        walk(&cluster.directory().join(format!("dn{datanode}")), &mut files);
        let named = |file: &PathBuf| file.file_name().map(|n| n.to_string_lossy().into_owned());
        for file in files.iter().filter(|file| named(file).as_ref() == Some(&data)) {
            let beside = files.iter().find(|other| {
                other.parent() == file.parent()
                    && named(other).is_some_and(|n| n.starts_with(&meta) && n.ends_with(".meta"))
            });
            let meta = beside.cloned().unwrap_or_default();
            found.push(OnDisk { datanode, data: file.clone(), meta });
        }
    }
    found
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), files),
            _ => files.push(entry.path()),
        }
    }
}

/// Waits until the only block of a file has this many replicas on disk, all finalized, with the
/// same bytes and the same checksums.
pub fn wait_same(cluster: &Cluster, fs: &FileSystem, path: &str, count: usize) -> Outcome {
    wait::until(&format!("{count} equal replicas of {path} on disk"), SETTLE, || {
        let found = on_disk(cluster, fs, path)?;
        let read = |path: &Path| fs::read(path).unwrap_or_default();
        let contents: Vec<_> = found.iter().map(|r| (read(&r.data), read(&r.meta))).collect();
        let same = contents.iter().all(|c| !c.1.is_empty() && Some(c) == contents.first());
        match found.len() == count && same && found.iter().all(|r| r.is_in("finalized")) {
            true => Ok(true),
            false => Err(format!("{found:?}, equal: {same}")),
        }
    })
}

/// Turns one bit of a byte of a file around.
pub fn flip(path: &Path, offset: u64) -> Outcome {
    let name = path.display().to_string();
    let file = fs::File::options().read(true).write(true).open(path).at(&name)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).at(&name)?;
    byte[0] ^= 0x10;
    file.write_all_at(&byte, offset).at(&name)
}

/// The body of a page of a server of this machine.
pub fn http(port: u16, path: &str) -> Outcome<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).at(path)?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).at(path)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).at(path)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| answer.clone())?;
    match head.contains(" 200 ") {
        true => Ok(body.to_owned()),
        false => Err(format!("{path}: {head}")),
    }
}

/// Resident memory in KiB and open descriptors of a process.
pub fn footprint(pid: u32) -> Outcome<(u64, usize)> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).at("a process's descriptors")?;
    Ok((resident_kib(pid, "VmRSS")?, descriptors.count()))
}

/// Resident memory of a process in KiB, of one kind: `VmRSS` is all, `RssAnon` its own memory, `RssFile` mostly its program.
pub fn resident_kib(pid: u32, kind: &str) -> Outcome<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).at("a process's status")?;
    let mut fields = status.lines().filter_map(|line| line.split_once(':'));
    let field = fields.find(|(name, _)| *name == kind);
    let kib = field.and_then(|(_, kib)| kib.split_whitespace().next()?.parse().ok());
    kib.ok_or_else(|| format!("process {pid} has no {kind}"))
}

/// Runs our binary to its end: exit code and all that it printed.
pub fn zerohop(conf: &Path, args: &[&str]) -> Outcome<(i32, String)> {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(conf).args(args);
    let output = command.output().at("zerohop")?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
}

/// The processes of a daemon, stopped as long as this lives.
pub struct Frozen(u32);

impl Frozen {
    /// Stops a process that the harness started, and its children.
    pub fn new(process: u32) -> Outcome<Self> {
        let frozen = Self(process);
        frozen.signal(libc::SIGSTOP)?;
        Ok(frozen)
    }

    fn signal(&self, signal: i32) -> Outcome {
        // SAFETY: kill takes no pointers; the process group is that of a child of ours that nobody else waits for.
        match unsafe { libc::kill(-(self.0 as i32), signal) } {
            0 => Ok(()),
            _ => Err(format!("kill: {}", std::io::Error::last_os_error())),
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = self.signal(libc::SIGCONT);
    }
}

/// A mount namespace of its own, in which directories can be small file systems. It lasts until it is
/// dropped, so that programs in it can be stopped and started.
pub struct SmallDisks {
    holder: Process,
}

impl SmallDisks {
    /// Puts an empty file system of `size` (as mount's option takes it) on each directory. Where this
    /// machine does not let us mount, see [`cannot_run`].
    pub fn mount(directories: &[(&Path, &str)], log: &Path) -> Outcome<Option<Self>> {
        let mut script = "set -e\n".to_owned();
        for (directory, size) in directories {
            fs::create_dir_all(directory).at(&directory.display().to_string())?;
            script += &format!("mount -t tmpfs -o size={size} tmpfs '{}'\n", directory.display());
        }
        script += "echo mounted\nread _ || true\n";
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
        let mut holder = Process::daemon("small disks", command, log)?;
        let waited = wait::until("small disks", Duration::from_secs(10), || {
            let _ = holder.alive().map_err(|_| ());
            Ok(holder.ended().is_some() || tail(log, 1).ends_with("mounted"))
        });
        if waited.is_err() || holder.ended().is_some() {
            let why = format!("no mount namespace here: {}", tail(log, 3));
            return cannot_run(&why).map(|()| None);
        }
        Ok(Some(Self { holder }))
    }

    /// A command inside.
    pub fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside.arg("--target").arg(self.holder.id().to_string()).arg("--mount");
        inside.arg(command.get_program()).args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside
    }

    /// Our binary inside.
    pub fn zerohop(&self, conf: &Path, args: &[&str]) -> Outcome<Command> {
        let mut command = Command::new("nsenter");
        command.arg("--target").arg(self.holder.id().to_string()).arg("--mount");
        command.arg(tools::zerohop()?).arg("--config").arg(conf).args(args);
        Ok(command)
    }

    /// Runs a line of shell inside, with `directory` as its `$0`.
    pub fn shell(&self, line: &str, directory: &Path) -> Outcome {
        let mut command = Command::new("nsenter");
        command.arg("--target").arg(self.holder.id().to_string()).arg("--mount");
        let output = command.args(["sh", "-c", line]).arg(directory).output().at(line)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// A path inside, as it is reached from outside.
    pub fn path(&self, inside: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(inside.strip_prefix("/").unwrap_or(inside))
    }
}

/// Runs a test over a cluster; its logs stay when the test fails.
pub fn over(cluster: Outcome<Cluster>, test: impl FnOnce(&mut Cluster) -> Outcome) {
    let outcome = cluster.and_then(|mut cluster| {
        cluster.keep_logs = true;
        test(&mut cluster).map_err(|e| format!("{e}\n{}", cluster.logs()))?;
        cluster.keep_logs = false;
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
