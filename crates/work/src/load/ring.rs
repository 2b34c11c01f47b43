// SPDX-License-Identifier: GPL-2.0-only
//! process_load: processes joined by pipes in a ring, around which a few tokens go.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};

use anyhow::{Context, Result, bail};
use clap::Args;

use super::done::Done;
use super::end::EndFlag;
use super::ready::say_ready;
use super::sizes::processes;
use crate::figures::as_f64;
use crate::process::Child;
use crate::start;
use crate::usage::Usage;

#[derive(Args)]
pub struct Ring {
    /// How many processes there are; 0 is four for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    processes: u16,
    /// How many tokens go around
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    tokens: u16,
    /// How large a token is
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=65536))]
    bytes: u32,
}

impl Ring {
    const TURNS_A_UNIT: f64 = 1000.0;

    /// Runs the ring. This process is one of it: it counts, and ends all when it is told to.
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let processes = processes(self.processes, 4)?;
        if usize::from(self.tokens) >= processes {
            bail!(Usage(format!("there must be fewer tokens than the {processes} processes")));
        }
        let mut token = vec![0; self.bytes as usize];
        let (mut reader, first) = pipe().context("cannot make a pipe")?;
        let mut next = first.try_clone()?;
        let join_the_ring = |_| {
            let (from, to) = pipe().context("cannot make a pipe")?;
            let previous = std::mem::replace(&mut next, to.try_clone()?);
            member(from, previous, self.bytes)
        };
        let children = start::all("process", processes - 1, join_the_ring, Child::kill)?;
        // The first child writes to the ring's last pipe.
        let mut writer = next;
        drop(first);
        say_ready()?;
        let done = self.circulate(&mut reader, &mut writer, &mut token, flag);
        children.iter().for_each(Child::kill);
        for child in children {
            child.wait()?;
        }
        done
    }

    fn circulate(
        &self,
        reader: &mut PipeReader,
        writer: &mut PipeWriter,
        token: &mut [u8],
        flag: &EndFlag,
    ) -> Result<Done> {
        let mut done = Done::default();
        let mut came = 0u64;
        for _ in 0..self.tokens {
            writer.write_all(token)?;
        }
        while !flag.is_set() {
            // The tokens never stop, so neither call waits for long.
            reader.read_exact(token).context("the ring is broken")?;
            writer.write_all(token).context("the ring is broken")?;
            came += 1;
        }
        done.passes = came / u64::from(self.tokens);
        done.units = as_f64(done.passes) / Self::TURNS_A_UNIT;
        done.bytes_read = came * u64::from(self.bytes);
        done.bytes_written = done.bytes_read;
        Ok(done)
    }
}

/// Starts a child that passes on what it reads.
fn member(mut from: PipeReader, mut to: PipeWriter, bytes: u32) -> Result<Child> {
    let hand_on = move || {
        let mut token = vec![0; bytes as usize];
        (0..u64::MAX).all(|_| from.read_exact(&mut token).is_ok() && to.write_all(&token).is_ok())
    };
    Ok(Child::spawn(hand_on)?)
}
