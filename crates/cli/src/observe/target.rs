//! Which process is looked at: by the address of its pages, or by its number on this machine.

use super::sockets::listening;
use crate::failure::{Failure, Outcome};
use crate::http;
use clap::Args;
use std::io::Read;
use std::time::Duration;
use zerohop_profile::PROBE_ANSWER;

const CONNECT_MAX: Duration = Duration::from_secs(10);
/// A port that is no HTTP port may not answer at all.
const PROBE_MAX: Duration = Duration::from_secs(3);
const HINT: &str = "name the HTTP port of a NameNode (9870), DataNode (9864), JournalNode (8480) or gateway (14000)";

/// The process.
#[derive(Args)]
pub struct Target {
    /// HTTP address of the process; http://HOST:PORT is taken, too
    #[arg(value_name = "HOST:PORT", conflicts_with = "pid")]
    address: Option<String>,
    /// A process of this machine, by its number
    #[arg(long, value_name = "N")]
    pid: Option<u32>,
    /// The user for a process with dfs.cluster.administrators; by default who runs this
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl Target {
    /// A process of this machine.
    pub fn of_process(pid: u32) -> Self {
        Self { address: None, pid: Some(pid), user: None }
    }

    /// Host and port where it has this page.
    pub fn address(&self, page: &str) -> Outcome<String> {
        match (&self.address, self.pid) {
            (Some(address), _) if address.starts_with("https://") => Err(Failure::unsupported(
                "this speaks no TLS; fetch the page with another client, as curl -k 'https://HOST:PORT/profile?seconds=10' -o x.svg",
            )),
            (Some(address), _) => {
                let address = address.trim_start_matches("http://");
                Ok(address.split('/').next().unwrap_or_default().to_owned())
            }
            (None, Some(pid)) => of_process(pid, page),
            (None, None) => Err(Failure::usage(format!(
                "no process is named: give HOST:PORT or --pid N; {HINT}"
            ))),
        }
    }

    /// The part of a query that names the user.
    pub fn user_query(&self) -> String {
        let own = || zerohop_client::User::of_process().name.to_string();
        format!("user.name={}", http::escape(&self.user.clone().unwrap_or_else(own)))
    }
}

/// Fetches a page of the process; it may take so long.
pub fn fetch(address: &str, path: &str, patience: Duration) -> Outcome<http::Body> {
    http::get_from(address, path, (CONNECT_MAX, patience), HINT)
}

fn of_process(pid: u32, page: &str) -> Outcome<String> {
    let ports = listening(pid).map_err(|error| {
        Failure::io(format!("process {pid}: {error}; it takes its own user, or root, to see its ports: name them as HOST:PORT"))
    })?;
    let answers = |address: &String| {
        let probe = http::get_from(address, &format!("{page}?probe"), (PROBE_MAX, PROBE_MAX), "");
        let mut answer = String::new();
        probe.is_ok_and(|probe| probe.take(64).read_to_string(&mut answer).is_ok())
            && answer == PROBE_ANSWER
    };
    let found = ports.iter().map(ToString::to_string).find(answers);
    found.ok_or_else(|| {
        let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
        let where_it_listens = match ports.is_empty() {
            true => "it listens on no port".to_owned(),
            false => format!("none of its ports answers {page} ({})", ports.join(", ")),
        };
        Failure::io(format!(
            "process {pid}: {where_it_listens}; is it a daemon of zerohop? A port in another network namespace or with TLS is reached \
             from there or by another client only"
        ))
    })
}
