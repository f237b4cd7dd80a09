//! `zkfc`: the failover controller beside a NameNode, until a signal ends it; `-formatZK` makes its place in ZooKeeper.

use std::sync::Arc;

use zerohop_conf::Conf;
use zerohop_failover::{
    Controller, StartError, ZooKeeperOptions, is_formatted, make_znode, remove_znode,
};

use crate::confirm::confirmed;
use crate::daemon::{end, log_warnings, serve};
use crate::failure::{Failure, Outcome, complain};
use crate::log;
use crate::settings::Settings;
use crate::stop::Stop;

pub const USAGE: &str = "Usage: zkfc [ -formatZK [-force] [-nonInteractive] ]
\tWatches the NameNode on this machine, and makes it active when it gets the lock in ZooKeeper (ha.zookeeper.quorum).
\t-formatZK: makes the place of the name service in ZooKeeper.
\t-force: formats the znode if the znode exists.
\t-nonInteractive: formats the znode aborts if the znode exists,
\tunless -force option is specified.
Exit codes: 2 not formatted; 3 -formatZK is needed first; 4 no fencing method; 5 failover is not automatic;
6 no ZooKeeper server answers.";

/// What Apache's controller ends with if the answer was no.
const DENIED: i32 = 2;

enum Start {
    Run,
    Format { force: bool, ask: bool },
    Help,
}

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take_all(&mut words) {
        return complain("zkfc", &failure);
    }
    let run = || match parse(&words)? {
        Start::Help => {
            sayln!("{USAGE}");
            Ok(0)
        }
        Start::Format { force, ask } => {
            let conf = settings.load()?;
            log::to_stderr();
            serve(async move { Ok(format(&conf, force, ask).await.unwrap_or_else(refused)) })
        }
        Start::Run => {
            let conf = Arc::new(settings.load()?);
            log_warnings(&conf);
            serve(async move {
                match Controller::start(conf).await {
                    Ok(controller) => attend(controller).await,
                    Err(error) => Ok(refused(error)),
                }
            })
        }
    };
    run().unwrap_or_else(|failure| complain("zkfc", &failure))
}

fn parse(words: &[String]) -> Outcome<Start> {
    let mut start = Start::Run;
    for word in words {
        let word = word.trim_start_matches('-').to_ascii_lowercase();
        match (word.as_str(), &mut start) {
            ("formatzk", Start::Run) => start = Start::Format { force: false, ask: true },
            ("force", Start::Format { force, .. }) => *force = true,
            ("noninteractive", Start::Format { ask, .. }) => *ask = false,
            ("h" | "help", _) => return Ok(Start::Help),
            _ => return Err(Failure::usage(format!("Bad argument: {word}\n{USAGE}"))),
        }
    }
    Ok(start)
}

fn refused(error: StartError) -> i32 {
    noteln!("zkfc: {error}");
    error.exit_code()
}

async fn attend(controller: Controller) -> Outcome<i32> {
    tracing::info!("failover controller serves RPC on {}", controller.rpc_addr());
    let mut stop = Stop::new()?;
    let cause = stop.wait().await;
    tracing::info!("stopping on {}", cause.name());
    end(&mut stop, controller.stop()).await;
    Ok(0)
}

async fn format(conf: &Conf, force: bool, ask: bool) -> Result<i32, StartError> {
    let target = Controller::target(conf)?;
    let options = ZooKeeperOptions::from_conf(target.conf(), &target.id().nameservice)?;
    let client = options.connect().await?;
    if is_formatted(&options, &client).await? {
        let may_be_cleared = force || (ask && may_be_cleared(options.znode()));
        if !may_be_cleared {
            noteln!("zkfc: {} exists, and was left as it is; -force clears it", options.znode());
            return Ok(DENIED);
        }
        remove_znode(&options, &client).await?;
    }
    make_znode(&options, &client).await?;
    sayln!("Successfully created {} in ZK.", options.znode());
    Ok(0)
}

fn may_be_cleared(znode: &str) -> bool {
    noteln!(
        "===============================================
The configured parent znode {znode} already exists.
Are you sure you want to clear all failover information from
ZooKeeper?
WARNING: Before proceeding, ensure that all HDFS services and
failover controllers are stopped!
==============================================="
    );
    confirmed(&format!("Proceed formatting {znode}?"))
}
