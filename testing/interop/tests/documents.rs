//! The blocks of commands in README.md and docs/ that are marked with a test of this file: each is run as it is written.
//! Only ports, sizes and lengths of time are others.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use zerohop_interop::page::{Lab, marked};
use zerohop_interop::pair::start_zookeeper;
use zerohop_interop::process::Process;
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, ports, wait};

const LIMIT: Duration = Duration::from_secs(300);
const READY: Duration = Duration::from_secs(60);

/// What a block presupposes. A command that serves until Ctrl-C is started, looked at by `check`, and ended.
const PRELUDE: &str = r#"
set -eu
curl() { command curl -fsS "$@"; }
check() { :; }
serve() {
  "$@" > serve.log 2>&1 & local pid=$!
  trap "kill -9 $pid 2> /dev/null || true" EXIT
  for _ in $(seq 600); do
    if grep -q -e 'serves REST' -e Ctrl-C serve.log; then break; fi
    kill -0 $pid || { cat serve.log; exit 1; }
    sleep 0.1
  done
  grep -q -e 'serves REST' -e Ctrl-C serve.log || { cat serve.log; exit 1; }
  check
  kill -TERM $pid
  wait $pid || [ $? -lt 128 ]
}
"#;

/// A directory that is the home of a user without any configuration.
struct Desk {
    home: PathBuf,
}

impl Desk {
    fn new(name: &str) -> Outcome<Self> {
        let home = Lab::new(name)?.directory().to_owned();
        let program = home.join("bin/zerohop");
        std::fs::remove_file(&program).map_err(|e| e.to_string())?;
        // Ports of a machine that runs other tests are taken, and pictures need no ten seconds.
        let text = format!(
            "#!/bin/bash\nreal={}\ncase \"$*\" in\n\
             up*) shift; exec $real up --port 0 --http-port 0 --rest-port 0 \"$@\";;\n\
             *--diff*|*--seconds*) ;;\n\
             profile*) set -- \"$@\" --seconds 1;;\nesac\nexec -a \"$0\" $real \"$@\"\n",
            tools::zerohop()?.display()
        );
        std::fs::write(&program, text).map_err(|e| e.to_string())?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).map_err(|e| e.to_string())?;
        Ok(Self { home })
    }

    fn command(&self, script: &str) -> Outcome<Command> {
        let programs = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["-c", script])
            .current_dir(&self.home)
            .env_remove("HADOOP_CONF_DIR")
            .env_remove("HADOOP_HOME")
            .env("HOME", &self.home)
            .env("ZEROHOP_RUNTIME_DIR", self.home.join("running"))
            .env("CLASS_PATH", &Java::get()?.class_path)
            .env("PATH", format!("{}:{programs}", self.home.join("bin").display()));
        Ok(command)
    }

    /// Runs a script; its output, standard errors included, is in the error.
    fn run(&self, name: &str, script: &str) -> Outcome<String> {
        let log = self.home.join("script.log");
        let command = self.command(&format!("{PRELUDE}\n{script}"))?;
        let status = Process::daemon(name, command, &log)?.finish(LIMIT)?;
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        match status.success() {
            true => Ok(said),
            false => Err(format!("{name}: {status}\n{said}")),
        }
    }

    /// `zerohop up --data ~/hdfs` with these options, when it serves.
    fn up(&self, options: &str) -> Outcome<Process> {
        let log = self.home.join("up.log");
        let command = self.command(&format!("exec zerohop up --data ~/hdfs {options}"))?;
        let up = Process::daemon("up", command, &log)?;
        let serves = || Ok(std::fs::read_to_string(&log).unwrap_or_default().contains("Ctrl-C"));
        wait::until("up serves", READY, serves)?;
        Ok(up)
    }
}

