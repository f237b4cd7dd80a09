//! Where the tools are: the repository, Java with Apache's class path, our binary. What has to be
//! compiled of the Java side is compiled here, once for each state of its sources.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::process::Process;
use crate::{Outcome, site};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The directory for everything the interop tests make.
pub fn out() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    // Relative to the root, as the scripts and cargo take it; tests run elsewhere.
    root().join(target.unwrap_or_else(|| "target".into())).join("interop")
}

/// The directory in which clusters run: `ZEROHOP_INTEROP_RUN`, or one in [`out`].
pub fn clusters() -> PathBuf {
    std::env::var_os("ZEROHOP_INTEROP_RUN").map_or_else(|| out().join("run"), PathBuf::from)
}

/// A program of ours that was built with the profile of this one.
fn built(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap_or_default();
    let mut directory = this.parent().unwrap_or(Path::new(""));
    // Where Cargo puts test programs.
    if directory.ends_with("deps") {
        directory = directory.parent().unwrap_or(directory);
    }
    directory.join(name)
}

/// The program under which another one's writes fail: `ZEROHOP_FAILING_DISK`, or the one that was built with the
/// profile of this program. `None` if it was not built.
pub fn failing_disk() -> Option<PathBuf> {
    let path = std::env::var_os("ZEROHOP_FAILING_DISK").map(PathBuf::from);
    path.unwrap_or_else(|| built("failing-disk")).canonicalize().ok()
}

/// The `zerohop` binary under test: `ZEROHOP_BIN`, or the one that was built with the profile of this program.
pub fn zerohop() -> Outcome<PathBuf> {
    let path = std::env::var_os("ZEROHOP_BIN").map_or_else(|| built("zerohop"), PathBuf::from);
    path.canonicalize().map_err(|e| {
        format!(
            "{}: {e}; build it: cargo build -p zerohop-cli, with --profile for another profile",
            path.display()
        )
    })
}

/// What a JVM needs to run the Java side.
pub struct Java {
    /// `:`-separated jars, ours first.
    pub class_path: String,
    /// The archive of loaded classes.
    archive: PathBuf,
}

impl Java {
    /// The Java side, compiled and with its class archive; prepared once.
    pub fn get() -> Outcome<&'static Java> {
        static JAVA: OnceLock<Outcome<Java>> = OnceLock::new();
        JAVA.get_or_init(prepare).as_ref().map_err(Clone::clone)
    }

    /// `java` with the flags for a quick start; class name and arguments are the caller's to add.
    pub fn command(&self, heap_mb: u32) -> Command {
        let mut command = Command::new("java");
        command
            .args(OPENS)
            .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"])
            // Standard output is the drivers' alone.
            .args(["-Xlog:disable", "-Xlog:all=error:stderr", "-XX:+DisplayVMOutputToStderr"])
            .arg(format!("-Xmx{heap_mb}m"))
            .arg(format!("-XX:SharedArchiveFile={}", self.archive.display()))
            .arg("-Djava.net.preferIPv4Stack=true")
            .arg(format!("-Djava.library.path={}", out().join("native").display()))
            .args(["-cp", &self.class_path]);
        command
    }
}

/// What Hadoop reaches into on a JDK 17.
pub const OPENS: [&str; 14] = [
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.math=ALL-UNNAMED",
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    "--add-opens=java.base/java.text=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.util.zip=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/sun.security.util=ALL-UNNAMED",
    "--add-opens=java.base/sun.security.x509=ALL-UNNAMED",
    "--add-exports=java.base/sun.net.dns=ALL-UNNAMED",
    "--add-exports=java.base/sun.net.util=ALL-UNNAMED",
];

