//! `haadmin`: states of the NameNodes of a name service, and failover, with the words, the output and the exit codes of
//! Apache's `hdfs haadmin`.

mod commands;

use std::future::Future;

use serde_json::json;
use zerohop_conf::{Conf, NameNodeId, keys};
use zerohop_failover::{
    FailoverOptions, RequestSource, Service, ServiceState, Target, TargetError, fail_over,
};

use crate::confirm::confirmed;
use crate::failure::{EXIT_USAGE, complain};
use crate::manual::Entry;
use crate::running::check_named;
use crate::settings::Settings;
use commands::{
    COMMANDS, Command, FORCE_ACTIVE, FORCE_FENCE, FORCE_MANUAL, TITLE, synopsis, usage,
};

/// Commands for completions and manual pages.
pub fn entries() -> Vec<Entry> {
    let one =
        |command: &Command| Entry::new(command.name, command.about, command.words, command.about);
    COMMANDS.iter().map(one).collect()
}

/// What ends a command that does not succeed: its text goes to standard error.
struct Refusal(String);

type Answer<T = ()> = Result<T, Refusal>;

fn refuse<T>(text: impl Into<String>) -> Answer<T> {
    Err(Refusal(text.into()))
}

fn failed(error: impl std::fmt::Display) -> Refusal {
    Refusal(format!("Operation failed: {error}"))
}

impl From<TargetError> for Refusal {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Conf(error) => failed(error),
            error => Refusal(format!("Illegal argument: {error}")),
        }
    }
}

impl From<zerohop_conf::ConfError> for Refusal {
    fn from(error: zerohop_conf::ConfError) -> Self {
        failed(error)
    }
}

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    if words.first().is_some_and(|word| matches!(word.as_str(), "--help" | "-h")) {
        sayln!("{}", usage());
        return 0;
    }
    let conf = match settings.load_for_cluster() {
        Ok(conf) => conf,
        Err(failure) => return complain("haadmin", &failure),
    };
    match command(&conf, words) {
        Ok(()) => 0,
        Err(Refusal(text)) => {
            noteln!("{text}");
            EXIT_USAGE
        }
    }
}

fn command(conf: &Conf, mut words: Vec<String>) -> Answer {
    let mut nameservice = None;
    if words.first().is_some_and(|word| word == "-ns") {
        words.remove(0);
        if words.is_empty() {
            return refuse(format!("Missing nameservice ID\n{}", usage()));
        }
        nameservice = Some(words.remove(0));
        if words.is_empty() {
            return refuse(format!("Missing command\n{}", usage()));
        }
    }
    if words.is_empty() {
        return refuse(usage());
    }
    let name = words.remove(0);
    let Some(plain) = name.strip_prefix('-') else {
        return refuse(format!(
            "Bad command '{name}': expected command starting with '-'\n{}",
            usage()
        ));
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return refuse(format!("{plain}: Unknown command\n{}", usage()));
    };
    if command.name == "-help" {
        return help(&words);
    }
    let as_json = take(&mut words, "json");
    let call = Call { conf, nameservice, command, as_json, flags: Vec::new() };
    call.run(words)
}

fn help(words: &[String]) -> Answer {
    match words {
        [] => {
            sayln!("{}", usage());
            Ok(())
        }
        [word] => {
            let wanted = format!("-{}", word.trim_start_matches('-'));
            let Some(command) = COMMANDS.iter().find(|command| command.name == wanted) else {
                return refuse(format!("{wanted}: Unknown command\n{}", usage()));
            };
            match command.words {
                "" => sayln!("{}: {}", command.name, command.about),
                words => sayln!("{} [{words}]: {}", command.name, command.about),
            }
            Ok(())
        }
        _ => refuse(format!("{TITLE} [-help <command>]")),
    }
}

/// Whether `--flag` or `-flag` is among the words; it is taken out.
fn take(words: &mut Vec<String>, flag: &str) -> bool {
    let before = words.len();
    words.retain(|word| word.trim_start_matches('-') != flag || !word.starts_with('-'));
    words.len() != before
}

/// One command with what was said to it.
struct Call<'a> {
    conf: &'a Conf,
    nameservice: Option<String>,
    command: &'a Command,
    as_json: bool,
    flags: Vec<&'static str>,
}

