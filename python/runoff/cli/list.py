"""``runoff list``: what there is to compare and to run."""

import json
from typing import Any

import click

from runoff import workloads
from runoff.cli.output import echo
from runoff.plan.parameters import describe_allowed
from runoff.results import NO_LOAD
from runoff.text import render_parameter

KINDS = ("schedulers", "elevators", "workloads", "loads", "probes", "kernels", "published")


@click.command(epilog="Example: runoff list schedulers --json")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(kind: str, as_json: bool) -> None:
    """List schedulers, elevators, workloads, loads, probes, the lab's kernels or published results."""
    listing = {
        "schedulers": _schedulers,
        "elevators": _elevators,
        "workloads": _workloads,
        "loads": _loads,
        "probes": _probes,
        "kernels": _kernels,
        "published": _published,
    }
    entries = listing[kind]()
    if as_json:
        echo(json.dumps(entries, indent=2))
        return
    for entry in entries:
        _print(entry)


def _print(entry: dict[str, Any]) -> None:
    echo(f"{entry['name']:<12} {entry['title']}")
    for parameter in entry["parameters"]:
        name, value, fixed = parameter["name"], parameter["default"], parameter.get("fixed", False)
        echo("    " + render_parameter(name, value, parameter["range"], parameter["about"], fixed=fixed))


def _schedulers() -> list[dict[str, Any]]:
    from runoff.engines.agent import describe_schedulers

    own = {"name": "default", "title": "the kernel's own scheduler", "parameters": []}
    return [own, *(_scheduler(entry) for entry in describe_schedulers().values())]


def _elevators() -> list[dict[str, Any]]:
    from runoff.engines.agent import describe_elevators

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
    return _definitions(workloads.WORKLOADS)


def _loads() -> list[dict[str, Any]]:
    nothing = {"name": NO_LOAD, "title": "the workload alone", "parameters": []}
    return [nothing, *_definitions(workloads.LOADS)]


def _probes() -> list[dict[str, Any]]:
    from runoff.engines.agent import describe_metrics

    return [{"name": probe.name, "title": probe.title, "parameters": []} for probe in describe_metrics().probes]


def _definitions(catalogue: workloads.Catalogue) -> list[dict[str, Any]]:
    return [_definition(name, catalogue.find(name)) for name in catalogue.names()]


def _definition(name: str, definition: workloads.Definition) -> dict[str, Any]:
    parameters = [
        {"name": key, "default": parameter.default, "range": _range(parameter), "about": parameter.about}
        for key, parameter in definition.parameters.items()
    ]
    return {"name": name, "title": definition.description, "parameters": parameters}


def _range(parameter: workloads.Parameter) -> str:
    if parameter.choices is not None:
        return " or ".join(parameter.choices)
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


def _published() -> list[dict[str, Any]]:
    from runoff.published.documents import list_reports

    return [{**entry, "parameters": []} for entry in list_reports()]
