//! The pattern of a list of ACL entries (`dfs.webhdfs.acl.provider.permission.pattern`).

use crate::failure::Failure;
use crate::params::{Params, invalid};
use regex::Regex;
use zerohop_conf::{Conf, ConfError, keys};

/// The pattern of the parameter `aclspec`.
pub(crate) struct AclPattern {
    regex: Regex,
    /// The configured text of the pattern, for refusals.
    text: String,
}

impl AclPattern {
    /// Reads the pattern.
    ///
    /// # Errors
    /// Fails if the configured text is not a regular expression.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let key = &keys::DFS_WEBHDFS_ACL_PROVIDER_PERMISSION_PATTERN;
        let text = conf.get(key)?;
        let regex =
            conf.get_as(key, "a regular expression", |pattern| Regex::new(&pattern).ok())?;
        Ok(Self { regex, text })
    }

    /// Refuses an `aclspec` that does not match. HttpFS passes over spaces around it.
    ///
    /// # Errors
    /// Fails if the `aclspec` does not match.
    pub(crate) fn check(&self, params: &Params, is_of_httpfs: bool) -> Result<(), Failure> {
        let Some(spec) = params.text("aclspec") else { return Ok(()) };
        let spec = if is_of_httpfs { spec.trim() } else { spec };
        match self.regex.is_match(spec) {
            true => Ok(()),
            false => Err(invalid("aclspec", spec, &self.text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_refused_a_bad_acl_entry_in_other_words_than_httpfs() {
        let pattern = AclPattern::from_conf(&Conf::new()).unwrap();
        let check = |spec: &str, is_of_httpfs| {
            let params = Params::parse(&format!("aclspec={spec}"));
            pattern.check(&params, is_of_httpfs).map_err(|failure| failure.to_string())
        };
        for is_of_httpfs in [true, false] {
            assert_eq!(check("user:bob:r--,default:group::---,mask::rwx", is_of_httpfs), Ok(()));
            assert_eq!(check("user:bob:", is_of_httpfs), Ok(()));
            let refused = check("user:bob", is_of_httpfs).unwrap_err();
            let expected =
                "Parameter [aclspec], invalid value [user:bob], value must be [^(default:)?";
            assert!(refused.starts_with(expected), "{refused}");
        }
        assert_eq!(check(" user:bob:r-- ", true), Ok(()));
        assert!(check(" user:bob:r-- ", false).is_err());
    }
}
