"""Elevators of arms and the disk below them: ``name[:key=value,...]``, checked against the agent's catalogue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runoff.errors import UsageError
from runoff.plan.parameters import check_parameters
from runoff.text import parse_assignments, suggest

DescribeElevators = Callable[[], Mapping[str, Any]]
"""Yields ``elevators``, those of the ``kernel``, the parameters of a ``disk``, and its ``models``."""


@dataclass(frozen=True, slots=True)
class Elevator:
    """An I/O scheduler with its parameters, and its description by the agent."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""
    """How it finds the process of a request."""
    is_the_kernels: bool = False
    """Whether it is one of today's kernel, not one of runoff's."""
    module: str | None = None
    """Kernel module that the guest needs for it, besides the module of the disk."""
    about: str = ""
    """A sentence about it; empty where its description is not known."""


def parse_elevator(text: str, describe: DescribeElevators | None, where: str) -> Elevator:
    """Return the elevator that ``text`` describes. Raises UsageError; ``where`` starts the sentence.

    Without ``describe`` names and parameters are not checked, and nothing else is known about the elevator.
    """
    name, _, assignments = text.partition(":")
    if not name:
        raise UsageError(f"{where}: an elevator must follow +io=, e.g. +io=cfq")
    parameters = parse_assignments(assignments, where)
    if describe is None:
        return Elevator(name, parameters)
    catalogue = describe()
    kernels = {entry["name"]: entry for entry in catalogue["kernel"]}
    known = {entry["name"]: entry for entry in catalogue["elevators"]} | kernels
    if name not in known:
        raise UsageError(f"{where}: unknown elevator {name!r}{suggest(name, known)}")
    described = known[name]
    check_parameters(name, parameters, described["parameters"], where)
    _check_variant(parameters, described["parameters"], where)
    return Elevator(
        name, parameters, described["identity"], name in kernels, described.get("module"), described.get("sentence", "")
    )


def _check_variant(given: Mapping[str, str], described: list[Mapping[str, Any]], where: str) -> None:
    table = {parameter["name"]: parameter for parameter in described}
    if "variant" not in table:
        return
    variant = given.get("variant", table["variant"]["default"])
    for key in given:
        wanted = table[key].get("variants")
        if wanted and variant not in wanted:
            raise UsageError(f"{where}: {key} is for variant={' or '.join(wanted)} only, not for variant={variant}")


def check_model(text: str, size_mb: int, describe: DescribeElevators) -> None:
    """Raise UsageError unless ``text`` is a disk model of at least that size."""
    where = f"disk model {text!r}"
    name, _, assignments = text.partition(":")
    parameters = parse_assignments(assignments, where)
    catalogue = describe()
    models = {entry["name"]: dict(entry["values"]) for entry in catalogue["models"]}
    if name not in models:
        raise UsageError(f"{where}: unknown model {name!r}{suggest(name, models)}")
    described = catalogue["disk"]["parameters"]
    check_parameters(name, parameters, described, where)
    defaults = {parameter["name"]: parameter["default"] for parameter in described}
    model_mb = int({**defaults, **models[name], **parameters}["sectors"]) // 2048
    if size_mb > model_mb:
        raise UsageError(f"{where} has {model_mb} MiB, not the {size_mb} MiB that are wanted: use a smaller --disk")
