//! The settings of the directories.

use super::error::StorageError;
use super::shared_edits::{QuorumConfig, SharedEditsConfig};
use percent_encoding::percent_decode_str;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_daemon::metrics::Intervals;
use zerohop_journal::image::{ImageCodec, ImageFormat, ImageParts};

/// Where the directories are and how much is kept in them.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// `dfs.namenode.name.dir`
    pub image_dirs: Vec<PathBuf>,
    /// `dfs.namenode.edits.dir`
    pub edits_dirs: Vec<PathBuf>,
    /// `dfs.namenode.edits.dir.required`
    pub edits_dirs_required: Vec<PathBuf>,
    /// `dfs.namenode.edits.dir.minimum`
    pub edits_dirs_min: usize,
    /// `dfs.namenode.shared.edits.dir`: with it, edits are read from there alone, and the directories' are copies.
    pub shared_edits: Option<SharedEditsConfig>,
    /// `dfs.namenode.resource.checked.volumes`
    pub checked_dirs: Vec<PathBuf>,
    /// `dfs.namenode.num.checkpoints.retained`
    pub checkpoints_retained: usize,
    /// `dfs.namenode.num.extra.edits.retained`
    pub extra_edits_retained: i64,
    /// `dfs.namenode.max.extra.edits.segments.retained`
    pub extra_segments_max: usize,
    /// `dfs.namenode.max.op.size`, bytes
    pub op_size_max: usize,
    /// `dfs.namenode.storage.dir.perm`
    pub dir_mode: u32,
    /// `dfs.image.compress`, `dfs.image.parallel.*`
    pub image_format: ImageFormat,
    /// Whether directories of an older layout are opened (an upgrade was asked for).
    pub accepts_older_layout: bool,
    /// `dfs.metrics.percentiles.intervals`
    pub percentile_intervals: Intervals,
}

impl StorageConfig {
    /// Hadoop's defaults over the given directories, each for images and edits.
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        Self {
            edits_dirs: dirs.clone(),
            image_dirs: dirs,
            edits_dirs_required: Vec::new(),
            edits_dirs_min: 1,
            shared_edits: None,
            checked_dirs: Vec::new(),
            checkpoints_retained: 2,
            extra_edits_retained: 1_000_000,
            extra_segments_max: 10_000,
            op_size_max: zerohop_journal::op::OP_SIZE_MAX,
            dir_mode: 0o700,
            image_format: ImageFormat::default(),
            accepts_older_layout: false,
            percentile_intervals: Intervals::default(),
        }
    }

    /// From the configuration.
    pub fn from_conf(conf: &Conf) -> Result<Self, StorageError> {
        let bad = |e: zerohop_conf::ConfError| StorageError::Config(e.to_string());
        let image_dirs = directories(conf.get(&keys::DFS_NAMENODE_NAME_DIR).map_err(bad)?)?;
        let edits_dirs = directories(conf.get(&keys::DFS_NAMENODE_EDITS_DIR).map_err(bad)?)?;
        let required = directories(conf.get(&keys::DFS_NAMENODE_EDITS_DIR_REQUIRED).map_err(bad)?)?;
        if image_dirs.is_empty() || edits_dirs.is_empty() {
            let message =
                "dfs.namenode.name.dir and dfs.namenode.edits.dir must each name a directory";
            return Err(StorageError::Config(message.to_owned()));
        }
        if let Some(dir) = required.iter().find(|dir| !edits_dirs.contains(dir)) {
            return Err(StorageError::Config(format!(
                "{} is in dfs.namenode.edits.dir.required but not in dfs.namenode.edits.dir",
                dir.display()
            )));
        }
        let perm = conf.get(&keys::DFS_NAMENODE_STORAGE_DIR_PERM).map_err(bad)?;
        let dir_mode = u32::from_str_radix(&perm, 8).map_err(|_| {
            StorageError::Config(format!("dfs.namenode.storage.dir.perm: {perm:?} is not octal"))
        })?;
        Ok(Self {
            image_dirs,
            edits_dirs,
            edits_dirs_required: required,
            edits_dirs_min: at_least(conf, &keys::DFS_NAMENODE_EDITS_DIR_MINIMUM, 0)?,
            shared_edits: shared_edits(conf)?,
            checked_dirs: directories(
                conf.get(&keys::DFS_NAMENODE_RESOURCE_CHECKED_VOLUMES).map_err(bad)?,
            )?,
            checkpoints_retained: at_least(conf, &keys::DFS_NAMENODE_NUM_CHECKPOINTS_RETAINED, 1)?,
            extra_edits_retained: conf
                .get(&keys::DFS_NAMENODE_NUM_EXTRA_EDITS_RETAINED)
                .map_err(bad)?
                .max(0),
            extra_segments_max: at_least(
                conf,
                &keys::DFS_NAMENODE_MAX_EXTRA_EDITS_SEGMENTS_RETAINED,
                0,
            )?,
            op_size_max: at_least(conf, &keys::DFS_NAMENODE_MAX_OP_SIZE, 1024)?,
            dir_mode,
            image_format: image_format(conf).map_err(bad)?,
            accepts_older_layout: false,
            percentile_intervals: percentile_intervals(conf).map_err(bad)?,
        })
    }
}

