//! What went wrong: errno, and the words for it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use zerohop::{Error, ErrorKind};

/// errno of what has no better one, as in `hdfs.h`.
pub const EINTERNAL: i32 = 255;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    errno: i32,
    /// The class and message of the first cause.
    cause: String,
    /// All that is known, a server's stack trace included.
    whole: String,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(errno: i32, cause: impl Into<String>) -> Self {
        let cause = cause.into();
        Self { errno, whole: cause.clone(), cause }
    }

    /// A handle that is none.
    pub(crate) fn bad_handle(what: &str) -> Self {
        let text = format!(
            "the handle is no open {what}: NULL, closed, of another kind, or made before fork()"
        );
        Self::new(libc::EBADF, text)
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(libc::EINVAL, text)
    }

    pub(crate) fn unsupported(text: impl Into<String>) -> Self {
        Self::new(libc::ENOTSUP, text)
    }

    /// There is no such path.
    pub(crate) fn is_missing(&self) -> bool {
        self.errno == libc::ENOENT
    }

    /// There is such a path already.
    pub(crate) fn is_there(&self) -> bool {
        self.errno == libc::EEXIST
    }

    #[cfg(test)]
    pub(crate) fn errno(&self) -> i32 {
        self.errno
    }
}

/// errno of Java's exceptions as libhdfs has them.
const CLASSES: [(&str, i32); 14] = [
    ("java.io.FileNotFoundException", libc::ENOENT),
    ("org.apache.hadoop.security.AccessControlException", libc::EACCES),
    ("org.apache.hadoop.fs.UnresolvedLinkException", libc::ENOLINK),
    ("org.apache.hadoop.hdfs.protocol.UnresolvedPathException", libc::ENOLINK),
    ("org.apache.hadoop.fs.ParentNotDirectoryException", libc::ENOTDIR),
    ("java.lang.IllegalArgumentException", libc::EINVAL),
    ("java.lang.OutOfMemoryError", libc::ENOMEM),
    ("org.apache.hadoop.hdfs.server.namenode.SafeModeException", libc::EROFS),
    ("org.apache.hadoop.fs.FileAlreadyExistsException", libc::EEXIST),
    ("org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", libc::EDQUOT),
    ("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", libc::EDQUOT),
    ("org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException", libc::EDQUOT),
    ("java.lang.UnsupportedOperationException", libc::ENOTSUP),
    ("org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException", libc::ESTALE),
];

fn errno_of(error: &Error) -> i32 {
    let class = error.java_class().unwrap_or_default();
    if let Some((_, errno)) = CLASSES.iter().find(|(known, _)| *known == class) {
        return *errno;
    }
    match error.kind() {
        ErrorKind::NotFound => libc::ENOENT,
        ErrorKind::Denied => libc::EACCES,
        ErrorKind::Exists => libc::EEXIST,
        ErrorKind::NotEmpty => libc::ENOTEMPTY,
        ErrorKind::WrongType => libc::ENOTDIR,
        ErrorKind::Fenced => libc::EBUSY,
        ErrorKind::Quota => libc::EDQUOT,
        ErrorKind::Unavailable => libc::EAGAIN,
        ErrorKind::Corrupt => libc::EIO,
        ErrorKind::Invalid => libc::EINVAL,
        ErrorKind::Unsupported => libc::ENOTSUP,
        _ => EINTERNAL,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let no_connection = error.no_connection().and_then(|why| why.source.raw_os_error());
        let errno = no_connection.unwrap_or_else(|| errno_of(&error));
        let cause = match error.java_class() {
            Some(class) => format!("{class}: {error}"),
            None => error.to_string(),
        };
        let whole = match (error.java_class(), error.server_message()) {
            (Some(class), Some(message)) => format!("{class}: {message}"),
            _ => cause.clone(),
        };
        Self { errno, cause, whole }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(error.raw_os_error().unwrap_or(EINTERNAL), error.to_string())
    }
}

