//! Which codec a file has, as Hadoop's CompressionCodecFactory finds it.

use crate::codec::Codec;

/// Codecs by the extensions of their files.
#[derive(Debug, Clone)]
pub struct Codecs {
    by_extension: Vec<(String, Codec)>,
    unknown: Vec<String>,
}

impl Default for Codecs {
    /// All codecs of this crate but the one that does nothing.
    fn default() -> Self {
        let all = Codec::ALL.iter().map(|codec| (codec.extension().to_owned(), *codec));
        Codecs { by_extension: all.collect(), unknown: Vec::new() }
    }
}

impl Codecs {
    /// All codecs of this crate, and those that the classes of `io.compression.codecs` add.
    /// `passthrough` is the extension of PassthroughCodec (`io.compress.passthrough.extension`) where it differs.
    pub fn with_classes<'a>(
        classes: impl IntoIterator<Item = &'a str>,
        passthrough: Option<&str>,
    ) -> Codecs {
        let mut codecs = Codecs::default();
        for class in classes.into_iter().map(str::trim).filter(|class| !class.is_empty()) {
            match Codec::of_class(class) {
                Some(Codec::Passthrough) => {
                    let extension = passthrough.unwrap_or(Codec::Passthrough.extension());
                    let dot = if extension.starts_with('.') { "" } else { "." };
                    codecs.set(format!("{dot}{extension}"), Codec::Passthrough);
                }
                Some(codec) => codecs.set(codec.extension().to_owned(), codec),
                None => codecs.unknown.push(class.to_owned()),
            }
        }
        codecs
    }

    fn set(&mut self, extension: String, codec: Codec) {
        self.by_extension.retain(|(known, _)| *known != extension);
        self.by_extension.push((extension, codec));
    }

    /// The codec of a file by the end of its name; case does not count.
    pub fn of_file(&self, name: &str) -> Option<Codec> {
        let name = name.rsplit('/').next()?.to_lowercase();
        let fits = self.by_extension.iter().filter(|(extension, _)| name.ends_with(extension));
        fits.max_by_key(|(extension, _)| extension.len()).map(|(_, codec)| *codec)
    }

    /// Classes of the configuration that are not built in.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_extension() {
        let codecs = Codecs::default();
        for codec in Codec::ALL {
            assert_eq!(codecs.of_file(&format!("/a.b/part-0{}", codec.extension())), Some(codec));
            assert_eq!(Codec::of_name(codec.name()), Some(codec));
        }
        assert_eq!(codecs.of_file("/a/PART.GZ"), Some(Codec::Gzip));
        assert_eq!(codecs.of_file("/a.gz/part"), None);
        assert_eq!(codecs.of_file("/a/part.passthrough"), None);
        assert_eq!(codecs.of_file("/a/part.lzo.index"), None);
    }

    #[test]
    fn the_configuration_adds_codecs() {
        let classes = [
            "org.apache.hadoop.io.compress.GzipCodec",
            " com.hadoop.compression.lzo.LzopCodec ",
            "",
            "org.apache.hadoop.io.compress.PassthroughCodec",
            "com.example.XzCodec",
        ];
        let codecs = Codecs::with_classes(classes, Some("gz"));
        assert_eq!(codecs.of_file("a.gz"), Some(Codec::Passthrough));
        assert_eq!(codecs.of_file("a.lzo"), Some(Codec::Lzop));
        assert_eq!(codecs.unknown(), ["com.example.XzCodec"]);
        let codecs = Codecs::with_classes(classes, None);
        assert_eq!(codecs.of_file("a.passthrough"), Some(Codec::Passthrough));
        assert_eq!(codecs.of_file("a.gz"), Some(Codec::Gzip));
    }

    #[test]
    fn hadoops_names_of_codecs() {
        for (name, codec) in [
            ("GzipCodec", Codec::Gzip),
            ("DEFAULT", Codec::Deflate),
            ("zstandard", Codec::Zstandard),
            ("io.airlift.compress.lzo.LzopCodec", Codec::Lzop),
            ("com.hadoop.compression.lzo.LzoCodec", Codec::Lzo),
        ] {
            assert_eq!(Codec::of_name(name), Some(codec), "{name}");
        }
        assert_eq!(Codec::of_name("xz"), None);
    }
}
