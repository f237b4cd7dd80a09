//! `hdfs.h` is that of the sources, and the library has every function of Apache's.

use std::ffi::CString;

#[test]
fn the_header_is_that_of_the_sources() {
    let root = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_root_or_default(root);
    let made = cbindgen::generate_with_config(root, config).unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let header = std::fs::read_to_string(format!("{root}/include/hdfs.h")).unwrap();
    assert!(
        header == String::from_utf8(text).unwrap(),
        "run: cargo run -q -p zerohop-libhdfs --example header >bindings/c/include/hdfs.h"
    );
}

/// The functions of Apache's hdfs.h 3.4.3, one a line.
const APACHE_FUNCTIONS: &str = include_str!("apache_functions.txt");

#[test]
fn the_library_exports_every_function_of_apaches() {
    let names: Vec<&str> = APACHE_FUNCTIONS.lines().collect();
    assert_eq!(names.len(), 86);
    // Cargo builds it beside this program, or above where the library was asked for by itself.
    let here = std::env::current_exe().unwrap();
    let places = here.ancestors().skip(1).take(2).map(|above| above.join("libhdfs.so"));
    let library = places.into_iter().find(|place| place.exists()).expect("libhdfs.so is built");
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: a C string; what the library runs when it is loaded is Rust's own.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{library:?}");
    let is_missing = |name: &&&str| {
        let name = CString::new(**name).unwrap();
        // SAFETY: the library is open, and the name is a C string.
        unsafe { libc::dlsym(handle, name.as_ptr()) }.is_null()
    };
    let missing: Vec<&&str> = names.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let header = include_str!("../include/hdfs.h");
    let undeclared: Vec<&&str> =
        names.iter().filter(|name| !header.contains(&format!("{name}("))).collect();
    assert!(undeclared.is_empty(), "{undeclared:?}");
}
