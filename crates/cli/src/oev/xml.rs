//! XML as Apache's offline viewers write it (`XMLUtils`, and Java's serializer under it).

use std::fmt::{self, Display};
use std::io::{self, Write};

/// Writes elements, each on a line of its own.
pub struct Xml<W: Write> {
    out: W,
    depth: usize,
}

impl<W: Write> Xml<W> {
    /// Begins a document.
    pub fn begin(mut out: W) -> io::Result<Self> {
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>")?;
        Ok(Self { out, depth: 0 })
    }

    fn indent(&mut self) -> io::Result<()> {
        write!(self.out, "{:width$}", "", width = 2 * self.depth)
    }

    /// An element with others in it.
    pub fn group(
        &mut self,
        tag: &str,
        inner: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.indent()?;
        writeln!(self.out, "<{tag}>")?;
        self.depth += 1;
        inner(self)?;
        self.depth -= 1;
        self.indent()?;
        writeln!(self.out, "</{tag}>")
    }

    /// An element with a text.
    pub fn value(&mut self, tag: &str, value: impl Display) -> io::Result<()> {
        self.indent()?;
        let text = value.to_string();
        match text.is_empty() {
            true => writeln!(self.out, "<{tag}/>"),
            false => writeln!(self.out, "<{tag}>{}</{tag}>", Escaped(&text)),
        }
    }

    /// The same where there is a value.
    pub fn some(&mut self, tag: &str, value: Option<impl Display>) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.value(tag, value))
    }

    /// Ends the document and returns what it was written to.
    pub fn finish(self) -> W {
        self.out
    }
}

/// What XML cannot hold, and the backslash, as `\0000;`; Java's serializer writes characters outside the
/// basic plane as references.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '\r' => f.write_str("&#13;")?,
                '\t' | '\n' => write!(f, "{letter}")?,
                '\\' | '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                    write!(f, "\\{:04x};", letter as u32)?;
                }
                '\u{10000}'.. => write!(f, "&#{};", letter as u32)?,
                _ => write!(f, "{letter}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_written_as_hadoop_writes_it() {
        assert_eq!(
            Escaped("a\\b\u{1}<&>\u{1f600}").to_string(),
            "a\\005c;b\\0001;&lt;&amp;&gt;&#128512;"
        );
    }
}
