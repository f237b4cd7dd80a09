//! Our client behind the line protocol of the interop tests (described in the library's
//! `driver/mod.rs`); the counterpart of `Driver.java`. `interop-driver CONF_DIR [KEY=VALUE...]`
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod answer;
mod attributes;
mod files;
mod paths;

use std::collections::HashMap;
use std::io::{BufRead, Write};

use answer::{Answer, fault};
use files::Files;
use zerohop_client::User;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;
use zerohop_interop::driver::{escape, unescape};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut conf = Conf::load(args.next().unwrap_or_default()).unwrap_or_else(|e| {
        eprintln!("interop-driver: {e}");
        std::process::exit(2);
    });
    for setting in args {
        let (name, value) = setting.split_once('=').unwrap_or((&setting, ""));
        conf.set(name, value);
    }
    let mut users = HashMap::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let answer = serve(&conf, &mut users, &line);
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// What one user has: a client and its open files.
struct Session {
    fs: FileSystem,
    files: Files,
}

fn serve(conf: &Conf, users: &mut HashMap<String, Session>, line: &str) -> String {
    let fields: Vec<String> = line.split('\t').map(unescape).collect();
    let [user, command, args @ ..] = &fields[..] else {
        return "err\tIllegalArgumentException\ta request needs a user and a command".to_owned();
    };
    let result = session(conf, users, user).and_then(|s| run(s, command, args));
    match result {
        Ok(results) => {
            let all = results.iter().map(|r| escape(r));
            std::iter::once("ok".to_owned()).chain(all).collect::<Vec<_>>().join("\t")
        }
        Err(error) => {
            let (class, message) = fault(&error);
            format!("err\t{class}\t{}", escape(&message))
        }
    }
}

fn session<'a>(
    conf: &Conf,
    users: &'a mut HashMap<String, Session>,
    user: &str,
) -> zerohop_client::Result<&'a mut Session> {
    if !users.contains_key(user) {
        let login = if user.is_empty() { User::of_process() } else { User::new(user) };
        let fs = FileSystem::connect_as(conf, None, login)?;
        users.insert(user.to_owned(), Session { fs, files: Files::default() });
    }
    users.get_mut(user).ok_or_else(|| answer::invalid("no session"))
}

fn run(session: &mut Session, command: &str, args: &[String]) -> Answer {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = session.files.run(&session.fs, command, &args);
    let found = found.or_else(|| paths::run(&session.fs, command, &args));
    let found = found.or_else(|| attributes::run(&session.fs, command, &args));
    found.unwrap_or_else(|| Err(answer::invalid(format!("unknown command {command} {args:?}"))))
}
