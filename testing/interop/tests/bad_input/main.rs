//! Strangers on every port: random bytes, cut frames, lengths that lie, versions, methods and op codes
//! that nobody knows, messages without their required fields, clients that send nothing. Each gets an
//! error or a closed connection; a client beside them notices nothing; no daemon panics or grows.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod beside;
mod frames;
mod mutated;
mod pair;
mod recorded;

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use beside::{Beside, Watch};
use frames::{Port, call, data_requests, hello};
use zerohop_client::DatanodeReportType;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, client, over};
use zerohop_interop::{Kind, Outcome, site};

/// The DataNode's read timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(8);
/// A thousand connections that send nothing, or half a request, may make so many threads: 128 may
/// linger for a moment, and those accepted before the first of these ran are on their way.
const THREADS_MORE: usize = 500;

/// Far more than rounds of the client beside take, whatever the disk does.
const ROUNDS_MAX: Duration = Duration::from_secs(120);

/// Every port that a daemon of ours listens on.
struct Ports {
    namenode_rpc: Port,
    namenode_http: Port,
    data: Port,
    datanode_rpc: Port,
    datanode_http: Port,
}

impl Ports {
    fn find(cluster: &Cluster) -> Outcome<Self> {
        let fs = client(&cluster.conf(), &[])?;
        let nodes = fs.datanode_report(DatanodeReportType::Live).at("DataNodes")?;
        let node = nodes.first().ok_or("no DataNode")?;
        let info = node.proto().id.info_port as u16;
        Ok(Self {
            namenode_rpc: Port("NameNode RPC", cluster.site.rpc_port),
            namenode_http: Port("NameNode HTTP", cluster.site.http_port),
            data: Port("DataNode data", node.transfer_port()),
            datanode_rpc: Port("DataNode RPC", node.ipc_port()),
            datanode_http: Port("DataNode HTTP", info),
        })
    }

    fn all(&self) -> [&Port; 5] {
        [
            &self.namenode_rpc,
            &self.namenode_http,
            &self.data,
            &self.datanode_rpc,
            &self.datanode_http,
        ]
    }
}

fn random_bytes(ports: &Ports) -> Outcome {
    let mut random = fastrand::Rng::with_seed(17);
    for port in ports.all() {
        for round in 0..60 {
            let mut bytes = match (round % 3, port.0) {
                (0, _) => Vec::new(),
                (_, "DataNode data") => {
                    vec![0, 28, *random.choice(&[80, 81, 84, 85, 86, 87, 99]).unwrap_or(&80)]
                }
                (_, name) if name.ends_with("RPC") => hello(),
                _ => b"GET /".to_vec(),
            };
            bytes.extend((0..random.usize(1..3000)).map(|_| random.u8(..)));
            port.must_close(&bytes, &format!("random bytes {round}"))?;
        }
    }
    Ok(())
}

/// A good request, cut at each place.
fn cut(port: &Port, request: &[u8]) -> Outcome {
    let step = (request.len() / 40).max(1);
    for len in (0..request.len()).step_by(step) {
        port.must_close(&request[..len], &format!("{len} of {} bytes", request.len()))?;
    }
    Ok(())
}

fn cut_frames(ports: &Ports) -> Outcome {
    let client = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
    let request = [hello(), call(client, "getFileInfo", b"\x0a\x01/")].concat();
    cut(&ports.namenode_rpc, &request)?;
    cut(&ports.datanode_rpc, &request)?;
    for request in data_requests("BP-1-127.0.0.1-1") {
        cut(&ports.data, &request)?;
    }
    cut(&ports.namenode_http, b"GET /jmx HTTP/1.1\r\nHost: a\r\n")?;
    cut(&ports.datanode_http, b"GET /jmx HTTP/1.1\r\nHost: a\r\n")
}

