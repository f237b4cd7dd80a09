//! The first seven bytes of a connection.
//!
//! ```text
//! 0      4        5              6              7
//! | hrpc | version | service class | auth protocol |
//! ```

/// The only version in use.
pub const VERSION: u8 = 9;
/// Bytes of a preamble.
pub const LEN: usize = 7;
const MAGIC: &[u8; 4] = b"hrpc";
const AUTH_NONE: u8 = 0;
/// -33 as a byte.
const AUTH_SASL: u8 = 0xdf;

/// What a browser that hit this port is told.
pub const HTTP_ANSWER: &str = concat!(
    "HTTP/1.1 404 Not Found\r\n",
    "Content-type: text/plain\r\n\r\n",
    "It looks like you are making an HTTP request to a Hadoop IPC port. ",
    "This is not the correct port for the web interface on this daemon.\r\n",
);

/// How the client wants to say who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthProtocol {
    /// By the connection context alone.
    None,
    /// By SASL messages before the connection context.
    Sasl,
}

/// What the first seven bytes turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// A client of this version.
    Rpc(AuthProtocol),
    /// An HTTP request.
    Http,
    /// A client of another version, or no client at all.
    WrongVersion(u8),
    /// An unknown way to authenticate.
    UnknownAuth(u8),
}

/// Reads a preamble.
pub fn parse(bytes: [u8; LEN]) -> Preamble {
    let [a, b, c, d, version, _service_class, auth] = bytes;
    let magic = [a, b, c, d];
    if &magic == b"GET " {
        return Preamble::Http;
    }
    if &magic != MAGIC || version != VERSION {
        return Preamble::WrongVersion(version);
    }
    match auth {
        AUTH_NONE => Preamble::Rpc(AuthProtocol::None),
        AUTH_SASL => Preamble::Rpc(AuthProtocol::Sasl),
        other => Preamble::UnknownAuth(other),
    }
}

/// The preamble a client without SASL sends.
pub const SIMPLE: [u8; LEN] = [b'h', b'r', b'p', b'c', VERSION, 0, AUTH_NONE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preambles_are_told_apart() {
        assert_eq!(parse(SIMPLE), Preamble::Rpc(AuthProtocol::None));
        assert_eq!(parse(*b"hrpc\x09\x00\xdf"), Preamble::Rpc(AuthProtocol::Sasl));
        assert_eq!(parse(*b"hrpc\x09\x00\x07"), Preamble::UnknownAuth(7));
        assert_eq!(parse(*b"hrpc\x08\x00\x00"), Preamble::WrongVersion(8));
        assert_eq!(parse(*b"GET / H"), Preamble::Http);
        assert_eq!(parse(*b"xxxx\x09\x00\x00"), Preamble::WrongVersion(9));
    }
}
