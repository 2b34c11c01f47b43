// SPDX-License-Identifier: GPL-2.0-only
//! A service that has a scheduler in charge of this machine: stopped for a campaign, and started
//! again after it.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use machine::loans::{Borrowed, LoanError, Loans, Saved};
use machine::root::Root;
use machine::stop::Stop;
use schedulers::owner::{InCharge, World};
use serde::{Deserialize, Serialize};

/// Longest wait for the kernel's own scheduler after the service has ended.
const DETACH_LIMIT: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

const LOADER: &str = "scx_loader.service";
/// Service, object and interface of scx_loader on the system's bus.
const BUS: [&str; 3] = ["org.scx.Loader", "/org/scx/Loader", "org.scx.Loader"];
/// What scx_loader calls its scheduler while it has none.
const NO_SCHEDULER: &str = "unknown";

/// A service that was stopped. Dropping it starts the service again.
pub struct TakenOver {
    service: Borrowed<SavedService>,
    what: InCharge,
}

impl TakenOver {
    /// Stops the service that has a scheduler in charge, and waits for the kernel's own. None if
    /// that is in charge already.
    ///
    /// # Errors
    /// The scheduler is not a service's, the service does not stop, or its scheduler stays.
    pub fn start(root: &Root, stop: &Stop) -> Result<Option<Self>> {
        let world = World::here();
        let Some(what) = world.in_charge() else { return Ok(None) };
        let Some(unit) = &what.unit else { bail!("{what}, and is not a service's: end it") };
        let loans = Loans::<SavedService>::lock(root, Some(stop))?;
        let loan = loans.add(None, vec![SavedService::read(unit)])?;
        drop(loans);
        let stopped = systemctl(&["stop", unit]);
        let taken = Self { service: Borrowed::new(root, loan), what };
        stopped?;
        let start = Instant::now();
        while let Some(what) = world.in_charge() {
            ensure!(start.elapsed() < DETACH_LIMIT, "its service was stopped, but {what}");
            ensure!(!stop.requested(), "stopped on request");
            sleep(LOOK);
        }
        Ok(Some(taken))
    }

    /// What was in charge.
    pub fn what(&self) -> &InCharge {
        &self.what
    }

    /// Starts the service again.
    ///
    /// # Errors
    /// It does not start; `machine::loans::sweep` tries again.
    pub fn end(mut self) -> Result<(), LoanError> {
        self.service.give_back()
    }
}

/// A service that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedService {
    unit: String,
    /// What scx_loader ran; None for other services.
    loaded: Option<Loaded>,
}

/// A scheduler of scx_loader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Loaded {
    scheduler: String,
    mode: u32,
    /// Arguments in place of a mode; empty where it has one.
    arguments: Vec<String>,
}

impl SavedService {
    fn read(unit: &str) -> Self {
        let loaded = (unit == LOADER).then(Loaded::read).flatten();
        Self { unit: unit.into(), loaded }
    }
}

impl Saved for SavedService {
    const DIRECTORY: &'static str = "/run/runoff-services";
    const KIND: &'static str = "the service ";

    fn name(&self) -> &str {
        &self.unit
    }

    fn put_back(&self) -> Result<bool, String> {
        if systemctl(&["is-active", "--quiet", &self.unit]).is_ok() {
            return Ok(false);
        }
        let way = |error: anyhow::Error| format!("{error:#}: systemctl start {}", self.unit);
        systemctl(&["start", &self.unit]).map_err(way)?;
        // It begins with the scheduler of its configuration, and maybe had another.
        if let Some(loaded) = &self.loaded {
            let words = loaded.switch();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            ask("busctl", &words)
                .map_err(|error| format!("{error:#}: busctl {}", words.join(" ")))?;
        }
        Ok(true)
    }
}

impl Loaded {
    /// What scx_loader runs now; None if it runs nothing, or does not answer.
    fn read() -> Option<Self> {
        let scheduler: String = property("CurrentScheduler")?;
        let (mode, arguments) = (property("SchedulerMode")?, property("CurrentSchedulerArgs"));
        let loaded = Self { scheduler, mode, arguments: arguments.unwrap_or_default() };
        (loaded.scheduler != NO_SCHEDULER).then_some(loaded)
    }

    /// The words for busctl(1) that have scx_loader run it.
    fn switch(&self) -> Vec<String> {
        // What follows two dashes is not an option of busctl's, whatever it begins with.
        let mut words = vec!["--".to_owned(), "call".to_owned()];
        words.extend(BUS.map(str::to_owned));
        if self.arguments.is_empty() {
            words.extend(["SwitchScheduler", "su", &self.scheduler].map(str::to_owned));
            words.push(self.mode.to_string());
        } else {
            words.extend(["SwitchSchedulerWithArgs", "sas", &self.scheduler].map(str::to_owned));
            words.push(self.arguments.len().to_string());
            words.extend(self.arguments.iter().cloned());
        }
        words
    }
}

fn property<Value: for<'de> Deserialize<'de>>(name: &str) -> Option<Value> {
    let mut words = vec!["--json=short", "get-property"];
    words.extend(BUS);
    words.push(name);
    parse_property(&ask("busctl", &words).ok()?)
}

/// The value in what `busctl --json=short` prints.
fn parse_property<Value: for<'de> Deserialize<'de>>(text: &str) -> Option<Value> {
    #[derive(Deserialize)]
    struct Property<Value> {
        data: Value,
    }
    serde_json::from_str::<Property<Value>>(text).ok().map(|property| property.data)
}

fn systemctl(words: &[&str]) -> Result<()> {
    ask("systemctl", words).map(drop)
}

/// Runs a program of systemd's and returns what it prints.
fn ask(program: &str, words: &[&str]) -> Result<String> {
    let done = Command::new(program).args(words).stdin(Stdio::null()).output();
    let done = done.with_context(|| format!("cannot start {program}"))?;
    let errors = String::from_utf8_lossy(&done.stderr);
    let verb = words.iter().find(|word| !word.starts_with('-'));
    ensure!(
        done.status.success(),
        "{program} {} says: {}",
        verb.unwrap_or(&""),
        errors.trim().lines().last().unwrap_or("nothing")
    );
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loader_ran_is_read_and_asked_for_again() {
        let text = r#"{"type":"s","data":"scx_lavd"}"#;
        assert_eq!(parse_property::<String>(text).as_deref(), Some("scx_lavd"));
        assert_eq!(parse_property::<u32>(r#"{"type":"u","data":4}"#), Some(4));
        let text = r#"{"type":"as","data":["-s","5000"]}"#;
        let arguments: Vec<String> = parse_property(text).unwrap();
        assert_eq!(parse_property::<u32>("Failed to get property"), None);
        let in_mode = Loaded { scheduler: "scx_lavd".into(), mode: 4, arguments: Vec::new() };
        let own = "-- call org.scx.Loader /org/scx/Loader org.scx.Loader";
        assert_eq!(in_mode.switch().join(" "), format!("{own} SwitchScheduler su scx_lavd 4"));
        let with = Loaded { arguments, ..in_mode };
        let expected = format!("{own} SwitchSchedulerWithArgs sas scx_lavd 2 -s 5000");
        assert_eq!(with.switch().join(" "), expected);
    }

    #[test]
    fn a_service_that_cannot_be_started_is_told_with_the_command() {
        let unit = "runoff-no-such-unit.service".to_owned();
        let error = SavedService { unit, loaded: None }.put_back().unwrap_err();
        assert!(error.ends_with(": systemctl start runoff-no-such-unit.service"), "{error}");
    }
}
