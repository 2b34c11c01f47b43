// SPDX-License-Identifier: GPL-2.0-only
//! dbench_load: the file operations of many clients of a file server, by the program dbench 4.
//! contest ran it to its end again and again; this form of it has no end, so what it moved is
//! divided by what one pass through its script moves (specs/benchmarks/contest.md section 2.3).

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::{Done, Stop, processes, say_ready};
use crate::key_value::number;

/// Longer than any sample; without it dbench ends after ten minutes.
const SECONDS: &str = "1000000";
const LOOK: Duration = Duration::from_millis(10);

#[derive(Args)]
pub struct Dbench {
    /// How many clients there are; 0 is 16 for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    clients: u16,
    /// What each of them does
    #[arg(long, value_name = "FILE", default_value = "/usr/share/dbench/client.txt")]
    script: PathBuf,
}

impl Dbench {
    pub fn run(&self, stop: &Stop) -> Result<Done> {
        let clients = processes(self.clients, 16)?;
        let script = fs::read_to_string(&self.script)
            .with_context(|| format!("cannot read {}", self.script.display()))?;
        let pass = (moved_by(&script) + script.len() as u64) * clients as u64;
        ensure!(pass > 0, "{} moves no data", self.script.display());
        drop(script);
        let mut dbench = self.start(clients)?;
        say_ready()?;
        while !stop.requested() {
            if let Some(status) = dbench.try_wait()? {
                anyhow::bail!("dbench ended: {status}");
            }
            sleep(LOOK);
        }
        let (read, written) = moved_below(dbench.id());
        killpg(Pid::from_raw(dbench.id().cast_signed()), Signal::SIGKILL)?;
        dbench.wait()?;
        let moved = read + written;
        Ok(Done {
            passes: moved / pass,
            units: moved as f64 / pass as f64,
            bytes_read: read,
            bytes_written: written,
        })
    }

    fn start(&self, clients: usize) -> Result<Child> {
        Command::new("dbench")
            .args(["-t", SECONDS, "-D", ".", "-c"])
            .arg(&self.script)
            .arg(clients.to_string())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start dbench")
    }
}

/// The bytes that a script reads and writes: the fifth word of `ReadX HANDLE OFFSET SIZE DONE STATUS`.
fn moved_by(script: &str) -> u64 {
    script
        .lines()
        .filter(|line| line.starts_with("ReadX ") || line.starts_with("WriteX "))
        .filter_map(|line| line.split_whitespace().nth(4)?.parse::<u64>().ok())
        .sum()
}

/// What the clients have read, their scripts included, and written so far.
fn moved_below(parent: u32) -> (u64, u64) {
    let children =
        fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let (mut read, mut written) = (0, 0);
    for child in children.split_whitespace() {
        let text = fs::read_to_string(format!("/proc/{child}/io")).unwrap_or_default();
        read += number(&text, "rchar:").unwrap_or(0);
        written += number(&text, "wchar:").unwrap_or(0);
    }
    (read, written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_moves_what_its_reads_and_writes_say() {
        let script = "NTCreateX \"a\" 1 1 9 SUCCESS\nWriteX 9 0 65536 65536 NT_STATUS_OK\n\
                      ReadX 9 0 4096 100 NT_STATUS_OK\nClose 9 NT_STATUS_OK\n";
        assert_eq!(moved_by(script), 65_636);
    }
}
