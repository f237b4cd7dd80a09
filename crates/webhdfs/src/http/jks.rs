//! The certificates of a Java keystore of type JKS.
//!
//! ```text
//! u32 0xFEEDFEED | u32 version | u32 entries
//! entry: u32 tag | utf alias | u64 date | tag 2: certificate
//!                                       | tag 1: u32 length, key | u32 certificates, certificate...
//! certificate: utf type (version 2 only) | u32 length | DER
//! utf: u16 length | bytes
//! ```
//! A SHA-1 digest with the password follows. Certificates are not secret, so the digest is not checked: a user who
//! can write the file can also write the configuration that names it.

const MAGIC: &[u8] = &[0xfe, 0xed, 0xfe, 0xed];

/// Returns the trusted certificates in DER; `None` if the bytes are not a complete keystore of this type.
pub(crate) fn certificates(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = Rest(bytes);
    if rest.bytes(4)? != MAGIC {
        return None;
    }
    let version = rest.u32()?;
    let entries = rest.u32()?;
    let mut found = Vec::new();
    for _ in 0..entries {
        let tag = rest.u32()?;
        rest.utf()?;
        rest.bytes(8)?;
        match tag {
            2 => found.push(rest.certificate(version)?.to_vec()),
            1 => {
                rest.block()?;
                for _ in 0..rest.u32()? {
                    rest.certificate(version)?;
                }
            }
            _ => return None,
        }
    }
    Some(found)
}

/// Bytes not yet read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    fn utf(&mut self) -> Option<&'a [u8]> {
        let length = self.bytes(2)?.try_into().ok().map(u16::from_be_bytes)?;
        self.bytes(length.into())
    }

    fn block(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    fn certificate(&mut self, version: u32) -> Option<&'a [u8]> {
        if version == 2 {
            self.utf()?;
        }
        self.block()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(entries: &[(u32, &[u8])]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([0, 0, 0, 2]);
        bytes.extend((entries.len() as u32).to_be_bytes());
        for (tag, certificate) in entries {
            bytes.extend(tag.to_be_bytes());
            bytes.extend([0, 1, b'a', 0, 0, 0, 0, 0, 0, 0, 1]);
            if *tag == 1 {
                bytes.extend([0, 0, 0, 1, b'k', 0, 0, 0, 1]);
            }
            bytes.extend([0, 5]);
            bytes.extend(b"X.509");
            bytes.extend((certificate.len() as u32).to_be_bytes());
            bytes.extend(*certificate);
        }
        bytes
    }

    #[test]
    fn trusted_certificates_are_found_among_keys() {
        let bytes = store(&[(2, b"one"), (1, b"mine"), (2, b"two")]);
        assert_eq!(certificates(&bytes).unwrap(), [b"one".to_vec(), b"two".to_vec()]);
        for end in 0..bytes.len() {
            assert_eq!(certificates(&bytes[..end]), None, "{end}");
        }
        assert_eq!(certificates(&store(&[(3, b"odd")])), None);
    }
}
