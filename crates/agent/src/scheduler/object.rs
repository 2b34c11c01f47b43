// SPDX-License-Identifier: GPL-2.0-only
//! A sched_ext object: described, prepared for this machine, loaded, attached.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libbpf_rs::btf::Btf;
use libbpf_rs::{AsRawLibbpf, Link, MapCore, MapFlags, MapType, Object, ObjectBuilder, OpenObject};
use serde::Serialize;

use super::error::AttachError;
use super::globals::{self, Global, Member};
use super::kernel_log::KernelLog;
use super::parameters::{self, Parameter};
use super::{POLL, kernel_enums, libbpf_log, machine, sysfs};

/// Attaching returns when the kernel has switched; this is for its last formalities.
const ENABLE_LIMIT: Duration = Duration::from_secs(10);

/// What an object says about itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Description {
    pub sentence: String,
    pub parameters: Vec<Parameter>,
    pub statistics: Vec<Statistic>,
}

/// A u64 in the value of the per-CPU array map "stats".
#[derive(Debug, Clone, Serialize)]
pub struct Statistic {
    pub name: String,
    pub sentence: String,
    #[serde(skip)]
    pub offset: usize,
}

/// An object that was opened and given its parameters, but is not in the kernel yet.
pub struct Prepared {
    name: String,
    object: OpenObject,
    ops_map: String,
    description: Description,
}

/// Detaches when dropped; the link must go first.
pub struct AttachedObject {
    _link: Link,
    object: Object,
    ops: String,
    statistics: Vec<Statistic>,
}

impl Prepared {
    /// Needs no privilege and leaves the kernel alone.
    ///
    /// # Errors
    /// `NotAScheduler` for other files, `BadParameter` for what `given` has wrong.
    pub fn open(
        name: &str,
        bytes: &[u8],
        given: &BTreeMap<String, String>,
    ) -> Result<Self, AttachError> {
        let not_one = |reason: String| AttachError::NotAScheduler { name: name.to_owned(), reason };
        let (opened, log) =
            libbpf_log::caught(|| ObjectBuilder::default().name(name)?.open_memory(bytes));
        let mut object = opened.map_err(|error| not_one(format!("{error}: {}", log.trim())))?;
        let ops_map = object
            .maps()
            .find(|map| map.map_type() == MapType::StructOps)
            .map(|map| map.name().to_string_lossy().into_owned())
            .ok_or_else(|| not_one("it has no struct_ops map".into()))?;
        let bad = |error| AttachError::BadParameter { scheduler: name.to_owned(), error };
        let description = describe(&object).map_err(bad)?;
        for (parameter, value) in parameters::choose(&description.parameters, given).map_err(bad)? {
            fill(&mut object, &parameter.place, &[value as u64]);
        }
        Ok(Self { name: name.to_owned(), object, ops_map, description })
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The initial values of the array `name`, for tests of what a scheduler computes with.
    #[cfg(test)]
    pub fn array(&self, name: &str) -> Vec<i64> {
        let global =
            variables(&self.object).into_iter().find(|global| global.name == name).unwrap();
        let section = section(&self.object, &global.section).unwrap();
        (0..global.count)
            .map(|index| {
                let offset = global.offset + index * global.width;
                Global { offset, ..global.clone() }.get(&section).unwrap()
            })
            .collect()
    }

    /// # Errors
    /// `Rejected` by libbpf, the verifier or sched_ext, with the end of the log.
    pub fn attach(self) -> Result<AttachedObject, AttachError> {
        let Self { name, mut object, ops_map, description } = self;
        let mut kernel_log = KernelLog::open();
        let (result, log) = libbpf_log::caught(|| {
            fit(&mut object, &ops_map)?;
            let mut object = object.load()?;
            let link = object
                .maps_mut()
                .find(|map| map.name().to_string_lossy() == ops_map)
                .expect("the map was there when the object was opened")
                .attach_struct_ops()?;
            Ok::<_, libbpf_rs::Error>((object, link))
        });
        let mut rejected = |reason: String| {
            let log = format!("{log}{}", kernel_log.sched_ext().join("\n"));
            let log = libbpf_log::end(&log).trim_end().to_owned();
            AttachError::Rejected { name: name.clone(), reason, log }
        };
        let (object, link) = result.map_err(|error| rejected(format!("{error:#}")))?;
        let ops = enabled().ok_or_else(|| rejected("it was ejected at once".into()))?;
        Ok(AttachedObject { _link: link, object, ops, statistics: description.statistics })
    }
}

/// Fills in what the object has to know about this kernel and machine.
fn fit(object: &mut OpenObject, ops_map: &str) -> libbpf_rs::Result<()> {
    let enums = kernel_enums::read()?;
    for global in variables(object) {
        if let Some(name) = kernel_enums::name(&global) {
            fill(object, &global, &[enums.get(name).copied().unwrap_or(0)]);
        }
        let asked = global.tags.iter().find_map(|tag| tag.strip_prefix("machine | "));
        if let Some(values) = asked.and_then(|fact| machine::fact(fact, global.count)) {
            fill(object, &global, &values);
        }
    }
    refuse_hotplug(object, ops_map);
    Ok(())
}

/// Has the kernel refuse the object if CPUs came or went since the machine was looked at.
fn refuse_hotplug(object: &mut OpenObject, ops_map: &str) {
    let members = with_btf(object, |btf| globals::structure(btf, ".struct_ops", ops_map));
    let offset = members.flatten().and_then(|members| {
        members.iter().find(|member| member.name == "hotplug_seq").map(|member| member.offset)
    });
    let ops = object.maps_mut().find(|map| map.name().to_string_lossy() == ops_map);
    if let (Some(offset), Some(mut map)) = (offset, ops)
        && let Some(field) = map.initial_value_mut().and_then(|ops| ops.get_mut(offset..offset + 8))
    {
        field.copy_from_slice(&sysfs::hotplug_seq().to_ne_bytes());
    }
}

impl AttachedObject {
    pub fn ops_name(&self) -> &str {
        &self.ops
    }

