//! Names of the kernel's functions, where the system shows their addresses (`/proc/kallsyms`).

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

/// Names by address.
#[derive(Default)]
pub(crate) struct KernelNames(Vec<(u64, Arc<str>)>);

impl KernelNames {
    /// As the kernel lists them; none where it hides the addresses.
    pub(crate) fn read() -> Self {
        match File::open("/proc/kallsyms") {
            Ok(file) => Self::from_lines(BufReader::with_capacity(1 << 20, file)),
            Err(_) => Self::default(),
        }
    }

    fn from_lines(lines: impl BufRead) -> Self {
        let mut names: Vec<(u64, Arc<str>)> =
            lines.lines().map_while(Result::ok).filter_map(|line| function(&line)).collect();
        names.sort_by_key(|(address, _)| *address);
        Self(names)
    }

    /// The function that an address is in.
    pub(crate) fn name(&self, address: u64) -> Arc<str> {
        let behind = self.0.partition_point(|(start, _)| *start <= address);
        let found = behind.checked_sub(1).and_then(|index| self.0.get(index));
        found.map_or_else(|| "[kernel]".into(), |(_, name)| Arc::clone(name))
    }
}

/// `address kind name [module]`.
fn function(line: &str) -> Option<(u64, Arc<str>)> {
    let mut words = line.split_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address > 0)?;
    let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
    is_code.then_some((address, words.next()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_that_begins_before_it() {
        let lines = "ffff20 T do_wait\nffff10 t do_read [ext4]\nffff30 d data\n0 T hidden\nodd\n";
        let names = KernelNames::from_lines(lines.as_bytes());
        assert_eq!(&*names.name(0xffff15), "do_read");
        assert_eq!(&*names.name(0xffff99), "do_wait");
        assert_eq!(&*names.name(5), "[kernel]");
    }
}
