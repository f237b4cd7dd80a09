//! A directory for domain sockets that passes Hadoop's rules.

use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::harm::Explain;

/// Such a directory; removed when it is dropped.
pub struct SocketDirectory(PathBuf);

impl SocketDirectory {
    /// Makes one: where the data is, everybody may often write.
    pub fn make(name: &str) -> Outcome<Self> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        // SAFETY: the call takes nothing and cannot fail.
        let root = unsafe { libc::geteuid() } == 0;
        let base = match root {
            true => PathBuf::from("/run"),
            false => variable("XDG_RUNTIME_DIR")
                .or_else(|| variable("HOME"))
                .ok_or("a user without HOME has no safe directory for sockets")?,
        };
        let directory = base.join(format!("zh-{name}-{}", std::process::id()));
        std::fs::create_dir(&directory).at(&directory.display().to_string())?;
        Ok(Self(directory))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A value for `dfs.domain.socket.path`.
    pub fn setting(&self) -> String {
        self.0.join("dn._PORT").display().to_string()
    }
}

impl Drop for SocketDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
