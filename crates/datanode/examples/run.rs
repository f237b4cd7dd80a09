//! Runs one DataNode until it is interrupted: `run [--config DIR] [KEY=VALUE]...`.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_datanode::DataNode;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut conf = Conf::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--config" {
            conf = Conf::load(arguments.next().ok_or("--config DIR")?)?;
        } else if let Some((name, value)) = argument.split_once('=') {
            conf.set(name, value);
        }
    }
    let node = DataNode::start(Arc::new(conf)).await?;
    println!("data {} ipc {} http {}", node.data_addr(), node.ipc_addr(), node.http_addr());
    node.ready().await;
    println!("ready {}", node.uuid());
    let failure = tokio::select! {
        failure = node.failed() => Some(failure),
        _ = tokio::signal::ctrl_c() => None,
    };
    node.stop().await;
    match failure {
        Some(failure) => Err(failure.into()),
        None => Ok(()),
    }
}
