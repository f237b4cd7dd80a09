//! `up`: a whole HDFS in one process.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use zerohop_system::clock;

use clap::Args;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use zerohop_client::User;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::running::Announcement;

use crate::cluster::{Addresses, Cluster, Plan, names_a_place};
use crate::daemon;
use crate::descendants::Descendants;
use crate::failure::{Failure, Outcome, complain};
use crate::ha::up::{HaCluster, HaPlan};
use crate::log;
use crate::rest::Rest;
use crate::say::mention;
use crate::settings::Settings;
use crate::stop::{Cause, Stop};
use crate::temporary;

/// Options of `up`.
#[derive(Args, Clone)]
pub struct Up {
    /// Directory for data, log and client configuration, kept across restarts; without it everything
    /// goes to a temporary directory that is removed when the cluster stops
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Number of DataNodes, by default as many as the directory had before, else 1; files get as many replicas, at most 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    datanodes: Option<u16>,
    /// RPC port of the NameNode; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 8020)]
    port: u16,
    /// Port of the NameNode's web pages; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 9870)]
    http_port: u16,
    /// Port of the REST gateway (WebHDFS, HttpFS, Hoop), by default 14000, or any free one where that is taken; 0 takes any
    /// free one
    #[arg(long, value_name = "PORT")]
    rest_port: Option<u16>,
    /// Two NameNodes, three JournalNodes and the DataNodes as processes of their own on this machine, for failover; the second
    /// NameNode has the next ports
    #[arg(long)]
    ha: bool,
    /// ZooKeeper servers for automatic failover with --ha, as HOST:PORT,HOST:PORT; without them failover is by hand
    #[arg(long, value_name = "HOST:PORT,...", value_delimiter = ',', requires = "ha")]
    zookeeper: Vec<String>,
    /// Address to listen on; 0.0.0.0 for all of this machine. DataNodes then use Hadoop's ports: 9864, 9866 and
    /// 9867, and 10 more for each further one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", conflicts_with = "ha")]
    bind: String,
    /// Address or name by which other machines reach this one; by default that of --bind, or one of this
    /// machine's
    #[arg(long, value_name = "HOST", conflicts_with = "ha")]
    advertise: Option<String>,
    /// Run this command by sh when the cluster serves, HADOOP_CONF_DIR set; then stop with its exit code
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
}

/// Said where other machines can connect.
const OPEN_TO_ALL: &str = "up: warning: other machines can connect, and no user is authenticated: every client that reaches \
    these ports can read, change and delete every file under any user's name";

pub fn run(settings: Settings, options: Up) -> i32 {
    work(&settings, &options).unwrap_or_else(|failure| complain("up", &failure))
}

/// The directory of the cluster; a temporary one is removed with this.
struct Home {
    path: PathBuf,
    temporary: Option<TempDir>,
}

impl Home {
    fn open(data: Option<&Path>) -> Outcome<Home> {
        let Some(data) = data else {
            let made = tempfile::Builder::new().prefix("zerohop-").tempdir()?;
            return Ok(Home { path: made.path().to_owned(), temporary: Some(made) });
        };
        std::fs::create_dir_all(data).map_err(|error| not_a_home("make", data, &error))?;
        let path = data.canonicalize().map_err(|error| not_a_home("open", data, &error))?;
        Ok(Home { path, temporary: None })
    }
}

/// Fails if the directory has a cluster of the other kind, whose DataNodes would refuse this one's NameNode.
fn check_kind(directory: &Path, is_ha: bool) -> Outcome {
    let has = |name: &str| directory.join(name).join("current").is_dir();
    let (one, pair) = (has("name"), has("nn1"));
    let advice = match is_ha {
        true if one && !pair => "a cluster with one NameNode: start it without --ha",
        false if pair && !one => "a cluster with two NameNodes: start it with --ha",
        _ => return Ok(()),
    };
    let directory = directory.display();
    Err(Failure::io(format!("{directory} holds {advice}, or name another directory with --data")))
}

fn not_a_home(verb: &str, data: &Path, error: &std::io::Error) -> Failure {
    let data = data.display();
    Failure::io(format!("cannot {verb} {data}: {error}; name a directory of yours with --data"))
}

fn work(settings: &Settings, options: &Up) -> Outcome<i32> {
    let start = clock::now();
    let advertised = options.advertise.as_deref();
    let addresses = Addresses::new(&options.bind, advertised, options.port, options.http_port)?;
    let home = Home::open(options.data.as_deref())?;
    check_kind(&home.path, options.ha)?;
    log::to_file(&home.path.join("zerohop.log"))?;
    let plan = Plan {
        directory: home.path.clone(),
        addresses,
        datanodes: options.datanodes.map_or_else(|| datanodes_before(&home.path), usize::from),
        values: values(settings)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        match options.ha {
            true => serve_ha(ha_plan(plan, options), options, &home, start).await,
            false => serve(plan, options, &home, start).await,
        }
    });
    // Blocked threads of a broken disk must not keep the process.
    match code {
        Ok(ClusterEnd { at_once: true, .. }) => runtime.shutdown_background(),
        _ => runtime.shutdown_timeout(Duration::from_secs(2)),
    }
    if let Some(directory) = home.temporary {
        temporary::remove(directory);
    }
    code.map(|end| end.code)
}

