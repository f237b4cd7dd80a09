//! `${name}`, `${env.NAME}`, `${env.NAME-default}` and `${env.NAME:-default}` in values.

use zerohop_system::users;

/// Most substitutions in one value, as Configuration.MAX_SUBST.
pub(crate) const DEPTH_MAX: usize = 20;

/// Replaces the variables of `text`; `raw` finds the value of another key before substitution.
/// An unknown variable and a loop end the work and leave the text as Hadoop leaves it.
/// `None` when `DEPTH_MAX` is exceeded.
pub(crate) fn substitute(text: String, raw: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut value = text;
    let original = value.clone();
    for _ in 0..DEPTH_MAX {
        let Some((start, end)) = find_variable(&value) else { return Some(value) };
        let name = value.get(start..end)?;
        let Some(replacement) = lookup(name).or_else(|| raw(name)) else { return Some(value) };
        let reference = value.get(start - 2..end + 1)?;
        if replacement.contains(reference) {
            return Some(original);
        }
        value.replace_range(start - 2..end + 1, &replacement);
    }
    None
}

/// Bounds of the name in the first `${name}`; a name holds no blank, `$` or `}`.
fn find_variable(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find("${") {
        let start = from + found + 2;
        let stop = bytes.get(start..)?.iter().position(|b| matches!(b, b'}' | b' ' | b'$'))?;
        let end = start + stop;
        if stop > 0 && bytes.get(end) == Some(&b'}') {
            return Some((start, end));
        }
        // A `$` may open the next variable, so it is looked at again.
        from = end;
        if bytes.get(end) != Some(&b'$') {
            from += 1;
        }
    }
    None
}

fn lookup(name: &str) -> Option<String> {
    match name.strip_prefix("env.") {
        Some(rest) if !rest.is_empty() => environment(rest),
        _ => system_property(name),
    }
}

fn environment(expression: &str) -> Option<String> {
    if let Some(at) = expression.find('-') {
        let name = expression.get(..at)?;
        let default = expression.get(at + 1..)?;
        return Some(match name.strip_suffix(':') {
            Some(name) => read_env(name).filter(|value| !value.is_empty()),
            None => read_env(name),
        })
        .map(|value| value.unwrap_or_else(|| default.to_owned()));
    }
    read_env(expression)
}

fn read_env(name: &str) -> Option<String> {
    // A name with '=' or NUL is not one; std would panic on neither, but find nothing.
    std::env::var_os(name)?.into_string().ok()
}

/// The Java system properties that configurations use.
fn system_property(name: &str) -> Option<String> {
    match name {
        "user.name" => Some(listed_or(users::user_name(users::real_id()), "USER")),
        "user.home" => {
            let home = users::home(users::real_id());
            Some(listed_or(home.and_then(|home| home.into_os_string().into_string().ok()), "HOME"))
        }
        "java.io.tmpdir" => Some("/tmp".to_owned()),
        "user.dir" => std::env::current_dir().ok()?.into_os_string().into_string().ok(),
        _ => None,
    }
}

/// What the machine knows of the user of this process; the environment where it does not know the user.
fn listed_or(listed: Option<String>, variable: &str) -> String {
    listed.or_else(|| std::env::var(variable).ok()).unwrap_or_else(|| "?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Option<String> {
        substitute(text.to_owned(), |name| match name {
            "a" => Some("1".to_owned()),
            "b" => Some("${a}2".to_owned()),
            "self" => Some("x${self}".to_owned()),
            "ping" => Some("${pong}".to_owned()),
            "pong" => Some("${ping}".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn variables_nest_and_unknown_ones_stay() {
        assert_eq!(with("/${b}/${a}").unwrap(), "/12/1");
        assert_eq!(with("${none}/${a}").unwrap(), "${none}/${a}");
        assert_eq!(with("$${a} ${} ${a b} ${").unwrap(), "$1 ${} ${a b} ${");
        assert_eq!(with("${self}").unwrap(), "${self}");
    }

    #[test]
    fn a_loop_of_two_reaches_the_limit() {
        assert_eq!(with("${ping}"), None);
    }

    #[test]
    fn environment_defaults() {
        assert_eq!(with("${env.ZEROHOP_NO_SUCH-x}").unwrap(), "x");
        assert_eq!(with("${env.ZEROHOP_NO_SUCH:-a-b}").unwrap(), "a-b");
        assert_eq!(with("${env.ZEROHOP_NO_SUCH}").unwrap(), "${env.ZEROHOP_NO_SUCH}");
        assert_eq!(with("${env.PATH}").unwrap(), std::env::var("PATH").unwrap());
    }
}
