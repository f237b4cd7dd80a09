//! The beans of one `/jmx` page.

use serde_json::{Map, Value};
use std::fmt;

/// A page of `/jmx` (`JMXJsonServlet`).
#[derive(Clone, Debug, Default)]
pub struct Beans(Vec<Bean>);

/// One bean: its attributes by name.
#[derive(Clone, Debug)]
pub(crate) struct Bean {
    name: String,
    attributes: Map<String, Value>,
}

/// The bytes are no page of `/jmx`.
#[derive(Debug)]
pub struct NotJmx(String);

impl fmt::Display for NotJmx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer is no page of /jmx: {}", self.0)
    }
}

impl std::error::Error for NotJmx {}

impl Beans {
    /// Reads a page.
    ///
    /// # Errors
    /// If it is no JSON, or has no list of beans.
    pub fn parse(page: &[u8]) -> Result<Self, NotJmx> {
        let page: Value = serde_json::from_slice(page).map_err(|e| NotJmx(e.to_string()))?;
        let Value::Object(mut page) = page else {
            return Err(NotJmx("it is no object".to_owned()));
        };
        let Some(Value::Array(beans)) = page.remove("beans") else {
            return Err(NotJmx("it has no list \"beans\"".to_owned()));
        };
        let bean = |value: Value| match value {
            Value::Object(attributes) => {
                let name = attributes.get("name")?.as_str()?.to_owned();
                Some(Bean { name, attributes })
            }
            _ => None,
        };
        Ok(Self(beans.into_iter().filter_map(bean).collect()))
    }

    /// The bean `Hadoop:service=SERVICE,name=NAME`.
    pub(crate) fn find(&self, service: &str, name: &str) -> Option<&Bean> {
        let wanted = format!("Hadoop:service={service},name={name}");
        self.0.iter().find(|bean| bean.name == wanted)
    }

    /// The beans of a service whose names begin so, each with the rest of its name.
    pub(crate) fn starting<'a>(
        &'a self,
        service: &str,
        prefix: &str,
    ) -> impl Iterator<Item = (&'a str, &'a Bean)> + use<'a> {
        let wanted = format!("Hadoop:service={service},name={prefix}");
        self.0.iter().filter_map(move |bean| Some((bean.name.strip_prefix(&wanted)?, bean)))
    }

    /// Takes the beans of another page, for a daemon that is asked for a few beans at a time.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl Bean {
    /// A count or a size; none if it is absent or negative.
    pub(crate) fn count(&self, attribute: &str) -> Option<u64> {
        self.attributes.get(attribute)?.as_u64()
    }

    /// A number that may have a fraction.
    pub(crate) fn number(&self, attribute: &str) -> Option<f64> {
        self.attributes.get(attribute)?.as_f64()
    }

    pub(crate) fn text(&self, attribute: &str) -> Option<&str> {
        self.attributes.get(attribute)?.as_str()
    }

    /// What is JSON within a text, as Hadoop gives lists.
    pub(crate) fn json(&self, attribute: &str) -> Option<Value> {
        serde_json::from_str(self.text(attribute)?).ok()
    }

    pub(crate) fn value(&self, attribute: &str) -> Option<&Value> {
        self.attributes.get(attribute)
    }

    /// The attributes that end so, each with the part before it.
    pub(crate) fn ending<'a>(&'a self, suffix: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.attributes
            .iter()
            .filter_map(move |(name, value)| Some((name.strip_suffix(suffix)?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_page_of_jmx_is_told() {
        for page in ["", "<html>", "[]", "{}", "{\"beans\":{}}"] {
            assert!(Beans::parse(page.as_bytes()).is_err(), "{page}");
        }
        let odd =
            Beans::parse(br#"{"beans":[1,{},{"name":7},{"name":"Hadoop:service=A,name=B"}]}"#);
        let odd = odd.unwrap();
        assert!(odd.find("A", "B").is_some() && odd.find("A", "C").is_none());
    }

    #[test]
    fn attributes_have_kinds() {
        let page = br#"{"beans":[{"name":"Hadoop:service=A,name=B","N":3,"M":-1,"F":1.5,
            "T":"[1]","AOps":1,"BOps":2}]}"#;
        let beans = Beans::parse(page).unwrap();
        let (rest, bean) = beans.starting("A", "").next().unwrap();
        assert_eq!(
            (rest, bean.count("N"), bean.count("M"), bean.count("T")),
            ("B", Some(3), None, None)
        );
        assert_eq!((bean.number("F"), bean.number("N")), (Some(1.5), Some(3.0)));
        assert_eq!(bean.json("T"), Some(serde_json::json!([1])));
        assert_eq!(bean.ending("Ops").map(|(name, _)| name).collect::<Vec<_>>(), ["A", "B"]);
    }
}
