// SPDX-License-Identifier: GPL-2.0-only
//! The disks that an agent has borrowed, in a file written before anything is changed, so that
//! another agent can put them back.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::saved_queue::SavedQueue;
use crate::disk::error::LoanError;
use machine::owner::Agent;
use machine::state_file::{StateFiles, file};
use machine::stop::Stop;
use machine::{removal, scratch};

/// A directory that is empty after a boot, which also resets all settings of queues.
const DIRECTORY: &str = "/run/runoff-borrowed";

#[derive(Debug, Serialize, Deserialize)]
pub struct Loan {
    agent: Agent,
    place: PathBuf,
    pub disks: Vec<SavedQueue>,
    /// The file that holds this loan; not written into it.
    #[serde(skip)]
    file: String,
}

/// All loans, locked: no other agent can borrow or give back meanwhile.
pub struct Loans {
    files: StateFiles,
}

/// What was done for agents that are no longer there, a sentence on each thing, and what could not
/// be done.
#[derive(Default)]
pub struct Swept {
    pub done: Vec<String>,
    pub failures: Vec<LoanError>,
}

impl Loans {
    /// # Errors
    /// Another agent holds the lock until a stop is requested, or for too long.
    pub fn lock(stop: Option<&Stop>) -> Result<Self, LoanError> {
        let files = StateFiles::lock_unless(stop, Path::new(DIRECTORY)).map_err(unwritten)?;
        Ok(Self { files })
    }

    /// Writes down that this process has borrowed `disks` to work in `place`.
    ///
    /// # Errors
    /// Another agent has borrowed one of them.
    pub fn add(&self, place: &Path, disks: Vec<SavedQueue>) -> Result<Loan, LoanError> {
        self.add_of(Agent::this(), place, disks)
    }

    fn add_of(
        &self,
        agent: Agent,
        place: &Path,
        disks: Vec<SavedQueue>,
    ) -> Result<Loan, LoanError> {
        for other in readable(self.all()).filter(|other| other.agent.is_there()) {
            if let Some(disk) = disks.iter().find(|disk| other.has(&disk.disk)) {
                return Err(LoanError::Lent { disk: disk.disk.clone(), agent: other.agent.pid });
            }
        }
        // A loan that could not be given back stays beside the new one, even if this process has
        // the same number.
        let name = agent.name("loan");
        let loan = Loan { agent, place: place.into(), disks, file: file(&name) };
        self.files.write(&name, &loan).map_err(unwritten)?;
        Ok(loan)
    }

    /// Puts back those of `disks` that no running agent will put back, so that their present
    /// settings are not taken for the original ones.
    pub fn settle<'a>(&self, disks: impl IntoIterator<Item = &'a String>) -> Result<(), LoanError> {
        let disks: Vec<_> = disks.into_iter().collect();
        let mine = Agent::this();
        // This process gives back its own disks before it borrows again, if it can.
        let left = readable(self.all())
            .filter(|loan| loan.agent == mine || !loan.agent.is_there())
            .filter(|loan| disks.iter().any(|disk| loan.has(disk)));
        for loan in left {
            self.clear(&loan)?;
        }
        Ok(())
    }

    /// Gives back the disks of `loan` and removes what its agent left there. Returns a sentence on
    /// each thing.
    fn clear(&self, loan: &Loan) -> Result<Vec<String>, LoanError> {
        let mut left = scratch::left_by(loan.agent, &loan.place);
        // Ignore what cannot be removed: the user will see it on the disk.
        left.retain(|path| removal::remove(path).is_ok());
        let changed = self.give_back(loan)?;
        let disks = loan.disks.iter().zip(changed).filter(|(_, changed)| *changed);
        let removed = left.iter().map(|path| format!("removed {}", path.display()));
        let put_back = disks.map(|(saved, _)| format!("put back the elevator of {}", saved.disk));
        Ok(removed.chain(put_back).collect())
    }

    /// Gives back all disks of `loan`, even if one fails. Returns for each whether there was
    /// anything to do.
    pub fn give_back(&self, loan: &Loan) -> Result<Vec<bool>, LoanError> {
        let ended: Vec<_> = loan.disks.iter().map(SavedQueue::put_back).collect();
        let changed = ended.into_iter().collect::<Result<_, _>>()?;
        self.files.remove(&loan.file);
        Ok(changed)
    }

    fn all(&self) -> impl Iterator<Item = Result<Loan, LoanError>> {
        self.files.files().map(|file| {
            let path = Path::new(DIRECTORY).join(&file);
            let read = self.files.read::<Loan>(&file);
            read.map(|loan| Loan { file, ..loan }).map_err(|_| LoanError::Unreadable { path })
        })
    }
}

impl Loan {
    fn has(&self, disk: &str) -> bool {
        self.disks.iter().any(|saved| saved.disk == disk)
    }
}

/// Puts back what agents that are no longer there had borrowed, and removes what they left on it. What cannot be put
/// back is tried again the next time.
pub fn sweep(stop: Option<&Stop>) -> Result<Swept, LoanError> {
    let mut swept = Swept::default();
    if !Path::new(DIRECTORY).exists() {
        return Ok(swept);
    }
    let loans = Loans::lock(stop)?;
    for loan in loans.all() {
        let Ok(loan) = loan.map_err(|error| swept.failures.push(error)) else { continue };
        if loan.agent.is_there() {
            continue;
        }
        match loans.clear(&loan) {
            Ok(done) => swept.done.extend(done),
            Err(error) => swept.failures.push(error),
        }
    }
    Ok(swept)
}

fn readable(all: impl Iterator<Item = Result<Loan, LoanError>>) -> impl Iterator<Item = Loan> {
    // `sweep` reports a loan that cannot be read.
    all.flatten()
}

fn unwritten(error: io::Error) -> LoanError {
    LoanError::Unwritten { path: DIRECTORY.into(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loans_of_agents_with_one_number_are_kept_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let loans = Loans { files: StateFiles::lock(folder.path()).unwrap() };
        let this = Agent::this();
        let agents = [
            this,
            Agent { started: this.started + 1, ..this },
            Agent { namespace: this.namespace + 1, ..this },
        ];
        // The first agent's last loan could not be put back.
        let twice = [agents[0], agents[0], agents[1], agents[2]];
        let made = twice.map(|agent| loans.add_of(agent, Path::new("/x"), vec![]).unwrap());
        assert_eq!(loans.all().count(), 4);
        loans.give_back(&made[2]).unwrap();
        let left = loans.all().map(|loan| loan.unwrap().agent);
        assert!(left.into_iter().all(|agent| agent != agents[1]) && loans.all().count() == 3);
        readable(loans.all()).for_each(|loan| drop(loans.give_back(&loan).unwrap()));
        assert_eq!(loans.all().count(), 0);
    }
}
