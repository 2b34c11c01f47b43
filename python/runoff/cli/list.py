"""``runoff list``: what there is to compare and to run."""

import json
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import click

from runoff import workloads
from runoff.cli.options import json_option
from runoff.cli.output import echo, write
from runoff.cli.parameter_lines import render_parameter
from runoff.cli.setting_lines import list_settings, render_settings
from runoff.errors import UsageError
from runoff.plan.arms import DEFAULT_TITLE, OBJECT_TITLE, is_object
from runoff.plan.parameters import describe_allowed
from runoff.plan.shipped import describe_shipped, list_shipped
from runoff.report.words.layout import cut_end, wrap
from runoff.results import NO_LOAD
from runoff.text import suggest
from runoff.workloads.lab_times import LAB_SAMPLE_S, describe_lab_time

KINDS = ("schedulers", "elevators", "settings", "workloads", "loads", "probes", "kernels", "plans", "published")

_IN_THE_LAB = "in the lab (virtual clock, 2 CPUs)"


def _complete_kind(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    return [kind for kind in KINDS if kind.startswith(begun)]


@click.command(
    epilog="\b\nExamples:\n  runoff list schedulers\n  runoff list schedulers bfs\n"
    "  runoff list schedulers ./my.bpf.o\n  runoff list workloads --json"
)
@click.argument("kind", metavar="KIND", shell_complete=_complete_kind)
@click.argument("name", required=False)
@json_option
def command(kind: str, name: str | None, as_json: bool) -> None:
    """List what there is of a KIND: schedulers, elevators, settings (of arms), workloads, loads, probes,
    kernels (of the lab), plans or published (results).

    With a NAME it prints that one with its parameters.
    """
    if kind not in KINDS:
        raise UsageError(f"runoff list {kind}: there is no such kind{suggest(kind, KINDS)}")
    listing = {
        "schedulers": _schedulers,
        "elevators": _elevators,
        "settings": list_settings,
        "workloads": _workloads,
        "loads": _loads,
        "probes": _probes,
        "kernels": _kernels,
        "plans": _plans,
        "published": _published,
    }
    if name is not None and kind == "schedulers" and is_object(name):
        entries = [_object(name)]
    else:
        entries = listing[kind]()
        if name is not None:
            entries = [_find(entries, kind, name)]
    width = shutil.get_terminal_size((80, 24)).columns
    if as_json:
        write(json.dumps(entries, indent=2) + "\n")
    elif kind == "settings":
        for line in render_settings(entries, width):
            echo(line)
    elif name is not None:
        _print_whole(entries[0], width)
    else:
        _print_lines(entries, kind, width)


def _find(entries: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    found = {entry["name"]: entry for entry in entries}
    if name not in found:
        raise UsageError(f"{name!r} is not one of runoff list {kind}{suggest(name, found)}")
    return found[name]


def _print_lines(entries: list[dict[str, Any]], kind: str, width: int) -> None:
    """Print a line for each, on a terminal no wider than that."""
    longest = max((len(entry["name"]) for entry in entries), default=0)
    times = [describe_lab_time(entry.get("lab_sample_s")) for entry in entries]
    room = max(map(len, times), default=0)
    for entry, took in zip(entries, times, strict=True):
        line = f"{entry['name'].ljust(longest)}  {took.rjust(room) + '  ' if room else ''}{entry['title']}"
        echo(cut_end(line, width) if sys.stdout.isatty() else line)
    if room:
        echo(f"times: of a sample, about, {_IN_THE_LAB}", err=True)
    if any(entry["parameters"] for entry in entries):
        modes = " or modes" if any(entry.get("modes") for entry in entries) else ""
        echo(f"parameters{modes} of one: runoff list {kind} NAME", err=True)


def _print_whole(entry: dict[str, Any], width: int) -> None:
    """Print one with all its parameters."""
    for line in wrap(f"{entry['name']}: {entry['title']}", width, "", "  "):
        echo(line)
    if took := describe_lab_time(entry.get("lab_sample_s")):
        echo(f"  a sample takes about {took} {_IN_THE_LAB}")
    for mode, options in entry.get("modes", {}).items():
        echo(f"  {entry['name']}:{mode}  {options or '(no options)'}")
    for parameter in entry["parameters"]:
        name, value, allowed, about = (parameter[key] for key in ("name", "default", "range", "about"))
        for line in render_parameter(name, value, allowed, about, width, is_fixed=parameter.get("fixed", False)):
            echo(line)


def _schedulers() -> list[dict[str, Any]]:
    from runoff.engines.questions import describe_schedulers

    own = {"name": "default", "title": DEFAULT_TITLE, "parameters": []}
    return [own, *(_scheduler(entry) for entry in describe_schedulers().values()), *_programs()]


def _object(path: str) -> dict[str, Any]:
    """Return an object file of the user's with its parameters."""
    from runoff.engines.questions import describe_object

    found = _scheduler(dict(describe_object(path)))
    return {**found, "title": found["title"] or OBJECT_TITLE}


def _programs() -> Iterator[dict[str, Any]]:
    """Yield the programs of the scx project that this machine has."""
    from runoff.engines.programs.find import list_programs
    from runoff.engines.programs.modes import describe_modes

    for found in list_programs():
        version = f" {found.version}" if found.version else ""
        modes = describe_modes(found.name.partition("-")[0])
        title = f"the program{version} in {found.path.parent}"
        yield {"name": found.name, "title": title, "parameters": [], "path": str(found.path), "modes": dict(modes)}


def _elevators() -> list[dict[str, Any]]:
    from runoff.engines.questions import describe_elevators

    catalogue = describe_elevators()
    return [_scheduler(entry) for entry in [*catalogue["elevators"], *catalogue["kernel"]]]


def _scheduler(entry: dict[str, Any]) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter["name"],
            "default": str(parameter["default"]),
            "range": describe_allowed(parameter),
            "fixed": not parameter.get("runtime", True),
            "about": parameter["sentence"],
        }
        for parameter in entry["parameters"]
    ]
    return {"name": entry["name"], "title": entry["sentence"], "parameters": parameters}


