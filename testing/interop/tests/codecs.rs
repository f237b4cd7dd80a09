//! Codecs beside other implementations, both ways: the programs gzip, bzip2, zstd and lzop, Apache's codecs, and
//! aircompressor's of LZO and zstd; `-text` beside Apache's on SequenceFiles and Avro files, and beside pyarrow on ORC and Parquet; `checknative` beside
//! Apache's.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use zerohop_interop::{Outcome, java, tools};

const CODECS: [(&str, &str); 8] = [
    ("gzip", ".gz"),
    ("deflate", ".deflate"),
    ("bzip2", ".bz2"),
    ("zstd", ".zst"),
    ("lz4", ".lz4"),
    ("snappy", ".snappy"),
    ("lzo", ".lzo_deflate"),
    ("lzop", ".lzo"),
];

/// Lines of text with runs and with noise, a few megabytes.
fn plain() -> Vec<u8> {
    let mut state = 1_u64;
    let mut out = Vec::new();
    for n in 0..60_000_u64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let run = "ab".repeat((state >> 60) as usize);
        out.extend(format!("{n}\t{:x}\t{run}\tthe same words\n", state >> 20).bytes());
    }
    out.extend((0..200_000_u64).map(|n| (n.wrapping_mul(n) >> 9) as u8));
    out
}

/// Standard output of a command that has to end well.
fn output(command: &mut Command) -> Outcome<Vec<u8>> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn zerohop(words: &[&str]) -> Outcome<Vec<u8>> {
    output(Command::new(tools::zerohop()?).env_remove("HADOOP_CONF_DIR").args(words))
}

fn same(what: &str, found: &[u8], wanted: &[u8]) -> Outcome {
    if found == wanted {
        return Ok(());
    }
    let at = found.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let near = |bytes: &[u8]| {
        let part = &bytes[at.saturating_sub(80).min(bytes.len())..(at + 80).min(bytes.len())];
        String::from_utf8_lossy(part).into_owned()
    };
    let (ours, theirs) = (near(found), near(wanted));
    Err(format!(
        "{what}: {} bytes, {} are wanted; at {at}:\n{ours}\nin place of\n{theirs}",
        found.len(),
        wanted.len()
    ))
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn text_of(file: &Path) -> Outcome<Vec<u8>> {
    zerohop(&["fs", "-text", &format!("file://{}", file.display())])
}

/// Each program unpacks what ours packed, on one thread and on three; ours unpacks what they packed at several levels.
fn programs(directory: &Path) -> Outcome {
    let plain = plain();
    let file = directory.join("plain");
    write(&file, &plain)?;
    for (program, codec, extension) in [
        ("gzip", "gzip", ".gz"),
        ("bzip2", "bzip2", ".bz2"),
        ("zstd", "zstd", ".zst"),
        ("lzop", "lzop", ".lzo"),
    ] {
        let shown = file.display().to_string();
        for threads in ["1", "3"] {
            let words = ["codec", "compress", "-f", "--codec", codec, "--threads", threads, &shown];
            zerohop(&words)?;
            let packed = format!("{shown}{extension}");
            let unpacked = output(Command::new(program).arg("-dc").arg(&packed))?;
            same(&format!("{program} -d of ours"), &unpacked, &plain)?;
        }
        for level in ["-1", "-3", "-9"] {
            let theirs = directory.join(format!("theirs{extension}"));
            let packed = output(Command::new(program).args([level, "-c", &shown]))?;
            // Two files that follow each other are one stream.
            write(&theirs, &[packed.as_slice(), &packed].concat())?;
            let twice = [plain.as_slice(), &plain].concat();
            same(&format!("-text of {program} {level}"), &text_of(&theirs)?, &twice)?;
        }
    }
    lzop_options(directory, &file, &plain)
}

/// Checksums of all kinds; an index, and the splits that it makes.
fn lzop_options(directory: &Path, file: &Path, plain: &[u8]) -> Outcome {
    for options in [&["--crc32"][..], &["-C"], &["--crc32", "-C"], &["--no-checksum"], &["-n"]] {
        let theirs = directory.join("options.lzo");
        write(&theirs, &output(Command::new("lzop").args(options).arg("-c").arg(file))?)?;
        same(&format!("lzop {options:?}"), &text_of(&theirs)?, plain)?;
        let uri = format!("file://{}", theirs.display());
        zerohop(&["fs", "-lzoindex", "-f", &uri])?;
        let mut all = Vec::new();
        for range in ["0-300000", "300000-300001", "300001-900000", "900000-"] {
            all.extend(zerohop(&["fs", "-text", "-range", range, &uri])?);
        }
        same(&format!("splits of lzop {options:?}"), &all, plain)?;
    }
    Ok(())
}

#[test]
fn programs_read_ours_and_ours_reads_theirs() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    programs(directory.path()).unwrap_or_else(|e| panic!("{e}"));
}

