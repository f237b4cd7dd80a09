//! `zerohop fs` beside Apache's FsShell: the same commands on the same cluster, output and exit
//! codes compared line by line.
//!
//! `shell/commands.txt` holds the commands, `shell/differences.txt` those whose answers differ, each
//! with its reason. A difference that is gone fails the test too, so that the list stays true.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use regex::Regex;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Kind, Outcome, site};

const COMMANDS: &str = include_str!("shell/commands.txt");
const DIFFERENCES: &str = include_str!("shell/differences.txt");
const LIMIT: Duration = Duration::from_secs(240);

/// A command as it is written in the list, its words, and its standard input.
struct Line {
    text: String,
    words: Vec<String>,
    input: Option<String>,
}

/// Splits a command at blanks; quotes hold blanks together. `ADDRESS` is the cluster's.
fn parse(text: &str, address: &str) -> Line {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for char in text.chars() {
        match char {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            char => words.last_mut().expect("never empty").push(char),
        }
    }
    words.iter_mut().for_each(|word| *word = word.replace("ADDRESS", address));
    let input = words.iter().position(|word| word == "<").map(|at| words.split_off(at)[1].clone());
    Line { text: text.to_owned(), words, input }
}

fn commands(address: &str) -> Vec<Line> {
    let lines = COMMANDS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| parse(line, address)).collect()
}

/// `COMMAND => why the answers differ`.
fn differences() -> BTreeMap<&'static str, &'static str> {
    let lines = DIFFERENCES.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(" => ").unwrap_or_else(|| panic!("no reason: {line}")))
        .collect()
}

/// Small local files that the commands work on, made anew for each side.
fn local_files(directory: &Path) -> Outcome {
    let _ = fs::remove_dir_all(directory);
    let write = |name: &str, text: &str| fs::write(directory.join(name), text);
    fs::create_dir_all(directory.join("d/e"))
        .and_then(|()| write("a.txt", "hello world\n"))
        .and_then(|()| write("b.txt", "bye\n"))
        .and_then(|()| write("mv.txt", "mv\n"))
        .and_then(|()| write("d/one", "1\n"))
        .and_then(|()| write("d/e/two", "2\n"))
        .and_then(|()| fs::create_dir_all(directory.join("mvd/e")))
        .and_then(|()| write("mvd/e/three", "3\n"))
        .and_then(|()| write("not.gz", "plain text\n"))
        .and_then(|()| write("sp ace", "blank\n"))
        .map_err(|e| format!("{}: {e}", directory.display()))
}

