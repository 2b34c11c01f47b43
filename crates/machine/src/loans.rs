// SPDX-License-Identifier: GPL-2.0-only
//! What an agent has borrowed of the machine to change it, in a file written before anything is
//! changed, so that another agent can put it back.

use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::owner::Agent;
use crate::root::Root;
use crate::state_file::{StateFiles, file};
use crate::stop::Stop;
use crate::{removal, scratch};

/// Something of the machine as it was before it was borrowed.
pub trait Saved: Serialize + DeserializeOwned {
    /// A directory for its loans, which is empty after a boot, as are the changes.
    const DIRECTORY: &'static str;
    /// What is put back, in a few words.
    const KIND: &'static str;

    /// The name that tells it from all others.
    fn name(&self) -> &str;

    /// Makes it what it was; returns whether there was anything to do.
    ///
    /// # Errors
    /// It is still not what it was before: what is to be done.
    fn put_back(&self) -> Result<bool, String>;
}

/// Why something cannot be borrowed or given back.
#[derive(Debug, Error)]
pub enum LoanError {
    #[error("another runoff, process {agent}, has borrowed {what}: wait until it has ended")]
    Lent { what: String, agent: u32 },
    #[error("{what} could not be put back as it was: {way}")]
    NotPutBack { what: String, way: String },
    #[error(
        "cannot read {path:?}, which says what is to be put back: look at {kind}, then remove that file"
    )]
    Unreadable { path: PathBuf, kind: &'static str },
    #[error("cannot write in {path:?} what is to be put back: {error}")]
    Unwritten { path: PathBuf, error: io::Error },
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Loan<Thing> {
    agent: Agent,
    /// The directory in which it works on what it has borrowed; none for what is not a disk.
    place: Option<PathBuf>,
    things: Vec<Thing>,
    /// The file that holds this loan; not written into it.
    #[serde(skip)]
    file: String,
}

/// A loan that is given back when this is dropped.
pub struct Borrowed<Thing: Saved> {
    root: Root,
    loan: Loan<Thing>,
    is_returned: bool,
}

impl<Thing: Saved> Borrowed<Thing> {
    pub fn new(root: &Root, loan: Loan<Thing>) -> Self {
        Self { root: root.clone(), loan, is_returned: false }
    }

    pub fn things(&self) -> &[Thing] {
        &self.loan.things
    }

    /// Gives everything back; nothing if that was tried before.
    ///
    /// # Errors
    /// Something is still not what it was before; the loan stays, for `sweep`.
    pub fn give_back(&mut self) -> Result<(), LoanError> {
        if std::mem::replace(&mut self.is_returned, true) {
            return Ok(());
        }
        Loans::lock(&self.root, None)?.give_back(&self.loan).map(drop)
    }
}

impl<Thing: Saved> Drop for Borrowed<Thing> {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            eprintln!("runoff-agent: {error}");
        }
    }
}

/// All loans of one kind, locked: no other agent can borrow or give back meanwhile.
pub struct Loans<Thing> {
    directory: PathBuf,
    files: StateFiles,
    kind: PhantomData<Thing>,
}

/// What was done for agents that are no longer there, a sentence on each thing, and what could not
/// be done.
#[derive(Default)]
pub struct Swept {
    pub done: Vec<String>,
    pub failures: Vec<LoanError>,
}

impl<Thing: Saved> Loans<Thing> {
    /// # Errors
    /// Another agent holds the lock until a stop is requested, or for too long.
    pub fn lock(root: &Root, stop: Option<&Stop>) -> Result<Self, LoanError> {
        let directory = root.at(Thing::DIRECTORY);
        let files = StateFiles::lock_unless(stop, &directory)
            .map_err(|error| LoanError::Unwritten { path: directory.clone(), error })?;
        Ok(Self { directory, files, kind: PhantomData })
    }

    /// Writes down that this process has borrowed `things`, to work in `place` if they are disks.
    ///
    /// # Errors
    /// Another agent has borrowed one of them.
    pub fn add(&self, place: Option<&Path>, things: Vec<Thing>) -> Result<Loan<Thing>, LoanError> {
        self.add_of(Agent::this(), place, things)
    }

