//! Every option of `fsck`: our NameNode's report word by word beside that of Apache's, of the same tree;
//! and the two clusters' `/jmx` and `dfsadmin -metasave`.

use std::time::Duration;

use crate::{jmx, metrics};
use zerohop_client::blocking::{FileSystem, FileWriter};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, blocks, client, over, put, shape, write, zerohop};
use zerohop_interop::{Kind, Outcome, java, site, wait};

const BLOCK: u64 = 1 << 20;

/// What is asked; `BLOCK` stands for the block of `/d/one`.
const QUESTIONS: [&str; 22] = [
    "/",
    "/ -files",
    "/ -files -blocks",
    "/ -files -blocks -locations",
    "/ -files -blocks -racks",
    "/ -files -blocks -replicaDetails",
    "/ -files -blocks -racks -replicaDetails -upgradedomains",
    "/ -files -blocks -upgradedomains",
    "/ -openforwrite -files -blocks -locations",
    "/ -openforwrite",
    "/ -storagepolicies",
    "/d/one -storagepolicies",
    "/ -maintenance",
    "/ -replicate",
    "/ -showprogress -includeSnapshots",
    "/ -list-corruptfileblocks",
    "/none -files",
    "/ -blockId BLOCK",
    "/ -blockId BLOCK -maintenance",
    "/ -blockId BLOCK blk_7",
    "/ -blockId nonsense",
    "/ -blockId",
];

/// Files of several lengths and replications, one being written, one with a policy that its blocks do
/// not satisfy.
fn tree(fs: &FileSystem) -> Outcome<FileWriter> {
    put(fs, "/d/one", 840, 1000, shape(2, BLOCK))?;
    put(fs, "/d/three", 841, 2 * BLOCK + 7, shape(1, BLOCK))?;
    put(fs, "/d/under", 842, BLOCK, shape(3, BLOCK))?;
    put(fs, "/empty", 843, 0, shape(1, BLOCK))?;
    put(fs, "/cold", 844, 1, shape(2, BLOCK))?;
    fs.set_storage_policy("/cold", "COLD").at("a policy")?;
    let mut open = fs.create("/open", shape(2, BLOCK)).at("/open")?;
    write(&mut open, 845, BLOCK + 100).and_then(|()| open.hflush()).at("/open")?;
    Ok(open)
}

/// A report without what two clusters cannot have in common: ids, ports, dates.
fn common(report: &str) -> String {
    let mut text = String::new();
    for line in report.lines().filter(|line| !line.starts_with("Connecting to namenode")) {
        let line = match line.split_once(" at ") {
            Some((before, _)) if line.starts_with("FSCK ") => before,
            _ => line,
        };
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
        for part in line.split_inclusive(|letter| !is_word(letter)) {
            let word = part.trim_end_matches(|letter| !is_word(letter));
            let known = [("BP-", "BP:blk"), ("blk_", "blk"), ("DS-", "DS"), ("127.0.0.1:", "ADDR")];
            match known.iter().find(|(start, _)| word.starts_with(start)) {
                Some((_, name)) => text += &part.replacen(word, name, 1),
                None => text += part,
            }
        }
        text.push('\n');
    }
    text
}

fn ask(cluster: &Cluster, question: &str, block: &str) -> Outcome<(i32, String)> {
    let question = question.replace("BLOCK", block);
    let words: Vec<&str> = ["fsck"].into_iter().chain(question.split(' ')).collect();
    let (code, report) = zerohop(&cluster.conf(), &words)?;
    Ok((code, common(&report)))
}

