"""A workload or load with its parameters filled in: ready to be sent to the agent."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from runoff.results import Metric
from runoff.workloads.definition import Definition, MetricDefinition, Source
from runoff.workloads.own_files import OwnFile

_PLAYER = ("runoff-agent", "scene", "--")
"""What plays a scene where work is a command."""


@dataclass(frozen=True, slots=True)
class Work:
    """One cell's foreground work, or the load during it."""

    label: str
    definition: Definition
    values: Mapping[str, str]
    source: Source
    """The text that it was defined by."""
    cpus: int
    """Stands for ``{cpus}``."""
    files: tuple[OwnFile, ...] = ()
    """The user's own that are in its working directory."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings that a load has, by name: of its processes and their control group."""
    scene_metrics: Mapping[str, MetricDefinition] = field(default_factory=dict)
    """What is measured of its scene; the engine says what (``runoff.plan.catalogue.Catalogue``)."""

    @property
    def scene(self) -> str:
        """The scene with the values of parameters in it; empty if the work is a command."""
        return self._substitute(self.definition.scene)

    def list_metrics(self, measured: Sequence[Metric]) -> tuple[Metric, ...]:
        """Return all metrics of a sample, headline metrics first: its own, and the ``measured`` ones of every work."""
        own = [
            Metric(name, metric.unit, metric.direction, metric.title or name, metric.headline)
            for name, metric in self._own_metrics.items()
        ]
        every = [replace(metric, headline=metric.headline and self._judges_elapsed) for metric in measured]
        return tuple(sorted([*own, *every], key=lambda metric: not metric.headline))

    @property
    def _judges_elapsed(self) -> bool:
        return self.definition.elapsed_headline or not any(m.headline for m in self._own_metrics.values())

    @property
    def _own_metrics(self) -> Mapping[str, MetricDefinition]:
        named = self.definition.metrics.items()
        own = {name: m for name, m in named if all(self.values[key] in values for key, values in m.only.items())}
        return {**self.scene_metrics, **own}

    @property
    def needs(self) -> list[str]:
        """Paths that must exist on the host."""
        return self.fill(self.definition.needs)

    @property
    def ports(self) -> list[str]:
        """Ports of the loopback network that must be free on the host."""
        return self.fill(self.definition.ports)

    @property
    def controllers(self) -> list[str]:
        """Controllers of control groups that it needs for groups of its own."""
        by_value = [p.controllers.get(self.values[name], []) for name, p in self.definition.parameters.items()]
        return list(dict.fromkeys([*self.definition.controllers, *chain.from_iterable(by_value)]))

    @property
    def lab_only(self) -> str | None:
        """The first of its parameters, as ``name=value``, with which it may run in a guest only."""
        named = self.definition.parameters.items()
        return next((f"{name}={self.values[name]}" for name, p in named if self.values[name] in p.lab_only), None)

    def message(self, root: str | None) -> dict[str, Any]:
        """Return the agent's ``Workload`` message; ``root`` is the directory that becomes its ``/``."""
        return {
            "name": self.label,
            "root": root,
            "files": [
                {"name": each.name, "path": str(each.path), "sha256": each.sha256, "is_executable": each.is_executable}
                for file in self.files
                for each in file.all
            ],
            "controllers": self.controllers,
            "settings": [{"name": name, "value": value} for name, value in self.settings],
            "prepare": [self._load(argv) for argv in self.definition.prepare],
            "server": self._server_message(),
            "command": [*_PLAYER, self.scene] if self.scene else self._load(self.definition.command),
            "environment": {name: self._substitute(value) for name, value in self.definition.environment.items()},
            "timeout_s": self.definition.timeout_s,
            "extract": [
                {
                    "metric": name,
                    "find": metric.find,
                    "unit": metric.unit,
                    "which": metric.which,
                    "row": metric.row,
                    "separated": metric.separated,
                    "thousands": metric.thousands,
                    "stream": metric.stream,
                }
                for name, metric in self._own_metrics.items()
            ],
        }

    def _server_message(self) -> dict[str, Any] | None:
        server = self.definition.server
        return None if server is None else {"command": self._load(server.command), "ready": self._load(server.ready)}

    def load_message(self, root: str | None) -> dict[str, Any]:
        """Return the agent's ``Load`` message."""
        return {"work": self.message(root), "ready": self.definition.ready}

    def _load(self, template: list[str]) -> list[str]:
        """Fill in a command line; a program of the user's with libraries is started by its loader."""
        argv = self.fill(template)
        libraries = next((file.libraries for file in self.files if argv and argv[0] == f"./{file.name}"), ())
        if not libraries:
            return argv
        loader = f"./{libraries[0].name}"
        return [loader, "--library-path", str(PurePosixPath(loader).parent), "--argv0", argv[0], *argv]

    def fill(self, argv: list[str]) -> list[str]:
        """Return words with the values of parameters in them."""
        return [word for template in argv for word in self._words(template)]

    def _words(self, template: str) -> list[str]:
        for name, parameter in self.definition.parameters.items():
            if template == f"{{{name}}}":
                if parameter.words:
                    return [self._translate(word) for word in shlex.split(self.values[name])]
                if parameter.choices is not None:
                    return parameter.choices[self.values[name]]
        return [self._substitute(template)]

    def _translate(self, word: str) -> str:
        """Return the path in the working directory if the word names one of the user's files."""
        return next((f"./{file.name}" for file in self.files if file.key == word), word)

    def _substitute(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", self._value_of, text)

    def _value_of(self, name: re.Match[str]) -> str:
        """Return what stands for a name in braces; the same text if it is not a parameter's."""
        if name[1] not in self.values:
            return str(self.cpus) if name[1] == "cpus" else name[0]
        value = self.values[name[1]]
        return self._translate(value) if self.definition.parameters[name[1]].own_file else value
