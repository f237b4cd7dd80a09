//! Names for addresses, found after the recording: functions that were inlined among them.

use crate::debug_file::debug_file;
use crate::modules::{Module, modules};
use addr2line::Loader;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Addresses whose names are kept.
const CACHED_MAX: usize = 100_000;
/// `syscall`
#[cfg(target_arch = "x86_64")]
const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];
/// `svc #0`
#[cfg(target_arch = "aarch64")]
const SYSTEM_CALL: [u8; 4] = [0x01, 0x00, 0x00, 0xd4];

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function {
    /// Its name, without what is no part of the source.
    pub name: Arc<str>,
    /// The source file, where that is known.
    pub file: Arc<str>,
    /// The line; 0 where that is not known.
    pub line: u32,
    /// It is a part of the kernel.
    pub is_kernel: bool,
}

impl Function {
    /// A function of which the name is known only.
    pub(crate) fn named(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), file: "".into(), line: 0, is_kernel: false }
    }
}

/// Names of addresses that were looked up before. What lies at an address does not change as long as the process lives.
#[derive(Default)]
pub(crate) struct KnownNames(HashMap<usize, Arc<[Function]>>);

/// A loaded file with its names.
struct NamedModule {
    module: Module,
    /// None for a file that cannot be read.
    loader: Option<Loader>,
}

/// Looks addresses up.
pub(crate) struct Symbols<'a> {
    known: &'a mut KnownNames,
    modules: Vec<Module>,
    loaded: HashMap<usize, NamedModule>,
}

impl<'a> Symbols<'a> {
    pub(crate) fn new(known: &'a mut KnownNames) -> Self {
        if known.0.len() > CACHED_MAX {
            known.0.clear();
        }
        Self { known, modules: modules(), loaded: HashMap::new() }
    }

    /// The functions at an address, the innermost first; several where they were inlined.
    pub(crate) fn functions(&mut self, address: usize) -> Arc<[Function]> {
        if let Some(found) = self.known.0.get(&address) {
            return Arc::clone(found);
        }
        let found: Arc<[Function]> = self.look_up(address).into();
        self.known.0.insert(address, Arc::clone(&found));
        found
    }

    /// Whether the instruction before an address is a system call: a thread that is in the kernel returns to such an address.
    pub(crate) fn follows_system_call(&self, address: usize) -> bool {
        let before = address.wrapping_sub(SYSTEM_CALL.len());
        let is_in = |code: &Range<usize>| code.contains(&before) && address <= code.end;
        self.modules.iter().flat_map(|module| &module.code).any(is_in)
            // SAFETY: the bytes lie in a module's code, which is mapped as long as the module is loaded and can be read.
            && unsafe { std::ptr::read_volatile(before as *const [u8; SYSTEM_CALL.len()]) } == SYSTEM_CALL
    }

    fn look_up(&mut self, address: usize) -> Vec<Function> {
        let is_in = |module: &Module| module.code.iter().any(|code| code.contains(&address));
        let Some(index) = self.modules.iter().position(is_in) else {
            return vec![Function::named("[unknown]")];
        };
        let Some(module) = self.modules.get(index) else { return Vec::new() };
        let load = || NamedModule::load(module.clone());
        let named = self.loaded.entry(index).or_insert_with(load);
        named.functions(address)
    }
}

impl NamedModule {
    fn load(module: Module) -> Self {
        let debug = debug_file(&module.path, &module.file());
        let of_debug = debug.and_then(|file| Loader::new(file).ok());
        Self { loader: of_debug.or_else(|| Loader::new(&module.path).ok()), module }
    }

    fn functions(&self, address: usize) -> Vec<Function> {
        let in_file = address.wrapping_sub(self.module.bias) as u64;
        let Some(loader) = &self.loader else { return vec![self.unnamed()] };
        let mut functions = Vec::new();
        if let Ok(mut frames) = loader.find_frames(in_file) {
            while let Ok(Some(frame)) = frames.next() {
                let Some(name) = frame.function.as_ref().and_then(|name| name.raw_name().ok())
                else {
                    continue;
                };
                let place = frame.location.as_ref();
                let file = place.and_then(|place| place.file).unwrap_or_default();
                functions.push(Function {
                    name: with_path(&clean(&name), file).into(),
                    file: file.into(),
                    line: place.and_then(|place| place.line).unwrap_or_default(),
                    is_kernel: false,
                });
            }
        }
        // Line tables have the last part of a name alone; the symbol table has all of it, for functions that were not inlined.
        match (functions.last_mut(), loader.find_symbol(in_file)) {
            (Some(outermost), Some(symbol)) => outermost.name = clean(symbol).into(),
            (None, Some(symbol)) => functions.push(Function::named(clean(symbol))),
            (None, None) => functions.push(self.unnamed()),
            (Some(_), None) => {}
        }
        functions
    }

    fn unnamed(&self) -> Function {
        let path = self.module.file();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Function::named(format!("[{name}]"))
    }
}

/// The name of an inlined function, of which only the last part is known, behind the module that its source file is: functions of
/// different modules have the same name.
fn with_path(name: &str, file: &str) -> String {
    let before_types = name.split('<').next().unwrap_or_default();
    let is_path = before_types.is_empty() || before_types.contains("::");
    match module_path(file).filter(|_| !is_path) {
        Some(path) => format!("{path}::{name}"),
        None => name.to_owned(),
    }
}

