//! `zerohop up` finds a safe place for its domain sockets, wherever its data is and whoever runs it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use zerohop_interop::harm::Explain;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Outcome, tools};

/// Somebody without any rights.
const NOBODY: u32 = 65534;

/// Starts three DataNodes with the data in `data`; what the client configuration says and the sockets
/// that are there.
fn sockets(data: Option<&Path>, user: Option<(u32, &Path)>) -> Outcome<(PathBuf, usize)> {
    let zerohop = tools::zerohop()?;
    let mut command = match user {
        None => Command::new(&zerohop),
        Some((id, home)) => {
            // The checkout may lie where others cannot go.
            let copy = home.join("zerohop");
            fs::copy(&zerohop, &copy).at("a copy of zerohop")?;
            let mut command = Command::new("setpriv");
            command
                .arg(format!("--reuid={id}"))
                .arg(format!("--regid={id}"))
                .arg("--clear-groups")
                .arg(&copy)
                .env("HOME", home)
                .env_remove("XDG_RUNTIME_DIR");
            command
        }
    };
    let script = r#"
        test "$(zerohop getconf -confKey dfs.client.read.shortcircuit)" = true || exit 9
        path=$(zerohop getconf -confKey dfs.domain.socket.path)
        echo "$path"
        ls "${path%_PORT}"* | wc -l
    "#;
    command.args(["up", "--datanodes", "3", "--port", "0", "--http-port", "0", "--exec", script]);
    if let Some(data) = data {
        command.arg("--data").arg(data);
    }
    let output = command.output().at("zerohop up")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    match (output.status.success(), lines.next(), lines.next()) {
        (true, Some(path), Some(count)) => Ok((path.into(), count.trim().parse().at(count)?)),
        _ => Err(format!("{text}\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Whoever runs it, and wherever the data is: three sockets, at a path that passes the rules, and
/// none of them left afterwards.
fn check(data: Option<&Path>, user: Option<(u32, &Path)>) -> Outcome {
    let (path, count) = sockets(data, user)?;
    let what = format!("{data:?} {user:?}: {}", path.display());
    if count != 3 {
        return Err(format!("{what}: {count} sockets for three DataNodes"));
    }
    let directory = path.parent().ok_or("no directory")?;
    if user.is_none() {
        zerohop_transport::domain::validate(&path).at(&what)?;
    }
    let prefix = path.file_name().unwrap_or_default().to_string_lossy().replace("_PORT", "");
    let left: Vec<_> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .collect();
    match left.is_empty() {
        true => Ok(()),
        false => Err(format!("{what}: left behind: {left:?}")),
    }
}

#[test]
fn up_has_local_reads_on() {
    let directory = SocketDirectory::make("up").unwrap();
    let safe = directory.path().join("data");
    let deep = directory.path().join("d".repeat(100)).join("data");
    let unsafe_directory = tempfile::tempdir().unwrap();
    fs::set_permissions(unsafe_directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    for data in [None, Some(safe.as_path()), Some(&deep), Some(unsafe_directory.path())] {
        check(data, None).unwrap();
    }
    let home = directory.path().join("home");
    fs::create_dir(&home).unwrap();
    // Only root can be somebody else.
    if chown(&home, Some(NOBODY), Some(NOBODY)).is_ok() {
        check(None, Some((NOBODY, &home))).unwrap();
    }
}
