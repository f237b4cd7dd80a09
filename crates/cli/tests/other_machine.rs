//! `up --bind` serves other machines: a network namespace stands for one, as far as the system permits.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod support;

use std::process::{Command, Output, Stdio};

use support::{BINARY, run, text, zerohop};

/// Runs in a network of its own: a second one is the other machine, and a cable joins them.
const TWO_MACHINES: &str = r#"
set -e
ip link set lo up
unshare --net sleep 600 & other=$!
up=
trap 'kill $other $up 2> /dev/null' EXIT
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
there() { nsenter --target $other --net "$@"; }
ip link add cable type veth peer name cable netns $other
ip addr add 10.99.0.1/24 dev cable; ip link set cable up
there ip addr add 10.99.0.2/24 dev cable; there ip link set cable up; there ip link set lo up
"$ZEROHOP" up --bind $BIND --datanodes 2 --data "$HOME/data" > "$HOME/out" 2> "$HOME/err" & up=$!
tries=0
until grep -q HADOOP_CONF_DIR "$HOME/out"; do
    tries=$((tries + 1)); [ $tries -lt 6000 ] && kill -0 $up || { cat "$HOME/err"; exit 9; }
    sleep 0.01
done
export HADOOP_CONF_DIR="$HOME/data/conf"
printf 'from another machine' | there "$ZEROHOP" fs -put - /f
there "$ZEROHOP" fs -cat /f
echo
there "$ZEROHOP" getconf -confKey fs.defaultFS
there "$ZEROHOP" fsck /f -files -blocks -locations 2> /dev/null | grep -o '10.99.0.1:98[67]6' | sort -u
cat "$HOME/err"
"#;

fn network(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "sh", "-c", script]);
    command.env_remove("HADOOP_CONF_DIR").stdin(Stdio::null());
    command
}

/// With 0.0.0.0 the DataNode registered as 127.0.0.1 and the client configuration said
/// hdfs://0.0.0.0; with a real address the cluster's own DataNode was refused for want of a name.
#[test]
fn up_with_bind_registered_addresses_that_other_machines_cannot_reach() {
    let tried = network("ip link add a type veth peer name b").output();
    let reason = match tried {
        Ok(Output { status, .. }) if status.success() => {
            ["0.0.0.0", "10.99.0.1"].into_iter().for_each(from_another_network);
            return;
        }
        Ok(Output { stderr, .. }) => text(&stderr),
        Err(error) => error.to_string(),
    };
    eprintln!(
        "no network namespace with a cable ({}): 127.0.0.2 stands for the other machine's view",
        reason.trim()
    );
    let script = "echo kept | zerohop fs -put - /f && zerohop fs -cat /f && echo $ZEROHOP_URI";
    let words = ["up", "--port", "0", "--http-port", "0", "--bind", "0.0.0.0"];
    let mut up = zerohop(&words);
    let (code, out, err) = run(up.args(["--advertise", "127.0.0.2", "--exec", script]));
    assert!(code == 0 && out.starts_with("kept\nhdfs://127.0.0.2:"), "{code} {out} {err}");
    assert!(err.contains("no user is authenticated"), "{err}");
}

fn from_another_network(bind: &str) {
    let home = tempfile::tempdir().unwrap();
    let mut command = network(TWO_MACHINES);
    command.env("ZEROHOP", BINARY).env("HOME", home.path()).env("BIND", bind);
    command.env("ZEROHOP_RUNTIME_DIR", home.path().join("run"));
    let (code, out, err) = run(&mut command);
    let mut lines = out.lines();
    assert_eq!((code, lines.next()), (0, Some("from another machine")), "{bind}: {out} {err}");
    assert_eq!(lines.next(), Some("hdfs://10.99.0.1:8020"), "{bind}: {out} {err}");
    let datanodes: Vec<&str> = lines.by_ref().take(2).collect();
    assert_eq!(datanodes, ["10.99.0.1:9866", "10.99.0.1:9876"], "{bind}: {out} {err}");
    assert!(out.contains("no user is authenticated"), "{bind}: {out} {err}");
}
