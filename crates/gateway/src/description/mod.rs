//! The REST interface as OpenAPI describes it, made from the tables that requests are read by.
//!
//! In OpenAPI a path and a method are one operation, and here the parameter `op` tells many apart. So a method's entry has the
//! parameters and answers of all of them; `x-operations` says which are whose.

mod answers;
mod parameters;

use crate::operation::Operation;
use answers::{about, schemas};
use axum::http::{Method, Uri, header};
use axum::response::{IntoResponse, Response};
use parameters::{OF_ALL, describe};
use serde_json::{Map, Value, json};

/// The URLs of one kind, and whose they are.
struct Urls {
    path: &'static str,
    what: &'static str,
    servers: &'static [(&'static str, &'static str)],
    /// How operation ids begin.
    id: &'static str,
    is_hoop: bool,
}

const WEBHDFS: Urls = Urls {
    path: "/webhdfs/v1/{path}",
    what: "WebHDFS's URLs. A NameNode redirects OPEN, CREATE, APPEND and GETFILECHECKSUM to a DataNode, which answers nothing else; \
           the gateway answers all operations itself.",
    servers: &[
        ("http://localhost:14000", "the gateway"),
        ("http://localhost:9870", "a NameNode"),
        ("http://localhost:9864", "a DataNode"),
    ],
    id: "webhdfs",
    is_hoop: false,
};

const HOOP: Urls = Urls {
    path: "/{path}",
    what: "Hoop's URLs, on the gateway: a GET without op reads a file, and data is sent at once.",
    servers: &[("http://localhost:14000", "the gateway")],
    id: "hoop",
    is_hoop: true,
};

/// Where the gateway serves it. With a query, a file of that name is meant.
const PATH: &str = "/openapi.json";

/// Whether a request is for the description, which needs no user.
pub(crate) fn is_asked_for(method: &Method, uri: &Uri) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    reads && uri.path() == PATH && uri.query().is_none()
}

/// The answer to such a request.
pub(crate) fn response() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi()).into_response()
}

/// The description as a text.
pub fn openapi() -> String {
    // JSON of strings, numbers and lists is always written.
    let text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text + "\n"
}

fn document() -> Value {
    let mut paths = Map::new();
    for urls in [&WEBHDFS, &HOOP] {
        paths.insert(urls.path.to_owned(), path_item(urls));
    }
    let own = json!({ "description": "This description.", "content": { "application/json": { "schema": { "type": "object" } } } });
    let get = json!({ "operationId": "openapi", "responses": { "200": own } });
    paths.insert(PATH.to_owned(), json!({ "get": get }));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "HDFS by REST",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": "WebHDFS, HttpFS and Hoop. Parameters that an operation does not have are ignored. Names of parameters \
                            and operations count in letters of either case.",
        },
        "servers": [{ "url": "http://localhost:14000", "description": "the gateway" }],
        "paths": paths,
        "components": { "schemas": schemas() },
    })
}

fn path_item(urls: &Urls) -> Value {
    let servers: Vec<Value> = urls
        .servers
        .iter()
        .map(|(url, whose)| json!({ "url": url, "description": whose }))
        .collect();
    let path = json!({
        "name": "path",
        "in": "path",
        "required": true,
        "description": "The path in HDFS, without its first slash; UTF-8, percent-encoded.",
        "schema": { "type": "string" },
    });
    let mut item = json!({ "description": urls.what, "servers": servers, "parameters": [path] });
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::POST, Method::DELETE] {
        let operations: Vec<Operation> =
            Operation::ALL.iter().copied().filter(|one| is_taken(*one, urls, &method)).collect();
        item[method.as_str().to_ascii_lowercase()] = of_method(urls, &method, &operations);
    }
    item
}

/// Whether a method's entry names an operation: as requests are read, but for what only some faces permit.
fn is_taken(operation: Operation, urls: &Urls, method: &Method) -> bool {
    match urls.is_hoop {
        true => operation.takes(method),
        false => {
            operation.method() == method
                || operation == Operation::Open && method == Method::HEAD
                || operation == Operation::PutArchive && method == Method::POST
        }
    }
}

