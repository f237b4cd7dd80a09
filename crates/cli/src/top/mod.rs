//! `top`: a cluster in the terminal. What is shown, and how, is in `zerohop_top`; here is where it comes from.

mod sampler;

use crate::failure::{Failure, Outcome, complain};
use crate::namenodes;
use crate::settings::Settings;
use crate::stop::Stop;
use clap::Args;
use sampler::{NameNodeAddress, Sampler};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use zerohop_system::clock;
use zerohop_top::{Figures, History, terminal, text};

/// Apache's daemons refresh their counters every ten seconds: rates may take as long.
const RATES_MAX: Duration = Duration::from_secs(13);

/// Options of `top`.
#[derive(Args)]
pub struct Top {
    /// HTTP addresses of the NameNodes of one name service; by default those of the configuration
    #[arg(value_name = "HOST:PORT")]
    addresses: Vec<String>,
    /// Seconds between two samples
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = interval)]
    interval: Duration,
    /// Print everything once, as text; rates take two samples, which are up to 13 seconds apart where counters are seldom refreshed
    #[arg(long)]
    once: bool,
    /// The same as JSON, in one line
    #[arg(long, conflicts_with = "once")]
    json: bool,
    /// Ask as many DataNodes at most for their own figures
    #[arg(long, value_name = "N", default_value_t = 200)]
    datanodes: usize,
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    match (0.2..=3600.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("it is from 0.2 to 3600 seconds".to_owned()),
    }
}

pub fn run(settings: &Settings, options: Top) -> i32 {
    top(settings, options).map_or_else(|failure| complain("top", &failure), |()| 0)
}

fn top(settings: &Settings, options: Top) -> Outcome {
    let sampler = Sampler::new(namenodes_of(settings, &options.addresses)?, options.datanodes);
    if options.once || options.json {
        let figures = with_rates(&sampler, options.interval)?;
        match options.json {
            true => sayln!("{}", serde_json::to_string(&figures).map_err(Failure::of)?),
            false => say!("{}", text::screen(&figures)),
        }
        return Ok(());
    }
    if !std::io::stdout().is_terminal() {
        return Err(Failure::unsupported(
            "standard output is no terminal; use --once for text, or --json",
        ));
    }
    let mut history = History::default();
    let first = first(&sampler, &mut history)?;
    watch(sampler, history, first, options.interval)
}

/// Of the command line, else of the configuration.
fn namenodes_of(settings: &Settings, given: &[String]) -> Outcome<Vec<NameNodeAddress>> {
    if given.is_empty() {
        let conf = settings.load_for_cluster()?;
        let found = namenodes::http_addresses(&conf)?.into_iter();
        return Ok(found.map(|(id, address)| NameNodeAddress { id, address }).collect());
    }
    let address = |given: &String| {
        if given.starts_with("https://") {
            return Err(Failure::unsupported(format!("{given}: this speaks no TLS")));
        }
        let address = given.trim_start_matches("http://").split('/').next().unwrap_or_default();
        match address.rsplit_once(':').map(|(_, port)| port.parse::<u16>()) {
            Some(Ok(_)) => Ok(NameNodeAddress { id: String::new(), address: address.to_owned() }),
            _ => Err(Failure::usage(format!(
                "{given} is no HTTP address of a NameNode; write it as HOST:PORT, with port 9870 by default"
            ))),
        }
    };
    given.iter().map(address).collect()
}

/// The figures of a first sample; a failure if no NameNode answers.
fn first(sampler: &Sampler, history: &mut History) -> Outcome<Figures> {
    let figures = history.take(&sampler.sample());
    if figures.shown.is_some() {
        return Ok(figures);
    }
    // Errors of HTTP name the address, too.
    let problems = figures.name_nodes.iter().map(|node| match node.problem.as_deref() {
        Some(problem) if problem.contains(&node.address) => problem.to_owned(),
        problem => format!("{}: {}", node.address, problem.unwrap_or("no answer")),
    });
    Err(Failure::io(problems.collect::<Vec<_>>().join("; ")))
}

/// Samples until rates are known.
fn with_rates(sampler: &Sampler, interval: Duration) -> Outcome<Figures> {
    let begun = clock::now();
    let mut history = History::default();
    let mut figures = first(sampler, &mut history)?;
    while !history.is_settled() && clock::since(begun) < RATES_MAX {
        clock::sleep_thread(interval);
        figures = history.take(&sampler.sample());
    }
    match figures.shown {
        Some(_) => Ok(figures),
        None => Err(Failure::io("no NameNode answers any longer")),
    }
}

/// Shows figures until a key or a signal ends it. A NameNode that takes long does not hold up keys.
fn watch(sampler: Sampler, mut history: History, first: Figures, interval: Duration) -> Outcome {
    let stop = stop_on_signals()?;
    let (sender, receiver) = mpsc::channel();
    let _ = sender.send(first);
    std::thread::spawn(move || {
        loop {
            clock::sleep_thread(interval);
            if sender.send(history.take(&sampler.sample())).is_err() {
                return;
            }
        }
    });
    terminal::show(&receiver, &stop)
        .map_err(|error| Failure::io(format!("the terminal: {error}; --once and --json take none")))
}

/// What a signal sets that ends the process.
fn stop_on_signals() -> Outcome<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = runtime.block_on(async { Stop::new() })?;
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        runtime.block_on(signals.wait());
        flag.store(true, Ordering::Relaxed);
    });
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_intervals_that_make_no_sense_are_refused() {
        let of = |given: &str| {
            let found = namenodes_of(&Settings::default(), &[given.to_owned()]);
            found.map(|found| found[0].address.clone())
        };
        assert_eq!(of("http://h:9870/").unwrap(), "h:9870");
        assert_eq!(of("[::1]:9870").unwrap(), "[::1]:9870");
        for given in ["h", "h:", "h:x", "https://h:9871", "/"] {
            assert!(of(given).is_err(), "{given}");
        }
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        for text in ["", "0", "-1", "NaN", "1e9"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
