//! `balancer`: moves replicas until the DataNodes are about equally full, with the options, the table and the exit
//! codes of Apache's.

use std::time::Duration;

use zerohop_balancer::balancer::{self, Parameters};
use zerohop_balancer::{BalancingPolicy, HostSet};
use zerohop_conf::{Conf, closest};

use crate::failure::{EXIT_USAGE, Failure, Kind, Outcome, complain};
use crate::moves::{self, Display};
use crate::settings::Settings;

pub const USAGE: &str = "Usage: balancer [OPTIONS]
\tMoves replicas from full DataNodes to emptier ones, until each is about as full as all together.
\t-threshold <percent>\tpoints by which a DataNode may be fuller or emptier than the average, 1 to 100; 10
\t-policy datanode|blockpool\tcounts all that is on a DataNode's disks, or the block pool alone; datanode
\t-exclude <hosts> | -exclude -f <file>\tleaves these DataNodes alone; hosts are separated by commas
\t-include <hosts> | -include -f <file>\tbalances these DataNodes only
\t-source <hosts> | -source -f <file>\ttakes replicas from these DataNodes only
\t-blockpools <ids>\tbalances these block pools only
\t-idleiterations <count>\titerations in a row that may move nothing, -1 for any number; 5
\t-runDuringUpgrade\tgoes on while an upgrade is not finalized; disks get no emptier meanwhile
\t-asService\tbalances again and again, every dfs.balancer.service.interval
\t-sortTopNodes\tthe fullest DataNodes give first
\t-hotBlockTimeInterval <ms>\tblocks of files changed within this time are moved last
\t--json\tan object a line: one for each iteration, and one with the end
Exit codes: 0 balanced; 255 another balancer runs, or the command line is wrong; 254 nothing can be moved;
253 nothing was moved for several iterations; 252 a server failed; 251 a configured value is wrong;
249 an upgrade is not finalized.";

const OPTIONS: [&str; 12] = [
    "-threshold",
    "-policy",
    "-exclude",
    "-include",
    "-source",
    "-blockpools",
    "-idleiterations",
    "-runDuringUpgrade",
    "-asService",
    "-sortTopNodes",
    "-hotBlockTimeInterval",
    "--json",
];

const HEADER: &str = "Time Stamp               Iteration#  Bytes Already Moved  Bytes Left To Move  \
                      Bytes Being Moved  NameNode";

/// What was asked for.
#[derive(Debug, Default)]
struct Asked {
    parameters: Parameters,
    as_service: bool,
    as_json: bool,
}

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let done = parse(words)
        .and_then(|asked| settings.load_for_cluster().and_then(|conf| balance(&conf, &asked)));
    done.unwrap_or_else(|failure| {
        if failure.kind == Kind::Usage {
            noteln!("balancer: {failure}\n{USAGE}");
            return EXIT_USAGE;
        }
        complain("balancer", &failure)
    })
}

fn balance(conf: &Conf, asked: &Asked) -> Outcome<i32> {
    let clusters = moves::clusters(conf)?;
    moves::warn_of_ineffective_keys(conf, "dfs.balancer.");
    if !asked.as_json {
        sayln!("{HEADER}");
    }
    let display = Display::new("balancer", asked.as_json);
    moves::run(conf, &display, took, async |stop| match asked.as_service {
        true => balancer::serve(conf, &clusters, &asked.parameters, &display, stop).await,
        false => balancer::run(conf, &clusters, &asked.parameters, &display, stop).await,
    })
}

/// Java prints a number with a point always.
fn took(ms: i64) -> String {
    let (unit, in_ms) = match ms {
        ..1000 => ("milliseconds", 1.0),
        1000..60_000 => ("seconds", 1000.0),
        60_000..3_600_000 => ("minutes", 60_000.0),
        _ => ("hours", 3_600_000.0),
    };
    format!("Balancing took {:?} {unit}", ms as f64 / in_ms)
}

