// SPDX-License-Identifier: GPL-2.0-only
//! Numbers in a column of a table whose fields are separated by commas, tabs, semicolons or bars.

use csv::{ReaderBuilder, StringRecord};
use protocol::Extract;

use crate::found::{Found, shorten};
use crate::quantity;

const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// A column, by its name in the header.
pub struct Column(String);

impl Column {
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Finds the numbers below each header that has the column, down to the first row of another length, in all rows or
    /// in those that have the text of the one that is asked for.
    pub fn find(&self, extract: &Extract, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(header) = self.find_header(line) else { continue };
            if header.has_twins {
                found.push(refuse_twins(line));
                continue;
            }
            while let Some(row) = lines.peek() {
                let fields = parse(row, header.delimiter);
                let Some(fields) = fields.filter(|fields| fields.len() == header.length) else {
                    break;
                };
                // A table that begins anew.
                if self.find_header(row).is_some() {
                    break;
                }
                if extract.row.as_ref().is_none_or(|row| header.has_beside(&fields, row)) {
                    let text = &fields[header.at];
                    let number = quantity::read(text, extract);
                    let line = shorten(row).to_owned();
                    found.push(Found { number, text: text.to_owned(), line });
                }
                lines.next();
            }
        }
        found
    }

    /// None if the line has no field of this name.
    fn find_header(&self, line: &str) -> Option<Header> {
        DELIMITERS.into_iter().find_map(|delimiter| {
            let fields = parse(line, delimiter)?;
            let mut places = fields.iter().enumerate().filter(|(_, name)| name.trim() == self.0);
            let (at, _) = places.next()?;
            Some(Header { delimiter, at, length: fields.len(), has_twins: places.next().is_some() })
        })
    }
}

/// The first line of a table.
struct Header {
    delimiter: u8,
    /// Where the column is.
    at: usize,
    /// How many columns there are.
    length: usize,
    /// Another column has its name.
    has_twins: bool,
}

impl Header {
    /// Whether a row has this text in another column.
    fn has_beside(&self, fields: &StringRecord, text: &str) -> bool {
        fields.iter().enumerate().any(|(at, field)| at != self.at && field.trim() == text)
    }
}

fn refuse_twins(line: &str) -> Found {
    let line = shorten(line).to_owned();
    Found { number: Err("the name of two columns".into()), text: line.clone(), line }
}

fn parse(line: &str, delimiter: u8) -> Option<StringRecord> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line.as_bytes());
    let mut record = StringRecord::new();
    reader.read_record(&mut record).is_ok_and(|is_there| is_there).then_some(record)
}