fn of_method(urls: &Urls, method: &Method, operations: &[Operation]) -> Value {
    let names: Vec<&str> = operations.iter().map(|operation| operation.name()).collect();
    let needs_op = !(urls.is_hoop && matches!(*method, Method::GET | Method::HEAD));
    let mut parameters = vec![json!({
        "name": "op",
        "in": "query",
        "required": needs_op,
        "description": "The operation.",
        "schema": { "type": "string", "enum": names },
    })];
    let mut seen: Vec<&str> = OF_ALL.to_vec();
    for name in operations.iter().flat_map(|operation| operation.parameters()) {
        if !seen.contains(name) {
            seen.push(name);
        }
    }
    parameters.extend(seen.into_iter().map(describe));
    let has_data =
        operations.iter().any(|one| matches!(one, Operation::Create | Operation::Append));
    let has_open = operations.contains(&Operation::Open);
    parameters.extend(headers(has_open, has_data));
    let each = operations.iter().map(|operation| {
        let (what, answer) = about(*operation);
        let answer = answer.map(|name| format!("#/components/schemas/{name}"));
        let one =
            json!({ "summary": what, "parameters": operation.parameters(), "answer": answer });
        (operation.name().to_owned(), one)
    });
    let mut entry = json!({
        "operationId": format!("{}_{}", urls.id, method.as_str().to_ascii_lowercase()),
        "parameters": parameters,
        "responses": responses(method, operations, has_open, has_data),
        "x-operations": each.collect::<Map<String, Value>>(),
    });
    if has_data {
        let mut content = binary(OCTETS);
        if operations.contains(&Operation::PutArchive) {
            content.extend(binary(TAR));
            content.extend(binary("multipart/form-data"));
        }
        let what = "The data of CREATE and APPEND, or the archive of PUTARCHIVE.";
        entry["requestBody"] = json!({ "description": what, "content": content });
    }
    entry
}

const OCTETS: &str = "application/octet-stream";
const TAR: &str = "application/x-tar";
const LINES: &str = "application/x-ndjson";

/// Content that is no JSON object.
fn binary(kind: &str) -> Map<String, Value> {
    let schema = json!({ "schema": { "type": "string", "format": "binary" } });
    [(kind.to_owned(), schema)].into_iter().collect()
}

fn headers(has_open: bool, has_data: bool) -> Vec<Value> {
    let of_open: &[_] = &[
        ("Range", "The bytes that are wanted."),
        ("If-Range", "The tag for which the range holds."),
        ("If-None-Match", "The tag of what the caller has."),
    ];
    let of_data: &[_] = &[
        ("If-Match", "The tag that the file must have."),
        ("If-None-Match", "* where the file must not exist."),
        ("Idempotency-Key", "Names an APPEND; one that is known already is not done again."),
    ];
    let all = [(has_open, of_open), (has_data, of_data)];
    let all = all.into_iter().filter(|(has, _)| *has).flat_map(|(_, all)| all);
    all.map(|(name, what)| {
        json!({ "name": name, "in": "header", "description": what, "schema": { "type": "string" } })
    })
    .collect()
}

