//! What goes wrong at a user's desk: two sources of one name, a name directory that cannot be read, a
//! disk that is full from the start.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SmallDisks, over, zerohop};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::Site;
use zerohop_interop::{Kind, Outcome, tools};

/// A user that is not root and owns nothing: nobody.
const NOBODY: &str = "65534";

fn cluster(name: &str) -> Outcome<Cluster> {
    let settings = Vec::new();
    let ours = Kind::Ours;
    Cluster::start(&Spec { name, namenode: ours, datanodes: ours, count: 1, settings })
}

/// Exit code and all that was said.
fn run(command: &mut Command) -> Outcome<(i32, String)> {
    let output = command.output().at("a command")?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
}

/// Two sources of one name raced for it: the file was one's or the other's, or both failed.
#[test]
fn two_sources_of_one_name_in_one_put() {
    over(cluster("equal-names"), |cluster| {
        let (a, b) = (cluster.directory().join("a"), cluster.directory().join("b"));
        let (first, second) = (vec![b'a'; 3_000_000], vec![b'b'; 2_000_000]);
        for (directory, bytes) in [(&a, &first), (&b, &second)] {
            fs::create_dir_all(directory).at("a directory")?;
            fs::write(directory.join("x"), bytes).at("a source")?;
        }
        let (a, b) = (a.join("x").display().to_string(), b.join("x").display().to_string());
        let got = cluster.directory().join("got");
        for round in 0..8 {
            let directory = format!("/d{round}");
            zerohop(&cluster.conf(), &["fs", "-mkdir", &directory])?;
            // Every other time the later one is to win.
            let force = round % 2 == 1;
            let words = [&["fs", "-put"][..], if force { &["-f"] } else { &[] }];
            let words = [&words.concat()[..], &[a.as_str(), &b, &directory]].concat();
            let said = zerohop(&cluster.conf(), &words)?;
            let refused = (1, format!("put: `{directory}/x': File exists\n"));
            let expected = if force { (0, String::new()) } else { refused };
            if said != expected {
                return Err(format!("{words:?}: {said:?}"));
            }
            let (code, listed) = zerohop(&cluster.conf(), &["fs", "-ls", "-C", &directory])?;
            if code != 0 || listed != format!("{directory}/x\n") {
                return Err(format!("{directory}: {listed}"));
            }
            let (from, to) = (format!("{directory}/x"), got.display().to_string());
            zerohop(&cluster.conf(), &["fs", "-get", "-f", &from, &to])?;
            let bytes = fs::read(&got).at("what was put")?;
            if bytes != if force { &second[..] } else { &first[..] } {
                return Err(format!("{from}: {} bytes of {:?}", bytes.len(), bytes.first()));
            }
        }
        Ok(())
    });
}

/// A NameNode's directory that a user who is not root may be kept from reading.
struct Desk {
    directory: tempfile::TempDir,
    site: Site,
}

impl Desk {
    /// Formatted, and owned by whoever will start the NameNode.
    fn formatted() -> Outcome<Self> {
        let directory = tempfile::tempdir().at("a directory")?;
        let site = Site::new(directory.path(), 0);
        site.write(&[])?;
        let desk = Self { directory, site };
        if is_root() {
            let path = desk.directory.path();
            run(Command::new("chown").args(["-R", NOBODY]).arg(path))?;
        }
        match run(&mut desk.zerohop(&["namenode", "-format"])?)? {
            (0, _) => Ok(desk),
            (code, said) => Err(format!("-format: {code}\n{said}")),
        }
    }

    /// Our binary as a user whom permissions bind.
    fn zerohop(&self, words: &[&str]) -> Outcome<Command> {
        let program = tools::zerohop()?;
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("setpriv");
                let ids = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"];
                command.args(ids).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.arg("--config").arg(self.site.conf()).args(words);
        Ok(command)
    }

    fn names(&self) -> PathBuf {
        self.directory.path().join("nn")
    }

    /// Everything in the directory, with its bytes.
    fn contents(&self) -> Outcome<Vec<(PathBuf, Vec<u8>)>> {
        let current = self.names().join("current");
        let mut found = Vec::new();
        for entry in fs::read_dir(&current).at("the directory")? {
            let path = entry.at("the directory")?.path();
            let bytes = fs::read(&path).at("a file")?;
            found.push((path, bytes));
        }
        found.sort();
        Ok(found)
    }

    /// Nothing that may be asked for starts or formats anything; each says what to do, in one line.
    fn refuses(&self, words: &[&str], expected: &[&str]) -> Outcome {
        let mut command = Command::new("timeout");
        let inner = self.zerohop(words)?;
        command.arg("20").arg(inner.get_program()).args(inner.get_args());
        let (code, said) = run(&mut command)?;
        let says = said.lines().any(|line| expected.iter().all(|part| line.contains(part)));
        match says && code != 0 && code != 124 {
            true => Ok(()),
            false => Err(format!("{words:?}: {code}, no line with {expected:?} in\n{said}")),
        }
    }
}