    fn add_of(
        &self,
        agent: Agent,
        place: Option<&Path>,
        things: Vec<Thing>,
    ) -> Result<Loan<Thing>, LoanError> {
        for other in self.readable().filter(|other| other.agent.is_there()) {
            if let Some(thing) = things.iter().find(|thing| other.has(thing.name())) {
                return Err(LoanError::Lent { what: thing.name().into(), agent: other.agent.pid });
            }
        }
        // A loan that could not be given back stays beside the new one, even if this process has
        // the same number.
        let name = agent.name("loan");
        let loan = Loan { agent, place: place.map(Path::to_owned), things, file: file(&name) };
        self.files
            .write(&name, &loan)
            .map_err(|error| LoanError::Unwritten { path: self.directory.clone(), error })?;
        Ok(loan)
    }

    /// Puts back those of `names` that no running agent will put back, so that their present
    /// settings are not taken for the original ones.
    ///
    /// # Errors
    /// One of them is still not what it was before.
    pub fn settle<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), LoanError> {
        let names: Vec<_> = names.into_iter().collect();
        let mine = Agent::this();
        // This process gives back what it has borrowed before it borrows again, if it can.
        let left = self
            .readable()
            .filter(|loan| loan.agent == mine || !loan.agent.is_there())
            .filter(|loan| names.iter().any(|name| loan.has(name)));
        for loan in left {
            self.clear(&loan)?;
        }
        Ok(())
    }

    /// Gives back what `loan` has and removes what its agent left there. Returns a sentence on each
    /// thing.
    fn clear(&self, loan: &Loan<Thing>) -> Result<Vec<String>, LoanError> {
        let mut left = loan
            .place
            .as_deref()
            .map_or_else(Vec::new, |place| scratch::left_by(loan.agent, place));
        // Ignore what cannot be removed: the user will see it on the disk.
        left.retain(|path| removal::remove(path).is_ok());
        let changed = self.give_back(loan)?;
        let things = loan.things.iter().zip(changed).filter(|(_, changed)| *changed);
        let removed = left.iter().map(|path| format!("removed {}", path.display()));
        let put_back = things.map(|(thing, _)| format!("put back {}{}", Thing::KIND, thing.name()));
        Ok(removed.chain(put_back).collect())
    }

    /// Gives back everything of `loan`, even if one thing fails. Returns for each whether there was
    /// anything to do.
    ///
    /// # Errors
    /// Something is still not what it was before; the loan stays, for `sweep`.
    pub fn give_back(&self, loan: &Loan<Thing>) -> Result<Vec<bool>, LoanError> {
        // The last one first: one that was changed later may depend on an earlier one.
        let mut ended: Vec<_> = loan.things.iter().rev().map(Self::put_back).collect();
        ended.reverse();
        let changed = ended.into_iter().collect::<Result<_, _>>()?;
        self.files.remove(&loan.file);
        Ok(changed)
    }

    fn put_back(thing: &Thing) -> Result<bool, LoanError> {
        let failed = |way| LoanError::NotPutBack { what: thing.name().into(), way };
        thing.put_back().map_err(failed)
    }

    fn all(&self) -> impl Iterator<Item = Result<Loan<Thing>, LoanError>> {
        self.files.files().map(|file| {
            let path = self.directory.join(&file);
            let read = self.files.read::<Loan<Thing>>(&file);
            let kind = Thing::KIND.trim_end();
            read.map(|loan| Loan { file, ..loan }).map_err(|_| LoanError::Unreadable { path, kind })
        })
    }

    /// All but those that cannot be read, which `sweep` reports.
    fn readable(&self) -> impl Iterator<Item = Loan<Thing>> {
        self.all().flatten()
    }
}

impl<Thing: Saved> Loan<Thing> {
    fn has(&self, name: &str) -> bool {
        self.things.iter().any(|thing| thing.name() == name)
    }
}

