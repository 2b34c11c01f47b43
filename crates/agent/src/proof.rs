// SPDX-License-Identifier: GPL-2.0-only
//! Proof of attachment: the same scheduler was in charge from before the first instruction of the
//! work until after its last, and the work's threads were in its class (design: trust).

use std::fs;

use crate::cgroup::Cgroup;
use crate::protocol::{Proof, State};
use crate::scheduler::{Attachment, KernelLog, sysfs};

/// Threads looked at in one pass; more would be felt by the work.
const LOOK_LIMIT: usize = 16;

/// Observes one sample.
pub struct Witness {
    before: State,
    log: KernelLog,
    object: String,
    attached: bool,
    checked: u32,
    outside: u32,
}

impl Witness {
    pub fn before(attachment: &Attachment) -> Self {
        Self {
            before: sysfs::read(),
            log: KernelLog::open(),
            object: attachment.object_sha256().to_owned(),
            attached: !attachment.ops_name().is_empty(),
            checked: 0,
            outside: 0,
        }
    }

    /// Looks at threads of the work while it runs. Threads of real-time policies are above
    /// sched_ext by design and are not counted.
    pub fn look_at(&mut self, cgroup: &Cgroup) {
        if !self.attached {
            return;
        }
        for thread in cgroup.threads().into_iter().take(LOOK_LIMIT) {
            // A thread that has just ended leaves nothing to check.
            let Ok(text) = fs::read_to_string(format!("/proc/{thread}/sched")) else {
                continue;
            };
            let Some(in_class) = parse_in_class(&text) else {
                continue;
            };
            self.checked += 1;
            self.outside += u32::from(!in_class);
        }
    }

    pub fn after(mut self) -> Proof {
        Proof {
            before: self.before,
            after: sysfs::read(),
            threads_checked: self.checked,
            threads_outside: self.outside,
            kernel_log: self.log.sched_ext().to_vec(),
            object: self.object,
        }
    }
}

/// `None` for real-time threads and for kernels that do not tell.
fn parse_in_class(sched: &str) -> Option<bool> {
    let value = |key: &str| {
        let line = sched
            .lines()
            .find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
        line.rsplit(':').next()?.trim().parse::<i64>().ok()
    };
    let priority = value("prio")?;
    if priority < 100 {
        return None;
    }
    Some(value("ext.enabled")? == 1)
}

impl Proof {
    /// Why the proof fails, in one sentence.
    pub fn objection(&self) -> Option<String> {
        let (before, after) = (&self.before, &self.after);
        if before.state == "enabled" && after.state != "enabled" {
            return Some(format!(
                "scheduler {} was ejected during the run{}",
                before.ops,
                self.why()
            ));
        }
        if before.ops != after.ops || before.enable_seq != after.enable_seq {
            return Some(format!(
                "the scheduler in charge changed during the run: {} (attachment {}) before, {} (attachment {}) after",
                name(before),
                before.enable_seq,
                name(after),
                after.enable_seq
            ));
        }
        if before.nr_rejected != after.nr_rejected {
            let rejected = after.nr_rejected - before.nr_rejected;
            return Some(format!(
                "scheduler {} rejected {rejected} tasks during the run",
                before.ops
            ));
        }
        if self.threads_outside > 0 {
            return Some(format!(
                "{} of {} threads looked at were not scheduled by {}",
                self.threads_outside, self.threads_checked, before.ops
            ));
        }
        None
    }

    /// What the kernel said of the ejection, e.g. ": runnable task stall (sh[42] failed to run for 2.0s)".
    fn why(&self) -> String {
        let lines = || self.kernel_log.iter().map(String::as_str);
        let cause = lines().find_map(|line| line.split_once(" disabled (")?.1.strip_suffix(')'));
        let prefix = format!("sched_ext: {}: ", self.before.ops);
        let message = lines().find_map(|line| line.strip_prefix(&prefix));
        match (cause, message) {
            (Some(cause), Some(message)) => format!(": {cause} ({message})"),
            (Some(words), None) | (None, Some(words)) => format!(": {words}"),
            (None, None) => String::new(),
        }
    }
}

fn name(state: &State) -> &str {
    if state.ops.is_empty() { "the kernel's default" } else { &state.ops }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(ops: &str, enable_seq: u64) -> State {
        let state = if ops.is_empty() { "disabled" } else { "enabled" };
        State { state: state.into(), ops: ops.into(), enable_seq, ..State::default() }
    }

    fn proof(before: State, after: State) -> Proof {
        Proof {
            before,
            after,
            threads_checked: 1,
            threads_outside: 0,
            kernel_log: vec![],
            object: String::new(),
        }
    }

    #[test]
    fn the_same_attachment_throughout_is_proof() {
        assert_eq!(proof(state("bfs", 3), state("bfs", 3)).objection(), None);
        assert_eq!(proof(state("", 3), state("", 3)).objection(), None);
    }

    #[test]
    fn an_ejection_names_scheduler_cause_and_message() {
        let mut proof = proof(state("stall", 3), state("", 3));
        proof.kernel_log = vec![
            "sched_ext: BPF scheduler \"stall\" disabled (runnable task stall)".into(),
            "sched_ext: stall: sh[42] failed to run for 2.0s".into(),
        ];
        let expected = "scheduler stall was ejected during the run: runnable task stall (sh[42] failed to run for 2.0s)";
        assert_eq!(proof.objection().as_deref(), Some(expected));
    }

    #[test]
    fn a_second_attachment_of_the_same_scheduler_is_no_proof() {
        let objection = proof(state("bfs", 3), state("bfs", 4)).objection();
        assert!(objection.is_some_and(|text| text.contains("changed during the run")));
    }

    #[test]
    fn a_scheduler_that_slips_in_under_default_is_no_proof() {
        let objection = proof(state("", 3), state("bfs", 4)).objection();
        assert!(objection.is_some_and(|text| text.contains("the kernel's default")));
    }

    #[test]
    fn threads_outside_the_class_are_no_proof() {
        let mut proof = proof(state("bfs", 3), state("bfs", 3));
        proof.threads_outside = 1;
        assert!(proof.objection().is_some_and(|text| text.contains("not scheduled by bfs")));
    }

    #[test]
    fn the_class_is_read_from_proc_sched() {
        let text = "sh (12, #threads: 1)\npolicy          :   0\nprio     :    120\next.enabled    :    1\n";
        assert_eq!(parse_in_class(text), Some(true));
        assert_eq!(parse_in_class(&text.replace(":    1\n", ":    0\n")), Some(false));
        assert_eq!(parse_in_class(&text.replace("120", "49")), None);
    }
}
