//! What an Apache client on this machine would lack: the native libraries it looks for, where it looks for them.
//! Nothing of this program needs them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::report::Report;

/// A library by one of its files, and what goes without it.
struct Library {
    file: &'static str,
    lacks: &'static str,
}

/// Java finds these by `java.library.path`.
const BY_JAVA: [Library; 2] = [
    Library {
        file: "libhadoop.so",
        lacks: "local reads, ZStandardCodec, native zlib, bzip2 and checksums",
    },
    Library { file: "libgplcompression.so", lacks: "LZO (hadoop-lzo)" },
];

/// The loader finds these for the two above.
const BY_LOADER: [Library; 6] = [
    Library { file: "libz.so.1", lacks: "native zlib" },
    Library { file: "libzstd.so.1", lacks: "ZStandardCodec" },
    Library { file: "libbz2.so.1", lacks: "native bzip2" },
    Library { file: "liblzo2.so.2", lacks: "LZO (hadoop-lzo)" },
    Library { file: "libcrypto.so", lacks: "native encryption" },
    Library { file: "libisal.so.2", lacks: "native erasure coding" },
];

/// Looks for the libraries and for what keeps Snappy's and LZ4's from being loaded out of their jars.
pub fn examine(report: &mut Report) {
    let home = env::var_os("HADOOP_HOME").map(PathBuf::from);
    let missing = missing(&java_library_path(home.as_deref()), &loader_path(Path::new("/")));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut lacks: Vec<String> =
        missing.iter().map(|library| format!("{} ({})", library.file, library.lacks)).collect();
    if is_noexec(&mounts, &env::temp_dir()) {
        let directory = env::temp_dir();
        lacks.push(format!(
            "SnappyCodec and Lz4Codec (their libraries are unpacked to {}, which is mounted noexec)",
            directory.display()
        ));
    }
    if lacks.is_empty() {
        report.ok("apache-client", "an Apache client would find all native libraries here");
        return;
    }
    let found = format!("an Apache client here would lack {}", lacks.join(", "));
    match home {
        // There is one.
        Some(_) => report.warning("apache-client", found, FIX),
        None => report.ok("apache-client", format!("{found}; zerohop has all of it built in")),
    }
}

const FIX: &str = "install the libraries, put libhadoop.so into $HADOOP_HOME/lib/native; zerohop needs none of them";

/// What Hadoop's scripts make of it, and Java's own directories.
fn java_library_path(home: Option<&Path>) -> Vec<PathBuf> {
    let mut path: Vec<PathBuf> = home.map(|home| home.join("lib/native")).into_iter().collect();
    for name in ["JAVA_LIBRARY_PATH", "LD_LIBRARY_PATH"] {
        path.extend(env::var_os(name).iter().flat_map(env::split_paths));
    }
    let javas = ["/usr/java/packages/lib", "/usr/lib64", "/lib64", "/lib", "/usr/lib"];
    path.extend(javas.map(PathBuf::from));
    path.extend(debians_directories(Path::new("/")));
    path
}

/// Debian's builds of Java look here too.
fn debians_directories(root: &Path) -> Vec<PathBuf> {
    let triplet = format!("{}-linux-gnu", env::consts::ARCH);
    ["usr/lib", "lib"].map(|directory| root.join(directory).join(&triplet)).into()
}

/// `LD_LIBRARY_PATH`, the directories of ld.so.conf, the loader's own.
fn loader_path(root: &Path) -> Vec<PathBuf> {
    let named = env::var_os("LD_LIBRARY_PATH");
    let mut path: Vec<PathBuf> = named.iter().flat_map(env::split_paths).collect();
    let mut files = vec![root.join("etc/ld.so.conf")];
    let more = fs::read_dir(root.join("etc/ld.so.conf.d")).into_iter().flatten().flatten();
    files.extend(more.map(|entry| entry.path()));
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with('/'));
        path.extend(lines.map(|line| root.join(line.trim_start_matches('/'))));
    }
    path.extend(["lib", "usr/lib", "lib64", "usr/lib64"].map(|directory| root.join(directory)));
    path.extend(debians_directories(root));
    path
}

fn missing(by_java: &[PathBuf], by_loader: &[PathBuf]) -> Vec<&'static Library> {
    let lacks = |file: &str, path: &[PathBuf]| !path.iter().any(|at| has(at, file));
    let java = BY_JAVA.iter().filter(|library| lacks(library.file, by_java));
    java.chain(BY_LOADER.iter().filter(|library| lacks(library.file, by_loader))).collect()
}

/// Whether a directory has a library: libbz2.so.1.0 serves for libbz2.so.1.
fn has(directory: &Path, file: &str) -> bool {
    if directory.join(file).exists() {
        return true;
    }
    let longer = format!("{file}.");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(&longer))
}

/// Whether the file system of a path is mounted without execution, by the lines of /proc/mounts.
fn is_noexec(mounts: &str, path: &Path) -> bool {
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let above = fields.filter(|fields| fields.get(1).is_some_and(|at| path.starts_with(at)));
    let nearest = above.max_by_key(|fields| fields.get(1).map_or(0, |at| at.len()));
    nearest
        .and_then(|fields| fields.get(3).copied())
        .is_some_and(|options| options.split(',').any(|option| option == "noexec"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_where_they_are_looked_for() {
        let root = tempfile::tempdir().unwrap();
        let (java, system) = (root.path().join("native"), root.path().join("opt/lib"));
        for directory in [&java, &system, &root.path().join("etc/ld.so.conf.d")] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::write(root.path().join("etc/ld.so.conf.d/a.conf"), "# here\n/opt/lib\n").unwrap();
        let loader = loader_path(root.path());
        let names = |loader: &[PathBuf]| -> Vec<&str> {
            let java = [java.clone()];
            missing(&java, loader).iter().map(|library| library.file).collect()
        };
        let all = BY_JAVA.len() + BY_LOADER.len();
        assert_eq!(names(&[]).len(), all);
        fs::write(java.join("libhadoop.so"), "").unwrap();
        fs::write(system.join("libbz2.so.1.0.4"), "").unwrap();
        fs::write(system.join("libzstd.so.1"), "").unwrap();
        let left = names(&loader);
        for file in ["libhadoop.so", "libbz2.so.1", "libzstd.so.1"] {
            assert!(!left.contains(&file), "{left:?}");
        }
        assert!(left.contains(&"libgplcompression.so"), "{left:?}");
    }

    #[test]
    fn the_nearest_mount_counts() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw,nosuid,noexec 0 0\n";
        assert!(is_noexec(mounts, Path::new("/tmp")));
        assert!(!is_noexec(mounts, Path::new("/tmpx")));
        assert!(!is_noexec(mounts, Path::new("/var/tmp")));
    }
}