fn responses(method: &Method, operations: &[Operation], has_open: bool, has_data: bool) -> Value {
    let mut names: Vec<&str> = operations.iter().filter_map(|one| about(*one).1).collect();
    names.sort_unstable();
    names.dedup();
    let refer = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let json_of = |names: &[&str]| {
        let all: Vec<Value> = names.iter().map(|name| refer(name)).collect();
        json!({ "application/json": { "schema": { "anyOf": all } } })
    };
    let octets = || Value::from(binary(OCTETS));
    let mut all = Map::new();
    let mut add = |status: &str, what: &str, content: Option<Value>| {
        let mut response = json!({ "description": what });
        if let Some(content) = content.filter(|_| method != Method::HEAD) {
            response["content"] = content;
        }
        all.insert(status.to_owned(), response);
    };
    // What answers nothing, and the data of a file, are octet streams. Where the data is to be sent is told in JSON.
    let mut done = binary(OCTETS);
    if (has_open || has_data) && !names.contains(&"Location") {
        names.push("Location");
    }
    names.retain(|name| *name != "PathStatus");
    if !names.is_empty()
        && let Some(answers) = json_of(&names).as_object()
    {
        done.extend(answers.clone());
    }
    if operations.contains(&Operation::GetArchive) {
        done.extend(binary(TAR));
    }
    if operations.contains(&Operation::ListStatusRecursive) {
        done.extend(binary(LINES));
    }
    add("200", "It was done.", Some(done.into()));
    if operations.contains(&Operation::PutArchive) {
        add("207", "Some files of the archive were not made.", Some(json_of(&["Files"])));
    }
    if has_open {
        add("206", "The range of the file.", Some(octets()));
        add("304", "The file is the one that the caller has.", None);
        add("416", "The range lies behind the file's end.", Some(json_of(&["RemoteException"])));
    }
    if has_data {
        add("201", "The file was made.", Some(json_of(&["Location"])));
    }
    if has_open || has_data {
        add("307", "To where the data is.", Some(octets()));
    }
    for (status, what) in [
        ("400", "The request makes no sense, or this server lacks the feature."),
        ("401", "The request names no user."),
        ("403", "The caller may not do this. Of NameNode and DataNode: any other exception."),
        ("404", "There is nothing at the path."),
        ("500", "Any other exception of the file system."),
        ("429", "The caller asks too often."),
    ] {
        add(status, what, Some(json_of(&["RemoteException"])));
    }
    if has_data {
        add("408", "The body came too slowly.", Some(json_of(&["RemoteException"])));
        add("409", "Another client writes the file.", Some(json_of(&["RemoteException"])));
        add(
            "412",
            "The file is another one than the request is for.",
            Some(json_of(&["RemoteException"])),
        );
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Operations, their methods and parameters, as the entries of a path tell them.
    fn described(path: &str) -> BTreeSet<(String, String, Vec<String>)> {
        let document: Value = serde_json::from_str(&openapi()).unwrap();
        let mut all = BTreeSet::new();
        for (method, entry) in document["paths"][path].as_object().unwrap() {
            let Some(operations) = entry["x-operations"].as_object() else { continue };
            let list = entry["parameters"].as_array().unwrap();
            let names: Vec<&str> = list.iter().map(|one| one["name"].as_str().unwrap()).collect();
            let choices = list[0]["schema"]["enum"].as_array().unwrap();
            assert_eq!(choices.len(), operations.len());
            for (name, one) in operations {
                assert!(choices.contains(&name.as_str().into()), "{method} {name}");
                let own = one["parameters"].as_array().unwrap().iter();
                let own: Vec<String> = own.map(|name| name.as_str().unwrap().to_owned()).collect();
                assert!(own.iter().all(|name| names.contains(&name.as_str())), "{method} {name}");
                all.insert((method.to_ascii_uppercase(), name.clone(), own));
            }
        }
        all
    }

    #[test]
    fn every_operation_is_described_with_its_method_and_parameters_and_no_other() {
        let of = |operation: &Operation, method: &str| {
            let own = operation.parameters().iter().map(|name| (*name).to_owned()).collect();
            (method.to_owned(), operation.name().to_owned(), own)
        };
        let known = Operation::ALL.iter().map(|one| of(one, one.method().as_str()));
        let mut known: BTreeSet<_> = known.collect();
        known.insert(of(&Operation::Open, "HEAD"));
        known.insert(of(&Operation::PutArchive, "POST"));
        assert_eq!(described(WEBHDFS.path), known);
        known.insert(of(&Operation::Create, "POST"));
        known.insert(of(&Operation::Append, "PUT"));
        assert_eq!(described(HOOP.path), known);
    }

    #[test]
    fn the_description_is_served_to_whoever_asks_without_a_query() {
        let is_asked_for = |method, uri: &str| is_asked_for(&method, &uri.parse().unwrap());
        assert!(is_asked_for(Method::GET, "/openapi.json"));
        assert!(!is_asked_for(Method::GET, "/openapi.json?user.name=u"));
        assert!(!is_asked_for(Method::PUT, "/openapi.json"));
        assert!(!is_asked_for(Method::GET, "/webhdfs/v1/openapi.json"));
    }

    #[test]
    fn what_is_referred_to_is_there() {
        let (text, schemas) = (openapi(), schemas());
        for part in text.split("#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(schemas.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_page_in_docs_is_what_is_served() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rest-openapi.json");
        assert!(
            std::fs::read_to_string(page).is_ok_and(|page| page == openapi()),
            "run: cargo run -q -p zerohop-gateway --example openapi >docs/rest-openapi.json"
        );
    }
}