    /// Sums over all CPUs, in the order of the object.
    pub fn statistics(&self) -> Vec<(String, u64)> {
        let per_cpu = self
            .object
            .maps()
            .find(|map| map.name() == "stats")
            .and_then(|map| map.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten())
            .unwrap_or_default();
        self.statistics
            .iter()
            .map(|statistic| {
                let sum = per_cpu.iter().map(|value| number_at(value, statistic.offset)).sum();
                (statistic.name.clone(), sum)
            })
            .collect()
    }
}

fn number_at(value: &[u8], offset: usize) -> u64 {
    value
        .get(offset..offset + 8)
        .map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
}

/// The name of the scheduler in charge, None if there is none even after a while.
fn enabled() -> Option<String> {
    let start = Instant::now();
    loop {
        let state = sysfs::read();
        if state.state == "enabled" && !state.ops.is_empty() {
            return Some(state.ops);
        }
        if state.state == "disabled" || start.elapsed() > ENABLE_LIMIT {
            return None;
        }
        std::thread::sleep(POLL);
    }
}

fn describe(object: &OpenObject) -> Result<Description, parameters::ParameterError> {
    let mut parameters = Vec::new();
    for global in variables(object) {
        let section = section(object, &global.section).unwrap_or_default();
        parameters.extend(parameters::describe(&global, &section)?);
    }
    let about = with_btf(object, |btf| {
        let tags = globals::variable_tags(btf, ".struct_ops");
        let sentence =
            tags.iter().find_map(|tag| tag.strip_prefix("scheduler | ")).unwrap_or_default();
        (sentence.to_owned(), globals::map_value(btf, "stats").unwrap_or_default())
    });
    let (sentence, counters) = about.unwrap_or_default();
    Ok(Description {
        sentence,
        parameters,
        statistics: counters.into_iter().filter_map(statistic).collect(),
    })
}

fn statistic(member: Member) -> Option<Statistic> {
    let sentence = member.tags.iter().find_map(|tag| tag.strip_prefix("statistic | "))?.to_owned();
    Some(Statistic { name: member.name, sentence, offset: member.offset })
}

fn variables(object: &OpenObject) -> Vec<Global> {
    with_btf(object, globals::globals).unwrap_or_default()
}

fn with_btf<T>(object: &OpenObject, read: impl FnOnce(&Btf<'_>) -> T) -> Option<T> {
    // SAFETY: the pointer is valid as long as `object` is, and so is the reference.
    let raw = unsafe { object.as_libbpf_object().as_ref() };
    Btf::from_bpf_object(raw).ok().flatten().map(|btf| read(&btf))
}

/// libbpf names the map of ".data" after the object: "bfs.data".
fn holds(map: &std::ffi::OsStr, section: &str) -> bool {
    map.to_string_lossy().ends_with(section)
}

fn section(object: &OpenObject, name: &str) -> Option<Vec<u8>> {
    let map = object.maps().find(|map| holds(map.name(), name))?;
    map.initial_value().map(<[u8]>::to_vec)
}

fn fill(object: &mut OpenObject, global: &Global, values: &[u64]) {
    let Some(mut map) = object.maps_mut().find(|map| holds(map.name(), &global.section)) else {
        return;
    };
    if let Some(section) = map.initial_value_mut() {
        for (index, &value) in values.iter().enumerate() {
            global.set(section, index, value);
        }
    }
}
