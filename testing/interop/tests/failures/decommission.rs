//! DataNodes that are taken out of service by the host file: the replicas go first.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, check, client, nodes, over, put, shape, wait_nodes, zerohop,
};
use zerohop_interop::site::settings;
use zerohop_interop::{Kind, Outcome, tools, wait};

const LEN: u64 = 3_000_000;

/// What the report says of each DataNode.
fn state(cluster: &Cluster, i: usize) -> Outcome<String> {
    let (code, report) = zerohop(&cluster.conf(), &["dfsadmin", "-report"])?;
    let name = format!("Name: {} ", cluster.datanode_address(i));
    let mut lines = report.lines().skip_while(|line| !line.starts_with(&name));
    let found = lines.find_map(|line| line.strip_prefix("Decommission Status : "));
    found.map(str::to_owned).ok_or_else(|| format!("{code}: no {name} in\n{report}"))
}

fn exclude(cluster: &Cluster, file: &Path, gone: &[usize]) -> Outcome {
    let lines: String = gone.iter().map(|i| cluster.datanode_address(*i) + "\n").collect();
    std::fs::write(file, lines).at("the host file")?;
    match zerohop(&cluster.conf(), &["dfsadmin", "-refreshNodes"])? {
        (0, text) if text == "Refresh nodes successful\n" => Ok(()),
        (code, text) => Err(format!("-refreshNodes: {code} {text}")),
    }
}

fn wait_state(cluster: &Cluster, i: usize, want: &str) -> Outcome {
    wait::until(&format!("DataNode {i} is {want}"), SETTLE, || {
        let found = state(cluster, i)?;
        if found == want { Ok(true) } else { Err(found) }
    })
}

/// Scripts read the same under `/jmx`, of which blanks do not count.
fn pages_tell(cluster: &Cluster) -> Outcome {
    let mut stream =
        TcpStream::connect(("127.0.0.1", cluster.site.http_port)).at("the NameNode's pages")?;
    stream.write_all(b"GET /jmx HTTP/1.0\r\n\r\n").at("a request")?;
    let mut page = String::new();
    stream.read_to_string(&mut page).at("an answer")?;
    page.retain(|c| !c.is_whitespace());
    for part in ["\\\"DecommissionInProgress\\\"", "\"NumDecommissioningDataNodes\":1,"] {
        if !page.contains(part) {
            return Err(format!("no {part} in\n{page}"));
        }
    }
    Ok(())
}

fn leaves(namenode: Kind) {
    let name = &format!("decommission-{namenode:?}").to_lowercase();
    let run = tools::out().join("run");
    let file = run.join(format!("{name}.exclude"));
    let made = std::fs::create_dir_all(&run).and_then(|()| std::fs::write(&file, ""));
    let path = file.canonicalize().unwrap_or_default().display().to_string();
    let settings =
        settings(&[("dfs.hosts.exclude", &path), ("dfs.namenode.decommission.interval", "1")]);
    let spec = Spec { name, namenode, datanodes: Kind::Ours, count: 4, settings };
    over(made.at("the host file").and_then(|()| Cluster::start(&spec)), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        put(&fs, "/f", 1, LEN, shape(3, 8 << 20))?;
        let before = wait_nodes(cluster, &fs, "/f", 3)?;
        let [first, second, _] = before[..] else { return Err(format!("{before:?}")) };
        exclude(cluster, &file, &[first])?;
        wait_state(cluster, first, "Decommissioned")?;
        // It may go: the other three have the block, and come first.
        let now = nodes(cluster, &fs, "/f")?;
        if now.len() < 3 || now[..3].contains(&first) {
            return Err(format!("{now:?} after DataNode {first} of {before:?} was excluded"));
        }
        cluster.stop_datanode(first)?;
        check(&fs, "/f", 1, LEN)?;
        // Two are not enough for three replicas: the next one has to stay.
        exclude(cluster, &file, &[first, second])?;
        wait_state(cluster, second, "Decommission in progress")?;
        pages_tell(cluster)?;
        cluster.start_datanode(first)?;
        exclude(cluster, &file, &[second])?;
        wait_state(cluster, second, "Decommissioned")?;
        wait_state(cluster, first, "Normal")?;
        exclude(cluster, &file, &[])?;
        wait_state(cluster, second, "Normal")?;
        // One replica too many now.
        wait_nodes(cluster, &fs, "/f", 3)?;
        check(&fs, "/f", 1, LEN)?;
        let _ = std::fs::remove_file(&file);
        Ok(())
    });
}

#[test]
fn a_datanode_may_go_when_its_replicas_are_copied() {
    leaves(Kind::Ours);
}

#[test]
fn a_datanode_of_ours_leaves_apache_s_namenode() {
    leaves(Kind::Apache);
}
