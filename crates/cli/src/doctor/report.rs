//! What was looked at, what was found, what helps.

use comfy_table::{Table, presets};
use serde_json::{Value, json};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// Local reads work in spite of it.
    Warning,
    /// Local reads do not work, or not all of them.
    Fault,
    /// It could not be looked at.
    Skipped,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Fault => "fault",
            Verdict::Skipped => "skipped",
        }
    }
}

/// The way of local reads that is in force (the issues are Hadoop's, which brought them).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generation {
    #[default]
    None,
    /// The DataNode tells paths, the client opens them.
    Paths,
    /// The DataNode passes descriptors.
    Descriptors,
    /// It passes descriptors, and can take a replica back.
    Slots,
}

impl Generation {
    fn name(self) -> &'static str {
        match self {
            Generation::None => "none",
            Generation::Paths => "HDFS-2246",
            Generation::Descriptors => "HDFS-347",
            Generation::Slots => "HDFS-5182",
        }
    }

    fn explained(self) -> &'static str {
        match self {
            Generation::None => "none: every byte goes through a DataNode's socket",
            Generation::Paths => {
                "HDFS-2246: the client opens block files by their paths (legacy, a hole: whoever may read one block may read all)"
            }
            Generation::Descriptors => {
                "HDFS-347: the DataNode passes descriptors, without slots: it cannot take a replica back"
            }
            Generation::Slots => {
                "HDFS-5182: the DataNode passes descriptors, and takes a replica back by its slot in shared memory"
            }
        }
    }
}

/// One check.
#[derive(Debug, Clone)]
pub struct Check {
    /// Its stable name.
    pub name: &'static str,
    pub verdict: Verdict,
    pub found: String,
    pub fix: Option<String>,
}

/// All checks in the order they were made.
#[derive(Debug, Default)]
pub struct Report {
    checks: Vec<Check>,
    pub generation: Generation,
    /// A replica was read from its file, and its checksums were right.
    pub verified: bool,
}

impl Report {
    fn add(&mut self, name: &'static str, verdict: Verdict, found: String, fix: Option<String>) {
        self.checks.push(Check { name, verdict, found, fix });
    }

    pub fn ok(&mut self, name: &'static str, found: impl Into<String>) {
        self.add(name, Verdict::Ok, found.into(), None);
    }

    pub fn warning(
        &mut self,
        name: &'static str,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(name, Verdict::Warning, found.into(), Some(fix.into()));
    }

    pub fn fault(&mut self, name: &'static str, found: impl Into<String>, fix: impl Into<String>) {
        self.add(name, Verdict::Fault, found.into(), Some(fix.into()));
    }

    pub fn skipped(&mut self, name: &'static str, why: impl Into<String>) {
        self.add(name, Verdict::Skipped, why.into(), None);
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    /// Whether a check came out so.
    #[cfg(test)]
    pub fn has(&self, name: &str, verdict: Verdict) -> bool {
        self.checks.iter().any(|check| check.name == name && check.verdict == verdict)
    }

    /// Returns `true` if every fault is one of the NameNode or of the file to read, so that no local read was tried.
    fn is_untried(&self) -> bool {
        let mut faults = self.checks.iter().filter(|check| check.verdict == Verdict::Fault);
        !self.verified && faults.all(|check| matches!(check.name, "namenode" | "file"))
    }

    /// Whether local reads work.
    pub fn works(&self) -> bool {
        self.verified && self.count(Verdict::Fault) == 0
    }

    pub fn json(&self) -> Value {
        let checks: Vec<Value> = self
            .checks
            .iter()
            .map(|check| {
                json!({
                    "name": check.name, "verdict": check.verdict.word(), "found": check.found,
                    "fix": check.fix,
                })
            })
            .collect();
        json!({
            "localReads": self.works(), "tried": !self.is_untried(), "generation": self.generation.name(),
            "faults": self.count(Verdict::Fault), "warnings": self.count(Verdict::Warning),
            "checks": checks,
        })
    }

    pub fn print(&self) {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        for check in &self.checks {
            table.add_row([check.verdict.word(), check.name, &check.found]);
            if let Some(fix) = &check.fix {
                table.add_row(["", "", &format!("fix: {fix}")]);
            }
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 1));
        }
        sayln!("{}", table.trim_fmt());
        sayln!();
        sayln!("generation in force: {}", self.generation.explained());
        let (faults, warnings) = (self.count(Verdict::Fault), self.count(Verdict::Warning));
        let end = match (self.works(), faults) {
            (true, _) => "local reads work".to_owned(),
            (false, 0) => "local reads could not be tried".to_owned(),
            (false, count) if self.is_untried() => {
                format!("local reads could not be tried: {count} fault(s)")
            }
            (false, count) => format!("local reads do not work: {count} fault(s)"),
        };
        match warnings {
            0 => sayln!("{end}"),
            count => sayln!("{end}; {count} warning(s)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `doctor /nosuch` said that local reads do not work.
    #[test]
    fn a_file_that_is_not_there_says_nothing_of_local_reads() {
        let mut report = Report::default();
        report.fault("file", "x", "y");
        assert!(!report.works() && report.is_untried());
        assert_eq!(report.json()["tried"], json!(false));
        report.fault("socket-file", "x", "y");
        assert!(!report.is_untried());
        assert_eq!(report.json()["tried"], json!(true));
    }

    #[test]
    fn only_a_verified_read_without_a_fault_works() {
        let mut report = Report::default();
        report.ok("a", "x");
        assert!(!report.works());
        report.verified = true;
        report.warning("b", "x", "y");
        assert!(report.works());
        report.fault("c", "x", "y");
        assert!(!report.works() && report.has("c", Verdict::Fault));
        let json = report.json();
        assert_eq!((&json["faults"], &json["checks"][2]["fix"]), (&json!(1), &json!("y")));
    }
}
