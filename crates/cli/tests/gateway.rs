//! A gateway that no cluster is named for.
#![allow(clippy::disallowed_methods, reason = "the test waits for a process")]

mod support;

use std::fs::{DirBuilder, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use support::{text, zerohop};

const LIMIT: Duration = Duration::from_secs(60);

/// Ends what did not end by itself.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a gateway, and returns the refusal with which it ends.
fn refusal(runtime: &Path) -> String {
    let mut command = zerohop(&["gateway", "-D", "httpfs.http.port=0"]);
    command.env("ZEROHOP_RUNTIME_DIR", runtime).stderr(Stdio::piped());
    let mut gateway = Killed(command.spawn().unwrap());
    let begun = Instant::now();
    while gateway.0.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < LIMIT, "the gateway has started");
        sleep(Duration::from_millis(20));
    }
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut gateway.0.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(gateway.0.wait().unwrap().code(), Some(1));
    text(&said)
}

/// The gateway used to start on all addresses of the machine, and answered every request with 400.
#[test]
fn a_gateway_started_without_a_cluster_or_with_several() {
    let runtime = tempfile::tempdir().unwrap();
    let said = refusal(runtime.path());
    assert!(said.contains("no cluster is named"), "{said}");
    // Two that run, as they announce themselves.
    let running = runtime.path().join("running");
    DirBuilder::new().mode(0o700).create(&running).unwrap();
    let announced: Vec<File> = ["1", "2"]
        .map(|name| {
            let conf = runtime.path().join(format!("conf-{name}"));
            std::fs::create_dir(&conf).unwrap();
            std::fs::write(running.join(name), conf.as_os_str().as_bytes()).unwrap();
            let file = File::open(running.join(name)).unwrap();
            flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
            file
        })
        .into();
    let said = refusal(&running);
    assert!(said.contains("2 clusters of yours are running"), "{said}");
    drop(announced);
}
