//! `bench rest`: a gateway of its own, or a server that is running.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zerohop_bench::Row;
use zerohop_bench::rest::{
    self, Args, GATEWAY, RestPlan, Service, Shell, USAGE, permit_open_files,
};
use zerohop_bench::{WatchedProcess, directories};
use zerohop_client::User;
use zerohop_system::clock;

use super::cluster;
use super::output::{print, progress};
use crate::failure::{EXIT_USAGE, Failure, Outcome, complain};
use crate::settings::Settings;

/// How long the gateway may take to listen.
const START_MAX: Duration = Duration::from_secs(60);
/// What the gateway logs in front of its address.
const SERVES: &str = "the gateway serves REST on ";

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take(&mut words) {
        return complain("bench rest", &failure);
    }
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let args = match Args::parse(&words) {
        Ok(args) => args,
        Err(problem) => {
            noteln!("bench rest: {problem}\n{USAGE}");
            return EXIT_USAGE;
        }
    };
    measure(&settings, &args, &words).unwrap_or_else(|failure| complain("bench rest", &failure))
}

fn measure(settings: &Settings, args: &Args, words: &[String]) -> Outcome<i32> {
    if args.url.is_none() && cluster::find(settings)?.is_none() {
        return cluster::run_on_own(settings, 1, "bench rest", words);
    }
    permit_open_files();
    let local = args.local_directory.clone().or_else(directories::own_home);
    let local = local.unwrap_or_else(std::env::temp_dir);
    let gateway = match &args.url {
        Some(_) => None,
        None => Some(Gateway::start(settings, &local)?),
    };
    let url = args.url.as_ref().or(gateway.as_ref().map(|gateway| &gateway.url));
    let url = url.ok_or_else(|| Failure::io("there is no server"))?;
    let service = Service::find(url, &User::of_process().name).map_err(Failure::of)?;
    let mut plan = RestPlan::new(service, local);
    plan.watched.extend(gateway.as_ref().map(|one| WatchedProcess::new(GATEWAY, one.child.id())));
    // The shell works on the configured cluster, which is not known to be that of a server named by its URL.
    plan.shell = gateway.as_ref().map(|_| Shell::new(of_this_program(settings, &["fs"])));
    args.apply(&mut plan);
    let report = rest::run(&plan, &mut |row: &Row| noteln!("{}", progress(row)));
    print(&report.map_err(Failure::of)?, args.json)
}

/// This program with the settings in front of its words.
fn of_this_program(settings: &Settings, words: &[&str]) -> Vec<OsString> {
    let own = std::env::current_exe().map_or_else(|_| "zerohop".into(), OsString::from);
    let mut all = vec![own];
    if let Some(directory) = &settings.directory {
        all.extend(["--config".into(), directory.into()]);
    }
    for (name, value) in &settings.values {
        all.extend(["-D".into(), format!("{name}={value}").into()]);
    }
    all.extend(words.iter().map(OsString::from));
    all
}

/// A gateway in a process of its own, so that its CPU time and memory are its own; ended when dropped.
struct Gateway {
    child: Child,
    url: String,
}

impl Gateway {
    /// Starts one on a free port. Its log lies in `directory` until it serves.
    fn start(settings: &Settings, directory: &Path) -> Outcome<Self> {
        let words = of_this_program(
            settings,
            &["gateway", "-D", "httpfs.http.hostname=127.0.0.1", "-D", "httpfs.http.port=0"],
        );
        let log = directory.join(format!(".zerohop-bench-gateway-{}", std::process::id()));
        let file = File::create(&log)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let mut gateway = Self { child: command.spawn()?, url: String::new() };
        let address = gateway.wait(&log);
        // It stays open for the gateway.
        let _ = std::fs::remove_file(&log);
        gateway.url = format!("http://{}", address?);
        Ok(gateway)
    }

    fn wait(&mut self, log: &Path) -> Outcome<String> {
        let begun = clock::now();
        loop {
            let said = std::fs::read_to_string(log)?;
            let rest = said.lines().find_map(|line| line.split(SERVES).nth(1));
            let address = rest.and_then(|rest| rest.split_whitespace().next());
            if let Some(address) = address.filter(|_| said.ends_with('\n')) {
                return Ok(address.to_owned());
            }
            if self.child.try_wait()?.is_some() || clock::since(begun) > START_MAX {
                return Err(Failure::io(format!("the gateway does not start:\n{said}")));
            }
            clock::sleep_thread(Duration::from_millis(20));
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
