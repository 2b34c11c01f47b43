// SPDX-License-Identifier: GPL-2.0-only
//! Controllers of control groups that a work wants for groups of its own. They are not always on:
//! with `cpu` on, the kernel's own scheduler shares CPUs between a workload and its load as between
//! two groups, and not between their tasks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use machine::cgroup::hierarchy;
use machine::root::Root;

use crate::booted::is_booted_for_us;

/// Controllers that are on for the groups of a sample; those of a guest are switched off again when
/// this is dropped.
pub struct Controllers {
    top: PathBuf,
    switched_on: Vec<String>,
}

impl Controllers {
    /// Requires controllers for the groups that this agent makes: in a guest they are switched on,
    /// on a host they must be on.
    ///
    /// # Errors
    /// The kernel does not have one of them, or it is off on a host.
    pub fn require<'a>(wanted: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let wanted: BTreeSet<&str> = wanted.into_iter().collect();
        let mut all = Self { top: PathBuf::new(), switched_on: Vec::new() };
        if wanted.is_empty() {
            return Ok(all);
        }
        all.top = hierarchy(&Root::machine())?;
        let there = names(&all.top.join("cgroup.controllers"))?;
        let on = names(&subtree_control(&all.top))?;
        for name in wanted {
            ensure!(
                there.contains(name),
                "this kernel has no controller {name:?} of control groups: there are {}",
                there.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            );
            if !on.contains(name) {
                all.switch_on(name)?;
            }
        }
        Ok(all)
    }

    fn switch_on(&mut self, name: &str) -> Result<()> {
        let file = subtree_control(&self.top);
        ensure!(
            is_booted_for_us(),
            "no group may use the controller {name} here: run `echo +{name} > {}`",
            file.display()
        );
        fs::write(&file, format!("+{name}"))
            .with_context(|| format!("cannot switch the controller {name} on"))?;
        self.switched_on.push(name.to_owned());
        Ok(())
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        for name in &self.switched_on {
            // A group that the work has left may still use it.
            let _ = fs::write(subtree_control(&self.top), format!("-{name}"));
        }
    }
}

fn subtree_control(top: &Path) -> PathBuf {
    top.join("cgroup.subtree_control")
}

fn names(file: &Path) -> Result<BTreeSet<String>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}
