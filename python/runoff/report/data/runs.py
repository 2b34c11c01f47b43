"""One row for each run: the log that graysky's scripts kept, and all metrics as columns."""

from collections import Counter
from collections.abc import Mapping

from runoff.analysis.values import Report
from runoff.results import Results, Sample
from runoff.separated import render_rows

LOG_COLUMNS = (
    "iso_time", "host", "cpu", "kernel", "scheduler", "benchmark", "run_index", "is_warmup", "jobs", "elapsed_s",
    "user_s", "sys_s", "maxrss_kB", "temp_C", "freq_mean_kHz", "load1_before",
)  # fmt: skip
"""One line for each run, to be read by other programs: an empty field where a sample cannot tell."""

HEAD_COLUMNS = (
    "id", "engine", "clock", "block", "position", "warmup", "arm", "workload", "load", "valid", "reason", "started",
    "load1_before", "temperature_c", "frequency_khz",
)  # fmt: skip

JOBS = ("jobs", "threads")
"""Parameters of workloads that say how many things are done at once."""


def render_log(report: Report) -> str:
    """Render valid runs, tab-separated with a header, in run order; ``run_index`` counts within arm and benchmark."""
    results = report.results
    seen: Counter[tuple[str, str, str]] = Counter()
    rows = []
    for sample in results.samples:
        if not sample.valid:
            continue
        place = (sample.arm, sample.workload, sample.load)
        seen[place] += 1
        started, *state = _conditions(sample)
        rows.append((
            started, *_describe_machine(results, sample), sample.arm,
            sample.work.label(len(results.loads)),
            seen[place], int(sample.is_warmup), _jobs(results.parameters.get(sample.workload, {})),
            *(sample.metrics.get(name) for name in ("elapsed_s", "user_s", "system_s", "max_rss_kb")),
            *state,
        ))  # fmt: skip
    return render_rows([LOG_COLUMNS, *rows], "\t")


def render_wide(report: Report) -> str:
    """Render CSV of every run in run order, void ones too, with a column for each metric of any workload."""
    results = report.results
    names = list(dict.fromkeys(metric.name for workload in results.workloads for metric in results.metrics[workload]))
    several = bool(results.machines)
    rows = []
    for sample in results.samples:
        started, temperature_c, frequency_khz, load1 = _conditions(sample)
        rows.append((
            *([sample.machine] if several else []),
            sample.id, results.engine, results.clock, sample.block + 1, sample.position + 1, int(sample.is_warmup),
            sample.arm, sample.workload, sample.load, int(sample.valid), sample.reason,
            started, load1, temperature_c, frequency_khz,
            *(sample.metrics.get(name) for name in names),
        ))  # fmt: skip
    return render_rows([(*(["machine"] if several else []), *HEAD_COLUMNS, *names), *rows])


def _describe_machine(results: Results, sample: Sample) -> tuple[str | None, str | None, str | None]:
    """Return name, processor and kernel of the machine that took ``sample``."""
    if sample.machine:
        known = results.fingerprint.get("machines", {}).get(sample.machine, {})
        return sample.machine, known.get("cpu_model"), known.get("release")
    machine, kernel = (results.fingerprint.get(table, {}) for table in ("machine", "kernel"))
    return machine.get("hostname"), machine.get("cpu_model"), kernel.get("release")


def _conditions(sample: Sample) -> tuple[str | None, float | None, float | None, float | None]:
    """Start, temperature, frequency, load average: in the order of the log's columns."""
    began = sample.conditions
    if began is None:
        return None, None, None, None
    return began.started, began.temperature_c, began.frequency_khz, began.load1


def _jobs(parameters: Mapping[str, str]) -> str | None:
    return next((parameters[name] for name in JOBS if name in parameters), None)
