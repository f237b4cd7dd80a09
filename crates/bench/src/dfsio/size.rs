//! Sizes as TestDFSIO takes them: `128MB`, and megabytes where no unit is given.

/// Bytes of TestDFSIO's megabyte.
pub const MEGA: u64 = 1 << 20;

/// Reads digits and B, KB, MB, GB or TB in either case; the unit may lack (megabytes), its B too.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is no size: digits and B, KB, MB (if none is given), GB or TB");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "B" => 0,
        "K" | "KB" => 10,
        "" | "M" | "MB" => 20,
        "G" | "GB" => 30,
        "T" | "TB" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| i64::try_from(*bytes).is_ok());
    bytes.ok_or_else(|| format!("{text} is too large"))
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn units_are_those_of_testdfsio() {
        for (text, bytes) in [
            ("3", 3 << 20),
            ("100B", 100),
            ("5kb", 5 << 10),
            ("2MB", 2 << 20),
            ("1GB", 1 << 30),
            ("1tb", 1 << 40),
            ("1g", 1 << 30),
            ("0", 0),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "x", "-1", "1.5GB", "1XB", "99999999999999999999", "9999999TB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
