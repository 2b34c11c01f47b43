// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as a request: it is refused, or stays the same when it is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::Request;

fuzz_target!(|bytes: &[u8]| {
    let request: Request = match serde_json::from_slice(bytes) {
        Ok(request) => request,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let written = serde_json::to_string(&request).expect("what was read can be written");
    assert!(!written.contains('\n'), "a request is one line");
    let again: Request = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(again, request);
});
