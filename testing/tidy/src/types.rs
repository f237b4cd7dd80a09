//! How large each type is, and which file calls the methods of which other file.
//!
//! A type whose methods lie in many files is as hard to read as one file with all of them. The sources are parsed, and
//! the type of a receiver is taken from what is written: fields, parameters, `self`, and what constructors and methods
//! with a plain result return. A call whose receiver is not known that way is no arrow, so each arrow found is there.

use crate::Source;
use crate::imports::{Arrows, Modules, is_test};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, ImplItem, ImplItemFn, Item, ItemImpl, Pat, ReturnType, Type};

/// A type of one crate: the file that defines it, and its name.
type TypeId<'a> = (&'a str, String);

/// How much code a type has in its own `impl` blocks, over all files of its crate; traits do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Methods; one that only passes its arguments on to a field, or lends a field, does not count.
    pub methods: usize,
    /// Lines of the blocks.
    pub lines: usize,
}

/// The types of all crates, with their methods.
pub struct Types<'a> {
    modules: Modules<'a>,
    parsed: Vec<(&'a str, syn::File)>,
    /// The fields of each struct and the names of their types.
    fields: BTreeMap<TypeId<'a>, BTreeMap<String, String>>,
    methods: BTreeMap<TypeId<'a>, BTreeMap<String, Method<'a>>>,
    figures: BTreeMap<TypeId<'a>, Figures>,
}

struct Method<'a> {
    file: &'a str,
    /// The type's name, if it is a plain one.
    returns: Option<String>,
}

impl<'a> Types<'a> {
    /// Parses the Rust files of a tree; tests are left out.
    ///
    /// # Panics
    /// If a file cannot be parsed.
    pub fn new(sources: &'a [Source]) -> Self {
        let files = sources.iter().filter(|file| !is_test(&file.path));
        let parse = |file: &'a Source| match syn::parse_file(&file.text) {
            Ok(parsed) => (&*file.path, parsed),
            Err(fault) => panic!("{}: {fault}", file.path),
        };
        let mut types = Self {
            modules: Modules::new(sources),
            parsed: files.map(parse).collect(),
            fields: BTreeMap::new(),
            methods: BTreeMap::new(),
            figures: BTreeMap::new(),
        };
        types.collect_fields();
        types.collect_methods();
        types
    }

    fn collect_fields(&mut self) {
        for (file, parsed) in &self.parsed {
            for item in items(&parsed.items) {
                let (name, fields) = match item {
                    Item::Struct(item) => (item.ident.to_string(), fields_of(&item.fields)),
                    Item::Enum(item) => (item.ident.to_string(), BTreeMap::new()),
                    _ => continue,
                };
                self.fields.insert((*file, name), fields);
            }
        }
    }

    fn collect_methods(&mut self) {
        let mut methods: BTreeMap<TypeId<'a>, BTreeMap<String, Method<'a>>> = BTreeMap::new();
        let mut figures: BTreeMap<TypeId<'a>, Figures> = BTreeMap::new();
        for (file, parsed) in &self.parsed {
            for block in impls(&parsed.items).filter(|block| block.trait_.is_none()) {
                let Some(id) = type_name(&block.self_ty).and_then(|it| self.resolve(file, &it))
                else {
                    continue;
                };
                let sums = figures.entry(id.clone()).or_default();
                sums.lines += block.span().end().line - block.span().start().line + 1;
                for method in fns(block) {
                    sums.methods += usize::from(!only_delegates(method));
                    let returns = match &method.sig.output {
                        ReturnType::Type(_, kind) => type_name(kind),
                        ReturnType::Default => None,
                    };
                    let returns = returns.map(|it| if it == "Self" { id.1.clone() } else { it });
                    let named = methods.entry(id.clone()).or_default();
                    named.insert(method.sig.ident.to_string(), Method { file, returns });
                }
            }
        }
        (self.methods, self.figures) = (methods, figures);
    }

    /// The type that a path means in a file; none for types of other crates.
    fn resolve(&self, file: &str, path: &str) -> Option<TypeId<'a>> {
        let words: Vec<String> = path.split("::").map(str::to_owned).collect();
        let name = words.last()?;
        let own = self.fields.keys().find(|(at, of)| *at == file && of == name && words.len() == 1);
        let imported = || {
            let at = self.modules.file_naming(file, &words)?;
            self.fields.keys().find(|(of, other)| *of == at && other == name)
        };
        own.or_else(imported).cloned()
    }

    /// All types with methods of their own: the file of each, its name and its figures.
    pub fn figures(&self) -> impl Iterator<Item = (&'a str, &str, Figures)> + '_ {
        self.figures.iter().map(|((file, name), figures)| (*file, &**name, *figures))
    }

    /// Which file's methods each file calls.
    pub fn call_arrows(&self) -> Arrows<'a> {
        let mut arrows = Arrows::new();
        for (file, parsed) in &self.parsed {
            let mut calls =
                Calls { types: self, file, of: None, names: BTreeMap::new(), to: BTreeSet::new() };
            calls.visit_file(parsed);
            calls.to.remove(*file);
            arrows.insert(*file, calls.to);
        }
        arrows
    }
}

