//! The same commands with `zerohop fs` and with Apache's FsShell.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use regex::Regex;
use zerohop_interop::Outcome;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};

const LIMIT: Duration = Duration::from_secs(400);

/// Whose shell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Ours,
    Apaches,
}

/// Commands that both shells run.
pub struct Sides<'a> {
    /// The configuration directory.
    pub conf: &'a Path,
    /// A directory for the files of the test.
    pub directory: &'a Path,
    /// Replaces a word of the list by what it stands for, so that each shell has a tree of its own.
    pub meaning: &'a dyn Fn(Whose) -> Vec<(String, String)>,
    /// Commands whose answers differ, with the reason.
    pub differences: &'a [(&'a str, &'a str)],
}

/// Writes the local files that commands work on.
fn local_files(directory: &Path) -> Outcome {
    let _ = fs::remove_dir_all(directory);
    let big: Vec<u8> = (0..3_000_000u32).map(|n| b'a' + (n % 23) as u8).collect();
    fs::create_dir_all(directory.join("tree/below"))
        .and_then(|()| fs::write(directory.join("a.txt"), "hello\n"))
        .and_then(|()| fs::write(directory.join("b.txt"), "bye\n"))
        .and_then(|()| fs::write(directory.join("sp ace"), "blank\n"))
        .and_then(|()| fs::write(directory.join("tree/one"), "1\n"))
        .and_then(|()| fs::write(directory.join("tree/below/two"), "22\n"))
        .and_then(|()| fs::write(directory.join("big"), big))
        .map_err(|e| format!("{}: {e}", directory.display()))
}

/// Leaves out what differs from run to run: log lines, times of now, stack traces.
fn plain(output: &str, meaning: &[(String, String)]) -> String {
    let log = Regex::new("^[0-9]{4}-[0-9-]* [0-9:]*,[0-9]* ").expect("valid");
    let now =
        Regex::new("20[2-9][0-9]-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})?").expect("valid");
    let millis = Regex::new("1[789][0-9]{11}").expect("valid");
    let end = "command [genericOptions] [commandOptions]\n";
    let output = match (output.find("Usage: hadoop fs [generic options]\n"), output.find(end)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{}", &output[..from], output[to + end.len()..].trim_start())
        }
        _ => output.to_owned(),
    };
    // Apache's shell says in its log what went to the trash.
    let is_kept = |line: &&str| {
        !log.is_match(line) && !line.starts_with("\tat ") && !line.starts_with("Moved: '")
    };
    let lines = output.lines().filter(is_kept);
    let mut lines: Vec<String> = lines
        .map(|line| {
            let line = now.replace_all(line, "NOW");
            let mut line = millis.replace_all(&line, "NOW").trim_end().to_owned();
            for (word, value) in meaning {
                line = line.replace(value, word);
            }
            line
        })
        .collect();
    // Attributes and mount points come in the order of a hash table.
    if lines.iter().any(|line| line.starts_with("# file") || line.contains("Mounted on")) {
        lines.retain(|line| !line.is_empty());
        lines.sort();
    }
    lines.join("\n").trim_end().to_owned()
}

fn words(line: &str, meaning: &[(String, String)]) -> Vec<String> {
    line.split(' ')
        .map(|word| {
            let word = word.replace("%20", " ");
            meaning.iter().fold(word, |word, (name, value)| word.replace(name.as_str(), value))
        })
        .collect()
}

impl Sides<'_> {
    fn ours(&self, lines: &[&str]) -> Outcome<Vec<String>> {
        let files = self.directory.join("files");
        local_files(&files)?;
        let meaning = (self.meaning)(Whose::Ours);
        let (binary, log) = (tools::zerohop()?, self.directory.join("ours.out"));
        let answer = |line: &str| -> std::io::Result<String> {
            let out = File::create(&log)?;
            let mut command = Command::new(&binary);
            command.arg("--config").arg(self.conf).arg("fs").args(words(line, &meaning));
            command.current_dir(&files).stdin(Stdio::null());
            let status = command.stdout(out.try_clone()?).stderr(out).status()?;
            let text = fs::read(&log)?;
            let text = plain(&String::from_utf8_lossy(&text), &meaning);
            Ok(format!("{text}\n=> {}", status.code().unwrap_or(-1)))
        };
        lines.iter().map(|line| answer(line).map_err(|e| format!("{line}: {e}"))).collect()
    }

    fn apaches(&self, lines: &[&str]) -> Outcome<Vec<String>> {
        let files = self.directory.join("files");
        local_files(&files)?;
        let meaning = (self.meaning)(Whose::Apaches);
        let list = self.directory.join("commands");
        let text: String =
            lines.iter().map(|line| format!("\t{}\n", words(line, &meaning).join("\t"))).collect();
        fs::write(&list, text).map_err(|e| e.to_string())?;
        let java = Java::get()?;
        let mut command = java.command(512);
        // Before the other class path, so that ssl-client.xml is found.
        command.args(["-cp", &format!("{}:{}", self.conf.display(), java.class_path)]);
        command.arg("zerohop.Shell").arg(self.conf).arg(&list).current_dir(&files);
        let log = self.directory.join("apache.out");
        let _ = fs::remove_file(&log);
        let status = Process::daemon("zerohop.Shell", command, &log)?.finish(LIMIT)?;
        let text = fs::read(&log).map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(format!("zerohop.Shell: {status}\n{}", tail(&log, 25)));
        }
        let (mut all, mut current) = (Vec::new(), String::new());
        for line in String::from_utf8_lossy(&text).lines() {
            match line.strip_prefix("=> ") {
                Some(code) => {
                    all.push(format!("{}\n=> {code}", plain(&current, &meaning)));
                    current.clear();
                }
                None => current += &format!("{line}\n"),
            }
        }
        Ok(all)
    }

    /// Runs the commands of a list with both shells.
    ///
    /// Fails if answers differ without a reason, or a reason is left over.
    pub fn compare(&self, commands: &str) -> Outcome {
        let lines: Vec<&str> =
            commands.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let theirs = self.apaches(&lines)?;
        let ours = self.ours(&lines)?;
        if theirs.len() != lines.len() {
            return Err(format!("{} answers to {} commands", theirs.len(), lines.len()));
        }
        let mut known: Vec<&str> = self.differences.iter().map(|(line, _)| *line).collect();
        let mut wrong = Vec::new();
        for ((line, theirs), ours) in lines.iter().zip(&theirs).zip(&ours) {
            let at = known.iter().position(|known| known == line);
            match (theirs == ours, at) {
                (true, None) => {}
                (false, Some(at)) => drop(known.remove(at)),
                (true, Some(_)) => wrong.push(format!("$ {line}\nno longer differs:\n{ours}")),
                (false, None) => {
                    wrong.push(format!("$ {line}\n--- Apache's\n{theirs}\n--- ours\n{ours}"));
                }
            }
        }
        wrong.extend(known.iter().map(|line| format!("$ {line}\nis listed and no command")));
        match wrong.len() {
            0 => Ok(()),
            count => Err(format!("{count} of {} differ:\n{}", lines.len(), wrong.join("\n\n"))),
        }
    }
}
