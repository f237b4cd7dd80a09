//! Facts of this process and its machine.

/// The name of this machine.
pub fn host_name() -> String {
    nix::unistd::gethostname()
        .map_or_else(|_| "localhost".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// `pid@host`, as a Java virtual machine calls itself (`RuntimeMXBean.getName`).
pub fn name() -> String {
    format!("{}@{}", std::process::id(), host_name())
}

/// Threads of this process; 0 if the system does not say.
#[cfg(target_os = "linux")]
pub fn threads() -> usize {
    let stat = procfs::process::Process::myself().and_then(|process| process.stat());
    stat.map_or(0, |stat| usize::try_from(stat.num_threads).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_named_by_its_id_and_machine() {
        let name = name();
        let (id, host) = name.split_once('@').unwrap();
        assert_eq!(id, std::process::id().to_string());
        assert!(!host.is_empty() && host == host_name());
    }
}
