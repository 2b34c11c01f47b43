// SPDX-License-Identifier: GPL-2.0-only
//! Why a proof fails; docs/trust.md has the sentences.

use protocol::{Proof, State};

/// Why the proof fails, in one sentence; None if it holds.
pub fn objection(proof: &Proof) -> Option<String> {
    attachment(proof).or_else(|| threads(proof))
}

/// Why the proof fails without its threads: if work could not be started, none were seen.
pub fn attachment(proof: &Proof) -> Option<String> {
    unreadable(proof)
        .or_else(|| at_the_start(proof))
        .or_else(|| during_the_run(proof))
        .or_else(|| refused_tasks(proof))
        .or_else(|| sub_schedulers(proof))
}

fn unreadable(proof: &Proof) -> Option<String> {
    let what = &proof.unreadable;
    (!what.is_empty()).then(|| format!("which scheduler was in charge cannot be told: {what}"))
}

/// Compares the attachment with the state before the work.
fn at_the_start(proof: &Proof) -> Option<String> {
    let (attached, before) = (&proof.attached, &proof.before);
    if !attached.ops.is_empty() && before.state != "enabled" {
        let why = why(proof);
        return Some(format!("scheduler {} was ejected before the work began{why}", attached.ops));
    }
    let foreign = attached.ops.is_empty() && !["", "disabled"].contains(&before.state.as_str());
    if foreign || attached.ops != before.ops || attached.enable_seq != before.enable_seq {
        return Some(format!(
            "the scheduler in charge changed before the work began: {} (attachment {}) was attached, {} (attachment {}) was in charge",
            name(&attached.ops),
            attached.enable_seq,
            name(&before.ops),
            before.enable_seq
        ));
    }
    None
}

fn during_the_run(proof: &Proof) -> Option<String> {
    let (before, after) = (&proof.before, &proof.after);
    if before.state == "enabled" && after.state != "enabled" {
        return Some(format!("scheduler {} was ejected during the run{}", before.ops, why(proof)));
    }
    let same = |of: fn(&State) -> (&str, &str, u64)| of(before) == of(after);
    if same(|state| (&state.state, &state.ops, state.enable_seq)) {
        return None;
    }
    Some(format!(
        "the scheduler in charge changed during the run: {} (attachment {}) before, {} (attachment {}) after",
        name(&before.ops),
        before.enable_seq,
        name(&after.ops),
        after.enable_seq
    ))
}

/// Whether the kernel refused tasks. Its count starts from 0 when a scheduler is attached.
fn refused_tasks(proof: &Proof) -> Option<String> {
    let (before, after) = (proof.before.nr_rejected, proof.after.nr_rejected);
    match after.checked_sub(before) {
        Some(0) => None,
        Some(tasks) => {
            Some(format!("scheduler {} rejected {tasks} tasks during the run", proof.before.ops))
        }
        None => Some(format!(
            "the scheduler in charge changed during the run: the kernel's count of rejected tasks went back from {before} to {after}"
        )),
    }
}

fn sub_schedulers(proof: &Proof) -> Option<String> {
    let names = proof.sub_schedulers.join(" and ");
    let what = if proof.sub_schedulers.len() == 1 { "a sub-scheduler" } else { "sub-schedulers" };
    (!names.is_empty()).then(|| {
        let root = &proof.before.ops;
        format!("the workload's control group was scheduled by {names}, {what} below {root}")
    })
}

fn threads(proof: &Proof) -> Option<String> {
    let Proof { threads_checked, threads_outside, threads_realtime, threads_unjudged, .. } = *proof;
    let ops = &proof.attached.ops;
    if threads_outside > 0 {
        return Some(format!(
            "{threads_outside} of {threads_checked} threads looked at were not scheduled by {ops}"
        ));
    }
    if ops.is_empty() || threads_checked > 0 {
        return None;
    }
    // With this every thread that is not in a real-time class is the scheduler's.
    let all_switched = proof.before.switch_all == 1 && proof.after.switch_all == 1;
    match (threads_unjudged, threads_realtime) {
        (0, 0) => Some(format!("no thread of the workload was seen to be scheduled by {ops}")),
        (1.., _) if !all_switched => Some(format!(
            "this kernel does not show whether threads are scheduled by {ops}, which takes only those that ask for it: use a kernel with CONFIG_SCHED_DEBUG or Linux 6.15"
        )),
        _ => None,
    }
}

/// The kernel's reason for the ejection, e.g. ": runnable task stall (sh[42] failed to run for
/// 2.0s)". The scheduler's own record comes first: the log may not be readable, or not written yet.
fn why(proof: &Proof) -> String {
    if let Some(exit) = &proof.exit {
        return format!(": {exit}");
    }
    let lines = || proof.kernel_log.iter().map(String::as_str);
    let cause = lines().find_map(|line| line.split_once(" disabled (")?.1.strip_suffix(')'));
    let prefix = format!("sched_ext: {}: ", proof.attached.ops);
    let message = lines().find_map(|line| line.strip_prefix(&prefix));
    match (cause, message) {
        (Some(cause), Some(message)) => format!(": {cause} ({message})"),
        (Some(words), None) | (None, Some(words)) => format!(": {words}"),
        (None, None) => String::new(),
    }
}

