//! Avro's schemas: JSON that names types, which may contain each other.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};

/// Types nested in a schema, deeper than any that is meant.
const DEPTH_MAX: usize = 64;
/// Longest text of a schema. Parsed, it takes up to 20 times as much memory.
const TEXT_MAX: usize = 16 << 20;
/// Most bytes of full names.
const NAMES_MAX: usize = 16 << 20;

/// A type by its place in the schema.
pub(super) type TypeId = usize;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Record(Vec<(String, TypeId)>),
    Enum(Vec<String>),
    Array(TypeId),
    Map(TypeId),
    /// Each branch with its name in JSON; that of null is not shown.
    Union(Vec<(Rc<str>, TypeId)>),
    Fixed(usize),
}

/// All types of a schema.
pub(super) struct Schema {
    types: Vec<Type>,
    pub root: TypeId,
}

impl Schema {
    pub(super) fn parse(text: &[u8]) -> Result<Schema, String> {
        if text.len() > TEXT_MAX {
            return Err(format!("a schema of more than {TEXT_MAX} bytes"));
        }
        let json: Value = serde_json::from_slice(text)
            .map_err(|error| format!("the schema is no JSON: {error}"))?;
        let mut parser = Parser::default();
        let root = parser.parse(&json, "", 0)?;
        Ok(Schema { types: parser.types, root })
    }

    pub(super) fn get(&self, id: TypeId) -> &Type {
        self.types.get(id).unwrap_or(&Type::Null)
    }
}

#[derive(Default)]
struct Parser {
    types: Vec<Type>,
    /// The primitive types that the schema uses, one of each.
    primitives: HashMap<String, TypeId>,
    /// Bytes of all full names: a namespace is part of each name in it.
    names_length: usize,
    /// The JSON names of the types: full names of those that have a name, else the kind.
    names: Vec<Rc<str>>,
    named: HashMap<String, TypeId>,
}

impl Parser {
    fn add(&mut self, name: &str, kind: Type) -> TypeId {
        self.types.push(kind);
        self.names.push(name.into());
        self.types.len() - 1
    }

    fn parse(&mut self, json: &Value, namespace: &str, depth: usize) -> Result<TypeId, String> {
        if depth > DEPTH_MAX {
            return Err("the schema is nested too deeply".to_owned());
        }
        match json {
            Value::String(name) => self.reference(name, namespace),
            Value::Array(branches) => {
                let ids: Result<Vec<TypeId>, String> =
                    branches.iter().map(|one| self.parse(one, namespace, depth + 1)).collect();
                let named = ids?.into_iter().map(|id| (self.names[id].clone(), id)).collect();
                Ok(self.add("union", Type::Union(named)))
            }
            Value::Object(fields) => match fields.get("type") {
                Some(Value::String(kind)) => self.object(kind, fields, namespace, depth),
                Some(inner) => self.parse(inner, namespace, depth + 1),
                None => Err("a type of the schema has no kind".to_owned()),
            },
            _ => Err(format!("the schema has {json} in place of a type")),
        }
    }

    fn reference(&mut self, name: &str, namespace: &str) -> Result<TypeId, String> {
        let kind = match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::String,
            _ => {
                let full = full_name(name, namespace);
                let known = self.named.get(&full).or_else(|| self.named.get(name)).copied();
                return known
                    .ok_or_else(|| format!("the schema names {name}, and has no such type"));
            }
        };
        if let Some(id) = self.primitives.get(name) {
            return Ok(*id);
        }
        let id = self.add(name, kind);
        self.primitives.insert(name.to_owned(), id);
        Ok(id)
    }

    fn object(
        &mut self,
        kind: &str,
        fields: &Map<String, Value>,
        namespace: &str,
        depth: usize,
    ) -> Result<TypeId, String> {
        let inner = |name: &str| {
            fields.get(name).ok_or_else(|| format!("a type {kind} of the schema has no {name}"))
        };
        match kind {
            "array" => {
                let items = self.parse(inner("items")?, namespace, depth + 1)?;
                Ok(self.add(kind, Type::Array(items)))
            }
            "map" => {
                let values = self.parse(inner("values")?, namespace, depth + 1)?;
                Ok(self.add(kind, Type::Map(values)))
            }
            "record" | "error" | "enum" | "fixed" => {
                self.definition(kind, fields, namespace, depth)
            }
            _ => self.reference(kind, namespace),
        }
    }

    /// A type with a name, by which it may contain itself.
    fn definition(
        &mut self,
        kind: &str,
        fields: &Map<String, Value>,
        namespace: &str,
        depth: usize,
    ) -> Result<TypeId, String> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let name =
            text("name").ok_or_else(|| format!("a type {kind} of the schema has no name"))?;
        let full = full_name(name, text("namespace").unwrap_or(namespace));
        self.names_length += full.len();
        if self.names_length > NAMES_MAX {
            return Err(format!("the names of the schema take more than {NAMES_MAX} bytes"));
        }
        let own = full.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
        let id = self.add(&full, Type::Null);
        self.named.insert(full, id);
        self.types[id] = match kind {
            "enum" => {
                let symbols = fields.get("symbols").and_then(Value::as_array);
                let symbols = symbols.into_iter().flatten().filter_map(Value::as_str);
                Type::Enum(symbols.map(str::to_owned).collect())
            }
            "fixed" => {
                let size = fields.get("size").and_then(Value::as_u64);
                let size = size.and_then(|size| usize::try_from(size).ok());
                Type::Fixed(size.ok_or("a type fixed of the schema has no size")?)
            }
            _ => {
                let listed = fields.get("fields").and_then(Value::as_array);
                let mut record = Vec::new();
                for field in listed.ok_or("a record of the schema has no fields")? {
                    let name = field.get("name").and_then(Value::as_str);
                    let name = name.ok_or("a field of the schema has no name")?;
                    let kind = field.get("type").ok_or("a field of the schema has no type")?;
                    record.push((name.to_owned(), self.parse(kind, &own, depth + 1)?));
                }
                Type::Record(record)
            }
        };
        Ok(id)
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    match name.contains('.') || namespace.is_empty() {
        true => name.to_owned(),
        false => format!("{namespace}.{name}"),
    }
}
