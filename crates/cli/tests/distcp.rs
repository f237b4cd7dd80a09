//! `distcp`: regressions that lost or duplicated files.

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use support::{Up, run, without_clusters, zerohop};

/// Exit codes of `DistCpConstants`, as a shell sees them.
const INVALID_ARGUMENT: i32 = 255;
const DUPLICATE_INPUT: i32 = 254;
const UNKNOWN_ERROR: i32 = 25;

/// A temporary local directory.
struct Trees {
    directory: tempfile::TempDir,
}

impl Trees {
    fn new(files: &[&str]) -> Trees {
        let trees = Trees { directory: tempfile::tempdir().unwrap() };
        for file in files {
            trees.write(file, file);
        }
        trees
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the files below a directory, with their text.
    fn files(&self, name: &str) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut left = vec![self.at(name)];
        while let Some(directory) = left.pop() {
            for path in fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()) {
                match path.is_dir() {
                    true => left.push(path),
                    false => {
                        let short = path.strip_prefix(self.at(name)).unwrap();
                        let text = fs::read_to_string(&path).unwrap();
                        files.insert(short.display().to_string(), text);
                    }
                }
            }
        }
        files
    }

    fn names(&self, name: &str) -> Vec<String> {
        self.files(name).into_keys().collect()
    }

    /// Runs `distcp`. Words with a leading slash are paths in the directory.
    fn distcp(&self, words: &str) -> (i32, String) {
        let words: Vec<String> = words
            .split(' ')
            .map(|word| match word.strip_prefix('/') {
                Some(name) => format!("file://{}", self.at(name).display()),
                None => word.to_owned(),
            })
            .collect();
        let mut command = without_clusters(&["distcp"]);
        let (code, out, err) = run(command.args(words).current_dir(self.directory.path()));
        (code, format!("{out}{err}"))
    }
}

