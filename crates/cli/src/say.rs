//! Printing that ends quietly when the reader has gone (`zerohop dfsadmin -report | head -1`).

use std::fmt::Arguments;
use std::io::Write;

/// What a shell reports of a program that SIGPIPE ended; Rust ignores the signal.
const BROKEN_PIPE_EXIT: i32 = 128 + 13;

/// Writes to standard output; ends the process when nobody can read it.
pub(crate) fn say(text: Arguments<'_>) {
    if std::io::stdout().write_fmt(text).is_err() {
        std::process::exit(BROKEN_PIPE_EXIT);
    }
}

/// A line of a program that goes on whether it is read or not (`zerohop up | head -1`).
pub(crate) fn mention(text: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_fmt(text).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
}

/// `print!` that does not panic.
macro_rules! say {
    ($($arg:tt)*) => { $crate::say::say(format_args!($($arg)*)) };
}

/// `println!` that does not panic.
macro_rules! sayln {
    () => { $crate::say::say(format_args!("\n")) };
    ($($arg:tt)*) => {{
        $crate::say::say(format_args!($($arg)*));
        $crate::say::say(format_args!("\n"));
    }};
}
