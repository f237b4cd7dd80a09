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

/// Creates the refusal of a malformed value, with the words of both servers (`Param.parseParam`, and WebHDFS's `Param.Domain.parse`).
pub(crate) fn invalid(name: &str, value: &str, kind: &str) -> Failure {
    let enumeration = match name {
        "encoding" => "XAttrCodec",
        "flag" => "XAttrSetFlag",
        "renameoptions" => "Options.Rename",
        _ => "",
    };
    let radix = if name.ends_with("permission") { 8 } else { 10 };
    let why = match kind {
        "a boolean" => format!("Failed to parse \"{value}\" to Boolean."),
        "a long" => format!("Failed to parse \"{value}\" as a radix-{radix} long integer."),
        "an integer" => format!("Failed to parse \"{value}\" as a radix-{radix} integer."),
        "a short" => format!("Failed to parse \"{value}\" as a radix-{radix} short integer."),
        _ if !enumeration.is_empty() => {
            let value = value.to_ascii_uppercase();
            format!("No enum constant org.apache.hadoop.fs.{enumeration}.{value}")
        }
        domain => format!("Invalid value: \"{value}\" does not belong to the domain {domain}"),
    };
    Failure::parameter(
        format!("Parameter [{name}], invalid value [{value}], value must be [{kind}]"),
        format!("Invalid value for webhdfs parameter \"{name}\": {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Statuses;

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

    #[test]
    fn the_words_for_a_bad_parameter_were_one_servers_on_all_ports() {
        let messages = |failure: Failure| {
            [Statuses::HttpFs, Statuses::WebHdfs].map(|server| {
                failure.exception(server)["message"].as_str().map(str::to_owned).unwrap()
            })
        };
        let java = "java.lang.IllegalArgumentException: Parameter";
        let of_webhdfs = "Invalid value for webhdfs parameter";
        let [httpfs, webhdfs] = messages(invalid("offset", "x", "a long"));
        assert_eq!(httpfs, format!("{java} [offset], invalid value [x], value must be [a long]"));
        let why = "Failed to parse \"x\" as a radix-10 long integer.";
        assert_eq!(webhdfs, format!("{of_webhdfs} \"offset\": {why}"));
        let [httpfs, webhdfs] = messages(invalid("aclspec", "bob", "^u$"));
        assert_eq!(httpfs, format!("{java} [aclspec], invalid value [bob], value must be [^u$]"));
        let why = "Invalid value: \"bob\" does not belong to the domain ^u$";
        assert_eq!(webhdfs, format!("{of_webhdfs} \"aclspec\": {why}"));
        let [_, webhdfs] = messages(invalid("flag", "bad", "[CREATE, REPLACE]"));
        assert!(webhdfs.ends_with(": No enum constant org.apache.hadoop.fs.XAttrSetFlag.BAD"));
        let [_, webhdfs] = messages(invalid("permission", "9", "a short"));
        assert!(webhdfs.ends_with("\"9\" as a radix-8 short integer."), "{webhdfs}");
    }
}
