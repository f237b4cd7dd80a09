//! A recording as text, a line a stack: `role;outer;inner COUNT`, as flame graph tools read it.

use crate::recording::Recording;
use crate::symbols::Function;

/// The lines, sorted. Frames of the kernel end with `_[k]`.
pub fn collapsed(recording: &Recording) -> String {
    let mut lines: Vec<String> = recording
        .stacks
        .iter()
        .map(|(stack, count)| {
            let names: Vec<String> = stack.iter().map(name).collect();
            format!("{} {count}\n", names.join(";"))
        })
        .collect();
    lines.sort();
    lines.concat()
}

/// A name that neither ends a frame nor a line.
fn name(function: &Function) -> String {
    let plain = |letter: char| match letter {
        ';' => ':',
        letter if letter.is_control() => '?',
        letter => letter,
    };
    let name: String = function.name.chars().map(plain).collect();
    if function.is_kernel { name + "_[k]" } else { name }
}
