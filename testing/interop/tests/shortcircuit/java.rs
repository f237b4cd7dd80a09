//! Apache's client reads our DataNodes' replicas by their descriptors.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::time::{Duration, Instant};

use serde_json::Value;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{self, Explain, SETTLE, over};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, content, site, wait};

/// Blocks of 1 MiB; not a whole number of chunks.
pub const LEN: u64 = 2_500_007;

/// What a DataNode says of local readers.
pub fn listing(cluster: &Cluster, i: usize) -> Outcome<Value> {
    let page = harm::http(cluster.site.info_ports[i], "/shortcircuit")?;
    serde_json::from_str(&page).at("the DataNode's page")
}

/// The segments of both DataNodes.
fn segments(cluster: &Cluster) -> Outcome<Vec<Value>> {
    let mut found = Vec::new();
    for i in 0..2 {
        found.extend(listing(cluster, i)?["segments"].as_array().cloned().unwrap_or_default());
    }
    Ok(found)
}

/// Slots in use on both DataNodes, as `(pid, block, valid)`.
pub fn slots(cluster: &Cluster) -> Outcome<Vec<(u64, String, bool)>> {
    let mut found = Vec::new();
    for segment in segments(cluster)? {
        let pid = segment["pid"].as_u64().unwrap_or_default();
        for slot in segment["slots"].as_array().into_iter().flatten() {
            let block = slot["block"].as_str().unwrap_or_default().to_owned();
            found.push((pid, block, slot["valid"] == true));
        }
    }
    Ok(found)
}

fn segments_of(cluster: &Cluster, pid: u32) -> Outcome<usize> {
    Ok(segments(cluster)?.iter().filter(|segment| segment["pid"] == pid).count())
}

pub fn put(client: &mut Driver, path: &str, seed: u64) -> Outcome {
    let fields = ["put", path, &LEN.to_string(), &seed.to_string(), "1", "1048576"];
    client.ok(&fields).map(drop)
}

/// Bytes read by the client's own account: all, local, by short circuit, without a copy.
fn statistics(client: &mut Driver, reader: &str) -> Outcome<Vec<u64>> {
    let fields = client.ok(&["statistics", reader])?;
    fields.iter().map(|field| field.parse().at(field)).collect()
}

/// Reads a file to its end by the way `how`; the statistics of that.
pub fn read(client: &mut Driver, path: &str, seed: u64, how: &[&str]) -> Outcome<Vec<u64>> {
    let (len, crc) = (LEN.to_string(), content::crc(seed, 0, LEN));
    client.ok(&["open", "r", path])?;
    client.gives(&[&[how[0], "r"], &how[1..]].concat(), &[&len, &crc])?;
    let statistics = statistics(client, "r")?;
    client.ok(&["rclose", "r"])?;
    Ok(statistics)
}

/// The same, and every byte must have come by short circuit.
pub fn read_local(client: &mut Driver, path: &str, seed: u64, how: &[&str]) -> Outcome {
    let got = read(client, path, seed, how)?;
    let copied = how[0] == "next";
    let wanted = [LEN, LEN, LEN, if copied { 0 } else { LEN }];
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{path} {how:?}: read {got:?}, not {wanted:?}")),
    }
}

