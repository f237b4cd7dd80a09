//! Flame graphs: one recording, or the difference of two.

use crate::collapsed::collapsed;
use crate::recording::Recording;
use inferno::differential;
use inferno::flamegraph::color::{BasicPalette, MultiPalette, Palette};
use inferno::flamegraph::{self, Options};
use std::io;

const WIDTH: usize = 1400;

/// An interactive picture of a recording, as SVG. One without samples says so.
///
/// # Errors
/// If the picture cannot be made.
pub fn flame_graph(recording: &Recording) -> io::Result<Vec<u8>> {
    let text = collapsed(recording);
    let mut options = options(recording.title(), recording.subtitle());
    options.colors = Palette::Multi(MultiPalette::Rust);
    match text.is_empty() {
        true => draw(&mut options, "no thread used the processor 1\n"),
        false => draw(&mut options, &text),
    }
}

/// What `after` has more of (red) or less of (blue) than `before`; both are text of [`collapsed`].
///
/// # Errors
/// If one of them has no stack, or a line that is none.
pub fn difference(before: &str, after: &str) -> io::Result<Vec<u8>> {
    check(before, "before")?;
    check(after, "after")?;
    let mut both = Vec::new();
    let normalized = differential::Options { normalize: true, strip_hex: false };
    differential::from_readers(normalized, before.as_bytes(), after.as_bytes(), &mut both)?;
    let both = String::from_utf8_lossy(&both);
    let subtitle = "red: more than before, blue: less; the first recording is scaled to the second";
    let mut options = options("Difference of two recordings".to_owned(), subtitle.to_owned());
    options.colors = Palette::Basic(BasicPalette::Hot);
    draw(&mut options, &both)
}

fn check(text: &str, which: &str) -> io::Result<()> {
    let is_stack = |line: &str| {
        line.rsplit_once(' ')
            .is_some_and(|(stack, count)| !stack.is_empty() && count.parse::<u64>().is_ok())
    };
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    if lines.peek().is_none() {
        return Err(invalid(format!("the recording {which} has no stack")));
    }
    match lines.find(|(_, line)| !is_stack(line)) {
        None => Ok(()),
        Some((index, _)) => Err(invalid(format!(
            "line {} of the recording {which} is no stack with a number behind it (record with -o FILE.txt)",
            index + 1
        ))),
    }
}

fn options(title: String, subtitle: String) -> Options<'static> {
    let mut options = Options::default();
    options.title = title;
    options.subtitle = Some(subtitle);
    options.image_width = Some(WIDTH);
    options.deterministic = true;
    options
}

fn draw(options: &mut Options<'_>, text: &str) -> io::Result<Vec<u8>> {
    let mut picture = Vec::new();
    flamegraph::from_lines(options, text.lines(), &mut picture)?;
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options;
    use crate::symbols::Function;

    fn recording(names: &[&str]) -> Recording {
        let stack = names.iter().map(|name| Function::named(*name)).collect();
        Recording {
            options: options::Options::default(),
            hz: 99.0,
            process: "<b>x&y</b>".to_owned(),
            has_kernel: true,
            dropped: 0,
            refused: 0,
            stacks: [(stack, 3)].into(),
        }
    }

    #[test]
    fn hostile_names_stay_text() {
        let names = ["</text><script>alert(1)</script>", "a;b\nc 7", "]]>", "\u{0}"];
        let hostile = recording(&names);
        assert_eq!(collapsed(&hostile).lines().count(), 1);
        let picture = String::from_utf8(flame_graph(&hostile).unwrap()).unwrap();
        assert!(!picture.contains("<script>alert") && !picture.contains("<b>x"), "{picture}");
        assert!(picture.contains("alert(1)"), "it is shown");
    }

    #[test]
    fn an_empty_recording_is_a_picture_too() {
        let empty = Recording { stacks: Default::default(), ..recording(&[]) };
        let picture = String::from_utf8(flame_graph(&empty).unwrap()).unwrap();
        assert!(picture.contains("no thread used the processor"));
    }

    #[test]
    fn a_difference_needs_two_recordings() {
        let picture = difference("a;b 1\na;c 3\n", "a;b 4\n").unwrap();
        assert!(String::from_utf8(picture).unwrap().contains("<svg"));
        for (before, after, part) in [
            ("", "a 1", "before has no stack"),
            ("a 1", "a 1\n<svg>\n", "line 2"),
            ("a 1", "a x", "after"),
        ] {
            let error = difference(before, after).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
