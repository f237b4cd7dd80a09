//! A NameNode by itself, for trying things: `namenode CONF_DIR [format]`. The product's command is `zerohop namenode`.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_namenode::{FormatOptions, NameNode};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().init();
    let mut args = std::env::args().skip(1);
    let conf = Conf::load(args.next().ok_or("usage: namenode CONF_DIR [format]")?)?;
    if args.next().as_deref() == Some("format") {
        return Ok(NameNode::format(&conf, FormatOptions::default())?);
    }
    let node = NameNode::start(Arc::new(conf)).await?;
    println!("RPC {} HTTP {}", node.rpc_addr(), node.http_addr());
    tokio::select! {
        _ = tokio::signal::ctrl_c() => node.stop().await,
        reason = node.failed() => return Err(reason.into()),
    }
    Ok(())
}
