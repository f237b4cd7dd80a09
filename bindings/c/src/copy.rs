//! Copies between file systems (`FileUtil.copy`).

use crate::failure::{Failure, Result, run};
use crate::handles::hdfsFS;
use crate::store::{Connected, Creation, FILE_SYSTEMS};
use crate::text;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// Bytes of a read and a write.
const PIECE: usize = 1 << 20;

fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Where a copy goes: into a directory that is there, under its own name.
fn target(fs: &Connected, from: &str, to: String) -> Result<String> {
    match fs.store.info(&to) {
        Ok(info) if info.is_directory => Ok(format!("{}/{}", to.trim_end_matches('/'), name(from))),
        Ok(_) => Ok(to),
        Err(failure) if failure.is_missing() => Ok(to),
        Err(failure) => Err(failure),
    }
}

fn copy_file(from: (&Connected, &str), to: (&Connected, &str)) -> Result<()> {
    let mut input = from.0.store.open(from.1)?;
    let mut output = to.0.store.create(to.1, Creation::default())?;
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece)? {
            0 => return output.close(),
            len => output.write(&piece[..len])?,
        }
    }
}

fn copy_tree(from: (&Connected, &str), to: (&Connected, &str)) -> Result<()> {
    if !from.0.store.info(from.1)?.is_directory {
        return copy_file(from, to);
    }
    to.0.store.mkdirs(to.1)?;
    for entry in from.0.store.list(from.1)? {
        let below = name(&entry.name);
        let path = |above: &str| format!("{}/{below}", above.trim_end_matches('/'));
        copy_tree((from.0, &path(from.1)), (to.0, &path(to.1)))?;
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
        let is_same = Arc::ptr_eq(&from.store, &to.store) || from.store.uri() == to.store.uri();
        if is_same && (dst == src || dst.starts_with(&format!("{}/", src.trim_end_matches('/')))) {
            return Err(Failure::invalid(format!("cannot copy {src} into itself: {dst}")));
        }
        copy_tree((&from, &src), (&to, &dst))?;
        if is_move {
            from.store.delete(&src, true)?;
        }
        Ok(0)
    })
}

/// Copies a file or directory; a file that is there is replaced, into a directory that is there it is copied under its name.
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
            assert_eq!(crate::hdfsDisconnect(fs), 0);
        }
        assert!(!path("a").exists());
        for copied in ["d/b/c", "d/a/b/c"] {
            assert_eq!(std::fs::read(path(copied)).unwrap(), b"text", "{copied}");
        }
    }
}
