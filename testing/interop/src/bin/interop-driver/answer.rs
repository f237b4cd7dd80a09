//! Answers in the form that both drivers give them.

use zerohop_client::{Error, ErrorKind as Kind};

/// The fields behind `ok`, or the error.
pub type Answer = Result<Vec<String>, Error>;

/// No results.
pub fn done((): ()) -> Vec<String> {
    Vec::new()
}

/// One result.
pub fn one(value: impl ToString) -> Vec<String> {
    vec![value.to_string()]
}

/// A request that makes no sense.
pub fn invalid(text: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, text.into())
}

/// A number of a request.
pub fn number<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| invalid(format!("not a number: {text}")))
}

/// The class of the exception, without its package, and the first line of its message: the
/// server's where it sent one, else the class that Apache's client throws for that kind.
pub fn fault(error: &Error) -> (String, String) {
    let class = match error.java_class() {
        Some(class) => class.rsplit(['.', '$']).next().unwrap_or_default(),
        None => match error.kind() {
            Kind::NotFound => "FileNotFoundException",
            Kind::Denied => "AccessControlException",
            Kind::Exists => "FileAlreadyExistsException",
            Kind::NotEmpty => "PathIsNotEmptyDirectoryException",
            Kind::WrongType => "ParentNotDirectoryException",
            Kind::Corrupt => "BlockMissingException",
            Kind::Invalid => "IllegalArgumentException",
            Kind::Unsupported => "UnsupportedOperationException",
            _ => "IOException",
        },
    };
    let text = error.to_string();
    (class.to_owned(), text.lines().next().unwrap_or_default().to_owned())
}
