// SPDX-License-Identifier: GPL-2.0-only
//! A probe's BPF object: loaded, attached, read.

use libbpf_rs::{Link, Map, MapCore, MapFlags, Object, ObjectBuilder};

use crate::error::ProbeError;
use crate::histogram::Histogram;
use crate::metrics::{
    IDLE_WHILE_WAITING_COUNT, IDLE_WHILE_WAITING_LONGEST_S, IDLE_WHILE_WAITING_S,
    MIGRATION_METRICS, PREEMPTIONS, TURN_TIMES, TimesMetrics, WAKEUP_LATENCIES,
};
use crate::real::real;
use bpf::globals::Global;
use bpf::objects::PROBES;
use bpf::{libbpf_log, opened};
use machine::clock::now_ns;
use protocol::{Metrics, Probe};

/// The name of the file in probes/; None if the kernel counts without one.
pub fn name(probe: Probe) -> Option<&'static str> {
    match probe {
        Probe::Wakeups => Some("wakeups"),
        Probe::Turns => Some("turns"),
        Probe::Idle => Some("idle"),
        Probe::Migrations => Some("migrations"),
        Probe::Scheduler | Probe::Requests => None,
    }
}

/// The name of a global and its first elements. The probe may lack that global.
pub type Constant<'a> = (&'a str, &'a [u64]);

pub struct AttachedProbe {
    name: &'static str,
    programs: Vec<u32>,
    globals: Vec<Global>,
    attached_ns: u64,
    _links: Vec<Link>,
    object: Object,
}

impl AttachedProbe {
    /// Loads and attaches the probe `name` with these constants.
    ///
    /// # Errors
    /// `Rejected` with the end of the log.
    pub fn attach(name: &'static str, constants: &[Constant<'_>]) -> Result<Self, ProbeError> {
        let (result, log) = libbpf_log::caught(|| load(name, constants));
        result.map_err(|error| ProbeError::Rejected {
            name,
            reason: format!("{error:#}"),
            log: libbpf_log::end(&log).trim_end().to_owned(),
        })
    }

    /// The ids of its programs in the kernel.
    pub fn programs(&self) -> &[u32] {
        &self.programs
    }

    /// # Errors
    /// `Unreadable`.
    pub fn read(&self) -> Result<Metrics, ProbeError> {
        let metrics = match self.name {
            "wakeups" => self.times(&WAKEUP_LATENCIES),
            "turns" => self.turns(),
            "idle" => self.idle(),
            _ => self.migrations(),
        };
        metrics
            .map_err(|error| ProbeError::Unreadable { name: self.name, reason: error.to_string() })
    }

    fn turns(&self) -> libbpf_rs::Result<Metrics> {
        let mut metrics = self.times(&TURN_TIMES)?;
        let lost: u64 = self.per_cpu("preemptions", 0)?.iter().flatten().sum();
        metrics.insert(&PREEMPTIONS, real(lost));
        Ok(metrics)
    }

    /// An overlap that has not ended counts up to now.
    fn idle(&self) -> libbpf_rs::Result<Metrics> {
        let sum = self.global("overlap_ns")?;
        let overlap_ns = between(sum, self.attached_ns, now_ns());
        Ok(Metrics::from([
            (&IDLE_WHILE_WAITING_S, real(overlap_ns) / 1e9),
            (&IDLE_WHILE_WAITING_COUNT, real(self.global("overlaps")?)),
            (&IDLE_WHILE_WAITING_LONGEST_S, real(self.global("longest_ns")?) / 1e9),
        ]))
    }

    /// The moves by distance, which begins at 1 in schedulers/include/machine.h.
    fn migrations(&self) -> libbpf_rs::Result<Metrics> {
        let cpus = self.per_cpu("moves", 0)?;
        let count = |distance: usize| cpus.iter().filter_map(|cpu| cpu.get(distance)).sum::<u64>();
        let metrics = MIGRATION_METRICS.iter().copied().zip(1..);
        Ok(metrics.map(|(metric, distance)| (metric, real(count(distance)))).collect())
    }

    fn times(&self, times: &TimesMetrics) -> libbpf_rs::Result<Metrics> {
        let histogram = self.histogram(0)?;
        let summary = times.summary.into_iter().zip(histogram.summary_us());
        let mut metrics: Metrics = summary.map(|(metric, (_, us))| (metric, us)).collect();
        metrics.insert(times.count, real(histogram.count()));
        Ok(metrics)
    }

    /// # Errors
    /// The probe has no such histogram.
    pub fn histogram(&self, index: u32) -> libbpf_rs::Result<Histogram> {
        let mut histogram = Histogram::default();
        for cpu in self.per_cpu("times", index)? {
            histogram.add(&cpu);
        }
        Ok(histogram)
    }

    /// Empties a histogram. Times that are added meanwhile may be lost.
    pub fn clear(&self, index: u32) {
        let Ok(times) = self.map("times") else { return };
        if let Ok(Some(cpus)) = times.lookup_percpu(&index.to_ne_bytes(), MapFlags::ANY) {
            let zeros: Vec<Vec<u8>> = cpus.iter().map(|cpu| vec![0; cpu.len()]).collect();
            let _ = times.update_percpu(&index.to_ne_bytes(), &zeros, MapFlags::ANY);
        }
    }

    /// An element of a map as numbers of 64 bits, for each CPU.
    fn per_cpu(&self, map: &str, index: u32) -> libbpf_rs::Result<Vec<Vec<u64>>> {
        let cpus = self.map(map)?.lookup_percpu(&index.to_ne_bytes(), MapFlags::ANY)?;
        Ok(cpus.unwrap_or_default().iter().map(|value| words(value)).collect())
    }

    fn map(&self, name: &str) -> libbpf_rs::Result<Map<'_>> {
        self.object.maps().find(|each| each.name() == name).ok_or_else(|| missing("map"))
    }

    fn global(&self, name: &str) -> libbpf_rs::Result<u64> {
        let global = self.globals.iter().find(|global| global.name == name);
        let global = global.ok_or_else(|| missing("variable"))?;
        let section = self.object.maps().find(|map| opened::holds(map.name(), &global.section));
        let section = section.ok_or_else(|| missing("section"))?;
        let bytes = section.lookup(&0u32.to_ne_bytes(), MapFlags::ANY)?;
        let bytes = bytes.ok_or_else(|| missing("value"))?;
        words(&bytes[global.offset..]).first().copied().ok_or_else(|| missing("value"))
    }
}