/// Lengths that promise more than anybody may send; nothing is set aside for them.
fn lying_lengths(ports: &Ports) -> Outcome {
    let huge = [0xff, 0xff, 0xff, 0xff, 0x0f];
    for port in [&ports.namenode_rpc, &ports.datanode_rpc] {
        for length in [i32::MAX, -1, i32::MIN, 200 << 20, 0] {
            let request = [&hello()[..], &length.to_be_bytes(), &huge].concat();
            port.must_close(&request, &format!("frame of {length}"))?;
        }
        // A header longer than its frame.
        let request = [&hello()[..], &20i32.to_be_bytes(), &huge, &[0; 15]].concat();
        port.must_close(&request, "header longer than its frame")?;
        // A length that is allowed, and nothing behind it.
        let request = [&hello()[..], &(100i32 << 20).to_be_bytes(), &[1; 100]].concat();
        port.must_close(&request, "an empty promise")?;
    }
    for code in [80, 81, 82, 83, 84, 85, 86, 87, 88, 127, 128] {
        let request = [&[0, 28, code][..], &huge, &[7; 50]].concat();
        ports.data.must_close(&request, &format!("op {code} with a huge message"))?;
    }
    for port in [&ports.namenode_http, &ports.datanode_http] {
        let long = [&b"GET /jmx HTTP/1.1\r\nX: "[..], &vec![b'a'; 4 << 20]].concat();
        port.must_close(&long, "a header of 4 MB")?;
        let body = b"POST /jmx HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999\r\n\r\nx";
        port.must_close(body, "a body that never comes")?;
        port.must_close(b"GET /%zz%00%ff?x=%u HTTP/1.0\r\n\r\n", "a bad path")?;
    }
    Ok(())
}

fn versions(ports: &Ports) -> Outcome {
    for port in [&ports.namenode_rpc, &ports.datanode_rpc] {
        let answer = port.must_close(b"hrpc\x08\x00\x00\x00\x00\x00\x00", "RPC version 8")?;
        if !String::from_utf8_lossy(&answer).contains("VersionMismatch") {
            return Err(format!("{}: version 8 got {answer:02x?}", port.0));
        }
        let answer = port.must_close(b"hrpc\x09\x00\x07\x00\x00\x00\x00", "authentication 7")?;
        if !String::from_utf8_lossy(&answer).contains("Unknown auth protocol") {
            return Err(format!("{}: authentication 7 got {answer:02x?}", port.0));
        }
        let answer = port.must_close(b"GET / HTTP/1.1\r\n\r\n", "HTTP")?;
        if !answer.starts_with(b"HTTP/1.1 404") {
            return Err(format!("{}: HTTP got {answer:02x?}", port.0));
        }
    }
    ports.data.must_close(&[0, 27, 81, 5, 1, 2, 3, 4, 5], "data version 27")?;
    ports.data.must_close(&[0, 28, 200, 5, 1, 2, 3, 4, 5], "op code 200").map(drop)
}

/// Methods that nobody has, and the real ones without their arguments: an error that says so, and the
/// connection goes on.
fn methods(ports: &Ports) -> Outcome {
    const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
    const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
    let cases = [
        (CLIENT, "noSuchMethod", "RpcNoSuchMethodException"),
        ("org.example.NoProtocol", "getFileInfo", "RpcNoSuchProtocolException"),
        (CLIENT, "getFileInfo", "Message missing required fields: src"),
        (CLIENT, "create", "Message missing required fields: "),
        (CLIENT, "addBlock", "Message missing required fields: "),
        (DATANODE, "registerDatanode", "Message missing required fields: registration"),
        (DATANODE, "sendHeartbeat", "Message missing required fields: "),
        (DATANODE, "blockReport", "Message missing required fields: "),
    ];
    for (protocol, method, expected) in cases {
        let two = [hello(), call(protocol, method, b""), call(CLIENT, "getFileInfo", b"\x0a\x01/")];
        let answer = ports.namenode_rpc.must_close(&two.concat(), method)?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        // The directory / is the answer to the second call: owner and group are in it.
        if !text.contains(expected) || !text.contains("supergroup") {
            return Err(format!("{method}: expected {expected}, then an answer; got {text:?}"));
        }
    }
    let names = include_str!("methods.txt").lines();
    let mut random = fastrand::Rng::with_seed(23);
    for method in names {
        for protocol in [CLIENT, DATANODE] {
            let noise: Vec<u8> = (0..random.usize(..60)).map(|_| random.u8(..)).collect();
            // A first field that is long, and not UTF-8.
            let field = [&[0x0a, 40][..], &[0xff; 40]].concat();
            let request = [
                hello(),
                call(protocol, method, b""),
                call(protocol, method, &noise),
                call(protocol, method, &field),
            ];
            ports.namenode_rpc.must_close(&request.concat(), method)?;
            ports.datanode_rpc.must_close(&request.concat(), method)?;
        }
    }
    Ok(())
}

