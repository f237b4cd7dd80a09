//! Compares `zerohop distcp` with Apache's DistCp: each case runs both on equal trees of one cluster, and then
//! compares exit codes and everything in the trees and in the trash: names, bytes, attributes, preserved times.

mod cases;
mod tree;

use std::fs;
use std::process::Command;
use std::time::Duration;

use cases::{CASES, Case};
use tree::Side;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, client, over};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Kind, Outcome, site};

/// Time limit of all runs of Apache's DistCp.
const LIMIT: Duration = Duration::from_secs(1800);

/// Output and exit code of a run.
struct Answer {
    said: String,
    code: i32,
}

fn apaches(cluster: &Cluster, side: &Side) -> Outcome<Vec<Answer>> {
    let list = cluster.directory().join("runs");
    let line = |case: &Case| format!("{}\t{}\n", case.user, side.words(case).join("\t"));
    // A case without words has no empty word.
    let lines: String = CASES.iter().map(line).map(|line| line.replace("\t\n", "\n")).collect();
    fs::write(&list, lines).at("the list of runs")?;
    let mut command = Java::get()?.command(768);
    command.arg("zerohop.Copies").arg(cluster.conf()).arg(&list);
    command.current_dir(cluster.directory());
    let log = cluster.directory().join("apache.out");
    let status = Process::daemon("zerohop.Copies", command, &log)?.finish(LIMIT)?;
    let text = fs::read(&log).at("Apache's answers")?;
    if !status.success() {
        return Err(format!("zerohop.Copies: {status}\n{}", tail(&log, 25)));
    }
    let (mut answers, mut said) = (Vec::new(), String::new());
    for line in String::from_utf8_lossy(&text).lines() {
        match line.strip_prefix("=> ") {
            Some(code) => {
                let code = code.parse().at(line)?;
                answers.push(Answer { said: std::mem::take(&mut said), code });
            }
            None => said += &format!("{line}\n"),
        }
    }
    match answers.len() == CASES.len() {
        true => Ok(answers),
        false => Err(format!("{} answers to {} runs", answers.len(), CASES.len())),
    }
}

fn ours(cluster: &Cluster, side: &Side, case: &Case) -> Outcome<Answer> {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).arg("distcp").args(side.words(case));
    command.current_dir(cluster.directory()).env("HADOOP_USER_NAME", case.user);
    let output = command.output().at("zerohop")?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Ok(Answer { said, code: output.status.code().unwrap_or(-1) })
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("at ")).collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// Returns how a case failed, if it did.
fn judge(case: &Case, theirs: (&Answer, &[String]), ours: (&Answer, &[String])) -> Option<String> {
    let same = theirs.0.code == ours.0.code && theirs.1 == ours.1;
    let wrong = match case.differs {
        None if same => return None,
        None => "differs".to_owned(),
        Some((why, _)) if same => format!("no longer differs ({why})"),
        Some((_, code)) if ours.0.code == code => return None,
        Some((_, code)) => format!("our exit code is {}, not {code}", ours.0.code),
    };
    let only = |of: &[String], other: &[String]| {
        let lines = of.iter().filter(|line| !other.contains(line));
        lines.map(|line| format!("  {line}\n")).collect::<String>()
    };
    Some(format!(
        "{} ({}) {wrong}\n--- Apache's => {}\n{}{}\n--- ours => {}\n{}{}",
        case.name,
        case.words,
        theirs.0.code,
        only(theirs.1, ours.1),
        last_lines(&theirs.0.said),
        ours.0.code,
        only(ours.1, theirs.1),
        last_lines(&ours.0.said)
    ))
}

fn compare(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    fs.mkdirs("/staging").and_then(|_| fs.set_permission("/staging", 0o1777)).at("/staging")?;
    let local = cluster.directory().join("local");
    let side = |name| Side { fs: &fs, name, local: local.clone() };
    let (theirs, own) = (side("theirs"), side("zerohp"));
    for case in CASES {
        theirs.set_up(case)?;
        own.set_up(case)?;
    }
    let answers = apaches(cluster, &theirs)?;
    let mut wrong = Vec::new();
    for (case, answer) in CASES.iter().zip(&answers) {
        let ours = ours(cluster, &own, case)?;
        let (left, right) = (theirs.look(case)?, own.look(case)?);
        wrong.extend(judge(case, (answer, &left), (&ours, &right)));
    }
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("{count} of {}:\n{}", CASES.len(), wrong.join("\n\n"))),
    }
}

fn over_a_cluster_of(kind: Kind) {
    let settings = site::settings(&[("dfs.replication", "1"), ("fs.trash.interval", "60")]);
    let name = format!("distcp-{kind:?}").to_lowercase();
    let spec = Spec { name: &name, namenode: kind, datanodes: kind, count: 1, settings };
    over(Cluster::start(&spec), compare);
}

#[test]
fn copies_leave_what_apaches_leave() {
    over_a_cluster_of(Kind::Ours);
}

#[test]
fn copies_on_apaches_cluster_leave_what_apaches_leave() {
    over_a_cluster_of(Kind::Apache);
}