/// How the cluster ended.
struct ClusterEnd {
    code: i32,
    /// Something may still be at work: a signal came while it was stopped.
    at_once: bool,
}

/// DataNodes whose data lies in the directory; without them replicas would lack after a restart.
fn datanodes_before(directory: &Path) -> usize {
    (1..=64).take_while(|number| directory.join(format!("data{number}")).is_dir()).count().max(1)
}

/// What --config, -conf and -D say, as values over the cluster's own. Files may have been written for
/// another cluster: where that one's parts are does not count here, unless -D says it.
fn values(settings: &Settings) -> Outcome<Vec<(String, String)>> {
    let mut conf = zerohop_conf::Conf::new();
    if let Some(directory) = &settings.directory {
        conf = zerohop_conf::Conf::load(directory)?;
    }
    for file in &settings.files {
        conf.add_file(file)?;
    }
    let mut whole = conf.clone();
    settings.values.iter().for_each(|(name, value)| whole.set_option(name, value));
    daemon::log_warnings_of(&whole);
    let of_files = conf.iter().filter(|(name, _)| !names_a_place(name));
    let of_files = of_files.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Ok(of_files.chain(settings.values.iter().cloned()).collect())
}

async fn serve(plan: Plan, options: &Up, home: &Home, start: Instant) -> Outcome<ClusterEnd> {
    let mut stop = Stop::new()?;
    let cluster = tokio::select! {
        started = Cluster::start(plan) => started?,
        signal = stop.wait() => return Ok(ClusterEnd { code: signal.exit_code(), at_once: false }),
    };
    if cluster.is_open() {
        noteln!("{OPEN_TO_ALL}");
    }
    let conf_directory = home.path.join("conf");
    let descendants = Descendants::from_now();
    let begun = cluster.write_client_conf(&conf_directory).and_then(|()| {
        let rest = cluster.start_rest(options.rest_port)?;
        let command = options.exec.as_ref();
        let (uri, url) = (cluster.uri(), cluster.rest_url(&rest));
        let command = command.map(|command| begin(command, &uri, &url, &conf_directory));
        Ok((rest, command.transpose()?))
    });
    let mut cause = None;
    let mut left = false;
    let mut serving = None;
    let result = match begun {
        Err(failure) => Err(failure),
        Ok((rest, mut command)) => {
            let mut _announced = None;
            if command.is_none() {
                make_home_directory(&cluster).await;
                _announced = Announcement::make(&conf_directory)
                    .inspect_err(|error| {
                        tracing::warn!("other commands do not find this cluster: {error}")
                    })
                    .ok();
                announce(&cluster, &rest, home, &conf_directory, clock::since(start));
            }
            serving = Some(rest);
            left = command.is_some();
            tokio::select! {
                code = ended(&mut command) => {
                    left = false;
                    code
                }
                signal = stop.wait() => {
                    cause = Some(signal);
                    Ok(if left { signal.exit_code() } else { 0 })
                }
                failure = cluster.failure() => Err(failure),
            }
        }
    };
    let ending = end(cluster, serving, left.then(|| descendants.clone()), cause);
    match stop.unless_again(ending).await {
        None => result.map(|code| ClusterEnd { code, at_once: false }),
        Some(signal) => {
            if left {
                descendants.kill_all();
            }
            Ok(ClusterEnd { code: signal.exit_code(), at_once: true })
        }
    }
}

fn ha_plan(plan: Plan, options: &Up) -> HaPlan {
    HaPlan {
        directory: plan.directory,
        datanodes: plan.datanodes,
        port: options.port,
        http_port: options.http_port,
        zookeeper: options.zookeeper.clone(),
        values: plan.values,
    }
}

