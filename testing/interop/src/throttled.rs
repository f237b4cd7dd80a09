//! Real disks that are slow: file systems on loop devices, one of which the kernel's block layer throttles for a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{Process, tail};
use crate::{Outcome, cannot_run, tools, wait};

/// Bytes of each file system.
const DISK_LEN: u64 = 96 << 20;

/// A mount namespace with a small file system on each of some directories, and a control group whose processes may only do so many
/// writes a second to one of them.
pub struct ThrottledDisks {
    holder: Process,
    group: Group,
}

/// A control group for block devices, of either version; removed when it is dropped, if its processes have ended.
struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        let is_gone = || Ok(fs::remove_dir(&self.0).is_ok() || !self.0.exists());
        let _ = wait::until("the control group is empty", Duration::from_secs(20), is_gone);
    }
}

impl ThrottledDisks {
    /// Puts a file system on each directory, and limits the writes a second to that on `directories[slow]`. Where this machine has no
    /// loop devices, or does not let us mount or throttle, see [`cannot_run`].
    pub fn mount(
        directories: &[PathBuf],
        slow: usize,
        writes_per_s: u32,
        log: &Path,
    ) -> Outcome<Option<Self>> {
        let mut script = "set -e\n".to_owned();
        for directory in directories {
            let image = directory.with_extension("image");
            let file = fs::File::create(&image).map_err(|e| format!("{}: {e}", image.display()))?;
            file.set_len(DISK_LEN).map_err(|e| e.to_string())?;
            fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
            let (image, directory) = (image.display(), directory.display());
            script += &format!("mkfs.ext4 -q '{image}'\nmount -o loop '{image}' '{directory}'\n");
            script += &format!("rm -rf '{directory}/lost+found'\n");
            script += &format!("echo device $(mountpoint -d '{directory}')\n");
        }
        script += "echo mounted\nread _ || true\n";
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
        let mut holder = Process::daemon("loop disks", command, log)?;
        let waited = wait::until("disks on loop devices", Duration::from_secs(60), || {
            Ok(holder.ended().is_some() || tail(log, 1).ends_with("mounted"))
        });
        if waited.is_err() || holder.ended().is_some() {
            let why = format!("no file system on a loop device here: {}", tail(log, 3));
            return cannot_run(&why).map(|()| None);
        }
        let said = fs::read_to_string(log).map_err(|e| e.to_string())?;
        let devices: Vec<&str> =
            said.lines().filter_map(|line| line.strip_prefix("device ")).collect();
        let device =
            devices.get(slow).ok_or_else(|| format!("no device of disk {slow}: {said}"))?;
        match Group::make(device, writes_per_s) {
            Ok(group) => Ok(Some(Self { holder, group })),
            Err(why) => {
                cannot_run(&format!("no control group that throttles disks here: {why}"))?;
                Ok(None)
            }
        }
    }

    /// Our binary, where it sees the file systems and is throttled.
    pub fn zerohop(&self, conf: &Path, args: &[&str]) -> Outcome<Command> {
        let mut command = Command::new("nsenter");
        command.arg("--target").arg(self.holder.id().to_string()).arg("--mount");
        let join = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
        command.args(["sh", "-c", join]).arg(&self.group.0);
        command.arg(tools::zerohop()?).arg("--config").arg(conf).args(args);
        Ok(command)
    }
}

impl Group {
    fn make(device: &str, writes_per_s: u32) -> Outcome<Self> {
        let name = format!("zerohop-test-{}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/blkio");
        let (parent, file, limit) = match first.is_dir() {
            true => (first, "blkio.throttle.write_iops_device", format!("{device} {writes_per_s}")),
            false => {
                (Path::new("/sys/fs/cgroup"), "io.max", format!("{device} wiops={writes_per_s}"))
            }
        };
        if file == "io.max" {
            let control = parent.join("cgroup.subtree_control");
            fs::write(&control, "+io").map_err(|e| format!("{}: {e}", control.display()))?;
        }
        let directory = parent.join(name);
        fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let group = Self(directory);
        let limits = group.0.join(file);
        fs::write(&limits, &limit).map_err(|e| format!("{}: {limit}: {e}", limits.display()))?;
        Ok(group)
    }
}
