// SPDX-License-Identifier: GPL-2.0-only
//! Settings of the processes of a work and of their control group: they go with it.

use std::ops::RangeInclusive;

use machine::cgroup::Cgroup;
use machine::sched::{Policy, Scheduling};
use procfs::process::Process;
use protocol::{Setting, SettingSeen};

use crate::error::SettingError;
use crate::form::is_same;

/// The period of `cpu.max` in µs: the kernel's own.
const PERIOD_US: u64 = 100_000;
/// The least that the kernel takes of it.
const LEAST_QUOTA_US: u64 = 1_000;
const HIGHEST_PRIORITY: u8 = 99;
const NICE: RangeInclusive<i64> = -20..=19;
/// What `cpu.weight` takes.
const WEIGHT: RangeInclusive<i64> = 1..=10_000;

/// The range of a setting that is a number in one.
pub fn range(name: &str) -> Option<RangeInclusive<i64>> {
    match name {
        "nice" => Some(NICE),
        "weight" => Some(WEIGHT),
        _ => None,
    }
}

/// The settings of one work, in their order.
#[derive(Debug, Clone, Default)]
pub struct WorkSettings {
    given: Vec<Setting>,
    scheduling: Scheduling,
    limits: Vec<Limit>,
    quota: Option<f64>,
    weight: Option<u32>,
}

/// A file of a control group, and what is written into it.
#[derive(Debug, Clone)]
struct Limit {
    name: String,
    controller: &'static str,
    file: &'static str,
    /// The file that shows what holds.
    shown: &'static str,
    value: String,
}

impl WorkSettings {
    /// # Errors
    /// A setting is not one of a work, or its value is out of range.
    pub fn parse(settings: &[Setting]) -> Result<Self, SettingError> {
        let mut parsed = Self { given: settings.into(), ..Self::default() };
        for setting in settings {
            parsed.add(setting)?;
        }
        Ok(parsed)
    }

    fn add(&mut self, setting: &Setting) -> Result<(), SettingError> {
        let value = setting.value.as_str();
        let wrong = |allowed: &'static str| SettingError::Wrong {
            name: setting.name.clone(),
            value: value.into(),
            allowed,
        };
        let limit = |controller, file, shown, value| Limit {
            name: setting.name.clone(),
            controller,
            file,
            shown,
            value,
        };
        match setting.name.as_str() {
            "nice" => {
                let nice = value.parse().ok().filter(|nice: &i8| NICE.contains(&(*nice).into()));
                self.scheduling.nice = Some(nice.ok_or_else(|| wrong("-20 to 19"))?);
            }
            "policy" => {
                let policy = parse_policy(value);
                let allowed =
                    "normal, batch, idle, fifo or rr, the last two with a priority as in fifo:50";
                self.scheduling.policy = Some(policy.ok_or_else(|| wrong(allowed))?);
            }
            "weight" => {
                let weight = value.parse().ok().filter(|weight| WEIGHT.contains(weight));
                let weight = weight.ok_or_else(|| wrong("1 to 10000"))?;
                self.weight = u32::try_from(weight).ok();
                self.limits.push(limit("cpu", "cpu.weight", "cpu.weight", weight.to_string()));
            }
            "quota" => {
                let quota =
                    parse_quota(value).ok_or_else(|| wrong("1% of a CPU and more, or max"))?;
                self.quota = cpus_of(&quota);
                self.limits.push(limit("cpu", "cpu.max", "cpu.max", quota));
            }
            "cpuset" => {
                let (file, shown) = ("cpuset.cpus", "cpuset.cpus.effective");
                self.limits.push(limit("cpuset", file, shown, value.into()));
            }
            _ => return Err(SettingError::Unknown { name: setting.name.clone() }),
        }
        Ok(())
    }

    /// How its processes are scheduled.
    pub fn scheduling(&self) -> Scheduling {
        self.scheduling
    }

    /// The CPUs that its control group may use at most, such as 0.5; None without a limit.
    pub fn quota(&self) -> Option<f64> {
        self.quota
    }

    /// The weight that its control group was given; None if it was given none.
    pub fn weight(&self) -> Option<u32> {
        self.weight
    }

    /// The controllers that its control group needs.
    pub fn controllers(&self) -> impl Iterator<Item = &'static str> {
        self.limits.iter().map(|limit| limit.controller)
    }

    /// Limits a control group, and looks whether that holds.
    ///
    /// # Errors
    /// The kernel does not take a value, or has another one.
    pub fn limit(&self, cgroup: &Cgroup) -> Result<(), SettingError> {
        for limit in &self.limits {
            let refused = |error| SettingError::Refused {
                name: limit.name.clone(),
                value: limit.value.clone(),
                error,
                offered: String::new(),
            };
            cgroup.write(limit.file, &limit.value).map_err(refused)?;
        }
        match self.changed(cgroup) {
            None => Ok(()),
            Some((limit, found)) => Err(SettingError::NotTaken {
                name: limit.name.clone(),
                value: limit.value.clone(),
                found,
                offered: String::new(),
            }),
        }
    }

    fn changed(&self, cgroup: &Cgroup) -> Option<(&Limit, String)> {
        self.limits.iter().find_map(|limit| {
            let found = cgroup.read(limit.shown).unwrap_or_else(|error| error.to_string());
            let found = found.trim();
            (!is_same(found, &limit.value)).then(|| (limit, found.to_owned()))
        })
    }

    /// Why a limit of the group does not hold any more.
    pub fn objection(&self, cgroup: &Cgroup) -> Option<String> {
        let (limit, found) = self.changed(cgroup)?;
        let Limit { name, value, .. } = limit;
        Some(format!(
            "the setting {name} was {value} and became {found} while the sample was taken"
        ))
    }

    /// Why the process that leads the work does not run as it should; nothing is said of one that
    /// cannot be seen.
    pub fn objection_to(&self, leader: u32) -> Option<String> {
        let stat = Process::new(leader.cast_signed()).and_then(|process| process.stat()).ok()?;
        let Scheduling { nice, policy } = self.scheduling;
        if let Some(nice) = nice.filter(|nice| i64::from(*nice) != stat.nice) {
            return Some(format!(
                "the setting nice was {nice} and became {} in the work",
                stat.nice
            ));
        }
        let (wanted, found) = (policy?, stat.policy?);
        (wanted.number().cast_unsigned() != found).then(|| {
            format!("the setting policy was {wanted} and became number {found} in the work")
        })
    }

    /// What was set, of the `workload` or of the `load`.
    pub fn seen(&self, of: &str) -> Vec<SettingSeen> {
        let seen = self.given.iter().map(|setting| SettingSeen {
            of: of.into(),
            name: setting.name.clone(),
            wanted: setting.value.clone(),
            was: usual(&setting.name).into(),
            is: setting.value.clone(),
        });
        seen.collect()
    }
}

