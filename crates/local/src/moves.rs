//! Moves of local files, including moves to another disk.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use zerohop_system::files;

/// Renames a path. A path that goes to another file system is copied beside its new name, gets this name, and is
/// then removed.
pub(crate) fn move_path(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let copy = beside(to);
            let put = copy_tree(from, &copy).and_then(|()| fs::rename(&copy, to));
            if let Err(error) = put {
                // What is left of the copy does no harm, and the error of the copy says more.
                let _ = remove(&copy);
                return Err(error);
            }
            remove(from)
        }
        renamed => renamed,
    }
}

/// Returns the name of an unfinished copy, as Hadoop's shell has it.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("._COPYING_");
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

/// Copies files with their permissions, and links as links.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(from)?;
    if metadata.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if !metadata.is_dir() {
        return copy_file(from, to);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_tree(&entry.path(), &to.join(entry.file_name()))?;
    }
    fs::set_permissions(to, metadata.permissions())
}

/// Copies a file. Unlike `fs::copy`, fails if the copy cannot be closed.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut input = File::open(from)?;
    let mut output = File::create(to)?;
    io::copy(&mut input, &mut output)?;
    output.set_permissions(input.metadata()?.permissions())?;
    files::close(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_tree_is_what_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/file"), "text").unwrap();
        symlink("b/file", from.join("a/link")).unwrap();
        copy_tree(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("a/b/file")).unwrap(), b"text");
        assert_eq!(fs::read_link(to.join("a/link")).unwrap(), Path::new("b/file"));
    }

    /// A move to another disk used to overwrite the file with its new name while it copied.
    #[test]
    fn a_move_that_fails_on_its_way_to_another_disk_leaves_what_was_there() {
        let (here, there) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let (from, to) = (here.path().join("from"), there.path().join("to"));
        fs::write(&to, "old").unwrap();
        fs::create_dir(&from).unwrap();
        fs::write(from.join("file"), "new").unwrap();
        assert!(move_path(&from, &to).is_err());
        assert_eq!(fs::read(&to).unwrap(), b"old");
        assert_eq!(fs::read_dir(there.path()).unwrap().count(), 1);
        assert_eq!(fs::read(from.join("file")).unwrap(), b"new");

        fs::remove_file(&to).unwrap();
        move_path(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("file")).unwrap(), b"new");
        assert!(!from.exists());
    }
}
