//! Pieces of C++ text: parentheses, negation, members and components.
//!
//! Input: C++ expressions. Output: others. It knows nothing of WGSL.

/// An expression without the parentheses around the whole of it.
pub(super) fn bare(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0_i32;
    for byte in inner.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return text,
            b')' => depth -= 1,
            _ => {}
        }
    }
    inner
}

/// A condition's opposite.
pub(super) fn negate(text: &str) -> String {
    let simple = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match text.strip_prefix('!') {
        Some(rest) if simple(rest) || bare(rest) != rest => rest.to_owned(),
        _ if simple(text) || bare(text) != text => format!("!{text}"),
        _ => format!("!({text})"),
    }
}

/// The names of vector components.
pub(super) const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// A member of what an expression names.
pub(super) fn member(text: &str, name: &str) -> String {
    match text.strip_prefix("(*").and_then(|rest| rest.strip_suffix(')')) {
        Some(pointer) => format!("{pointer}->{name}"),
        None => format!("{text}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_go_only_where_they_hold_everything() {
        assert_eq!(bare("(a + b)"), "a + b");
        assert_eq!(bare("(a) + (b)"), "(a) + (b)");
        assert_eq!(bare("f(a)"), "f(a)");
        assert_eq!(negate("(a < b)"), "!(a < b)");
        assert_eq!(negate("!(a < b)"), "(a < b)");
        assert_eq!(negate("f(a)"), "!(f(a))");
    }
}
