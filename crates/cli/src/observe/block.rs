//! `heatmap --block`: how long the disks of this machine take for each request, from the moment that the kernel gives it to
//! the device until it is done, through tracefs. For root; in an instance of its own, so that other traces go on.

use crate::failure::{Failure, Outcome};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_profile::heat::{HeatMap, LatencyHistory};
use zerohop_system::clock;

/// Where tracefs is mounted.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const EVENTS: [&str; 2] = ["block_rq_issue", "block_rq_complete"];
const PAUSE: Duration = Duration::from_millis(50);
/// Requests under way that are remembered: the completion of one may have been lost.
const REQUESTS_MAX: usize = 100_000;

/// What was recorded.
pub struct Recorded {
    /// A map for each device and kind of request.
    pub maps: Vec<HeatMap>,
    /// Events that the kernel had no room for: so many requests may lack.
    pub lost: u64,
}

/// Records for so many seconds, or until `is_stopped` says so.
pub fn record(seconds: u64, is_stopped: impl Fn() -> bool) -> Outcome<Recorded> {
    let trace = Trace::start()?;
    let mut requests = Requests::default();
    let begun = clock::now();
    let (mut text, mut rest) = (String::new(), String::new());
    while clock::since(begun) < Duration::from_secs(seconds) && !is_stopped() {
        clock::sleep_thread(PAUSE);
        trace.read(&mut text)?;
        rest.push_str(&text);
        let end = rest.rfind('\n').map_or(0, |end| end + 1);
        rest.get(..end).unwrap_or_default().lines().for_each(|line| requests.note(line));
        rest.drain(..end);
    }
    Ok(Recorded { maps: requests.maps(seconds), lost: requests.lost })
}

/// An instance of the kernel's trace, which ends with this.
struct Trace {
    instance: PathBuf,
    pipe: Option<File>,
}