/// Apache's verdict on planted directories is ours: its own rules are asked, ours by starting to listen.
fn path_rules(client: &mut Driver, directory: &SocketDirectory) -> Outcome {
    for (name, mode, flaw) in [
        ("plain", 0o755, ""),
        ("private", 0o700, ""),
        ("world", 0o757, "world-writable"),
        ("sticky", 0o1777, "world-writable"),
        ("group", 0o775, "group-writable"),
        ("others", 0o755, "not the effective user"),
    ] {
        let planted = directory.path().join(name);
        fs::create_dir(&planted).at(name)?;
        // Only root can give directories away.
        let given = match name {
            "group" => chown(&planted, None, Some(12345)),
            "others" => chown(&planted, Some(12345), None),
            _ => Ok(()),
        };
        if given.is_err() {
            continue;
        }
        fs::set_permissions(&planted, fs::Permissions::from_mode(mode)).at(name)?;
        let path = planted.join("below/dn");
        fs::create_dir(planted.join("below")).at(name)?;
        let path = path.display().to_string();
        let said = client.ok(&["checkpath", &path])?.swap_remove(0);
        let ours = zerohop_transport::domain::validate(path.as_ref());
        let ours = ours.map_or_else(|error| error.to_string(), |()| String::new());
        let agree = |text: &str| text.is_empty() == flaw.is_empty() && text.contains(flaw);
        if !agree(&said) || !agree(&ours) {
            return Err(format!("{name}: Apache says {said:?}, we say {ours:?}"));
        }
        // Both begin with the same sentences, up to the fix they offer. Apache leaves the sticky bit out of the mode.
        let upto = |text: &str| text.split("This might help").next().unwrap_or_default().to_owned();
        if upto(&said) != upto(&ours).replace("permissions 01777", "permissions 0777") {
            return Err(format!("{name}: Apache says {said:?}, we say {ours:?}"));
        }
    }
    Ok(())
}

pub const COPIED: &[&str] = &["next", "-1"];
const ZERO_COPY: &[&str] = &["zerocopy", "300000", "false"];

fn every_byte_is_local(cluster: &mut Cluster, client: &mut Driver) -> Outcome {
    for (path, seed) in [("/a", 1), ("/b", 2), ("/c", 3), ("/d", 4)] {
        put(client, path, seed)?;
        read_local(client, path, seed, COPIED)?;
        read_local(client, path, seed, ZERO_COPY)?;
    }
    let held = slots(cluster)?;
    let own = client.id();
    if held.len() != 12 || held.iter().any(|(pid, _, valid)| *pid != u64::from(own) || !valid) {
        return Err(format!("twelve valid slots of process {own} were expected: {held:?}"));
    }
    // SAFETY: the call takes nothing and cannot fail.
    let uid = unsafe { libc::geteuid() };
    let segments = segments(cluster)?;
    if segments.iter().any(|segment| segment["uid"].as_u64() != Some(u64::from(uid))) {
        return Err(format!("not of user {uid}: {segments:?}"));
    }
    Ok(())
}

/// A client that holds a deleted or appended replica hears of it.
fn changed_blocks_are_revoked(cluster: &mut Cluster, client: &mut Driver) -> Outcome {
    client.ok(&["open", "held", "/a"])?;
    client.ok(&["next", "held", "1000"])?;
    cluster.judge()?.ok(&["delete", "/a", "false"])?;
    wait::until("three slots are invalid or given back", SETTLE, || {
        let held = slots(cluster)?;
        let valid = held.iter().filter(|(_, _, valid)| *valid).count();
        if valid == 9 { Ok(true) } else { Err(format!("{held:?}")) }
    })?;
    client.ok(&["rclose", "held"])?;
    put(client, "/a", 5)?;
    read_local(client, "/a", 5, COPIED)?;

    let judge = cluster.judge()?;
    judge.ok(&["append", "w", "/b"])?;
    judge.ok(&["write", "w", "1000", "2"])?;
    judge.ok(&["close", "w"])?;
    client.ok(&["open", "r", "/b"])?;
    let len = LEN + 1000;
    client.gives(&["next", "r", "-1"], &[&len.to_string(), &content::crc(2, 0, len)])?;
    let got = statistics(client, "r")?;
    client.ok(&["rclose", "r"])?;
    match got[..] == [len, len, len, 0] {
        true => Ok(()),
        false => Err(format!("/b after an append: {got:?}")),
    }
}

/// Both DataNodes are killed and come back: their socket files are dead then, and replaced.
fn restarted_datanodes_serve_again(cluster: &mut Cluster, client: &mut Driver) -> Outcome {
    for i in 0..2 {
        cluster.kill_datanode(i);
    }
    for i in 0..2 {
        cluster.start_datanode(i)?;
    }
    cluster.wait_serving()?;
    read_local(client, "/c", 3, COPIED)?;
    read_local(client, "/d", 4, ZERO_COPY)
}