/// Good requests that are about nothing that is there.
fn about_nothing(cluster: &Cluster, ports: &Ports) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let pool = beside::pool_id(&fs)?;
    for request in data_requests("BP-0-none-0") {
        ports.data.must_close(&request, "a request for another pool")?;
    }
    for request in data_requests(&pool) {
        ports.data.must_close(&request, "a request about nothing")?;
        // Packets of any kind behind it.
        let mut random = fastrand::Rng::with_seed(request.len() as u64);
        for payload_len in [-5, 3, 4, 70_000, 17 << 20, i32::MAX] {
            let mut bytes = request.clone();
            bytes.extend(payload_len.to_be_bytes());
            bytes.extend([0, 25]);
            bytes.extend((0..500).map(|_| random.u8(..)));
            ports.data.must_close(&bytes, &format!("a packet of {payload_len}"))?;
        }
    }
    Ok(())
}

/// Connections that say a byte, or nothing at all, and stay.
fn silent(ports: &Ports, beside: &Beside, watch: &Watch) -> Outcome {
    for port in ports.all() {
        let before = watch.threads();
        let count = 1000;
        let mut open = Vec::with_capacity(count);
        for i in 0..count {
            let begun: &[u8] = match (i % 4, port.0) {
                (0, _) => b"",
                (1, _) => b"\x00",
                (_, "DataNode data") => &[0, 28, 81, 90, 1, 1],
                (_, name) if name.ends_with("RPC") => b"hrpc\x09\x00\x00\x00\x00",
                _ => b"GET /jmx HTTP/1.1\r\nHo",
            };
            open.push(port.open(begun)?);
        }
        let since = Instant::now();
        beside.goes_on(20, ROUNDS_MAX).map_err(|e| format!("{}: {e}", port.0))?;
        println!("{}: {count} silent connections, 20 rounds in {:?}", port.0, since.elapsed());
        let threads = watch.threads();
        println!("threads: {before:?} before, {threads:?} now");
        if threads.iter().zip(&before).any(|(now, before)| *now > before + THREADS_MORE) {
            return Err(format!("{}: threads {before:?}, then {threads:?}", port.0));
        }
        if port.0 == "DataNode data" {
            are_dropped(&mut open)?;
        }
        drop(open);
    }
    Ok(())
}

/// Half-sent requests are closed when the read timeout of the DataNode is over.
fn are_dropped(open: &mut [TcpStream]) -> Outcome {
    let since = Instant::now();
    for stream in open {
        stream.set_read_timeout(Some(2 * READ_TIMEOUT)).at("a timeout")?;
        match stream.read(&mut [0]) {
            Ok(0) => {}
            Err(e) if e.kind() == ErrorKind::ConnectionReset => {}
            other => return Err(format!("a half-sent request after its time: {other:?}")),
        }
    }
    println!("half-sent requests were closed within {:?}", since.elapsed());
    Ok(())
}

#[test]
fn strangers_on_every_port() {
    let spec = Spec {
        name: "strangers",
        namenode: Kind::Ours,
        datanodes: Kind::Ours,
        count: 1,
        // Requests for a pool that is not there wait this long for it.
        settings: site::settings(&[
            ("dfs.datanode.bp-ready.timeout", "1"),
            ("dfs.client.socket-timeout", &READ_TIMEOUT.as_millis().to_string()),
        ]),
    };
    over(Cluster::start(&spec), |cluster| {
        let ports = Ports::find(cluster)?;
        let beside = Beside::start(&cluster.conf())?;
        beside.goes_on(5, ROUNDS_MAX)?;
        let watch = Watch::start(cluster);
        let steps: [(&str, &dyn Fn() -> Outcome); 7] = [
            ("random bytes", &|| random_bytes(&ports)),
            ("cut frames", &|| cut_frames(&ports)),
            ("lying lengths", &|| lying_lengths(&ports)),
            ("versions", &|| versions(&ports)),
            ("methods", &|| methods(&ports)),
            ("requests about nothing", &|| about_nothing(cluster, &ports)),
            ("silent connections", &|| silent(&ports, &beside, &watch)),
        ];
        let mut failures = Vec::new();
        for (name, step) in steps {
            let since = Instant::now();
            let outcome = step().and_then(|()| beside.goes_on(2, ROUNDS_MAX));
            let outcome = outcome.and_then(|()| watch.look(name));
            println!("{name}: {:?}", since.elapsed());
            failures.extend(outcome.err().map(|e| format!("{name}: {e}")));
        }
        let worst = beside.stop()?;
        println!("the client beside: slowest round {worst:?}");
        failures.extend(watch.logs().err());
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    });
}