/// The calls of one file.
struct Calls<'t, 'a> {
    types: &'t Types<'a>,
    file: &'a str,
    /// The type whose `impl` block this is.
    of: Option<TypeId<'a>>,
    /// Types of the names in the function.
    names: BTreeMap<String, TypeId<'a>>,
    to: BTreeSet<&'a str>,
}

impl<'a> Calls<'_, 'a> {
    fn named(&self, name: &str) -> Option<TypeId<'a>> {
        if name == "Self" { self.of.clone() } else { self.types.resolve(self.file, name) }
    }

    fn bind(&mut self, pattern: &Pat, of: Option<TypeId<'a>>) {
        let Pat::Ident(name) = pattern else { return };
        match of {
            Some(of) => drop(self.names.insert(name.ident.to_string(), of)),
            None => drop(self.names.remove(&name.ident.to_string())),
        }
    }

    fn bind_typed(&mut self, typed: &syn::PatType) {
        let of = type_name(&typed.ty).and_then(|name| self.named(&name));
        self.bind(&typed.pat, of);
    }

    fn type_of(&self, expr: &Expr) -> Option<TypeId<'a>> {
        match expr {
            Expr::Path(path) => self.names.get(&path.path.get_ident()?.to_string()).cloned(),
            Expr::Reference(inner) => self.type_of(&inner.expr),
            Expr::Paren(inner) => self.type_of(&inner.expr),
            Expr::Unary(inner) => self.type_of(&inner.expr),
            Expr::Field(field) => {
                let of = self.type_of(&field.base)?;
                let name = match &field.member {
                    syn::Member::Named(name) => name.to_string(),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                let kind = self.types.fields.get(&of)?.get(&name)?;
                self.types.resolve(of.0, kind)
            }
            Expr::MethodCall(call) => {
                let of = self.type_of(&call.receiver)?;
                self.result_of(&of, &call.method.to_string())
            }
            Expr::Call(call) => {
                let (of, method) = self.associated(&call.func)?;
                self.result_of(&of, &method)
            }
            _ => None,
        }
    }

    fn result_of(&self, of: &TypeId<'a>, method: &str) -> Option<TypeId<'a>> {
        let found = self.types.methods.get(of)?.get(method)?;
        self.types.resolve(found.file, found.returns.as_ref()?)
    }

    /// The type and the function of `Type::function`.
    fn associated(&self, func: &Expr) -> Option<(TypeId<'a>, String)> {
        let Expr::Path(path) = func else { return None };
        let mut segments = path.path.segments.iter().rev();
        let method = segments.next()?.ident.to_string();
        let kind: Vec<String> = segments.rev().map(|segment| segment.ident.to_string()).collect();
        Some((self.named(&kind.join("::"))?, method))
    }

    fn call(&mut self, of: &TypeId<'a>, method: &str) {
        let found = self.types.methods.get(of).and_then(|methods| methods.get(method));
        self.to.extend(found.map(|found| found.file));
    }
}

impl<'ast> Visit<'ast> for Calls<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        self.of = type_name(&block.self_ty).and_then(|name| self.types.resolve(self.file, &name));
        visit::visit_item_impl(self, block);
        self.of = None;
    }

    fn visit_impl_item_fn(&mut self, method: &'ast ImplItemFn) {
        if !is_for_tests(&method.attrs) {
            visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.names.clear();
        for argument in &signature.inputs {
            match argument {
                FnArg::Receiver(_) => {
                    self.names.extend(self.of.clone().map(|of| ("self".to_owned(), of)));
                }
                FnArg::Typed(typed) => self.bind_typed(typed),
            }
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        match (&local.pat, &local.init) {
            (Pat::Type(typed), _) => self.bind_typed(typed),
            (pattern, Some(init)) => self.bind(pattern, self.type_of(&init.expr)),
            (pattern, None) => self.bind(pattern, None),
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        for input in &closure.inputs {
            match input {
                Pat::Type(typed) => self.bind_typed(typed),
                pattern => self.bind(pattern, None),
            }
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Some(of) = self.type_of(&call.receiver) {
            self.call(&of, &call.method.to_string());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        // Also where a function is not called but passed on.
        if let Some((of, method)) = self.associated(&Expr::Path(path.clone())) {
            self.call(&of, &method);
        }
    }
}

/// All items, those in modules within the file too, without tests.
fn items(all: &[Item]) -> Vec<&Item> {
    let mut found = Vec::new();
    for item in all.iter().filter(|item| !is_for_tests(attributes(item))) {
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &module.content
        {
            found.extend(items(inner));
        }
        found.push(item);
    }
    found
}

fn impls(all: &[Item]) -> impl Iterator<Item = &ItemImpl> {
    items(all).into_iter().filter_map(|item| match item {
        Item::Impl(block) => Some(block),
        _ => None,
    })
}

fn fns(block: &ItemImpl) -> impl Iterator<Item = &ImplItemFn> {
    block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) if !is_for_tests(&method.attrs) => Some(method),
        _ => None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        _ => &[],
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    };
    attributes.iter().any(is_test)
}

fn fields_of(fields: &syn::Fields) -> BTreeMap<String, String> {
    let named = |(at, field): (usize, &syn::Field)| {
        let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
        Some((name, type_name(&field.ty)?))
    };
    fields.iter().enumerate().filter_map(named).collect()
}

/// The path of a type, seen through references and pointers that own.
fn type_name(kind: &Type) -> Option<String> {
    match kind {
        Type::Reference(inner) => type_name(&inner.elem),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let segments = path.path.segments.iter().map(|segment| segment.ident.to_string());
            let name = segments.collect::<Vec<_>>().join("::");
            match (&*last.ident.to_string(), &last.arguments) {
                ("Box" | "Arc" | "Rc", syn::PathArguments::AngleBracketed(inner)) => {
                    inner.args.iter().find_map(|argument| match argument {
                        syn::GenericArgument::Type(kind) => type_name(kind),
                        _ => None,
                    })
                }
                _ => Some(name),
            }
        }
        _ => None,
    }
}

/// Whether a method does nothing but pass its arguments on to a field's method, perhaps awaiting it, or return a
/// reference to a field.
fn only_delegates(method: &ImplItemFn) -> bool {
    match &method.block.stmts[..] {
        [syn::Stmt::Expr(Expr::Reference(field), _)] => is_field_of_self(&field.expr),
        [syn::Stmt::Expr(Expr::Await(awaited), _)] => passes_on(&awaited.base),
        [syn::Stmt::Expr(expr, _)] => passes_on(expr),
        _ => false,
    }
}

fn passes_on(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            is_field_of_self(&call.receiver) && call.args.iter().all(is_plain)
        }
        _ => false,
    }
}

