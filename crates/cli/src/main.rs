//! The `zerohop` binary: a verb a file.
//!
//! Called as `hdfs` or `hadoop` (a link to the binary), it takes their command lines.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

/// The static program's: that of musl has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[macro_use(note, noteln)]
extern crate zerohop_system;

#[macro_use]
mod say;

mod admin;
mod balancer;
mod bench;
mod cacheadmin;
mod checknative;
mod cluster;
mod codec;
mod codecs;
mod command_line;
mod confirm;
mod daemon;
mod debug;
mod demo;
mod descendants;
mod dfsadmin;
mod doctor;
mod domain_socket;
mod ec;
mod failure;
mod file_copier;
mod fs;
mod fsck;
mod gateway;
mod getconf;
mod groups;
mod ha;
mod haadmin;
mod http;
mod journalnode;
mod log;
mod manual;
mod mover;
mod moves;
mod namenode_call;
mod namenodes;
mod observe;
mod oev;
mod oiv;
mod recovery;
mod rest;
mod running;
mod settings;
mod spans;
mod stop;
mod storagepolicies;
mod suggest;
mod temporary;
mod top;
mod units;
mod up;
mod version;
mod viewer_output;
mod waiting;
mod webhdfs;
mod wording;
mod zkfc;

fn main() {
    ha::children::end_with_parent();
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let called = args.next().unwrap_or_default();
    let code = command_line::run(&called, args.collect());
    zerohop_transport::trace::finish();
    std::process::exit(code);
}
