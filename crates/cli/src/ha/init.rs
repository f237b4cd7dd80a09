//! `init-ha`: a configuration directory for each host of a highly available cluster, with systemd units.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use super::pair::{NameNodeAt, Pair};
use super::site::{write, write_site};
use super::units::{self, Daemon};
use crate::failure::{Failure, Outcome, complain};
use crate::settings::Settings;

/// Options of `init-ha`.
#[derive(Args, Clone)]
pub struct InitHa {
    /// Hosts of the NameNodes: two, or more
    #[arg(long, value_name = "HOST,HOST", value_delimiter = ',', required = true)]
    namenodes: Vec<String>,
    /// Hosts of the JournalNodes: one, three or five
    #[arg(long, value_name = "HOST,...", value_delimiter = ',', required = true)]
    journalnodes: Vec<String>,
    /// Hosts of the DataNodes
    #[arg(long, value_name = "HOST,...", value_delimiter = ',', required = true)]
    datanodes: Vec<String>,
    /// ZooKeeper servers, with :PORT where it is not 2181; without them failover is by hand (zerohop haadmin -failover)
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    zookeeper: Vec<String>,
    /// Name of the file system: clients say hdfs://NAME/
    #[arg(long, value_name = "NAME", default_value = "hdfs")]
    nameservice: String,
    /// Where the directories are written, one for each host
    #[arg(long, value_name = "DIR", default_value = "hdfs-ha")]
    output: PathBuf,
    /// Directory on the hosts below which edits, names and blocks lie
    #[arg(long, value_name = "DIR", default_value = "/var/lib/hdfs")]
    data: String,
    /// Directory on the hosts for the configuration
    #[arg(long, value_name = "DIR", default_value = units::CONF)]
    conf: String,
    /// The program on the hosts
    #[arg(long, value_name = "FILE", default_value = units::BINARY)]
    binary: String,
    /// The user of the daemons
    #[arg(long, value_name = "USER", default_value = units::USER)]
    user: String,
    /// Write over what is there
    #[arg(long)]
    force: bool,
}

pub fn run(settings: &Settings, options: InitHa) -> i32 {
    match write_all(&options, &settings.values) {
        Ok(()) => {
            sayln!("{}", steps(&options));
            0
        }
        Err(failure) => complain("init-ha", &failure),
    }
}

/// Ssh ends a NameNode that hangs. Where it cannot, the JournalNodes let no two write, and the failover goes on.
const FENCING: &str = "sshfence\nshell(/bin/true)";
/// How long ssh may take to connect, ms. The failover to another machine waits for it where the active NameNode's is gone.
const SSH_WITHIN_MS: &str = "3000";

