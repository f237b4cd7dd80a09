//! Copies from and to a file system that can be told to misbehave.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use zerohop_conf::Conf;

use super::*;
use crate::fs::local::LocalStore;
use crate::fs::status::{FsStatus, Summary};
use crate::fs::store::{Input, Store};

/// The local file system in the role of a distant one, with blocks of four bytes.
#[derive(Default)]
struct Double {
    local: LocalStore,
    refuses_open: bool,
    refuses_replace: bool,
    /// What the path stands for from the second opening on.
    swapped: Option<String>,
    opens: AtomicUsize,
    seeks_of_others: Arc<AtomicUsize>,
    is_swapped: AtomicBool,
    changes: Mutex<Vec<String>>,
}

impl Double {
    fn change(&self, what: String) {
        self.changes.lock().unwrap().push(what);
    }
}

impl Store for Double {
    fn uri(&self) -> String {
        "hdfs://double".to_owned()
    }
    fn is_local(&self) -> bool {
        false
    }
    fn home(&self) -> String {
        "/".to_owned()
    }
    fn status(&self, path: &str) -> Outcome<Status> {
        let id = Some(u64::from(self.is_swapped.load(Ordering::Relaxed)));
        Ok(Status { block_size: 4, id, ..self.local.status(path)? })
    }
    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        self.local.list(path, page)
    }
    fn open(&self, path: &str, how: OpenHow) -> Outcome<Box<dyn Input>> {
        if self.refuses_open {
            return Err(Failure::path(path, "Permission denied"));
        }
        let earlier = self.opens.fetch_add(1, Ordering::Relaxed);
        let input = match &self.swapped {
            Some(other) if earlier > 0 => {
                self.is_swapped.store(true, Ordering::Relaxed);
                self.local.open(other, how)?
            }
            _ => self.local.open(path, how)?,
        };
        let seeks_of_others = self.seeks_of_others.clone();
        Ok(Box::new(Turns { input, is_first: earlier == 0, seeks: 0, seeks_of_others }))
    }
    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>> {
        self.change(format!("create {}", file_name(path)));
        self.local.create(path, how)
    }
    fn mkdirs(&self, path: &str) -> Outcome<bool> {
        self.local.mkdirs(path)
    }
    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool> {
        self.change(format!("delete {}", file_name(path)));
        self.local.delete(path, recursive)
    }
    fn rename(&self, from: &str, to: &str) -> Outcome<bool> {
        self.change(format!("rename {} {}", file_name(from), file_name(to)));
        self.local.rename(from, to)
    }
    fn replace(&self, from: &str, to: &str) -> Outcome {
        self.change(format!("replace {} {}", file_name(from), file_name(to)));
        match self.refuses_replace {
            true => Err(Failure::path(to, "Permission denied")),
            false => self.local.replace(from, to),
        }
    }
    fn set_permission(&self, path: &str, mode: u32) -> Outcome {
        self.local.set_permission(path, mode)
    }
    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome {
        self.local.set_owner(path, owner, group)
    }
    fn set_times(&self, path: &str, times: Times) -> Outcome {
        self.local.set_times(path, times)
    }
    fn summary(&self, path: &str) -> Outcome<Summary> {
        self.local.summary(path)
    }
    fn fs_status(&self) -> Outcome<FsStatus> {
        self.local.fs_status()
    }
}

/// An input that takes turns: the one that was opened first leaves a part to the others.
struct Turns {
    input: Box<dyn Input>,
    is_first: bool,
    seeks: usize,
    seeks_of_others: Arc<AtomicUsize>,
}

impl Read for Turns {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.input.read(buffer)
    }
}

impl Input for Turns {
    fn seek_to(&mut self, offset: u64) -> Outcome {
        if !self.is_first {
            self.seeks_of_others.fetch_add(1, Ordering::Relaxed);
        }
        while self.is_first && self.seeks > 0 && self.seeks_of_others.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        self.seeks += 1;
        self.input.seek_to(offset)
    }
}

