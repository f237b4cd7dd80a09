//! What may be done through this gateway (`httpfs.access.mode`).

use crate::failure::Failure;
use crate::operation::Operation;
use axum::http::Method;
use zerohop_conf::{Conf, ConfError, keys};

/// What may be done through this gateway, for all users alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything.
    ReadWrite,
    /// Nothing is changed.
    ReadOnly,
    /// Nothing is read, but for what is there (GETFILESTATUS, LISTSTATUS).
    WriteOnly,
}

impl Access {
    /// By `httpfs.access.mode`.
    ///
    /// # Errors
    /// If it is none of the three.
    pub(crate) fn read(conf: &Conf) -> Result<Self, ConfError> {
        let known = "read-write, read-only or write-only";
        conf.get_as(&keys::HTTPFS_ACCESS_MODE, known, |mode| {
            match mode.to_ascii_lowercase().as_str() {
                "read-write" => Some(Self::ReadWrite),
                "read-only" => Some(Self::ReadOnly),
                "write-only" => Some(Self::WriteOnly),
                _ => None,
            }
        })
    }

    /// Refuses what may not be done.
    pub(crate) fn check(self, operation: Operation) -> Result<(), Failure> {
        let is_read = operation.method() == Method::GET;
        let tells = matches!(operation, Operation::GetFileStatus | Operation::ListStatus);
        let permits = match self {
            Self::ReadWrite => true,
            Self::ReadOnly => is_read,
            Self::WriteOnly => !is_read || tells,
        };
        match permits {
            true => Ok(()),
            false => Err(Failure::not_permitted(format!(
                "{} is not permitted: httpfs.access.mode is {}",
                operation.name(),
                if self == Self::ReadOnly { "read-only" } else { "write-only" }
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_says_what_may_be_done() {
        let may = |access: Access, operation| access.check(operation).is_ok();
        for (access, expected) in [
            (Access::ReadWrite, [true, true, true]),
            (Access::ReadOnly, [true, true, false]),
            (Access::WriteOnly, [false, true, true]),
        ] {
            let operations = [Operation::Open, Operation::ListStatus, Operation::Append];
            assert_eq!(operations.map(|operation| may(access, operation)), expected, "{access:?}");
        }
        let mut conf = Conf::new();
        assert_eq!(Access::read(&conf).unwrap(), Access::ReadWrite);
        conf.set("httpfs.access.mode", "none");
        assert!(Access::read(&conf).is_err());
    }
}
