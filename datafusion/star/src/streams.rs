//! What makes the network busy: a process whose readers read a file of the far DataNode, again and again.

use crate::args::{BASE_DIRECTORY, ClusterArgs};
use crate::failure::Result;
use crate::tables::create_options;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use zerohop::Conf;
use zerohop::blocking::FileSystem;

/// The first word of that process.
pub const WORD: &str = "streams";
/// What it prints when every reader has received bytes.
const FLOWING: &str = "flowing";
const FILE_LEN: usize = 128 << 20;
const BUFFER_LEN: usize = 1 << 20;

fn path() -> String {
    format!("{BASE_DIRECTORY}/streamed")
}

/// Writes the file that is read.
pub fn write_file(fs: &FileSystem) -> Result<()> {
    let mut writer = fs.create(&path(), create_options(true))?;
    let bytes = vec![b'x'; BUFFER_LEN];
    for _ in 0..FILE_LEN / BUFFER_LEN {
        writer.write_all(&bytes)?;
    }
    Ok(writer.close()?)
}

/// The process with the readers; ended when dropped.
pub struct Streams(Child);

impl Streams {
    /// Starts readers and waits until each has received bytes.
    pub fn start(count: usize, cluster: &ClusterArgs) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([WORD, &count.to_string()]).args(&cluster.words);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut streams = Self(child);
        let output = streams.0.stdout.take().ok_or("the readers have no output")?;
        let line = BufReader::new(output).lines().next().transpose()?;
        match line.as_deref() {
            Some(FLOWING) => Ok(streams),
            _ => Err("the readers that make the network busy ended; their error is above".into()),
        }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the process does, until its standard input ends.
pub fn run(count: usize, conf: &Conf) -> Result<()> {
    let builder = zerohop::FileSystem::builder().conf(conf.clone());
    let fs = builder.set("dfs.client.read.shortcircuit", "false").build_blocking()?;
    let (flowing, received) = channel();
    for _ in 0..count {
        let (fs, flowing) = (fs.clone(), flowing.clone());
        std::thread::spawn(move || {
            if let Err(error) = read_for_ever(&fs, &flowing) {
                eprintln!("a reader that makes the network busy: {error}");
                std::process::exit(1);
            }
        });
    }
    for _ in 0..count {
        received.recv()?;
    }
    println!("{FLOWING}");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn read_for_ever(fs: &FileSystem, flowing: &Sender<()>) -> Result<()> {
    let mut buffer = vec![0; BUFFER_LEN];
    let mut is_first = true;
    loop {
        let mut reader = fs.open(&path())?;
        while reader.read(&mut buffer)? > 0 {
            if is_first {
                flowing.send(())?;
                is_first = false;
            }
        }
    }
}
