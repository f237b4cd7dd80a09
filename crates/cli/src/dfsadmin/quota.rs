//! `-setQuota`, `-clrQuota`, `-setSpaceQuota`, `-clrSpaceQuota`

use zerohop_client::StorageType;
use zerohop_conf::{Conf, parse_size};

use super::words::resolved;
use crate::failure::{Failure, Outcome};
use crate::fs::{client_failure, connect_client, pop_valued};

pub fn set_names(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let (first, paths) = words.split_first().ok_or_else(|| Failure::usage(""))?;
    let quota = first.parse::<u64>().ok().filter(|quota| *quota > 0);
    let quota = quota.ok_or_else(|| {
        Failure::io(format!(
            "\"{first}\" is not a valid value for a quota; a positive whole number is."
        ))
    })?;
    for_each(conf, paths, |fs, path| fs.set_quota(path, Some(Some(quota)), None))
}

pub fn clear_names(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    for_each(conf, &words, |fs, path| fs.set_quota(path, Some(None), None))
}

pub fn set_space(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let storage_type = pop_type(&mut words)?;
    let (first, paths) = words.split_first().ok_or_else(|| Failure::usage(""))?;
    let quota = parse_size(first).and_then(|quota| u64::try_from(quota).ok());
    let quota = quota.ok_or_else(|| {
        Failure::io(format!("\"{first}\" is not a valid value for a quota; a size like 10g is."))
    })?;
    for_each(conf, paths, |fs, path| match storage_type {
        Some(kind) => fs.set_type_quota(path, kind, Some(quota)),
        None => fs.set_quota(path, None, Some(Some(quota))),
    })
}

pub fn clear_space(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let storage_type = pop_type(&mut words)?;
    for_each(conf, &words, |fs, path| match storage_type {
        Some(kind) => fs.set_type_quota(path, kind, None),
        None => fs.set_quota(path, None, Some(None)),
    })
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

/// Every path is tried; the first failure is the answer.
fn for_each(
    conf: &Conf,
    paths: &[String],
    call: impl Fn(&zerohop_client::blocking::FileSystem, &str) -> zerohop_client::Result<()>,
) -> Outcome<i32> {
    if paths.is_empty() {
        return Err(Failure::usage(""));
    }
    let fs = connect_client(conf)?;
    let mut result = Ok(0);
    for path in paths {
        let path = resolved(conf, path)?;
        if let Err(error) = call(&fs, &path) {
            result = result.and(Err(client_failure(error)));
        }
    }
    result
}
