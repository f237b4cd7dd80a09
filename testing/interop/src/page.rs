//! Pages of the documentation that are run as they are written: every block of commands, one after the other.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Outcome;
use crate::process::{Process, tail};
use crate::tools::{self, Java};

const LIMIT: Duration = Duration::from_secs(600);

/// What the pages presuppose: an end that leaves no process. Apache's daemons end with descriptor 9, which is the standard
/// input that the test program holds open.
const PRELUDE: &str = r#"
set -eu
exec 9<&0
trap 'kill -9 $(cat ./*.pid) 2> /dev/null || true' EXIT
"#;

/// The documents with commands.
const PAGES: [&str; 3] = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];

/// A block of commands that a test runs by itself.
pub struct MarkedBlock {
    /// Page and line.
    pub place: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// Returns the blocks behind the marker `<!-- run by FILE::TEST -->` of a test, page by page.
///
/// # Errors
/// If a page cannot be read, or there is no such block.
pub fn marked(test: &str) -> Outcome<Vec<MarkedBlock>> {
    let docs = std::fs::read_dir(tools::root().join("docs")).map_err(|e| e.to_string())?;
    let names = docs.flatten().map(|entry| format!("docs/{}", entry.file_name().to_string_lossy()));
    let mut pages: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    pages.sort();
    let mut found = Vec::new();
    for page in PAGES.iter().map(ToString::to_string).chain(pages) {
        let text = std::fs::read_to_string(tools::root().join(&page));
        let text = text.map_err(|e| format!("{page}: {e}"))?;
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            if line.starts_with("<!-- run by ") && line.ends_with(&format!("::{test} -->")) {
                let block = lines.by_ref().skip(1).map(|(_, line)| line.to_owned());
                let lines = block.take_while(|line| line != "```").collect();
                found.push(MarkedBlock { place: format!("{page}:{}", number + 3), lines });
            }
        }
    }
    if found.is_empty() { Err(format!("no block is marked with {test}")) } else { Ok(found) }
}

/// A directory in which a page is run, with the programs that it names.
pub struct Lab {
    directory: PathBuf,
}

impl Lab {
    /// An empty one, with `zerohop` and Apache's `hdfs`.
    pub fn new(name: &str) -> Outcome<Self> {
        let directory = tools::out().join("run").join(name);
        let _ = std::fs::remove_dir_all(&directory);
        let bin = directory.join("bin");
        std::fs::create_dir_all(&bin).map_err(|e| e.to_string())?;
        let zerohop = tools::zerohop()?;
        std::os::unix::fs::symlink(&zerohop, bin.join("zerohop")).map_err(|e| e.to_string())?;
        write_hdfs(&bin)?;
        Ok(Self { directory })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs the blocks of a page, with some variables set.
    pub fn run(&self, page: &str, variables: &[(&str, &str)]) -> Outcome {
        let path = tools::root().join(page);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{page}: {e}"))?;
        let script = self.directory.join("page.sh");
        let commands = blocks(&text);
        if commands.is_empty() {
            return Err(format!("{page}: no block of commands"));
        }
        std::fs::write(&script, format!("{PRELUDE}{commands}")).map_err(|e| e.to_string())?;
        let programs = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .arg(&script)
            .current_dir(&self.directory)
            .env("PATH", format!("{}:{programs}", self.directory.join("bin").display()))
            .env("CLASS_PATH", &Java::get()?.class_path)
            .envs(variables.iter().copied());
        let log = self.directory.join("page.log");
        let status = Process::daemon(page, command, &log)?.finish(LIMIT)?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("{page}: {status}\n{}", tail(&log, 60))),
        }
    }
}

/// Apache's `hdfs` script, as far as the pages use it. Daemons take the archive of loaded classes.
fn write_hdfs(bin: &Path) -> Outcome {
    let java = Java::get()?.command(256);
    let mut words = String::new();
    for arg in java.get_args() {
        let _ = write!(words, " '{}'", arg.to_string_lossy());
    }
    let text = format!(
        "#!/bin/bash\n\
         [ $1 != --config ] || {{ export HADOOP_CONF_DIR=$2; shift 2; }}\n\
         daemon=$1; shift\n\
         case $daemon in\n\
         namenode|datanode|journalnode|zkfc)\n\
         exec java {words} zerohop.Daemon $daemon \"$HADOOP_CONF_DIR\" \"$@\" <&9;;\n\
         dfs) c=fs.FsShell;;\n\
         dfsadmin) c=hdfs.tools.DFSAdmin;;\n\
         haadmin) c=hdfs.tools.DFSHAAdmin;;\n\
         *) exit 2;;\nesac\n\
         exec java {words} -cp \"$HADOOP_CONF_DIR:$CLASS_PATH\" org.apache.hadoop.$c \"$@\"\n"
    );
    let path = bin.join("hdfs");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).map_err(|e| e.to_string())
}

/// The blocks of `sh` without a marker, each behind a line that says where it stands.
fn blocks(page: &str) -> String {
    let mut script = String::new();
    let (mut within, mut before) = (false, "");
    for (number, line) in page.lines().enumerate() {
        match line {
            "```sh" if !before.starts_with("<!-- ") => {
                within = true;
                let _ = writeln!(script, "echo \"== line {}, after $SECONDS s\"", number + 2);
            }
            "```" => within = false,
            _ if within => {
                let _ = writeln!(script, "{line}");
            }
            _ => {}
        }
        before = line;
    }
    script
}
