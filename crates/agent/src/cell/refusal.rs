// SPDX-License-Identifier: GPL-2.0-only
//! Why a sample does not count.

use machine::command::{Ending, Outcome, Surroundings};
use machine::scratch::tail;
use probes::ProbeError;
use protocol::{Metrics, Proof};
use schedulers::AttachError;

/// The metrics of a sample and their proof, or why it does not count.
pub type SampleResult = Result<(Metrics, Proof), Refusal>;

/// A reason, the end of the log that explains it, and what the kernel reported about the scheduler,
/// if it was asked.
pub struct Refusal {
    pub reason: String,
    pub detail: String,
    pub proof: Option<Box<Proof>>,
}

impl Refusal {
    pub fn new(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { reason: reason.into(), detail: detail.into(), proof: None }
    }

    pub fn with_proof(self, proof: Proof) -> Self {
        Self { proof: Some(Box::new(proof)), ..self }
    }

    /// Adds what else went wrong.
    pub fn with_detail(self, more: impl AsRef<str>) -> Self {
        let detail = format!("{}\n{}", self.detail, more.as_ref()).trim().to_owned();
        Self { detail, ..self }
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Self::new(format!("{error:#}"), "")
    }
}

impl From<ProbeError> for Refusal {
    fn from(error: ProbeError) -> Self {
        Self::new(error.to_string(), error.detail())
    }
}

impl From<AttachError> for Refusal {
    fn from(error: AttachError) -> Self {
        Self::new(error.to_string(), error.detail())
    }
}

/// Shortens a command for a message: a script to its beginning.
pub fn shorten(argv: &[String]) -> String {
    const MOST: usize = 80;
    let line = argv.join(" ");
    let start: String = line.lines().next().unwrap_or_default().chars().take(MOST).collect();
    if start == line { line } else { format!("{start}...") }
}

/// Judges how the command that `what` names has ended.
///
/// # Errors
/// The command did not end as it should, or printed more than is kept.
pub fn judge(what: &str, outcome: &Outcome, context: &Surroundings) -> Result<(), Refusal> {
    if context.scratch.is_full() {
        return Err(Refusal::new(format!("{what} printed more than there is room for"), ""));
    }
    if outcome.ending == Ending::Exit(0) {
        return Ok(());
    }
    let (stderr, stdout) = (tail(&context.stderr()), tail(&context.stdout()));
    let output = if stderr.trim().is_empty() { stdout } else { stderr };
    let limit = context.timeout.as_secs_f64();
    let reason = match &outcome.ending {
        Ending::Exit(status) => match last_lines(&output, 1).trim() {
            "" => format!("{what} failed with exit status {status}"),
            words => format!("{what} failed with exit status {status}: {words}"),
        },
        Ending::Signal(signal) => format!("{what} was ended by signal {signal}"),
        Ending::TimedOut => format!("{what} did not end within {limit} s and was killed"),
        Ending::Stopped => format!("{what} was stopped on request"),
        Ending::LeftBehind(threads) => {
            format!("{what} ended but left {threads} threads running, which were killed")
        }
        Ending::Escaped(outside) => format!("{what} {outside}"),
        Ending::Unkillable(state) => {
            format!("{what} had to be ended and cannot be killed: it is in {state}")
        }
    };
    Err(Refusal::new(reason, last_lines(&output, 20)))
}

pub fn last_lines(text: &str, limit: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(limit)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_shortened_to_its_beginning() {
        let words = |line: &str| line.split('|').map(String::from).collect::<Vec<_>>();
        assert_eq!(shorten(&words("make|-j2")), "make -j2");
        assert_eq!(shorten(&words("sh|-c|one\ntwo\n")), "sh -c one...");
        assert_eq!(shorten(&words(&"x".repeat(100))), format!("{}...", "x".repeat(80)));
    }

    #[test]
    fn only_the_end_of_a_long_log_is_kept() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("", 2), "");
    }
}
