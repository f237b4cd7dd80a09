//! RPC connections and server, TCP and Unix sockets
