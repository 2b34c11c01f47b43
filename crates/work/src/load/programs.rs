// SPDX-License-Identifier: GPL-2.0-only
//! Programs that a load runs one after the other.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use machine::lifeline::bind_to_us;

use super::end::EndFlag;

/// Time between two checks whether a program has ended: long enough to cost nothing.
const LOOK: Duration = Duration::from_millis(10);

/// What happens to a program that still runs when the load is told to end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unfinished {
    /// It is killed, and its CPU time counts.
    Reaped,
    /// It is killed and not reaped, so that its CPU time is lost: contest's tables show no CPU time
    /// for a tar that did not complete one archive.
    Left,
}

/// Runs a program to its end; false when the load was told to end before that.
pub fn complete(mut command: Command, unfinished: Unfinished, flag: &EndFlag) -> Result<bool> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = bind_to_us(&mut command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    loop {
        if let Some(status) = child.try_wait()? {
            if status.success() {
                return Ok(true);
            }
            // The signal that ends the load may also end its programs.
            if flag.is_set() {
                return Ok(false);
            }
            match status.signal() {
                Some(signal) => bail!("{name} was ended by signal {signal}"),
                None => bail!("{name} failed: {status}"),
            }
        }
        if flag.is_set() {
            end(&mut child, unfinished)?;
            return Ok(false);
        }
        sleep(LOOK);
    }
}

fn end(child: &mut Child, unfinished: Unfinished) -> Result<()> {
    child.kill().context("cannot end a program")?;
    if unfinished == Unfinished::Reaped {
        child.wait()?;
    }
    Ok(())
}
