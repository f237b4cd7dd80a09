//! The umask of new files and directories.

use crate::{Conf, ConfError, keys};

const EXPECTED: &str = "an octal (022) or symbolic (u=rwx,g=rx,o=rx) umask";

/// Returns the bits that `fs.permissions.umask-mode` takes from new files and directories.
///
/// # Errors
/// Fails if the value is not a umask.
pub fn configured(conf: &Conf) -> Result<u16, ConfError> {
    conf.get_as(&keys::FS_PERMISSIONS_UMASK_MODE, EXPECTED, |text| parse(&text))
}

/// Parses an octal umask, or the permissions to keep as `u=rwx,g=rx,o=`.
fn parse(text: &str) -> Option<u16> {
    match u16::from_str_radix(text, 8) {
        Ok(octal) if octal <= 0o1777 => Some(octal & 0o777),
        _ => parse_symbolic(text),
    }
}

fn parse_symbolic(text: &str) -> Option<u16> {
    let mut mask = 0;
    for clause in text.split(',') {
        let (who, kept) = clause.trim().split_once('=')?;
        let mut bits = 0;
        for letter in kept.chars() {
            bits |= match letter {
                'r' => 4,
                'w' => 2,
                'x' => 1,
                _ => return None,
            };
        }
        for letter in who.chars() {
            let shifts: &[u16] = match letter {
                'u' => &[6],
                'g' => &[3],
                'o' => &[0],
                'a' => &[6, 3, 0],
                _ => return None,
            };
            for shift in shifts {
                mask = mask & !(7 << shift) | (7 & !bits) << shift;
            }
        }
    }
    Some(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn umasks_are_octal_or_symbolic() {
        assert_eq!(parse("022").unwrap(), 0o022);
        assert_eq!(parse("u=rwx,g=r-x,o=r-x"), None);
        assert_eq!(parse("u=rwx,g=rx,o=").unwrap(), 0o027);
        assert_eq!(parse("a=rx").unwrap(), 0o222);
        assert_eq!(parse("9"), None);
    }
}
