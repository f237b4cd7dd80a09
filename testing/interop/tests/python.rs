//! The Python package on clusters of both kinds: its own tests (`bindings/python/tests`), by pytest.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::path::PathBuf;
use std::process::Command;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::{Kind, site, tools};

/// The package as `bindings/python/build.sh` lays it out: beside the program under test.
fn package() -> PathBuf {
    let package = tools::zerohop().unwrap().with_file_name("python");
    assert!(package.exists(), "{package:?}: build it with bindings/python/build.sh");
    package
}

/// pytest on some files, with a configuration in its environment.
fn pytest(files: &[&str]) -> Command {
    let tests = tools::root().join("bindings/python/tests").canonicalize().unwrap();
    let mut pytest = Command::new("timeout");
    pytest.arg("500").arg(tools::out().canonicalize().unwrap().join("python/bin/python"));
    pytest.args(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--durations=5"]);
    pytest.args(files.iter().map(|file| tests.join(file)));
    pytest.env("PYTHONPATH", package()).env("PYTHONDONTWRITEBYTECODE", "1");
    pytest.current_dir(&tests);
    pytest
}

fn run(mut command: Command) {
    let out = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (said, why) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    println!("{said}");
    assert!(out.status.success(), "{}\n{said}\n{why}", out.status);
}

/// As a command line for a shell.
fn quoted(command: &Command) -> String {
    let quote = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy());
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(quote).collect::<Vec<String>>().join(" ")
}

/// A whole cluster of ours in one process, with local reads.
fn on_ours(files: &[&str]) {
    let pytest = pytest(files);
    let mut up = Command::new(tools::zerohop().unwrap());
    up.args(["up", "--datanodes", "3", "--port=0", "--http-port=0", "--rest-port=0"]);
    up.arg("--exec").arg(quoted(&pytest));
    for (name, value) in pytest.get_envs() {
        up.env(name, value.unwrap_or_default());
    }
    run(up);
}

fn on_cluster(kind: Kind, name: &str, files: &[&str]) {
    let settings = site::settings(&[("dfs.replication", "2")]);
    let spec = Spec { name, namenode: kind, datanodes: kind, count: 2, settings };
    let cluster = Cluster::start(&spec).unwrap();
    let mut pytest = pytest(files);
    let ids: Vec<String> = cluster.process_ids().1.iter().map(u32::to_string).collect();
    pytest.env("HADOOP_CONF_DIR", cluster.conf()).env("ZEROHOP_TEST_DATANODES", ids.join(","));
    run(pytest);
}

#[test]
fn files_of_python() {
    on_ours(&[
        "test_files.py",
        "test_errors.py",
        "test_process.py",
        "test_aio.py",
        "test_addresses.py",
        "test_objects.py",
    ]);
}

#[test]
fn file_systems_of_fsspec_and_arrow_and_the_libraries_on_them() {
    on_ours(&["test_fsspec.py", "test_fsspec_suite.py", "test_arrow.py", "test_libraries.py"]);
}

#[test]
fn what_python_replaces_is_kept_until_the_new_is_certain() {
    on_ours(&["test_replacing.py"]);
}

#[test]
fn documentation_and_annotations() {
    on_ours(&["test_documentation.py", "test_types.py"]);
}

#[test]
fn datanodes_that_fail_under_python_s_files() {
    on_cluster(Kind::Ours, "python-misfortune", &["misfortune.py"]);
}

#[test]
fn files_of_python_on_apache_s_cluster() {
    on_cluster(Kind::Apache, "python-apache", &["on_apache.py", "test_addresses.py"]);
}