/// What a work has without the setting.
fn usual(name: &str) -> &'static str {
    match name {
        "nice" => "0",
        "policy" => "normal",
        "weight" => "100",
        "quota" => "max",
        _ => "all CPUs",
    }
}

/// The CPUs that a text for `cpu.max` allows.
fn cpus_of(text: &str) -> Option<f64> {
    let (most, period) = text.split_once(' ')?;
    Some(most.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

fn parse_policy(text: &str) -> Option<Policy> {
    let (name, priority) = text.split_once(':').unwrap_or((text, "1"));
    let priority =
        priority.parse().ok().filter(|number| (1..=HIGHEST_PRIORITY).contains(number))?;
    match name {
        "fifo" => Some(Policy::Fifo { priority, reset_on_fork: false }),
        "rr" => Some(Policy::RoundRobin { priority }),
        _ if text != name => None,
        "normal" => Some(Policy::Normal),
        "batch" => Some(Policy::Batch),
        "idle" => Some(Policy::Idle),
        _ => None,
    }
}

/// `50%` of one CPU, as `cpu.max` has it.
fn parse_quota(text: &str) -> Option<String> {
    if text == "max" {
        return Some(format!("max {PERIOD_US}"));
    }
    let percent: u64 = text.strip_suffix('%')?.parse().ok()?;
    let quota_us = percent.checked_mul(PERIOD_US / 100).filter(|quota| *quota >= LEAST_QUOTA_US)?;
    Some(format!("{quota_us} {PERIOD_US}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, value: &str) -> Result<WorkSettings, SettingError> {
        WorkSettings::parse(&[Setting { name: name.into(), value: value.into() }])
    }

    #[test]
    fn values_are_what_the_kernel_takes() {
        let written = |name, value| {
            let settings = parse(name, value).unwrap();
            let limit = settings.limits[0].clone();
            (limit.file, limit.value)
        };
        assert_eq!(written("weight", "200"), ("cpu.weight", "200".into()));
        assert_eq!(written("quota", "50%"), ("cpu.max", "50000 100000".into()));
        assert_eq!(written("quota", "250%"), ("cpu.max", "250000 100000".into()));
        assert_eq!(written("quota", "max"), ("cpu.max", "max 100000".into()));
        assert_eq!(written("cpuset", "0-1"), ("cpuset.cpus", "0-1".into()));
        assert_eq!(parse("nice", "-5").unwrap().scheduling().nice, Some(-5));
        let policy = |value| parse("policy", value).unwrap().scheduling().policy;
        assert_eq!(policy("batch"), Some(Policy::Batch));
        assert_eq!(policy("fifo:50"), Some(Policy::Fifo { priority: 50, reset_on_fork: false }));
        assert_eq!(policy("rr"), Some(Policy::RoundRobin { priority: 1 }));
    }

    #[test]
    fn what_is_out_of_range_is_named_with_what_is_allowed() {
        let wrong = [
            ("nice", "20"),
            ("nice", "x"),
            ("weight", "0"),
            ("weight", "10001"),
            ("quota", "0%"),
            ("quota", "50"),
            ("quota", "99999999999999999%"),
            ("policy", "fifo:0"),
            ("policy", "fifo:100"),
            ("policy", "batch:3"),
            ("policy", "deadline"),
        ];
        for (name, value) in wrong {
            let error = parse(name, value).unwrap_err();
            assert_eq!(error.exit_code(), 64, "{name} {value}");
            assert!(error.to_string().starts_with(&format!("{name} must be ")), "{error}");
        }
        assert!(parse("thp", "never").unwrap_err().to_string().contains("there is no setting"));
    }
}
