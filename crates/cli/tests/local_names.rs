//! Names of local files that look like URIs.

mod support;

use std::fs;
use support::{run, zerohop};

/// The name of a copied file used to be appended to a text that was then read as a URI: `bk:/file` was a file of the
/// root directory.
#[test]
fn a_copy_into_a_directory_with_a_colon_stays_there() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::create_dir_all(place.join("bk:/below")).unwrap();
    fs::write(place.join("a-file-of-no-root-directory"), "text").unwrap();
    let shell = |words: &[&str]| {
        let mut command = zerohop(&["fs", "-fs", "file:///"]);
        let (code, out, err) = run(command.args(words).current_dir(place));
        assert_eq!(code, 0, "{words:?}: {out}{err}");
        out
    };
    let file = "a-file-of-no-root-directory";
    shell(&["-get", file, "bk:"]);
    shell(&["-get", file, "bk:/below"]);
    shell(&["-getmerge", "bk:", "bk:/merged"]);
    shell(&["-put", &format!("bk:/{file}"), "put"]);
    for copy in
        [format!("bk:/{file}"), format!("bk:/below/{file}"), "bk:/merged".into(), "put".into()]
    {
        assert_eq!(fs::read_to_string(place.join(&copy)).unwrap(), "text", "{copy}");
    }
}
