// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as the input of a session, arriving in any pieces: the lines do not depend on the
//! pieces.
#![no_main]

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use libfuzzer_sys::fuzz_target;
use machine::stop::{Stop, unblock_signals};

#[path = "../../crates/agent/src/requests.rs"]
mod requests;

use requests::Requests;

/// Most pieces; each is a system call or two.
const MOST_PIECES: usize = 4;

/// Reads `rest` in pieces, the first of which have these lengths.
struct Pieces<'a> {
    lengths: &'a [u8],
    rest: &'a [u8],
    always_ready: &'a File,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = match self.lengths.split_first() {
            Some((&length, others)) => {
                self.lengths = others;
                usize::from(length).max(1)
            }
            None => self.rest.len(),
        };
        let length = wanted.min(self.rest.len()).min(into.len());
        let (piece, rest) = self.rest.split_at(length);
        into[..length].copy_from_slice(piece);
        self.rest = rest;
        Ok(length)
    }
}

impl AsFd for Pieces<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.always_ready.as_fd()
    }
}

thread_local! {
    static STOP: Stop = {
        let stop = Stop::new().expect("signals can be waited for");
        // Let signals end the fuzzer, as usual.
        unblock_signals().expect("signals can be let in");
        stop
    };
    static NULL: File = File::open("/dev/null").expect("it is there");
}

fuzz_target!(|bytes: &[u8]| {
    let (lengths, rest) = bytes.split_at(bytes.len().min(MOST_PIECES - 1));
    let whole = rest.split_inclusive(|&byte| byte == b'\n').map(str::from_utf8);
    let mut expected = whole.filter(|line| !line.is_ok_and(|line| line.trim().is_empty()));
    NULL.with(|always_ready| {
        let mut requests = Requests::new(Pieces { lengths, rest, always_ready });
        STOP.with(|stop| {
            loop {
                match (requests.next(stop), expected.next()) {
                    (Ok(Some(line)), Some(Ok(whole))) => assert_eq!(line, whole),
                    (Ok(None), None) => break,
                    (Err(error), Some(Err(_))) => {
                        assert_eq!(error.to_string(), "a request is not valid UTF-8");
                        break;
                    }
                    (line, whole) => panic!("{line:?} instead of {whole:?}"),
                }
            }
        });
    });
});