fn prepare() -> Outcome<Java> {
    let apache = read(&out().join("classpath.txt"))
        .map_err(|e| format!("{e}; run testing/ensure-tools.sh"))?;
    let sources = sources()?;
    let stamp = stamp(&apache, &sources)?;
    let _lock = lock(&out().join("java.lock"))?;
    let (jar, archive, stamped) =
        (out().join("interop.jar"), out().join("hadoop.jsa"), out().join("java.stamp"));
    let java = Java { class_path: format!("{}:{}", jar.display(), apache.trim()), archive };
    if read(&stamped).is_ok_and(|s| s == stamp) && jar.exists() && java.archive.exists() {
        return Ok(java);
    }
    compile(&sources, &apache, &jar)?;
    train(&java)?;
    fs::write(&stamped, stamp).map_err(|e| format!("{}: {e}", stamped.display()))?;
    Ok(java)
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn sources() -> Outcome<Vec<PathBuf>> {
    let directory = root().join("testing/interop/java/zerohop");
    let entries = fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "java"));
    files.sort();
    Ok(files)
}

fn resources() -> PathBuf {
    root().join("testing/interop/java/resources")
}

/// Changes when a source, a resource or the class path does.
fn stamp(apache: &str, sources: &[PathBuf]) -> Outcome<String> {
    let mut all = crc32fast::Hasher::new();
    all.update(apache.as_bytes());
    let mut files = sources.to_vec();
    files.extend(fs::read_dir(resources()).into_iter().flatten().flatten().map(|e| e.path()));
    for file in files {
        all.update(read(&file)?.as_bytes());
    }
    Ok(format!("{:08x}", all.finalize()))
}

/// Test programs run beside each other; only one prepares.
fn lock(path: &Path) -> Outcome<fs::File> {
    let file = fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
    // SAFETY: flock on a descriptor that lives through the call.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(file),
        _ => Err(format!("{}: {}", path.display(), std::io::Error::last_os_error())),
    }
}

fn run(what: &str, mut command: Command) -> Outcome {
    let output = command.output().map_err(|e| format!("{what}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{what} failed:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn compile(sources: &[PathBuf], apache: &str, jar: &Path) -> Outcome {
    let classes = out().join("classes");
    let _ = fs::remove_dir_all(&classes);
    fs::create_dir_all(&classes).map_err(|e| format!("{}: {e}", classes.display()))?;
    let mut javac = Command::new("javac");
    javac.args(["-nowarn", "-encoding", "UTF-8", "-cp", apache.trim(), "-d"]).arg(&classes);
    run("javac", {
        javac.args(sources);
        javac
    })?;
    let mut archive = Command::new("jar");
    archive.arg("cf").arg(jar).arg("-C").arg(&classes).arg(".");
    archive.arg("-C").arg(resources()).arg(".");
    run("jar", archive)
}

/// Writes the archive of classes by running one small cluster inside one JVM.
fn train(java: &Java) -> Outcome {
    let directory =
        tempfile::tempdir_in(out()).map_err(|e| format!("a temporary directory: {e}"))?;
    let site = site::Site::new(directory.path(), 1);
    site.write(&[])?;
    let _ = fs::remove_file(&java.archive);
    let mut command = Command::new("java");
    command
        .args(OPENS)
        .args(["-Xlog:cds=off", "-Xlog:cds+dynamic=off"])
        .arg(format!("-XX:ArchiveClassesAtExit={}", java.archive.display()))
        .args(["-cp", &java.class_path, "zerohop.Train"])
        .arg(site.datanode_conf(0));
    let log = out().join("train.log");
    let _ = fs::remove_file(&log);
    let status =
        Process::daemon("zerohop.Train", command, &log)?.finish(Duration::from_secs(180))?;
    match status.success() && java.archive.exists() {
        true => Ok(()),
        false => Err(format!("zerohop.Train failed\n{}", crate::process::tail(&log, 20))),
    }
}

/// Our client behind the line protocol: `ZEROHOP_DRIVER`, or the binary built with the tests.
pub fn driver() -> Outcome<PathBuf> {
    let path = match std::env::var_os("ZEROHOP_DRIVER") {
        Some(path) => PathBuf::from(path),
        None => {
            let test = std::env::current_exe().map_err(|e| e.to_string())?;
            // target/PROFILE/deps/TEST-HASH -> target/PROFILE/interop-driver
            test.ancestors().nth(2).unwrap_or(root()).join("interop-driver")
        }
    };
    path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))
}