fn is_field_of_self(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field) => match &*field.base {
            Expr::Path(path) => path.path.is_ident("self"),
            base => is_field_of_self(base),
        },
        _ => false,
    }
}

fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Reference(inner) => is_plain(&inner.expr),
        Expr::Unary(inner) => is_plain(&inner.expr),
        Expr::Field(field) => is_plain(&field.base),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: format!("c/src/{path}"), text: text.to_owned() }
    }

    fn arrows(files: &[Source]) -> Vec<String> {
        let types = Types::new(files);
        let all = types.call_arrows().into_iter();
        let short = |path: &str| path["c/src/".len()..].to_owned();
        all.flat_map(|(from, to)| {
            to.into_iter().map(move |to| format!("{} {}", short(from), short(to)))
        })
        .collect()
    }

    #[test]
    fn methods_of_one_type_in_two_files_that_call_each_other() {
        let files = [
            source("lib.rs", "mod a;\nmod b;\npub struct Big {}"),
            source(
                "a.rs",
                "use super::Big;\nimpl Big {\n    fn f(&self) {\n        self.g()\n    }\n}",
            ),
            source(
                "b.rs",
                "use super::Big;\nimpl Big {\n    fn g(&self) {\n        Self::f(self)\n    }\n}",
            ),
        ];
        assert_eq!(arrows(&files), ["a.rs b.rs", "b.rs a.rs"]);
        let types = Types::new(&files);
        let figures: Vec<_> = types.figures().collect();
        assert_eq!(figures, [("c/src/lib.rs", "Big", Figures { methods: 2, lines: 10 })]);
    }

    #[test]
    fn receivers_are_followed_through_fields_parameters_and_results() {
        let files = [
            source("lib.rs", "mod a;\nmod b;\npub struct Whole { part: b::Part }"),
            source(
                "b.rs",
                "pub struct Part;\nimpl Part {\n    pub fn get(&self) -> &Part { self }\n}",
            ),
            source(
                "a.rs",
                "use super::Whole;\nfn f(whole: &Whole) { let p = &whole.part; p.get(); }",
            ),
        ];
        assert_eq!(arrows(&files), ["a.rs b.rs"]);
        let files = [
            source("lib.rs", "mod a;\nmod b;\npub struct Whole { part: Vec<u8> }"),
            source("b.rs", "pub struct Part;\nimpl Part {\n    pub fn get(&self) {}\n}"),
            source("a.rs", "use super::Whole;\nfn f(whole: &Whole) { whole.part.get(1); }"),
        ];
        assert!(arrows(&files).is_empty(), "a method of another type of this name");
    }

    #[test]
    fn tests_do_not_count_and_methods_that_only_delegate_do_not() {
        let text = "pub struct Face { part: Part }\npub struct Part;\nimpl Face {\n    \
                    fn f(&self, n: u8) -> u8 { self.part.f(n, &self.part) }\n    \
                    fn g(&self) -> u8 { self.part.g() + 1 }\n    \
                    async fn a(&self) -> u8 { self.part.inner.a(1).await }\n    #[cfg(test)]\n    fn h(&self) {}\n}\n\
                    #[cfg(test)]\nimpl Face {\n    fn i(&self) {}\n}";
        let files = [source("lib.rs", text)];
        let types = Types::new(&files);
        let figures: Vec<_> = types.figures().collect();
        assert_eq!(figures, [("c/src/lib.rs", "Face", Figures { methods: 1, lines: 7 })]);
    }
}
