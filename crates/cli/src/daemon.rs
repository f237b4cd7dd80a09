//! `namenode` and `datanode`: one daemon in this process, until a signal ends it.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use zerohop_conf::{Conf, ineffective_keys, keys, unknown_keys};
use zerohop_datanode::{DataNode, StartOption as DataNodeStart};
use zerohop_failover::Controller;
use zerohop_namenode::{BootstrapError, BootstrapStandby, FormatOptions, NameNode, StartOption};

use crate::failure::{Failure, Outcome, complain};
use crate::file_copier;
use crate::log;
use crate::recovery;
use crate::settings::Settings;
use crate::stop::Stop;
use crate::webhdfs;

pub const NAMENODE_USAGE: &str =
    "Usage: namenode [-regular | -observer] [--zkfc] | [-format [-clusterid ID] [-force] [-nonInteractive]] | [-rollingUpgrade <rollback|started>]
\t| [-initializeSharedEdits [-force] [-nonInteractive]] | [-bootstrapStandby [-force] [-nonInteractive] [-skipSharedEditsCheck]]
\t| [-recover [-force]]
\t-initializeSharedEdits formats the JournalNodes of dfs.namenode.shared.edits.dir and copies the edits there.
\t-bootstrapStandby makes this NameNode a standby of another one that runs.
\t-observer starts as an observer: it follows the edits and answers reads.
\t-recover saves an image of what can be read of damaged edits; it asks what to do about each damage, unless -force takes the first choice.
\t--zkfc runs the failover controller in this process, for machines with little memory.
\tThe configuration comes from --config DIR or HADOOP_CONF_DIR, single values from -D KEY=VALUE.";
pub const DATANODE_USAGE: &str = "Usage: datanode [-regular] | [-rollback]
\t-rollback brings back the replicas that were deleted since a rolling upgrade was prepared.
\tThe configuration comes from --config DIR or HADOOP_CONF_DIR, single values from -D KEY=VALUE.";

/// What to do with a NameNode.
enum Start {
    Run { option: StartOption, has_controller: bool },
    Format { options: FormatOptions, ask: bool },
    InitializeSharedEdits { force: bool, ask: bool },
    BootstrapStandby(Bootstrap),
    Recover { force: bool },
    Help,
}

/// How a standby is made.
struct Bootstrap {
    force: bool,
    ask: bool,
    checks_edits: bool,
}

pub fn namenode(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take_all(&mut words) {
        return complain("namenode", &failure);
    }
    let run = || match namenode_start(&words)? {
        Start::Help => {
            sayln!("{NAMENODE_USAGE}");
            Ok(0)
        }
        Start::Format { options, ask } => format(&settings.load()?, options, ask),
        Start::InitializeSharedEdits { force, ask } => {
            initialize_shared_edits(&settings.load()?, force, ask)
        }
        Start::BootstrapStandby(how) => bootstrap_standby(&settings.load()?, &how),
        Start::Recover { force } => recovery::run(&settings.load()?, force),
        Start::Run { option, has_controller } => {
            let conf = Arc::new(settings.load()?);
            log_warnings(&conf);
            serve(async move {
                let node = NameNode::start_with(conf.clone(), option).await.map_err(not_started)?;
                file_copier::offer(&node, &conf);
                webhdfs::serve_namenode(&node, &conf)?;
                tracing::info!(
                    "NameNode serves RPC on {} and HTTP on {}",
                    node.rpc_addr(),
                    node.http_addr()
                );
                let controller = match has_controller {
                    true => Some(Controller::start(conf).await.map_err(Failure::of)?),
                    false => None,
                };
                let mut stop = Stop::new()?;
                let cause = tokio::select! {
                    cause = stop.wait() => cause,
                    // What the log has lost must not be served, so nothing is stopped in order.
                    reason = node.failed() => return Err(Failure::io(reason)),
                };
                tracing::info!("stopping on {}", cause.name());
                let stopped = async move {
                    // The other NameNode takes over before this one is gone.
                    if let Some(controller) = controller {
                        controller.stop().await;
                    }
                    node.stop().await;
                };
                end(&mut stop, stopped).await;
                Ok(0)
            })
        }
    };
    run().unwrap_or_else(|failure| complain("namenode", &failure))
}

/// A directory that is not there yet is most often one that was not formatted.
fn not_started(error: impl std::fmt::Display) -> Failure {
    let text = error.to_string();
    match text.contains("does not exist or is not accessible") {
        true => Failure::io(format!("{text}; `zerohop namenode -format' makes a new file system")),
        false => Failure::io(text),
    }
}