fn is_root() -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn chmod(path: &Path, mode: u32) -> Outcome {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).at("chmod")
}

/// It was taken for one that is not formatted, and the advice was to format it.
#[test]
fn an_unreadable_name_directory_is_neither_started_nor_formatted() {
    let outcome = Desk::formatted().and_then(|desk| {
        let before = desk.contents()?;
        let starts: [&[&str]; 4] = [
            &["namenode"],
            &["namenode", "-format", "-nonInteractive"],
            &["namenode", "-format", "-force"],
            &["namenode", "-format", "-force", "-nonInteractive"],
        ];
        let (names, current) = (desk.names(), desk.names().join("current"));
        let shown = names.display().to_string();
        let denied = ["Permission denied", &shown, "must own the directory"];
        chmod(&names, 0)?;
        let refused: Outcome = starts.iter().try_for_each(|words| desk.refuses(words, &denied));
        chmod(&names, 0o700)?;
        refused?;
        // Here it can be seen that there is something, so that -force would be an order to remove it.
        chmod(&current, 0)?;
        let refused = desk
            .refuses(starts[0], &denied)
            .and_then(|()| desk.refuses(starts[1], &["data exists", &shown]));
        chmod(&current, 0o700)?;
        refused?;
        if desk.contents()? != before {
            return Err("something changed in the directory that could not be read".to_owned());
        }
        // A file where the directory should be.
        let aside = desk.directory.path().join("aside");
        fs::rename(desk.names(), &aside).at("a rename")?;
        fs::write(desk.names(), "not a directory").at("a file")?;
        for words in starts {
            desk.refuses(words, &[&shown])?;
        }
        let kept = fs::read(desk.names()).at("the file")?;
        if kept != b"not a directory" {
            return Err("the file was written over".to_owned());
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

/// A cluster and a DataNode on disks without room end with one line that names the directory, the
/// reason and what to do; with room they start.
#[test]
fn disks_that_are_full_from_the_start() {
    over(cluster("full-from-the-start"), |cluster| {
        let directory = cluster.directory().canonicalize().at("the directory")?;
        let (all, disk0, disk1) =
            (directory.join("all"), directory.join("d0"), directory.join("d1"));
        let sized: Vec<(&Path, &str)> =
            [&all, &disk0, &disk1].map(|d| (d.as_path(), "300k")).into();
        let Some(disks) = SmallDisks::mount(&sized, &cluster.site.log("disks"))? else {
            return Ok(());
        };
        let data = all.join("data").display().to_string();
        let plain = directory.join("plain-conf");
        fs::create_dir_all(&plain).at("a configuration")?;
        let ports = ["--port", "0", "--http-port", "0"];
        let words = [&["up", "--data", &data, "--exec", "true"], &ports[..]].concat();
        let (code, said) = run(&mut disks.zerohop(&plain, &words)?)?;
        let line = said.lines().find(|line| line.contains("No space left"));
        let expected = [data.as_str(), "make room there", "the NameNode does not start"];
        if code != 1 || !line.is_some_and(|line| expected.iter().all(|part| line.contains(part))) {
            return Err(format!("up on a full disk: {code}\n{said}"));
        }
        disks.shell("mount -o remount,size=60m \"$0\"", &all)?;
        let (code, said) = run(&mut disks.zerohop(&plain, &words)?)?;
        if code != 0 {
            return Err(format!("up with room: {code}\n{said}"));
        }
        for disk in [&disk0, &disk1] {
            disks.shell("dd if=/dev/zero of=\"$0/filler\" bs=1k 2>/dev/null || true", disk)?;
        }
        let volumes = format!("dfs.datanode.data.dir={},{}", disk0.display(), disk1.display());
        let mut words = vec!["datanode", "-D", &volumes];
        let free = ["address", "ipc.address", "http.address"];
        let free = free.map(|key| format!("dfs.datanode.{key}=127.0.0.1:0"));
        free.iter().for_each(|setting| words.extend(["-D", setting]));
        let log = cluster.site.log("full");
        let command = disks.zerohop(&cluster.site.datanode_conf(0), &words)?;
        let status = Process::daemon("DataNode", command, &log)?.finish(LIMIT)?;
        let said = fs::read_to_string(&log).at("the log")?;
        let named = |line: &str| line.contains(&disk0.display().to_string());
        let line = said.lines().find(|line| line.contains("No space left") && named(line));
        match line {
            Some(line) if !status.success() && line.contains("free space on the volume") => Ok(()),
            _ => Err(format!("{status}\n{}", tail(&log, 20))),
        }
    });
}

/// How long a start may take that fails.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(30);
