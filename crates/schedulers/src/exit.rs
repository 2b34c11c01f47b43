// SPDX-License-Identifier: GPL-2.0-only
//! What a scheduler leaves when the kernel takes it down: its counters, and the reason and dump,
//! which its operation `exit` writes to the variable that sched_ext's own tools use
//! (scx/user_exit_info.bpf.h, `UEI_DEFINE`).

use libbpf_rs::btf::Btf;
use libbpf_rs::{MapCore, MapFlags, Object, OpenObject};
use protocol::Exit;

use super::counters::Counters;
use bpf::globals::{self, Global, Structure};
use bpf::opened::{self, fill, with_btf};

/// The type of the variable.
const TYPE: &str = "user_exit_info";
/// Default length of the kernel's dump (kernel/sched/ext.c, `SCX_EXIT_DUMP_DFL_LEN`).
const DUMP_LENGTH: u32 = 32768;

/// The place of an object's record of its exit.
pub struct ExitRecord {
    variable: Structure,
    /// The section of the dump, if there is one.
    dump: Option<String>,
}

/// The reason, dump and counters of a scheduler that was taken down.
#[derive(Debug, Clone, Default)]
pub struct Left {
    /// The reason; None if the object keeps no record.
    pub exit: Option<Exit>,
    /// The kernel's dump of tasks and CPUs if it found an error; empty otherwise.
    dump: String,
    /// The scheduler's own counters as JSON; empty if it has none.
    counters: String,
}

impl ExitRecord {
    /// Finds the record of `object` and makes room for a dump in it. None if it keeps no record.
    pub fn prepare(object: &mut OpenObject, variables: &[Global]) -> Option<Self> {
        let variable = with_btf(object, |btf: &Btf<'_>| globals::variable_of_type(btf, TYPE))??;
        let named = |suffix: &str| {
            let name = format!("{}{suffix}", variable.name);
            variables.iter().find(|global| global.name == name)
        };
        let dump = named("_dump").zip(named("_dump_len")).and_then(|(dump, length)| {
            opened::resize(object, &dump.section, DUMP_LENGTH).then(|| {
                fill(object, length, &[DUMP_LENGTH.into()]);
                dump.section.clone()
            })
        });
        Some(Self { variable, dump })
    }

    /// Why the scheduler of `object` has exited; None if it has not.
    pub fn exit(&self, object: &Object) -> Option<Exit> {
        let section = content(object, &self.variable.section)?;
        let at = |name| section.get(self.variable.place(name)?..);
        let exit = Exit {
            reason: text(at("reason")?),
            message: at("msg").map(text).unwrap_or_default(),
            code: at("exit_code")
                .and_then(<[u8]>::first_chunk)
                .map_or(0, |&code| i64::from_ne_bytes(code)),
        };
        (!exit.reason.is_empty()).then_some(exit)
    }

    fn dump(&self, object: &Object) -> Option<String> {
        Some(text(&content(object, self.dump.as_deref()?)?))
    }
}

impl Left {
    pub fn of(record: Option<&ExitRecord>, object: &Object, counters: &Counters) -> Self {
        let reading = counters.map.is_some().then(|| counters.read()).and_then(Result::ok);
        Self {
            exit: record.and_then(|record| record.exit(object)),
            dump: record.and_then(|record| record.dump(object)).unwrap_or_default(),
            counters: reading.map(|reading| reading.totals().to_string()).unwrap_or_default(),
        }
    }

    /// Counters and dump, for people; empty if there are none.
    pub fn log(&self) -> String {
        let parts =
            [("its counters", " ", &self.counters), ("the kernel's dump", "\n", &self.dump)];
        let there = parts.iter().filter(|(_, _, text)| !text.is_empty());
        let told = there
            .map(|(what, gap, text)| format!("{what} when it exited:{gap}{}", text.trim_end()));
        told.collect::<Vec<_>>().join("\n")
    }
}

/// The section as the kernel has it now.
fn content(object: &Object, section: &str) -> Option<Vec<u8>> {
    let map = object.maps().find(|map| opened::holds(map.name(), section))?;
    map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten()
}

/// The text up to the first zero byte, without control characters: the name of a task may have
/// sequences that a terminal would obey.
fn text(bytes: &[u8]) -> String {
    let used = bytes.iter().take(DUMP_LENGTH as usize).copied().take_while(|&byte| byte != 0);
    let text = String::from_utf8_lossy(&used.collect::<Vec<_>>()).into_owned();
    text.replace(|letter: char| letter.is_control() && !"\n\t".contains(letter), "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_at_its_zero_or_at_the_length_of_a_dump_and_has_no_control_characters() {
        assert_eq!(text(b"one\ntwo\x1b[2Jthree\xff\0behind"), "one\ntwo?[2Jthree\u{fffd}");
        assert_eq!(text(&[b'a'; 100_000]).len(), DUMP_LENGTH as usize);
        assert_eq!(text(b""), "");
    }

    #[test]
    fn the_log_has_what_there_is() {
        assert_eq!(Left::default().log(), "");
        let left = Left { dump: "CPU 0\n".into(), counters: "{}".into(), exit: None };
        let told = "its counters when it exited: {}\nthe kernel's dump when it exited:\nCPU 0";
        assert_eq!(left.log(), told);
    }
}
