// SPDX-License-Identifier: GPL-2.0-only
//! The server of a workload: the program that answers the measured one, in a control group inside
//! the workload's, so that the limits of the work hold for both together.

use anyhow::{Result, bail, ensure};
use machine::cgroup::Purpose;
use machine::command::{self, Ending, Surroundings};
use machine::containment::Containment;
use machine::root::Root;
use machine::scratch::Speaker;
use protocol::Server;
use settings::WorkSettings;

use super::{Background, Usage, last_words};

/// A server that runs.
pub struct RunningServer<'a> {
    background: Background<'a>,
    settings: &'a WorkSettings,
}

impl<'a> RunningServer<'a> {
    /// Starts the server inside `work`, and waits until it answers.
    ///
    /// # Errors
    /// It ends, does not answer in time, or does not run with its settings.
    pub fn start(
        server: &Server,
        settings: &'a WorkSettings,
        work: &Containment,
        context: Surroundings<'a>,
    ) -> Result<Self> {
        let containment = work.create_nested(Purpose::Server)?;
        let context = Surroundings { speaker: Speaker::Server, ..context };
        let what = "the server of the workload".to_owned();
        let background = Background::start(what, &server.command, containment, context)?;
        let mut started = Self { background, settings };
        started.await_ready(server)?;
        started.require_settings()?;
        Ok(started)
    }

    fn await_ready(&mut self, server: &Server) -> Result<()> {
        let context = Surroundings { speaker: Speaker::Command, ..self.background.context };
        self.background.await_ready(|| {
            let containment = Containment::create(&Root::machine(), Purpose::Prepare)?;
            let outcome = command::run(&server.ready, &context, &containment, |_| ())?;
            containment.end()?;
            let is_ready = outcome.ending == Ending::Exit(0);
            Ok((!is_ready).then(|| last_words(&context)))
        })
    }

    /// Notes that the client starts now.
    ///
    /// # Errors
    /// The server's control group is gone.
    pub fn note_start(&mut self) -> Result<()> {
        self.background.note_start()
    }

    pub fn leader(&self) -> u32 {
        self.background.process.id()
    }

    fn require_settings(&self) -> Result<()> {
        match self.settings.objection_to(self.leader()) {
            Some(reason) => bail!("{}: {reason}", self.background.what),
            None => Ok(()),
        }
    }

    /// # Errors
    /// It has ended, left its control group, or changed a setting of its own.
    pub fn require_running(&mut self) -> Result<()> {
        self.background.require_running()?;
        self.require_settings()
    }

    /// Ends the server and returns what it used; it must have run all the time, and have worked.
    ///
    /// # Errors
    /// It ended too early, does not end, or something else answered in its place.
    pub fn end(self) -> Result<Usage> {
        let usage = self.background.end()?;
        ensure!(
            !usage.is_idle(),
            "the server of the workload used next to no CPU time while that ran: something else answered"
        );
        Ok(usage)
    }
}
