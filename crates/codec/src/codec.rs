//! The compressions and their names.

use std::fmt;

/// A compression that Hadoop's files come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// `.gz`: one or more gzip members.
    Gzip,
    /// `.deflate`: zlib streams, Hadoop's DefaultCodec.
    Deflate,
    /// `.bz2`: one or more bzip2 streams.
    Bzip2,
    /// `.zst`: one or more Zstandard frames.
    Zstandard,
    /// `.lz4`: LZ4 blocks in Hadoop's frames, not the files of the program lz4.
    Lz4,
    /// `.snappy`: Snappy blocks in Hadoop's frames.
    Snappy,
    /// `.lzo_deflate`: LZO1X blocks in Hadoop's frames (LzoCodec).
    Lzo,
    /// `.lzo`: files of the program lzop (LzopCodec).
    Lzop,
    /// `.passthrough`: no compression under an extension of its own (PassthroughCodec).
    Passthrough,
}

impl Codec {
    /// All of them but [`Codec::Passthrough`], which compresses nothing.
    pub const ALL: [Codec; 8] = [
        Codec::Gzip,
        Codec::Deflate,
        Codec::Bzip2,
        Codec::Zstandard,
        Codec::Lz4,
        Codec::Snappy,
        Codec::Lzo,
        Codec::Lzop,
    ];

    /// The extension of its files, with the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Codec::Gzip => ".gz",
            Codec::Deflate => ".deflate",
            Codec::Bzip2 => ".bz2",
            Codec::Zstandard => ".zst",
            Codec::Lz4 => ".lz4",
            Codec::Snappy => ".snappy",
            Codec::Lzo => ".lzo_deflate",
            Codec::Lzop => ".lzo",
            Codec::Passthrough => ".passthrough",
        }
    }

    /// The short name: `gzip`, `deflate`, `bzip2`, `zstd`, `lz4`, `snappy`, `lzo`, `lzop`, `passthrough`.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Deflate => "deflate",
            Codec::Bzip2 => "bzip2",
            Codec::Zstandard => "zstd",
            Codec::Lz4 => "lz4",
            Codec::Snappy => "snappy",
            Codec::Lzo => "lzo",
            Codec::Lzop => "lzop",
            Codec::Passthrough => "passthrough",
        }
    }

    /// By the name of a Java class. Its package does not count: Apache, hadoop-lzo and aircompressor call their
    /// classes alike, and files of one are read by the others.
    pub fn of_class(class: &str) -> Option<Codec> {
        Some(match class.trim().rsplit(['.', '$']).next()? {
            "GzipCodec" | "JdkGzipCodec" => Codec::Gzip,
            "DefaultCodec" | "DeflateCodec" => Codec::Deflate,
            "BZip2Codec" => Codec::Bzip2,
            "ZStandardCodec" | "ZstdCodec" => Codec::Zstandard,
            "Lz4Codec" => Codec::Lz4,
            "SnappyCodec" => Codec::Snappy,
            "LzoCodec" => Codec::Lzo,
            "LzopCodec" => Codec::Lzop,
            "PassthroughCodec" => Codec::Passthrough,
            _ => return None,
        })
    }

    /// By a short name, by Hadoop's (`default`, `zstandard`), or by a class; case does not count for the names.
    pub fn of_name(name: &str) -> Option<Codec> {
        let lower = name.to_ascii_lowercase();
        Some(match lower.strip_suffix("codec").unwrap_or(&lower) {
            "gzip" | "gz" => Codec::Gzip,
            "default" | "deflate" | "zlib" => Codec::Deflate,
            "bzip2" | "bz2" => Codec::Bzip2,
            "zstd" | "zstandard" | "zst" => Codec::Zstandard,
            "lz4" => Codec::Lz4,
            "snappy" => Codec::Snappy,
            "lzo" => Codec::Lzo,
            "lzop" => Codec::Lzop,
            "passthrough" => Codec::Passthrough,
            _ => return Codec::of_class(name),
        })
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
