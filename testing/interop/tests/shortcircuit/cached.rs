//! Apache's NameNode has replicas cached by our DataNode; its client and ours read those unverified,
//! and keep them in memory for as long as they are held.

use zerohop_client::blocking::{FileReader, FileSystem};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, SETTLE, over};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, site, wait};

use crate::client::expect;
use crate::java::{LEN, listing, put, read_local};

const VERIFIED: &[&str] = &["zerocopy", "300000", "true"];

/// Waits until the NameNode names so many blocks of the file as cached.
fn wait_cached(cluster: &mut Cluster, blocks: &str) -> Outcome {
    wait::until(&format!("{blocks} cached blocks"), SETTLE, || {
        let found = cluster.judge()?.ok(&["cached", "/c"])?;
        if found == [blocks] { Ok(true) } else { Err(format!("{found:?}")) }
    })
}

fn locked(cluster: &Cluster) -> Outcome<u64> {
    let listing = listing(cluster, 0)?;
    listing["cache"]["used"].as_u64().ok_or_else(|| listing.to_string())
}

fn cluster(name: &str, namenode: Kind, directory: &SocketDirectory) -> Outcome<Cluster> {
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
        ("dfs.replication", "1"),
        ("dfs.datanode.max.locked.memory", "4194304"),
        ("dfs.cachereport.intervalMsec", "200"),
        ("dfs.namenode.path.based.cache.refresh.interval.ms", "200"),
        ("dfs.namenode.path.based.cache.retry.interval.ms", "1000"),
    ]);
    Cluster::start(&Spec { name, namenode, datanodes: Kind::Ours, count: 1, settings })
}

fn read_cached(namenode: Kind) {
    let name = format!("scr-cached-{namenode:?}").to_lowercase();
    let directory = SocketDirectory::make(&name).unwrap();
    over(cluster(&name, namenode, &directory), |cluster| {
        let mut client = cluster.client(Kind::Apache)?;
        put(&mut client, "/c", 1)?;
        let directive = cluster.judge()?.ok(&["cache", "/c"])?.swap_remove(0);
        wait_cached(cluster, "3")?;
        // Three blocks in whole pages.
        let used = locked(cluster)?;
        if used != LEN.next_multiple_of(4096) {
            return Err(format!("{used} bytes are locked for {LEN}"));
        }
        // Verifying readers get mapped memory of cached replicas only.
        read_local(&mut client, "/c", 1, VERIFIED)?;
        let fs = harm::client(&cluster.conf(), &[])?;
        let ours = unverified(&fs)?;
        let read = ours.read_zero_copy_at(1 << 20, 1000).at("read_zero_copy_at")?;
        expect("anchored", (read.is_anchored(), read.is_mapped()), (true, true))?;
        // A reader that keeps mapped memory keeps it locked.
        client.ok(&["open", "r", "/c"])?;
        client.gives(&["zerocopykept", "r", "1000"], &["1000"])?;
        cluster.judge()?.ok(&["uncache", &directive])?;
        wait_cached(cluster, "0")?;
        wait_locked(cluster, 2 << 20)?;
        client.ok(&["giveback", "r"])?;
        wait_locked(cluster, 1 << 20)?;
        drop(read);
        wait_locked(cluster, 0)?;
        // From now on every byte is compared again.
        let before = ours.statistics().checked_bytes;
        let mut out = [0; 5000];
        ours.read_exact_at(300_000, &mut out).at("read")?;
        expect("verified again", ours.statistics().checked_bytes - before, 5000)
    });
}

/// Our client reads a cached file without comparing it with its checksums: the DataNode did.
fn unverified(fs: &FileSystem) -> Outcome<FileReader> {
    let mut reader = fs.open("/c").at("/c")?;
    harm::check_rest(&mut reader, 1)?;
    let statistics = reader.statistics();
    expect("all is local", (statistics.local_bytes(), statistics.total()), (LEN, LEN))?;
    expect("nothing is verified", statistics.checked_bytes, 0)?;
    Ok(reader)
}

/// Waits until so many bytes are locked in the DataNode's memory: those of blocks that readers hold.
fn wait_locked(cluster: &Cluster, bytes: u64) -> Outcome {
    wait::until(&format!("{bytes} bytes are locked"), SETTLE, || match locked(cluster)? {
        found if found == bytes => Ok(true),
        other => Err(format!("{other} bytes are locked")),
    })
}

#[test]
fn cached_replicas_are_read_from_their_memory() {
    read_cached(Kind::Apache);
}