/// A directory with the files `from` and `to`.
struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        let files = Files { directory: tempfile::tempdir().unwrap() };
        files.write("from", "the new content");
        files.write("to", "old");
        files
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn local() -> Arc<dyn Store> {
    Arc::new(LocalStore::default())
}

/// Copies one thing; how many failures were told.
fn copy(source: (&Arc<dyn Store>, &str), target: (&Arc<dyn Store>, &str), how: Copying) -> usize {
    let mut shell = Shell::new(Conf::new(), "put");
    let source = Item::look_up(source.0, source.1).unwrap();
    let target = Item::look_up(target.0, target.1).unwrap();
    copy_all(&mut shell, &[source], &target, how).unwrap();
    shell.error_count()
}

#[test]
fn a_source_that_cannot_be_opened_costs_no_target() {
    for direct in [true, false] {
        let files = Files::new();
        let from: Arc<dyn Store> = Arc::new(Double { refuses_open: true, ..Double::default() });
        let how = Copying { overwrite: true, direct, ..Copying::default() };
        let told = copy((&from, &files.path("from")), (&local(), &files.path("to")), how);
        assert_eq!((told, files.read("to").as_str()), (1, "old"), "direct: {direct}");
        assert_eq!(files.names(), ["from", "to"]);
    }
}

#[test]
fn a_file_is_not_copied_straight_into_itself() {
    let files = Files::new();
    let how = Copying { overwrite: true, direct: true, ..Copying::default() };
    let from = files.path("from");
    assert_eq!(copy((&local(), &from), (&local(), &from), how), 1);
    assert_eq!(files.read("from"), "the new content");
}

/// An old file is not deleted before the new one has its name: a signal or a crash between the two
/// left neither.
#[test]
fn a_target_is_replaced_in_one_step() {
    let files = Files::new();
    let how = Copying { overwrite: true, ..Copying::default() };
    let double = Arc::new(Double::default());
    let to: Arc<dyn Store> = double.clone();
    assert_eq!(copy((&local(), &files.path("from")), (&to, &files.path("to")), how), 0);
    let changes = std::mem::take(&mut *double.changes.lock().unwrap());
    assert_eq!(changes, ["create to._COPYING_", "replace to._COPYING_ to"]);
    assert_eq!(files.read("to"), "the new content");

    files.write("to", "old");
    let to: Arc<dyn Store> = Arc::new(Double { refuses_replace: true, ..Double::default() });
    assert_eq!(copy((&local(), &files.path("from")), (&to, &files.path("to")), how), 1);
    assert_eq!(files.read("to"), "old");
    assert_eq!(files.names(), ["from", "to"]);
}

/// Threads that each open a path could get two files of one name, and mix them.
#[test]
fn parts_are_of_one_file() {
    let how = Copying { overwrite: true, threads: 3, ..Copying::default() };
    for is_swapped in [false, true] {
        let files = Files::new();
        files.write("other", "something else.");
        let swapped = is_swapped.then(|| files.path("other"));
        let double = Arc::new(Double { swapped, ..Double::default() });
        let from: Arc<dyn Store> = double.clone();
        assert_eq!(copy((&from, &files.path("from")), (&local(), &files.path("to")), how), 0);
        assert_eq!(files.read("to"), "the new content");
        assert_eq!(double.opens.load(Ordering::Relaxed), 3);
        let shared = double.seeks_of_others.load(Ordering::Relaxed) > 0;
        assert_eq!(shared, !is_swapped, "by several threads, or by one");
    }
}

#[test]
fn directories_that_were_moved_are_gone() {
    let files = Files::new();
    std::fs::create_dir_all(files.path("tree/a/b")).unwrap();
    files.write("tree/a/b/file", "text");
    files.write("tree/a/.file.crc", "of a file that is gone");
    let how = Copying { move_source: true, ..Copying::default() };
    let told = copy((&local(), &files.path("tree")), (&local(), &files.path("moved")), how);
    assert_eq!(told, 2);
    assert_eq!(files.read("moved/a/b/file"), "text");
    assert!(!std::fs::exists(files.path("tree/a/b")).unwrap());
    // What is still in a directory keeps it, and those above it.
    assert_eq!(files.read("tree/a/.file.crc"), "of a file that is gone");
}
