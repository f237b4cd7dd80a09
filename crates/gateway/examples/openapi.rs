//! Prints docs/rest-openapi.json.

fn main() {
    print!("{}", zerohop_gateway::openapi());
}