#[test]
fn our_namenode_has_replicas_cached() {
    read_cached(Kind::Ours);
}

/// `hdfs cacheadmin`, in the judge's process: exit code and output.
fn admin(cluster: &mut Cluster, line: &str) -> Outcome<String> {
    let fields: Vec<&str> = std::iter::once("cacheadmin").chain(line.split(' ')).collect();
    let said = cluster.judge()?.ok(&fields)?;
    Ok(format!("{line}\n{}\n{}", said[0], said[1]))
}

/// Pools and directives of all kinds, refusals, and lists with what is in memory: as they are said.
fn admin_all(cluster: &mut Cluster) -> Outcome<Vec<String>> {
    let mut client = cluster.client(Kind::Apache)?;
    for path in ["/c", "/d/one", "/d/two", "/e"] {
        put(&mut client, path, 1)?;
    }
    let mut said = Vec::new();
    for line in [
        "-addPool hot -owner alice -group staff -mode 0750 -limit 4000000",
        "-addPool cold",
        "-addPool hot",
        "-addPool wrong -limit -1",
        "-addDirective -path /c -pool hot",
        "-addDirective -path /e -pool hot",
        "-addDirective -path /d -pool cold -replication 2",
        "-addDirective -path /c -pool nope",
        "-addDirective -path /e -pool cold -replication 0",
        "-addDirective -path /e -pool cold -ttl 1h",
        "-modifyDirective -id 3 -path /e -ttl 30m",
        "-modifyDirective -id 3 -path /e -ttl never",
        "-modifyDirective -id 77 -path /e",
        "-modifyPool cold -limit 1 -maxTtl 2d",
        "-modifyPool nope -limit 1",
        "-removeDirective 78",
    ] {
        said.push(admin(cluster, line)?);
    }
    wait_cached(cluster, "3")?;
    let lists = ["-listPools -stats", "-listDirectives -stats", "-listDirectives -path /c"];
    wait::until("the statistics say so", SETTLE, || {
        let stats = admin(cluster, "-listDirectives -stats -path /c")?;
        // So many bytes are needed, and so many cached.
        let is_cached = stats.matches(&LEN.to_string()).count() == 2;
        if is_cached { Ok(true) } else { Err(stats) }
    })?;
    for line in lists {
        said.push(admin(cluster, line)?);
    }
    Ok(said)
}

/// What is left for a restart: some of it in an image, some in edits.
fn lists_after(cluster: &mut Cluster, other: Kind) -> Outcome<Vec<String>> {
    for action in ["enter", "leave"] {
        cluster.judge()?.ok(&["safemode", action])?;
        if action == "enter" {
            cluster.judge()?.ok(&["savenamespace"])?;
        }
    }
    for line in ["-addPool last", "-addDirective -path /e -pool last", "-removeDirective 2"] {
        admin(cluster, line)?;
    }
    let lists = |cluster: &mut Cluster| -> Outcome<Vec<String>> {
        Ok(vec![admin(cluster, "-listPools")?, admin(cluster, "-listDirectives")?])
    };
    let before = lists(cluster)?;
    cluster.stop_all()?;
    cluster.start_all(other, Kind::Ours)?;
    let after = lists(cluster)?;
    wait_cached(cluster, "3")?;
    match before == after {
        true => Ok(after),
        false => Err(format!("{before:#?}\nbefore the restart, then\n{after:#?}")),
    }
}

/// Apache's `cacheadmin` gets the same words from both NameNodes, and each takes over what the other
/// one wrote.
#[test]
fn cacheadmin_cannot_tell_the_namenodes_apart() {
    let mut all = Vec::new();
    for (namenode, other) in [(Kind::Apache, Kind::Ours), (Kind::Ours, Kind::Apache)] {
        let name = format!("scr-cacheadmin-{namenode:?}").to_lowercase();
        let directory = SocketDirectory::make(&name).unwrap();
        over(cluster(&name, namenode, &directory), |cluster| {
            let mut said = admin_all(cluster)?;
            said.extend(lists_after(cluster, other)?);
            all.push(said);
            Ok(())
        });
    }
    for (apache, ours) in all[0].iter().zip(&all[1]) {
        assert_eq!(apache, ours);
    }
}

/// The synopses that Apache prints of everything, and its generic options, are left out: what stands
/// before them says what was wrong.
fn problem(text: &str) -> &str {
    text.split("Usage: bin/hdfs").next().unwrap_or_default().trim_end()
}

