// SPDX-License-Identifier: GPL-2.0-only
//! A sched_ext object: described, prepared for this machine, loaded, attached.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libbpf_rs::{Link, MapCore, MapHandle, MapType, Object, ObjectBuilder, OpenObject};
use protocol::Exit;
use serde::Serialize;

use super::constants;
use super::counters::{self, Counters, Statistic};
use super::error::AttachError;
use super::exit::{ExitRecord, Left};
use super::kernel_log::KernelLog;
use super::parameters::{self, Parameter};
use super::sysfs::SchedExt;
use super::{observers, sysfs};
use bpf::globals::Global;
use bpf::kernel_enums::Truncated;
use bpf::opened::{self, fill, section, variables, with_btf};
use bpf::{globals, kernel_enums, kernel_functions, kernel_types, libbpf_log};

/// Longest wait for the state "enabled" after attaching, which returns when the kernel has
/// switched.
const ENABLE_LIMIT: Duration = Duration::from_secs(10);

/// An object's description of itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Description {
    pub sentence: String,
    pub parameters: Vec<Parameter>,
    pub statistics: Vec<Statistic>,
}

/// An object that was opened and given its parameters, but is not in the kernel yet.
pub struct Prepared {
    name: String,
    object: OpenObject,
    ops_map: String,
    variables: Vec<Global>,
    description: Description,
}

/// An object in the kernel, which has checked it. It decides nothing yet.
pub struct LoadedObject {
    name: String,
    object: Object,
    ops_map: String,
    hotplug_seq: u64,
    statistics: Vec<Statistic>,
    record: Option<ExitRecord>,
}

/// An attached object. Dropping it detaches it; the links must go first.
pub struct AttachedObject {
    /// The links of the scheduler and of its observers.
    links: Option<(Link, Vec<Link>)>,
    object: Object,
    ops: String,
    enable_seq: u64,
    statistics: Vec<Statistic>,
    record: Option<ExitRecord>,
}

impl Prepared {
    /// Opens an object and sets its parameters. Needs no privilege and leaves the kernel alone.
    ///
    /// # Errors
    /// `NotAScheduler` for other files, `BadParameter` for a wrong parameter in `given`.
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
        let variables = variables(&object);
        let description = describe(&object, &variables).map_err(bad)?;
        for (parameter, value) in
            parameters::choose(name, &description.parameters, given).map_err(bad)?
        {
            fill(&mut object, &parameter.place, &[value.cast_unsigned()]);
        }
        Ok(Self { name: name.to_owned(), object, ops_map, variables, description })
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The initial values of the array `name`, for tests of a scheduler's tables.
    #[cfg(test)]
    pub fn array(&self, name: &str) -> Vec<i64> {
        let global = self.variables.iter().find(|global| global.name == name).unwrap();
        let section = section(&self.object, &global.section).unwrap();
        (0..global.count)
            .map(|index| {
                let offset = global.offset + index * global.width;
                globals::Global { offset, ..global.clone() }.get(&section).unwrap()
            })
            .collect()
    }

    /// The name that sysfs shows when it is attached.
    pub fn ops_name(&mut self) -> String {
        let members = with_btf(&self.object, |btf| {
            globals::structure(btf, ".struct_ops", &self.ops_map).unwrap()
        });
        let name = members.unwrap().into_iter().find(|member| member.name == "name").unwrap();
        let mut maps = self.object.maps_mut();
        let mut ops = maps.find(|map| map.name().to_string_lossy() == self.ops_map).unwrap();
        let text = &ops.initial_value_mut().unwrap()[name.offset..];
        String::from_utf8_lossy(text.split(|&byte| byte == 0).next().unwrap()).into_owned()
    }

    #[cfg(test)]
    pub fn rename(&mut self, to: [u8; 8]) {
        set_member(&mut self.object, &self.ops_map, "name", u64::from_ne_bytes(to));
    }

