//! Text of any length, read and shown a piece at a time.

use std::io::{self, BufRead, Read};

use crate::damage::cut;
use crate::source::Source;

/// Bytes that are decoded at a time.
const PIECE: usize = 64 << 10;

/// Passes the next `length` bytes to `take`, in pieces.
pub(super) fn pieces<R: BufRead>(
    source: &mut Source<R>,
    format: &'static str,
    length: u64,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (mut left, mut piece) = (length, Vec::new());
    while left > 0 {
        piece.clear();
        let count = source.by_ref().take(left.min(PIECE as u64)).read_to_end(&mut piece)?;
        if count == 0 {
            return Err(cut(format, source.offset()));
        }
        left -= count as u64;
        take(&piece)?;
    }
    Ok(())
}

/// Passes the next `length` bytes to `take` as text, in pieces. Bytes that are not UTF-8 become U+FFFD.
pub(super) fn utf8<R: BufRead>(
    source: &mut Source<R>,
    format: &'static str,
    length: u64,
    mut take: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut decoder = Utf8Decoder::default();
    pieces(source, format, length, |piece| decoder.push(piece, &mut take))?;
    decoder.finish(&mut take)
}

/// A decoder of text that arrives in pieces.
#[derive(Default)]
pub(super) struct Utf8Decoder {
    /// A character whose last bytes have not arrived.
    rest: Vec<u8>,
}

impl Utf8Decoder {
    /// Passes the characters to `take` that are whole.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        take: &mut impl FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        self.rest.extend_from_slice(piece);
        let mut unfinished = 0;
        let mut chunks = self.rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            take(chunk.valid())?;
            let (invalid, is_last) = (chunk.invalid(), chunks.peek().is_none());
            match std::str::from_utf8(invalid) {
                // The next piece may continue this character.
                Err(error) if is_last && error.error_len().is_none() => unfinished = invalid.len(),
                Err(_) => take("\u{fffd}")?,
                Ok(_) => {}
            }
        }
        self.rest.drain(..self.rest.len() - unfinished);
        Ok(())
    }

    /// Passes what is left, if anything, as U+FFFD.
    pub(super) fn finish(self, take: &mut impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        if self.rest.is_empty() { Ok(()) } else { take("\u{fffd}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let mut out = String::new();
        let take = |text: &str| {
            out.push_str(text);
            Ok(())
        };
        utf8(&mut Source::new(bytes), "test", bytes.len() as u64, take).unwrap();
        out
    }

    #[test]
    fn characters_on_the_border_of_pieces_stay_whole() {
        for before in PIECE - 4..=PIECE {
            let text = format!("{}\u{1f600}é", "x".repeat(before));
            assert!(shown(text.as_bytes()) == text, "{before}");
        }
        for bytes in
            [&b"\xf0\x9f"[..], b"a\xffb\xf0\x9f", b"\xed\xa0\x80", b"\xc3\xc3x\xf0\x9f\xc3"]
        {
            assert_eq!(shown(bytes), String::from_utf8_lossy(bytes));
        }
        let error = utf8(&mut Source::new(&b"ab"[..]), "test", 3, |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
