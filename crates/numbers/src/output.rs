// SPDX-License-Identifier: GPL-2.0-only
//! What a program printed, as a reader of a terminal has it: without escape sequences, a line after each return.

use protocol::Stream;

/// Both streams of a program.
#[derive(Debug, Clone, Default)]
pub struct Output {
    pub stdout: Text,
    pub stderr: Text,
}

/// What is left to be read of one stream.
#[derive(Debug, Clone, Default)]
pub struct Text {
    pub content: String,
    /// Whether there was more before it.
    pub is_cut: bool,
}

impl Output {
    /// How much of each stream is searched: its end.
    pub const LIMIT_BYTES: u64 = 4 << 20;

    pub fn of(&self, stream: Stream) -> &Text {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }
}

impl Text {
    /// Cleans the end of a stream. Where it `is_cut` it begins within a line, which may begin within a number.
    pub fn new(raw: &[u8], is_cut: bool) -> Self {
        let text = String::from_utf8_lossy(raw);
        let whole = match text.split_once('\n') {
            Some((_, rest)) if is_cut => rest,
            _ => &text,
        };
        // Before escape sequences go, and such characters with them: what is printed over is another line.
        let lines = whole.replace("\r\n", "\n").replace(['\r', '\u{8}', '\u{b}', '\u{c}'], "\n");
        Self { content: anstream::adapter::strip_str(&lines).to_string(), is_cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_a_terminal_shows() {
        let clean = |raw: &str| Text::new(raw.as_bytes(), false).content;
        assert_eq!(clean("\u{1b}[1m12\u{1b}[0m,345 ms\r\n"), "12,345 ms\n");
        assert_eq!(clean("\u{1b}]0;title 7\u{7}5\n"), "5\n");
        assert_eq!(clean(" 10%\r 20%\r\n"), " 10%\n 20%\n");
        assert_eq!(clean("10\u{8}\u{8}20"), "10\n\n20");
    }

    #[test]
    fn a_number_that_was_cut_in_two_is_not_read() {
        let text = Text::new(b"345 ops\nnext 7\n", true);
        assert_eq!(text.content, "next 7\n");
    }
}