impl Call<'_> {
    fn run(mut self, mut words: Vec<String>) -> Answer {
        let flags = self.command.flags.iter().filter(|flag| take(&mut words, flag));
        self.flags = flags.copied().collect();
        if words.iter().any(|word| word.starts_with('-')) {
            return self.wrong("incorrect arguments");
        }
        if NameNodeId::of_pairs(self.conf)?.is_empty() {
            check_named(self.conf).map_err(|failure| Refusal(failure.to_string()))?;
        }
        if self.has(FORCE_MANUAL) && !confirmed(WARNING) {
            return refuse("Aborted");
        }
        match (self.command.name, words.as_slice()) {
            ("-getAllServiceState", _) => self.all_states(),
            ("-failover", [from, to]) => self.failover(from, to),
            ("-failover", _) => self.wrong("incorrect arguments"),
            ("-getServiceState", [id]) => self.state(id),
            ("-checkHealth", [id]) => self.check_health(id),
            ("-transitionToActive", [id]) => self.to_active(id),
            ("-transitionToStandby", [id]) => self.to_standby(id),
            ("-transitionToObserver", [id]) => self.to_observer(id),
            _ => self.wrong("incorrect number of arguments"),
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    fn wrong<T>(&self, what: &str) -> Answer<T> {
        let name = self.command.name.trim_start_matches('-');
        refuse(format!("{name}: {what}\n{TITLE} [{}]", synopsis(self.command)))
    }

    fn source(&self) -> RequestSource {
        match self.has(FORCE_MANUAL) {
            true => RequestSource::UserForced,
            false => RequestSource::User,
        }
    }

    fn target(&self, id: &str) -> Answer<Target> {
        Ok(Target::find(self.conf, self.nameservice.as_deref(), id)?)
    }

    /// A client for questions.
    fn asks(&self, target: &Target) -> Answer<Service> {
        Ok(target.service(self.conf.get(&keys::HA_CLI_CHECK_RPC_TIMEOUT)?)?)
    }

    /// A client for changes, which take longer.
    fn changes(&self, target: &Target) -> Answer<Service> {
        Ok(target.service(self.conf.get(&keys::HA_NEW_ACTIVE_RPC_TIMEOUT)?)?)
    }

    /// The NameNodes of the name service that is meant.
    fn ids(&self) -> Answer<Vec<NameNodeId>> {
        let mut pairs = NameNodeId::of_pairs(self.conf)?;
        let service = match &self.nameservice {
            Some(service) => Some(service.clone()),
            None => self.conf.get(&keys::DFS_NAMESERVICE_ID)?,
        };
        if let Some(service) = service.filter(|service| !service.is_empty()) {
            pairs.retain(|id| id.nameservice == service);
        }
        Ok(pairs)
    }

    fn all_states(&self) -> Answer {
        let ids = self.ids()?;
        if ids.is_empty() {
            return refuse("Failed to get service IDs");
        }
        let mut shown = Vec::new();
        for id in ids {
            let target = Target::new(self.conf, id)?;
            let service = self.asks(&target)?;
            let status = wait(service.status())?;
            let not_ready = status.as_ref().ok().and_then(|status| status.not_ready.clone());
            let state = status.map(|status| status.state.to_string());
            if self.as_json {
                shown.push(json!({
                    "nameservice": target.id().nameservice,
                    "namenode": target.id().namenode,
                    "address": target.address(),
                    "state": state.as_ref().ok(),
                    "notReadyReason": not_ready,
                    "error": state.as_ref().err().map(ToString::to_string),
                }));
                continue;
            }
            let state = state.unwrap_or_else(|error| format!("Failed to connect: {error}"));
            sayln!("{:<50} {state:<10}", target.address());
            warn_not_ready(&target, not_ready.as_deref());
        }
        if self.as_json {
            sayln!("{}", serde_json::Value::from(shown));
        }
        Ok(())
    }

    fn state(&self, id: &str) -> Answer {
        let target = self.target(id)?;
        let status = wait(self.asks(&target)?.status())?.map_err(failed)?;
        match self.as_json {
            true => sayln!(
                "{}",
                json!({"state": status.state.to_string(), "notReadyReason": status.not_ready})
            ),
            false => {
                sayln!("{}", status.state);
                warn_not_ready(&target, status.not_ready.as_deref());
            }
        }
        Ok(())
    }

    fn check_health(&self, id: &str) -> Answer {
        let target = self.target(id)?;
        let healthy = wait(self.asks(&target)?.monitor_health())?;
        healthy.map_err(|error| match error.remote() {
            Some(exception) => Refusal(format!("Health check failed: {}", exception.message)),
            None => failed(error),
        })
    }

    /// By hand only where no failover controllers decide, or with --forcemanual.
    fn check_manual(&self, target: &Target) -> Answer {
        if !target.is_automatic()? {
            return Ok(());
        }
        if self.has(FORCE_MANUAL) {
            noteln!(
                "Proceeding with manual HA state management even though automatic failover is enabled for {target}"
            );
            return Ok(());
        }
        refuse(format!(
            "Automatic failover is enabled for {target}\nRefusing to manually manage HA state, since it may cause\na split-brain scenario or other incorrect state.\nIf you are very sure you know what you are doing, please \nspecify the --forcemanual flag."
        ))
    }

    fn to_active(&self, id: &str) -> Answer {
        let target = self.target(id)?;
        if !self.has(FORCE_ACTIVE) {
            self.check_no_other_is_active(&target)?;
        }
        self.check_manual(&target)?;
        wait(self.changes(&target)?.to_active(self.source()))?.map_err(failed)
    }

    fn check_no_other_is_active(&self, target: &Target) -> Answer {
        for other in target.others(self.conf)? {
            self.check_manual(&other)?;
            let other_id = &other.id().namenode;
            match wait(self.asks(&other)?.status())? {
                Ok(status) if status.state == ServiceState::Active => {
                    return self.wrong(&format!("Node {other_id} is already active"));
                }
                Ok(_) => {}
                Err(error) => {
                    return refuse(format!(
                        "Unexpected error occurred  {error}\n{TITLE} [{}]",
                        synopsis(self.command)
                    ));
                }
            }
        }
        Ok(())
    }

    fn to_standby(&self, id: &str) -> Answer {
        let target = self.target(id)?;
        self.check_manual(&target)?;
        wait(self.changes(&target)?.to_standby(self.source()))?.map_err(failed)
    }

    fn to_observer(&self, id: &str) -> Answer {
        let target = self.target(id)?;
        self.check_manual(&target)?;
        wait(self.changes(&target)?.to_observer(self.source()))?.map_err(|error| {
            match error.remote() {
                Some(exception) => {
                    Refusal(format!("transitionToObserver failed! {}", exception.message))
                }
                None => failed(error),
            }
        })
    }

    fn failover(&self, from: &str, to: &str) -> Answer {
        let (source, target) = (self.target(from)?, self.target(to)?);
        let (force_fence, force_active) = (self.has(FORCE_FENCE), self.has(FORCE_ACTIVE));
        if source.is_automatic()? != target.is_automatic()? {
            return refuse(format!(
                "Inconsistent auto-failover configs between {source} and {target}!"
            ));
        }
        if !source.is_automatic()? {
            let options = FailoverOptions { force_fence, force_active };
            let moved = fail_over(self.conf, &source, &target, options, self.source());
            return match wait(moved)? {
                Ok(()) => {
                    sayln!("Failover from {from} to {to} successful");
                    Ok(())
                }
                Err(error) => refuse(format!("Failover failed: {error}")),
            };
        }
        if force_fence || force_active {
            return refuse(
                "forcefence and forceactive flags not supported with auto-failover enabled.",
            );
        }
        let timeout = self.conf.get(&keys::HA_NEW_ACTIVE_RPC_TIMEOUT)?;
        let peer = target.controller(timeout)?;
        match wait(peer.graceful_failover())? {
            Ok(()) => {
                sayln!("Failover to {target} successful");
                Ok(())
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// Says why a standby could not become active: not where scripts read its state.
fn warn_not_ready(target: &Target, reason: Option<&str>) {
    if let Some(reason) = reason {
        noteln!("{target} is not ready to become active: {reason}");
    }
}

/// Runs a question to its end.
fn wait<T>(question: impl Future<Output = T>) -> Answer<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(failed)?.block_on(question))
}

const WARNING: &str = "You have specified the --forcemanual flag. This flag is dangerous, as it can induce a split-brain scenario that WILL CORRUPT your HDFS namespace, possibly irrecoverably.

It is recommended not to use this flag, but instead to shut down the cluster and disable automatic failover if you prefer to manually manage your HA state.

You may abort safely by answering 'n' or hitting ^C now.

Are you sure you want to continue?";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str], conf: &Conf) -> String {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        command(conf, words).err().map(|Refusal(text)| text).unwrap_or_default()
    }

    #[test]
    fn wrong_command_lines_are_answered_as_apaches() {
        let mut conf = Conf::new();
        conf.set("dfs.nameservices", "ns");
        for (words, answer) in [
            (&["-bogus"][..], "bogus: Unknown command\nUsage: haadmin [-ns <nameserviceId>]\n"),
            (&["bogus"], "Bad command 'bogus': expected command starting with '-'\n"),
            (&["-ns"], "Missing nameservice ID\n"),
            (&["-ns", "ns"], "Missing command\n"),
            (
                &["-getServiceState"],
                "getServiceState: incorrect number of arguments\nUsage: haadmin [-ns <nameserviceId>] [-getServiceState <serviceId>]",
            ),
            (&["-failover", "nn1"], "failover: incorrect arguments\n"),
            (&["-failover", "--bogus", "a", "b"], "failover: incorrect arguments\n"),
            (
                &["-getServiceState", "nn3"],
                "Illegal argument: Unable to determine service address for namenode 'nn3'",
            ),
            (&["-getAllServiceState"], "Failed to get service IDs"),
        ] {
            let text = said(words, &conf);
            assert!(text.starts_with(answer), "{words:?}: {text}");
        }
    }

    #[test]
    fn what_controllers_decide_is_not_changed_by_hand() {
        let mut conf = Conf::new();
        conf.set("dfs.nameservices", "ns");
        conf.set("dfs.ha.namenodes.ns", "nn1,nn2");
        conf.set("dfs.namenode.rpc-address.ns.nn1", "127.0.0.1:1");
        conf.set("dfs.namenode.rpc-address.ns.nn2", "127.0.0.1:2");
        conf.set("dfs.ha.automatic-failover.enabled", "true");
        for words in [["-transitionToStandby", "nn1"], ["-transitionToActive", "nn1"]] {
            let text = said(&words, &conf);
            assert!(
                text.starts_with("Automatic failover is enabled for NameNode at /127"),
                "{text}"
            );
        }
        let text = said(&["-failover", "--forcefence", "nn1", "nn2"], &conf);
        assert!(text.contains("not supported with auto-failover"), "{text}");
    }
}
