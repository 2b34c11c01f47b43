// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's messages about sched_ext, from /dev/kmsg.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;

/// The kernel's limit for one record, CONSOLE_EXT_LOG_MAX.
const RECORD_MAX: usize = 8192;

/// The kernel log from the moment of opening on. Empty if it may not be read.
pub struct KernelLog {
    records: Option<File>,
    lines: Vec<String>,
}

impl KernelLog {
    pub fn open() -> Self {
        let records = OpenOptions::new()
            .read(true)
            .custom_flags(OFlag::O_NONBLOCK.bits())
            .open("/dev/kmsg")
            .and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file))
            .ok();
        Self { records, lines: Vec::new() }
    }

    /// All messages since the opening that mention sched_ext.
    pub fn sched_ext(&mut self) -> &[String] {
        let mut record = [0; RECORD_MAX];
        while let Some(file) = &mut self.records {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(length) => self.lines.extend(message(&record[..length])),
                // Records that were overwritten before they were read are lost; go on after them.
                Err(error) if error.raw_os_error() == Some(Errno::EPIPE as i32) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        &self.lines
    }
}

/// The text of a record "priority,sequence,time,flags;text\n KEY=value..." about sched_ext.
fn message(record: &[u8]) -> Option<String> {
    let record = String::from_utf8_lossy(record);
    let text = record.split_once(';')?.1.lines().next()?;
    text.contains("sched_ext").then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn keeps_only_messages_about_sched_ext() {
        let record = b"3,812,140900,-;sched_ext: BPF scheduler \"bfs\" disabled\n SUBSYSTEM=x\n";
        assert_eq!(message(record).unwrap(), "sched_ext: BPF scheduler \"bfs\" disabled");
        assert_eq!(message(b"6,813,140901,-;usb 1-1: new device\n"), None);
        assert_eq!(message(b"no record"), None);
    }
}
