//! The default file system, in the forms that Hadoop takes.

use crate::location::{Authority, Location, is_scheme};

/// What fs.defaultFS has to be, for its error.
pub(crate) const EXPECTED: &str = "a URI with a scheme, such as hdfs://HOST:PORT or file:///";

/// The URI that a value of fs.defaultFS means; `None`: none.
pub(crate) fn uri_of(value: String) -> Option<String> {
    let uri = uri_of_old_name(&value).unwrap_or(value);
    has_scheme(&uri).then_some(uri)
}

/// Returns the authority of an HDFS, or `None` for other file systems and for a URI without one.
pub(crate) fn hdfs_of(uri: &str) -> Option<Authority> {
    let location = Location::parse(uri);
    location.place().filter(|_| location.has_scheme("hdfs"))
}

/// The URI that a name of the old form stands for; `None` for all others.
pub(crate) fn uri_of_old_name(name: &str) -> Option<String> {
    match name {
        "" => None,
        "local" => Some("file:///".to_owned()),
        _ if !name.contains('/') => Some(format!("hdfs://{name}")),
        _ => None,
    }
}

fn has_scheme(uri: &str) -> bool {
    uri.split_once(":/").is_some_and(|(scheme, _)| is_scheme(scheme))
}

#[cfg(test)]
mod tests {
    use crate::Conf;

    fn default_fs(value: &str) -> Result<String, String> {
        let mut conf = Conf::new();
        conf.set_option("fs.defaultFS", value);
        conf.default_fs().map_err(|error| error.to_string())
    }

    #[test]
    fn old_names_become_uris() {
        let cases = [
            ("nn:8020", "hdfs://nn:8020"),
            ("nn", "hdfs://nn"),
            ("local", "file:///"),
            ("hdfs://nn:8020", "hdfs://nn:8020"),
            ("hdfs://nn:8020/", "hdfs://nn:8020/"),
            ("file:/", "file:/"),
            ("s3a://bucket", "s3a://bucket"),
        ];
        for (value, uri) in cases {
            assert_eq!(default_fs(value).as_deref(), Ok(uri), "{value}");
        }
        assert_eq!(Conf::new().default_fs().unwrap(), "file:///");
    }

    #[test]
    fn a_text_without_a_scheme_is_no_local_file_system() {
        for value in ["nn:8020/", "//nn:8020", "/data", "9p://x", "", " "] {
            let error = default_fs(value).unwrap_err();
            assert!(error.starts_with("fs.defaultFS: `"), "{value}: {error}");
            assert!(error.contains("the command line is not a URI with a scheme"), "{error}");
        }
    }

    #[test]
    fn an_old_name_is_warned_of() {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "nn:8020");
        let warnings = conf.warnings().join("\n");
        assert!(warnings.contains("Use \"hdfs://nn:8020\" instead"), "{warnings}");
        conf.set("fs.defaultFS", "hdfs://nn:8020");
        assert_eq!(conf.warnings().len(), 1);
    }
}
