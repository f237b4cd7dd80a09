//! What the configuration says of compressions.

use zerohop_codec::{Codec, Codecs, Options};
use zerohop_conf::{Conf, keys};

use crate::failure::{Failure, Outcome};

/// The codecs by extension, with those that the configuration adds. Classes that are not built in are told of.
pub fn configured(conf: &Conf) -> Outcome<Codecs> {
    let classes = conf.get(&keys::IO_COMPRESSION_CODECS)?;
    let passthrough = conf.get(&keys::IO_COMPRESS_PASSTHROUGH_EXTENSION)?;
    let classes = classes.iter().map(String::as_str);
    let codecs = Codecs::with_classes(classes, Some(passthrough.trim()));
    for class in codecs.unknown() {
        let key = keys::IO_COMPRESSION_CODECS.name;
        noteln!("{key}: {class} is not built in; its files are taken as they are");
    }
    Ok(codecs)
}

/// How a codec compresses by the configuration; `level` counts more.
pub fn options(conf: &Conf, codec: Codec, level: Option<i32>) -> Outcome<Options> {
    let buffer = match codec {
        Codec::Lz4 => Some(&keys::IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE),
        Codec::Snappy => Some(&keys::IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE),
        Codec::Lzo | Codec::Lzop => Some(&keys::IO_COMPRESSION_CODEC_LZO_BUFFERSIZE),
        _ => None,
    };
    let buffer = buffer.map(|key| conf.get(key)).transpose()?;
    let buffer = buffer.map(|bytes| usize::try_from(bytes).unwrap_or_default());
    let level = match (codec, level) {
        (Codec::Zstandard, None) => Some(conf.get(&keys::IO_COMPRESSION_CODEC_ZSTD_LEVEL)?),
        _ => level,
    };
    Ok(Options { level, buffer, ..Options::default() })
}

/// A codec by its name or class.
pub fn named(name: &str) -> Outcome<Codec> {
    let known = Codec::of_name(name);
    known.ok_or_else(|| {
        let names: Vec<&str> = Codec::ALL.iter().map(|codec| codec.name()).collect();
        Failure::usage(format!("{name} is no codec; there are {}", names.join(", ")))
    })
}
