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
    run_with_errors(command).0
}

/// What a command that succeeds says on standard output, and on standard error.
fn run_with_errors(command: &mut Command) -> (String, String) {
    let out = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [said, why] =
        [out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(out.status.success(), "{command:?}: {}\n{said}\n{why}", out.status);
    (said, why)
}

/// cc with a C program of the library's tests and the header as it is shipped.
fn cc(program: &Path, name: &str) -> Command {
    let source = tools::root().join("bindings/c");
    let flags = ["-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    let mut cc = Command::new("cc");
    cc.args(flags).arg(program).arg(source.join(format!("tests/c/{name}.c")));
    cc.arg("-I").arg(source.join("include"));
    cc
}

/// A C program that is linked with libhdfs.so.
fn compiled(directory: &Path, name: &str) -> PathBuf {
    let (library, program) = (library(), directory.join(name));
    let mut cc = cc(&program, name);
    cc.arg("-L").arg(&library).args(["-lhdfs", "-lpthread"]);
    run(cc.arg(format!("-Wl,-rpath,{}", library.display())));
    program
}

/// A C program that has libhdfs.a in it.
fn compiled_with_archive(directory: &Path, name: &str) -> PathBuf {
    let program = directory.join(name);
    let mut cc = cc(&program, name);
    run(cc.arg(library().join("libhdfs.a")).args(["-lgcc_s", "-lm", "-lpthread", "-ldl", "-lc"]));
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

/// The library is in the program: both ways of linking are tried.
#[test]
fn what_apaches_own_tests_check() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled_with_archive(directory.path(), "conformance");
    let program = program.display();
    let said = on_ours(&format!("{program} local && {program} remote"));
    assert_eq!(said.matches("all well").count(), 2, "{said}");
}

/// A file that was open when its file system was disconnected stayed empty; a name of the file system other than that
/// of the configuration was another file system.
#[test]
fn the_names_of_a_file_system_and_the_files_that_it_leaves_open() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "addresses");
    let said = on_ours(&program.display().to_string());
    assert!(said.contains("all well"), "{said}");
}

/// A quota that is found to be full at close(2) used to be no error: the file was said to be written.
#[test]
fn an_error_of_close_is_an_error_of_the_file() {
    let [programs, directory] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (program, place) = (compiled(programs.path(), "full"), directory.path());
    let preload = programs.path().join("failing_close.so");
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Werror", "-shared", "-fPIC", "-o"]).arg(&preload);
    run(cc.arg(tools::root().join("bindings/c/tests/c/failing_close.c")).arg("-ldl"));
    let fill = |name: &str, text: &str| std::fs::write(place.join(name), text).unwrap();
    fill("source", "text");
    fill("full", "old");
    let failing = |program: &Path| {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", &preload).env("FAIL_CLOSE", "full").current_dir(place);
        command
    };
    let said = run(failing(&program).arg(place));
    assert!(said.contains("all well"), "{said}");
    let mut get = failing(&tools::zerohop().unwrap());
    let out = get.args(["fs", "-fs", "file:///", "-get", "-f", "source", "full"]).output().unwrap();
    let why = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(1) && why.contains("quota"), "{out:?}");
    assert_eq!(std::fs::read(place.join("full")).unwrap(), b"old");
}

