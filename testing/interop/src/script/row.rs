//! One row of the matrix: a cluster, its clients, and the files that must stay whole.

use std::time::{Duration, Instant};

use super::servers::Servers;
use crate::cluster::{Cluster, Spec};
use crate::driver::Driver;
use crate::{Kind, Outcome, content, site};

/// Bytes in a block of the script's files.
pub const BLOCK: u64 = 1 << 20;
/// How long a change that DataNodes carry out may take to show.
/// A recovery that works takes less.
const RECOVERY_MAX: Duration = Duration::from_secs(35);
pub(super) const SETTLE: Duration = Duration::from_secs(150);

/// One row of the matrix while it runs.
pub struct Row<S: Servers = Cluster> {
    /// The daemons under test.
    pub cluster: S,
    /// The client under test.
    pub client: Driver,
    /// Other clients that look at what it did: Apache's, and ours where the row has any of ours.
    pub others: Vec<Driver>,
    kept: Vec<Kept>,
}

/// A file that must still be there, whole, at the end.
struct Kept {
    path: String,
    seed: u64,
    len: u64,
}

impl Row {
    /// Starts a cluster and its clients.
    pub(super) fn start(
        name: &str,
        client: Kind,
        namenode: Kind,
        datanodes: Kind,
    ) -> Outcome<Self> {
        Self::start_with(name, client, (namenode, datanodes), &[])
    }

    /// As [`Self::start`], with settings of its own.
    pub(super) fn start_with(
        name: &str,
        client: Kind,
        (namenode, datanodes): (Kind, Kind),
        settings: &[(&str, &str)],
    ) -> Outcome<Self> {
        let settings = site::settings(settings);
        let spec = Spec { name, namenode, datanodes, count: 4, settings };
        let mut cluster = Cluster::start(&spec)?;
        let under_test = cluster.client(client)?;
        let mut others = vec![cluster.client(Kind::Apache)?];
        if [client, namenode, datanodes].contains(&Kind::Ours) {
            others.push(cluster.client(Kind::Ours)?);
        }
        Ok(Self::on(cluster, under_test, others))
    }

    /// Has the NameNode write an image.
    pub(super) fn save_namespace(&mut self) -> Outcome {
        let judge = self.cluster.judge()?;
        for request in [&["safemode", "enter"][..], &["savenamespace"], &["safemode", "leave"]] {
            judge.ok(request)?;
        }
        Ok(())
    }
}

impl<S: Servers> Row<S> {
    /// A row on daemons that serve, with the client under test and others.
    pub(super) fn on(cluster: S, client: Driver, others: Vec<Driver>) -> Self {
        Self { cluster, client, others, kept: Vec::new() }
    }

    /// Every client of the row, the one under test first.
    pub fn everyone(&mut self) -> impl Iterator<Item = &mut Driver> {
        std::iter::once(&mut self.client).chain(&mut self.others)
    }

    /// Writes a file with the client under test and keeps it for the end.
    pub fn put(&mut self, path: &str, seed: u64, len: u64, replication: u16) -> Outcome {
        self.client.ok(&[
            "put",
            path,
            &len.to_string(),
            &seed.to_string(),
            &replication.to_string(),
            &BLOCK.to_string(),
        ])?;
        self.keep(path, seed, len);
        Ok(())
    }

    /// From now on the file must be whole until the end.
    pub fn keep(&mut self, path: &str, seed: u64, len: u64) {
        self.forget(path);
        self.kept.push(Kept { path: path.to_owned(), seed, len });
    }

    /// The file need not be there any more.
    pub fn forget(&mut self, path: &str) {
        self.kept.retain(|k| k.path != path);
    }

    /// Every client reads the whole file and must get these bytes.
    pub fn read_by_all(&mut self, path: &str, seed: u64, len: u64) -> Outcome {
        let crc = content::crc(seed, 0, len);
        let len = len.to_string();
        self.everyone().try_for_each(|c| c.gives(&["read", path, "0", "-1"], &[&len, &crc]))
    }

