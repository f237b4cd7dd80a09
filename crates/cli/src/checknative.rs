//! `checknative`: which native libraries are there, in the words of Hadoop's NativeLibraryChecker. Everything is
//! built in, so that nothing can lack.

use crate::settings::Settings;

pub const USAGE: &str = "Usage: checknative [-a|-h]
\tSays which native libraries are there, as Hadoop's checknative does. All is built in: the exit code is 0.
\t-a: the exit code tells of all libraries, not of libhadoop only";

const BUILT_IN: &str = "built in";
/// What the library is for is not offered, so that none is missing.
const ENCRYPTION: &str = "not needed: encryption zones are refused";
const ERASURE_CODING: &str = "not needed: erasure coding is refused";
const PERSISTENT_MEMORY: &str = "not needed: caches are in memory";

/// In Apache's order and with its blanks.
const LIBRARIES: [(&str, &str); 7] = [
    ("hadoop:  ", BUILT_IN),
    ("zlib:    ", BUILT_IN),
    ("zstd  :  ", BUILT_IN),
    ("bzip2:   ", BUILT_IN),
    ("openssl: ", ENCRYPTION),
    ("ISA-L:   ", ERASURE_CODING),
    ("PMDK:    ", PERSISTENT_MEMORY),
];

/// Apache's, so that scripts find the same text.
const APACHES_USAGE: &str = "NativeLibraryChecker [-a|-h]
  -a  use -a to check all libraries are available
      by default just check hadoop library (and
      winutils.exe on Windows OS) is available
      exit with error code 1 if check failed
  -h  print this message
";

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let usage = if settings.as_apache { APACHES_USAGE } else { USAGE };
    match words.as_slice() {
        [] | ["-a"] => {
            sayln!("Native library checking:");
            for (name, found) in LIBRARIES {
                sayln!("{name}true {found}");
            }
            // Ours alone: Hadoop 3.4 has these two in jars and says nothing of them.
            if !settings.as_apache {
                sayln!("snappy:  true {BUILT_IN}");
                sayln!("lz4:     true {BUILT_IN}");
                sayln!("lzo:     true {BUILT_IN}");
            }
            0
        }
        ["-h" | "--help" | "-help"] => {
            sayln!("{usage}");
            0
        }
        _ => {
            noteln!("{usage}");
            1
        }
    }
}