/// `core::ops::range` of `/rustc/HASH/library/core/src/ops/range.rs`; none where the file is not Rust or not below `src`.
fn module_path(file: &str) -> Option<String> {
    let (package, inner) = file.strip_suffix(".rs")?.rsplit_once("/src/")?;
    let package = package.rsplit('/').next().unwrap_or_default();
    // A package of a registry is in a directory with its version.
    let krate = match package.rsplit_once('-') {
        Some((krate, version)) if version.starts_with(|first: char| first.is_ascii_digit()) => {
            krate
        }
        _ => package,
    };
    let mut parts: Vec<&str> = inner.split('/').collect();
    parts.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
    parts.insert(0, krate);
    Some(parts.join("::").replace('-', "_"))
}

/// A name as people write it. Versions of symbols are left out.
fn clean(name: &str) -> String {
    let demangled = format!("{:#}", rustc_demangle::demangle(name));
    let end = demangled.find("@@").unwrap_or(demangled.len());
    demangled.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug_file::tests::stripped_program;

    #[test]
    fn this_function_has_a_name_a_file_and_a_line() {
        let mut known = KnownNames::default();
        let here = this_function_has_a_name_a_file_and_a_line as fn() as usize;
        for _ in 0..2 {
            let found = Symbols::new(&mut known).functions(here + 1);
            let [.., function] = &found[..] else { panic!("{found:?}") };
            assert!(
                function.name.ends_with("this_function_has_a_name_a_file_and_a_line"),
                "{found:?}"
            );
            assert!(function.file.ends_with("symbols.rs") && function.line > 100, "{found:?}");
        }
        assert_eq!(known.0.len(), 1);
    }

    mod one {
        #[inline(never)]
        pub(super) fn run() -> [usize; 2] {
            [super::super::tests::here(), inlined()]
        }
        #[inline(always)]
        fn inlined() -> usize {
            super::super::tests::here()
        }
    }

    mod other {
        #[inline(never)]
        pub(super) fn run() -> [usize; 2] {
            [super::super::tests::here(), 0]
        }
    }

    /// An address in the function that calls this.
    #[inline(always)]
    fn here() -> usize {
        let address: usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instruction reads the program counter.
        unsafe {
            std::arch::asm!("lea {}, [rip]", out(reg) address, options(nostack, nomem));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the instruction reads the program counter.
        unsafe {
            std::arch::asm!("adr {}, .", out(reg) address, options(nostack, nomem));
        }
        address
    }

    #[test]
    fn functions_of_the_same_name_are_told_apart_by_their_paths() {
        let mut known = KnownNames::default();
        let mut symbols = Symbols::new(&mut known);
        let mut names = |address| -> Vec<String> {
            symbols.functions(address).iter().map(|function| function.name.to_string()).collect()
        };
        let [in_run, in_inlined] = one::run();
        let run = "zerohop_profile::symbols::tests::one::run";
        assert_eq!(names(in_run), ["profile::symbols::here", run]);
        let inlined = "profile::symbols::inlined";
        assert_eq!(names(in_inlined), ["profile::symbols::here", inlined, run]);
        let [in_other, _] = other::run();
        assert_eq!(names(in_other)[1], "zerohop_profile::symbols::tests::other::run");
    }

    #[test]
    fn a_program_without_symbols_has_the_names_of_its_debug_file() {
        let directory = tempfile::tempdir().unwrap();
        let (path, debug, address) = stripped_program(directory.path());
        let module = Module { path, bias: 0, code: Vec::new(), is_executable: false };
        let functions = NamedModule::load(module.clone()).functions(address + 4);
        let [planted] = &functions[..] else { panic!("{functions:?}") };
        assert!(planted.file.ends_with("planted.c") && planted.line == 1, "{planted:?}");
        assert_eq!(&*planted.name, "planted");
        std::fs::remove_file(debug).unwrap();
        let functions = NamedModule::load(module).functions(address + 4);
        assert_eq!(&*functions[0].name, "[program]");
    }

    #[test]
    fn a_source_file_is_a_module() {
        for (file, module) in [
            ("/rustc/59807616e1fa/library/core/src/ops/range.rs", "core::ops::range"),
            ("/home/u/.cargo/registry/src/index-1/lock_api-0.4.14/src/lib.rs", "lock_api"),
            ("/build/zerohop/crates/object-store/src/put/mod.rs", "object_store::put"),
            ("/build/crates/cli/src/main.rs", "cli"),
        ] {
            assert_eq!(module_path(file).as_deref(), Some(module));
        }
        for file in ["", "/src/", "zstd/lib/compress.c", "src/a.rs", "/build/out/tables.rs"] {
            assert_eq!(module_path(file), None, "{file}");
        }
        assert_eq!(with_path("run<a::B>", "/x/y/src/z.rs"), "y::z::run<a::B>");
        for whole in ["<a::B as c::D>::run", "a::run", "a::run<u8>"] {
            assert_eq!(with_path(whole, "/x/y/src/z.rs"), whole);
        }
    }

    #[test]
    fn what_has_no_name_is_shown_as_such() {
        let mut known = KnownNames::default();
        let mut symbols = Symbols::new(&mut known);
        assert_eq!(&*symbols.functions(0x10)[0].name, "[unknown]");
        let getpid = libc::getpid as unsafe extern "C" fn() -> libc::pid_t as usize;
        let found = symbols.functions(getpid);
        assert!(found[0].name.contains("getpid") || found[0].name.starts_with('['), "{found:?}");
    }
}
