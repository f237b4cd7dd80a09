//! `haadmin` on a live pair: ours says what Apache's says, and ends with its code.

use zerohop_interop::Outcome;
use zerohop_interop::harm::zerohop;

use super::Pair;

/// Questions, refusals and mistakes, which change nothing. A is the active NameNode, S the other one.
const LINES: [&str; 27] = [
    "-getAllServiceState",
    "-getServiceState A",
    "-getServiceState S",
    "-getServiceState nn7",
    "-getServiceState",
    "-getServiceState A S",
    "-checkHealth A",
    "-checkHealth",
    "-transitionToActive S",
    "-transitionToActive A",
    "-transitionToActive",
    "-transitionToActive --bogus A",
    "-transitionToStandby S",
    "-transitionToStandby A S",
    "-transitionToObserver A",
    "-failover A",
    "-failover A A",
    "-failover A nn7",
    "-failover S A",
    "-failover --bogus A S",
    "-ns ns -getServiceState A",
    "-ns",
    "-ns ns",
    "-bogus",
    "bogus",
    "-help -failover",
    "-help bogus",
];

/// Apache's answer: `ok TEXT` or `failed CODE TEXT`, in one line.
fn apaches(pair: &mut Pair, words: &str) -> Outcome<String> {
    pair.answer(&format!("admin {words}"))
}

fn ours(pair: &Pair, words: &str) -> Outcome<String> {
    let all: Vec<&str> = std::iter::once("haadmin").chain(words.split_whitespace()).collect();
    let (code, text) = zerohop(&pair.conf("client"), &all)?;
    let text = text.trim().replace('\n', " ");
    // Java's -1 is 255 in a shell.
    Ok(if code == 0 { format!("ok {text}") } else { format!("failed {} {text}", code as i8) })
}

/// What is ours or Apache's alone: the words behind a list of commands, what to do about a NameNode that is not configured, and the
/// name that Apache's finds for an address.
fn alike(answer: &str) -> String {
    let behind = [
        " Generic options supported are:",
        " -getServiceState and -getAllServiceState take --json.",
        ": set dfs.namenode.rpc-address.",
    ];
    let words: Vec<&str> = answer.split_whitespace().collect();
    let text = words.join(" ").replace("localhost:", "127.0.0.1:");
    let end = behind.iter().filter_map(|behind| text.find(behind)).min();
    text[..end.unwrap_or(text.len())].to_owned()
}

fn compare(words: &str, apaches: &str, ours: &str, differ: &mut String) {
    if alike(apaches) != alike(ours) {
        *differ += &format!("{words}\n  Apache: {apaches}\n  ours:   {ours}\n");
    }
}

/// The pair ends with the same NameNode active.
pub fn says_what_apaches_says(pair: &mut Pair) -> Outcome {
    let (active, standby) = (format!("nn{}", pair.active), format!("nn{}", 1 - pair.active));
    let mut differ = String::new();
    for line in LINES {
        let named = |word: &str| match word {
            "A" => active.clone(),
            "S" => standby.clone(),
            word => word.to_owned(),
        };
        let words = line.split(' ').map(named).collect::<Vec<_>>().join(" ");
        let theirs = apaches(pair, &words)?;
        compare(&words, &theirs, &ours(pair, &words)?, &mut differ);
    }
    // There by Apache's, and back by ours.
    let there = apaches(pair, &format!("-failover {active} {standby}"))?;
    let back = ours(pair, &format!("-failover {standby} {active}"))?;
    let swapped = format!("ok Failover from {standby} to {active} successful");
    if there != format!("ok Failover from {active} to {standby} successful") || back != swapped {
        differ += &format!("-failover\n  Apache: {there}\n  ours:   {back}\n");
    }
    if differ.is_empty() { Ok(()) } else { Err(differ) }
}
