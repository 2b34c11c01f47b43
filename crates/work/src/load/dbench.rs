// SPDX-License-Identifier: GPL-2.0-only
//! dbench_load: the file operations of many clients of a file server, by the program dbench 4.
//! contest ran dbench of 2003 to its end again and again; dbench 4 has no end, so the bytes that it
//! moved are divided by those of one pass through its script.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use machine::lifeline::bind_to_us;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use procfs::process::Process;

use super::done::Done;
use super::end::EndFlag;
use super::ready::say_ready;
use super::sizes::processes;
use crate::figures::as_f64;

/// A duration longer than any sample; by default dbench ends after ten minutes.
const SECONDS: &str = "1000000";
const LOOK: Duration = Duration::from_millis(10);

#[derive(Args)]
pub struct Dbench {
    /// How many clients there are; 0 is 16 for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    clients: u16,
    /// What each client does
    #[arg(long, value_name = "FILE", default_value = "/usr/share/dbench/client.txt")]
    script: PathBuf,
}

impl Dbench {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let clients = processes(self.clients, 16)?;
        let script = fs::read_to_string(&self.script)
            .with_context(|| format!("cannot read {}", self.script.display()))?;
        let pass = (moved_by(&script) + script.len() as u64) * clients as u64;
        ensure!(pass > 0, "{} moves no data", self.script.display());
        drop(script);
        let mut dbench = self.start(clients)?;
        say_ready()?;
        while !flag.is_set() {
            if let Some(status) = dbench.0.try_wait()? {
                anyhow::bail!("dbench ended: {status}");
            }
            sleep(LOOK);
        }
        let (read, written) = moved_below(dbench.0.id());
        drop(dbench);
        let moved = read + written;
        Ok(Done {
            passes: moved / pass,
            units: as_f64(moved) / as_f64(pass),
            bytes_read: read,
            bytes_written: written,
        })
    }

    fn start(&self, clients: usize) -> Result<Dying> {
        let dbench = bind_to_us(&mut Command::new("dbench"))
            .args(["-t", SECONDS, "-D", ".", "-c"])
            .arg(&self.script)
            .arg(clients.to_string())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start dbench")?;
        Ok(Dying(dbench))
    }
}

/// A running dbench. Dropping it ends it with its clients.
struct Dying(Child);

impl Drop for Dying {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGKILL);
        let _ = self.0.wait();
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

/// Bytes that the clients of dbench have read, their scripts included, and written so far.
fn moved_below(parent: u32) -> (u64, u64) {
    let children = Process::new(parent.cast_signed())
        .and_then(|dbench| dbench.task_main_thread()?.children())
        .unwrap_or_default();
    let moved =
        children.into_iter().filter_map(|child| Process::new(child.cast_signed()).ok()?.io().ok());
    moved.fold((0, 0), |(read, written), io| (read + io.rchar, written + io.wchar))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_children_move_are_counted() {
        let copies = "head -c 100000 /dev/zero >/dev/null; sleep 9";
        let mut parent = Command::new("sh")
            .args(["-c", &format!("({copies}) & ({copies}) & wait")])
            .spawn()
            .unwrap();
        let enough = |(read, written)| read >= 200_000 && written >= 200_000;
        let start = std::time::Instant::now();
        while !enough(moved_below(parent.id())) && start.elapsed().as_secs() < 5 {
            sleep(LOOK);
        }
        let seen = moved_below(parent.id());
        parent.kill().and_then(|()| parent.wait()).unwrap();
        assert!(enough(seen), "{seen:?}");
    }

    #[test]
    fn a_script_moves_the_bytes_of_its_reads_and_writes() {
        let script = "NTCreateX \"a\" 1 1 9 SUCCESS\nWriteX 9 0 65536 65536 NT_STATUS_OK\n\
                      ReadX 9 0 4096 100 NT_STATUS_OK\nClose 9 NT_STATUS_OK\n";
        assert_eq!(moved_by(script), 65_636);
    }
}