/// Puts back what agents that are no longer there had borrowed, and removes what they left on it.
/// What cannot be put back is tried again the next time.
///
/// # Errors
/// Another agent holds the lock until a stop is requested, or for too long.
pub fn sweep<Thing: Saved>(root: &Root, stop: Option<&Stop>) -> Result<Swept, LoanError> {
    let mut swept = Swept::default();
    if !root.at(Thing::DIRECTORY).exists() {
        return Ok(swept);
    }
    let loans = Loans::<Thing>::lock(root, stop)?;
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A file that is removed to put it back.
    #[derive(Debug, Serialize, Deserialize)]
    struct Mark(String);

    impl Saved for Mark {
        const DIRECTORY: &'static str = "/loans";
        const KIND: &'static str = "the mark ";

        fn name(&self) -> &str {
            &self.0
        }

        fn put_back(&self) -> Result<bool, String> {
            match fs::remove_file(&self.0) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
                removed => Ok(removed.is_ok()),
            }
        }
    }

    fn loans(folder: &Path) -> Loans<Mark> {
        Loans::lock(&Root::below(folder), None).unwrap()
    }

    #[test]
    fn loans_of_agents_with_one_number_are_kept_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let loans = loans(folder.path());
        let this = Agent::this();
        let agents = [
            this,
            Agent { started: this.started + 1, ..this },
            Agent { namespace: this.namespace + 1, ..this },
        ];
        // The first agent's last loan could not be put back.
        let twice = [agents[0], agents[0], agents[1], agents[2]];
        let made = twice.map(|agent| loans.add_of(agent, None, vec![]).unwrap());
        assert_eq!(loans.all().count(), 4);
        loans.give_back(&made[2]).unwrap();
        let left = loans.all().map(|loan| loan.unwrap().agent);
        assert!(left.into_iter().all(|agent| agent != agents[1]) && loans.all().count() == 3);
        loans.readable().for_each(|loan| drop(loans.give_back(&loan).unwrap()));
        assert_eq!(loans.all().count(), 0);
    }

    #[test]
    fn what_one_agent_has_no_other_gets_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let loans = loans(folder.path());
        let path = folder.path().join("mark").display().to_string();
        let mark = || vec![Mark(path.clone())];
        let first = loans.add(None, mark()).unwrap();
        let error = loans.add(None, mark()).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}, has borrowed {path}", first.agent.pid)));
        // What this process has borrowed is settled before it is borrowed again.
        fs::write(&path, "").unwrap();
        loans.settle([&*path]).unwrap();
        assert!(!Path::new(&path).exists());
        let dead = Agent { started: 0, ..Agent::this() };
        fs::write(&path, "").unwrap();
        let left = loans.add_of(dead, None, mark()).unwrap();
        loans.settle(["another"]).unwrap();
        assert!(Path::new(&path).exists());
        assert_eq!(loans.clear(&left).unwrap(), [format!("put back the mark {path}")]);
        assert_eq!(loans.clear(&left).unwrap(), [""; 0]);
    }

    #[test]
    fn a_loan_that_cannot_be_put_back_stays_and_the_others_are_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let loans = loans(folder.path());
        let (good, bad) = (folder.path().join("good"), folder.path().join("bad"));
        fs::write(&good, "").unwrap();
        fs::create_dir(&bad).unwrap();
        let things = [&bad, &good, &bad].map(|path| Mark(path.display().to_string()));
        let loan = loans.add(None, things.into()).unwrap();
        let error = loans.give_back(&loan).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} could not be put back", bad.display())), "{error}");
        assert!(!good.exists());
        assert_eq!(loans.all().count(), 1);
        fs::remove_dir(&bad).unwrap();
        loans.give_back(&loan).unwrap();
        assert_eq!(loans.all().count(), 0);
    }

    #[test]
    fn a_loan_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let loans = loans(folder.path());
        fs::write(folder.path().join("loans/x.json"), "{").unwrap();
        assert_eq!(loans.readable().count(), 0);
        let error = loans.all().next().unwrap().unwrap_err().to_string();
        assert!(error.contains("look at the mark, then remove that file"), "{error}");
    }
}