fn apache(directory: &Path) -> Outcome {
    let plain = plain();
    write(&directory.join("plain"), &plain)?;
    for name in ["ours", "theirs", "records", "text", "conf", "behind", "behind-text"] {
        fs::create_dir(directory.join(name)).map_err(|e| e.to_string())?;
    }
    write_behind(directory)?;
    let file = directory.join("plain").display().to_string();
    for (codec, extension) in CODECS {
        let ours = directory.join(format!("ours/plain{extension}")).display().to_string();
        zerohop(&["codec", "compress", "--codec", codec, "--threads", "2", "-o", &ours, &file])?;
    }
    let arguments = [directory.to_str().ok_or("a name that is no text")?];
    let limit = Duration::from_secs(240);
    let done = java::run("zerohop.Codecs", &arguments, &directory.join("conf"), limit)?;
    let said = done.ok("zerohop.Codecs")?;
    for (_, extension) in CODECS {
        let tried = format!("tried {extension}");
        assert!(said.lines().any(|line| line == tried), "not {tried}: {said}");
        let theirs = directory.join(format!("theirs/plain{extension}"));
        same(&format!("-text of their {extension}"), &text_of(&theirs)?, &plain)?;
    }
    // None with lzop; with zstd where Apache's libhadoop.so was built with it.
    let sequences = said.lines().filter(|line| line.starts_with("sequence files ")).count();
    assert!(sequences >= CODECS.len() - 2, "{said}");
    records(directory, sequences)?;
    behind(directory)
}

/// Bytes that may follow a compressed file.
const TAILS: [(&str, &[u8]); 6] = [
    ("zero", b"\0"),
    ("zeros", &[0; 512]),
    ("line-end", b"\n"),
    ("crlf", b"\r\n"),
    ("text", b"some text that begins no compressed file of any format\n"),
    ("long-text", &[b'x'; 4096]),
];

/// Writes a small file of each codec with each tail. Apache's lzop is that of another project and is judged by lzop.
fn write_behind(directory: &Path) -> Outcome {
    let plain = directory.join("behind-plain");
    write(&plain, b"a line\nand another\n")?;
    for (codec, extension) in CODECS.into_iter().filter(|(codec, _)| !codec.starts_with("lzo")) {
        let shown = plain.display().to_string();
        let packed = zerohop(&["codec", "compress", "--codec", codec, "-o", "-", &shown])?;
        for (name, tail) in TAILS {
            let bytes = [packed.as_slice(), tail].concat();
            write(&directory.join(format!("behind/{name}{extension}")), &bytes)?;
        }
    }
    Ok(())
}

/// Where Apache's `-text` ignores bytes behind a compressed file, zerohop's does and writes the same. Apache refuses them
/// behind bzip2, where the program `bzip2` ignores them, and takes a chunk of lz4 or snappy that is cut for the end.
fn behind(directory: &Path) -> Outcome {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(directory.join("behind")).map_err(|e| e.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let theirs = directory.join("behind-text").join(&name);
        let code = fs::read_to_string(theirs.with_file_name(format!("{name}.code")));
        let code = code.map_err(|e| format!("{name}: {e}"))?;
        let ours = text_of(&entry.path());
        let is_cut =
            name.starts_with("text.") && [".lz4", ".snappy"].iter().any(|e| name.ends_with(e));
        if is_cut {
            assert!(code == "0" && ours.is_err(), "{name}: {code} {ours:?}");
        } else if code == "0" {
            let wanted = fs::read(theirs).map_err(|e| e.to_string())?;
            same(&format!("-text of {name}"), &ours.map_err(|e| format!("{name}: {e}"))?, &wanted)?;
            accepted.push(name);
        } else {
            assert_eq!(ours.is_ok(), name.ends_with(".bz2"), "{name}");
            refused.push(name);
        }
    }
    let of = |names: &[String], extension: &str| {
        names.iter().filter(|name| name.ends_with(extension)).count()
    };
    assert_eq!(of(&accepted, ".gz"), TAILS.len(), "Apache accepts {accepted:?}");
    assert_eq!(of(&refused, ".bz2"), TAILS.len(), "Apache refuses {refused:?}");
    Ok(())
}

