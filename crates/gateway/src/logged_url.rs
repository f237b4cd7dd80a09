//! A request's URL as the log shows it. The log has a page, and its readers must not find the tokens of other users there.

use axum::http::Uri;

/// Parameters whose values are logged. The value of any other one may be a secret, as those of `delegation`, `token` and
/// `xattr.value` are.
const SHOWN: [&str; 37] = [
    "accesstime",
    "aclspec",
    "blocksize",
    "createflag",
    "createparent",
    "data",
    "destination",
    "do",
    "doas",
    "excludedatanodes",
    "fsaction",
    "group",
    "length",
    "modificationtime",
    "namenoderpcaddress",
    "newlength",
    "noredirect",
    "offset",
    "oldsnapshotname",
    "op",
    "overwrite",
    "owner",
    "page",
    "path",
    "permission",
    "recursive",
    "renameoptions",
    "replication",
    "snapshotname",
    "sources",
    "startafter",
    "step",
    "storagepolicy",
    "storagetype",
    "unmaskedpermission",
    "user.name",
    "xattr.name",
];
const HIDDEN: &str = "***";

/// Returns the path and the query of a URL, without the values that may be secrets.
pub(crate) fn logged_url(uri: &Uri) -> String {
    let Some(query) = uri.query() else { return uri.path().to_owned() };
    let shown: Vec<String> = query.split('&').map(parameter).collect();
    format!("{}?{}", uri.path(), shown.join("&"))
}

/// Returns a parameter without its value if that may be a secret. An encoded letter in a name hides the value, too.
fn parameter(part: &str) -> String {
    match part.split_once('=') {
        Some((name, _)) if SHOWN.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
            part.to_owned()
        }
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None if part.is_empty() => String::new(),
        None => HIDDEN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log, and with it the page `/logs`, showed delegation tokens.
    #[test]
    fn tokens_were_in_the_log() {
        for (url, logged) in [
            ("/a/b%20c", "/a/b%20c"),
            ("/a?op=OPEN&user.name=u&OFFSET=1", "/a?op=OPEN&user.name=u&OFFSET=1"),
            ("/a?op=OPEN&delegation=IAAE&length=2", "/a?op=OPEN&delegation=***&length=2"),
            ("/?Token=IAAE&op=RENEWDELEGATIONTOKEN", "/?Token=***&op=RENEWDELEGATIONTOKEN"),
            ("/a?deleg%61tion=IAAE", "/a?deleg%61tion=***"),
            (
                "/a?op=SETXATTR&xattr.name=user.a&xattr.value=1=2",
                "/a?op=SETXATTR&xattr.name=user.a&xattr.value=***",
            ),
            ("/a?IAAE&&op=", "/a?***&&op="),
            ("http://me:secret@host/a?op=OPEN", "/a?op=OPEN"),
        ] {
            assert_eq!(logged_url(&url.parse().unwrap()), logged, "{url}");
        }
        assert!(SHOWN.is_sorted());
    }
}
