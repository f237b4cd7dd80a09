//! Base64 as Hadoop's shell takes it.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// With padding.
pub fn base64(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}

/// As Apache's codec: what is no letter of the alphabet is passed over, and so is a last letter that
/// makes no whole byte.
pub fn from_base64(text: &str) -> Vec<u8> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut letters: Vec<u8> = text.bytes().filter(is_letter).collect();
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    ENGINE.decode(letters).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for value in [&b""[..], b"a", b"ab", b"abc", b"\0\xff\x10"] {
            assert_eq!(from_base64(&base64(value)), value);
        }
        assert_eq!(base64(b"ab"), "YWI=");
        assert_eq!(from_base64("Y W-I\n"), b"ab");
        assert_eq!(from_base64("YWIxY"), b"ab1");
    }
}