/// All commands, right and wrong, on a cluster whose only files are empty.
const LINES: &[&str] = &[
    "-addPool hot -owner alice -group staff -mode 0750 -limit 4000000 -maxTtl 2d",
    "-addPool cold -defaultReplication 3",
    "-addPool cold",
    "-addPool",
    "-addPool a b",
    "-addPool x -mode 9",
    "-addPool x -mode 777777",
    "-addPool x -limit many",
    "-addPool x -maxTtl 5",
    "-addPool x -maxTtl 5y",
    "-addPool x -owner",
    "-addPool x -limit -1",
    "-addPool x -defaultReplication -2",
    "-modifyPool cold -limit 7 -maxTtl 90s",
    "-modifyPool cold -owner bob -group g -mode 1777 -limit unlimited -defaultReplication 2 -maxTtl never",
    "-modifyPool cold -defaultReplication 1",
    "-modifyPool cold",
    "-modifyPool -owner bob",
    "-modifyPool nope -owner bob",
    "-listPools",
    "-listPools -stats",
    "-listPools hot",
    "-listPools nope",
    "-listPools a b",
    "-addDirective -path /one -pool hot",
    "-addDirective -path relative -pool cold -replication 2 -ttl 1d -force",
    "-addDirective -path /two -pool hot -ttl never",
    "-addDirective -path /two -pool hot -ttl 30d",
    "-addDirective -path /two -pool hot -ttl x",
    "-addDirective -path /two -pool hot -ttl 99999999999999d",
    "-addDirective -path /two -pool hot -replication 0",
    "-addDirective -path /two -pool hot -replication -1",
    "-addDirective -path /two -pool hot -replication 70000",
    "-addDirective -path /two -pool none",
    "-addDirective -path /two",
    "-addDirective -pool hot",
    "-addDirective -path /two -pool hot more",
    "-listDirectives",
    "-listDirectives -stats",
    "-listDirectives -path /one",
    "-listDirectives -pool cold",
    "-listDirectives -id 2",
    "-listDirectives -id 99",
    "-listDirectives -id x",
    "-listDirectives more",
    "-modifyDirective -id 1 -replication 3",
    "-modifyDirective -id 1 -path /three -pool cold -ttl never",
    "-modifyDirective -id 1",
    "-modifyDirective -id 99 -path /x",
    "-modifyDirective -path /x",
    "-modifyDirective -id 1 more",
    "-listDirectives -path /three -stats",
    "-removeDirective 2",
    "-removeDirective 2",
    "-removeDirective 0",
    "-removeDirective x",
    "-removeDirective",
    "-removeDirective 1 2",
    "-addDirective -path /three -pool cold",
    "-removeDirectives -path /three",
    "-removeDirectives",
    "-removeDirectives -path /three more",
    "-removePool hot",
    "-removePool hot",
    "-removePool",
    "-removePool a b",
    "-listDirectives",
    "-listPools",
    "-help nothing",
    "-help a b",
    "-nonsense",
    "nonsense",
];

/// Times of expiry are those of the run.
fn without_times(text: &str) -> String {
    let time = regex::Regex::new(r"20[0-9]{2}-[0-9-]+T[0-9:]+[+-][0-9]{4}").expect("valid");
    time.replace_all(text, "TIME").into_owned()
}

/// `zerohop cacheadmin` says what Apache's says, and ends with the same code.
#[test]
fn our_cacheadmin_cannot_be_told_from_apache_s() {
    let mut all = Vec::new();
    for tool in [Kind::Apache, Kind::Ours] {
        let name = format!("scr-cachetool-{tool:?}").to_lowercase();
        let directory = SocketDirectory::make(&name).unwrap();
        over(cluster(&name, Kind::Ours, &directory), |cluster| {
            let mut said = Vec::new();
            for line in LINES {
                let (code, text) = match tool {
                    Kind::Apache => {
                        let fields = std::iter::once("cacheadmin").chain(line.split(' '));
                        let answer = cluster.judge()?.ok(&fields.collect::<Vec<_>>())?;
                        let code: i32 = answer[0].parse().map_err(|_| answer[0].clone())?;
                        (code & 0xff, answer[1].clone())
                    }
                    _ => {
                        let words = std::iter::once("cacheadmin").chain(line.split(' '));
                        harm::zerohop(&cluster.conf(), &words.collect::<Vec<_>>())?
                    }
                };
                said.push(format!("{line}\n{code}\n{}", problem(&without_times(&text))));
            }
            all.push(said);
            Ok(())
        });
    }
    for (apache, ours) in all[0].iter().zip(&all[1]) {
        assert_eq!(apache, ours);
    }
}
