//! What went wrong, in the words that are printed.

use std::fmt;

/// Exit code of a command line that makes no sense: Java's `exit(-1)`.
pub const EXIT_USAGE: i32 = 255;

/// What a command does about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A path that is not there.
    NotFound,
    /// A permission that lacks.
    Denied,
    /// A path that is there already.
    Exists,
    /// Something this file system or this version does not do.
    Unsupported,
    /// A command line that makes no sense; its usage is printed and the exit code is 255.
    Usage,
    /// The reader of our output is gone: nothing is printed.
    Pipe,
    /// Everything else.
    Io,
}

/// A failure with its message, as Hadoop's shell words it and without the command's name.
#[derive(Debug, Clone)]
pub struct Failure {
    pub kind: Kind,
    pub text: String,
}

/// What nearly everything here returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Failure { kind, text: text.into() }
    }

    pub fn io(text: impl Into<String>) -> Self {
        Failure::new(Kind::Io, text)
    }

    /// Any other error, in its own words.
    pub fn of(error: impl fmt::Display) -> Self {
        Failure::io(error.to_string())
    }

    pub fn usage(text: impl Into<String>) -> Self {
        Failure::new(Kind::Usage, text)
    }

    pub fn unsupported(text: impl Into<String>) -> Self {
        Failure::new(Kind::Unsupported, text)
    }

    /// The form of PathIOException: `` `path': problem ``.
    pub fn path(path: impl fmt::Display, problem: &str) -> Self {
        Failure::io(format!("`{path}': {problem}"))
    }

    pub fn not_found(path: impl fmt::Display) -> Self {
        Failure::new(Kind::NotFound, format!("`{path}': No such file or directory"))
    }

    pub fn exists(path: impl fmt::Display) -> Self {
        Failure::new(Kind::Exists, format!("`{path}': File exists"))
    }

    /// Creates the failure of a path that exists, in the words of the file system.
    pub fn exists_as(text: impl Into<String>) -> Self {
        Failure::new(Kind::Exists, text)
    }

    pub fn is_directory(path: impl fmt::Display) -> Self {
        Failure::path(path, "Is a directory")
    }

    pub fn not_directory(path: impl fmt::Display) -> Self {
        Failure::path(path, "Is not a directory")
    }

    pub fn is_not_found(&self) -> bool {
        self.kind == Kind::NotFound
    }
}

/// One line on standard error; the exit code of a failure.
pub fn complain(verb: &str, failure: &Failure) -> i32 {
    noteln!("{verb}: {failure}");
    match failure.kind {
        Kind::Usage => EXIT_USAGE,
        _ => 1,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => Kind::NotFound,
            std::io::ErrorKind::PermissionDenied => Kind::Denied,
            std::io::ErrorKind::AlreadyExists => Kind::Exists,
            std::io::ErrorKind::BrokenPipe => Kind::Pipe,
            _ => Kind::Io,
        };
        Failure::new(kind, error.to_string())
    }
}

impl From<zerohop_conf::ConfError> for Failure {
    fn from(error: zerohop_conf::ConfError) -> Self {
        Failure::io(error.to_string())
    }
}
