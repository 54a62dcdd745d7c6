//! Numbers for people, to all digits.

use std::fmt;

/// A number as a person would write it: digits where they are few, a power of ten where there would be hundreds.
/// Reads back to the same number.
#[derive(Clone, Copy, Debug)]
pub struct Readable(pub f64);

impl fmt::Display for Readable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        let size = value.abs();
        if value == 0.0 || !value.is_finite() || (1e-4..1e15).contains(&size) {
            write!(formatter, "{value}")
        } else {
            write!(formatter, "{value:e}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_a_power_of_ten_and_all_read_back() {
        for (value, written) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (-12.25, "-12.25"),
            (1e308, "1e308"),
            (1e-320, "1e-320"),
            (123_456_789.0, "123456789"),
            (f64::INFINITY, "inf"),
        ] {
            let said = Readable(value).to_string();
            assert_eq!(said, written);
            assert_eq!(said.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}