fn load(name: &'static str, constants: &[Constant<'_>]) -> libbpf_rs::Result<AttachedProbe> {
    let bytes = PROBES.iter().find(|(own, _)| *own == name).ok_or_else(|| missing("object"))?.1;
    let mut object = ObjectBuilder::default().name(name)?.open_memory(bytes)?;
    let globals = opened::variables(&object);
    for global in &globals {
        if let Some((_, values)) = constants.iter().find(|(name, _)| *name == global.name) {
            opened::fill(&mut object, global, values);
        }
    }
    opened::fit_machine(&mut object, &globals);
    let object = object.load()?;
    let links: Vec<Link> =
        object.progs_mut().map(|program| program.attach()).collect::<Result<_, _>>()?;
    let programs =
        links.iter().map(|link| Ok(link.info()?.prog_id)).collect::<libbpf_rs::Result<_>>()?;
    let attached_ns = now_ns();
    Ok(AttachedProbe { name, programs, globals, attached_ns, _links: links, object })
}

/// The length of all periods since `attached`, if `sum` is their ends minus their beginnings at
/// `now`; all in ns.
///
/// A period that has begun ends now. A CPU may have seen a beginning or an end and not yet added
/// it, an emulated one for milliseconds: then the sum lacks a number about as large as `now`, which
/// no complete period comes near. For the same reason a beginning may have a later time than its
/// end, and the sum can be slightly negative.
fn between(sum: u64, attached: u64, now: u64) -> u64 {
    let (longest, now) = ((now - attached).cast_signed(), now.cast_signed());
    let mut sum = sum.cast_signed();
    while sum < 0 {
        sum += now;
    }
    if sum > longest {
        sum = (sum - now).max(0);
    }
    sum.cast_unsigned()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let whole = bytes.chunks_exact(8);
    whole.map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes"))).collect()
}

fn missing(what: &str) -> libbpf_rs::Error {
    libbpf_rs::Error::from(std::io::Error::other(format!("the object has no such {what}")))
}

#[cfg(test)]
mod tests {
    use super::between;

    const ATTACHED: u64 = 20_000;
    const NOW: u64 = 30_000;

    #[test]
    fn complete_periods_are_the_sum() {
        assert_eq!(between(0, ATTACHED, NOW), 0);
        assert_eq!(between(5_000, ATTACHED, NOW), 5_000);
    }

    #[test]
    fn a_period_that_has_begun_ends_now() {
        let begun: u64 = 5_000_u64.wrapping_sub(29_000);
        assert_eq!(between(begun, ATTACHED, NOW), 5_000 + 1_000);
        let twice = begun.wrapping_sub(29_500);
        assert_eq!(between(twice, ATTACHED, NOW), 5_000 + 1_000 + 500);
    }

    #[test]
    fn a_slightly_negative_sum_is_zero() {
        assert_eq!(between(7_u64.wrapping_neg(), ATTACHED, NOW), 0);
    }

    #[test]
    fn an_end_without_its_beginning_is_not_as_long_as_the_machine_is_up() {
        assert_eq!(between(5_000 + 29_900, ATTACHED, NOW), 5_000 - 100);
        assert_eq!(between(29_900, ATTACHED, NOW), 0);
    }
}
