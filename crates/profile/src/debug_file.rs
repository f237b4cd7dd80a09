//! Debug files: the names and line tables of a program that was given away without them. The program says what its file is called
//! and which checksum it has (`.gnu_debuglink`, as `objcopy --add-gnu-debuglink` writes it).

use flate2::Crc;
use object::Object;
use object::read::ReadCache;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where distributions put debug files, below the directories of the programs.
const GLOBAL: &str = "/usr/lib/debug";

/// The debug file of the program that `content` is and that lies at `program`: beside it, in `.debug`, or below `/usr/lib/debug`.
/// A file of another build is none.
pub(crate) fn debug_file(content: &Path, program: &Path) -> Option<PathBuf> {
    found(content, program, Path::new(GLOBAL))
}

fn found(content: &Path, program: &Path, global: &Path) -> Option<PathBuf> {
    let (name, sum) = link(content)?;
    let directory = program.parent()?;
    let below_root = directory.strip_prefix("/").unwrap_or(directory);
    let places = [directory.to_owned(), directory.join(".debug"), global.join(below_root)];
    let mut files = places.iter().map(|place| place.join(&name));
    files.find(|file| checksum(file).is_ok_and(|found| found == sum))
}

/// The name of a program's debug file, and its checksum.
fn link(program: &Path) -> Option<(OsString, u32)> {
    let parts = ReadCache::new(File::open(program).ok()?);
    let program = object::File::parse(&parts).ok()?;
    let (name, sum) = program.gnu_debuglink().ok()??;
    let name = OsStr::from_bytes(name);
    (Path::new(name).file_name() == Some(name)).then(|| (name.to_owned(), sum))
}

fn checksum(file: &Path) -> io::Result<u32> {
    let mut file = File::open(file)?;
    let (mut sum, mut bytes) = (Crc::new(), vec![0; 256 << 10]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(sum.sum()),
            len => sum.update(bytes.get(..len).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    fn run(directory: &Path, program: &str, words: &[&str]) -> String {
        let output = Command::new(program).args(words).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "{program} {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A program without symbols, its debug file beside it, and the address of its function `planted`.
    pub(crate) fn stripped_program(directory: &Path) -> (PathBuf, PathBuf, usize) {
        let text = "int planted(int n) { return n * 7; }\nint main(int n, char **w) { return planted(n); }\n";
        fs::write(directory.join("planted.c"), text).unwrap();
        run(directory, "cc", &["-g", "-O0", "-o", "whole", "planted.c"]);
        let symbols = run(directory, "nm", &["whole"]);
        let line = symbols.lines().find(|line| line.ends_with(" planted")).unwrap();
        let address = usize::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
        run(directory, "objcopy", &["--only-keep-debug", "whole", "program.debug"]);
        let link = "--add-gnu-debuglink=program.debug";
        run(directory, "objcopy", &["--strip-all", link, "whole", "program"]);
        (directory.join("program"), directory.join("program.debug"), address)
    }

    #[test]
    fn the_debug_file_of_this_build_is_found_in_each_of_its_places() {
        let directory = tempfile::tempdir().unwrap();
        let (program, debug, _) = stripped_program(directory.path());
        let global = directory.path().join("usr/lib/debug");
        let find = || found(&program, &program, &global);
        assert_eq!(find(), Some(debug.clone()));
        let hidden = directory.path().join(".debug/program.debug");
        let below = global.join(directory.path().strip_prefix("/").unwrap()).join("program.debug");
        let mut from = debug;
        for place in [hidden, below] {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::rename(&from, &place).unwrap();
            assert_eq!(find(), Some(place.clone()));
            from = place;
        }
        let mut other_build = fs::read(&from).unwrap();
        *other_build.last_mut().unwrap() ^= 1;
        fs::write(&from, other_build).unwrap();
        assert_eq!(find(), None);
        assert_eq!(link(&directory.path().join("whole")), None, "it has its symbols itself");
        assert_eq!(link(&directory.path().join("planted.c")), None, "no program");
    }
}