    /// Has the kernel check it, which is most of the cost of attaching.
    ///
    /// # Errors
    /// `BadName` for a name that the kernel refuses, `Rejected` by libbpf or the verifier, with the
    /// end of the log.
    pub fn load(mut self) -> Result<LoadedObject, AttachError> {
        let ops = self.ops_name();
        if !is_name(&ops) {
            return Err(AttachError::BadName { name: self.name, ops });
        }
        let Self { name, mut object, ops_map, variables, description } = self;
        let enumerators = enumerators(&variables)?;
        let hotplug_seq = hotplug_seq();
        let (result, log) = libbpf_log::caught(|| {
            let record = ExitRecord::prepare(&mut object, &variables);
            for (global, value) in &enumerators {
                fill(&mut object, global, &[*value]);
            }
            opened::fit_machine(&mut object, &variables);
            refuse_hotplug(&mut object, &ops_map, hotplug_seq);
            leave_out_operations(&mut object, &ops_map);
            observers::select(&mut object);
            Ok::<_, libbpf_rs::Error>((object.load()?, record))
        });
        let (object, record) =
            result.map_err(|error| rejected(&name, format!("{error:#}"), &log))?;
        let statistics = description.statistics;
        Ok(LoadedObject { name, object, ops_map, hotplug_seq, statistics, record })
    }
}

impl LoadedObject {
    /// Whether the machine has the CPUs that it was loaded for: none came or went since.
    pub fn still_fits(&self) -> bool {
        self.hotplug_seq == hotplug_seq()
    }

    /// # Errors
    /// `Rejected` by sched_ext, with the end of the log.
    pub fn attach(self) -> Result<AttachedObject, AttachError> {
        let Self { name, mut object, ops_map, hotplug_seq: looked_at, statistics, record } = self;
        let mut kernel_log = KernelLog::open();
        let (result, log) = libbpf_log::caught(|| {
            let observers = observers::attach(&mut object);
            let mut ops = object
                .maps_mut()
                .find(|map| map.name().to_string_lossy() == ops_map)
                .expect("the map was there when the object was opened");
            let enable_seq = sysfs::read().enable_seq + 1;
            let link = ops.attach_struct_ops()?;
            Ok::<_, libbpf_rs::Error>((link, observers, enable_seq))
        });
        let mut rejected = |reason: String| {
            rejected(&name, reason, &format!("{log}{}", kernel_log.sched_ext().join("\n")))
        };
        let (link, observers, enable_seq) =
            result.map_err(|error| rejected(format!("{error:#}")))?;
        let exit = || record.as_ref().and_then(|record| record.exit(&object));
        let ops = enabled(enable_seq, exit).map_err(&mut rejected)?;
        // For the kernel 0 means no check, and the count is 0 until the first CPU goes.
        if looked_at == 0 && hotplug_seq() != 0 {
            return Err(rejected("CPUs came or went while it was being attached".into()));
        }
        Ok(AttachedObject {
            links: Some((link, observers)),
            object,
            ops,
            enable_seq,
            statistics,
            record,
        })
    }
}

/// Whether the kernel takes it as a name (kernel/bpf/syscall.c, `bpf_obj_name_cpy`).
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
}

fn rejected(name: &str, reason: String, log: &str) -> AttachError {
    if let [function, others @ ..] = &kernel_functions::malformed()[..] {
        return AttachError::WrongBtf { function: function.clone(), others: others.len() };
    }
    let log = libbpf_log::end(log).trim_end().to_owned();
    AttachError::Rejected { name: name.to_owned(), reason, log }
}

/// The enumerators of the kernel that the object's `variables` ask for.
fn enumerators(variables: &[Global]) -> Result<Vec<(&Global, u64)>, AttachError> {
    let known = kernel_enums::of_kernel().map_err(|error| AttachError::NoTypes { error })?;
    let asked = variables.iter().filter_map(|global| Some((global, kernel_enums::name(global)?)));
    asked
        .map(|(global, name)| match known.value(name) {
            Ok(value) => Ok((global, value)),
            Err(Truncated) => Err(AttachError::TruncatedTypes { name: name.into() }),
        })
        .collect()
}

/// How often CPUs came and went; to be read before the CPUs are.
fn hotplug_seq() -> u64 {
    SchedExt::here().hotplug_seq().unwrap_or_default()
}

/// Has the kernel refuse the object if CPUs came or went since `hotplug_seq` was read.
fn refuse_hotplug(object: &mut OpenObject, ops_map: &str, hotplug_seq: u64) {
    set_member(object, ops_map, "hotplug_seq", hotplug_seq);
}

