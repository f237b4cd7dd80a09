//! Hadoop's configuration.

use crate::failure::{Failure, Result, run_for_number};
use crate::text;
use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::ptr::null_mut;
use zerohop_conf::Conf;

/// The configuration of the environment: HADOOP_CONF_DIR, HADOOP_HOME, or the first directory of CLASSPATH that holds
/// core-site.xml or hdfs-site.xml, where Apache's library looks for it; else Hadoop's defaults.
pub(crate) fn of_environment() -> Result<Conf> {
    let conf = Conf::from_env()?;
    if conf.directory().is_some() {
        return Ok(conf);
    }
    let class_path = std::env::var_os("CLASSPATH").unwrap_or_default();
    let holds_sites = |directory: &PathBuf| {
        directory.join("core-site.xml").is_file() || directory.join("hdfs-site.xml").is_file()
    };
    match std::env::split_paths(&class_path).find(holds_sites) {
        Some(directory) => Ok(Conf::load(directory)?),
        None => Ok(conf),
    }
}

/// Looks a key up: `*val` is a copy to be freed with hdfsConfStrFree(), or NULL where the key has no value. 0, or the
/// number of the error.
///
/// # Safety
/// `key` is NULL or a C string, `val` NULL or the place of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConfGetStr(key: *const c_char, val: *mut *mut c_char) -> c_int {
    run_for_number(|| {
        // SAFETY: as the caller promises.
        let (key, val) = unsafe { (text::needed(key, "key")?, val.as_mut()) };
        let val = val.ok_or_else(|| Failure::invalid("val is NULL"))?;
        *val = match of_environment()?.get_checked(key)? {
            Some(found) => text::copied(&found)?,
            None => null_mut(),
        };
        Ok(())
    })
}

/// Looks a whole number up: `*val` is left as it is where the key has no value. 0, or the number of the error.
///
/// # Safety
/// `key` is NULL or a C string, `val` NULL or the place of an int32_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConfGetInt(key: *const c_char, val: *mut i32) -> c_int {
    run_for_number(|| {
        // SAFETY: as the caller promises.
        let (key, val) = unsafe { (text::needed(key, "key")?, val.as_mut()) };
        let val = val.ok_or_else(|| Failure::invalid("val is NULL"))?;
        if let Some(found) = of_environment()?.get_checked(key)? {
            let number = found.trim().parse();
            *val = number.map_err(|_| Failure::invalid(format!("{key} is no number: {found}")))?;
        }
        Ok(())
    })
}

/// Frees what hdfsConfGetStr() gave.
///
/// # Safety
/// NULL, or what hdfsConfGetStr() gave and was not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConfStrFree(val: *mut c_char) {
    // SAFETY: as the caller promises.
    unsafe { crate::memory::free(val) };
}
