//! `/jmx` as scripts ask for it: `?qry=PATTERN` for some beans, `?get=PATTERN::ATTRIBUTE` for one of their
//! attributes, nothing for all (`JMXJsonServlet`).

use super::page::Page;
use super::query::QueryValues;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};

/// The members that every bean has.
const NAME: &str = "name";
const CLASS: &str = "modelerType";

/// A bean: an object with a name as Java's `ObjectName` (`domain:key=value,...`), the class that people's scripts look for, and
/// the members of `values`.
pub fn bean(name: &str, class: &str, values: Value) -> Value {
    let mut bean = Map::new();
    bean.insert(NAME.into(), name.into());
    bean.insert(CLASS.into(), class.into());
    if let Value::Object(values) = values {
        bean.extend(values);
    }
    Value::Object(bean)
}

/// The page for a request's query (without `?`): status 400 for a query that makes no sense, 404 for an attribute that is not
/// there. The beans are made only for a query that can be answered.
pub(super) fn page(raw_query: &str, beans: impl FnOnce() -> Vec<Value>) -> Page {
    let query = QueryValues::parse(raw_query);
    let (pattern, attribute) = match query.get("get") {
        Some(get) => match halves(get) {
            Some((pattern, attribute)) => (pattern, Some(attribute)),
            None => {
                let refused =
                    json!({ "result": "ERROR", "message": "query format is not as expected." });
                return shown(StatusCode::BAD_REQUEST, &refused);
            }
        },
        None => (query.get("qry").unwrap_or("*:*"), None),
    };
    let Some(pattern) = Pattern::parse(pattern) else {
        return shown(StatusCode::BAD_REQUEST, &json!({}));
    };
    let mut found = beans();
    found.retain(|bean| bean.get(NAME).and_then(Value::as_str).is_some_and(|n| pattern.has(n)));
    match attribute {
        Some(attribute) => only(found, attribute),
        None => shown(StatusCode::OK, &json!({ "beans": found })),
    }
}

fn shown(status: StatusCode, page: &Value) -> Page {
    Page::json(format!("{page:#}\n")).with_status(status)
}

/// What is before and after the one `::`; as Java splits, nothing after it counts as none.
fn halves(get: &str) -> Option<(&str, &str)> {
    let (pattern, attribute) = get.split_once("::")?;
    (!attribute.is_empty() && !attribute.contains("::")).then_some((pattern, attribute))
}

/// One attribute of each bean; the list ends at the first that lacks it.
fn only(beans: Vec<Value>, attribute: &str) -> Page {
    let mut found = Vec::with_capacity(beans.len());
    for bean in beans {
        let mut kept = Map::new();
        for member in [NAME, CLASS] {
            kept.insert(member.to_owned(), bean.get(member).cloned().unwrap_or_default());
        }
        let Some(value) = bean.get(attribute) else {
            kept.insert("result".into(), "ERROR".into());
            let message = format!("No attribute with name {attribute} was found.");
            kept.insert("message".into(), message.into());
            found.push(Value::Object(kept));
            return shown(StatusCode::NOT_FOUND, &json!({ "beans": found }));
        };
        kept.insert(attribute.to_owned(), value.clone());
        found.push(Value::Object(kept));
    }
    shown(StatusCode::OK, &json!({ "beans": found }))
}

/// A pattern of Java's `ObjectName`: `domain:key=value,...`, in which `*` stands for any text, `?` for one character,
/// and `*` alone in the list for any other keys.
struct Pattern<'a> {
    domain: &'a str,
    keys: Vec<(&'a str, &'a str)>,
    others: bool,
}

