//! `-setQuota`, `-clrQuota`, `-setSpaceQuota`, `-clrSpaceQuota`

use zerohop_client::StorageType;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::{Conf, parse_size};

use crate::failure::{Failure, Outcome};
use crate::fs::{each_path, pop_valued};

pub fn set_names(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let (first, paths) = words.split_first().ok_or_else(|| Failure::usage(""))?;
    let quota = parse(first).filter(|quota| *quota > 0).ok_or_else(|| {
        Failure::io(format!(
            "\"{first}\" is not a valid value for a quota; a positive whole number is, or one like 10k."
        ))
    })?;
    each("setQuota", conf, paths, |fs, path| fs.set_quota(path, Some(Some(quota)), None))
}

pub fn clear_names(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    each("clrQuota", conf, &words, |fs, path| fs.set_quota(path, Some(None), None))
}

pub fn set_space(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let storage_type = pop_type(&mut words)?;
    let (first, paths) = words.split_first().ok_or_else(|| Failure::usage(""))?;
    let quota = parse(first).ok_or_else(|| {
        Failure::io(format!("\"{first}\" is not a valid value for a quota; a size like 10g is."))
    })?;
    each("setSpaceQuota", conf, paths, |fs, path| match storage_type {
        Some(kind) => fs.set_type_quota(path, kind, Some(quota)),
        None => fs.set_quota(path, None, Some(Some(quota))),
    })
}

pub fn clear_space(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let storage_type = pop_type(&mut words)?;
    each("clrSpaceQuota", conf, &words, |fs, path| match storage_type {
        Some(kind) => fs.set_type_quota(path, kind, None),
        None => fs.set_quota(path, None, Some(None)),
    })
}

/// A quota as `StringUtils.TraditionalBinaryPrefix` reads it. The greatest number and the negative
/// ones are none: on the wire they mean "leave it" and "clear it".
fn parse(text: &str) -> Option<u64> {
    parse_size(text).filter(|quota| *quota < i64::MAX)?.try_into().ok()
}

fn pop_type(words: &mut Vec<String>) -> Outcome<Option<StorageType>> {
    let Some(name) = pop_valued("-storageType", words)? else { return Ok(None) };
    let kind = StorageType::from_str_name(&name.to_ascii_uppercase());
    kind.map(Some).ok_or_else(|| {
        Failure::io(format!(
            "Storage type {name} is not available; DISK, SSD, ARCHIVE, NVDIMM and PROVIDED are"
        ))
    })
}

fn each(
    command: &str,
    conf: &Conf,
    paths: &[String],
    call: impl Fn(&FileSystem, &str) -> zerohop_client::Result<()>,
) -> Outcome<i32> {
    if paths.is_empty() {
        return Err(Failure::usage(""));
    }
    each_path(conf, command, paths, call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_numbers_that_mean_nothing_else() {
        assert_eq!(parse("10k"), Some(10 << 10));
        assert_eq!(parse("1"), Some(1));
        assert_eq!(parse("9223372036854775806"), Some(u64::MAX / 2 - 1));
        for text in ["9223372036854775807", "18446744073709551615", "-1", "", "x", "8e"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
