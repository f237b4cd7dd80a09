//! Paths that only failures lead to: pipelines that lose nodes, writers that die, replicas that rot,
//! NameNodes that are not there, disks that are full. Real processes, real kills.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod audit;
mod balance;
mod closing;
mod corruption;
mod decommission;
mod disks;
mod failover;
mod fsck;
mod idle;
mod jmx;
mod metrics;
mod mishaps;
mod native;
mod orders;
mod pipeline;
mod repeated;
mod restart;
mod restored;
mod rolling_upgrade;
mod salvage;
mod slow_disk;
mod slow_operations;
mod ten;
mod trash;
mod under_load;
mod unreadable;
mod upkeep;
mod writers;
