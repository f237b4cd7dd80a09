//! Prints docs/rest-openapi.json.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

fn main() {
    print!("{}", zerohop_gateway::openapi());
}
