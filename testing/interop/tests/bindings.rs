//! Programs in other languages on our client: C, and Python by Arrow's file system.

use std::path::{Path, PathBuf};
use std::process::Command;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::{Kind, site, tools};

/// The directory of libhdfs.so: beside the program under test.
fn library() -> PathBuf {
    let library = tools::zerohop().unwrap().with_file_name("libhdfs.so");
    assert!(library.exists(), "{library:?}: build it with -p zerohop-libhdfs");
    library.parent().unwrap().to_owned()
}

fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (said, why) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?}: {}\n{said}\n{why}", out.status);
    said.into_owned()
}

/// A C program of the library's tests, compiled against the header as it is shipped.
fn compiled(directory: &Path, name: &str) -> PathBuf {
    let (source, program) = (tools::root().join("bindings/c"), directory.join(name));
    let library = library();
    let flags = ["-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    let mut cc = Command::new("cc");
    cc.args(flags).arg(&program).arg(source.join(format!("tests/c/{name}.c")));
    cc.arg("-I").arg(source.join("include")).arg("-L").arg(&library);
    run(cc.args(["-lhdfs", "-lpthread"]).arg(format!("-Wl,-rpath,{}", library.display())));
    program
}

/// A whole cluster of ours that runs a command, with its configuration.
fn on_ours(command: &str) -> String {
    let mut up = Command::new("timeout");
    up.arg("300").arg(tools::zerohop().unwrap()).args(["up", "--datanodes", "3"]);
    run(up.args(["--port=0", "--http-port=0", "--rest-port=0", "--exec", command]))
}

#[test]
fn a_c_program_reads_and_writes_locally_and_over_tcp() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "operations");
    let program = program.display();
    let said = on_ours(&format!("{program} local && {program} remote"));
    assert_eq!(said.matches("all well").count(), 2, "{said}");
    assert_eq!(said.matches("hedged").count(), 2, "{said}");
}

#[test]
fn a_c_program_uses_no_memory_wrongly_and_loses_none() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "operations");
    let valgrind = "valgrind -q --error-exitcode=9 --leak-check=full \
                    --show-leak-kinds=definite --errors-for-leak-kinds=definite";
    let said = on_ours(&format!("{valgrind} {} local slow", program.display()));
    assert!(said.contains("all well"), "{said}");
}

#[test]
fn a_c_program_works_on_apaches_cluster() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "operations");
    let settings = site::settings(&[("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Apache, Kind::Apache);
    let spec = Spec { name: "bindings-c", namenode, datanodes, count: 1, settings };
    let cluster = Cluster::start(&spec).unwrap();
    let said = run(Command::new(program).arg("remote").env("HADOOP_CONF_DIR", cluster.conf()));
    assert!(said.contains("all well"), "{said}");
}

/// Arrow wants to load a JVM before libhdfs.so: ours needs none, so an empty library stands in for it.
#[test]
fn arrow_s_file_system_needs_no_jvm() {
    let directory = tempfile::tempdir().unwrap();
    let server = directory.path().join("lib/server");
    std::fs::create_dir_all(&server).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-o"]).arg(server.join("libjvm.so"));
    run(cc.arg(tools::root().join("bindings/c/stand-in/libjvm.c")));
    let python = tools::out().join("python/bin/python");
    let script = tools::root().join("testing/interop/python/libhdfs_pyarrow.py");
    let uri = format!("$({} getconf -confKey fs.defaultFS)", tools::zerohop().unwrap().display());
    let environment = format!(
        "PATH=/usr/bin:/bin JAVA_HOME={} ARROW_LIBHDFS_DIR={}",
        directory.path().display(),
        library().display()
    );
    let command = format!("{environment} {} {} {uri}", python.display(), script.display());
    let said = on_ours(&command);
    assert!(said.contains("all well"), "{said}");
}
