// SPDX-License-Identifier: GPL-2.0-only
//! process_load: processes joined by pipes in a ring, around which a few tokens go.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::{Done, Stop, processes, say_ready};
use crate::work::process::{die_with, spawn};

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

    /// This process is one of the ring: it counts, and ends all when it is told to.
    pub fn run(&self, stop: &Stop) -> Result<Done> {
        let processes = processes(self.processes, 4)?;
        ensure!(
            usize::from(self.tokens) < processes,
            "there must be fewer tokens than the {processes} processes"
        );
        let mut token = vec![0; self.bytes as usize];
        let (mut reader, first) = pipe().context("cannot make a pipe")?;
        let mut next = first.try_clone()?;
        let mut children = Vec::new();
        for _ in 1..processes {
            let (from, to) = pipe().context("cannot make a pipe")?;
            let previous = std::mem::replace(&mut next, to.try_clone()?);
            children.push(member(from, previous, self.bytes)?);
            drop(to);
        }
        // What comes out of the ring's last pipe was written by the first child.
        let mut writer = next;
        drop(first);
        say_ready()?;
        let done = self.circulate(&mut reader, &mut writer, &mut token, stop);
        for &child in &children {
            let _ = kill(child, Signal::SIGKILL);
        }
        for child in children {
            waitpid(child, None)?;
        }
        done
    }

    fn circulate(
        &self,
        reader: &mut PipeReader,
        writer: &mut PipeWriter,
        token: &mut [u8],
        stop: &Stop,
    ) -> Result<Done> {
        let mut done = Done::default();
        let mut came = 0u64;
        for _ in 0..self.tokens {
            writer.write_all(token)?;
        }
        while !stop.requested() {
            // The tokens never stop, so neither call waits for long.
            reader.read_exact(token).context("the ring is broken")?;
            writer.write_all(token).context("the ring is broken")?;
            came += 1;
        }
        done.passes = came / u64::from(self.tokens);
        done.units = done.passes as f64 / Self::TURNS_A_UNIT;
        done.bytes_read = came * u64::from(self.bytes);
        done.bytes_written = done.bytes_read;
        Ok(done)
    }
}

/// A child that hands on what comes.
fn member(mut from: PipeReader, mut to: PipeWriter, bytes: u32) -> Result<Pid> {
    let parent = nix::unistd::getpid();
    spawn(move || {
        let mut token = vec![0; bytes as usize];
        die_with(parent)
            && (0..u64::MAX)
                .all(|_| from.read_exact(&mut token).is_ok() && to.write_all(&token).is_ok())
    })
}