/// As [`serve`], with processes that may end and be started again while the cluster runs.
async fn serve_ha(plan: HaPlan, options: &Up, home: &Home, start: Instant) -> Outcome<ClusterEnd> {
    let mut stop = Stop::new()?;
    let mut cluster = tokio::select! {
        started = HaCluster::start(plan) => started?,
        signal = stop.wait() => return Ok(ClusterEnd { code: signal.exit_code(), at_once: false }),
    };
    let conf = cluster.client_directory();
    let rest = Rest::start(cluster.client_conf(), cluster.listen(), options.rest_port)?;
    let rest_url = format!("{}://{}", rest.scheme(), rest.address());
    let descendants = Descendants::from_now();
    let command = options.exec.as_deref();
    let mut command = command.map(|text| begin(text, "hdfs://ha", &rest_url, &conf)).transpose()?;
    let mut _announced = None;
    if command.is_none() {
        _announced = Announcement::make(&conf).ok();
        mention(format_args!("serves after {} ms", clock::since(start).as_millis()));
        for line in cluster.lines().await {
            mention(format_args!("{line}"));
        }
        mention(format_args!("rest  {rest_url}/webhdfs/v1/"));
        mention(format_args!("data  {}", home.path.display()));
        mention(format_args!("use   zerohop fs -ls /            (in any terminal of yours)"));
        mention(format_args!("      {}", curl_line(&rest_url)));
        mention(format_args!("stop  Ctrl-C"));
    }
    let mut cause = None;
    let has_command = command.is_some();
    let code = loop {
        tokio::select! {
            code = ended(&mut command) => break code?,
            signal = stop.wait() => {
                cause = Some(signal);
                break if has_command { signal.exit_code() } else { 0 };
            }
            // That is what such a cluster is for.
            line = cluster.ended() => mention(format_args!("{line}")),
        }
    };
    let left = (has_command && cause.is_some()).then(|| descendants.clone());
    let ending = async move {
        if let Some(left) = left {
            left.end_all(cause).await;
        }
        rest.finish().await;
        cluster.stop().await;
    };
    match stop.unless_again(ending).await {
        None => Ok(ClusterEnd { code, at_once: false }),
        Some(signal) => {
            Descendants::everything().kill_all();
            Ok(ClusterEnd { code: signal.exit_code(), at_once: true })
        }
    }
}

/// Stops the cluster, and before that what the command left running: it may need the cluster to put
/// its files in order. What a NameNode has lost must not be served for that.
async fn end(
    cluster: Cluster,
    rest: Option<Rest>,
    left: Option<Descendants>,
    cause: Option<Cause>,
) {
    let lost = cluster.is_lost().await;
    let mut cluster = Some(cluster);
    if lost && let Some(cluster) = cluster.take() {
        cluster.stop().await;
    }
    if let Some(left) = left {
        left.end_all(cause).await;
    }
    if let Some(rest) = rest.filter(|_| !lost) {
        rest.finish().await;
    }
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
}

/// Makes the home directory of the user who runs the cluster: relative paths lie there.
async fn make_home_directory(cluster: &Cluster) {
    let conf = cluster.client_conf();
    let made = tokio::task::spawn_blocking(move || {
        let fs = FileSystem::connect(&conf, None)?;
        fs.mkdirs(&fs.home())
    });
    // Safe mode that stays on, or a quota: the cluster serves all the same.
    if let Ok(Err(error)) = made.await {
        tracing::warn!("the home directory of this user was not made: {error}");
    }
}

fn announce(cluster: &Cluster, rest: &Rest, home: &Home, conf: &Path, took: Duration) {
    let count = cluster.datanode_count();
    let nodes = if count == 1 { "1 DataNode".to_owned() } else { format!("{count} DataNodes") };
    let kept = match home.temporary {
        Some(_) => "temporary: removed when the cluster stops; --data DIR keeps it",
        None => "kept across restarts",
    };
    mention(format_args!("{}  serves after {} ms ({nodes})", cluster.uri(), took.as_millis()));
    mention(format_args!("web   http://{}/", cluster.http_address()));
    let rest = cluster.rest_url(rest);
    mention(format_args!("rest  {rest}/webhdfs/v1/ (WebHDFS, HttpFS and Hoop)"));
    mention(format_args!("data  {} ({kept})", home.path.display()));
    mention(format_args!("log   {}", home.path.join("zerohop.log").display()));
    mention(format_args!("use   zerohop fs -ls /            (in any terminal of yours)"));
    mention(format_args!("      {}", curl_line(&rest)));
    mention(format_args!("      export HADOOP_CONF_DIR={}", conf.display()));
    if cluster.is_open() {
        mention(format_args!("      zerohop fs -fs {} -ls /   (on other machines)", cluster.uri()));
    }
    mention(format_args!("stop  Ctrl-C"));
}

/// Lists the root by the gateway.
fn curl_line(rest_url: &str) -> String {
    let user = User::of_process().name;
    format!("curl '{rest_url}/webhdfs/v1/?op=LISTSTATUS&user.name={user}'")
}

fn begin(command: &str, uri: &str, rest_url: &str, conf: &Path) -> Outcome<Child> {
    Command::new("/bin/sh")
        .args(["-c", command])
        .env("HADOOP_CONF_DIR", conf)
        .env("ZEROHOP_URI", uri)
        .env("ZEROHOP_REST", rest_url)
        .env("PATH", path_with_us())
        .spawn()
        .map_err(|error| Failure::io(format!("cannot run /bin/sh: {error}")))
}

/// The exit code of the command; never where there is none.
async fn ended(command: &mut Option<Child>) -> Outcome<i32> {
    match command {
        Some(command) => Ok(exit_code(command.wait().await?)),
        None => std::future::pending().await,
    }
}

/// Our own directory at the end of the path, so that the command finds this binary and links to it.
fn path_with_us() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let own = std::env::current_exe().ok();
    directories.extend(own.as_deref().and_then(Path::parent).map(Path::to_owned));
    std::env::join_paths(directories).unwrap_or(path)
}

fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}
