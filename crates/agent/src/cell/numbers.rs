// SPDX-License-Identifier: GPL-2.0-only
//! Numbers in the output of a command.

use std::collections::BTreeMap;

use machine::command::Surroundings;
use machine::scratch::read_end;
use numbers::{Output, Text};
use protocol::{Metrics, Workload};

use super::refusal::Refusal;

/// Reads the counters of a load: the numbers of the JSON object in its last line, if there is one.
pub fn read_counters(output: &str) -> Metrics {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let numbers: BTreeMap<String, f64> = serde_json::from_str(last).unwrap_or_default();
    let mut counters = Metrics::new();
    for (name, number) in numbers {
        counters.insert_named(format!("load_{name}"), number);
    }
    counters
}

/// Adds the metrics that `workload` has printed.
///
/// # Errors
/// A number is missing, is not a number, or may not be the one that was meant.
pub fn read(
    workload: &Workload,
    context: &Surroundings,
    metrics: &mut Metrics,
) -> Result<(), Refusal> {
    let text = |path| {
        let (bytes, is_cut) = read_end(path, Output::LIMIT_BYTES);
        Text::new(&bytes, is_cut)
    };
    let output = Output { stdout: text(&context.stdout()), stderr: text(&context.stderr()) };
    for extract in &workload.extract {
        let number = numbers::read(extract, &output)
            .map_err(|objection| Refusal::new(objection.reason, objection.detail))?;
        metrics.insert_named(extract.metric.clone(), number);
    }
    Ok(())
}

/// Requires numbers that JSON can write and statistics can use.
///
/// # Errors
/// A metric is not finite; the first one is named.
pub fn require_finite(metrics: &Metrics) -> Result<(), Refusal> {
    match metrics.iter().find(|(_, number)| !number.is_finite()) {
        Some((metric, number)) => {
            Err(Refusal::new(format!("the metric {metric} is {number}, which is not a number"), ""))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_cannot_write_are_named() {
        let mut metrics = Metrics::new();
        for (name, number) in [("a", 1.0), ("b", f64::NAN)] {
            metrics.insert_named(name.into(), number);
        }
        let reason = require_finite(&metrics).map_err(|refusal| refusal.reason);
        assert_eq!(reason, Err("the metric b is NaN, which is not a number".into()));
    }

    #[test]
    fn a_load_prints_its_counters_in_its_last_line() {
        let counters = read_counters("ready\n{\"passes\":2,\"units\":1.5}\n");
        let found: Vec<_> = counters.iter().collect();
        assert_eq!(found, [("load_passes", 2.0), ("load_units", 1.5)]);
        assert_eq!(read_counters("ready\nbye\n"), Metrics::new());
    }
}
