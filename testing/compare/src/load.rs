//! Runs `java/zerohop/Load.java`: work through Apache's own client.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use zerohop_interop::{Outcome, tools};

use crate::clusters::{Cluster, java};
use crate::table::Figure;

/// The compiled class, in a directory of its own.
pub struct Load {
    classes: PathBuf,
}

impl Load {
    /// Compiles it.
    pub fn compile(directory: &std::path::Path) -> Outcome<Self> {
        let classes = directory.join("classes");
        let source = tools::root().join("testing/compare/java/zerohop/Load.java");
        let class_path = &tools::Java::get()?.class_path;
        let mut javac = Command::new("javac");
        javac.args(["-nowarn", "-cp", class_path, "-d"]).arg(&classes).arg(source);
        let output = javac.output().map_err(|e| format!("javac: {e}"))?;
        match output.status.success() {
            true => Ok(Self { classes }),
            false => Err(format!("javac failed:\n{}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Runs a step on a cluster; CPU time is that of the JVM and the cluster's DataNodes.
    pub fn run(
        &self,
        cluster: &Cluster,
        step: &str,
        options: &[(&str, String)],
    ) -> Outcome<Figure> {
        let watch: Vec<String> =
            cluster.datanodes().iter().map(|node| node.pid.to_string()).collect();
        let mut command = java(&cluster.conf(), std::slice::from_ref(&self.classes))?;
        command.args(["zerohop.Load", step]).arg(format!("watch={}", watch.join(",")));
        let this = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
        command.arg(format!("ready={}", this.display()));
        command.args(options.iter().map(|(key, value)| format!("{key}={value}")));
        let output = command.stdin(Stdio::null()).output().map_err(|e| format!("java: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let parsed: Option<Vec<[f64; 3]>> = text.lines().map(numbers).collect();
        match parsed.filter(|runs| output.status.success() && !runs.is_empty()) {
            Some(runs) => {
                let cpu: Vec<f64> = runs.iter().map(|[_, own, watched]| own + watched).collect();
                Ok(Figure::new(runs.iter().map(|[value, ..]| *value).collect()).with_cpu(&cpu))
            }
            None => {
                let errors = String::from_utf8_lossy(&output.stderr);
                let last: Vec<&str> = errors.lines().rev().take(25).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                Err(format!("Load {step} failed:\n{text}{}", last.join("\n")))
            }
        }
    }
}

fn numbers(line: &str) -> Option<[f64; 3]> {
    let numbers: Option<Vec<f64>> = line.split(' ').map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}
