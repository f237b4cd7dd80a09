//! Copies between file systems (`FileUtil.copy`).

use crate::failure::{Failure, Result, run};
use crate::handles::hdfsFS;
use crate::store::{Connected, Creation, FILE_SYSTEMS, Info, Input, Output};
use crate::text;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// Bytes of a read and a write.
const PIECE: usize = 1 << 20;

fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The path of a name in a directory.
fn below(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// What is known of a path, if there is such a path.
fn found(fs: &Connected, path: &str) -> Result<Option<Info>> {
    match fs.store.info(path) {
        Ok(info) => Ok(Some(info)),
        Err(failure) if failure.is_missing() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Where a copy goes: into a directory that is there, under its own name.
fn target(fs: &Connected, from: &str, to: String) -> Result<String> {
    let is_directory = found(fs, &to)?.is_some_and(|info| info.is_directory);
    Ok(if is_directory { below(&to, name(from)) } else { to })
}

fn into_itself(from: &str, to: &str) -> Failure {
    Failure::invalid(format!("cannot copy {from} into itself: {to}"))
}

/// Refuses a target that is the source or lies in it. One cluster may be connected under two names, so that paths are told apart
/// by what they are, not by what they are called.
fn check_apart(from: (&str, &Info), to: (&Connected, &str)) -> Result<()> {
    let mut path = to.1;
    while !path.is_empty() {
        if found(to.0, path)?.is_some_and(|info| info.identity == from.1.identity) {
            return Err(into_itself(from.0, to.1));
        }
        path = match path.rsplit_once('/') {
            Some(("", _)) if path != "/" => "/",
            Some((above, _)) => above,
            None => "",
        };
    }
    Ok(())
}

/// A file or directory to be copied, and where to.
struct Entry {
    from: String,
    to: String,
    is_directory: bool,
}

/// What is at and below a path before anything is copied, each directory before what it holds.
fn entries(from: (&Connected, &str, &Info), to: &str) -> Result<Vec<Entry>> {
    let is_directory = from.2.is_directory;
    let mut all = vec![Entry { from: from.1.to_owned(), to: to.to_owned(), is_directory }];
    let mut listed = 0;
    while let Some(entry) = all.get(listed) {
        listed += 1;
        if !entry.is_directory {
            continue;
        }
        let (from_directory, to_directory) = (entry.from.clone(), entry.to.clone());
        for info in from.0.store.list(&from_directory)? {
            let name = name(&info.name);
            all.push(Entry {
                from: below(&from_directory, name),
                to: below(&to_directory, name),
                is_directory: info.is_directory,
            });
        }
    }
    Ok(all)
}

fn pump(input: &mut dyn Input, output: &mut dyn Output) -> Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece)? {
            0 => return Ok(()),
            len => output.write(&piece[..len])?,
        }
    }
}

/// Copies a file beside its target. The copy takes the target's name when it is complete: a copy that fails keeps the
/// old file, and leaves no file open.
fn copy_file(from: (&Connected, &str), to: (&Connected, &str)) -> Result<()> {
    let mut input = from.0.store.open(from.1)?;
    let unfinished = format!("{}._COPYING_", to.1);
    let mut output = to.0.store.create(&unfinished, Creation::default())?;
    let pumped = pump(&mut *input, &mut *output);
    let closed = output.close();
    let done = pumped.and(closed).and_then(|()| to.0.store.replace(&unfinished, to.1));
    if done.is_err() {
        // The failure of the copy says more than that of a removal.
        let _ = to.0.store.delete(&unfinished, false);
    }
    done
}

fn copy_entries(from: &Connected, to: &Connected, entries: &[Entry]) -> Result<()> {
    for entry in entries {
        if entry.is_directory {
            to.store.mkdirs(&entry.to)?;
        } else {
            copy_file((from, &entry.from), (to, &entry.to))?;
        }
    }
    Ok(())
}

