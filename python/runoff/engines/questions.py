"""Questions to the agent's program, each answered by a run of its own: what it knows, and what it finds in texts."""

import functools
import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from runoff.engines.agent import ask, find_agent
from runoff.engines.agent_metrics import parse_metrics
from runoff.engines.programs.modes import describe_modes
from runoff.errors import RunoffError, UsageError
from runoff.plan.catalogue import Catalogue, EngineMetrics
from runoff.workloads import MetricDefinition


@functools.cache
def describe_schedulers() -> Mapping[str, Any]:
    """Return the schedulers inside the agent by name, with title and parameters."""
    listed = json.loads(ask("schedulers"))
    return {entry["name"]: entry for entry in listed}


def find_in_charge() -> Mapping[str, Any] | None:
    """Return the scheduler in charge of this machine (``ops``), with the process and the service that keep it so;
    None for the kernel's own."""
    found: Mapping[str, Any] | None = json.loads(ask("in-charge"))
    return found


def describe_object(path: str) -> Mapping[str, Any]:
    """Return an object file as `describe_schedulers` has the agent's own. Raises UsageError if it is not one."""
    agent = find_agent()
    done = subprocess.run([agent, "schedulers", "--", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(done.stderr.strip().removeprefix("runoff-agent: "))
    return dict(json.loads(done.stdout))


@functools.cache
def describe_elevators() -> Mapping[str, Any]:
    """Return the elevators and disk models of the agent; see ``runoff.plan.elevators``."""
    return dict(json.loads(ask("elevators")))


@functools.cache
def describe_metrics() -> EngineMetrics:
    """Return what the agent can measure."""
    return parse_metrics(json.loads(ask("metrics")))


@functools.cache
def describe_settings() -> Sequence[Mapping[str, Any]]:
    """Return the settings that an arm can have, with the values that they have on this machine."""
    return list(json.loads(ask("settings")))


@functools.cache
def describe_scene(text: str) -> Mapping[str, MetricDefinition]:
    """Return what is measured of a scene, by name. Raises UsageError for a text that is not one."""
    agent = find_agent()
    done = subprocess.run([agent, "scene", "--check", "--", text], capture_output=True, text=True, check=False)
    if done.returncode == UsageError.exit_code:
        raise UsageError(done.stderr.strip().removeprefix("runoff-agent: "))
    if done.returncode != 0:
        raise RunoffError(f"{agent} scene --check failed: {done.stderr.strip()}")
    listed = json.loads(done.stdout)
    found = {each.pop("name"): each for each in listed}
    return {name: MetricDefinition.model_validate({"json": f"metrics.{name}", **each}) for name, each in found.items()}


AGENT_CATALOGUE = Catalogue(
    describe_schedulers, describe_elevators, describe_metrics, describe_settings, describe_modes, describe_scene
)
"""What runoff's own agent knows, and scx_loader's configuration."""


def check_finds(finds: Sequence[Mapping[str, str]]) -> list[str | None]:
    """Return for each ``Find`` message why it cannot find a number; None if it can."""
    found: list[str | None] = json.loads(ask("check-finds", json.dumps(finds)))
    return found


def find_numbers(pattern: str, text: str, *, unit: str = "", thousands: str = "") -> list[dict[str, Any]]:
    """Return every number that a pattern finds: ``value``, ``unit``, ``line``, and the ``keys`` beside it.

    Without ``unit`` it is that of the first number. Raises ValueError where one may be another number than was meant.
    """
    options = [*([f"--unit={unit}"] if unit else []), *([f"--thousands={thousands}"] if thousands else [])]
    words = [str(find_agent()), "find-numbers", *options, "--", pattern]
    done = subprocess.run(words, capture_output=True, text=True, input=text, check=False)
    if done.returncode == UsageError.exit_code:
        raise ValueError(done.stderr.strip().removeprefix("runoff-agent: "))
    if done.returncode != 0:
        raise RunoffError(f"{find_agent()} find-numbers failed: {done.stderr.strip()}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