fn namenode_start(words: &[String]) -> Outcome<Start> {
    let mut options = FormatOptions::default();
    let (mut ask, mut checks_edits) = (true, true);
    let mut verb = None;
    let mut option = StartOption::Regular;
    let mut has_controller = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        // Apache's options have one dash; ours take two as well.
        match word.trim_start_matches('-').to_ascii_lowercase().as_str() {
            "regular" => {}
            "observer" => option = StartOption::Observer,
            "format" => verb = Some(Verb::Format),
            "initializesharededits" => verb = Some(Verb::InitializeSharedEdits),
            "bootstrapstandby" => verb = Some(Verb::BootstrapStandby),
            "recover" => verb = Some(Verb::Recover),
            "skipsharededitscheck" => checks_edits = false,
            "force" => options.force = true,
            "noninteractive" => ask = false,
            "zkfc" => has_controller = true,
            "clusterid" => {
                let id = words.next().filter(|id| !id.starts_with('-'));
                let id = id.ok_or_else(|| {
                    Failure::usage("Must specify a valid cluster ID after -clusterid")
                })?;
                options.cluster_id = Some(id.clone());
            }
            "rollingupgrade" => option = rolling_upgrade(words.next())?,
            "h" | "help" => return Ok(Start::Help),
            _ => {
                return Err(Failure::usage(format!(
                    "{word} is not supported here\n{NAMENODE_USAGE}"
                )));
            }
        }
    }
    let force = options.force;
    Ok(match verb {
        None => Start::Run { option, has_controller },
        Some(Verb::Format) => Start::Format { options, ask },
        Some(Verb::InitializeSharedEdits) => Start::InitializeSharedEdits { force, ask },
        Some(Verb::Recover) => Start::Recover { force },
        Some(Verb::BootstrapStandby) => {
            Start::BootstrapStandby(Bootstrap { force, ask, checks_edits })
        }
    })
}

/// What is done in place of running.
enum Verb {
    Format,
    InitializeSharedEdits,
    BootstrapStandby,
    Recover,
}

/// The word behind `-rollingUpgrade` (`RollingUpgradeStartupOption`).
fn rolling_upgrade(word: Option<&String>) -> Outcome<StartOption> {
    match word.map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("rollback") => Ok(StartOption::RollingUpgradeRollback),
        Some("started") => Ok(StartOption::RollingUpgradeStarted),
        Some("downgrade") => Err(Failure::usage(
            "The \"downgrade\" option is no longer supported since it may incorrectly finalize an ongoing rolling upgrade. \
             To downgrade, start the older release without -rollingUpgrade",
        )),
        _ => {
            Err(Failure::usage("Must specify a rolling upgrade startup option <rollback|started>"))
        }
    }
}

/// Formats the name directories and the shared edits; what holds data is emptied only after a yes or with -force.
fn format(conf: &Conf, mut options: FormatOptions, ask: bool) -> Outcome<i32> {
    log::to_stderr();
    check_format_allowed(conf)?;
    // What must not be formatted again is refused below, with or without a yes.
    if !options.force && !conf.get(&keys::DFS_REFORMAT_DISABLED)? {
        let data = NameNode::data_before_format(conf).map_err(|e| Failure::io(e.to_string()))?;
        if !may_format(&data, options.force, ask)? {
            return Ok(1);
        }
        options.force = !data.is_empty();
    }
    NameNode::format(conf, options).map_err(|error| Failure::io(error.to_string()))?;
    Ok(0)
}

fn check_format_allowed(conf: &Conf) -> Outcome {
    match conf.get(&keys::DFS_NAMENODE_SUPPORT_ALLOW_FORMAT)? {
        true => Ok(()),
        false => {
            Err(Failure::io("dfs.namenode.support.allow.format is false, so nothing is formatted"))
        }
    }
}

/// Asks for each place that holds data, unless `force` or a lack of anybody to `ask` decides.
pub fn may_format(data: &[String], force: bool, ask: bool) -> Outcome<bool> {
    for place in data {
        if force {
            noteln!("Data exists in {place}. Formatting anyway.");
        } else if !ask {
            noteln!(
                "Running in non-interactive mode, and data appears to exist in {place}. Not formatting."
            );
            return Ok(false);
        } else if !agreed(place)? {
            noteln!("Format aborted in {place}");
            return Ok(false);
        }
    }
    Ok(true)
}

