//! Other people's clients in Python and JavaScript, by the gateway and by the NameNode's port; and schemathesis.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use zerohop_interop::process::Process;
use zerohop_interop::{Kind, tools};

use crate::gateway::{Shared, cluster, gateway};

const LIMIT: Duration = Duration::from_secs(180);

/// Runs a script for both ports; `command` gets the port, a directory of the cluster and one of this machine.
fn by_both_ports(name: &str, command: impl Fn(u16, &str, &Path) -> Command) {
    let shared = Shared::get().unwrap();
    for (door, port) in [("gateway", shared.gateway.port), ("namenode", shared.http_port)] {
        let local = shared.directory.join(format!("{name}-{door}"));
        std::fs::create_dir_all(&local).unwrap();
        let log = shared.directory.join(format!("{name}-{door}.log"));
        let command = command(port, &format!("/{name}-{door}"), &local);
        let mut script = Process::daemon(name, command, &log).unwrap();
        let done = script.finish_done(LIMIT);
        done.unwrap_or_else(|error| panic!("by {door}: {error}\n{}", shared.gateway.log()));
    }
}

fn python(script: &str) -> Command {
    let mut command = Command::new(tools::out().join("python/bin/python"));
    command.arg(tools::root().join("testing/interop/python").join(script));
    command
}

#[test]
fn python_hdfs_uploads_downloads_appends_and_walks() {
    by_both_ports("python-hdfs", |port, directory, local| {
        let mut command = python("rest_hdfs.py");
        command.arg(format!("http://127.0.0.1:{port}")).arg(directory).arg(local);
        command
    });
}

#[test]
fn fsspec_seeks_in_files_and_writes_them_by_appends() {
    by_both_ports("fsspec", |port, directory, local| {
        let mut command = python("rest_fsspec.py");
        command.arg("127.0.0.1").arg(port.to_string()).arg(directory).arg(local);
        command
    });
}

#[test]
fn node_webhdfs_streams_in_both_directions() {
    by_both_ports("node-webhdfs", |port, directory, _| {
        let mut command = Command::new("node");
        command.arg(tools::root().join("testing/interop/node/rest_webhdfs.js"));
        command.arg(tools::out().join("node/node_modules")).arg(port.to_string()).arg(directory);
        command
    });
}

/// By a cluster of its own: what is there is changed and deleted.
#[test]
fn schemathesis_gets_no_answer_that_the_openapi_document_does_not_describe() {
    let cluster = cluster("rest-schema", Kind::Ours).unwrap();
    let gateway = gateway(&cluster, &[]).unwrap();
    let mut command = python("rest_schema.py");
    command.arg(format!("http://127.0.0.1:{}", gateway.port)).arg("2");
    let log = cluster.site.log("schemathesis");
    let mut script = Process::daemon("schemathesis", command, &log).unwrap();
    let done = script.finish_done(LIMIT);
    done.unwrap_or_else(|error| panic!("{error}\n{}", gateway.log()));
}
