// SPDX-License-Identifier: GPL-2.0-only
//! The attached scheduler as the kernel holds it, whichever process attached it.
//!
//! The name of a map is not enough: a killed process leaves its maps for a moment, and processes
//! whose scheduler was ejected or refused have them too. The certain way goes from the link to the
//! struct_ops map, from there to a program, and from its BTF to the maps that share it: they belong
//! to the same loaded object.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::DataSec;
use libbpf_rs::query::{MapInfo, MapInfoIter, ProgInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::counters::{self, Counters};
use super::error::AttachError;
use super::parameters::{self, Parameter};
use bpf::{globals, struct_ops};

pub struct Running {
    name: String,
    btf: Btf<'static>,
    maps: Vec<MapInfo>,
}

impl Running {
    /// The object of the scheduler that is attached under `name`.
    ///
    /// # Errors
    /// `Unreachable` if the kernel does not show it.
    pub fn find(name: &str) -> Result<Self, AttachError> {
        let failed = |reason: &str| unreachable(name, reason);
        let program = struct_ops::program(name).map_err(|error| failed(&error.to_string()))?;
        let program = program.ok_or_else(|| failed("no link to it is in the kernel"))?;
        let btf = Btf::from_prog_id(program).map_err(|error| failed(&error.to_string()))?;
        let id = ProgInfoIter::default().find(|info| info.id == program).map(|info| info.btf_id);
        let id = id.ok_or_else(|| failed("it has just gone"))?;
        let maps = MapInfoIter::default().filter(|info| info.btf_id == id).collect();
        Ok(Self { name: name.into(), btf, maps })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters that may be set, in the order of the object.
    ///
    /// # Errors
    /// `BadParameter` if it describes one wrongly, `Unreachable` if a section cannot be read.
    pub fn parameters(&self) -> Result<Vec<Parameter>, AttachError> {
        let mut found = Vec::new();
        for global in globals::globals(&self.btf) {
            if global.tags.is_empty() {
                continue;
            }
            let described = parameters::describe_used(&global, &self.read(&global.section)?);
            found.extend(described.map_err(|error| AttachError::BadParameter {
                scheduler: self.name.clone(),
                error,
            })?);
        }
        Ok(found)
    }

    /// The whole section as it is now.
    ///
    /// # Errors
    /// `Unreachable`.
    pub fn read(&self, section: &str) -> Result<Vec<u8>, AttachError> {
        let value = self.section(section)?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(|error| self.unreachable(&error.to_string()))?;
        value.ok_or_else(|| self.unreachable(&format!("its section {section} is empty")))
    }

    /// The map that holds `section`.
    ///
    /// # Errors
    /// `Unreachable`.
    pub fn section(&self, section: &str) -> Result<MapHandle, AttachError> {
        let described = self
            .btf
            .type_by_kind::<DataSec>()
            .find(|each| each.name().is_some_and(|name| name == section))
            .map(|each| u32::from(each.type_id()));
        let map = self.maps.iter().find(|info| Some(info.btf_value_type_id) == described);
        let map = map.ok_or_else(|| {
            self.unreachable(&format!("its section {section} is not in the kernel"))
        })?;
        MapHandle::from_map_id(map.id).map_err(|error| self.unreachable(&error.to_string()))
    }

    /// # Errors
    /// `Unreachable`.
    pub fn counters(&self) -> Result<Counters, AttachError> {
        let statistics = counters::describe(&self.btf, counters::MAP);
        Ok(Counters { statistics, map: self.map(counters::MAP)?, task: None })
    }

    /// The counters of the thread `tid`.
    ///
    /// # Errors
    /// `NoTaskCounters`, `NoTask`, `Unreachable`.
    pub fn task_counters(&self, tid: u32) -> Result<Counters, AttachError> {
        let statistics = counters::describe(&self.btf, counters::TASK_MAP);
        if statistics.is_empty() {
            return Err(AttachError::NoTaskCounters { name: self.name.clone() });
        }
        let task = counters::open_task(tid).map_err(|error| AttachError::NoTask { tid, error })?;
        Ok(Counters { statistics, map: self.map(counters::TASK_MAP)?, task: Some(task) })
    }

    fn map(&self, name: &str) -> Result<Option<MapHandle>, AttachError> {
        let map = self.maps.iter().find(|info| info.name == name);
        let map = map.map(|info| MapHandle::from_map_id(info.id)).transpose();
        map.map_err(|error| self.unreachable(&error.to_string()))
    }

    fn unreachable(&self, reason: &str) -> AttachError {
        unreachable(&self.name, reason)
    }
}

fn unreachable(name: &str, reason: &str) -> AttachError {
    AttachError::Unreachable { name: name.into(), reason: reason.into() }
}
