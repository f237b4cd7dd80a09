//! CRC32C and CRC32 of chunks: compute, verify, copy-and-verify, compose