impl<'a> Pattern<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (domain, list) = if text.is_empty() { ("*", "*") } else { text.split_once(':')? };
        let mut pattern = Pattern { domain, keys: Vec::new(), others: false };
        for part in list.split(',') {
            match part.split_once('=') {
                None if part == "*" => pattern.others = true,
                Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                    pattern.keys.push((key, value));
                }
                _ => return None,
            }
        }
        Some(pattern)
    }

    fn has(&self, name: &str) -> bool {
        // A bean's name is a pattern that stands for itself alone.
        let Some(name) = Pattern::parse(name) else { return false };
        let is_like = |(key, value): &(&str, &str)| {
            name.keys.iter().any(|(theirs, text)| theirs == key && matches(value, text))
        };
        matches(self.domain, name.domain)
            && (self.others || self.keys.len() == name.keys.len())
            && self.keys.iter().all(is_like)
    }
}

/// Whether a pattern of `*` and `?` stands for a text. Goes back to the last `*` only: never more steps than the lengths'
/// product.
fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    let mut star = None;
    loop {
        let there = text.clone();
        match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                text = there.clone();
                star = Some((pattern.clone(), there));
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => {
                let Some((after, mut from)) = star.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                pattern = after.clone();
                text = from.clone();
                star = Some((after, from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "Hadoop:service=NameNode,name=FSNamesystem";

    fn has(pattern: &str, name: &str) -> bool {
        Pattern::parse(pattern).is_some_and(|pattern| pattern.has(name))
    }

    #[test]
    fn queries_are_patterns_of_names() {
        for pattern in [
            "",
            "*:*",
            NAME,
            "Hadoop:*",
            "H?doop:*",
            "Hadoop:service=NameNode,name=FSN*",
            "Hadoop:name=FSNamesystem,service=NameNode",
            "*:name=*system,*",
            "*:*,service=NameNode",
        ] {
            assert!(has(pattern, NAME), "{pattern}");
        }
        for pattern in [
            "java.lang:*",
            "Hadoop:service=NameNode,name=FSNamesystemS*",
            "Hadoop:name=FSNamesystem",
            "*:name=NameNodeInfo,*",
            "*",
            "Hadoop:",
            "Hadoop:service",
            "Hadoop:service=",
        ] {
            assert!(!has(pattern, NAME), "{pattern}");
        }
        assert!(matches("a*b*c", "aXbXbc") && !matches("a*b*c", "aXbXb"));
        assert!(!matches("*?", "") && matches("**", "") && !matches("", "a"));
    }

    fn asked(query: &str) -> (u16, Value) {
        let bean = |name: &str| json!({ "name": name, "modelerType": "c", "A": 1, "B": name });
        let page = page(query, || vec![bean("D:name=x"), bean("D:name=y")]);
        (page.status.as_u16(), serde_json::from_str(&page.body).unwrap())
    }

    #[test]
    fn beans_and_attributes_are_asked_for() {
        let names = |page: &Value| {
            let beans = page["beans"].as_array().unwrap();
            beans.iter().map(|bean| bean["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&asked("").1), ["D:name=x", "D:name=y"]);
        assert_eq!(names(&asked("qry=D%3Aname%3Dy").1), ["D:name=y"]);
        assert_eq!(asked("qry=E:*"), (200, json!({ "beans": [] })));
        let one = json!({ "name": "D:name=x", "modelerType": "c", "A": 1 });
        assert_eq!(asked("get=D:name=x::A&qry=E:*"), (200, json!({ "beans": [one] })));
    }

    #[test]
    fn queries_without_sense_are_refused_as_hadoops() {
        for get in ["D:name=x", "D:name=x::", "D:name=x::A::B", ""] {
            let (status, page) = asked(&format!("get={get}"));
            assert_eq!(status, 400, "{get}");
            assert_eq!(page["message"], "query format is not as expected.");
        }
        assert_eq!(asked("qry=*"), (400, json!({})));
        let (status, page) = asked("get=D:*::C");
        assert_eq!((status, page["beans"].as_array().unwrap().len()), (404, 1));
        assert_eq!(page["beans"][0]["message"], "No attribute with name C was found.");
    }
}
