// SPDX-License-Identifier: GPL-2.0-only
//! Texts with numbers in them, as far as the kernel lets programs print (kernel/bpf/helpers.c, `bpf_bprintf_prepare`).

use std::iter::Peekable;
use std::slice::Iter;

/// Why nothing is printed: the format asks for what programs may not have, or for more than there are arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoFormat;

/// Puts arguments into a format. `text` reads the text at an address, without the 0 at its end; None if it cannot be
/// read.
///
/// # Errors
/// The format is none that the kernel takes, or there are too few arguments.
pub fn format(
    format: &[u8],
    arguments: &[u64],
    text: &dyn Fn(u64) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, NoFormat> {
    let mut made = Vec::new();
    let (mut rest, mut arguments) = (format.iter().peekable(), arguments.iter().copied());
    while let Some(&byte) = rest.next() {
        match byte {
            b'%' if rest.next_if(|&&next| next == b'%').is_some() => made.push(b'%'),
            b'%' => {
                let field = Field::read(&mut rest)?;
                let argument = arguments.next().ok_or(NoFormat)?;
                field.write(argument, text, &mut made);
            }
            b' '..=b'~' | b'\t'..=b'\r' => made.push(byte),
            _ => return Err(NoFormat),
        }
    }
    Ok(made)
}

/// How an argument is printed.
struct Field {
    flags: Vec<u8>,
    width: usize,
    kind: Kind,
}

enum Kind {
    Text,
    Character,
    Pointer,
    /// With as many bytes.
    Signed(u8),
    Unsigned(u8),
    Hexadecimal(u8),
    Capitals(u8),
}

impl Field {
    fn read(rest: &mut Peekable<Iter<u8>>) -> Result<Self, NoFormat> {
        let mut flags = Vec::new();
        while let Some(&flag) = rest.next_if(|flag| b"0+- ".contains(flag)) {
            flags.push(flag);
        }
        let mut width = 0_usize;
        while let Some(digit) = rest.next_if(|digit| digit.is_ascii_digit()) {
            width = (width * 10 + usize::from(digit - b'0')).min(WIDEST);
        }
        let mut longs = 0;
        while longs < 2 && rest.next_if(|&&each| each == b'l').is_some() {
            longs += 1;
        }
        let bytes = if longs > 0 { 8 } else { 4 };
        let kind = match rest.next().ok_or(NoFormat)? {
            b'd' | b'i' => Kind::Signed(bytes),
            b'u' => Kind::Unsigned(bytes),
            b'x' => Kind::Hexadecimal(bytes),
            b'X' => Kind::Capitals(bytes),
            b's' if longs == 0 => Kind::Text,
            b'c' if longs == 0 => Kind::Character,
            b'p' if longs == 0 => Self::pointer(rest)?,
            _ => return Err(NoFormat),
        };
        Ok(Self { flags, width, kind })
    }

    /// The address itself, or a text there.
    fn pointer(rest: &mut Peekable<Iter<u8>>) -> Result<Kind, NoFormat> {
        match rest.peek().copied().copied() {
            Some(b'k' | b'u') => {
                rest.next();
                rest.next_if(|&&each| each == b's').map(|_| Kind::Text).ok_or(NoFormat)
            }
            Some(b'K' | b'x' | b's' | b'S' | b'B') => {
                rest.next();
                Ok(Kind::Pointer)
            }
            Some(next) if next.is_ascii_alphanumeric() && next != b'0' => Err(NoFormat),
            _ => Ok(Kind::Pointer),
        }
    }

    fn write(&self, argument: u64, text: &dyn Fn(u64) -> Option<Vec<u8>>, to: &mut Vec<u8>) {
        let has = |flag: u8| self.flags.contains(&flag);
        let cut = |bytes: u8| argument & u64::MAX >> (64 - 8 * u32::from(bytes));
        let (sign, content) = match self.kind {
            Kind::Text => ("", text(argument).unwrap_or_default()),
            Kind::Character => ("", vec![argument.to_le_bytes()[0]]),
            Kind::Pointer => ("", format!("{argument:016x}").into_bytes()),
            Kind::Unsigned(bytes) => ("", cut(bytes).to_string().into_bytes()),
            Kind::Hexadecimal(bytes) => ("", format!("{:x}", cut(bytes)).into_bytes()),
            Kind::Capitals(bytes) => ("", format!("{:X}", cut(bytes)).into_bytes()),
            Kind::Signed(bytes) => {
                let value = crate::semantics::extend(cut(bytes), bytes).cast_signed();
                let sign = match value < 0 {
                    true => "-",
                    false if has(b'+') => "+",
                    false if has(b' ') => " ",
                    false => "",
                };
                (sign, value.unsigned_abs().to_string().into_bytes())
            }
        };
        let missing = self.width.saturating_sub(sign.len() + content.len());
        let is_number = !matches!(self.kind, Kind::Text | Kind::Character);
        let zeros = if has(b'0') && !has(b'-') && is_number { missing } else { 0 };
        let [before, after] = if has(b'-') { [0, missing] } else { [missing - zeros, 0] };
        to.extend([b' '].repeat(before));
        to.extend(sign.bytes());
        to.extend([b'0'].repeat(zeros));
        to.extend(content);
        to.extend([b' '].repeat(after));
    }
}

/// No field is wider.
const WIDEST: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn made(words: &str, arguments: &[u64]) -> Result<String, NoFormat> {
        let text = |address: u64| (address == 1).then(|| b"name".to_vec());
        format(words.as_bytes(), arguments, &text).map(|made| String::from_utf8(made).unwrap())
    }

    #[test]
    fn numbers_and_texts_are_put_where_they_belong() {
        let minus = (-7_i64).cast_unsigned();
        for (words, arguments, expected) in [
            ("100%% of %s", &[1][..], "100% of name"),
            ("%d %ld %lld", &[minus, minus, minus], "-7 -7 -7"),
            ("%u %lu", &[minus, minus], "4294967289 18446744073709551609"),
            ("%x %X %lx", &[0xabc, 0xabc, 1 << 40], "abc ABC 10000000000"),
            (
                "[%5d] [%-5d] [%05d] [%+d] [% d]",
                &[42, 42, minus, 7, 7],
                "[   42] [42   ] [-0007] [+7] [ 7]",
            ),
            ("[%8s] [%-8s] [%3c]", &[1, 1, 65], "[    name] [name    ] [  A]"),
            ("%p %pks", &[16, 1], "0000000000000010 name"),
            ("%s|", &[2], "|"),
            ("%i\n", &[3], "3\n"),
        ] {
            assert_eq!(made(words, arguments).as_deref(), Ok(expected), "{words}");
        }
    }

    #[test]
    fn what_the_kernel_does_not_take_is_refused() {
        for words in [
            "%",
            "%5",
            "%f",
            "%ls",
            "%hd",
            "%.3d",
            "%pI4",
            "%pkd",
            "%lc",
            "caf\u{e9}",
            "\u{1}",
            "%d",
        ] {
            assert_eq!(made(words, &[]), Err(NoFormat), "{words}");
        }
        assert_eq!(made("%d %d", &[1]), Err(NoFormat));
    }
}
