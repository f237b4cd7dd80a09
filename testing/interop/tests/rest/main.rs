//! REST: other people's clients, faults, and what strangers send, with Apache as the judge.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod appends;
mod asked_for;
mod collector;
mod collectors;
mod cross_origin;
mod curl;
mod fault_cluster;
mod faults;
mod features;
mod gateway;
mod java;
mod mixed;
mod paths;
mod requests;
mod scripts;
mod shell;
mod strangers;
