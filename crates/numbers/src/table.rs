// SPDX-License-Identifier: GPL-2.0-only
//! Numbers in a column of a table whose fields are separated by commas, tabs, semicolons or bars.

use csv::{ReaderBuilder, StringRecord};
use protocol::Extract;

use crate::found::{Found, shorten};
use crate::quantity;

const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Finds the numbers below each header that has the column, down to the first row of another length.
pub fn find(column: &str, extract: &Extract, text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((delimiter, at, length)) = find_header(line, column) else { continue };
        while let Some(row) = lines.peek() {
            let Some(fields) = parse(row, delimiter).filter(|fields| fields.len() == length) else {
                break;
            };
            // A table that begins anew.
            if find_header(row, column).is_some() {
                break;
            }
            let number = quantity::read(&fields[at], extract);
            found.push(Found {
                number,
                text: fields[at].to_owned(),
                line: shorten(row).to_owned(),
            });
            lines.next();
        }
    }
    found
}

/// What separates its fields, where the column is and how many there are; None if the line is no header with it.
fn find_header(line: &str, column: &str) -> Option<(u8, usize, usize)> {
    DELIMITERS.into_iter().find_map(|delimiter| {
        let fields = parse(line, delimiter)?;
        let mut places = fields.iter().enumerate().filter(|(_, name)| name.trim() == column);
        let (at, _) = places.next()?;
        // Two columns of one name are none.
        places.next().is_none().then_some((delimiter, at, fields.len()))
    })
}

fn parse(line: &str, delimiter: u8) -> Option<StringRecord> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line.as_bytes());
    let mut record = StringRecord::new();
    reader.read_record(&mut record).is_ok_and(|is_there| is_there).then_some(record)
}
