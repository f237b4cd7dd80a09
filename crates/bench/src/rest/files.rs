//! A long file, put and got by REST, beside the same by the shell and beside the machine's sendfile.

use super::plan::RestPlan;
use super::service::{LONG, Upload};
use super::shell::Shell;
use crate::GB;
use crate::files::{Failure, repeat};
use crate::measure::median;
use crate::memory::ready_to_write;
use crate::raw::{self, Scratch, Sender, SocketKind};
use crate::report::Row;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Puts and gets the file.
pub(super) fn run(plan: &RestPlan, add: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let source = Scratch::create(&plan.local_directory, plan.size)?;
    let work = Work { plan, source, path: plan.path("long") };
    let by_shell = plan.shell.as_ref().map(|shell| work.put_by_shell(shell)).transpose()?;
    let put = work.put()?;
    let put = beside(put, by_shell, add);
    add(put);
    let limit = work.sendfile()?;
    let (name, most) = (limit.name.clone(), limit.value);
    add(limit);
    work.verify()?;
    add(work.get("", &mut || Ok(Box::new(io::sink())))?.against(name, most));
    let target = Target(plan.local_directory.join(format!(".got-{}", std::process::id())));
    let by_shell =
        plan.shell.as_ref().map(|shell| work.get_by_shell(shell, &target)).transpose()?;
    let got = work.get(", into a file", &mut || Ok(Box::new(File::create(&target.0)?)))?;
    let got = beside(got, by_shell, add);
    add(got);
    Ok(())
}

/// The shell's figure goes first, and is what the other one is measured against.
fn beside(row: Row, by_shell: Option<Row>, add: &mut dyn FnMut(Row)) -> Row {
    let Some(by_shell) = by_shell else { return row };
    let (name, value) = (by_shell.name.clone(), by_shell.value);
    add(by_shell);
    row.against(name, value)
}

/// A local file that is removed.
struct Target(PathBuf);

impl Target {
    fn remove(&self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.remove();
    }
}

struct Work<'a> {
    plan: &'a RestPlan,
    source: Scratch,
    path: String,
}

impl Work<'_> {
    fn gigabytes(&self) -> f64 {
        self.plan.size as f64 / GB
    }

    /// Megabytes a second of a run that took so long, and the gigabytes that its CPU time is for.
    fn figure(&self, seconds: f64) -> (f64, f64) {
        (self.plan.size as f64 / 1e6 / seconds, self.gigabytes())
    }

    fn repeat(
        &self,
        name: String,
        prepare: impl Fn() -> io::Result<()>,
        mut work: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Row, Failure> {
        let plan = self.plan;
        let timed = |_| {
            let start = Instant::now();
            work()?;
            Ok(self.figure(start.elapsed().as_secs_f64()))
        };
        repeat(name, "MB/s", (plan.runs, "s/GB"), &plan.watched, prepare, timed)
    }

    fn put(&self) -> Result<Row, Failure> {
        let mut client = self.plan.service.client(LONG);
        let name = format!("PUT of {:.2} GB", self.gigabytes());
        self.repeat(
            name,
            || self.ready_for_put(),
            || {
                let mut file = self.source.reopen()?;
                Ok(client.create(&self.path, Upload::File(&mut file, self.plan.size))?)
            },
        )
    }

    fn get(
        &self,
        where_to: &str,
        open: &mut dyn FnMut() -> io::Result<Box<dyn Write>>,
    ) -> Result<Row, Failure> {
        let mut client = self.plan.service.client(LONG);
        let name = format!("GET of {:.2} GB{where_to}", self.gigabytes());
        let prepare = || match where_to {
            "" => Ok(()),
            _ => ready_to_write(self.plan.size, 1),
        };
        self.repeat(name, prepare, || {
            let mut to = open()?;
            let len = client.read(&self.path, &mut |data| to.write_all(data))?;
            match len == self.plan.size {
                true => Ok(()),
                false => Err(format!("{len} bytes were got, not {}", self.plan.size).into()),
            }
        })
    }

    /// Reads the file once and compares it with what was put.
    fn verify(&self) -> Result<(), Failure> {
        let (mut file, mut expected) = (self.source.reopen()?, vec![0; LONG]);
        let mut compare = |data: &[u8]| {
            for part in data.chunks(LONG) {
                let expected = &mut expected[..part.len()];
                file.read_exact(expected)?;
                if part != expected {
                    return Err(io::Error::other("the server sends other bytes than were put"));
                }
            }
            Ok(())
        };
        let len = self.plan.service.client(LONG).read(&self.path, &mut compare)?;
        match len == self.plan.size {
            true => Ok(()),
            false => Err(format!("{len} bytes were got, not {}", self.plan.size).into()),
        }
    }

    fn sendfile(&self) -> Result<Row, Failure> {
        let (size, runs) = (self.plan.size, self.plan.runs);
        let mut best: Option<raw::StreamLimit> = None;
        for buffer_len in [256 << 10, LONG] {
            let (kind, sender) = (SocketKind::Tcp, Sender::Sendfile);
            let limit = raw::stream(&self.source, kind, sender, buffer_len, size, runs)?;
            if best.as_ref().is_none_or(|best| best.median() < limit.median()) {
                best = Some(limit);
            }
        }
        Ok(best.ok_or("no size of buffer was tried")?.row())
    }

    fn ready_for_put(&self) -> io::Result<()> {
        // There is none before the first run.
        let _ = self.plan.service.client(LONG).delete(&self.path);
        ready_to_write(self.plan.size, 1)
    }

    fn put_by_shell(&self, shell: &Shell) -> Result<Row, Failure> {
        let name = format!("fs -put of {:.2} GB", self.gigabytes());
        self.by_shell(name, &|| {
            self.ready_for_put()?;
            let source = self.source.path().as_os_str().to_owned();
            shell.time(["-put".into(), source, self.path.clone().into()])
        })
    }

    fn get_by_shell(&self, shell: &Shell, target: &Target) -> Result<Row, Failure> {
        let name = format!("fs -get of {:.2} GB", self.gigabytes());
        let row = self.by_shell(name, &|| {
            target.remove();
            ready_to_write(self.plan.size, 1)?;
            let to = target.0.as_os_str().to_owned();
            shell.time(["-get".into(), self.path.clone().into(), to])
        });
        target.remove();
        row
    }

    fn by_shell(
        &self,
        name: String,
        once: &dyn Fn() -> io::Result<(f64, f64)>,
    ) -> Result<Row, Failure> {
        let (mut speeds, mut cpu) = (Vec::new(), Vec::new());
        for _ in 0..self.plan.runs {
            let (took, spent) = once()?;
            let (speed, gigabytes) = self.figure(took);
            speeds.push(speed);
            cpu.push(spent / gigabytes);
        }
        Ok(Row::new(name, "MB/s", speeds).cost("client", median(&cpu), "s/GB"))
    }
}
