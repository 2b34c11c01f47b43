// SPDX-License-Identifier: GPL-2.0-only
//! A load: work of its own beside the workload that is measured.

use anyhow::{Result, bail};
use machine::cgroup::Purpose;
use machine::command::Surroundings;
use machine::containment::Containment;
use machine::root::Root;
use machine::scratch::tail;
use protocol::Load;
use regex::Regex;
use settings::WorkSettings;

use super::{Background, Usage};

/// A load that runs.
pub struct RunningLoad<'a> {
    background: Background<'a>,
    settings: &'a WorkSettings,
}

impl<'a> RunningLoad<'a> {
    /// Starts the load and waits until it says that it is ready.
    ///
    /// # Errors
    /// It ends, or is not ready in time, or its settings are not taken.
    pub fn start(
        load: &Load,
        settings: &'a WorkSettings,
        context: Surroundings<'a>,
    ) -> Result<Self> {
        let ready = load.ready.as_deref().map(Regex::new).transpose()?;
        let containment = Containment::create(&Root::machine(), Purpose::Load)?;
        settings.limit(containment.cgroup())?;
        let what = format!("the load `{}`", load.work.name);
        let background = Background::start(what, &load.work.command, containment, context)?;
        let mut started = Self { background, settings };
        if let Some(ready) = ready {
            let is_ready = || ready.is_match(&tail(&context.stdout()));
            started.background.await_ready(|| Ok((!is_ready()).then(String::new)))?;
        }
        started.require_settings()?;
        started.background.note_start()?;
        Ok(started)
    }

    fn require_settings(&self) -> Result<()> {
        let Background { what, process, .. } = &self.background;
        let of_group = self.settings.objection(self.background.cgroup());
        match of_group.or_else(|| self.settings.objection_to(process.id())) {
            Some(reason) => bail!("{what}: {reason}"),
            None => Ok(()),
        }
    }

    /// Ends the load and returns what it used; it must have run all the time.
    ///
    /// # Errors
    /// The load ended too early, does not end, or its settings are not what they were.
    pub fn end(mut self) -> Result<Usage> {
        self.background.require_running()?;
        self.require_settings()?;
        self.background.end()
    }
}