#[test]
fn datanodes_die_under_a_c_program() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "datanodes");
    let settings = site::settings(&[("dfs.replication", "2")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "bindings-c-datanodes", namenode, datanodes, count: 2, settings };
    let cluster = Cluster::start(&spec).unwrap();
    let ids = cluster.process_ids().1;
    let mut program = Command::new(program);
    program.args(ids.iter().map(u32::to_string)).env("HADOOP_CONF_DIR", cluster.conf());
    let (said, why) = run_with_errors(&mut program);
    assert!(said.contains("all well"), "{said}");
    let warning = "libhdfs: the program: dfs.xframe.value has no effect: it is not implemented\n";
    assert_eq!(why.matches(warning).count(), 1, "{why}");
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
    let names = ["operations", "conformance", "addresses"];
    let programs = names.map(|name| compiled(directory.path(), name));
    let settings = site::settings(&[("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Apache, Kind::Apache);
    let spec = Spec { name: "bindings-c", namenode, datanodes, count: 1, settings };
    let cluster = Cluster::start(&spec).unwrap();
    for program in programs {
        let said = run(Command::new(program).arg("remote").env("HADOOP_CONF_DIR", cluster.conf()));
        assert!(said.contains("all well"), "{said}");
    }
}

/// The block of a language in docs/languages.md in which some text is, as it is written there.
fn written(language: &str, text: &str) -> String {
    let document = std::fs::read_to_string(tools::root().join("docs/languages.md")).unwrap();
    let blocks = document.split("```").skip(1).step_by(2);
    let of_language = blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    let found: Vec<&str> = of_language.filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "{language} with {text}: {found:?}");
    found[0].to_owned()
}

/// Only the addresses are changed, and `target/release` is where this test's library is.
#[test]
fn the_documentation_s_lines_for_c_curl_and_arrow_run_as_written() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let link = |to: PathBuf, name: &str| {
        std::os::unix::fs::symlink(to.canonicalize().unwrap(), place.join(name)).unwrap();
    };
    std::fs::create_dir(place.join("target")).unwrap();
    link(library(), "target/release");
    link(tools::root().join("bindings"), "bindings");
    std::fs::write(place.join("greeting.c"), written("c", "int main(")).unwrap();
    let address = r#""nn.example.com", 8020"#;
    let arrow = written("sh", "ARROW_LIBHDFS_DIR").replace(address, r#""'$host'", '$port'"#);
    let curl =
        written("sh", "op=CREATE").replace("http://gateway.example.com:14000", "$ZEROHOP_REST");
    let script = format!(
        "set -eu; cd {place}; PATH={python}:$PATH\n\
         host=${{ZEROHOP_URI#hdfs://}}; port=${{host#*:}}; host=${{host%:*}}\n\
         zerohop fs -mkdir -p /user/alice; zerohop fs -chown alice /user/alice\n\
         {curl}\n\
         echo hello, C | zerohop fs -put - /user/alice/greeting\n{c}\n{arrow}",
        place = place.display(),
        python = tools::out().canonicalize().unwrap().join("python/bin").display(),
        c = written("sh", "cc greeting.c"),
    );
    let file = place.join("lines.sh");
    std::fs::write(&file, script).unwrap();
    let said = on_ours(&format!("sh {}", file.display()));
    for wanted in ["hello, world\nand again\n", "hello, C\n", "FileInfo for '/user'"] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

/// Without `-rpath` the collector in C found no library. Each of the three takes a log and says how far it is.
#[test]
fn the_log_collectors_start_as_written() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let link = |to: PathBuf, name: &str| {
        std::os::unix::fs::symlink(to.canonicalize().unwrap(), place.join(name)).unwrap();
    };
    std::fs::create_dir(place.join("target")).unwrap();
    link(library(), "target/release");
    link(tools::root().join("bindings"), "bindings");
    link(tools::root().join("examples"), "examples");
    std::fs::write(place.join("app.log"), "one\ntwo\n").unwrap();
    let lines = written("sh", "log-collector/collector.c");
    let [compile, collectors @ ..] = lines.trim().lines().collect::<Vec<_>>().leak() else {
        panic!("{lines}")
    };
    assert_eq!(collectors.len(), 3, "{lines}");
    let mut script = format!("set -eu; cd {}\n{compile}\n", place.display());
    for (number, line) in collectors.iter().enumerate() {
        let command = line.split(" #").next().unwrap_or_default();
        let line = command
            .replace("/var/log/app.log", "app.log")
            .replace("hdfs://nn.example.com:8020", "$ZEROHOP_URI")
            .replace("http://gateway:14000", "$ZEROHOP_REST")
            .replace("/logs/host1/app", &format!("/logs/host1/app{number}"));
        script.push_str(&format!(
            "setsid env -u LD_LIBRARY_PATH {line} > said{number} 2>&1 & pid=$!\n\
             for _ in $(seq 600); do grep -q 'acknowledged 8' said{number} && break; kill -0 $pid; sleep 0.1; done\n\
             kill -KILL -- -$pid; wait $pid || true; cat said{number}\n"
        ));
    }
    let file = place.join("lines.sh");
    std::fs::write(&file, script).unwrap();
    let said = on_ours(&format!("bash {}", file.display()));
    assert_eq!(said.matches("acknowledged 8").count(), 3, "{said}");
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