impl InitHa {
    fn check(&self) -> Outcome {
        let lists = [
            ("--namenodes", &self.namenodes),
            ("--journalnodes", &self.journalnodes),
            ("--datanodes", &self.datanodes),
            ("--zookeeper", &self.zookeeper),
        ];
        for (option, hosts) in lists {
            for (at, host) in hosts.iter().enumerate() {
                let is_name = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
                if host.is_empty() || !host.chars().all(is_name) {
                    return Err(Failure::usage(format!("{option}: `{host}' is no host name")));
                }
                if hosts[..at].contains(host) {
                    return Err(Failure::usage(format!("{option}: {host} is named twice")));
                }
            }
        }
        if self.namenodes.len() < 2 {
            return Err(Failure::usage(
                "--namenodes: one NameNode has no other to take over; name two hosts",
            ));
        }
        let count = self.journalnodes.len();
        if count.is_multiple_of(2) {
            return Err(Failure::usage(format!(
                "--journalnodes: {count} JournalNodes survive the loss of no more than {} do; name {} or {}",
                count - 1,
                count - 1,
                count + 1
            )));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.nameservice.is_empty() || !self.nameservice.chars().all(is_name) {
            return Err(Failure::usage(format!(
                "--nameservice: `{}' may only have letters, digits and hyphens",
                self.nameservice
            )));
        }
        Ok(())
    }

    fn pair(&self) -> Pair {
        let namenode = |(at, host): (usize, &String)| NameNodeAt {
            id: format!("nn{}", at + 1),
            rpc: format!("{host}:8020"),
            http: format!("{host}:9870"),
            controller_port: None,
        };
        Pair {
            nameservice: self.nameservice.clone(),
            namenodes: self.namenodes.iter().enumerate().map(namenode).collect(),
            journal_nodes: self.journalnodes.iter().map(|host| format!("{host}:8485")).collect(),
            zookeeper: self.zookeeper.iter().map(|host| with_port(host, 2181)).collect(),
            fencing: FENCING.to_owned(),
        }
    }

    /// The daemons of each host.
    fn hosts(&self) -> BTreeMap<&str, Vec<Daemon>> {
        let controllers: &[String] = if self.zookeeper.is_empty() { &[] } else { &self.namenodes };
        let mut hosts: BTreeMap<&str, Vec<Daemon>> = BTreeMap::new();
        for (names, daemon) in [
            (self.journalnodes.as_slice(), Daemon::JournalNode),
            (&self.namenodes, Daemon::NameNode),
            (controllers, Daemon::Controller),
            (&self.datanodes, Daemon::DataNode),
        ] {
            for host in names {
                hosts.entry(host).or_default().push(daemon);
            }
        }
        hosts
    }

    /// What a host adds to the settings that all share.
    fn own_settings(&self, daemons: &[Daemon]) -> Vec<(String, String)> {
        let mut own = Vec::new();
        let mut set = |name: &str, value: String| own.push((name.to_owned(), value));
        for daemon in daemons {
            match daemon {
                Daemon::JournalNode => {
                    set("dfs.journalnode.edits.dir", format!("{}/journal", self.data));
                }
                Daemon::NameNode => {
                    set("dfs.namenode.name.dir", format!("file://{}/name", self.data));
                }
                Daemon::DataNode => {
                    set("dfs.datanode.data.dir", format!("file://{}/data", self.data));
                }
                Daemon::Controller => {}
            }
        }
        own
    }
}

fn with_port(host: &str, port: u16) -> String {
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { host.to_owned() } else { format!("{host}:{port}") }
}

/// Writes a directory for each host. What is `given` counts more than what follows from the options.
fn write_all(options: &InitHa, given: &[(String, String)]) -> Outcome {
    options.check()?;
    let shared = options.pair().settings();
    let own = [
        ("dfs.replication".to_owned(), options.datanodes.len().min(3).to_string()),
        ("dfs.ha.fencing.ssh.connect-timeout".to_owned(), SSH_WITHIN_MS.to_owned()),
    ];
    let shared: Vec<(String, String)> = shared.into_iter().chain(own).collect();
    let with_given = |mut settings: Vec<(String, String)>| {
        settings.retain(|(name, _)| given.iter().all(|(set, _)| set != name));
        settings.extend_from_slice(given);
        settings
    };
    let taken = options.output.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if taken && !options.force {
        return Err(Failure::io(format!(
            "{} is not empty; name another directory with --output, or give --force",
            options.output.display()
        )));
    }
    for (host, daemons) in options.hosts() {
        let directory = options.output.join(host);
        let own = options.own_settings(&daemons);
        let all = with_given(shared.iter().cloned().chain(own).collect());
        write_site(&directory, pairs(&all))?;
        for daemon in daemons {
            let unit = daemon.unit(&options.binary, &options.conf, &options.user);
            write(&directory.join(daemon.unit_name()), &unit)?;
        }
    }
    write_site(&options.output.join("client"), pairs(&with_given(shared)))
}

fn pairs(settings: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> + Clone {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

/// What is to be done with the directories, in order.
fn steps(options: &InitHa) -> String {
    let (conf, output) = (&options.conf, options.output.display());
    let first = &options.namenodes[0];
    let others = options.namenodes[1..].join(" and ");
    let mut steps = vec![
        format!(
            "copy {output}/HOST to {conf} of each host, its zerohop-*.service to /etc/systemd/system, and the program to {}; \
             user {} of group hadoop must exist and own {}; {output}/client is for clients",
            options.binary, options.user, options.data
        ),
        format!(
            "on {}: systemctl enable --now zerohop-journalnode",
            options.journalnodes.join(", ")
        ),
        format!(
            "on {first}, as {}: zerohop --config {conf} namenode -format; then systemctl enable --now zerohop-namenode",
            options.user
        ),
        format!(
            "on {others}, as {}: zerohop --config {conf} namenode -bootstrapStandby; then systemctl enable --now zerohop-namenode",
            options.user
        ),
    ];
    match options.zookeeper.is_empty() {
        true => steps.push(format!(
            "here: zerohop --config {output}/client haadmin -transitionToActive nn1"
        )),
        false => steps.push(format!(
            "on {first}, as {}: zerohop --config {conf} zkfc -formatZK; then on all NameNodes: systemctl enable --now zerohop-zkfc",
            options.user
        )),
    }
    steps.push(format!(
        "on {}: systemctl enable --now zerohop-datanode",
        options.datanodes.join(", ")
    ));
    steps.push(format!(
        "here: zerohop --config {output}/client haadmin -getAllServiceState; zerohop --config {output}/client fs -ls /"
    ));
    let steps: String =
        steps.iter().enumerate().map(|(at, step)| format!("\n{}. {step}", at + 1)).collect();
    format!("{} hosts are in {output}. Now:{steps}", options.hosts().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::path::Path;
    use zerohop_conf::{Conf, NameNodeId, keys};
    use zerohop_failover::Target;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: InitHa,
    }

    fn options(output: &Path, words: &[&str]) -> InitHa {
        let output = output.display().to_string();
        let mut line = vec!["init-ha", "--output", &output];
        line.extend(words);
        Line::try_parse_from(line).map(|line| line.options).unwrap()
    }

    const PUBLISHED: [&str; 8] =
        ["--namenodes", "a,b", "--journalnodes", "c", "--datanodes", "d,e,f", "--zookeeper", "z"];

    #[test]
    fn each_host_gets_its_daemons_and_all_the_same_cluster() {
        let output = tempfile::tempdir().unwrap();
        let options = options(output.path(), &PUBLISHED);
        write_all(&options, &[]).unwrap();
        let has = |path: &str| output.path().join(path).exists();
        assert!(has("a/zerohop-namenode.service") && has("b/zerohop-zkfc.service"));
        assert!(has("c/zerohop-journalnode.service") && has("f/zerohop-datanode.service"));
        assert!(!has("c/zerohop-namenode.service") && !has("z"));
        for host in ["a", "c", "d", "client"] {
            let conf = Conf::load(output.path().join(host)).unwrap();
            assert_eq!(conf.default_fs().unwrap(), "hdfs://hdfs");
            let ids = NameNodeId::of_pairs(&conf).unwrap();
            let target = Target::new(&conf, ids[1].clone()).unwrap();
            assert_eq!(target.address(), "b:8020");
            assert!(target.is_automatic().unwrap());
            assert_eq!(conf.get(&keys::HA_ZOOKEEPER_QUORUM).unwrap(), ["z:2181"]);
            let ssh_within = conf.get(&keys::DFS_HA_FENCING_SSH_CONNECT_TIMEOUT).unwrap();
            assert_eq!(ssh_within, std::time::Duration::from_secs(3));
        }
        let unit = std::fs::read_to_string(output.path().join("a/zerohop-zkfc.service")).unwrap();
        assert!(unit.contains("ExecStart=/usr/bin/zerohop zkfc\n"), "{unit}");
        // Nothing that is there is lost unasked.
        let error = write_all(&options, &[]).unwrap_err().text;
        assert!(error.contains("--force"), "{error}");
        let steps = steps(&options);
        assert!(steps.contains("-formatZK") && steps.contains("-bootstrapStandby"), "{steps}");
    }

    /// The step that makes a NameNode active named no configuration: "Illegal argument".
    #[test]
    fn each_command_of_the_steps_names_its_configuration() {
        let output = tempfile::tempdir().unwrap();
        let by_hand = &PUBLISHED[..6];
        for words in [&PUBLISHED[..], by_hand] {
            let steps = steps(&options(output.path(), words));
            let commands: Vec<&str> = steps.split("zerohop ").skip(1).collect();
            assert!(commands.len() >= 5, "{steps}");
            let names = |rest: &&str| rest.starts_with("--config ");
            assert!(commands.iter().all(names), "{commands:?}");
        }
    }

    #[test]
    fn one_host_may_have_several_daemons() {
        let output = tempfile::tempdir().unwrap();
        let words = ["--namenodes", "a,b", "--journalnodes", "a,b,c", "--datanodes", "a,c"];
        let given = [("dfs.replication", "1"), ("dfs.blocksize", "1048576")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        write_all(&options(output.path(), &words), &given).unwrap();
        let conf = Conf::load(output.path().join("a")).unwrap();
        assert_eq!(conf.get(&keys::DFS_REPLICATION).unwrap(), 1);
        assert_eq!(conf.get(&keys::DFS_BLOCKSIZE).unwrap(), 1 << 20);
        assert_eq!(conf.get_raw("dfs.journalnode.edits.dir").unwrap(), "/var/lib/hdfs/journal");
        assert_eq!(conf.get_raw("dfs.datanode.data.dir").unwrap(), "file:///var/lib/hdfs/data");
        assert_eq!(conf.get_raw("dfs.ha.automatic-failover.enabled").as_deref(), Some("false"));
    }

    #[test]
    fn what_would_not_work_is_refused_with_the_option() {
        let output = tempfile::tempdir().unwrap();
        let rest = ["--datanodes", "d"];
        for (words, option) in [
            (["--namenodes", "a", "--journalnodes", "c"], "--namenodes"),
            (["--namenodes", "a,a", "--journalnodes", "c"], "--namenodes"),
            (["--namenodes", "a,b", "--journalnodes", "c,d"], "--journalnodes"),
            (["--namenodes", "a,b/..", "--journalnodes", "c"], "--namenodes"),
        ] {
            let words: Vec<&str> = words.into_iter().chain(rest).collect();
            let error = write_all(&options(output.path(), &words), &[]).unwrap_err().text;
            assert!(error.starts_with(option), "{error}");
        }
        assert!(output.path().read_dir().unwrap().next().is_none());
    }
}
