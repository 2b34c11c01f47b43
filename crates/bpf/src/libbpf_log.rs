// SPDX-License-Identifier: GPL-2.0-only
//! Catches what libbpf prints, the verifier's log above all.

use std::ffi::{c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::libbpf_sys::{
    __va_list_tag, LIBBPF_INFO, libbpf_print_fn_t, libbpf_print_level, libbpf_set_print,
};

/// Bytes that are kept of a log's end, where the verifier's verdict is. A log may have megabytes.
const KEPT: usize = 16 * 1024;

static TEXT: Mutex<String> = Mutex::new(String::new());
/// libbpf has one printer per process, so its output can be caught for only one call at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `action` and returns with its result the end of what libbpf printed meanwhile.
pub fn caught<T>(action: impl FnOnce() -> T) -> (T, String) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    text().clear();
    let previous = print_by(Some(append));
    let result = action();
    print_by(previous);
    (result, std::mem::take(&mut text()))
}

fn text() -> MutexGuard<'static, String> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn print_by(printer: libbpf_print_fn_t) -> libbpf_print_fn_t {
    // SAFETY: `printer` is libbpf's former one, or `append`, which has the signature that libbpf
    // calls.
    unsafe { libbpf_set_print(printer) }
}

/// Appends what libbpf prints. libbpf-rs's own printer panics if a name in an object is not UTF-8.
unsafe extern "C" fn append(
    level: libbpf_print_level,
    format: *const c_char,
    arguments: *mut __va_list_tag,
) -> c_int {
    if level <= LIBBPF_INFO {
        // SAFETY: libbpf passes a format and its arguments.
        let line = unsafe { vsprintf::vsprintf_raw(format, arguments) }.unwrap_or_default();
        let mut kept = text();
        kept.push_str(&String::from_utf8_lossy(&line));
        if kept.len() > 2 * KEPT {
            *kept = end(&kept).to_owned();
        }
    }
    0
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
    use libbpf_rs::ObjectBuilder;

    use super::{KEPT, caught, end};
    use crate::objects::LOOKUP;

    #[test]
    fn keeps_the_end() {
        let log: String = (0..5000).map(|line| format!("line {line}\n")).collect();
        let kept = end(&log);
        assert!(kept.len() <= KEPT && kept.starts_with("line ") && kept.ends_with("line 4999\n"));
        assert_eq!(end("short"), "short");
    }

    #[test]
    fn names_that_are_not_utf8_are_shown_in_part() {
        let mut object = LOOKUP.to_vec();
        let name = b".rodata\0";
        let places = 0..object.len() - name.len();
        for at in places.filter(|&at| LOOKUP[at..].starts_with(name)) {
            object[at] = 0xff;
        }
        let (_opened, log) = caught(|| ObjectBuilder::default().open_memory(&object).is_ok());
        assert!(log.contains("\u{fffd}rodata"), "{log}");
    }
}
