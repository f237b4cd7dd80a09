//! Files joined to the end of another.

use crate::world::{World, kind};
use zerohop_namespace::NamespaceParams;
use zerohop_wire::JavaException;

#[test]
fn concat_moves_blocks_and_removes_the_sources() {
    let mut world = World::new();
    let root = world.root();
    for (path, len) in [("/d/t", 10), ("/d/a", 20), ("/d/b", 30)] {
        world.write(path, &[len]);
    }
    world.namespace.files(&root).concat("/d/t", &["/d/a".into(), "/d/b".into()]).unwrap();
    assert_eq!(world.stat("/d/t").unwrap().len, 60);
    assert_eq!(world.names("/d"), ["t"]);
    world.check_replay();
    world.check_image();
}

#[test]
fn concat_refuses_what_does_not_fit() {
    let mut world = World::new();
    let root = world.root();
    world.write("/d/t", &[1]);
    world.write("/d/a", &[1]);
    world.write("/e", &[1]);
    world.write("/d/empty", &[]);
    let mut concat = |sources: &[&str]| {
        let sources: Vec<String> = sources.iter().map(|path| (*path).to_owned()).collect();
        kind(world.namespace.files(&root).concat("/d/t", &sources))
    };
    assert_eq!(concat(&["/e"]), JavaException::HadoopIllegalArgument);
    assert_eq!(concat(&["/d/t"]), JavaException::HadoopIllegalArgument);
    assert_eq!(concat(&["/d/empty"]), JavaException::HadoopIllegalArgument);
    assert_eq!(concat(&["/d/a", "/d/a"]), JavaException::HadoopIllegalArgument);
    assert_eq!(concat(&["/d/x"]), JavaException::FileNotFound);
    assert_eq!(concat(&[]), JavaException::IllegalArgument);
}

/// The edit of a concat names all its files: one that could not be read again must not be made.
#[test]
fn concat_refuses_more_names_than_an_edit_may_hold() {
    let params = NamespaceParams { op_size_max: 1024, ..NamespaceParams::default() };
    let mut world = World::with(params);
    let root = world.root();
    let names: Vec<String> = (0..12).map(|n| format!("/d/{}{n}", "n".repeat(90))).collect();
    for name in &names {
        world.write(name, &[1]);
    }
    world.write("/d/t", &[1]);
    let e = world.namespace.files(&root).concat("/d/t", &names).unwrap_err();
    assert!(e.to_string().contains("dfs.namenode.max.op.size=1024"), "{e}");
    for half in names.chunks(6) {
        world.namespace.files(&root).concat("/d/t", half).unwrap();
    }
    assert_eq!(world.names("/d"), ["t"]);
    world.check_replay();
}
