//! `zerohop-simulation`: crash histories from a seed on, for so many minutes.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use clap::Parser;
use std::process::ExitCode;
use std::time::Duration;
use zerohop_simulation::Effort;
use zerohop_simulation::campaign::{self, Until};

/// Lets NameNodes crash at every point of their writes.
#[derive(Parser)]
struct Options {
    /// The first history's seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Minutes at least
    #[arg(long, default_value_t = 0.0)]
    minutes: f64,
    /// Histories at least
    #[arg(long, default_value_t = 1)]
    histories: u64,
    /// Crash points at least
    #[arg(long, default_value_t = 0)]
    crashes: u64,
    /// Histories at a time, by default one for each core
    #[arg(long)]
    threads: Option<usize>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    println!("crash histories from seed {}", options.seed);
    let until = Until {
        time: Duration::from_secs_f64(options.minutes.max(0.0) * 60.0),
        histories: options.histories,
        crashes: options.crashes,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match campaign::run(options.seed, until, Effort::FULL, options.threads.unwrap_or(cores)) {
        Ok(counts) => {
            println!(
                "seeds {} to {}: {} lives of NameNodes, {} with a failing disk; {} crash points, \
                 after {} of which the error named the command to start with; {} \
                 damages, {} of which were refused; no broken promise",
                options.seed,
                options.seed + counts.histories.saturating_sub(1),
                counts.lives,
                counts.failures,
                counts.crashes,
                counts.commands,
                counts.damages,
                counts.refused
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
