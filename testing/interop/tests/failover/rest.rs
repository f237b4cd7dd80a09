//! A gateway in front of a pair: while the active NameNode moves, is killed and is frozen, no request fails.

use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use zerohop_interop::http::Connection;
use zerohop_interop::pair::{LIMIT, Pair, other};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Outcome, ports, tools, wait};

/// Requests that are answered between one failure and the next.
const BETWEEN: usize = 8;

fn line(number: usize) -> String {
    format!("line {number}\n")
}

/// Starts a gateway with the configuration of the pair's clients.
fn gateway(pair: &Pair) -> Outcome<(Process, u16)> {
    let (port, log) = (ports::free(), pair.directory.join("gateway.log"));
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(pair.conf()).args(["gateway", "-D"]);
    command.args(["httpfs.http.hostname=127.0.0.1", "-D", &format!("httpfs.http.port={port}")]);
    let process = Process::daemon("gateway", command, &log)?;
    let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
    wait::until("the gateway listens", LIMIT, reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
    Ok((process, port))
}

/// One request; its answer must be `expected`.
fn ask(port: u16, method: &str, target: &str, body: &[u8], expected: u16) -> Outcome<String> {
    let headers = [("Content-Type", "application/octet-stream")];
    let answer = Connection::open(port).and_then(|mut c| c.ask(method, target, &headers, body));
    let answer = answer.map_err(|error| format!("{method} {target}: {error}"))?;
    match answer.status == expected && answer.is_whole {
        true => Ok(answer.text()),
        false => Err(format!("{method} {target}: {} {}", answer.status, answer.text())),
    }
}

/// Creates, appends to and reads a file after the other until it is told to stop; how many.
fn traffic(port: u16, stop: &AtomicBool, done: &AtomicUsize) -> Outcome {
    let user = "user.name=rest";
    ask(port, "POST", &format!("/log?op=append&createflag=CREATE&{user}"), b"", 200)?;
    while !stop.load(Ordering::Acquire) {
        let number = done.load(Ordering::Acquire);
        let path = format!("/webhdfs/v1/rest/{number}");
        let body = line(number);
        ask(port, "PUT", &format!("{path}?op=CREATE&data=true&{user}"), body.as_bytes(), 201)?;
        ask(port, "POST", &format!("/log?op=append&{user}"), body.as_bytes(), 200)?;
        if ask(port, "GET", &format!("{path}?op=OPEN&{user}"), b"", 200)? != body {
            return Err(format!("{path} has another content"));
        }
        done.fetch_add(1, Ordering::AcqRel);
    }
    Ok(())
}

fn history(pair: &mut Pair, stop: &AtomicBool, done: &AtomicUsize) -> Outcome {
    let some_more = || {
        let enough = done.load(Ordering::Acquire) + BETWEEN;
        wait::until("requests are answered", LIMIT, || {
            Ok(done.load(Ordering::Acquire) >= enough || stop.load(Ordering::Acquire))
        })
    };
    let first = pair.active()?.ok_or("none is active")?;
    some_more()?;
    pair.ours(&["haadmin", "-failover", first, other(first)])?;
    some_more()?;
    pair.signal(other(first), libc::SIGKILL)?;
    some_more()?;
    pair.start_namenode(other(first), &[])?;
    pair.until_active(first)?;
    pair.signal(first, libc::SIGSTOP)?;
    some_more()?;
    pair.signal(first, libc::SIGCONT)?;
    some_more()
}

fn story(pair: &mut Pair) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    pair.ours(&["fs", "-mkdir", "-p", "/rest"])?;
    pair.ours(&["fs", "-chmod", "777", "/", "/rest"])?;
    let (_process, port) = gateway(pair)?;
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (moved, answered) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let answered = traffic(port, &stop, &done);
            // After a failure more are not waited for.
            stop.store(true, Ordering::Release);
            answered
        });
        let moved = history(pair, &stop, &done);
        stop.store(true, Ordering::Release);
        (moved, asking.join().unwrap_or_else(|_| Err("the client panicked".to_owned())))
    });
    answered
        .map_err(|error| format!("{error}\n{}", tail(&pair.directory.join("gateway.log"), 20)))?;
    moved?;
    // Each line is there once, in order.
    let wanted: String = (0..done.load(Ordering::Acquire)).map(line).collect();
    let log = pair.ours(&["fs", "-cat", "/log"])?;
    if log == wanted { Ok(()) } else { Err(format!("the log is\n{log}, not\n{wanted}")) }
}

#[test]
fn no_request_of_a_gateway_fails_while_the_active_namenode_changes() {
    let mut pair = Pair::start("failover-rest").unwrap();
    story(&mut pair).unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}
