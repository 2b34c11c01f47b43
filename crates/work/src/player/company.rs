// SPDX-License-Identifier: GPL-2.0-only
//! The others that an actor has begun: threads, processes and programs.

use std::env::current_exe;
use std::io::PipeWriter;
use std::process::{Child, Command, Stdio};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result, anyhow};

use super::notes::{AllNotes, merge};
use crate::process::Answer;

#[derive(Default)]
pub struct Company {
    begun: Vec<(String, Begun)>,
    programs: Vec<Child>,
    /// What those noted that have ended.
    notes: AllNotes,
}

enum Begun {
    Thread(JoinHandle<Result<AllNotes>>),
    Process(Answer),
}

impl Company {
    pub fn begin_thread(
        &mut self,
        name: &str,
        follow: impl FnOnce() -> Result<AllNotes> + Send + 'static,
    ) -> Result<()> {
        let thread = Builder::new().spawn(follow).context("cannot start a thread")?;
        self.begun.push((name.to_owned(), Begun::Thread(thread)));
        Ok(())
    }

    pub fn begin_process(
        &mut self,
        name: &str,
        follow: impl FnOnce(&PipeWriter) -> Result<AllNotes>,
    ) -> Result<()> {
        let process = Answer::by(follow).context("cannot start a process")?;
        self.begun.push((name.to_owned(), Begun::Process(process)));
        Ok(())
    }

    /// Starts a program. The standard library uses posix_spawn(3), which is vfork(2): this thread
    /// waits uninterruptibly until it runs.
    pub fn start_a_program(&mut self) -> Result<()> {
        let own = current_exe().context("this program has no path")?;
        let mut command = Command::new(own);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        self.programs.push(command.spawn().context("cannot start a program")?);
        Ok(())
    }

    /// Waits for the end of all of this name.
    pub fn await_those(&mut self, name: &str) -> Result<()> {
        let (wanted, others) = self.begun.drain(..).partition(|(begun, _)| begun == name);
        self.begun = others;
        self.take_in(wanted)
    }

    /// Waits for the end of all, and returns their notes.
    pub fn finish(mut self) -> Result<AllNotes> {
        let all = std::mem::take(&mut self.begun);
        self.take_in(all)?;
        for mut program in self.programs {
            program.wait().context("cannot await a program")?;
        }
        Ok(self.notes)
    }

    fn take_in(&mut self, ending: Vec<(String, Begun)>) -> Result<()> {
        for (_, begun) in ending {
            let notes = match begun {
                Begun::Thread(thread) => {
                    thread.join().map_err(|_| anyhow!("a thread ended early"))??
                }
                Begun::Process(answer) => answer.wait()?,
            };
            merge(&mut self.notes, notes);
        }
        Ok(())
    }
}