/// Leaves out the operations that the object does not need on this kernel, by its tags `LEFT_OUT`
/// (schedulers/include/describe.h).
fn leave_out_operations(object: &mut OpenObject, ops_map: &str) {
    let tags = with_btf(object, |btf| globals::variable_tags(btf, ".struct_ops"));
    for tag in tags.unwrap_or_default() {
        if let Some((operation, function)) =
            tag.strip_prefix("left out | ").and_then(|rest| rest.split_once(" | "))
            && kernel_types::has_function(function)
        {
            set_member(object, ops_map, operation, 0);
        }
    }
}

/// Sets a member of 64 bits of the struct sched_ext_ops; 0 leaves an operation out.
fn set_member(object: &mut OpenObject, ops_map: &str, name: &str, value: u64) {
    let members = with_btf(object, |btf| globals::structure(btf, ".struct_ops", ops_map));
    let offset = members.flatten().and_then(|members| {
        members.iter().find(|member| member.name == name).map(|member| member.offset)
    });
    let ops = object.maps_mut().find(|map| map.name().to_string_lossy() == ops_map);
    if let (Some(offset), Some(mut map)) = (offset, ops)
        && let Some(field) = map.initial_value_mut().and_then(|ops| ops.get_mut(offset..offset + 8))
    {
        field.copy_from_slice(&value.to_ne_bytes());
    }
}

impl AttachedObject {
    pub fn ops_name(&self) -> &str {
        &self.ops
    }

    /// The number that the kernel gave to this attachment.
    pub fn enable_seq(&self) -> u64 {
        self.enable_seq
    }

    /// Has the kernel detach it, which takes a while. Its counters and record can be read until
    /// this is dropped.
    pub fn let_go(&mut self) {
        self.links = None;
    }

    /// What the scheduler has left, once it is detached.
    pub fn left(&self) -> Left {
        Left::of(self.record.as_ref(), &self.object, &self.counters().unwrap_or_default())
    }

    /// # Errors
    /// The process has no file descriptors left.
    pub fn counters(&self) -> libbpf_rs::Result<Counters> {
        let map = self.object.maps().find(|map| map.name() == counters::MAP);
        let map = map.map(|map| MapHandle::try_from(&map)).transpose()?;
        Ok(Counters { statistics: self.statistics.clone(), map, task: None })
    }
}

/// Waits until attachment `enable_seq` is in charge and returns the scheduler's name. The error
/// says what became of it, with the `exit` in its record.
fn enabled(enable_seq: u64, exit: impl Fn() -> Option<Exit>) -> Result<String, String> {
    let ejected = |and: &str| {
        let why = exit().map(|exit| format!(": {exit}")).unwrap_or_default();
        format!("it was ejected at once{and}{why}")
    };
    let start = Instant::now();
    loop {
        let state = sysfs::read();
        let there = state.state == "enabled" && !state.ops.is_empty();
        if there && state.enable_seq == enable_seq {
            return Ok(state.ops);
        }
        if there && state.enable_seq > enable_seq {
            return Err(ejected(&format!(", and {:?} has its place", state.ops)));
        }
        if state.state == "disabled" || start.elapsed() > ENABLE_LIMIT {
            return Err(ejected(""));
        }
        std::thread::sleep(sysfs::POLL);
    }
}

fn describe(
    object: &OpenObject,
    variables: &[Global],
) -> Result<Description, parameters::ParameterError> {
    let about = with_btf(object, |btf| {
        let tags = globals::variable_tags(btf, ".struct_ops");
        let sentence = tags.iter().find_map(|tag| tag.strip_prefix("scheduler | "));
        (sentence.map(str::to_owned), counters::describe(btf, counters::MAP))
    });
    let (sentence, statistics) = about.unwrap_or_default();
    let mut sections = BTreeMap::new();
    let mut parameters = Vec::new();
    for global in variables {
        let is_described = !global.tags.is_empty();
        // Most variables are not parameters.
        if !is_described && (sentence.is_some() || global.writable()) {
            continue;
        }
        let values: &Vec<u8> = sections
            .entry(&global.section)
            .or_insert_with(|| section(object, &global.section).unwrap_or_default());
        if is_described {
            parameters.extend(parameters::describe(global, values)?);
        } else {
            parameters.extend(constants::describe(global, values));
        }
    }
    Ok(Description { sentence: sentence.unwrap_or_default(), parameters, statistics })
}
