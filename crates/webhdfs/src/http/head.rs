//! The head of an answer.

use std::io;

/// A head with more lines is refused.
const HEADERS_MAX: usize = 100;

/// The place where an answer's body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Length {
    /// The body has a known number of bytes.
    Known(u64),
    /// The body ends with an empty chunk.
    Chunked,
    /// The body ends with the connection.
    #[default]
    Close,
}

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// The text after the status code.
    pub(crate) reason: String,
    pub(crate) location: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) length: Length,
    /// True if the server closes the connection after the body.
    pub(crate) closes: bool,
}

impl Head {
    /// Parses a complete head.
    ///
    /// # Errors
    /// Fails if the bytes are not an answer of HTTP/1.
    pub(crate) fn parse(bytes: &[u8]) -> io::Result<Self> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut answer = httparse::Response::new(&mut headers);
        match answer.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Err(invalid("its head is incomplete")),
            Err(error) => return Err(invalid(&error.to_string())),
        }
        let mut head = Self {
            status: answer.code.unwrap_or(0),
            reason: answer.reason.unwrap_or_default().to_owned(),
            closes: answer.version == Some(0),
            ..Self::default()
        };
        for header in answer.headers.iter() {
            let Ok(value) = std::str::from_utf8(header.value) else { continue };
            let value = value.trim();
            match header.name.to_ascii_lowercase().as_str() {
                "content-length" if head.length != Length::Chunked => {
                    let length =
                        value.parse().map_err(|_| invalid("its length is not a number"))?;
                    head.length = Length::Known(length);
                }
                "transfer-encoding" => head.length = Length::Chunked,
                "connection" => head.closes |= value.eq_ignore_ascii_case("close"),
                "location" => head.location = Some(value.to_owned()),
                "content-type" => head.content_type = Some(value.to_owned()),
                _ => {}
            }
        }
        if matches!(head.status, 204 | 304) {
            head.length = Length::Known(0);
        }
        Ok(head)
    }
}

/// Creates the error of an answer that is not HTTP.
pub(crate) fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not an answer of HTTP: {problem}"))
}
