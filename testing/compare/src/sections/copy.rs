//! put and get of a large file as whole processes, beside cp.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use zerohop_bench::memory::ready_to_write;
use zerohop_bench::raw::Scratch;
use zerohop_interop::{Kind, Outcome};

use super::shell::{shell, timed};
use crate::both::Both;
use crate::table::{Better, Figure, Pair, number};

const TARGET: &str = "/copy";

/// Three ways to copy the same file.
pub fn run(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    let directory = &both.directory;
    let scratch = Scratch::create(directory, both.args.copy_size).map_err(|e| e.to_string())?;
    let source = directory.join("source");
    // The shells want a name without a dot in front.
    std::fs::hard_link(scratch_path(&scratch)?, &source).map_err(|e| e.to_string())?;
    let target = directory.join("target");
    let plain = copies(both, || {
        let mut command = Command::new("cp");
        command.arg(&source).arg(&target);
        let took = timed(command);
        let _ = std::fs::remove_file(&target);
        took
    })?;
    let gigabytes = both.args.copy_size as f64 / zerohop_bench::GB;
    for what in ["put", "get"] {
        let sides = [Kind::Apache, Kind::Ours].map(|kind| side(both, kind, what, &source, &target));
        let [apache, ours] = sides;
        let (apache, ours) = (apache?, ours?);
        let cp = number(ours.value / plain.value);
        add(Pair {
            name: format!(
                "{what} of {gigabytes:.2} GB (cp {} s, ours {cp} of it)",
                number(plain.value)
            ),
            unit: "s",
            cpu_unit: "s, client",
            better: Better::Less,
            apache,
            ours,
            goal: None,
        });
    }
    let _ = std::fs::remove_file(&source);
    Ok(())
}

fn scratch_path(scratch: &Scratch) -> Outcome<std::path::PathBuf> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", File::as_raw_fd(&scratch.file));
    std::fs::read_link(link).map_err(|e| e.to_string())
}

fn copies(both: &Both, mut once: impl FnMut() -> Outcome<(f64, f64)>) -> Outcome<Figure> {
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    for _ in 0..both.args.runs {
        ready_to_write(both.args.copy_size, 1).map_err(|e| e.to_string())?;
        let (took, spent) = once()?;
        wall.push(took);
        cpu.push(spent);
    }
    Ok(Figure::new(wall).with_cpu(&cpu))
}

fn side(both: &Both, kind: Kind, what: &str, source: &Path, target: &Path) -> Outcome<Figure> {
    let cluster = both.cluster(kind);
    let put = || {
        let mut command = shell(cluster)?;
        command.arg("-put").arg(source).arg(TARGET);
        timed(command)
    };
    let delete = || cluster.fs.delete(TARGET, false).map_err(|e| e.to_string());
    if what == "put" {
        return copies(both, || {
            let took = put();
            delete()?;
            took
        });
    }
    put()?;
    let taken = copies(both, || {
        let mut command = shell(cluster)?;
        command.arg("-get").arg(TARGET).arg(target);
        let took = timed(command);
        let _ = std::fs::remove_file(target);
        took
    });
    delete()?;
    taken
}
