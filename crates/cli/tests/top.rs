//! `top`: as text, as JSON, and in a terminal.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use support::{Signal, Up, run, send, until, wait, zerohop};

fn top(up: &Up, args: &[&str]) -> Command {
    let mut command = zerohop(&["top"]);
    command.args(args).env("HADOOP_CONF_DIR", &up.conf);
    command
}

#[test]
fn scripts_get_text_and_json() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(directory.path());
    assert_eq!(run(&mut up.fs(&["-mkdir", "-p", "/hot/directory"])).0, 0);
    let (code, out, err) = run(&mut top(&up, &["--once", "--interval", "0.5"]));
    assert_eq!(code, 0, "{err}");
    for text in [": active", "Safe mode off", "In Service", "Mkdirs", "/hot", "Descriptors"] {
        assert!(out.contains(text), "{text} in:\n{out}");
    }
    let (code, out, err) = run(&mut top(&up, &["--json", "--interval", "0.5"]));
    assert_eq!(code, 0, "{err}");
    let figures: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"));
    assert_eq!(figures["nameNodes"][0]["state"], "active");
    assert_eq!(figures["cluster"]["liveDataNodes"], 1);
    assert_eq!(figures["dataNodes"][0]["state"], "In Service");
    assert!(figures["disks"][0]["free"].as_u64() > Some(0), "{out}");
    // Its output is read by a program, and there is no terminal.
    let (code, _, err) = run(&mut top(&up, &[]));
    assert_eq!(code, 1);
    assert!(err.contains("no terminal; use --once"), "{err}");
}

#[test]
fn what_does_not_answer_is_told() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (code, out, err) = run(zerohop(&["top", "--once"]).arg(closed.to_string()));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains(&closed.to_string()) && err.contains("refused"), "{err}");
    let (code, _, err) = run(&mut zerohop(&["top", "--json", "nowhere"]));
    assert_eq!(code, 255);
    assert!(err.contains("HOST:PORT"), "{err}");
    let (code, _, err) = run(&mut zerohop(&["top", "--interval", "0"]));
    assert_eq!(code, 2);
    assert!(err.contains("0.2"), "{err}");
}

/// A program in a terminal of its own.
struct Terminal {
    keyboard: File,
    /// What the program has written.
    screen: Arc<Mutex<Vec<u8>>>,
    child: Child,
}

impl Terminal {
    fn start(mut command: Command, size: (u16, u16)) -> Self {
        let (mut controller, mut terminal) = (-1, -1);
        let null = std::ptr::null_mut();
        // SAFETY: both numbers are valid places for a descriptor, and the others may be null.
        let made = unsafe {
            libc::openpty(&mut controller, &mut terminal, null, std::ptr::null(), std::ptr::null())
        };
        assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: they were just made, and nothing else owns them.
        let (controller, terminal) =
            unsafe { (OwnedFd::from_raw_fd(controller), OwnedFd::from_raw_fd(terminal)) };
        // A copy, which programs that are started do not inherit: a terminal lasts as long as anything holds this end.
        let keyboard = File::from(controller.try_clone().unwrap());
        resize(&keyboard, size);
        let of = || Stdio::from(terminal.try_clone().unwrap());
        command.stdin(of()).stdout(of()).stderr(of());
        // SAFETY: both calls are async-signal-safe and touch no memory.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        let screen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (written, mut from) = (Arc::clone(&screen), keyboard.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal has a holder in this process, so that it lasts as long as its settings are asked for.
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                written.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        std::mem::forget(terminal);
        Self { keyboard, screen, child }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the program has written this after what it wrote before; how much it has written then.
    fn until_shown(&self, text: &str, from: usize) -> usize {
        until(|| self.shows(text, from))
    }

    fn shows(&self, text: &str, from: usize) -> Option<usize> {
        let screen = self.screen.lock().unwrap();
        String::from_utf8_lossy(&screen[from..]).contains(text).then_some(screen.len())
    }

    /// Presses keys, and waits until this is shown. Of what is on the screen already only differences are written, letters of a word
    /// left out: another size has all of it written.
    fn press_until_shown(&mut self, keys: &str, text: &str, from: usize) -> usize {
        self.press(keys);
        let mut polls = 0_u16;
        until(|| {
            polls += 1;
            if polls.is_multiple_of(40) {
                resize(&self.keyboard, (120 + polls / 40 % 2, 30));
            }
            self.shows(text, from)
        })
    }

    fn settings(&self) -> (u32, u32, u32) {
        let mut settings = std::mem::MaybeUninit::<libc::termios>::uninit();
        // SAFETY: the descriptor is open, and the place is one for these settings.
        let asked = unsafe { libc::tcgetattr(self.keyboard.as_raw_fd(), settings.as_mut_ptr()) };
        assert_eq!(asked, 0);
        // SAFETY: the call has filled it.
        let settings = unsafe { settings.assume_init() };
        (settings.c_iflag, settings.c_oflag, settings.c_lflag)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn resize(terminal: &File, (columns, rows): (u16, u16)) {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the descriptor is open, and the call reads a size.
    assert_eq!(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
}

const LEAVES_SCREEN: &str = "\u{1b}[?1049l";
const SHOWS_CURSOR: &str = "\u{1b}[?25h";

#[test]
fn keys_lead_through_the_panes_and_the_terminal_is_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(directory.path());
    let mut command = top(&up, &["--interval", "0.3"]);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command, (120, 30));
    let before = terminal.settings();
    let at = terminal.until_shown("Xceivers", 0);
    assert_ne!(terminal.settings(), before, "keys come one by one");
    let at = terminal.press_until_shown("\t", "Since start", at);
    let at = terminal.press_until_shown("6", "Sync ms", at);
    // To the left, with an arrow.
    let at = terminal.press_until_shown("\u{1b}[D", "Descriptors", at);
    resize(&terminal.keyboard, (40, 10));
    // One word: blanks between words are skipped.
    let at = terminal.until_shown("columns", at);
    let at = terminal.press_until_shown("1", "Xceivers", at);
    terminal.press("q");
    terminal.until_shown(LEAVES_SCREEN, at);
    assert_eq!(wait(&mut terminal.child), 0);
    terminal.until_shown(SHOWS_CURSOR, at);
    assert_eq!(terminal.settings(), before);
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(directory.path());
    let mut command = top(&up, &[]);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command, (120, 30));
    let before = terminal.settings();
    let at = terminal.until_shown("Xceivers", 0);
    send(&terminal.child, Signal::TERM);
    terminal.until_shown(LEAVES_SCREEN, at);
    assert_eq!(wait(&mut terminal.child), 0);
    assert_eq!(terminal.settings(), before);
}
