//! Local paths: the user's home directory, and moves to another disk.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use zerohop_system::users;

/// The home directory of the user of this process, as Java's `user.home` has it: what the machine knows,
/// else `HOME`.
pub fn user_home() -> String {
    let listed = users::home(users::real_id()).filter(|home| home.is_absolute());
    let listed = listed.and_then(|home| home.into_os_string().into_string().ok());
    let home = listed.or_else(|| std::env::var("HOME").ok().filter(|home| !home.is_empty()));
    home.unwrap_or_else(|| "/".to_owned())
}

/// Renames; what goes to another file system is copied and then removed.
pub fn move_path(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_tree(from, to)?;
            match fs::symlink_metadata(from)?.is_dir() {
                true => fs::remove_dir_all(from),
                false => fs::remove_file(from),
            }
        }
        renamed => renamed,
    }
}

/// Copies files with their permissions, and links as links.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(from)?;
    if metadata.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if !metadata.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_tree(&entry.path(), &to.join(entry.file_name()))?;
    }
    fs::set_permissions(to, metadata.permissions())
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
}
