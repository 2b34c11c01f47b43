"""A workload or load with its parameters filled in: ready to be sent to the agent."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runoff.errors import UsageError
from runoff.results import NO_LOAD, Metric
from runoff.text import parse_assignments, suggest
from runoff.workloads.definition import (
    LOADS,
    WORKLOADS,
    Catalogue,
    Definition,
    MetricDefinition,
    Parameter,
    Source,
)

STANDARD_METRICS = (
    Metric("elapsed_s", "s", "lower", "elapsed time"),
    Metric("user_s", "s", "none", "user CPU time"),
    Metric("system_s", "s", "none", "system CPU time"),
    Metric("cpu_pct", "%", "none", "CPU use (100 is one CPU)"),
    Metric("runqueue_wait_s", "s", "none", "time tasks waited for a CPU, whole machine"),
    Metric("voluntary_switches", "", "none", "voluntary context switches"),
    Metric("involuntary_switches", "", "none", "involuntary context switches"),
    Metric("migrations", "", "none", "moves between CPUs"),
    Metric("max_rss_kb", "KiB", "none", "largest resident set"),
    Metric("pgpgin_kb", "KiB", "none", "read from disks, whole machine"),
    Metric("pgpgout_kb", "KiB", "none", "written to disks, whole machine"),
    Metric("pswpin", "", "none", "pages swapped in, whole machine"),
    Metric("pswpout", "", "none", "pages swapped out, whole machine"),
    Metric("io_stall_some_s", "s", "none", "time some task waited for a disk, whole machine"),
    Metric("io_stall_full_s", "s", "none", "time all tasks waited for a disk, whole machine"),
)
"""What the agent measures for every workload (docs/protocol.md)."""

LOAD_METRICS = (
    Metric("load_elapsed_s", "s", "none", "load: from the workload's start to its own end"),
    Metric("load_user_s", "s", "none", "load: user CPU time while the workload ran"),
    Metric("load_system_s", "s", "none", "load: system CPU time while the workload ran"),
    Metric("load_cpu_pct", "%", "none", "load: CPU use while the workload ran (100 is one CPU)"),
    Metric("load_reaped_cpu_s", "s", "none", "load: CPU time of what it waited for, as contest counted it"),
    Metric("load_passes", "", "none", "load: how often it did all of its work"),
    Metric("load_units", "", "none", "load: work done in contest's unit"),
    Metric("load_bytes_read", "B", "none", "load: bytes read"),
    Metric("load_bytes_written", "B", "none", "load: bytes written"),
)
"""What the agent measures beside a load, and what runoff's own loads count."""


def parse_loads(text: str, cpus: int, catalogue: Catalogue = LOADS) -> list["Work | None"]:
    """Parse loads, as `parse_works` does workloads. Raises UsageError."""
    if text.strip() == NO_LOAD:
        return [None]
    return list(parse_works(text, cpus, catalogue))