fn agreed(place: &str) -> Outcome<bool> {
    note!("Re-format filesystem in {place} ? (Y or N) ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Copies the edits of a NameNode that was alone to the JournalNodes.
fn initialize_shared_edits(conf: &Conf, force: bool, ask: bool) -> Outcome<i32> {
    log::to_stderr();
    let failed = |error: zerohop_namenode::Error| Failure::io(error.to_string());
    let data = NameNode::shared_edits_with_data(conf).map_err(failed)?;
    if !may_format(data.as_slice(), force, ask)? {
        return Ok(1);
    }
    let last = NameNode::initialize_shared_edits(conf).map_err(failed)?;
    tracing::info!("The shared edits go up to transaction {last}");
    Ok(0)
}

/// Makes this NameNode a standby of another one that runs.
fn bootstrap_standby(conf: &Conf, how: &Bootstrap) -> Outcome<i32> {
    log::to_stderr();
    check_format_allowed(conf)?;
    let refused = |error: BootstrapError| {
        tracing::error!("{error}");
        Ok(error.exit_code())
    };
    let found = match serve(async { Ok(BootstrapStandby::find(conf).await) })? {
        Ok(found) => found,
        Err(error) => return refused(error),
    };
    sayln!("{found}");
    let data = found.data_before_format().map_err(|error| Failure::io(error.to_string()))?;
    if !may_format(&data, how.force, how.ask)? {
        // Apache's code for it.
        return Ok(5);
    }
    match found.run(how.checks_edits) {
        Ok(()) => Ok(0),
        Err(error) => refused(error),
    }
}

pub fn datanode(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take_all(&mut words) {
        return complain("datanode", &failure);
    }
    let run = || {
        let Some(option) = datanode_start(&words)? else {
            sayln!("{DATANODE_USAGE}");
            return Ok(0);
        };
        let conf = Arc::new(settings.load()?);
        log_warnings(&conf);
        serve(async move {
            let node = DataNode::start_with(conf.clone(), option).await;
            let node = node.map_err(|e| Failure::io(e.to_string()))?;
            webhdfs::serve_datanode(&node, &conf)?;
            tracing::info!(
                "DataNode serves data on {} and RPC on {}",
                node.data_addr(),
                node.ipc_addr()
            );
            let mut stop = Stop::new()?;
            let cause = tokio::select! {
                cause = stop.wait() => cause,
                error = node.failed() => {
                    let asked = matches!(error, zerohop_datanode::Error::ShutDown);
                    tracing::info!("stopping: {error}");
                    end(&mut stop, node.stop()).await;
                    return if asked { Ok(0) } else { Err(Failure::io(error.to_string())) };
                }
            };
            tracing::info!("stopping on {}", cause.name());
            end(&mut stop, node.stop()).await;
            Ok(0)
        })
    };
    run().unwrap_or_else(|failure| complain("datanode", &failure))
}

/// How the DataNode is to be started; none if its usage is to be shown.
fn datanode_start(words: &[String]) -> Outcome<Option<DataNodeStart>> {
    let mut option = DataNodeStart::Regular;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.trim_start_matches('-').to_ascii_lowercase().as_str() {
            "regular" => {}
            "rollback" => option = DataNodeStart::Rollback,
            // Apache's usage names it, too.
            "rollingupgrade" if words.next().is_some_and(|word| word == "rollback") => {
                option = DataNodeStart::Rollback;
            }
            "h" | "help" => return Ok(None),
            _ => {
                return Err(Failure::usage(format!(
                    "{word} is not supported here\n{DATANODE_USAGE}"
                )));
            }
        }
    }
    Ok(Some(option))
}

/// Logs to standard error from here on, and what is to be said of the configuration.
pub fn log_warnings(conf: &Conf) {
    log::to_stderr();
    log_warnings_of(conf);
}

/// Logs a line for each key that is deprecated, has no effect or is unknown.
pub fn log_warnings_of(conf: &Conf) {
    let (ineffective, unknown) = (ineffective_keys(conf), unknown_keys(conf));
    for warning in conf.warnings().iter().chain(&ineffective).chain(&unknown) {
        tracing::warn!("{warning}");
    }
}

/// Stops in order; another signal ends the process at once.
pub async fn end(stop: &mut Stop, ending: impl Future<Output = ()> + Send + 'static) {
    if let Some(cause) = stop.unless_again(ending).await {
        tracing::warn!("{} while stopping: ending at once", cause.name());
        std::process::exit(cause.exit_code());
    }
}

/// Runs a daemon on a runtime of its own.
pub fn serve<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_secs(2));
    result
}
