//! The parameters of a request.

use crate::failure::Failure;
use std::str::FromStr;

/// Names and values, decoded. Names count in letters of either case, as with Apache's servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads a query, without `?`.
    pub(crate) fn parse(query: &str) -> Self {
        let all = form_urlencoded::parse(query.as_bytes());
        Self(all.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The first value of a name that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values(name).find(|value| !value.is_empty())
    }

    /// All values of a name.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let all = self.0.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        all.map(|(_, value)| value.as_str())
    }

    /// A text that has to be there.
    pub(crate) fn needed(&self, name: &str) -> Result<&str, Failure> {
        self.text(name).ok_or_else(|| {
            let op = self.text("op").unwrap_or_default().to_ascii_uppercase();
            Failure::illegal(format!("Required param {name} for op: {op} is null or empty"))
        })
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Failure> {
        match self.text(name) {
            None => Ok(default),
            Some(value) if value.eq_ignore_ascii_case("true") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case("false") => Ok(false),
            Some(value) => Err(invalid(name, value, "a boolean")),
        }
    }

    /// A number; none where there is none, and where it is -1, which Apache's clients send for "not said".
    pub(crate) fn number<T: FromStr>(&self, name: &str, kind: &str) -> Result<Option<T>, Failure> {
        match self.text(name) {
            None | Some("-1") => Ok(None),
            Some(value) => match value.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(invalid(name, value, kind)),
            },
        }
    }

    /// Permission bits in octal digits.
    pub(crate) fn permission(&self, name: &str) -> Result<Option<u16>, Failure> {
        let Some(value) = self.text(name).filter(|value| *value != "default") else {
            return Ok(None);
        };
        match u16::from_str_radix(value, 8) {
            Ok(bits) if bits <= 0o1777 => Ok(Some(bits)),
            _ => Err(invalid(name, value, "a short")),
        }
    }
}

/// A value that cannot be read; the words are HttpFS's.
pub(crate) fn invalid(name: &str, value: &str, kind: &str) -> Failure {
    Failure::illegal(format!("Parameter [{name}], invalid value [{value}], value must be [{kind}]"))
}

/// A value that does not fit its pattern; the words are WebHDFS's.
pub(crate) fn not_of_pattern(name: &str, value: &str, pattern: &str) -> Failure {
    Failure::illegal(format!(
        "Invalid value for webhdfs parameter \"{name}\": Invalid value: \"{value}\" does not belong to the domain {pattern}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_checked() {
        let params = Params::parse(
            "OP=x&overwrite=False&offset=-1&length=12&permission=1755&a%20b=%2F+c&n=x&p=8",
        );
        assert_eq!((params.text("op"), params.text("a b")), (Some("x"), Some("/ c")));
        assert!(
            !params.flag("overwrite", true).unwrap() && params.flag("recursive", true).unwrap()
        );
        assert_eq!(params.number::<u64>("offset", "a long").unwrap(), None);
        assert_eq!(params.number::<u64>("length", "a long").unwrap(), Some(12));
        assert_eq!(params.permission("permission").unwrap(), Some(0o1755));
        let error = params.number::<u64>("n", "a long").unwrap_err().to_string();
        assert_eq!(error, "Parameter [n], invalid value [x], value must be [a long]");
        assert!(params.permission("p").is_err() && params.needed("q").is_err());
    }
}