/// Over which intervals percentiles are kept.
///
/// # Errors
/// If `dfs.metrics.percentiles.intervals` is malformed.
pub(crate) fn percentile_intervals(conf: &Conf) -> Result<Intervals, ConfError> {
    let key = &keys::DFS_METRICS_PERCENTILES_INTERVALS;
    conf.get_as(key, Intervals::EXPECTED, |list| Intervals::parse(&list))
}

/// Where edits are shared; none if they are not.
fn shared_edits(conf: &Conf) -> Result<Option<SharedEditsConfig>, StorageError> {
    let bad = |error: ConfError| StorageError::Config(error.to_string());
    let text = conf.get(&keys::DFS_NAMENODE_SHARED_EDITS_DIR).map_err(bad)?.unwrap_or_default();
    match text.trim() {
        "" => Ok(None),
        text if (text.starts_with("file:") || text.starts_with('/')) && !text.contains(',') => {
            let op_size_max = at_least(conf, &keys::DFS_NAMENODE_MAX_OP_SIZE, 1024)?;
            Ok(Some(SharedEditsConfig::Directory { root: directory(text)?, op_size_max }))
        }
        text => {
            let quorum = QuorumConfig::from_conf(conf, text).map_err(bad)?;
            Ok(Some(SharedEditsConfig::Quorum(Box::new(quorum))))
        }
    }
}

/// How images are written; several threads write and load them in any case.
fn image_format(conf: &Conf) -> Result<ImageFormat, ConfError> {
    let known = "a codec that this build has: org.apache.hadoop.io.compress.DefaultCodec, DeflateCodec or GzipCodec";
    let codec = match conf.get(&keys::DFS_IMAGE_COMPRESS)? {
        true => Some(conf.get_as(&keys::DFS_IMAGE_COMPRESSION_CODEC, known, |class| {
            ImageCodec::parse(class.trim())
        })?),
        false => None,
    };
    let mut in_parts = conf.get(&keys::DFS_IMAGE_PARALLEL_LOAD)?;
    if in_parts && codec.is_some() {
        tracing::warn!(
            "Parallel Image loading and saving is not supported when dfs.image.compress is set to true. Parallel will be \
             disabled."
        );
        in_parts = false;
    }
    // Apache takes its own defaults for what makes no sense.
    let above_zero =
        |key, default| conf.get(key).map(|n: i32| if n > 0 { n as u64 } else { default });
    let parts = ImageParts {
        inodes_min: match conf.get(&keys::DFS_IMAGE_PARALLEL_INODE_THRESHOLD)? {
            inodes @ 1.. => inodes as u64,
            _ => 1_000_000,
        },
        count: above_zero(&keys::DFS_IMAGE_PARALLEL_TARGET_SECTIONS, 12)?,
    };
    let threads = above_zero(&keys::DFS_IMAGE_PARALLEL_THREADS, 4)? as usize;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    Ok(ImageFormat { codec, parts: in_parts.then_some(parts), threads: threads.min(cores) })
}

