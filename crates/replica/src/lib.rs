//! Block and meta files on one volume
