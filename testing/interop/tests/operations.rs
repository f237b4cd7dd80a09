//! docs/operations.md is run as it is written: every block of commands, one after the other.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::Java;
use zerohop_interop::{Outcome, tools};

const LIMIT: Duration = Duration::from_secs(600);

/// What the page presupposes: `wait_for`, the two programs, and an end that leaves no process.
const PRELUDE: &str = r#"
set -eu
trap 'kill -9 $(cat ./*.pid) 2> /dev/null || true' EXIT
wait_for() {
  local end=$((SECONDS + 120))
  until "$@" > /dev/null 2> wait_for.err; do
    [ $SECONDS -lt $end ] || { echo "not reached: $*"; cat wait_for.err; exit 1; }
    sleep 0.3
  done
}
"#;

/// Apache's `hdfs` script, as far as the page uses it.
fn apache_hdfs(bin: &Path) -> Outcome {
    let java = Java::get()?.command(256);
    let mut words = String::new();
    for arg in java.get_args() {
        let _ = write!(words, " '{}'", arg.to_string_lossy());
    }
    let text = format!(
        "#!/bin/bash\ncase $1 in\n\
         namenode) c=server.namenode.NameNode;;\n\
         datanode) c=server.datanode.DataNode;;\n\
         dfsadmin) c=tools.DFSAdmin;;\n\
         *) exit 2;;\nesac\nshift\n\
         set -- {words} -cp \"$HADOOP_CONF_DIR:$CLASS_PATH\" org.apache.hadoop.hdfs.$c \"$@\"\n\
         exec java \"$@\"\n"
    );
    let path = bin.join("hdfs");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).map_err(|e| e.to_string())
}

/// The blocks marked `sh`, each behind a line that says where it stands.
fn blocks(page: &str) -> String {
    let mut script = String::new();
    let mut within = false;
    for (number, line) in page.lines().enumerate() {
        match line {
            "```sh" => {
                within = true;
                let _ = writeln!(script, "echo '== line {}'", number + 2);
            }
            "```" => within = false,
            _ if within => {
                let _ = writeln!(script, "{line}");
            }
            _ => {}
        }
    }
    script
}

fn run_page() -> Outcome {
    let lab = tools::out().join("run/operations");
    let _ = std::fs::remove_dir_all(&lab);
    let bin = lab.join("bin");
    std::fs::create_dir_all(&bin).map_err(|e| e.to_string())?;
    let zerohop = tools::zerohop()?;
    std::os::unix::fs::symlink(&zerohop, bin.join("zerohop")).map_err(|e| e.to_string())?;
    apache_hdfs(&bin)?;
    let page = tools::root().join("docs/operations.md");
    let page = std::fs::read_to_string(&page).map_err(|e| format!("{}: {e}", page.display()))?;
    let script = lab.join("page.sh");
    std::fs::write(&script, format!("{PRELUDE}{}", blocks(&page))).map_err(|e| e.to_string())?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command
        .arg(&script)
        .current_dir(&lab)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("CLASS_PATH", &Java::get()?.class_path);
    let log = lab.join("page.log");
    let status = Process::daemon("operations.md", command, &log)?.finish(LIMIT)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("docs/operations.md: {status}\n{}", tail(&log, 60))),
    }
}

#[test]
fn each_procedure_of_the_operations_page_works_as_written() {
    run_page().unwrap_or_else(|e| panic!("{e}"));
}
