//! A reader in a container: a network and a mount namespace of its own, where no address of the
//! DataNode is this machine's, and the directory of its socket is mounted somewhere else. Whether a read
//! is local is found out by asking at the socket.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, client, over, put, shape};
use zerohop_interop::site::{self, Site};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, content, tools};

use crate::client::{BLOCK, LEN, expect};

/// The only address in the container; 127.0.0.1, where the daemons are, is none of it.
const ADDRESS: &str = "10.99.99.1";

/// Carries connections from the container to a port of this machine, for as long as the test runs.
fn forward(listener: TcpListener, port: u16) {
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
            let (Ok(near_too), Ok(far_too)) = (near.try_clone(), far.try_clone()) else { continue };
            std::thread::spawn(move || carry(near, far));
            std::thread::spawn(move || carry(far_too, near_too));
        }
    });
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Gives the thread a network of its own, with one address; `None` where this machine does not let us.
fn leave_network() -> Option<()> {
    // SAFETY: unshare takes a number and changes the calling thread only.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return None;
    }
    let line = format!(
        "ip link set lo up && ip addr del 127.0.0.1/8 dev lo && ip addr add {ADDRESS}/32 dev lo"
    );
    let done = Command::new("sh").args(["-c", &line]).status().ok()?;
    done.success().then_some(())
}

/// Runs `work` in the container, where the ports of this machine are reached at [`ADDRESS`].
fn inside(ports: &[u16], work: impl FnOnce() -> Outcome + Send) -> Outcome {
    let (send, listeners) = mpsc::channel();
    let (ready, go) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let container = scope.spawn(move || {
            if leave_network().is_none() {
                println!("skipped: no network namespace here");
                return Ok(());
            }
            for port in ports {
                let listener = TcpListener::bind((ADDRESS, *port)).at("inside")?;
                send.send((listener, *port)).at("inside")?;
            }
            drop(send);
            go.recv().at("inside")?;
            work()
        });
        for (listener, port) in listeners {
            forward(listener, port);
        }
        let _ = ready.send(());
        container.join().map_err(|_| "the container died".to_owned())?
    })
}

/// `fs -cat -v /c` with the sockets' directory mounted at `mounted`.
fn cat(site: &Site, sockets: &Path, mounted: &Path, settings: &[&str]) -> Outcome<Output> {
    let line = "mkdir -p \"$1\" && mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", line]);
    command.arg(sockets).arg(mounted).arg(tools::zerohop()?).arg("--config").arg(site.conf());
    command.arg("fs").arg(format!("-Dfs.defaultFS=hdfs://{ADDRESS}:{}", site.rpc_port));
    command.args(settings).args(["-cat", "-v", "/c"]);
    command.output().at("unshare")
}

fn told(output: &Output, part: &str) -> Outcome {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut want = vec![0; LEN as usize];
    content::fill(1, 0, &mut want);
    let is_so = output.status.success() && output.stdout == want && said.contains(part);
    expect(&format!("{part:?}, {} bytes, in\n{said}", output.stdout.len()), is_so, true)
}

fn read(site: &Site, directory: &SocketDirectory) -> Outcome {
    let mounted = directory.path().with_extension("mounted");
    let path =
        |directory: &Path| format!("-Ddfs.domain.socket.path={}/dn._PORT", directory.display());
    let by_name = "-Ddfs.client.use.datanode.hostname=true";
    let outcome = (|| {
        let output = cat(site, directory.path(), &mounted, &[&path(&mounted)])?;
        told(&output, "reads: local-mapped 3000000 bytes")?;
        // Without a socket there is nobody who could say that the DataNode is near.
        let nowhere = path(Path::new("/run/no-such-directory"));
        let output = cat(site, directory.path(), &mounted, &[&nowhere, by_name])?;
        told(&output, "3000000 bytes in 3 ranges, not local: other-host (")
    })();
    let _ = std::fs::remove_dir(&mounted);
    outcome
}

#[test]
fn a_mounted_socket_is_enough() {
    let directory = SocketDirectory::make("container").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
        // For readers that go by names; all others go by the address, 127.0.0.1.
        ("dfs.datanode.hostname", ADDRESS),
    ]);
    let (name, ours) = ("shortcircuit-container", Kind::Ours);
    let spec = Spec { name, namenode: ours, datanodes: ours, count: 1, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        put(&fs, "/c", 1, LEN, shape(1, BLOCK))?;
        let ports = [cluster.site.rpc_port, cluster.site.data_ports[0]];
        let site = &cluster.site;
        inside(&ports, || read(site, &directory))
    });
}