impl From<zerohop_conf::ConfError> for Failure {
    fn from(error: zerohop_conf::ConfError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// The words for the last failure of a thread.
#[derive(Default)]
struct Last {
    cause: Option<CString>,
    whole: Option<CString>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

fn set_errno(errno: i32) {
    // SAFETY: the place is this thread's own.
    unsafe { *libc::__errno_location() = errno };
}

/// Runs a call: errno and the words are set where it fails, and nothing panics through C.
pub(crate) fn run<T>(failed: T, call: impl FnOnce() -> Result<T>) -> T {
    carried_out(call).unwrap_or(failed)
}

/// The same for a call that returns 0, or the number of the error.
pub(crate) fn run_for_number(call: impl FnOnce() -> Result<()>) -> i32 {
    carried_out(call).err().unwrap_or(0)
}

/// What a call returned, or the number of its error.
fn carried_out<T>(call: impl FnOnce() -> Result<T>) -> std::result::Result<T, i32> {
    let done = catch_unwind(AssertUnwindSafe(call));
    let failure = match done {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(_) => Failure::new(EINTERNAL, "a fault of libhdfs: it panicked"),
    };
    if failure.errno == EINTERNAL {
        // The number says nothing, and many programs show no more than that; Apache's library prints a stack trace.
        zerohop_system::noteln!("libhdfs: {}", failure.cause);
    }
    // Java's messages and paths have no NUL in them.
    let text = |text: &str| CString::new(text.replace('\0', "?")).ok();
    // A thread that is ending has no words any more.
    let _ = LAST.try_with(|last| {
        *last.borrow_mut() = Last { cause: text(&failure.cause), whole: text(&failure.whole) };
    });
    set_errno(failure.errno);
    Err(failure.errno)
}

/// Says that nothing is wrong where an answer alone does not tell.
pub(crate) fn clear_errno() {
    set_errno(0);
}

fn words(of: impl FnOnce(&Last) -> Option<&CString>) -> *mut c_char {
    let found = LAST.try_with(|last| of(&last.borrow()).map(|text| text.as_ptr().cast_mut()));
    found.ok().flatten().unwrap_or(null_mut())
}

/// The class and message of what made this thread's last call fail; NULL if none has. It is valid until the next
/// failure of this thread, and must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsGetLastExceptionRootCause() -> *mut c_char {
    words(|last| last.cause.as_ref())
}

/// The same with the stack trace that a server sent.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsGetLastExceptionStackTrace() -> *mut c_char {
    words(|last| last.whole.as_ref())
}

/// The name that libhdfs3 has for hdfsGetLastExceptionRootCause().
#[unsafe(no_mangle)]
pub extern "C" fn hdfsGetLastError() -> *const c_char {
    hdfsGetLastExceptionRootCause()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn last() -> String {
        let text = hdfsGetLastExceptionRootCause();
        assert!(!text.is_null());
        // SAFETY: the text is a C string of this thread's.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_failure_sets_errno_and_words() {
        assert!(hdfsGetLastExceptionRootCause().is_null());
        assert_eq!(run(-1, || Err(Failure::bad_handle("file"))), -1);
        assert_eq!(io::Error::last_os_error().raw_os_error(), Some(libc::EBADF));
        assert!(last().starts_with("the handle is no open file"));
        assert_eq!(run(-1, || Err(Failure::invalid("a\0b"))), -1);
        assert_eq!(last(), "a?b");
        assert_eq!(run_for_number(|| Err(Failure::bad_handle("file"))), libc::EBADF);
        assert_eq!(run_for_number(|| Ok(())), 0);
    }

    #[test]
    fn a_panic_is_an_error() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        assert_eq!(run(-1, || panic!("here")), -1);
        std::panic::set_hook(hook);
        assert_eq!(io::Error::last_os_error().raw_os_error(), Some(EINTERNAL));
    }

    /// The line about a fault used to abort the program that uses the library.
    #[test]
    fn a_fault_that_nobody_can_be_told_of_is_an_error() {
        const CASE: &str = "ZEROHOP_TEST_FULL_STDERR";
        const RETURNED: i32 = 7;
        if std::env::var_os(CASE).is_some() {
            std::panic::set_hook(Box::new(|_| ()));
            assert_eq!(run(-1, || panic!("here")), -1);
            std::process::exit(RETURNED);
        }
        let name = "failure::tests::a_fault_that_nobody_can_be_told_of_is_an_error";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", name, "--nocapture"]).env(CASE, "1");
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let status = again.stdout(std::process::Stdio::null()).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(RETURNED));
    }
}
