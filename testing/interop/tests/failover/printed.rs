//! The command lines that `zerohop up --ha` prints, run as they are printed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Command;

use zerohop_interop::pair::LIMIT;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Outcome, tools, wait};

/// Lines by their first word. A line that begins with spaces belongs to the word before.
type Printed = BTreeMap<String, Vec<String>>;

fn read_printed(output: &mut impl BufRead) -> Outcome<Printed> {
    let (mut printed, mut word, mut line) = (Printed::new(), String::new(), String::new());
    while output.read_line(&mut line).map_err(|error| error.to_string())? > 0 {
        let (first, rest) = line.split_once(' ').unwrap_or((&line, ""));
        if !first.is_empty() {
            word = first.trim().to_owned();
        }
        printed.entry(word.clone()).or_default().push(rest.trim().to_owned());
        if word == "stop" {
            return Ok(printed);
        }
        line.clear();
    }
    Err("up ended before it said how to stop it".to_owned())
}

/// A shell that finds the program under the name that is printed.
fn shell(line: &str) -> Outcome<Command> {
    let zerohop = tools::zerohop()?;
    let programs = zerohop.parent().ok_or("no directory of programs")?.display();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(["-c", line]).env("PATH", format!("{programs}:{path}"));
    Ok(command)
}

fn run(line: &str) -> Outcome<String> {
    let output = shell(line)?.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(said),
        false => Err(format!("{line}: {said}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn story(printed: &Printed, log: &std::path::Path) -> Outcome {
    let of = |word: &str| {
        let lines = printed.get(word).ok_or_else(|| format!("no line {word}: {printed:?}"))?;
        // Remarks stand in brackets behind a command.
        let line = lines.last().map_or("", |line| line.as_str());
        Ok::<_, String>(line.split("   (").next().unwrap_or_default().to_owned())
    };
    let state = of("state")?;
    let until = |wanted: [&str; 2]| {
        wait::until(&format!("the states are {wanted:?}"), LIMIT, || {
            let said = run(&state)?;
            let states: Vec<&str> =
                said.lines().filter_map(|line| line.split_whitespace().last()).collect();
            if states == wanted { Ok(true) } else { Err(said) }
        })
    };
    until(["active", "standby"])?;
    run(&of("kill")?)?;
    let again = shell(&format!("exec {}", of("again")?))?;
    let _nn1 = Process::daemon("nn1", again, log)?;
    until(["standby", "active"])?;
    let back = of("move")?.replace("nn1 nn2", "nn2 nn1");
    run(&back)?;
    until(["active", "standby"])?;
    run(&of("move")?)?;
    until(["standby", "active"])?;
    // The last line of `use` is one of curl.
    let listed = run(&of("use")?)?;
    if listed.contains("FileStatuses") { Ok(()) } else { Err(format!("curl: {listed}")) }
}

#[test]
fn command_lines_of_a_cluster_of_two_namenodes_work_as_printed() {
    let directory = tools::clusters().join("failover-printed");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut command = Command::new(tools::zerohop().unwrap());
    command.args(["up", "--ha", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
    command.arg("--data").arg(directory.join("data"));
    let mut up = Process::talker("up", command, &directory.join("up.log")).unwrap();
    let (_input, output) = up.pipes().unwrap();
    let mut output = BufReader::new(output);
    let outcome =
        read_printed(&mut output).and_then(|printed| story(&printed, &directory.join("again.log")));
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", tail(&directory.join("up.log"), 20)));
}