fn at_least(
    conf: &Conf,
    key: &zerohop_conf::Key<i32>,
    least: usize,
) -> Result<usize, StorageError> {
    let value = conf.get(key).map_err(|e| StorageError::Config(e.to_string()))?;
    match usize::try_from(value) {
        Ok(value) if value >= least => Ok(value),
        _ => Err(StorageError::Config(format!("{}: {value} is less than {least}", key.name))),
    }
}

/// Directories as paths or `file:` URIs; each once.
fn directories(names: Vec<String>) -> Result<Vec<PathBuf>, StorageError> {
    let mut dirs = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let dir = directory(name)?;
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    Ok(dirs)
}

fn directory(name: &str) -> Result<PathBuf, StorageError> {
    let path = match name.split_once(':') {
        Some(("file", rest)) => {
            let rest = rest.strip_prefix("//").unwrap_or(rest);
            let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/'));
            percent_decoded(path.unwrap_or(rest)).ok_or_else(|| {
                StorageError::Config(format!("{name}: a % in a URI is followed by two hex digits"))
            })?
        }
        Some((scheme, _)) if !scheme.contains('/') => {
            return Err(StorageError::Config(format!(
                "{name}: only directories (file:) hold images and edits, not {scheme}:"
            )));
        }
        _ => name.into(),
    };
    // Two spellings of one directory must not count as two copies.
    Ok(std::path::absolute(&path).unwrap_or(path).components().collect())
}

/// The path of a URI; `None` if a `%` is not followed by two hexadecimal digits, which the library passes on and Java refuses.
fn percent_decoded(text: &str) -> Option<PathBuf> {
    let is_escape = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let is_well_formed = text.split('%').skip(1).all(is_escape);
    let decoded = || percent_decode_str(text).collect();
    is_well_formed.then(|| OsString::from_vec(decoded()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_compressed_by_a_codec_that_is_there_or_refused() {
        let mut conf = Conf::new();
        conf.set("dfs.image.parallel.load", "true");
        conf.set("dfs.image.parallel.target.sections", "-1");
        let format = image_format(&conf).unwrap();
        let parts = ImageParts { inodes_min: 1_000_000, count: 12 };
        assert_eq!((format.codec, format.parts), (None, Some(parts)));
        conf.set("dfs.image.compress", "true");
        let format = image_format(&conf).unwrap();
        assert_eq!((format.codec, format.parts), (Some(ImageCodec::Default), None));
        conf.set("dfs.image.compression.codec", "org.apache.hadoop.io.compress.Lz4Codec");
        let error = image_format(&conf).unwrap_err().to_string();
        assert!(
            error.contains("Lz4Codec") && error.contains("a codec that this build has"),
            "{error}"
        );
    }

    #[test]
    fn directories_are_paths_or_file_uris() {
        let path = |name: &str| directory(name).unwrap().display().to_string();
        assert_eq!(path("/data/my%20dir/"), "/data/my%20dir", "no URI");
        assert_eq!(path("file:///data/my%20dir"), "/data/my dir");
        assert_eq!(path("file:/data/%C3%A4%25"), "/data/ä%");
        assert_eq!(path("file://localhost/data//x"), "/data/x");
        for bad in ["file:///data/50%", "file:///data/%2", "file:///data/%zz", "s3://bucket/x"] {
            assert!(directory(bad).unwrap_err().to_string().starts_with(bad), "{bad}");
        }
    }
}
