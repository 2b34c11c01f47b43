// SPDX-License-Identifier: GPL-2.0-only
//! What actors share.

use std::fmt::{self, Display};

use crate::length::parse_count;
use crate::line::Statement;
use crate::mistake::Mistake;

const PAGE: usize = 4096;
/// What every user may ask of a pipe (`/proc/sys/fs/pipe-max-size`) and of a socket
/// (`/proc/sys/net/core/wmem_max`) where nobody has changed it.
const LARGEST_PIPE: usize = 1 << 20;
const LARGEST_SOCKET: usize = 212_992;
const DEFAULT_PIPE: usize = 1 << 16;
const DEFAULT_SOCKET: usize = LARGEST_SOCKET;
const MEBIBYTE: usize = 1 << 20;
const LARGEST_FILE_MIB: usize = 1 << 16;
/// Most of one scene: each may take two open files in each actor.
pub const MOST: usize = 64;

/// A pipe, a lock, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub name: String,
    pub kind: Kind,
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `pipe NAME [BYTES]`: with a buffer of that size.
    Pipe { bytes: usize },
    /// `socket NAME [BYTES]`: a pair of UNIX stream sockets, used in one direction.
    Socket { bytes: usize },
    /// `lock NAME`: of one actor at a time.
    Lock,
    /// `event NAME`: each signal lets one actor that waits go on, or the next one that will wait.
    Event,
    /// `barrier NAME COUNT`: nobody goes on before that many have met there.
    Barrier { count: usize },
    /// `file NAME MIB`: in the working directory, read and written past the page cache.
    File { bytes: usize },
}

impl Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Pipe { .. } => "pipe",
            Self::Socket { .. } => "socket",
            Self::Lock => "lock",
            Self::Event => "event",
            Self::Barrier { .. } => "barrier",
            Self::File { .. } => "file",
        })
    }
}

impl Resource {
    pub fn parse(statement: &Statement) -> Result<Self, Mistake> {
        let words: Vec<_> = statement.text.split_whitespace().collect();
        let bytes = |text: &str, most| parse_count(text, PAGE..=most).map_err(statement.mistake());
        let (name, kind) = match words[..] {
            ["pipe", name] => (name, Kind::Pipe { bytes: DEFAULT_PIPE }),
            ["pipe", name, text] => (name, Kind::Pipe { bytes: bytes(text, LARGEST_PIPE)? }),
            ["socket", name] => (name, Kind::Socket { bytes: DEFAULT_SOCKET }),
            ["socket", name, text] => (name, Kind::Socket { bytes: bytes(text, LARGEST_SOCKET)? }),
            ["lock", name] => (name, Kind::Lock),
            ["event", name] => (name, Kind::Event),
            ["barrier", name, count] => {
                let count = parse_count(count, 2..=10_000).map_err(statement.mistake())?;
                (name, Kind::Barrier { count })
            }
            ["file", name, mib] => {
                let mib = parse_count(mib, 1..=LARGEST_FILE_MIB).map_err(statement.mistake())?;
                (name, Kind::File { bytes: mib * MEBIBYTE })
            }
            _ => {
                let text = &statement.text;
                return Mistake::at(
                    statement.line,
                    format!(
                        "{text:?} is not part of a scene: there can be NAME: STEP, STEP, ..., lasts TIME, \
                         pipe NAME [BYTES], socket NAME [BYTES], lock NAME, event NAME, barrier NAME COUNT \
                         and file NAME MIB"
                    ),
                );
            }
        };
        require_name(name).map_err(statement.mistake())?;
        Ok(Self { name: name.to_owned(), kind, line: statement.line })
    }
}

/// The longest name: it is part of the names of metrics.
const LONGEST_NAME: usize = 24;

pub fn require_name(name: &str) -> Result<(), String> {
    let is_word = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    if is_word && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(format!("{name:?} is not a name: at most {LONGEST_NAME} of the letters a to z and digits"))
}

pub fn require_different(all: &[Resource]) -> Result<(), Mistake> {
    if let Some(one) = all.get(MOST) {
        return Mistake::at(
            one.line,
            format!("there are more than {MOST} pipes, locks and others"),
        );
    }
    for (index, one) in all.iter().enumerate() {
        if let Some(first) = all[..index].iter().find(|other| other.name == one.name) {
            return Mistake::at(
                one.line,
                format!("line {} has a {} already", first.line, one.name),
            );
        }
    }
    Ok(())
}