impl Trace {
    fn start() -> Outcome<Self> {
        let root = PLACES.iter().map(Path::new).find(|place| place.join("instances").is_dir());
        let root = root.ok_or_else(|| {
            Failure::unsupported(
                "--block needs tracefs: as root, mount -t tracefs tracefs /sys/kernel/tracing",
            )
        })?;
        let missing = |error: io::Error| {
            Failure::unsupported(format!(
                "--block needs root and the kernel's block events in {}: {error}",
                root.display()
            ))
        };
        let instance = root.join(format!("instances/zerohop-{}", std::process::id()));
        fs::create_dir(&instance).map_err(missing)?;
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(instance.join("trace_pipe"));
        let pipe = pipe.map_err(missing).inspect_err(|_| _ = fs::remove_dir(&instance))?;
        let trace = Self { instance, pipe: Some(pipe) };
        for event in EVENTS {
            trace.set(&format!("events/block/{event}/enable"), "1").map_err(missing)?;
        }
        Ok(trace)
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.instance.join(file), value)
    }

    /// What has been traced since the last time.
    fn read(&self, text: &mut String) -> io::Result<()> {
        text.clear();
        let mut bytes = vec![0; 64 << 10];
        let Some(mut pipe) = self.pipe.as_ref() else { return Ok(()) };
        loop {
            match pipe.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(len) => {
                    text.push_str(&String::from_utf8_lossy(bytes.get(..len).unwrap_or_default()))
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        for event in EVENTS {
            _ = self.set(&format!("events/block/{event}/enable"), "0");
        }
        // An open pipe keeps the instance.
        self.pipe = None;
        if let Err(error) = fs::remove_dir(&self.instance) {
            noteln!("heatmap: {} stays: {error}", self.instance.display());
        }
    }
}

/// A request: device, first sector, and what it does.
type Request = (String, String, &'static str);

#[derive(Default)]
struct Requests {
    /// When those under way were given to the device, in microseconds of the trace's clock.
    issued: HashMap<Request, u64>,
    done: HashMap<(String, &'static str), LatencyHistory>,
    lost: u64,
}

impl Requests {
    /// Takes a line of the trace.
    fn note(&mut self, line: &str) {
        let Some((at, event, request)) = parse(line) else {
            self.lost += lost(line);
            return;
        };
        if event == EVENTS[0] {
            if self.issued.len() >= REQUESTS_MAX {
                self.issued.clear();
            }
            self.issued.insert(request, at);
        } else if let Some(begun) = self.issued.remove(&request) {
            let (device, _, kind) = request;
            let took = Duration::from_micros(at.saturating_sub(begun));
            self.done.entry((device, kind)).or_default().note(took);
        }
    }

    fn maps(&self, seconds: u64) -> Vec<HeatMap> {
        let mut maps: Vec<HeatMap> = self
            .done
            .iter()
            .map(|((device, kind), history)| {
                let now = history.now();
                let found = history.seconds(now.saturating_sub(seconds));
                HeatMap::new(name_of(device), kind, &found, now, seconds)
            })
            .collect();
        maps.sort_by(|a, b| (&a.place, a.kind).cmp(&(&b.place, b.kind)));
        maps
    }
}

/// `task-1 [000] ..... 12.345678: block_rq_issue: 8,0 WS 4096 () 1234 + 8 none,0,0 [task]`; a completion lacks the bytes. The
/// name of the task may hold anything.
fn parse(line: &str) -> Option<(u64, &'static str, Request)> {
    let (event, (head, rest)) = EVENTS.into_iter().find_map(|event| {
        let split = line.split_once(&format!(": {event}: "))?;
        Some((event, split))
    })?;
    let (seconds, micros) = head.split_whitespace().last()?.split_once('.')?;
    let at = seconds.parse::<u64>().ok()?.checked_mul(1_000_000)? + micros.parse::<u64>().ok()?;
    let device = rest.split_whitespace().next()?;
    let flags = rest.split_whitespace().nth(1)?;
    let (before, _) = rest.split_once(" + ")?;
    let sector = before.split_whitespace().last()?;
    let kind = match flags {
        flags if flags.starts_with("FF") || !flags.contains(['R', 'W', 'D']) => "flush",
        flags if flags.contains('W') => "write",
        flags if flags.contains('R') => "read",
        _ => "discard",
    };
    Some((at, event, (device.to_owned(), sector.to_owned(), kind)))
}

/// Of a line `CPU:0 [LOST 7 EVENTS]` the number.
fn lost(line: &str) -> u64 {
    let number = line.split_once("[LOST ").and_then(|(_, rest)| rest.split_once(" EVENTS]"));
    number.and_then(|(number, _)| number.parse().ok()).unwrap_or_default()
}

/// The name of a device with these numbers, as `sda`.
fn name_of(numbers: &str) -> String {
    let link = fs::read_link(format!("/sys/dev/block/{}", numbers.replace(',', ":")));
    let name = link.ok().and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
    name.map_or_else(|| numbers.to_owned(), |name| format!("/dev/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_matched_with_their_completions() {
        let mut requests = Requests::default();
        for line in [
            "  dd-9 [001] d..1. 10.000100: block_rq_issue: 8,0 WS 4096 () 700 + 8 none,0,0 [dd]",
            "  dd-9 [001] d..1. 10.000200: block_rq_issue: 8,0 R 4096 () 800 + 8 none,0,0 [a + b]",
            "  <idle>-0 [000] d.h1. 10.050100: block_rq_complete: 8,0 WS () 700 + 8 none,0,0 [0]",
            "  <idle>-0 [000] d.h1. 10.050100: block_rq_complete: 8,0 WS () 700 + 8 none,0,0 [0]",
            "  odd: block_rq_issue: x",
            "CPU:0 [LOST 7 EVENTS]",
        ] {
            requests.note(line);
        }
        let maps = requests.maps(60);
        assert_eq!(maps.len(), 1);
        assert_eq!((maps[0].kind, maps[0].summary().unwrap().count), ("write", 1));
        assert!(
            (32.0..50.0).contains(&maps[0].summary().unwrap().median_ms),
            "{:?}",
            maps[0].summary()
        );
        assert_eq!((requests.issued.len(), requests.lost), (1, 7));
    }

    #[test]
    fn kinds_are_read_from_the_flags() {
        let kind = |flags: &str| {
            let line =
                format!("t-1 [0] . 1.000001: block_rq_issue: 8,0 {flags} 0 () 0 + 0 none,0,0 [t]");
            parse(&line).unwrap().2.2
        };
        let found = ["R", "RA", "W", "WFS", "FF", "D", "N"].map(kind);
        assert_eq!(found, ["read", "read", "write", "write", "flush", "discard", "flush"]);
    }
}
