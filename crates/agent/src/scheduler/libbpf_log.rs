// SPDX-License-Identifier: GPL-2.0-only
//! Catches what libbpf prints, the verifier's log above all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

/// The verifier's verdict is at the end of a log that may have megabytes.
const KEPT: usize = 16 * 1024;

static TEXT: Mutex<String> = Mutex::new(String::new());
/// libbpf has one printer for the process, so one catch at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `action` and returns with its result the end of what libbpf printed meanwhile.
pub fn caught<T>(action: impl FnOnce() -> T) -> (T, String) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    text().clear();
    let previous = set_print(Some((PrintLevel::Info, append)));
    let result = action();
    set_print(previous);
    (result, std::mem::take(&mut text()))
}

fn text() -> MutexGuard<'static, String> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn append(_: PrintLevel, line: String) {
    let mut kept = text();
    kept.push_str(&line);
    if kept.len() > 2 * KEPT {
        *kept = end(&kept).to_owned();
    }
}

/// The last whole lines of `log`, at most 16 KiB.
pub fn end(log: &str) -> &str {
    let Some(excess) = log.len().checked_sub(KEPT) else { return log };
    match log.as_bytes()[excess..].iter().position(|&byte| byte == b'\n') {
        Some(line) => &log[excess + line + 1..],
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, end};

    #[test]
    fn keeps_the_end() {
        let log: String = (0..5000).map(|line| format!("line {line}\n")).collect();
        let kept = end(&log);
        assert!(kept.len() <= KEPT && kept.starts_with("line ") && kept.ends_with("line 4999\n"));
        assert_eq!(end("short"), "short");
    }
}
