//! Edit-log operations and fsimage sections: codec, layout versions, segment files