/// The programs and ours accept the same tails.
#[test]
fn bytes_behind_a_file_are_ignored_as_the_programs_do() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let plain = directory.path().join("plain");
    write(&plain, b"a line\nand another\n").unwrap();
    for (program, extension) in [("gzip", ".gz"), ("bzip2", ".bz2"), ("lzop", ".lzo")] {
        let packed = output(Command::new(program).arg("-c").arg(&plain)).unwrap();
        for (name, tail) in TAILS {
            let file = directory.path().join(format!("{name}{extension}"));
            write(&file, &[packed.as_slice(), tail].concat()).unwrap();
            // They warn, and some say so by their exit codes.
            let theirs = Command::new(program).arg("-dc").arg(&file).output().unwrap().stdout;
            let shown = file.display().to_string();
            let ours = zerohop(&["codec", "decompress", "-o", "-", &shown]).unwrap();
            same(&format!("{name}{extension}"), &ours, &theirs).unwrap();
            assert_eq!(ours, b"a line\nand another\n");
            // With a file to write, it is there afterwards.
            zerohop(&["codec", "decompress", "-f", &shown]).unwrap();
            assert!(directory.path().join(name).exists(), "{shown}");
        }
    }
}

/// `-text` says what Apache's said.
fn records(directory: &Path, codecs: usize) -> Outcome {
    let listed = fs::read_dir(directory.join("text")).map_err(|e| e.to_string())?;
    let mut files = 0;
    for entry in listed.flatten() {
        let wanted = fs::read(entry.path()).map_err(|e| e.to_string())?;
        let file = directory.join("records").join(entry.file_name());
        let name = entry.file_name().to_string_lossy().into_owned();
        same(&format!("-text of {name}"), &text_of(&file)?, &wanted)?;
        files += 1;
    }
    // SequenceFiles by record and by block, two of each; two without a codec; four Avro files; nine of other types.
    assert_eq!(files, 4 * codecs + 2 + 4 + 9);
    Ok(())
}

#[test]
fn apache_reads_ours_and_ours_reads_apaches() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    apache(directory.path()).unwrap_or_else(|e| panic!("{e}"));
}

/// `-text` says of ORC and Parquet files what pyarrow reads of their footers.
fn columnar_heads(directory: &Path) -> Outcome {
    let out = tools::out().canonicalize().map_err(|e| e.to_string())?;
    let script = tools::root().join("testing/interop/python/columnar_heads.py");
    output(Command::new(out.join("python/bin/python")).arg(script).arg(directory))?;
    let mut files = 0;
    for entry in fs::read_dir(directory).map_err(|e| e.to_string())?.flatten() {
        let file = entry.path().with_extension("");
        if entry.path().extension().is_none_or(|extension| extension != "head") {
            continue;
        }
        let wanted = fs::read_to_string(entry.path()).map_err(|e| e.to_string())?;
        let shown = String::from_utf8(text_of(&file)?).map_err(|e| e.to_string())?;
        let agrees = |(line, wanted): (&str, &str)| {
            let said = wanted.split(' ').zip(line.split(' '));
            // An asterisk stands for a number, with the comma behind it.
            let same = |(wanted, said): (&str, &str)| match wanted.strip_prefix('*') {
                Some(rest) => said.strip_suffix(rest).is_some_and(|it| it.parse::<u64>().is_ok()),
                None => wanted == said,
            };
            wanted.split(' ').count() == line.split(' ').count() && said.into_iter().all(same)
        };
        let is_as_long = shown.lines().count() == wanted.lines().count();
        if !is_as_long || !shown.lines().zip(wanted.lines()).all(agrees) {
            return Err(format!("{}:\n{shown}\nin place of\n{wanted}", file.display()));
        }
        files += 1;
    }
    assert_eq!(files, 11);
    Ok(())
}

#[test]
fn heads_of_orc_and_parquet_are_as_pyarrow_reads_them() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    columnar_heads(directory.path()).unwrap_or_else(|e| panic!("{e}"));
}

/// The lines of `checknative -a` are Apache's but for what was found, and nothing is missing.
#[test]
fn checknative_has_apaches_lines() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let limit = Duration::from_secs(120);
    let checker = "org.apache.hadoop.util.NativeLibraryChecker";
    let theirs = java::run(checker, &["-a"], directory.path(), limit).unwrap();
    let ours = zerohop(&["hadoop", "checknative", "-a"]).unwrap();
    let labels = |text: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| *line != "Native library checking:");
        let label = |line: &str| {
            let end = line.find(" true").or_else(|| line.find(" false")).unwrap_or(line.len());
            line[..end].to_owned()
        };
        lines.map(label).collect()
    };
    let ours = String::from_utf8(ours).unwrap();
    assert_eq!(labels(&ours), labels(&theirs.output));
    assert!(!ours.contains("false"), "{ours}");
}