    /// Reads back every kept file with every client.
    pub fn read_all_kept(&mut self) -> Outcome {
        let kept = std::mem::take(&mut self.kept);
        let outcome = kept.iter().try_for_each(|k| self.read_by_all(&k.path, k.seed, k.len));
        self.kept = kept;
        outcome
    }

    /// Waits until every block of a file has `replicas` locations, as the judge sees it.
    pub fn wait_replicas(&mut self, path: &str, replicas: usize) -> Outcome {
        crate::wait::until(&format!("{replicas} replicas of {path}"), SETTLE, || {
            let found = self.locations(path)?;
            match found.iter().all(|hosts| hosts.len() == replicas) {
                true => Ok(true),
                false => Err(format!("{found:?}")),
            }
        })
    }

    /// The transfer addresses that hold each block of a file, as the judge sees it.
    pub fn locations(&mut self, path: &str) -> Outcome<Vec<Vec<String>>> {
        let blocks = self.cluster.judge()?.ok(&["locations", path, "0", &i64::MAX.to_string()])?;
        let hosts = |block: &String| block.split(' ').skip(2).map(str::to_owned).collect();
        Ok(blocks.iter().map(hosts).collect())
    }

    /// Waits until a file is closed (after a recovery). A recovery that failed is begun anew by who asks
    /// for it once more.
    pub fn wait_closed(&mut self, path: &str) -> Outcome {
        let mut asked = Instant::now();
        crate::wait::until(&format!("{path} closed"), SETTLE, || {
            if asked.elapsed() > RECOVERY_MAX {
                asked = Instant::now();
                self.cluster.judge()?.ok(&["recoverlease", path])?;
            }
            Ok(self.cluster.judge()?.ok(&["isclosed", path])?[0] == "true")
        })
    }

    /// After a restart of the NameNode: without fail-over addresses a client's first call on a
    /// connection that broke may fail, so that one is spent here.
    pub fn reconnect(&mut self) -> Outcome {
        self.everyone().try_for_each(|c| c.ask("", &["exists", "/"]).map(|_| ()))
    }

    /// Every name with all that a client can ask about it, a line a name, sorted.
    pub fn fingerprint(&mut self) -> Outcome<Vec<String>> {
        let judge = self.cluster.judge()?;
        let mut found = Vec::new();
        let mut directories = vec![String::new()];
        while let Some(directory) = directories.pop() {
            let listed = if directory.is_empty() { "/" } else { &directory };
            let quota = judge.ok(&["quota", listed])?;
            found.push(format!("{listed} quota {quota:?}"));
            for entry in judge.ok(&["list", listed])? {
                let (name, is_directory) = name_of(&entry)?;
                let path = format!("{directory}/{name}");
                let times = judge.ok(&["times", &path])?;
                let acl = judge.ok(&["getacl", &path])?;
                let attributes = judge.ok(&["listxattr", &path])?;
                let policy = judge.ok(&["getpolicy", &path])?;
                found.push(format!(
                    "{directory}/{entry} {times:?} {acl:?} {attributes:?} {policy:?}"
                ));
                directories.extend(is_directory.then_some(path));
            }
        }
        found.sort();
        Ok(found)
    }
}

/// The name in a field of `list`, and whether it is a directory; names may have spaces in them.
fn name_of(entry: &str) -> Outcome<(&str, bool)> {
    let dir = entry.split_once(" dir 0 0 0 ").map(|(name, _)| (name, true));
    let file = || entry.split_once(" file ").map(|(name, _)| (name, false));
    dir.or_else(file).ok_or_else(|| format!("not an entry of a listing: {entry}"))
}

/// Shows what two fingerprints do not share.
pub(super) fn same(before: &[String], after: &[String]) -> Outcome {
    let missing = before.iter().filter(|l| !after.contains(l)).map(|l| format!("- {l}"));
    let new = after.iter().filter(|l| !before.contains(l)).map(|l| format!("+ {l}"));
    let all: Vec<String> = missing.chain(new).collect();
    match all.is_empty() {
        true => Ok(()),
        false => Err(format!("the namespace changed over a restart:\n{}", all.join("\n"))),
    }
}