/// A killed client holds nothing soon after: some ms here, a busy machine gets more.
fn a_killed_client_leaks_nothing(cluster: &mut Cluster, mut client: Driver) -> Outcome {
    let id = client.id();
    if segments_of(cluster, id)? == 0 {
        return Err("the client holds no segment".into());
    }
    client.kill();
    let killed = Instant::now();
    wait::until("the client's segments are gone", Duration::from_secs(10), || match segments_of(
        cluster, id,
    )? {
        0 => Ok(true),
        left => Err(format!("{left} left")),
    })?;
    println!("freed {} ms after the kill", killed.elapsed().as_millis());
    match slots(cluster)?.iter().find(|(pid, ..)| *pid == u64::from(id)) {
        None => Ok(()),
        Some(slot) => Err(format!("a slot is left: {slot:?}")),
    }
}

/// What is read comes over the domain socket, no descriptors are passed.
fn data_traffic(cluster: &mut Cluster) -> Outcome {
    let accepted = |cluster: &Cluster| -> Outcome<u64> {
        let mut count = 0;
        for i in 0..2 {
            count += listing(cluster, i)?["socket"]["accepted"].as_u64().unwrap_or_default();
        }
        Ok(count)
    };
    let before = accepted(cluster)?;
    let mut client = cluster.client_with(
        Kind::Apache,
        &["dfs.client.read.shortcircuit=false", "dfs.client.domain.socket.data.traffic=true"],
    )?;
    // (Apache's client writes over TCP all the same.)
    put(&mut client, "/traffic", 6)?;
    let got = read(&mut client, "/traffic", 6, COPIED)?;
    let after = accepted(cluster)?;
    match after > before && got[2] == 0 {
        true => Ok(()),
        false => Err(format!("connections {before}, then {after}; statistics {got:?}")),
    }
}

/// The old way, by paths: for users that the DataNode names only.
fn legacy_reads(cluster: &mut Cluster) -> Outcome {
    let settings = [
        "dfs.client.use.legacy.blockreader.local=true",
        "dfs.client.read.shortcircuit=true",
        "dfs.domain.socket.path=",
    ];
    let mut client = cluster.client_with(Kind::Apache, &settings)?;
    read_local(&mut client, "/c", 3, COPIED)?;
    // Apache's client keeps the paths it was told for its whole process: this one asks anew.
    let mut client = cluster.client_with(Kind::Apache, &settings)?;
    client.ok_as("stranger", &["open", "r", "/c"])?;
    client.ok_as("stranger", &["next", "r", "-1"])?;
    let got = client.ok_as("stranger", &["statistics", "r"])?;
    match got[2] == "0" && got[0] == LEN.to_string() {
        true => Ok(()),
        false => Err(format!("a stranger read by path: {got:?}")),
    }
}

#[test]
fn apache_client_on_our_datanodes() {
    let directory = SocketDirectory::make("java").unwrap();
    let user = zerohop_client::User::of_process().name;
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
        ("dfs.block.local-path-access.user", &user),
        ("dfs.replication", "1"),
    ]);
    let spec = Spec {
        name: "shortcircuit-java",
        namenode: Kind::Ours,
        datanodes: Kind::Ours,
        count: 2,
        settings,
    };
    over(Cluster::start(&spec), |cluster| {
        let mut client = cluster.client(Kind::Apache)?;
        path_rules(&mut client, &directory)?;
        every_byte_is_local(cluster, &mut client)?;
        changed_blocks_are_revoked(cluster, &mut client)?;
        restarted_datanodes_serve_again(cluster, &mut client)?;
        a_killed_client_leaks_nothing(cluster, client)?;
        data_traffic(cluster)?;
        legacy_reads(cluster)
    });
}