fn name(ops: &str) -> &str {
    if ops.is_empty() { "the kernel's default" } else { ops }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Attached, CpuLimits, Exit};

    fn state(ops: &str, enable_seq: u64) -> State {
        let attached = !ops.is_empty();
        let state = if attached { "enabled" } else { "disabled" };
        State {
            state: state.into(),
            ops: ops.into(),
            enable_seq,
            nr_rejected: 0,
            switch_all: attached.into(),
        }
    }

    /// The proof of a sample of the arm `ops` with attachment 3, one thread of which was in the class.
    fn proof(ops: &str, before: State, after: State) -> Proof {
        Proof {
            attached: Attached { ops: ops.into(), enable_seq: 3 },
            before,
            after,
            threads_checked: 1,
            threads_outside: 0,
            threads_realtime: 0,
            threads_unjudged: 0,
            sub_schedulers: vec![],
            cpu_limits: CpuLimits::default(),
            settings: Vec::new(),
            unreadable: String::new(),
            kernel_log: vec![],
            exit: None,
            object: String::new(),
        }
    }

    fn sound() -> Proof {
        proof("bfs", state("bfs", 3), state("bfs", 3))
    }

    #[test]
    fn the_arms_own_attachment_throughout_is_proof() {
        assert_eq!(objection(&sound()), None);
        assert_eq!(objection(&proof("", state("", 3), state("", 3))), None);
    }

    #[test]
    fn the_same_throughout_does_not_prove_another_arm() {
        assert!(objection(&proof("bfs", state("", 3), state("", 3))).is_some());
        assert!(objection(&proof("bfs", state("cfs", 3), state("cfs", 3))).is_some());
        assert!(objection(&proof("bfs", state("bfs", 4), state("bfs", 4))).is_some());
        assert!(objection(&proof("", state("bfs", 3), state("bfs", 3))).is_some());
        assert!(objection(&proof("", state("", 4), state("", 4))).is_some());
    }

    #[test]
    fn a_scheduler_that_is_still_leaving_does_not_prove_default() {
        let leaving = || State { state: "disabling".into(), ..state("", 3) };
        assert!(objection(&proof("", leaving(), state("", 3))).is_some());
        assert!(objection(&proof("", state("", 3), leaving())).is_some());
    }

    #[test]
    fn an_ejection_names_scheduler_cause_and_message() {
        let mut proof = proof("stall", state("stall", 3), state("", 3));
        proof.kernel_log = vec![
            "sched_ext: BPF scheduler \"stall\" disabled (runnable task stall)".into(),
            "sched_ext: stall: sh[42] failed to run for 2.0s".into(),
        ];
        let expected = "scheduler stall was ejected during the run: runnable task stall (sh[42] failed to run for 2.0s)";
        assert_eq!(objection(&proof).as_deref(), Some(expected));
        proof.before = state("", 3);
        let expected = expected.replace("during the run", "before the work began");
        assert_eq!(objection(&proof), Some(expected));
    }

    #[test]
    fn the_schedulers_record_is_reported_without_a_log() {
        let mut proof = proof("stall", state("stall", 3), state("", 3));
        let exit = |message: &str| Exit { reason: "r".into(), message: message.into(), code: 0 };
        proof.exit = Some(exit("m"));
        assert!(objection(&proof).unwrap().ends_with("ejected during the run: r (m)"));
        proof.exit = Some(exit(""));
        assert!(objection(&proof).unwrap().ends_with("ejected during the run: r"));
    }

    #[test]
    fn rejected_tasks_are_counted_and_a_count_that_goes_back_proves_nothing() {
        let rejected = |before, after| {
            let mut proof = sound();
            (proof.before.nr_rejected, proof.after.nr_rejected) = (before, after);
            objection(&proof)
        };
        assert_eq!(rejected(2, 2), None);
        assert_eq!(rejected(2, 5).unwrap(), "scheduler bfs rejected 3 tasks during the run");
        assert!(rejected(5, 2).unwrap().contains("went back from 5 to 2"));
    }

    #[test]
    fn threads_outside_the_class_are_not_proof() {
        let proof = Proof { threads_outside: 1, ..sound() };
        assert!(objection(&proof).is_some_and(|text| text.contains("not scheduled by bfs")));
    }

    #[test]
    fn without_a_checked_thread_there_is_proof_only_if_all_were_real_time() {
        let unseen = Proof { threads_checked: 0, ..sound() };
        assert_eq!(
            objection(&unseen).unwrap(),
            "no thread of the workload was seen to be scheduled by bfs"
        );
        assert_eq!(objection(&Proof { threads_realtime: 2, ..unseen.clone() }), None);
        let default = Proof { threads_checked: 0, ..proof("", state("", 3), state("", 3)) };
        assert_eq!(objection(&default), None);
    }

    #[test]
    fn hidden_classes_are_proof_only_where_every_thread_is_switched() {
        let hidden = Proof { threads_checked: 0, threads_unjudged: 2, ..sound() };
        assert_eq!(objection(&hidden), None);
        let mut partial = hidden;
        partial.after.switch_all = 0;
        assert!(objection(&partial).unwrap().contains("CONFIG_SCHED_DEBUG"));
        partial.threads_realtime = 1;
        assert!(objection(&partial).is_some());
    }
}
