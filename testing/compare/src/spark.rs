//! Runs `java/zerohop/Star.java`: SQL in Apache Spark, which reads through Apache's own client.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use zerohop_interop::Outcome;
use zerohop_interop::process::tail;
use zerohop_interop::tools::{self, OPENS};

use crate::table::Figure;

/// What Spark reaches into on a JDK 17, besides what Hadoop does.
const SPARK_OPENS: [&str; 8] = [
    "java.base/java.lang.invoke",
    "java.base/java.nio",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
];

/// The first and the second time of a query.
#[derive(Default)]
pub struct Times {
    first: Vec<f64>,
    second: Vec<f64>,
    first_cpu: Vec<f64>,
    second_cpu: Vec<f64>,
    digest: String,
}

impl Times {
    /// The figure of the first or of the second time.
    pub fn figure(&self, is_second: bool) -> Figure {
        let (seconds, cpu) = match is_second {
            false => (&self.first, &self.first_cpu),
            true => (&self.second, &self.second_cpu),
        };
        Figure::new(seconds.clone()).with_cpu(cpu)
    }

    /// The same for the same answer.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Adds a run: four numbers and the digest of its answer.
    fn add(&mut self, words: &[&str]) -> Option<()> {
        let [first, second, first_cpu, second_cpu, digest] = words else { return None };
        let runs = [
            (&mut self.first, first),
            (&mut self.second, second),
            (&mut self.first_cpu, first_cpu),
            (&mut self.second_cpu, second_cpu),
        ];
        for (runs, word) in runs {
            runs.push(word.parse().ok()?);
        }
        if !self.digest.is_empty() && self.digest != *digest {
            return None;
        }
        (*digest).clone_into(&mut self.digest);
        Some(())
    }
}

/// Spark with the compiled program.
pub struct Spark {
    class_path: String,
    directory: PathBuf,
}

impl Spark {
    /// Compiles the program in a directory of its own.
    pub fn compile(directory: &Path) -> Outcome<Self> {
        let list = tools::out().join("spark-classpath.txt");
        let jars = std::fs::read_to_string(&list)
            .map_err(|e| format!("{}: {e}; run testing/compare/ensure-spark.sh", list.display()))?;
        let classes = directory.join("star-classes");
        let source = tools::root().join("testing/compare/java/zerohop/Star.java");
        let mut javac = Command::new("javac");
        javac.args(["-nowarn", "-cp", jars.trim(), "-d"]).arg(&classes).arg(source);
        let output = javac.output().map_err(|e| format!("javac: {e}"))?;
        if !output.status.success() {
            return Err(format!("javac failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let class_path = format!("{}:{}", classes.display(), jars.trim());
        Ok(Self { class_path, directory: directory.to_owned() })
    }

    /// Asks all queries, each `runs` times, of the tables below `base`; `drop` takes their files out of the page cache before
    /// each run. The times by the query's name.
    pub fn run(
        &self,
        conf: &Path,
        tables: &Path,
        base: &str,
        runs: usize,
        settings: &[(&str, String)],
        drop: &mut dyn FnMut() -> Outcome,
    ) -> Outcome<BTreeMap<String, Times>> {
        // As many as DataFusion has.
        let threads = std::thread::available_parallelism().map_err(|e| e.to_string())?;
        let scratch = self.directory.join("spark");
        std::fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
        let log = self.directory.join("spark.log");
        let mut command = Command::new("java");
        command.args(OPENS);
        command.args(SPARK_OPENS.map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
        command
            .args(["-Djava.net.preferIPv4Stack=true", "-Xmx4g"])
            .arg(format!("-Djava.library.path={}", tools::out().join("native").display()))
            .args(["-cp", &format!("{}:{}", conf.display(), self.class_path), "zerohop.Star"])
            .arg(format!("tables={}", tables.display()))
            .arg(format!("base={base}"))
            .arg(format!("runs={runs}"))
            .arg(format!("threads={threads}"))
            .arg(format!("scratch={}", scratch.display()))
            .args(settings.iter().map(|(key, value)| format!("{key}={value}")));
        let errors = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut java = Program(command.spawn().map_err(|e| format!("java: {e}"))?);
        let times = java.talk(drop);
        let status = java.0.wait().map_err(|e| format!("java: {e}"))?;
        match times {
            Ok(times) if status.success() => Ok(times),
            Ok(_) => Err(format!("Star failed:\n{}", tail(&log, 25))),
            Err(problem) => Err(format!("Star: {problem}\n{}", tail(&log, 25))),
        }
    }
}

/// Killed when dropped.
struct Program(Child);

impl Program {
    fn talk(&mut self, drop: &mut dyn FnMut() -> Outcome) -> Outcome<BTreeMap<String, Times>> {
        let output = self.0.stdout.take().ok_or("no output")?;
        // Its end tells the program that this one has ended.
        let mut input = self.0.stdin.take().ok_or("no input")?;
        let mut times = BTreeMap::<String, Times>::new();
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|e| e.to_string())?;
            if line == "drop" {
                drop()?;
                input.write_all(b"\n").map_err(|e| e.to_string())?;
                continue;
            }
            let words: Vec<&str> = line.split(' ').collect();
            let (query, words) = words.split_first().ok_or("an empty line")?;
            let of_query = times.entry((*query).to_owned()).or_default();
            of_query.add(words).ok_or_else(|| format!("not the figures of a run: {line}"))?;
        }
        Ok(times)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_with_the_same_answer_are_taken_together() {
        let mut times = Times::default();
        times.add(&["1.5", "1", "3", "2", "ab"]).unwrap();
        times.add(&["2.5", "1", "3", "2", "ab"]).unwrap();
        let figure = times.figure(false);
        assert_eq!((figure.runs.as_slice(), figure.cpu), (&[1.5, 2.5][..], Some(3.0)));
        assert!(times.add(&["1", "1", "3", "2", "other"]).is_none());
        assert!(times.add(&["1", "1", "3"]).is_none());
    }
}