/// The commands that serve until Ctrl-C get a `serve` in front of them.
fn with_servers(lines: &[String]) -> String {
    let serves = |line: &str| {
        let is_up = line.starts_with("zerohop up ") && !line.contains("--exec");
        is_up || line.starts_with("zerohop gateway")
    };
    let lines = lines.iter().map(|line| match serves(line) {
        true => format!("serve {line}\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}

fn clusters() -> Outcome {
    let desk = Desk::new("documents-clusters")?;
    std::fs::write(desk.home.join("FILE"), "text").map_err(|e| e.to_string())?;
    let port = ports::free();
    let _zookeeper = start_zookeeper(&desk.home, port)?;
    let blocks = marked("clusters_start_as_written")?;
    let [readme, pairs, haadmin] = blocks.as_slice() else {
        return Err(format!("{} blocks, and not three", blocks.len()));
    };
    let listed = "check() { zerohop fs -ls /; }\n";
    desk.run(&readme.place, &format!("{listed}{}", with_servers(&readme.lines)))?;
    let script = with_servers(&pairs.lines).replace("127.0.0.1:2181", &format!("127.0.0.1:{port}"));
    // The second cluster has the first one's data.
    let (by_hand, automatic) = script.split_once('\n').ok_or("one line")?;
    let commands = haadmin.lines.join("\n");
    let by_hand = format!("check() {{\nzerohop fs -ls /\n{commands}\n}}\n{by_hand}");
    desk.run(&format!("{}, {}", pairs.place, haadmin.place), &by_hand)?;
    desk.run(&pairs.place, &format!("{listed}{automatic}"))?;
    Ok(())
}

fn commands() -> Outcome {
    let desk = Desk::new("documents-commands")?;
    let up = desk.up("")?;
    let value = |key: &str| -> Outcome<String> {
        let said = desk.run(key, &format!("zerohop getconf -confKey {key}"))?;
        Ok(said.trim().to_owned())
    };
    let namenode = value("dfs.namenode.http-address")?;
    let beans =
        format!("curl 'http://{namenode}/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo'");
    let beans = desk.run("LiveNodes", &beans)?;
    let datanode = beans.split("infoAddr").nth(1).and_then(|rest| rest.split('"').nth(2));
    let datanode = datanode.map(|address| address.trim_end_matches('\\')).ok_or(&*beans)?;
    let changes = [
        ("HOST:9870", namenode.clone()),
        ("HOST:9864", datanode.to_owned()),
        ("--pid 4711", format!("--pid {}", up.id())),
        ("--seconds 30", "--seconds 1".to_owned()),
        ("seconds=10", "seconds=1".to_owned()),
        ("1GB", "1MB".to_owned()),
        ("64MB", "1MB".to_owned()),
        ("port=14001", "port=0".to_owned()),
        ("--config /etc/hadoop/conf", "--config ~/hdfs/conf -D httpfs.http.port=0".to_owned()),
    ];
    // A process that does nothing has no picture.
    let busy = "while zerohop fs -put -f bin/hdfs /busy; do zerohop fs -cat /busy; done";
    let mut busy = Process::daemon("busy", desk.command(busy)?, &desk.home.join("busy.log"))?;
    for block in marked("commands_work_on_a_running_cluster")? {
        let mut script = with_servers(&block.lines);
        for (from, to) in &changes {
            script = script.replace(from, to);
        }
        desk.run(&block.place, &script)?;
    }
    busy.kill();
    Ok(())
}

/// The commands of a row of a table. What a row adds to the one before (`&overwrite=false`, `-H '...'`) or has in place of its
/// operation (`SETOWNER&owner=bob`) is put where it belongs.
fn commands_of_row(row: &str, before: &str) -> Vec<String> {
    let row = row.replace("\\|", "\u{1}");
    let cell = row.split('|').nth(2).unwrap_or_default().replace('\u{1}', "|");
    let parts: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    let is_same = !parts.iter().any(|part| part.contains("curl "));
    let mut commands: Vec<String> = Vec::new();
    for part in parts {
        let last = commands.last().cloned().filter(|_| !is_same);
        let base = last.unwrap_or_else(|| before.to_owned());
        let is_operation = part.split('&').next().is_some_and(|name| {
            name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        });
        if part.contains("curl ") {
            commands.push(part.to_owned());
        } else if part.starts_with('&') {
            commands.push(base.replacen("&$U", &format!("{part}&$U"), 1));
        } else if part.starts_with("-H ") {
            commands.push(base.replacen("curl ", &format!("curl {part} "), 1));
        } else if is_operation && let Some((start, rest)) = base.split_once("op=") {
            let end = rest.find("&$U").unwrap_or(rest.len());
            commands.push(format!("{start}op={part}{}", &rest[end..]));
        }
    }
    commands
}

/// The files that the lines are about, and what they leave open.
const REST: &str = r#"
G=$ZEROHOP_REST N=http://$(zerohop getconf -confKey dfs.namenode.http-address)
U=user.name=alice OCTETS='Content-Type: application/octet-stream'
program() { echo printed; }
mkdir -p files/d && cd files
seq 1000 > a; seq 50 > b; seq 20 > c; echo line > line; seq 10 > d/b
files() {    # but for those that the command makes
  curl -X DELETE "$G/webhdfs/v1/logs?op=DELETE&recursive=true&$U" > /dev/null
  zerohop fs -mkdir -p /logs
  zerohop fs -put a b c d /logs
  for name in "$@"; do zerohop fs -rm -skipTrash /logs/$name > /dev/null; done
  TAG=$(command curl -sI "$G/logs/a?$U" | tr -d '\r' | sed -n 's/^etag: "\(.*\)"$/\1/pi')
  SIZE=$(wc -c < a)
}
"#;

fn rest_lines() -> Outcome {
    let desk = Desk::new("documents-rest")?;
    let page =
        std::fs::read_to_string(tools::root().join("docs/rest.md")).map_err(|e| e.to_string())?;
    let tables = page.split_once("## One line each").ok_or("no table")?.1;
    let tables = tables.split_once("With Hadoop's own client").ok_or("no end")?.0;
    let (mut script, mut before, mut count) = (format!("{PRELUDE}{REST}"), String::new(), 0);
    for row in tables.lines().filter(|line| line.starts_with("| ")) {
        let commands = commands_of_row(row, &before);
        // Plain commands: what "the same with" begins with.
        if row.contains("curl -X PUT -T a") || row.contains("--data-binary @line") {
            before = commands.last().cloned().unwrap_or_default();
        }
        let all = commands.concat();
        // TLS needs a gateway of its own; testing/interop/tests/rest has one.
        if commands.is_empty() || all.contains("https://") {
            continue;
        }
        // A row may look at what it made; what it says of the row before, each part does by itself.
        let is_same = !row.contains("curl ");
        for (number, command) in commands.iter().enumerate() {
            if number == 0 || is_same {
                let makes_a =
                    command.contains("overwrite=false") || command.contains("If-None-Match: *");
                let makes_b = command.contains("op=RENAME") || command.contains("op=MKDIRS");
                let made = [(makes_a, " a"), (makes_b, " b")];
                let made = made.iter().filter(|(is_made, _)| *is_made).map(|(_, name)| *name);
                script.push_str(&format!("files{}\n", made.collect::<String>()));
            }
            let command =
                command.replace("\"TAG\"", "\"'$TAG'\"").replace("offset=N", "offset=$SIZE");
            // A file that is being cut is not closed yet, which is false, too.
            let is_false =
                if command.contains("op=TRUNCATE") { "no such word" } else { "\"boolean\":false" };
            script.push_str(&format!(
                "cat > line.sh <<'END'\n{command}\nEND\n. ./line.sh > out 2>&1 || \
                 {{ cat line.sh out; exit 1; }}\n\
                 if grep -q '{is_false}' out; then cat line.sh out; exit 1; fi\n"
            ));
            count += 1;
        }
    }
    if count < 45 {
        return Err(format!("{count} lines only"));
    }
    std::fs::write(desk.home.join("rest.sh"), script).map_err(|e| e.to_string())?;
    let up = "exec env HADOOP_USER_NAME=alice zerohop -D httpfs.proxyuser.alice.hosts='*' \
              -D httpfs.proxyuser.alice.users='*' up --port 0 --http-port 0 --rest-port 0 --exec 'bash rest.sh'";
    desk.run("docs/rest.md", up).map(drop)
}

#[test]
fn each_line_of_the_rest_page_works_as_written() {
    rest_lines().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn clusters_start_as_written() {
    clusters().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn commands_work_on_a_running_cluster() {
    commands().unwrap_or_else(|e| panic!("{e}"));
}