/// # Safety
/// `src` and `dst` are NULL or C strings.
unsafe fn copy(
    srcFS: hdfsFS,
    src: *const c_char,
    dstFS: hdfsFS,
    dst: *const c_char,
    is_move: bool,
) -> c_int {
    run(-1, || {
        // SAFETY: as the caller promises.
        let (src, dst) = unsafe { (text::needed(src, "src")?, text::needed(dst, "dst")?) };
        let (from, to) = (FILE_SYSTEMS.get(srcFS)?, FILE_SYSTEMS.get(dstFS)?);
        let src = from.absolute(src)?;
        let dst = target(&to, &src, to.absolute(dst)?)?;
        let info = from.store.info(&src)?;
        let as_uri = format!("{}{src}", from.store.uri());
        let is_same = Arc::ptr_eq(&from.store, &to.store) || to.store.path_of(&as_uri).is_ok();
        if is_same && (dst == src || dst.starts_with(&below(&src, ""))) {
            return Err(into_itself(&src, &dst));
        }
        check_apart((&src, &info), (&to, &dst))?;
        copy_entries(&from, &to, &entries((&from, &src, &info), &dst)?)?;
        if is_move {
            from.store.delete(&src, true)?;
        }
        Ok(0)
    })
}

/// Copies a file or directory; an existing file is replaced when its copy is complete, into a directory that is there it is copied under its name.
/// 0, or -1 with errno.
///
/// # Safety
/// `src` and `dst` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsCopy(
    srcFS: hdfsFS,
    src: *const c_char,
    dstFS: hdfsFS,
    dst: *const c_char,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { copy(srcFS, src, dstFS, dst, false) }
}

/// hdfsCopy(), and deletes what was copied. 0, or -1 with errno.
///
/// # Safety
/// `src` and `dst` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsMove(
    srcFS: hdfsFS,
    src: *const c_char,
    dstFS: hdfsFS,
    dst: *const c_char,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { copy(srcFS, src, dstFS, dst, true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdfsConnect;
    use std::ffi::CString;

    #[test]
    fn a_tree_is_copied_and_moved() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("a/b")).unwrap();
        std::fs::write(path("a/b/c"), b"text").unwrap();
        let text = |name: &str| CString::new(path(name).to_str().unwrap()).unwrap();
        // SAFETY: C strings, and NULL for this machine's own file system.
        unsafe {
            let fs = hdfsConnect(std::ptr::null(), 0);
            assert!(!fs.is_null());
            assert_eq!(hdfsCopy(fs, text("a").as_ptr(), fs, text("d").as_ptr()), 0);
            assert_eq!(hdfsMove(fs, text("a").as_ptr(), fs, text("d").as_ptr()), 0);
            assert_eq!(hdfsCopy(fs, text("d").as_ptr(), fs, text("d/e/f").as_ptr()), -1);
            // The same directory under another name.
            std::os::unix::fs::symlink(path("d"), path("link")).unwrap();
            for (from, to) in [("d", "link/e/f"), ("link", "d/b/e"), ("d/b/c", "link/b/c")] {
                assert_eq!(hdfsMove(fs, text(from).as_ptr(), fs, text(to).as_ptr()), -1, "{from}");
                assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EINVAL));
            }
            assert_eq!(crate::hdfsDisconnect(fs), 0);
        }
        assert!(!path("a").exists());
        for copied in ["d/b/c", "d/a/b/c"] {
            assert_eq!(std::fs::read(path(copied)).unwrap(), b"text", "{copied}");
        }
    }

    /// A copy that failed used to leave its target cut, and without the old bytes.
    #[test]
    fn a_copy_that_fails_keeps_the_old_target() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        std::fs::write(&target, b"old").unwrap();
        let path = CString::new(target.to_str().unwrap()).unwrap();
        // SAFETY: C strings, and NULL for this machine's own file system.
        unsafe {
            let fs = hdfsConnect(std::ptr::null(), 0);
            // A file that can be opened, and not read from its start.
            assert_eq!(hdfsCopy(fs, c"/proc/self/mem".as_ptr(), fs, path.as_ptr()), -1);
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EIO));
            assert_eq!(crate::hdfsDisconnect(fs), 0);
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
