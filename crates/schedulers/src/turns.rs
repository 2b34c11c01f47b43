// SPDX-License-Identifier: GPL-2.0-only
//! Computes the number of tasks above which one starves while the others have the turns that a user
//! has chosen.

use std::time::Duration;

use ::parameters::{Allowed, Value};
use serde::Serialize;

use super::parameters::Parameter;

/// The tag of a parameter that sets how long a task may run while its equals wait; see
/// schedulers/include/describe.h.
const TAG: &str = "turn";

/// The tag of a parameter that sets how many turns in one some tasks have.
const FACTOR: &str = "turns in one";

/// The rescue of starving tasks in schedulers/include/runqueue/rescue.h and
/// schedulers/bfs/rescue.h: from half of the watchdog's limit on (kernel/sched/ext.c,
/// `SCX_WATCHDOG_MAX_TIMEOUT`) each gets a tick, a number of them at a time, with a rest between.
const STARVED: Duration = Duration::from_secs(15);
const RESCUED_AT_ONCE: u32 = 512;
const RESCUE_REST: Duration = Duration::from_millis(500);

/// Number of tasks of a CPU for which a turn must be short enough.
const CROWD: u64 = 2000;

/// A turn that makes a crowd starve.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct LongTurn {
    /// The name and value of the parameter.
    parameter: String,
    unit: String,
    /// With more tasks per CPU than this, one waits until it is rescued.
    starves_above: u64,
    /// With more tasks the rescue may come too late for one, and the kernel, which checks twice per
    /// limit, may end the scheduler.
    safe_up_to: u64,
}

/// The turn among the `chosen` values of the `known` parameters, if `CROWD` tasks of a CPU do not
/// all get one in time. `tick` is the kernel's.
pub fn long(known: &[Parameter], chosen: &[(&Parameter, i64)], tick: Duration) -> Option<LongTurn> {
    let tagged = |tag: &str| known.iter().find(|one| one.place.tags.iter().any(|own| own == tag));
    let given = |parameter: &Parameter| {
        let same = |(other, _): &&(&Parameter, i64)| other.about.name == parameter.about.name;
        chosen.iter().find(same).map(|(_, value)| *value)
    };
    let turn = tagged(TAG)?;
    let factor = tagged(FACTOR).and_then(|factor| Some((factor, given(factor)?)));
    let number = given(turn).or_else(|| factor.and_then(|_| default(turn)))?;
    let number = u64::try_from(number).ok().filter(|number| *number > 0)?;
    let Allowed::Range { unit, .. } = &turn.about.allowed else { return None };
    let length = match unit.as_str() {
        "ms" => Duration::from_millis(number),
        "us" => Duration::from_micros(number),
        _ => return None,
    };
    let (parameter, value, unit, length) = match factor {
        Some((factor, value)) => (factor, value, "turns", length * u32::try_from(value).ok()?),
        None => (turn, given(turn)?, unit.as_str(), length),
    };
    let starves_above = times(STARVED, length);
    (starves_above < CROWD).then(|| LongTurn {
        parameter: format!("{}={value}", parameter.about.name),
        unit: unit.into(),
        starves_above,
        safe_up_to: rescued(length, tick),
    })
}

fn default(parameter: &Parameter) -> Option<i64> {
    match parameter.about.default {
        Value::Number(number) => Some(number),
        Value::Name(_) => None,
    }
}

/// How many tasks that began to starve together are rescued before the watchdog has seen one wait for twice as long.
fn rescued(turn: Duration, tick: Duration) -> u64 {
    // The others have their turns in the pause, once before the first rescue too.
    let pause = RESCUE_REST.max(turn);
    times(STARVED.saturating_sub(pause) * RESCUED_AT_ONCE, RESCUED_AT_ONCE * tick + pause)
}

fn times(whole: Duration, part: Duration) -> u64 {
    u64::try_from(whole.as_nanos() / part.as_nanos().max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{builtin, parameters};

    const HZ_250: Duration = Duration::from_millis(4);

    fn told(scheduler: &str, pairs: &[(&str, &str)], tick: Duration) -> Option<(u64, u64)> {
        let known = &builtin::find(scheduler).unwrap().description.parameters;
        let given: BTreeMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let chosen = parameters::choose(scheduler, known, &given).unwrap();
        long(known, &chosen, tick).map(|turn| (turn.starves_above, turn.safe_up_to))
    }

    #[test]
    fn a_second_each_is_too_long_for_sixteen() {
        assert_eq!(told("zaphod", &[("time_slice", "1000")], HZ_250), Some((15, 2351)));
        assert_eq!(told("bfs", &[("rr_interval_ms", "1000")], HZ_250), Some((15, 2351)));
    }

    #[test]
    fn others_have_a_turn_or_half_a_second_between_two_rescues() {
        let hz_1000 = Duration::from_millis(1);
        assert_eq!(told("zaphod", &[("time_slice", "1000")], hz_1000), Some((15, 4740)));
        assert_eq!(told("zaphod", &[("time_slice", "100")], hz_1000), Some((150, 7335)));
    }

    #[test]
    fn turns_are_in_the_parameters_own_unit() {
        assert_eq!(told("eevdf", &[("slice_us", "100000")], HZ_250), Some((150, 2913)));
        assert_eq!(told("cfs", &[("min_granularity_us", "1000000")], HZ_250), Some((15, 2351)));
    }

    #[test]
    fn several_turns_in_one_are_as_long_as_all_of_them() {
        let factor = |times| ("batch_time_slice_multiplier", times);
        assert_eq!(told("hydra", &[factor("10")], HZ_250), Some((15, 2351)));
        assert_eq!(told("hydra", &[factor("100"), ("time_slice", "10")], HZ_250), Some((15, 2351)));
        assert_eq!(told("hydra", &[factor("5"), ("time_slice", "1")], HZ_250), None);
    }

    #[test]
    fn turns_that_leave_no_task_waiting_are_not_reported() {
        assert_eq!(told("bfs", &[("rr_interval_ms", "6")], HZ_250), None);
        assert_eq!(told("bfs", &[("iso_cpu", "100")], HZ_250), None);
        assert_eq!(told("cfs", &[("min_granularity_us", "0")], HZ_250), None);
        assert_eq!(told("zaphod", &[], HZ_250), None);
        assert_eq!(told("hydra", &[("base_promotion_interval", "10000")], HZ_250), None);
    }

    #[test]
    fn every_scheduler_with_turns_of_the_users_choice_marks_one() {
        let marked: Vec<&str> = builtin::all()
            .iter()
            .filter(|each| {
                let parameters = &each.description.parameters;
                parameters.iter().any(|one| one.place.tags.iter().any(|tag| tag == TAG))
            })
            .map(|each| each.name.as_str())
            .collect();
        assert_eq!(marked, ["bfs", "cfs", "eevdf", "hydra", "zaphod"]);
    }
}
