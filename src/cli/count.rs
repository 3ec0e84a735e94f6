//! Whole numbers as people type them: `65536`, `65_536`, `1e6`, `2^20`, `1M`, `64Ki`.
//!
//! Input: a word of the command line. Output: the number. Suffixes k, M and G are powers of 1000; Ki, Mi and
//! Gi powers of 1024, as everywhere else.

/// Suffixes with what they stand for, those that end like another first.
const SUFFIXES: [(&str, u64); 7] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
];

/// The number that a word means; `None` if it means none, or one that is not whole.
pub(crate) fn whole(word: &str) -> Option<u64> {
    let word = word.trim().replace('_', "");
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some((base, exponent)) = word.split_once('^') {
        return base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?);
    }
    if let Some((number, scale)) =
        SUFFIXES.iter().find_map(|(suffix, scale)| Some((word.strip_suffix(suffix)?, *scale)))
    {
        return scale_number(number, scale);
    }
    match word.split_once(['e', 'E']) {
        Some((number, exponent)) => scale_number(
            number,
            10_u64.checked_pow(exponent.trim_start_matches('+').parse().ok()?)?,
        ),
        None => word.parse().ok(),
    }
}

/// A decimal number times a scale, where that is whole.
fn scale_number(number: &str, scale: u64) -> Option<u64> {
    let (before, behind) = number.split_once('.').unwrap_or((number, ""));
    let mut total = before.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut part = scale;
    for digit in behind.chars() {
        let digit = u64::from(digit.to_digit(10)?);
        // A part of one that the scale does not make whole is no count.
        if !part.is_multiple_of(10) && digit != 0 {
            return None;
        }
        part /= 10;
        total = total.checked_add(digit.checked_mul(part)?)?;
    }
    Some(total)
}

/// Reads a count that an option takes.
///
/// # Errors
///
/// A sentence with examples.
pub(crate) fn parse(word: &str) -> Result<u64, String> {
    let problem = match word.trim().parse::<f64>() {
        Ok(number) if number < 0.0 => "it is negative",
        Ok(number) if number.fract() == 0.0 && number > LARGEST => "it is more than 2^64 - 1",
        _ => "it is no whole number",
    };
    let examples = "65536, 1e6, 2^20, 1M (a million) and 64Ki (65536) can be given";
    whole(word).ok_or_else(|| format!("{problem}; {examples}"))
}

/// Reads how many elements the launches of a run have: at least one.
///
/// # Errors
///
/// A sentence that says what can be given.
pub(crate) fn parse_elements(word: &str) -> Result<u64, String> {
    match parse(word)? {
        0 => Err("it is 0, and must be at least 1, such as 65536, 1e6, 2^20 or 1M".to_owned()),
        count => Ok(count),
    }
}

/// Up to here every number can be given.
const LARGEST: f64 = 18_446_744_073_709_551_615.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_people_type_them() {
        let cases = [
            ("65536", Some(65_536)),
            ("65_536", Some(65_536)),
            ("1e6", Some(1_000_000)),
            ("1.5e3", Some(1_500)),
            ("1E+3", Some(1_000)),
            ("2^20", Some(1 << 20)),
            ("1M", Some(1_000_000)),
            ("2.5k", Some(2_500)),
            ("64Ki", Some(65_536)),
            ("1.25e1", None),
            ("1.5", None),
            ("-5", None),
            ("2^64", None),
            ("99999999999G", None),
            ("sealed", None),
            ("e3", None),
            ("", None),
        ];
        for (word, number) in cases {
            assert_eq!(whole(word), number, "{word}");
        }
        for (word, problem) in [
            ("-5", "it is negative"),
            ("1e30", "it is more than 2^64 - 1"),
            ("0.5", "it is no whole number"),
            ("sealed", "it is no whole number"),
        ] {
            assert!(parse(word).is_err_and(|told| told.starts_with(problem)), "{word}");
        }
        assert_eq!(parse("0"), Ok(0));
        assert_eq!(parse_elements("1"), Ok(1));
        assert!(parse_elements("0").is_err_and(|told| told.contains("at least 1")));
        assert!(parse_elements("-5").is_err_and(|told| told.starts_with("it is negative")));
    }
}