/// What differs from run to run and means nothing: log lines, times of now, progress of a wait.
fn plain(output: &str) -> String {
    let log =
        Regex::new(r"^[0-9]{4}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9],[0-9]{3} ")
            .expect("valid");
    let time = Regex::new(r"20[3-9][0-9]|202[1-9]").expect("valid");
    let rest = r"-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9](:[0-9][0-9](\.[0-9]+)?)?";
    let now = Regex::new(&format!("({}){rest}", time.as_str())).expect("valid");
    let millis = Regex::new(r"1[789][0-9]{11}").expect("valid");
    // What is used and free changes while blocks are being deleted.
    let free = Regex::new(r"^(hdfs://[^ ]+) .*%$").expect("valid");
    let dots = Regex::new(r"\.{4,} ").expect("valid");
    let output = without_overview(output);
    let lines = output.lines().filter(|line| !log.is_match(line));
    let lines = lines.map(|line| {
        let line = now.replace_all(line, "NOW");
        let line = free.replace_all(&line, "$1 SIZES");
        let line = millis.replace_all(&line, "NOW");
        dots.replace_all(&line, "... ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Apache's shell prints the synopses of all its commands before that of the one that was misused;
/// ours prints that one alone.
fn without_overview(output: &str) -> String {
    let end = "command [genericOptions] [commandOptions]\n";
    match (output.find("Usage: hadoop fs [generic options]\n"), output.find(end)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{}", &output[..from], output[to + end.len()..].trim_start())
        }
        _ => output.to_owned(),
    }
}

fn ours(cluster: &Cluster, directory: &Path, lines: &[Line]) -> Outcome<Vec<String>> {
    local_files(directory)?;
    let binary = tools::zerohop()?;
    let log = cluster.directory().join("ours.out");
    let answer = |line: &Line| -> std::io::Result<String> {
        let out = File::create(&log)?;
        let input = match &line.input {
            Some(name) => Stdio::from(File::open(directory.join(name))?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&binary);
        command.arg("--config").arg(cluster.conf()).arg("fs").args(&line.words);
        command.current_dir(directory).stdin(input).stdout(out.try_clone()?).stderr(out);
        let status = command.status()?;
        let text = fs::read(&log)?;
        let text = plain(&String::from_utf8_lossy(&text));
        Ok(format!("{text}\n=> {}", status.code().unwrap_or(-1)))
    };
    lines.iter().map(|line| answer(line).map_err(|e| format!("{}: {e}", line.text))).collect()
}

fn apaches(cluster: &Cluster, directory: &Path, lines: &[Line]) -> Outcome<Vec<String>> {
    local_files(directory)?;
    let list = cluster.directory().join("commands");
    let line = |line: &Line| {
        let input = line.input.as_ref().map(|name| directory.join(name).display().to_string());
        format!("{}\t{}\n", input.unwrap_or_default(), line.words.join("\t"))
    };
    fs::write(&list, lines.iter().map(line).collect::<String>()).map_err(|e| e.to_string())?;
    let mut command = Java::get()?.command(512);
    command.arg("zerohop.Shell").arg(cluster.conf()).arg(&list).current_dir(directory);
    let log = cluster.directory().join("apache.out");
    let status = Process::daemon("zerohop.Shell", command, &log)?.finish(LIMIT)?;
    let text = fs::read(&log).map_err(|e| e.to_string())?;
    if !status.success() {
        return Err(format!("zerohop.Shell: {status}\n{}", tail(&log, 25)));
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(answers(&text))
}

fn answers(text: &str) -> Vec<String> {
    let (mut all, mut current) = (Vec::new(), String::new());
    for line in text.lines() {
        match line.strip_prefix("=> ") {
            Some(code) => {
                all.push(format!("{}\n=> {code}", plain(&current)));
                current.clear();
            }
            None => current += &format!("{line}\n"),
        }
    }
    all
}

fn compare(cluster: &mut Cluster) -> Outcome {
    let uri = cluster.uri();
    let lines = commands(uri.trim_start_matches("hdfs://").trim_end_matches('/'));
    let directory = cluster.directory().join("local");
    let theirs = apaches(cluster, &directory, &lines)?;
    for path in ["/t", "/user", "/up"] {
        cluster.judge()?.ok(&["delete", path, "true"])?;
    }
    let ours = ours(cluster, &directory, &lines)?;
    if theirs.len() != lines.len() {
        return Err(format!("{} answers to {} commands", theirs.len(), lines.len()));
    }
    let mut known = differences();
    let mut wrong = Vec::new();
    for ((line, theirs), ours) in lines.iter().zip(&theirs).zip(&ours) {
        match (theirs == ours, known.remove(line.text.as_str())) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(_)) => wrong.push(format!("$ {}\nno longer differs", line.text)),
            (false, None) => {
                wrong.push(format!("$ {}\n--- Apache's\n{theirs}\n--- ours\n{ours}", line.text))
            }
        }
    }
    wrong.extend(known.keys().map(|text| format!("$ {text}\nis no command of the list")));
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("{count} of {} differ:\n{}", lines.len(), wrong.join("\n\n"))),
    }
}

#[test]
fn commands_answer_as_apaches() {
    let settings = site::settings(&[("dfs.replication", "1"), ("dfs.blocksize", "134217728")]);
    let spec =
        Spec { name: "shell", namenode: Kind::Ours, datanodes: Kind::Ours, count: 1, settings };
    let outcome = Cluster::start(&spec).and_then(|mut cluster| {
        cluster.keep_logs = true;
        compare(&mut cluster)?;
        cluster.keep_logs = false;
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
