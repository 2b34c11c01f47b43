"""A workload or load with its parameters filled in: ready to be sent to the agent."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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


def parse_loads(text: str, cpus: int, catalogue: Catalogue = LOADS) -> list["Work | None"]:
    """Parse loads, as `parse_works` does workloads. Raises UsageError."""
    if text.strip() == NO_LOAD:
        return [None]
    return list(parse_works(text, cpus, catalogue))


@dataclass(frozen=True, slots=True)
class Work:
    """One cell's foreground work, or the load during it."""

    label: str
    definition: Definition
    values: Mapping[str, str]
    source: Source
    """The text that it was defined by."""

    def list_metrics(self, measured: Sequence[Metric]) -> tuple[Metric, ...]:
        """Return all metrics of a sample, headline metrics first: its own, and the ``measured`` ones of every work."""
        own = [
            Metric(name, metric.unit, metric.direction, metric.title, metric.headline)
            for name, metric in self._own_metrics.items()
        ]
        every = [replace(metric, headline=metric.headline and self._judges_elapsed) for metric in measured]
        return tuple(sorted([*own, *every], key=lambda metric: not metric.headline))

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
                    "find": metric.find,
                    "unit": metric.unit,
                    "which": metric.which,
                    "separated": metric.separated,
                    "thousands": metric.thousands,
                    "stream": metric.stream,
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