@dataclass(frozen=True, slots=True)
class Work:
    """One cell's foreground work, or the load beside it."""

    label: str
    definition: Definition
    values: Mapping[str, str]
    source: Source
    """Where the definition is from."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All metrics of a sample, headline metrics first."""
        own = [
            Metric(name, metric.unit, metric.direction, metric.title, metric.headline)
            for name, metric in self._own_metrics.items()
        ]
        standard = [
            Metric(m.name, m.unit, m.direction, m.title, headline=m.name == "elapsed_s" and self._judges_elapsed)
            for m in STANDARD_METRICS
        ]
        return tuple(sorted([*own, *standard], key=lambda metric: not metric.headline))

    @property
    def _judges_elapsed(self) -> bool:
        return self.definition.elapsed_headline or not any(m.headline for m in self._own_metrics.values())

    @property
    def _own_metrics(self) -> Mapping[str, MetricDefinition]:
        return {
            name: metric
            for name, metric in self.definition.metrics.items()
            if all(self.values[key] in values for key, values in metric.only.items())
        }

    @property
    def files(self) -> list[str]:
        """Paths that must exist on the host."""
        return self._fill(self.definition.files)

    def message(self, root: str | None) -> dict[str, Any]:
        """Return the agent's ``Workload`` message; ``root`` is the directory that becomes its ``/``."""
        fill = self._fill
        return {
            "name": self.label,
            "root": root,
            "prepare": [fill(argv) for argv in self.definition.prepare],
            "command": fill(self.definition.command),
            "environment": dict(self.definition.environment),
            "timeout_s": self.definition.timeout_s,
            "extract": [
                {
                    "metric": name,
                    "pattern": metric.pattern,
                    "unit": metric.unit,
                    "which": metric.which,
                    "separated": metric.separated,
                }
                for name, metric in self._own_metrics.items()
            ],
        }

    def load_message(self, root: str | None) -> dict[str, Any]:
        """Return the agent's ``Load`` message."""
        return {"work": self.message(root), "ready": self.definition.ready}

    def _fill(self, argv: list[str]) -> list[str]:
        return [word for template in argv for word in self._words(template)]

    def _words(self, template: str) -> list[str]:
        for name, parameter in self.definition.parameters.items():
            if template == f"{{{name}}}":
                if parameter.words:
                    return shlex.split(self.values[name])
                if parameter.choices is not None:
                    return parameter.choices[self.values[name]]
        return [re.sub(r"\{(\w+)\}", self._value, template)]

    def _value(self, match: re.Match[str]) -> str:
        return self.values.get(match[1], match[0])


def parse_works(text: str, cpus: int, catalogue: Catalogue = WORKLOADS) -> list[Work]:
    """Parse ``name[:key=value,...]`` as one work, or several if a value is a range ``1..4``.

    ``cpus`` stands for ``{cpus}`` in a default. Raises UsageError.
    """
    name, _, rest = text.strip().partition(":")
    where = f"{catalogue.noun} {text!r}"
    source = catalogue.read(name)
    definition = catalogue.parse(source)
    short = Path(name).name.removesuffix(".toml")
    words = next((key for key, parameter in definition.parameters.items() if parameter.words), None)
    if words is not None:
        return [Work(text.strip(), definition, {words: _command_line(where, rest)}, source)]
    given = parse_assignments(rest, where)
    for key in given:
        if key not in definition.parameters:
            raise UsageError(f"{where}: no parameter {key!r}{suggest(key, definition.parameters)}")
    combinations: list[dict[str, str]] = [{}]
    varied = set(given)
    for key, parameter in definition.parameters.items():
        values = _values(key, given.get(key, parameter.default).replace("{cpus}", str(cpus)), parameter, where)
        if len(values) > 1:
            varied.add(key)
        combinations = [{**chosen, key: value} for chosen in combinations for value in values]
    return [Work(_label(short, chosen, varied), definition, chosen, source) for chosen in combinations]


def _command_line(where: str, line: str) -> str:
    try:
        empty = not shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    if empty:
        raise UsageError(f"{where}: a command line must follow the colon, e.g. 'command:gzip -9 file'")
    return line


def _label(name: str, chosen: Mapping[str, str], varied: set[str]) -> str:
    shown = ",".join(f"{key}={value}" for key, value in chosen.items() if key in varied)
    return f"{name}:{shown}" if shown else name


def _values(key: str, text: str, parameter: Parameter, where: str) -> list[str]:
    if parameter.choices is not None:
        if text not in parameter.choices:
            raise UsageError(f"{where}: {key}={text}{suggest(text, parameter.choices)}")
        return [text]
    if parameter.minimum is None or parameter.maximum is None:
        return [text]
    match = re.fullmatch(r"(-?[0-9]{1,30})(?:\.\.(-?[0-9]{1,30}))?", text)
    if match is None:
        raise UsageError(f"{where}: {key} must be a whole number or a range like 1..4, not {text!r}")
    low, high = int(match[1]), int(match[2] or match[1])
    if not parameter.minimum <= low <= high <= parameter.maximum:
        raise UsageError(f"{where}: {key}={text} is out of its range {parameter.minimum}..{parameter.maximum}")
    return [str(value) for value in range(low, high + 1)]
