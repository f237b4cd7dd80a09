//! The files whose code is in this process.

use std::ffi::CStr;
use std::ops::Range;
use std::path::PathBuf;

/// A file that the dynamic linker has loaded.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// The executable itself, a library, or a name without a file (the vDSO).
    pub(crate) path: PathBuf,
    /// What was added to the addresses in the file.
    pub(crate) bias: usize,
    /// Where its code is.
    pub(crate) code: Vec<Range<usize>>,
    /// The executable, whose code is ours.
    pub(crate) is_executable: bool,
}

impl Module {
    /// Where the file lies.
    pub(crate) fn file(&self) -> PathBuf {
        match self.is_executable {
            true => std::env::current_exe().unwrap_or_default(),
            false => self.path.clone(),
        }
    }
}

/// All modules, the executable first.
pub(crate) fn modules() -> Vec<Module> {
    let mut list: Vec<Module> = Vec::new();
    // SAFETY: the callback gets the pointer that is passed here, and is not called after this returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut list).cast()) };
    list
}

unsafe extern "C" fn note(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    list: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the linker's entry is valid during the call, and `list` is the vector of `modules`, which nothing else uses
    // meanwhile.
    let (info, list) = unsafe { (&*info, &mut *list.cast::<Vec<Module>>()) };
    let name = match info.dlpi_name.is_null() {
        true => c"",
        // SAFETY: a string that lives as long as the module.
        false => unsafe { CStr::from_ptr(info.dlpi_name) },
    };
    let headers = match info.dlpi_phdr.is_null() {
        true => &[][..],
        // SAFETY: so many headers are mapped as long as the module.
        false => unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) },
    };
    let bias = info.dlpi_addr as usize;
    let is_code = |header: &&libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0
    };
    let range = |header: &libc::Elf64_Phdr| {
        let start = bias.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    };
    let code = headers.iter().filter(is_code).map(range).collect();
    let is_executable = name.is_empty() && list.is_empty();
    let path = match is_executable {
        true => PathBuf::from("/proc/self/exe"),
        false => PathBuf::from(name.to_string_lossy().into_owned()),
    };
    list.push(Module { path, bias, code, is_executable });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_code_is_in_the_executable() {
        let all = modules();
        let here = our_code_is_in_the_executable as fn() as usize;
        let module = all.iter().find(|module| module.code.iter().any(|code| code.contains(&here)));
        assert!(module.unwrap().is_executable, "{all:?}");
        assert!(all.len() > 1, "the C library");
    }
}