def _workloads() -> list[dict[str, Any]]:
    return [{**entry, "lab_sample_s": LAB_SAMPLE_S.get(entry["name"])} for entry in _definitions(workloads.WORKLOADS)]


def _loads() -> list[dict[str, Any]]:
    nothing = {"name": NO_LOAD, "title": "the workload alone", "parameters": []}
    return [nothing, *_definitions(workloads.LOADS)]


def _probes() -> list[dict[str, Any]]:
    from runoff.engines.questions import describe_metrics

    return [{"name": probe.name, "title": probe.title, "parameters": []} for probe in describe_metrics().probes]


def _definitions(catalogue: workloads.Catalogue) -> list[dict[str, Any]]:
    return [_definition(name, catalogue.find(name)) for name in catalogue.names()]


def _definition(name: str, definition: workloads.Definition) -> dict[str, Any]:
    parameters = [
        {
            "name": key,
            "default": parameter.default,
            "range": _range(parameter, is_argument=_is_argument(definition, key)),
            "about": parameter.about,
        }
        for key, parameter in definition.parameters.items()
    ]
    return {"name": name, "title": definition.description, "parameters": parameters}


def _is_argument(definition: workloads.Definition, key: str) -> bool:
    """Return whether the words of a choice take the place of an argument, which is left out if there are none."""
    return any(f"{{{key}}}" in argv for argv in definition.commands)


def _range(parameter: workloads.Parameter, *, is_argument: bool) -> str:
    if parameter.choices is not None:
        nothing = " (no argument)" if is_argument else ""
        return " or ".join(choice if words else f"{choice}{nothing}" for choice, words in parameter.choices.items())
    if parameter.minimum is not None:
        return f"{parameter.minimum}..{parameter.maximum}"
    return "any"


def _kernels() -> list[dict[str, Any]]:
    from runoff.engines.lab import kernel

    return [
        {
            "name": entry.name,
            "title": f"Linux {entry.release}, sched_ext: {'yes' if entry.sched_ext else 'no'}",
            "parameters": [],
        }
        for entry in kernel.list_stored()
    ]


def _plans() -> list[dict[str, Any]]:
    shipped = list_shipped()
    return [{"name": name, "title": describe_shipped(shipped[name]), "parameters": []} for name in shipped]


def _published() -> list[dict[str, Any]]:
    from runoff.published.documents import list_reports

    return [{**entry, "parameters": []} for entry in list_reports()]
