"""What a shell offers when Tab is pressed: arms, their parameters, workloads, loads, probes, kernels and campaigns."""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from runoff.errors import RunoffError

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_FILES = [CompletionItem("", type="file")]


def _offer(words: Iterator[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _quietly(complete: Complete) -> Complete:
    """Offer nothing where something is lacking: an error would be printed into the line that is being typed."""

    def call(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            return complete(context, parameter, incomplete)
        except (RunoffError, OSError):
            return []

    return call


@_quietly
def complete_arm(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer schedulers, object files, settings behind ``+``, elevators behind ``+io=`` and kernels behind ``@``."""
    from runoff.engines.lab import kernel
    from runoff.engines.questions import describe_elevators, describe_schedulers, describe_settings

    if incomplete.startswith((".", "/")):
        return _FILES
    before, at, _ = incomplete.rpartition("@")
    if at:
        return _offer((f"{before}@{each.name}" for each in kernel.list_stored()), incomplete)
    before, io, elevator = incomplete.rpartition("+io=")
    if io:
        catalogue = describe_elevators()
        parameters = {each["name"]: each["parameters"] for each in [*catalogue["elevators"], *catalogue["kernel"]]}
        return _offer((f"{before}+io={word}" for word in _list_words(parameters, elevator)), incomplete)
    before, plus, setting = incomplete.rpartition("+")
    if plus:
        return _offer((f"{before}+{word}" for word in _list_settings(describe_settings(), setting)), incomplete)
    known = {"default": [], "exec:": []} | {name: each["parameters"] for name, each in describe_schedulers().items()}
    return _offer(itertools.chain(_list_words(known, incomplete), _list_programs(incomplete)), incomplete)


def _list_programs(incomplete: str) -> Iterator[str]:
    """Yield the programs of this machine; behind the colon of one its modes."""
    from runoff.engines.programs.find import list_programs
    from runoff.engines.programs.modes import describe_modes

    program, colon, _ = incomplete.partition(":")
    if colon:
        yield from (f"{program}:{mode}" for mode in describe_modes(program.partition("-")[0]))
    else:
        yield from (found.name for found in list_programs())


def _list_settings(described: Sequence[Mapping[str, Any]], incomplete: str) -> Iterator[str]:
    """Yield names with their equals sign; behind it the values that this machine offers."""
    for here in (member for each in described for member in each["here"]):
        yield from (f"{here['name']}={value}" for value in here["offered"] or ("",))
    if "=" not in incomplete:
        yield from (f"{each['name']}=" for each in described if not each["name"].endswith("NAME"))


def _list_words(known: Mapping[str, Sequence[Mapping[str, Any]]], incomplete: str) -> Iterator[str]:
    """Yield names; behind the colon of one its parameters, and behind their equals sign the choices."""
    name, colon, rest = incomplete.partition(":")
    if not colon or name not in known:
        yield from known
        return
    done, _, last = rest.rpartition(",")
    head = f"{name}:{done},".replace(":,", ":")
    for parameter in known[name]:
        key, equals, _ = last.partition("=")
        if not equals:
            yield f"{head}{parameter['name']}="
        elif key == parameter["name"]:
            yield from (f"{head}{key}={choice}" for choice in parameter.get("choices") or ())


def _complete_work(kind: str) -> Complete:
    @_quietly
    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from runoff import workloads
        from runoff.results import NO_LOAD

        if incomplete.startswith((".", "/")):
            return _FILES
        catalogue = workloads.LOADS if kind == "load" else workloads.WORKLOADS
        known: dict[str, list[dict[str, Any]]] = {NO_LOAD: []} if kind == "load" else {}
        for name in catalogue.names():
            parameters = catalogue.find(name).parameters
            known[name] = [{"name": key, "choices": value.choices} for key, value in parameters.items()]
        return _offer(_list_words(known, incomplete), incomplete)

    return complete


@_quietly
def complete_probe(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from runoff.plan.probes import ALL, PROBES

    return _offer(iter([ALL, *PROBES]), incomplete)


@_quietly
def complete_kernel(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from runoff.engines.lab import kernel

    return _offer((each.name for each in kernel.list_stored()), incomplete)


@_quietly
def complete_plan(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from runoff.plan.shipped import list_shipped

    return _offer(iter(list_shipped()), incomplete) or _FILES


@_quietly
def complete_campaign(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the directories that have a journal, and those below which one may be."""
    from runoff.campaign.journal.database import FILE

    folder = Path(os.path.dirname(incomplete) or ".")  # noqa: PTH120 - "results/" names its content
    below = sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    campaigns = (str(each) for each in below if (each / FILE).exists())
    found = _offer(campaigns, incomplete)
    if not incomplete:
        found += _offer((str(each) for each in sorted(Path("results").glob("*")) if (each / FILE).exists()), "")
    return found or [CompletionItem("", type="dir")]


COMPLETE: dict[str, Complete] = {
    "arms": complete_arm,
    "workloads": _complete_work("work"),
    "loads": _complete_work("load"),
    "probes": complete_probe,
    "kernel": complete_kernel,
}
"""By the key of a plan."""
