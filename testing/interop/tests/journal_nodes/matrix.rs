//! The matrix script while the active NameNode changes five times.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use zerohop_interop::cluster::have_spoken;
use zerohop_interop::driver::Driver;
use zerohop_interop::process::Process;
use zerohop_interop::script::{self, Servers};
use zerohop_interop::{Kind, Outcome, wait};

use super::{DATANODES, LIMIT, Pair};

/// Steps of the script during which the active NameNode may change: all but the last one, which restarts everything.
const STEPS: usize = 20;
const FAILOVERS: usize = 5;

/// A pair with its DataNodes, as the script asks them. Another thread moves the active state meanwhile.
struct ServersOfPair {
    pair: Arc<Mutex<Pair>>,
    datanodes: Vec<Option<Process>>,
    /// When each DataNode was last started, in ms since 1970.
    started_ms: Vec<u64>,
    judge: Option<Driver>,
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

impl ServersOfPair {
    /// Takes the DataNodes over from the pair.
    fn of(mut pair: Pair) -> Self {
        let datanodes: Vec<_> = std::mem::take(&mut pair.datanodes).into_iter().map(Some).collect();
        let started_ms = vec![0; datanodes.len()];
        Self { pair: Arc::new(Mutex::new(pair)), datanodes, started_ms, judge: None }
    }

    fn pair(&self) -> MutexGuard<'_, Pair> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self, kind: Kind, name: &str) -> Outcome<Driver> {
        let conf = self.pair().conf("client");
        Driver::start(kind, &conf, &conf.with_file_name(name), &[])
    }

    fn all_spoke(&self, contacts: &[String]) -> bool {
        let ports = self.pair().data_ports;
        let running = (0..self.datanodes.len()).filter(|&i| self.datanodes[i].is_some());
        let started = running.map(|i| (format!("127.0.0.1:{}", ports[i]), self.started_ms[i]));
        have_spoken(contacts, started)
    }
}

impl Servers for ServersOfPair {
    fn judge(&mut self) -> Outcome<&mut Driver> {
        if self.judge.is_none() {
            self.judge = Some(self.client(Kind::Apache, "driver-judge.log")?);
        }
        self.judge.as_mut().ok_or_else(|| "no judge".to_owned())
    }

    fn datanode_at(&self, address: &str) -> Outcome<usize> {
        let ports = self.pair().data_ports;
        let found = ports.iter().position(|port| address == format!("127.0.0.1:{port}"));
        found.ok_or_else(|| format!("no DataNode has the address {address}"))
    }

    fn start_datanode(&mut self, i: usize) -> Outcome {
        self.started_ms[i] = now_ms();
        let process = self.pair().datanode(i)?;
        self.datanodes[i] = Some(process);
        Ok(())
    }

    fn kill_datanode(&mut self, i: usize) {
        self.datanodes[i] = None;
    }

    fn wait_serving(&mut self) -> Outcome {
        wait::until("all DataNodes live, out of safe mode", LIMIT, || {
            let contacts = self.judge()?.ok(&["contacts"])?;
            let safe = self.judge()?.ok(&["safemode", "get"])?;
            match self.all_spoke(&contacts) && safe[0] == "false" {
                true => Ok(true),
                false => Err(format!("live {contacts:?}, safe mode {safe:?}")),
            }
        })
    }

    fn restart(&mut self) -> Outcome {
        for process in self.datanodes.iter_mut().filter_map(Option::take) {
            stop(process)?;
        }
        self.pair().restart()?;
        for i in 0..DATANODES.len() {
            self.start_datanode(i)?;
        }
        self.judge = None;
        self.wait_serving()
    }

    fn keep_logs(&mut self) {}
}

fn stop(mut process: Process) -> Outcome {
    process.stop(LIMIT).map(drop)
}

impl Pair {
    /// Gives the active state to the other NameNode: the one that has it gives it up, or is killed and started again.
    fn fail_over(&mut self, kills: bool) -> Outcome {
        let (active, other) = (self.active, 1 - self.active);
        let is_automatic = self.kinds.controllers.is_some();
        if kills {
            self.namenodes[active] = None;
        }
        match (is_automatic, kills) {
            (true, true) => self.until_active(other)?,
            (true, false) => self.admin(&format!("-failover nn{active} nn{other}"))?,
            // No answer says whether the one that was killed is active still.
            (false, true) => self.admin(&format!("-transitionToActive --forceactive nn{other}"))?,
            (false, false) => {
                self.admin(&format!("-transitionToStandby nn{active}"))?;
                self.admin(&format!("-transitionToActive nn{other}"))?;
            }
        }
        self.active = other;
        if kills { self.start_namenode(active) } else { Ok(()) }
    }

    fn until_active(&mut self, i: usize) -> Outcome {
        wait::until(&format!("nn{i} is active"), LIMIT, || {
            Ok(self.ask(&format!("admin -getServiceState nn{i}"))? == "active")
        })
    }

    /// Waits until the controllers have made a NameNode active, and remembers which.
    pub(super) fn find_active(&mut self) -> Outcome {
        wait::until("a NameNode is active", LIMIT, || {
            let states = [0, 1].map(|i| self.ask(&format!("admin -getServiceState nn{i}")));
            let active = states.iter().position(|state| state.as_deref() == Ok("active"));
            self.active = active.unwrap_or(self.active);
            if active.is_some() { Ok(true) } else { Err(format!("{states:?}")) }
        })
    }

    /// Stops NameNodes and JournalNodes in order, and starts them.
    fn restart(&mut self) -> Outcome {
        let stopped = std::mem::take(&mut self.namenodes).into_iter();
        stopped.flatten().try_for_each(stop)?;
        let stopped = std::mem::take(&mut self.journal_nodes).into_iter();
        stopped.flatten().try_for_each(stop)?;
        (0..3).try_for_each(|i| self.start_journal_node(i))?;
        (0..2).try_for_each(|i| self.start_namenode(i))?;
        match self.kinds.controllers {
            None => self.admin(&format!("-transitionToActive nn{}", self.active)),
            Some(_) => self.find_active(),
        }
    }
}

/// Runs the script with a client of a kind. The steps that meet a failover are every fourth one from `first` on, so that four
/// rows have them all.
pub fn run(pair: Pair, client: Kind, first: usize) -> Result<(), String> {
    let mut servers = ServersOfPair::of(pair);
    servers.wait_serving()?;
    let under_test = servers.client(client, "driver-client.log")?;
    let others = vec![
        servers.client(Kind::Apache, "driver-other.log")?,
        servers.client(Kind::Ours, "driver-ours-other.log")?,
    ];
    let pair = servers.pair.clone();
    let mut kills = true;
    let failures = script::run_on(servers, under_test, others, |row, number, step| {
        if number >= STEPS || number % (STEPS / FAILOVERS) != first % (STEPS / FAILOVERS) {
            return step(row);
        }
        kills = !kills;
        let pair = row.cluster.pair.clone();
        std::thread::scope(|scope| {
            let moved = scope
                .spawn(|| pair.lock().unwrap_or_else(PoisonError::into_inner).fail_over(kills));
            let stepped = step(row);
            let moved = moved.join().unwrap_or_else(|_| Err("a failover panicked".to_owned()));
            stepped.and(moved)
        })
    });
    let pair = pair.lock().unwrap_or_else(PoisonError::into_inner);
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{}", failures.join("\n"), pair.logs())),
    }
}