fn parse(words: Vec<String>) -> Outcome<Asked> {
    let mut asked = Asked::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let option = OPTIONS.iter().find(|option| option.eq_ignore_ascii_case(&word));
        let Some(option) = option else { return Err(unknown(&word)) };
        let parameters = &mut asked.parameters;
        match *option {
            "-threshold" => parameters.threshold = threshold(&value(option, &mut words)?)?,
            "-policy" => parameters.policy = policy(&value(option, &mut words)?)?,
            "-exclude" => parameters.excluded = hosts(option, &mut words)?,
            "-include" => parameters.included = hosts(option, &mut words)?,
            "-source" => parameters.sources = hosts(option, &mut words)?,
            "-blockpools" => {
                let ids = value(option, &mut words)?;
                parameters.block_pools = ids.split(',').map(|id| id.trim().to_owned()).collect();
            }
            "-idleiterations" => {
                parameters.idle_iterations_max = number(option, &value(option, &mut words)?)?;
            }
            "-runDuringUpgrade" => parameters.during_upgrade = true,
            "-asService" => asked.as_service = true,
            "-sortTopNodes" => parameters.fullest_first = true,
            "-hotBlockTimeInterval" => {
                let ms = number(option, &value(option, &mut words)?)?;
                parameters.hot_for = Some(Duration::from_millis(ms)).filter(|time| !time.is_zero());
            }
            _ => asked.as_json = true,
        }
    }
    if !asked.parameters.excluded.is_empty() && !asked.parameters.included.is_empty() {
        return Err(Failure::usage("-exclude and -include options cannot be specified together."));
    }
    Ok(asked)
}

fn unknown(word: &str) -> Failure {
    let meant = closest(word, OPTIONS);
    let meant = meant.map_or(String::new(), |near| format!("; did you mean {near}?"));
    Failure::usage(format!("{word} is no option{meant}"))
}

fn value(option: &str, words: &mut impl Iterator<Item = String>) -> Outcome<String> {
    words.next().ok_or_else(|| Failure::usage(format!("{option} needs a value")))
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Outcome<T> {
    text.parse().map_err(|_| Failure::usage(format!("{option} {text}: a number is needed")))
}

fn threshold(text: &str) -> Outcome<f64> {
    let percent = text.parse().ok().filter(|percent| (1.0..=100.0).contains(percent));
    percent.ok_or_else(|| {
        Failure::usage(format!("Expecting a number in the range of [1.0, 100.0]: {text}"))
    })
}

fn policy(text: &str) -> Outcome<BalancingPolicy> {
    let policy = BalancingPolicy::from_name(text);
    policy.ok_or_else(|| {
        Failure::usage(format!("Illegal policy name: {text}; datanode and blockpool are known"))
    })
}

/// A list of hosts, or `-f` and a file of them.
fn hosts(option: &str, words: &mut impl Iterator<Item = String>) -> Outcome<HostSet> {
    let list = value(option, words)?;
    if !list.eq_ignore_ascii_case("-f") {
        return Ok(HostSet::from_list(&list));
    }
    let file = value(&format!("{option} -f"), words)?;
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Failure::usage(format!("{option} -f {file}: {error}")))?;
    Ok(HostSet::from_file(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(str::to_owned).collect()).map_err(|f| f.text)
    }

    #[test]
    fn options_are_apache_s_whatever_their_case() {
        let line = "-THRESHOLD 5.5 -policy BlockPool -exclude a,b:1 -source c -idleIterations -1 \
                    -runduringupgrade -asservice -sortTopNodes -hotBlockTimeInterval 100 -blockpools x,y --json";
        let asked = parsed(line).unwrap();
        let parameters = asked.parameters;
        assert_eq!(parameters.threshold, 5.5);
        assert_eq!(parameters.policy, BalancingPolicy::Blockpool);
        assert_eq!(parameters.excluded, HostSet::from_list("a,b:1"));
        assert_eq!(parameters.idle_iterations_max, -1);
        assert_eq!(parameters.hot_for, Some(Duration::from_millis(100)));
        assert!(parameters.during_upgrade && parameters.fullest_first);
        assert!(parameters.block_pools.contains("y"));
        assert!(asked.as_service && asked.as_json);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (line, part) in [
            ("-threshold 0.5", "[1.0, 100.0]"),
            ("-threshold", "needs a value"),
            ("-policy disks", "Illegal policy name"),
            ("-treshold 5", "did you mean -threshold?"),
            ("-exclude a -include b", "together"),
            ("-exclude -f /no/such/file", "/no/such/file"),
            ("-idleiterations many", "a number is needed"),
        ] {
            let text = parsed(line).unwrap_err();
            assert!(text.contains(part), "{line}: {text}");
        }
    }

    #[test]
    fn times_as_java_prints_them() {
        assert_eq!(took(999), "Balancing took 999.0 milliseconds");
        assert_eq!(took(3250), "Balancing took 3.25 seconds");
        assert_eq!(took(90_000), "Balancing took 1.5 minutes");
    }
}
