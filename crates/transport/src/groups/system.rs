//! The system's groups of a user (`getgrouplist`).

use std::ffi::{CStr, CString};

/// Most groups that one user is asked for.
const GROUPS_MAX: i32 = 65536;

/// The system's groups of `user`, primary one first; empty for an unknown user.
pub(super) fn groups_of(user: &str) -> Vec<String> {
    let Ok(name) = CString::new(user) else { return Vec::new() };
    let Some(primary) = primary_group(&name) else { return Vec::new() };
    group_ids(&name, primary).into_iter().filter_map(group_name).collect()
}

/// Runs a `get..._r` call with growing buffers until its answer fits.
fn with_buffer(mut call: impl FnMut(&mut [libc::c_char]) -> libc::c_int) -> bool {
    let mut buffer = vec![0; 4096];
    loop {
        match call(&mut buffer) {
            0 => return true,
            libc::ERANGE if buffer.len() < 16 << 20 => buffer.resize(buffer.len() * 4, 0),
            _ => return false,
        }
    }
}

fn primary_group(name: &CStr) -> Option<libc::gid_t> {
    let mut group = None;
    with_buffer(|buffer| {
        let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
        let mut found = std::ptr::null_mut();
        // SAFETY: name ends in NUL, the buffer's length is its own, and both outlive the call.
        let code = unsafe {
            libc::getpwnam_r(
                name.as_ptr(),
                entry.as_mut_ptr(),
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut found,
            )
        };
        if code == 0 && !found.is_null() {
            // SAFETY: found points to entry, which the call has filled.
            group = Some(unsafe { (*found).pw_gid });
        }
        code
    });
    group
}

fn group_ids(name: &CStr, primary: libc::gid_t) -> Vec<libc::gid_t> {
    let mut count: libc::c_int = 64;
    loop {
        let room = count;
        let mut ids = vec![0; room as usize];
        // SAFETY: ids has room for count entries; name ends in NUL.
        let code =
            unsafe { libc::getgrouplist(name.as_ptr(), primary, ids.as_mut_ptr(), &mut count) };
        if code >= 0 {
            ids.truncate(usize::try_from(count).unwrap_or(0));
            return ids;
        }
        if count <= room || count > GROUPS_MAX {
            return vec![primary];
        }
    }
}

/// The name of a group; its number where it has none.
fn group_name(id: libc::gid_t) -> Option<String> {
    let mut name = None;
    with_buffer(|buffer| {
        let mut entry = std::mem::MaybeUninit::<libc::group>::uninit();
        let mut found = std::ptr::null_mut();
        // SAFETY: the buffer's length is its own, and all pointers outlive the call.
        let code = unsafe {
            libc::getgrgid_r(id, entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found)
        };
        if code == 0 && !found.is_null() {
            // SAFETY: found points to entry, whose name is a NUL-ended text in the buffer.
            name = unsafe { CStr::from_ptr((*found).gr_name) }.to_str().ok().map(str::to_owned);
        }
        code
    });
    name.or_else(|| Some(id.to_string()))
}
