//! Compiles `proto/*.proto` with protox (no protoc needed) and writes, next to prost's code, one
//! [`Shape`](src/shape.rs) per message: prost does not enforce `required` on decode, the shapes do.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use heck::{ToSnakeCase, ToUpperCamelCase};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};
use std::fmt::Write as _;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=proto");
    let mut files: Vec<PathBuf> = std::fs::read_dir("proto")
        .expect("crates/proto/proto exists")
        .map(|entry| entry.expect("readable directory").path())
        .filter(|path| path.extension().is_some_and(|e| e == "proto"))
        .collect();
    files.sort();
    let set = protox::compile(&files, ["proto"]).expect("the .proto files compile");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    std::fs::write(out.join("shapes.rs"), shapes(&set)).expect("OUT_DIR is writable");
    prost_build::Config::new()
        .bytes(["."])
        .include_file("modules.rs")
        .compile_fds(set)
        .expect("prost generates the messages");
}

fn shapes(set: &FileDescriptorSet) -> String {
    let mut out = String::new();
    for file in &set.file {
        let package = file.package();
        let module: Vec<String> = package.split('.').map(|part| part.to_snake_case()).collect();
        for message in &file.message_type {
            shape_of(message, &format!(".{package}"), &module, &mut out);
        }
    }
    out
}

fn static_name(full_name: &str) -> String {
    full_name.trim_start_matches('.').replace('.', "__")
}

/// Returns the variant of `Element` for a repeated field of this type.
fn element(of: Type) -> &'static str {
    match of {
        Type::Message | Type::Group => "Message",
        Type::String => "Text",
        Type::Bytes => "Bytes",
        Type::Double | Type::Fixed64 | Type::Sfixed64 => "Fixed8",
        Type::Float | Type::Fixed32 | Type::Sfixed32 => "Fixed4",
        _ => "Varint",
    }
}

fn shape_of(message: &DescriptorProto, parent: &str, module: &[String], out: &mut String) {
    let full_name = format!("{parent}.{}", message.name());
    let mut required = String::new();
    let mut messages = String::new();
    let mut repeated = String::new();
    for field in &message.field {
        if field.label() == Label::Required {
            write!(required, "({}, \"{}\"), ", field.number(), field.name()).expect("to a String");
        }
        if field.r#type() == Type::Message {
            let name = static_name(field.type_name());
            write!(messages, "({}, &{name}), ", field.number()).expect("to a String");
        }
        if field.label() == Label::Repeated {
            let element = element(field.r#type());
            write!(repeated, "({}, Element::{element}), ", field.number()).expect("to a String");
        }
    }
    let path = module.join("::");
    let rust_name = message.name().to_upper_camel_case();
    writeln!(
        out,
        "#[allow(non_upper_case_globals)]\npub(crate) static {id}: Shape = Shape {{ name: \"{short}\", \
         size: size_of::<{path}::{rust_name}>(), required: &[{required}], messages: &[{messages}], \
         repeated: &[{repeated}] }};\n\
         impl Checked for {path}::{rust_name} {{ fn shape() -> &'static Shape {{ &{id} }} }}",
        id = static_name(&full_name),
        short = message.name(),
    )
    .expect("to a String");
    let mut nested_module = module.to_vec();
    nested_module.push(message.name().to_snake_case());
    for nested in &message.nested_type {
        shape_of(nested, &full_name, &nested_module, out);
    }
}