fn set_modified(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// With `-i`, a pattern without a match left no source, and `-delete` emptied the target.
#[test]
fn a_source_that_is_not_there_ends_the_command_before_anything_is_deleted() {
    for sources in ["/none*", "/none", "/s/none*", "/s /none*", "/none* /s"] {
        let trees = Trees::new(&["s/one", "t/one", "t/other"]);
        let (code, said) = trees.distcp(&format!("-i -update -delete {sources} /t"));
        assert_eq!(code, INVALID_ARGUMENT, "{sources}: {said}");
        assert_eq!(trees.names("t"), ["one", "other"], "{sources}: {said}");
    }
}

/// A cluster. The user root creates the trees, and the user somebody copies them.
struct Shared {
    up: Up,
    _directory: tempfile::TempDir,
}

impl Shared {
    fn new() -> Shared {
        let directory = tempfile::tempdir().unwrap();
        let up = Up::start(&directory.path().join("data"));
        Shared { up, _directory: directory }
    }

    /// A command of root's shell.
    fn shell(&self, words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        let (code, out, err) = run(&mut self.up.fs(&words));
        assert_eq!(code, 0, "{words:?}: {err}");
        out
    }

    fn distcp(&self, words: &str) -> (i32, String) {
        let mut command = zerohop(&["distcp"]);
        command.args(words.split(' ')).env("HADOOP_CONF_DIR", &self.up.conf);
        let (code, out, err) = run(command.env("HADOOP_USER_NAME", "somebody"));
        (code, format!("{out}{err}"))
    }
}

/// With `-i`, `-delete` could delete the copy of a directory that could not be listed.
#[test]
fn a_directory_that_cannot_be_listed_ends_the_command_before_anything_is_deleted() {
    let shared = Shared::new();
    shared.shell("-mkdir -p /s/open /s/shut /t/open /t/shut");
    shared.shell("-touchz /s/open/f /s/shut/f /t/open/f /t/shut/f /t/other");
    shared.shell("-chmod 000 /s/shut");
    shared.shell("-chmod -R 777 /t");
    let before = shared.shell("-ls -R /t");
    let (code, said) = shared.distcp("-i -update -delete /s /t");
    assert_eq!(shared.shell("-ls -R /t"), before, "{said}");
    assert_eq!(code, UNKNOWN_ERROR, "{said}");
    assert!(said.contains("/s/shut"), "{said}");
}

/// `-delete` deleted before the copies, so a failed copy came after the loss.
#[test]
fn nothing_is_deleted_where_a_file_cannot_be_read() {
    let shared = Shared::new();
    shared.shell("-mkdir -p /s /t");
    shared.shell("-touchz /s/open");
    for path in ["/s/secret", "/t/secret", "/t/other"] {
        shared.shell(&format!("-put {} {path}", shared.up.conf.join("core-site.xml").display()));
    }
    shared.shell("-appendToFile /proc/self/cmdline /s/secret");
    shared.shell("-chmod 600 /s/secret");
    shared.shell("-chmod -R 777 /t");
    let names = || shared.shell("-ls -R -C /t");
    let (code, said) = shared.distcp("-update -delete /s /t");
    assert!(names().contains("/t/other"), "{said}");
    assert_eq!(code, UNKNOWN_ERROR, "{said}");
    let (code, said) = shared.distcp("-i -update -delete /s /t");
    assert_eq!(names(), "/t/open\n/t/other\n/t/secret\n", "{said}");
    assert!(code == UNKNOWN_ERROR && said.contains("nothing was deleted"), "{said}");
    assert_eq!(shared.distcp("-i -update /s /t").0, 0);
    shared.shell("-chmod 644 /s/secret");
    shared.shell("-mkdir -p /user/somebody");
    shared.shell("-chown somebody /user/somebody");
    let (code, said) = shared.distcp("-D fs.trash.interval=60 -update -delete -useTrash /s /t");
    assert_eq!((code, names().as_str()), (0, "/t/open\n/t/secret\n"), "{said}");
    shared.shell("-test -e /user/somebody/.Trash/Current/t/other");
    // The trash is inside the target and must survive.
    shared.shell("-touchz /user/somebody/old");
    shared.shell("-chmod 777 /user");
    let (code, said) = shared.distcp("-D fs.trash.interval=60 -update -delete -useTrash /s /user");
    assert_eq!(code, 0, "{said}");
    shared.shell("-test -e /user/somebody/.Trash/Current/t/other");
    shared.shell("-test -e /user/somebody/.Trash/Current/user/somebody/old");
}

/// A directory in the target cannot be replaced by a file.
#[test]
fn nothing_is_deleted_where_a_copy_fails() {
    let trees = Trees::new(&["s/a", "s/z", "t/other"]);
    fs::create_dir_all(trees.at("t/z")).unwrap();
    let (code, said) = trees.distcp("-update -delete /s /t");
    assert_eq!(code, UNKNOWN_ERROR, "{said}");
    assert!(trees.names("t").contains(&"other".to_owned()), "{said}");
    assert!(trees.at("t/z").is_dir());
    fs::remove_dir(trees.at("t/z")).unwrap();
    assert_eq!(trees.distcp("-update -delete /s /t").0, 0);
    assert_eq!(trees.names("t"), ["a", "z"]);
}

/// Without checksums, files of equal length were always skipped.
#[test]
fn a_file_that_changed_at_its_length_is_copied_where_checksums_are_not_compared() {
    for options in ["-update", "-update -skipcrccheck"] {
        let trees = Trees::new(&[]);
        trees.write("s/f", "new");
        trees.write("t/f", "old");
        set_modified(&trees.at("t/f"), 1_000_000_000);
        set_modified(&trees.at("s/f"), 1_000_000_001);
        assert_eq!(trees.distcp(&format!("{options} /s /t")).0, 0);
        assert_eq!(trees.files("t")["f"], "new", "{options}");
        // A target that is not older is skipped.
        trees.write("t/f", "own");
        set_modified(&trees.at("t/f"), 1_000_000_001);
        assert_eq!(trees.distcp(&format!("{options} /s /t")).0, 0);
        assert_eq!(trees.files("t")["f"], "own", "{options}");
        let configured = "-D distcp.update.modification.time=false";
        set_modified(&trees.at("t/f"), 1_000_000_000);
        assert_eq!(trees.distcp(&format!("{configured} {options} /s /t")).0, 0);
        assert_eq!(trees.files("t")["f"], "own", "{options}");
    }
}

/// Two threads wrote the same target file.
#[test]
fn sources_with_one_name_are_refused_before_anything_is_copied() {
    let trees = Trees::new(&["a/f", "b/f", "a/d/one", "b/d/two"]);
    fs::create_dir_all(trees.at("t")).unwrap();
    for words in ["/a/f /b/f /t", "/a/d /b/d /t", "-update /a /b /t", "-overwrite /a/f /b /t"] {
        let (code, said) = trees.distcp(words);
        assert_eq!(code, DUPLICATE_INPUT, "{words}: {said}");
        assert!(said.contains("would cause duplicates"), "{words}: {said}");
        assert!(trees.names("t").is_empty(), "{words}");
    }
    assert_eq!(trees.distcp("/a /b /t").0, 0);
    assert_eq!(trees.names("t"), ["a/d/one", "a/f", "b/d/two", "b/f"]);
}

/// The walk found its own copies and copied them again.
#[test]
fn a_tree_is_copied_into_itself_once() {
    let trees = Trees::new(&["s/f", "s/d/g"]);
    assert_eq!(trees.distcp("/s /s/in").0, 0);
    assert_eq!(trees.names("s"), ["d/g", "f", "in/d/g", "in/f"]);
    let trees = Trees::new(&["s/f"]);
    fs::create_dir_all(trees.at("s/in")).unwrap();
    assert_eq!(trees.distcp("/s /s/in").0, 0);
    assert_eq!(trees.names("s"), ["f", "in/s/f"]);
}

/// Creating the target in place would truncate the source.
#[test]
fn a_file_is_not_copied_onto_itself_in_place() {
    let trees = Trees::new(&["s/f"]);
    let (code, said) = trees.distcp("-direct -overwrite /s /s");
    assert_eq!(trees.files("s")["f"], "s/f", "{said}");
    assert_eq!(code, UNKNOWN_ERROR, "{said}");
    assert_eq!(trees.distcp("-overwrite /s /s").0, 0);
    assert_eq!(trees.files("s")["f"], "s/f");
}

/// `-delete` would delete files of the source.
#[test]
fn sources_and_targets_that_overlap_are_not_deleted_from() {
    let trees = Trees::new(&["t/s/f", "t/s/d/g", "t/other"]);
    let before = trees.names("t");
    for words in ["/t/s /t", "/t /t/s", "/t /t/s/d", "/t/s/f /t", "/t/s/d/g /t/s /t"] {
        let (code, said) = trees.distcp(&format!("-update -delete {words}"));
        assert_eq!((code, trees.names("t")), (INVALID_ARGUMENT, before.clone()), "{said}");
    }
    let (code, said) = trees.distcp("-update -delete /t/other /t");
    assert_eq!((code, trees.names("t")), (0, vec!["other".to_owned()]), "{said}");
}
