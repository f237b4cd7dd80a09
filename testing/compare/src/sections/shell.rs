//! A command of the shell as a whole process, from its start to its end.

use std::process::{Command, Stdio};
use std::time::Instant;

use zerohop_bench::process::children_cpu_s;
use zerohop_interop::{Kind, Outcome, tools};

use crate::both::Both;
use crate::clusters::{Cluster, java};
use crate::table::{Better, Figure, Pair};

/// The shell of a cluster's kind with its configuration.
pub fn shell(cluster: &Cluster) -> Outcome<Command> {
    match cluster.kind {
        Kind::Ours => {
            let mut command = Command::new(tools::zerohop()?);
            command.arg("--config").arg(cluster.conf()).arg("fs");
            Ok(command)
        }
        Kind::Apache => {
            let mut command = java(&cluster.conf(), &[])?;
            command.arg("-Dhadoop.root.logger=WARN,console").arg("org.apache.hadoop.fs.FsShell");
            Ok(command)
        }
    }
}

/// Runs a command to its end; wall and CPU seconds of the process.
pub fn timed(mut command: Command) -> Outcome<(f64, f64)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let before = children_cpu_s();
    let start = Instant::now();
    let output = command.output().map_err(|e| e.to_string())?;
    let took = start.elapsed().as_secs_f64();
    match output.status.success() {
        true => Ok((took, children_cpu_s() - before)),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// `fs -ls /`
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    let measure = |kind, runs: usize| {
        let (mut wall, mut cpu) = (Vec::new(), Vec::new());
        for run in 0..=runs {
            let mut command = shell(both.cluster(kind))?;
            command.args(["-ls", "/"]);
            let (took, spent) = timed(command)?;
            if run > 0 {
                wall.push(took * 1e3);
                cpu.push(spent * 1e3);
            }
        }
        Ok::<_, String>(Figure::new(wall).with_cpu(&cpu))
    };
    add(Pair {
        name: "fs -ls /, whole process".to_owned(),
        unit: "ms",
        cpu_unit: "ms",
        better: Better::Less,
        apache: measure(Kind::Apache, both.args.runs)?,
        ours: measure(Kind::Ours, both.args.runs * 10)?,
        goal: None,
    });
    Ok(())
}
