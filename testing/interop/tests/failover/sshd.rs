//! OpenSSH's server, by this user, with keys of its own.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Outcome, ports, wait};

use zerohop_interop::pair::LIMIT;

/// A server on loopback that lets whoever has [`Self::key`] in as this user.
pub struct Sshd {
    pub port: u16,
    pub user: String,
    /// The private key for `dfs.ha.fencing.ssh.private-key-files`.
    pub key: PathBuf,
    log: PathBuf,
    _process: Process,
}

fn key(path: &Path) -> Outcome {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ssh-keygen: {status}")),
        Err(error) => Err(format!("ssh-keygen: {error}; run testing/ensure-tools.sh")),
    }
}

impl Sshd {
    pub fn start(directory: &Path) -> Outcome<Self> {
        let named = |error: std::io::Error| format!("{}: {error}", directory.display());
        std::fs::create_dir_all(directory).map_err(named)?;
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o700)).map_err(named)?;
        let (host, client) = (directory.join("host"), directory.join("client"));
        key(&host)?;
        key(&client)?;
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } == 0 {
            // Where root's server has its unprivileged part live; Debian makes it when the service starts.
            std::fs::create_dir_all("/run/sshd").map_err(|error| format!("/run/sshd: {error}"))?;
        }
        let port = ports::free();
        let config = directory.join("sshd_config");
        let text = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nPermitRootLogin yes\n",
            host.display(),
            client.with_extension("pub").display()
        );
        std::fs::write(&config, text).map_err(named)?;
        let log = directory.join("sshd.log");
        // It wants to be called by its whole path.
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f"]).arg(&config);
        let process = Process::daemon("sshd", command, &log)?;
        let listens = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
        wait::until("sshd listens", LIMIT, listens)
            .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
        let user = Command::new("id").arg("-un").output().map_err(|error| error.to_string())?;
        let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
        Ok(Self { port, user, key: client, log, _process: process })
    }

    pub fn last_words(&self) -> String {
        tail(&self.log, 12)
    }
}
