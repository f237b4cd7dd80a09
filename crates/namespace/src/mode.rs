//! Modes as text.

/// `rwxr-x--t`, as `FsPermission.toString` shows a mode.
pub fn symbolic(mode: u16) -> String {
    let mut text: String = (0..9)
        .map(|bit| if mode >> (8 - bit) & 1 == 1 { ['r', 'w', 'x'][bit % 3] } else { '-' })
        .collect();
    if mode & 0o1000 != 0 {
        text.pop();
        text.push(if mode & 1 == 1 { 't' } else { 'T' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_shown_with_the_sticky_bit() {
        assert_eq!(symbolic(0o755), "rwxr-xr-x");
        assert_eq!(symbolic(0o1777), "rwxrwxrwt");
        assert_eq!(symbolic(0o1640), "rw-r----T");
    }
}
