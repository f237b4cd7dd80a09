//! Distance in the network.

/// The rack of a DataNode that no script or table maps.
pub const DEFAULT_RACK: &str = "/default-rack";

/// Hops between two leaves of the tree of racks: 0 the same node, 2 the same rack, 4 and more beyond.
pub(super) fn distance(rack: &str, other: &str) -> u32 {
    if rack == other {
        return 2;
    }
    let split = |path: &str| {
        path.split('/').filter(|part| !part.is_empty()).map(String::from).collect::<Vec<_>>()
    };
    let (left, right) = (split(rack), split(other));
    let common = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    2 + (left.len() + right.len() - 2 * common) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_hops_to_the_common_switch() {
        assert_eq!(distance("/a", "/a"), 2);
        assert_eq!(distance("/a", "/b"), 4);
        assert_eq!(distance("/d1/a", "/d1/b"), 4);
        assert_eq!(distance("/d1/a", "/d2/a"), 6);
    }
}