/// The answers to all questions, once the replicas were reported.
fn answers(kind: Kind, mut then: impl FnMut(&Cluster) -> Outcome) -> Vec<(i32, String)> {
    let name = format!("fsck-{kind:?}").to_lowercase();
    // Nobody is dead for a while, however busy the machine is: reports count that.
    let own = [
        ("dfs.namenode.heartbeat.recheck-interval", "30000"),
        // Ours looks for slow peers and disks by default.
        ("dfs.datanode.peer.stats.enabled", "true"),
        ("dfs.datanode.fileio.profiling.sampling.percentage", "100"),
    ];
    let settings = site::settings(&[&own[..], &metrics::SETTINGS[..]].concat());
    let spec = Spec { name: &name, namenode: kind, datanodes: kind, count: 2, settings };
    let mut found = Vec::new();
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        let open = tree(&fs)?;
        let first = blocks(&fs, "/d/one")?;
        let block = format!("blk_{}", first.first().ok_or("no block")?.block.block.id.0);
        wait::until("all replicas are known", SETTLE, || {
            let (_, report) = ask(cluster, "/ -files -blocks -replicaDetails", &block)?;
            let (_, open) = ask(cluster, "/open -openforwrite -files -blocks", &block)?;
            let live = report.matches("(LIVE)").count();
            let is_first_known = open.contains("Live_repl=2");
            if live == 9 && is_first_known { Ok(true) } else { Err(format!("{report}{open}")) }
        })?;
        for question in QUESTIONS {
            found.push(ask(cluster, question, &block)?);
        }
        then(cluster)?;
        drop(open);
        Ok(())
    });
    found
}

/// What a NameNode writes down for Apache's tool, without the DataNodes' figures.
fn metasave(cluster: &Cluster) -> Outcome<String> {
    let run = |name: &str| {
        let class = "org.apache.hadoop.hdfs.tools.DFSAdmin";
        java::run(class, &["-metasave", name], &cluster.conf(), SETTLE)
    };
    let told = run("meta.txt")?;
    if told.code != 0 || !told.output.contains("Created metasave file meta.txt") {
        return Err(format!("{}: {}", told.code, told.output));
    }
    let text = std::fs::read_to_string(cluster.directory().join("meta.txt")).at("meta.txt")?;
    let end = text.find("Metasave: Number of datanodes: 2").ok_or_else(|| text.clone())?;
    Ok(common(&text[..end]))
}

/// A name that leads out of the log directory.
fn metasave_elsewhere(cluster: &Cluster) -> Outcome {
    let (code, said) = zerohop(&cluster.conf(), &["dfsadmin", "-metasave", "../out.txt"])?;
    match code != 0 && said.contains("is not the name of a file") {
        true => Ok(()),
        false => Err(format!("{code}: {said}")),
    }
}

/// Apache's tool prints our NameNode's page as ours does, and takes the same exit code from it.
fn apaches_tool(cluster: &Cluster) -> Outcome {
    let words = ["/d", "-files", "-blocks", "-storagepolicies", "-replicate"];
    let class = "org.apache.hadoop.hdfs.tools.DFSck";
    let theirs = java::run(class, &words, &cluster.conf(), Duration::from_secs(60))?;
    let (code, ours) = ask(cluster, &words.join(" "), "")?;
    match theirs.code == code && common(&theirs.output) == ours {
        true => Ok(()),
        false => Err(format!("{}:\n{}\nours, {code}:\n{ours}", theirs.code, theirs.output)),
    }
}

#[test]
fn fsck_answers_in_apaches_words_and_jmx_and_prom_have_its_members() {
    let (mut beans, mut metas, mut served) = (Vec::new(), Vec::new(), Vec::new());
    let theirs = answers(Kind::Apache, |cluster| {
        beans.push(jmx::beans(cluster)?);
        served.push(metrics::of_apache(cluster)?);
        metas.push(metasave(cluster)?);
        Ok(())
    });
    let ours = answers(Kind::Ours, |cluster| {
        beans.push(jmx::beans(cluster)?);
        served.push(metrics::of_ours(cluster)?);
        metrics::check_health(cluster)?;
        metas.push(metasave(cluster)?);
        metasave_elsewhere(cluster)?;
        apaches_tool(cluster)
    });
    assert_eq!(metas[0], metas[1], "metasave");
    for ((question, theirs), ours) in QUESTIONS.iter().zip(theirs).zip(ours) {
        assert_eq!(theirs, ours, "fsck {question}:\n{}\nours:\n{}", theirs.1, ours.1);
    }
    let differences = jmx::differences(&beans[0], &beans[1]);
    assert!(differences.is_empty(), "/jmx:\n{}", differences.join("\n"));
    let differences = metrics::differences(&served[0], &served[1]);
    assert!(differences.is_empty(), "/prom and /jmx:\n{}", differences.join("\n"));
    metrics::check_figures(&served[1]).unwrap();
    assert_eq!(metrics::missing_in_dashboard(&served[1]).unwrap(), Vec::<String>::new());
}
