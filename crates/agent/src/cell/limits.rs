// SPDX-License-Identifier: GPL-2.0-only
//! What became of the limits that a plan gives to the control groups of work and load.

use machine::cgroup::Cgroup;
use protocol::Metrics;
use settings::WorkSettings;

use super::metrics::{
    ELAPSED_S, LOAD_QUOTA_USED_PCT, LOAD_SYSTEM_S, LOAD_USER_S, QUOTA_LEFT_S, QUOTA_USED_PCT,
    SERVER_SYSTEM_S, SERVER_USER_S, SHARE_ASKED_PCT, SHARE_PCT, SYSTEM_S, THROTTLED_S, USER_S,
};

/// What `cpu.weight` is where nothing is written.
const USUAL_WEIGHT: u32 = 100;

/// The quota of the work in a control group, from the start of its command on.
pub struct Quota<'a> {
    cgroup: &'a Cgroup,
    /// CPUs that it may use at most.
    cpus: f64,
    /// How long it had been throttled at the start; None where the kernel does not tell.
    throttled_s: Option<f64>,
}

impl<'a> Quota<'a> {
    /// None if the work has no quota.
    pub fn watch(settings: &WorkSettings, cgroup: &'a Cgroup) -> Option<Self> {
        let cpus = settings.quota()?;
        Some(Self { cgroup, cpus, throttled_s: cgroup.throttled_s() })
    }

    /// Adds what became of it to the other metrics of the sample.
    pub fn add_to(self, metrics: &mut Metrics) {
        let (used_s, allowed_s) = (work_s(metrics), self.cpus * elapsed_s(metrics));
        metrics.extend([
            (&QUOTA_USED_PCT, 100.0 * used_s / allowed_s),
            (&QUOTA_LEFT_S, (allowed_s - used_s).max(0.0)),
        ]);
        if let (Some(before_s), Some(after_s)) = (self.throttled_s, self.cgroup.throttled_s()) {
            metrics.insert(&THROTTLED_S, after_s - before_s);
        }
    }
}

/// Adds what became of the weights of work and load, and of the quota of the load.
pub fn add_beside_load(work: &WorkSettings, load: &WorkSettings, metrics: &mut Metrics) {
    let load_s = sum(metrics, &[&LOAD_USER_S, &LOAD_SYSTEM_S]);
    if let Some(quota) = load.quota() {
        let allowed_s = quota * elapsed_s(metrics);
        metrics.insert(&LOAD_QUOTA_USED_PCT, 100.0 * load_s / allowed_s);
    }
    let both_s = work_s(metrics) + load_s;
    if (work.weight().is_some() || load.weight().is_some()) && both_s > 0.0 {
        let [own, other] =
            [work, load].map(|each| f64::from(each.weight().unwrap_or(USUAL_WEIGHT)));
        metrics.extend([
            (&SHARE_PCT, 100.0 * work_s(metrics) / both_s),
            (&SHARE_ASKED_PCT, 100.0 * own / (own + other)),
        ]);
    }
}

fn elapsed_s(metrics: &Metrics) -> f64 {
    sum(metrics, &[&ELAPSED_S])
}

/// CPU time of the command and its server.
fn work_s(metrics: &Metrics) -> f64 {
    sum(metrics, &[&USER_S, &SYSTEM_S, &SERVER_USER_S, &SERVER_SYSTEM_S])
}

fn sum(metrics: &Metrics, parts: &[&protocol::Metric]) -> f64 {
    parts.iter().filter_map(|part| metrics.get(part)).sum()
}

#[cfg(test)]
mod tests {
    use protocol::Setting;

    use super::*;

    fn settings(given: &[(&str, &str)]) -> WorkSettings {
        let settings = given
            .iter()
            .map(|(name, value)| Setting { name: (*name).into(), value: (*value).into() });
        WorkSettings::parse(&settings.collect::<Vec<_>>()).unwrap()
    }

    fn taken() -> Metrics {
        Metrics::from([
            (&ELAPSED_S, 4.0),
            (&USER_S, 1.0),
            (&SYSTEM_S, 0.5),
            (&SERVER_USER_S, 1.0),
            (&SERVER_SYSTEM_S, 0.5),
            (&LOAD_USER_S, 0.5),
            (&LOAD_SYSTEM_S, 0.5),
        ])
    }

    #[test]
    fn shares_are_of_work_and_server_against_the_load_and_asked_by_both_weights() {
        let mut metrics = taken();
        add_beside_load(&settings(&[("weight", "300")]), &settings(&[]), &mut metrics);
        assert_eq!(metrics.get(&SHARE_PCT), Some(75.0));
        assert_eq!(metrics.get(&SHARE_ASKED_PCT), Some(75.0));
        let mut metrics = taken();
        let load = settings(&[("weight", "900"), ("quota", "50%")]);
        add_beside_load(&settings(&[]), &load, &mut metrics);
        assert_eq!(metrics.get(&SHARE_ASKED_PCT), Some(10.0));
        assert_eq!(metrics.get(&LOAD_QUOTA_USED_PCT), Some(50.0));
        let mut metrics = taken();
        add_beside_load(&settings(&[]), &settings(&[]), &mut metrics);
        assert_eq!(metrics, taken());
    }
}
